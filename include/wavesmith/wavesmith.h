#ifndef WAVESMITH_H
#define WAVESMITH_H
/* Wavesmith's C interface: attention on AMD Instinct GPUs for a host engine. One header, plain C11;
 * wavesmith.hpp puts RAII over it. docs/capi.md has a complete example.
 *
 * Life of a call:  context -> plan -> upload -> launch, launch, ...
 *
 *   wavesmith_context_create    once per device
 *   wavesmith_plan_attention    when the batch changes; CPU work, may compile; repeated: a lookup
 *   wavesmith_upload            enqueues the plan's work lists into the caller's workspace
 *   wavesmith_launch_attention  enqueues the kernels, nothing else; capturable into a HIP graph
 *
 * Errors. Every function returns a wavesmith_status; results go to pointers, which are written on
 * success only. The sentence that belongs to an error is wavesmith_last_error(), per thread. No
 * function throws, prints to stdout, ends the process or writes the environment.
 *
 * Handles are values, not addresses: one that was destroyed or never made is recognised and refused
 * as WAVESMITH_INVALID_ARGUMENT, also when something else has been created since.
 *
 * Threads. Every function may be called from any thread, at the same time, for the same handle. An
 * object that is destroyed while a call uses it goes when that call ends.
 *
 * Devices. The calling thread's current HIP device is left as it was by every function.
 *
 * Structs begin with `size`, which the caller sets to sizeof the struct that it was compiled with.
 * Fields are only ever appended. The library takes smaller, older structs (what is missing is 0)
 * and larger, newer ones as long as what it does not know is 0. In every struct 0 is the default,
 * so zeroing it and setting `size` is a valid beginning; WAVESMITH_INIT does both.
 *
 * Numbers. Lengths and strides count elements or tokens, never bytes, unless the name says so.
 * Addresses are device addresses unless a line says host. */

#include <stddef.h>
#include <stdint.h>

/* clang-format off */

#ifdef __cplusplus
extern "C" {
#endif

#define WAVESMITH_VERSION_MAJOR 0
#define WAVESMITH_VERSION_MINOR 1
#define WAVESMITH_VERSION_PATCH 0

#define WAVESMITH_API __attribute__((visibility("default")))

/* A zeroed struct with its size: wavesmith_attention call = WAVESMITH_INIT(wavesmith_attention); */
#ifdef __cplusplus
#define WAVESMITH_INIT(type) (::wavesmith::detail::init<type>())
#else
#define WAVESMITH_INIT(type) ((type){.size = sizeof(type)})
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

/* What went wrong, by what the caller may do about it. Append only. */
typedef int32_t wavesmith_status;
enum {
  WAVESMITH_OK = 0,
  WAVESMITH_INVALID_ARGUMENT = 1,     /* a value of the caller's; the text says what fits */
  WAVESMITH_UNSUPPORTED = 2,          /* well-formed, but this build or device does not do it */
  WAVESMITH_NOT_FOUND = 3,            /* a named thing does not exist */
  WAVESMITH_RESOURCE_EXHAUSTED = 4,   /* memory, disk, registers, LDS */
  WAVESMITH_COMPILE_FAILED = 5,       /* the text names the reproducer */
  WAVESMITH_DEVICE_ERROR = 6,         /* HIP reported an error */
  WAVESMITH_EMULATION_FAULT = 7,      /* the emulator's checks found a bug in the code it ran */
  WAVESMITH_IO = 8,                   /* a file or network operation failed */
  WAVESMITH_INTERNAL = 9,             /* a bug of Wavesmith's */
  WAVESMITH_CANCELLED = 10,           /* a progress callback asked for it */
  WAVESMITH_TIMEOUT = 11,             /* a deadline passed */
  WAVESMITH_CORRUPT = 12,             /* stored data does not match its checksum or format */
  WAVESMITH_VERIFICATION_FAILED = 13, /* results disagree with the reference */
  WAVESMITH_JIT_FORBIDDEN = 14        /* a compile would be needed and is not allowed */
};

/* "invalid-argument" and so on; "unknown" for other numbers. Static; never null. */
WAVESMITH_API const char *wavesmith_status_name(wavesmith_status status);

/* The sentence of the last call that failed on this thread, "" if none has. It names the function,
 * the wrong value and what would be right. Valid until this thread's next failing call. */
WAVESMITH_API const char *wavesmith_last_error(void);

/* "0.1.0". Static; never null. */
WAVESMITH_API const char *wavesmith_version(void);

/* ---- Log ------------------------------------------------------------------------------------- */

enum {
  WAVESMITH_LOG_ERROR = 1,
  WAVESMITH_LOG_WARN = 2,
  WAVESMITH_LOG_INFO = 3,
  WAVESMITH_LOG_TRACE = 4
};
/* Receives whole lines without a line feed, from any thread, possibly several at once; must not
 * call Wavesmith. `line` is valid during the call. */
typedef void (*wavesmith_log_function)(void *user, int32_t level, const char *line);

/* Sends log lines to `function` in place of stderr; null restores stderr. For the whole process.
 * Which levels are on is WAVESMITH_LOG's business (docs/cli.md). */
WAVESMITH_API wavesmith_status wavesmith_set_log(wavesmith_log_function function, void *user);

/* ---- Context: one device --------------------------------------------------------------------- */

typedef struct wavesmith_context_handle *wavesmith_context;

enum {
  WAVESMITH_DEVICE_DEFAULT = 0, /* as WAVESMITH_DEVICE says, else auto */
  WAVESMITH_DEVICE_AUTO = 1,    /* HIP when it has a gfx942 or gfx950 device, else the emulator */
  WAVESMITH_DEVICE_HIP = 2,     /* HIP or an error */
  WAVESMITH_DEVICE_EMULATOR = 3 /* the emulator, also where there is a GPU */
};
enum { WAVESMITH_FIRST_USABLE = -1 };
enum {
  WAVESMITH_JIT_DEFAULT = 0, /* as WAVESMITH_JIT says, else allowed */
  WAVESMITH_JIT_ALLOW = 1,
  WAVESMITH_JIT_FORBID = 2   /* a kernel that is in no cache is WAVESMITH_JIT_FORBIDDEN */
};

typedef struct wavesmith_context_options {
  size_t size;
  int32_t device;              /* WAVESMITH_DEVICE_... */
  int32_t ordinal;             /* HIP's number of the device, or WAVESMITH_FIRST_USABLE */
  int32_t jit;                 /* WAVESMITH_JIT_... */
  uint32_t plan_cache_entries; /* plans remembered by value, in 256 MiB; 0 = 1024 */
  const char *cache_directory; /* disk cache; null = as WAVESMITH_CACHE_DIR says; "off" = none */
  const char *policy;          /* which sequences take FP8: JSON text (its first character is
                                  '{'), a preset's name or a file's path; null = as
                                  WAVESMITH_POLICY says, else "default" (docs/policy.md) */
  const char *bundles;         /* directories of prebuilt kernels, "a:b", searched in order; null
                                  = as WAVESMITH_BUNDLES says */
  const char *tuning;          /* database of calls' times (docs/policy.md#crossovers): replaces
                                  thresholds of the policy; null = as WAVESMITH_TUNING says; "off" =
                                  none */
} wavesmith_context_options;

/* Opens a device. `options` may be null: all defaults. Reads files and the environment, loads the
 * HIP library; starts no thread, compiles nothing. Strings are copied. */
WAVESMITH_API wavesmith_status wavesmith_context_create(const wavesmith_context_options *options,
    wavesmith_context *context);

/* Forgets the handle. What was planned with it stays usable until it is destroyed too. Null is
 * refused, like every handle that is none. */
WAVESMITH_API wavesmith_status wavesmith_context_destroy(wavesmith_context context);

enum {
  WAVESMITH_FP8_NONE = 0,
  WAVESMITH_FP8_E4M3_FNUZ = 1, /* gfx942 */
  WAVESMITH_FP8_E4M3_OCP = 2   /* gfx950 */
};

typedef struct wavesmith_context_info {
  size_t size;
  int32_t ordinal;
  int32_t is_emulator; /* 1: results are right, times are not the device's */
  int32_t compute_units;
  int32_t fp8_format;  /* WAVESMITH_FP8_...: the one that the device multiplies */
  const char *name;    /* "AMD Instinct MI325X"; valid as long as the context */
  const char *target;  /* "gfx942" */
  const char *library; /* path of the HIP library in use */
  const char *policy;  /* name of the policy in use */
} wavesmith_context_info;

WAVESMITH_API wavesmith_status wavesmith_context_get_info(wavesmith_context context,
    wavesmith_context_info *info);

/* Counts since the context was created, but for those of kernels' origin, which contexts with equal
 * cache options share. */
typedef struct wavesmith_statistics {
  size_t size;
  uint64_t plans;          /* made */
  uint64_t plan_hits;      /* found by value */
  uint64_t launches;       /* calls that enqueued something */
  uint64_t refusals;       /* calls of launch or upload that returned an error */
  uint64_t kernels_loaded; /* code objects given to the device */
  uint64_t memory_hits;    /* kernels' origin: */
  uint64_t disk_hits;
  uint64_t bundle_hits;
  uint64_t remote_hits;
  uint64_t compiles;
  uint64_t waits;          /* for a kernel that another thread was making */
  uint64_t failures;       /* kernels that could not be had */
} wavesmith_statistics;

WAVESMITH_API wavesmith_status wavesmith_get_statistics(wavesmith_context context,
    wavesmith_statistics *statistics);

/* ---- Plans ----------------------------------------------------------------------------------- */

/* What to run for one description, whatever the addresses: kernels, grids, arguments, work lists. A
 * plan is immutable; each plan_... call gives a handle of its own, to be destroyed once. */
typedef struct wavesmith_plan_handle *wavesmith_plan;

WAVESMITH_API wavesmith_status wavesmith_plan_destroy(wavesmith_plan plan);

enum {
  WAVESMITH_PATH_BF16 = 1, /* 16-bit inputs as they are, BF16 or F16 */
  WAVESMITH_PATH_FP8 = 2,
  WAVESMITH_PATH_ROWS = 3, /* one of the kernels around attention */
  WAVESMITH_PATH_MIXED = 4 /* some sequences as they are, others FP8 */
};

typedef struct wavesmith_plan_info {
  size_t size;
  uint64_t workspace_bytes;     /* 0: launching needs none */
  uint64_t workspace_alignment; /* bytes, a power of two */
  uint32_t launches;            /* kernels that one launch enqueues; 0 for an empty batch */
  int32_t path;                 /* WAVESMITH_PATH_... */
  int32_t ready;                /* 1: the kernels are loaded, launching is possible */
  int32_t splits;               /* pieces at most that a row block's keys are cut into, at least
                                   1 */
  const char *rule;             /* the rule that chose the path; valid as long as the plan */
  const char *reason;           /* one sentence for people */
  uint64_t saturated_q;         /* 16-bit inputs quantised: the byte of the workspace where each
                                   launch leaves uint64_t [heads], elements beyond the largest
                                   value; 0 = none */
  uint64_t saturated_k;         /* likewise [kv_heads] */
  uint64_t saturated_v;
} wavesmith_plan_info;

WAVESMITH_API wavesmith_status wavesmith_plan_get_info(wavesmith_plan plan,
    wavesmith_plan_info *info);

/* Why one sequence of the batch takes its path. */
typedef struct wavesmith_decision {
  size_t size;
  int32_t path;       /* WAVESMITH_PATH_BF16 (16-bit inputs as they are) or WAVESMITH_PATH_FP8 */
  int32_t reserved;
  const char *rule;   /* valid as long as the plan or pass */
  const char *reason; /* one sentence for people */
} wavesmith_decision;

/*   sequence   from 0, below the batch */
WAVESMITH_API wavesmith_status wavesmith_plan_get_decision(wavesmith_plan plan, int64_t sequence,
    wavesmith_decision *decision);

/* The decision as JSON (docs/capi.md#explain): path, rule, reason, values, kernels with keys and
 * where each came from. Valid as long as the plan. */
WAVESMITH_API wavesmith_status wavesmith_plan_explain(wavesmith_plan plan, const char **json);

/* Enqueues the copy of the plan's work lists into a workspace. Once for each workspace that the
 * plan runs with, and again after another plan has used it or its memory was allocated anew; other
 * launches need none. The plan must not be destroyed before the stream has passed the copy, nor,
 * when it was captured, before the graph is. Does nothing for a plan without workspace.
 *   workspace   device memory, aligned to workspace_alignment, at least workspace_bytes, not in use
 *               by another launch at the same time
 *   stream      a hipStream_t of the context's device; null = its default stream */
WAVESMITH_API wavesmith_status wavesmith_upload(wavesmith_plan plan, void *workspace,
    uint64_t workspace_bytes, void *stream);

/* ---- Attention ------------------------------------------------------------------------------- */

enum { WAVESMITH_BF16 = 1, WAVESMITH_FP8 = 2, WAVESMITH_F16 = 3, WAVESMITH_F32 = 4 };

enum {
  WAVESMITH_LENGTHS_ON_HOST = 0,
  WAVESMITH_LENGTHS_ON_DEVICE = 1 /* bounds here, the lengths in device memory at each launch */
};

/* Bits of wavesmith_attention.flags. */
enum {
  WAVESMITH_CAUSAL = 1,           /* query i of a sequence sees keys j <= i + len_kv - len_q */
  WAVESMITH_LSE = 2,              /* write lse */
  WAVESMITH_SHARED_DESCALE_Q = 4, /* FP8: one value for all heads instead of one for each */
  WAVESMITH_SHARED_DESCALE_K = 8,
  WAVESMITH_SHARED_DESCALE_V = 16,
  WAVESMITH_DEFER = 32,           /* plan without compiling or loading: wavesmith_prepare must
                                     come before the first launch */
  WAVESMITH_FP8_CONTEXT = 64,     /* consent to FP8 over cached keys, for which policies ask */
  WAVESMITH_COUNT_SATURATED = 128, /* 16-bit inputs: counts of saturated elements go to the buffers'
                                      and grow; else each launch leaves its own in the workspace */
  WAVESMITH_WINDOW = 256,         /* a query sees only keys around its own position, window_left and
                                     window_right of them */
  WAVESMITH_SINKS = 512           /* a logit of each head, the buffers' sinks, joins the sum of its
                                     rows: neither scaled nor capped, and without a value */
};

/* With which scales the FP8 path may quantise 16-bit inputs. */
enum {
  WAVESMITH_SCALES_NONE = 0,    /* there are none: no FP8 */
  WAVESMITH_SCALES_STATIC = 1,  /* calibrated: the descales of the buffers */
  WAVESMITH_SCALES_DYNAMIC = 2, /* made by every launch from the largest magnitudes */
  WAVESMITH_SCALES_UNIT = 3     /* 1.0, asked for by name */
};

/* In elements; 0 = packed. The last dimension is always contiguous. Multiples of 16 bytes. */
typedef struct wavesmith_strides {
  int64_t row; /* between tokens; less than 4 MiB */
  int64_t head;
} wavesmith_strides;

/* One attention call over a packed batch of sequences:
 *
 *   out = softmax(scale * q k^T + mask) v,   lse = ln(sum(exp(scale * q k^T + mask)))
 *
 * with s = soft_cap * tanh(scale * q k^T / soft_cap) in place of the scaled scores where a soft cap
 * is given (masks come after it), and exp(sinks[h]) among the terms of the sum with WAVESMITH_SINKS.
 *
 *   q    [total_q, heads, head_dim_qk]        total_q = cu_seqlens_q[batch]
 *   k    [total_kv, kv_heads, head_dim_qk]    total_kv = cu_seqlens_kv[batch]
 *   v    [total_kv, kv_heads, head_dim_v]
 *   out  [total_q, heads, head_dim_v]         F16 for F16 inputs, else BF16
 *   lse  float32 [heads, total_q], natural logarithm, scale and descales included
 *
 * FP8: s = scale * descale_q[h] * descale_k[h_kv] * (q k^T), out = descale_v[h_kv] * (p v). A query
 * that sees no key has out = 0 and lse = -inf, or its finite sink, exactly. Query head h uses key head
 * h / (heads / kv_heads). Bytes between rows are neither read into results nor written.
 *
 * Scores, q . k times scale, are resolved from -2^24 to 2^24. A row whose largest is above 2.3e7
 * (2^25 ln 2) is NaN, and so is its LSE; below -2^24 keys count for less the further they are below
 * the row's others, and a row that has no others may be off by any factor. A score that overflows to
 * -inf counts as masked. What is finite stays finite in f16 results.
 *
 * A NaN or infinity spoils more than what sees it: one in v its column in all rows of the sequence
 * (0 times NaN), one in q or k of FP8 also rows 16 away, whose sums share a matrix instruction. */
typedef struct wavesmith_attention {
  size_t size;
  int32_t dtype;                /* of q, k, v: WAVESMITH_BF16, WAVESMITH_F16 or, as they are,
                                   WAVESMITH_FP8 */
  int32_t head_dim_qk;          /* 192/128, 128/128, 64/64 or 256/256 */
  int32_t head_dim_v;
  int32_t heads;                /* 1 to 128 */
  int32_t kv_heads;             /* 0 = heads; divides heads */
  uint32_t flags;
  int32_t lengths;              /* WAVESMITH_LENGTHS_... */
  int32_t fp8_format;           /* of FP8 inputs; 0 = the device's. Another one is refused,
                                   and any but 0 for 16-bit inputs */
  int64_t batch;                /* sequences */
  const int32_t *cu_seqlens_q;  /* host [batch + 1]: 0, len_0, len_0 + len_1, ...; copied */
  const int32_t *cu_seqlens_kv; /* host [batch + 1]; totals up to 2^24 */
  /* What follows may be left out by `size`. */
  double scale;                 /* 0 = 1 / sqrt(head_dim_qk) */
  wavesmith_strides q, k, v, out;
  int64_t lse_head_stride;      /* 0 = total_q */
  int32_t splits;               /* pieces of a row block's keys: 0 as the device asks, 1 never, N
                                   up to N (64 at most) wherever there are keys enough. Pinned,
                                   the bits of a sequence's rows do not depend on the rest of the
                                   batch */
  int32_t path;                 /* of 16-bit inputs: 0 as the policy says for each sequence, or
                                   WAVESMITH_PATH_BF16 (as they are) or WAVESMITH_PATH_FP8 for
                                   all */
  int32_t scales;               /* WAVESMITH_SCALES_... */
  uint32_t rotation;            /* FP8 path: seed below 2^31 that queries and keys are rotated
                                   with before they are quantised; 0 = none */
  int64_t max_total_q;          /* LENGTHS_ON_DEVICE: total_q is at most this, cu_seqlens_q and
                                   cu_seqlens_kv are null here and in the buffers, batch is exact,
                                   inputs are taken as they are (no scales), keys are not split.
                                   For graphs: captured once, right for every batch within */
  int64_t max_total_kv;
  double soft_cap;              /* 0 = none; 1e-3 to 1e3 */
  int32_t window_left;          /* WAVESMITH_WINDOW: the query at position p = i + len_kv - len_q sees
                                   keys p - window_left to p + window_right, with the causal mask
                                   none past p; -1 = no limit on that side,
                                   2^24 at most. Without the flag both are 0 */
  int32_t window_right;
} wavesmith_attention;

/* Plans a call. The same description, lengths included, gives the same plan again without work.
 *   plan   receives a handle, to be destroyed
 *   info   may be null; as wavesmith_plan_get_info() */
WAVESMITH_API wavesmith_status wavesmith_plan_attention(wavesmith_context context,
    const wavesmith_attention *attention, wavesmith_plan *plan, wavesmith_plan_info *info);

/* Element (0, 0, 0) of each tensor, aligned to 16 bytes (lse and descales: 4). What a plan does not
 * use is ignored and may be null: k and v without keys, lse without WAVESMITH_LSE, descales of
 * 16-bit inputs as they are. */
typedef struct wavesmith_attention_buffers {
  size_t size;
  const void *q, *k, *v;
  void *out;
  float *lse;
  void *workspace;          /* filled by wavesmith_upload() with the same plan */
  uint64_t workspace_bytes; /* at least the plan's */
  /* What follows may be left out by `size`. */
  const float *descale_q;   /* FP8 inputs or static scales: float32 [heads], or [1] if shared */
  const float *descale_k;   /* [kv_heads] or [1] */
  const float *descale_v;   /* [kv_heads] or [1] */
  const int32_t *cu_seqlens_q;  /* LENGTHS_ON_DEVICE: device [batch + 1] */
  const int32_t *cu_seqlens_kv;
  uint64_t *saturated_q;        /* WAVESMITH_COUNT_SATURATED: uint64_t [heads], grow by the elements
                                   beyond the largest FP8 value; aligned to 8 bytes */
  uint64_t *saturated_k;        /* [kv_heads] */
  uint64_t *saturated_v;
  const float *sinks;           /* WAVESMITH_SINKS: float32 [heads]. -inf is none; NaN and +inf make
                                   all lse of their head NaN, and out where there are keys */
} wavesmith_attention_buffers;

/* Enqueues a plan of wavesmith_plan_attention() and returns: no allocation, compile, lock, file or
 * synchronisation, so it may be captured into a HIP graph as the first thing on the stream.
 *   stream   a hipStream_t of the context's device; null = its default stream. Another device's or
 *            a destroyed one is refused */
WAVESMITH_API wavesmith_status wavesmith_launch_attention(wavesmith_plan plan,
    const wavesmith_attention_buffers *buffers, void *stream);

/* ---- Kernels around attention ---------------------------------------------------------------- */

/* Each is planned like attention (plan_..., then launch_...), row by row and without lengths: a
 * plan for `tokens` rows. Tensors are [tokens, heads, dim] with strides as above; float32 [heads]
 * values are contiguous. Addresses are aligned to 16 bytes, values for heads to 4, counts to 8. */

/* Bits of the flags below. */
enum {
  WAVESMITH_DYNAMIC = 1,      /* descale = amax / largest FP8 value, made and written; else given */
  WAVESMITH_SHARED_SCALE = 2, /* given: one descale for all heads. Dynamic, amax: one maximum */
  WAVESMITH_IN_PARTS = 4,     /* rows of 192 come as 128 elements in x and 64 in rope (MLA) */
  WAVESMITH_SHARED_ROPE = 8,  /* rope is [tokens, 64], the same for all heads */
  WAVESMITH_HISTOGRAMS = 16   /* collector: count magnitudes too, for scales by percentile */
};

/* Two attention results over disjoint keys become one: vLLM's merge_attn_states. A state with lse =
 * -inf or +inf is empty and whatever its out holds does not count; two empty ones give out = 0 and
 * lse = -inf. */
typedef struct wavesmith_merge {
  size_t size;
  int32_t element;           /* of a, b and out: WAVESMITH_BF16, WAVESMITH_F16 or WAVESMITH_F32 */
  int32_t head_dim_v;        /* 64, 128 or 256 */
  int32_t heads;             /* 1 to 128 */
  uint32_t flags;            /* 0 */
  int64_t tokens;            /* 0 to 2^24 */
  /* What follows may be left out by `size`. */
  int64_t tokens_with_a;     /* from this token on there is no a, out and lse are those of b; 0 =
                                all tokens have one */
  wavesmith_strides a, b, out;
  int64_t lse_a_head_stride; /* 0 = tokens, likewise */
  int64_t lse_b_head_stride;
  int64_t lse_head_stride;
} wavesmith_merge;

WAVESMITH_API wavesmith_status wavesmith_plan_merge(wavesmith_context context,
    const wavesmith_merge *merge, wavesmith_plan *plan, wavesmith_plan_info *info);

typedef struct wavesmith_merge_buffers {
  size_t size;
  const void *a;      /* [tokens, heads, head_dim_v], of the prefix */
  const float *lse_a; /* [heads, tokens], natural logarithm */
  const void *b;      /* of the suffix */
  const float *lse_b;
  void *out;          /* may be a or b */
  float *lse;         /* may be lse_a or lse_b */
} wavesmith_merge_buffers;

WAVESMITH_API wavesmith_status wavesmith_launch_merge(wavesmith_plan plan,
    const wavesmith_merge_buffers *buffers, void *stream);

/* One block of up to 256 rows of one head whose partials lie in `slots` neighbouring slots. */
typedef struct wavesmith_combine_block {
  int32_t first_row; /* in out and lse */
  int32_t rows;      /* 1 to 256 */
  int32_t head;
  int32_t first_slot;
  int32_t slots;     /* 0: out = 0 and lse = -inf */
  int32_t reserved[3];
} wavesmith_combine_block;

/* Partial results over split keys become one: any number of normalised float32 partials with their
 * natural-log LSE. Blocks must not overlap. */
typedef struct wavesmith_combine {
  size_t size;
  int32_t head_dim_v;                    /* 64, 128 or 256 */
  int32_t heads;
  uint32_t flags;                        /* 0 or WAVESMITH_LSE: write lse */
  int32_t slots;                         /* of the partial tensors */
  int64_t tokens;                        /* rows of out */
  const wavesmith_combine_block *blocks; /* host; copied */
  uint64_t block_count;
  /* What follows may be left out by `size`. */
  wavesmith_strides out;
  int64_t lse_head_stride;               /* 0 = tokens */
  int32_t element;                       /* of out: WAVESMITH_BF16 or WAVESMITH_F16; 0 = BF16 */
  int32_t reserved;                      /* 0 */
} wavesmith_combine;

WAVESMITH_API wavesmith_status wavesmith_plan_combine(wavesmith_context context,
    const wavesmith_combine *combine, wavesmith_plan *plan, wavesmith_plan_info *info);

typedef struct wavesmith_combine_buffers {
  size_t size;
  const float *partial_out; /* [slots][256][head_dim_v] */
  const float *partial_lse; /* [slots][256] */
  void *out;                /* [tokens, heads, head_dim_v] */
  float *lse;               /* [heads, tokens] */
  void *workspace;          /* filled by wavesmith_upload() with the same plan */
  uint64_t workspace_bytes;
} wavesmith_combine_buffers;

WAVESMITH_API wavesmith_status wavesmith_launch_combine(wavesmith_plan plan,
    const wavesmith_combine_buffers *buffers, void *stream);

/* y = x / descale[head] in the device's FP8 format, to nearest even, saturating, counting what
 * saturates. With a rotation seed, rows are first multiplied by an orthogonal matrix made from it:
 * queries and keys that are rotated with the same seed keep their scores, outliers are spread. */
typedef struct wavesmith_quantize {
  size_t size;
  int32_t input;     /* WAVESMITH_BF16, WAVESMITH_F16 or WAVESMITH_F32 */
  int32_t head_dim;  /* 64, 128, 192 or 256 */
  int32_t heads;
  uint32_t flags;    /* WAVESMITH_DYNAMIC, _SHARED_SCALE, _IN_PARTS, _SHARED_ROPE */
  int64_t tokens;
  /* What follows may be left out by `size`. */
  uint32_t rotation; /* seed below 2^31; 0 = none */
  uint32_t reserved; /* 0 */
  wavesmith_strides x, y, rope;
} wavesmith_quantize;

WAVESMITH_API wavesmith_status wavesmith_plan_quantize(wavesmith_context context,
    const wavesmith_quantize *quantize, wavesmith_plan *plan, wavesmith_plan_info *info);

typedef struct wavesmith_quantize_buffers {
  size_t size;
  const void *x;       /* [tokens, heads, head_dim]; in parts: [tokens, heads, 128] */
  void *y;             /* FP8 [tokens, heads, head_dim] */
  float *descale;      /* [heads], or [1] if given for all; finite and positive if given */
  const float *amax;   /* dynamic: [heads], or [1] if shared, as the amax kernel left it */
  uint64_t *saturated; /* [heads], grows by the elements beyond the largest value */
  /* What follows may be left out by `size`. */
  const void *rope;    /* in parts: [tokens, heads, 64], or [tokens, 64] if shared */
} wavesmith_quantize_buffers;

WAVESMITH_API wavesmith_status wavesmith_launch_quantize(wavesmith_plan plan,
    const wavesmith_quantize_buffers *buffers, void *stream);

/* amax[head] = max(amax[head], |x|) over all tokens, of rotated rows if there is a seed. The maxima
 * are the caller's to clear. What is not finite does not count. */
typedef struct wavesmith_amax {
  size_t size;
  int32_t input;        /* WAVESMITH_BF16, WAVESMITH_F16 or WAVESMITH_F32 */
  int32_t head_dim;     /* 64, 128, 192 or 256 */
  int32_t heads;
  uint32_t flags;       /* 0 or WAVESMITH_SHARED_SCALE */
  int64_t tokens;
  /* What follows may be left out by `size`. */
  uint32_t rotation;    /* seed below 2^31; 0 = none */
  int32_t first_column; /* of the row that x is a part of: 128 for the rope of a row in two parts */
  wavesmith_strides x;
} wavesmith_amax;

WAVESMITH_API wavesmith_status wavesmith_plan_amax(wavesmith_context context,
    const wavesmith_amax *amax, wavesmith_plan *plan, wavesmith_plan_info *info);

typedef struct wavesmith_amax_buffers {
  size_t size;
  const void *x; /* [tokens, heads, head_dim] */
  float *amax;   /* [heads], or [1] if shared */
} wavesmith_amax_buffers;

WAVESMITH_API wavesmith_status wavesmith_launch_amax(wavesmith_plan plan,
    const wavesmith_amax_buffers *buffers, void *stream);

/* ---- Context pass ---------------------------------------------------------------------------- */

/* Chunked prefill: new queries over cached keys that come in segments (whatever fits a scratch
 * buffer), then over their own. Each segment is attention without a mask; results are accumulated
 * in out and lse by log-sum-exp; the causal part over the new keys comes last.
 *
 * A sequence's path is decided once for the whole pass, by its new tokens and all its cached keys
 * (docs/policy.md). Where that is FP8, `scales` say how: queries are quantised once, with segment 0,
 * keys and values by each part. FP8 inputs were quantised by the caller (wavesmith_plan_quantize).
 * Sinks count once, in the last part. A window is refused.
 *
 *   begin     plans all parts; CPU work, may compile
 *   upload    as for a plan
 *   segment   enqueues segment 0, 1, ... in this order; k and v are that segment's
 *   finish    enqueues the causal part; k and v are those of the new tokens
 *
 * segment and finish only enqueue, like a launch, go to one stream in order, and are run again for
 * every layer. Between them out and lse hold what has been accumulated; after finish, the result.
 * Roundings of the accumulated output add up: at most 2^-8 of a row's largest |out| for each
 * segment, of F16 2^-11. */
typedef struct wavesmith_pass_handle *wavesmith_pass;

typedef struct wavesmith_pass_options {
  size_t size;
  const wavesmith_attention *attention; /* the last part: cu_seqlens_q and, for the new tokens,
                                           cu_seqlens_kv. WAVESMITH_LSE is needed, without
                                           WAVESMITH_CAUSAL the last part has no mask either */
  const int32_t *const *segments;       /* host [segment_count]: the cu_seqlens_kv of each
                                           segment, with 0 keys where a sequence has none; copied */
  uint64_t segment_count;               /* 0 to 4096 */
} wavesmith_pass_options;

typedef struct wavesmith_pass_info {
  size_t size;
  uint64_t workspace_bytes;
  uint64_t workspace_alignment;
  uint32_t launches;    /* kernels of the whole pass */
  uint32_t segments;
  int32_t path;         /* WAVESMITH_PATH_... */
  int32_t reserved;
  const char *rule;     /* that chose the path; valid as long as the pass */
  const char *reason;   /* one sentence for people */
  uint64_t saturated_q; /* as of a plan: queries that were quantised; 0 = none */
} wavesmith_pass_info;

/* `info` may be null. */
WAVESMITH_API wavesmith_status wavesmith_pass_begin(wavesmith_context context,
    const wavesmith_pass_options *options, wavesmith_pass *pass, wavesmith_pass_info *info);
WAVESMITH_API wavesmith_status wavesmith_pass_destroy(wavesmith_pass pass);

/* As wavesmith_plan_get_decision() and wavesmith_plan_explain(). */
WAVESMITH_API wavesmith_status wavesmith_pass_get_decision(wavesmith_pass pass, int64_t sequence,
    wavesmith_decision *decision);
WAVESMITH_API wavesmith_status wavesmith_pass_explain(wavesmith_pass pass, const char **json);

/* As wavesmith_upload(): once for each workspace, before its first segment. */
WAVESMITH_API wavesmith_status wavesmith_pass_upload(wavesmith_pass pass, void *workspace,
    uint64_t workspace_bytes, void *stream);

/* q, out, lse and workspace are the same in every call of a pass. */
WAVESMITH_API wavesmith_status wavesmith_pass_segment(wavesmith_pass pass, uint64_t segment,
    const wavesmith_attention_buffers *buffers, void *stream);
WAVESMITH_API wavesmith_status wavesmith_pass_finish(wavesmith_pass pass,
    const wavesmith_attention_buffers *buffers, void *stream);

/* ---- Preparing ahead ------------------------------------------------------------------------- */

typedef struct wavesmith_progress {
  size_t size;
  uint32_t done;      /* kernels ready so far */
  uint32_t total;
  double seconds;     /* since the call began */
  const char *kernel; /* the last one that became ready, "" at first; valid during the call */
} wavesmith_progress;

/* Called on the thread that called prepare, first before any work, after each kernel and at least
 * once a second. Non-zero cancels: kernels being compiled are finished, no other is begun. */
typedef int32_t (*wavesmith_progress_function)(void *user, const wavesmith_progress *progress);

typedef struct wavesmith_prepare_options {
  size_t size;
  const wavesmith_attention *const *attentions; /* host array of pointers: all kernels that such
                                                   a call may need, with splits and without,
                                                   whatever its lengths, which are ignored */
  uint64_t attention_count;
  const wavesmith_plan *plans;                  /* made with WAVESMITH_DEFER */
  uint64_t plan_count;
  const char *const *specs;                     /* kernels as `wavesmith targets --kernels` lists
                                                   them */
  uint64_t spec_count;
  wavesmith_progress_function progress;         /* may be null */
  void *user;                                   /* given to it */
  uint32_t threads;                             /* that compile at once; 0 = the CPUs, at most 8 */
  uint32_t reserved;                            /* 0 */
} wavesmith_prepare_options;

/* Compiles and loads kernels ahead, so that plans and launches find them. The first error ends it;
 * what was ready by then stays. */
WAVESMITH_API wavesmith_status wavesmith_prepare(wavesmith_context context,
    const wavesmith_prepare_options *options);

/* ---- Calibrated scales (docs/calibration.md) ------------------------------------------------- */

/* Which model, which run of a calibration and which rank: what every file of a calibration says of
 * itself. Host strings; copied. */
typedef struct wavesmith_calibration {
  size_t size;
  const char *model;         /* as the engine names it */
  const char *checkpoint;    /* what exactly was loaded: a commit of 7 or more hex digits, or a path
                                ".../snapshots/COMMIT" */
  const char *run;           /* names the calibration, the same on all ranks */
  const char *revision;      /* as the engine was asked for it; may be null */
  const char *cache_mode;    /* how keys and values are kept; null = "bf16_latent_cache", so say
                                "f16_latent_cache" or what else yours is */
  int32_t tp_size, tp_rank;  /* sizes 0 = 1 */
  int32_t pp_size, pp_rank;
  int32_t heads;             /* of the whole model, all ranks together */
  int32_t kv_heads;          /* likewise; 0 = heads. With fewer than ranks each stands on several */
  int32_t head_dim_qk, head_dim_v;
  int32_t num_layers;        /* that have scales, over all stages; at least 1 */
  uint32_t rotation;         /* seed that queries and keys are rotated with before they are
                                quantised; 0 = none */
  double margin;             /* by which scales exceed the maxima, at least 1; 0 = 1.1 */
} wavesmith_calibration;

/* Largest magnitudes of q, k and v for each layer and head of one rank, over everything that is
 * shown to it. What is not finite does not count, with histograms it fails the save. Made off, so
 * that warm-up runs do not count. */
typedef struct wavesmith_collector_handle *wavesmith_collector;

typedef struct wavesmith_collector_options {
  size_t size;
  const wavesmith_calibration *calibration;
  const int32_t *layers;          /* host [layer_count]: numbers in the model of this rank's layers,
                                     rising; may be null for a rank that has none */
  const char *const *layer_names; /* host [layer_count]: as the engine calls them */
  uint64_t layer_count;           /* 0 to 65536 */
  int32_t input;                  /* of q, k, v: WAVESMITH_BF16, WAVESMITH_F16 or WAVESMITH_F32 */
  uint32_t flags;                 /* 0 or WAVESMITH_HISTOGRAMS, and WAVESMITH_IN_PARTS and
                                     WAVESMITH_SHARED_ROPE for keys in two tensors */
} wavesmith_collector_options;

/* Allocates device memory for its maxima and compiles its kernels. */
WAVESMITH_API wavesmith_status wavesmith_collector_create(wavesmith_context context,
    const wavesmith_collector_options *options, wavesmith_collector *collector);
/* What is enqueued must have been passed. */
WAVESMITH_API wavesmith_status wavesmith_collector_destroy(wavesmith_collector collector);
/* 1: what is shown counts from now on; 0: it does not. */
WAVESMITH_API wavesmith_status wavesmith_collector_enable(wavesmith_collector collector,
    int32_t enabled);

/* The inputs of one attention call on this rank, [tokens, heads of the rank, head dim]. */
typedef struct wavesmith_observation {
  size_t size;
  int32_t layer;       /* number in the model */
  int32_t reserved;    /* 0 */
  int64_t tokens_q;    /* 0 to 2^24 */
  int64_t tokens_kv;
  const void *q, *k, *v;
  /* What follows may be left out by `size`. */
  const void *k_rope;  /* keys in parts: k is [tokens_kv, kv_heads, 128], k_rope [..., 64], or
                          [tokens_kv, 64] with WAVESMITH_SHARED_ROPE */
  wavesmith_strides q_strides, k_strides, v_strides, rope_strides;
} wavesmith_observation;

/* Enqueues kernels that read the tensors; nothing while it is off. For eager runs: refused while
 * the stream is captured, since a graph would measure only what it was captured with. */
WAVESMITH_API wavesmith_status wavesmith_collector_observe(wavesmith_collector collector,
    const wavesmith_observation *observation, void *stream);

/* Waits for the device (so not during a capture in hipStreamCaptureModeGlobal) and writes this
 * rank's shard, "fp8-scales-ppPP-tpTT.json", into a directory that exists: whole or not at all, a
 * former one stays until then. A layer or head without a finite, positive maximum is an error that
 * names it. May be called again. */
WAVESMITH_API wavesmith_status wavesmith_collector_save(wavesmith_collector collector,
    const char *directory);

/* One rank's share of a merged artifact (`wavesmith calibrate merge`), in device memory. */
typedef struct wavesmith_scales_handle *wavesmith_scales;

typedef struct wavesmith_scales_options {
  size_t size;
  const char *path;                         /* of the artifact */
  const wavesmith_calibration *calibration; /* what this process runs. All but revision and margin
                                               must be the artifact's, num_layers too; a null run is
                                               any */
  const int32_t *layers;                    /* host [layer_count]: of this rank, rising */
  const char *const *layer_names;           /* null = not compared */
  uint64_t layer_count;
  uint64_t saturation_limit;                /* saturated elements of a layer's head from which on a
                                               warning is logged, once; 0 = 1 */
} wavesmith_scales_options;

/* Reads and checks everything before anything is allocated or compiled. A file that is missing,
 * damaged or not for this process, in any field, is an error that names the field, both values and
 * the file: there is no way from here to other scales. */
WAVESMITH_API wavesmith_status wavesmith_scales_load(wavesmith_context context,
    const wavesmith_scales_options *options, wavesmith_scales *scales);
/* Kernels that read them must be through. */
WAVESMITH_API wavesmith_status wavesmith_scales_destroy(wavesmith_scales scales);

/* What goes into the buffers of a plan with WAVESMITH_SCALES_STATIC, this rotation and
 * WAVESMITH_COUNT_SATURATED. Device memory; valid as long as the scales. */
typedef struct wavesmith_layer_scales {
  size_t size;
  const float *descale_q; /* [heads of the rank] */
  const float *descale_k; /* [key/value heads of the rank] */
  const float *descale_v;
  uint64_t *saturated_q;  /* likewise; 0 at first, grow */
  uint64_t *saturated_k;
  uint64_t *saturated_v;
  int32_t heads;
  int32_t kv_heads;
  uint32_t rotation;      /* seed for wavesmith_attention.rotation */
  uint32_t reserved;
} wavesmith_layer_scales;

/* `layer`: number in the model. */
WAVESMITH_API wavesmith_status wavesmith_scales_get_layer(wavesmith_scales scales, int32_t layer,
    wavesmith_layer_scales *values);

/* Waits for the device (so not during a capture in hipStreamCaptureModeGlobal) and copies a layer's
 * counts to the host: q [heads], k and v [kv_heads]; any may be null. Logs a warning for each head
 * that has come to the limit. */
WAVESMITH_API wavesmith_status wavesmith_scales_read_saturation(wavesmith_scales scales,
    int32_t layer, uint64_t *q, uint64_t *k, uint64_t *v);

#ifdef __cplusplus
} /* extern "C" */

namespace wavesmith::detail {
template <typename T> T init() {
  T value{};
  value.size = sizeof(T);
  return value;
}
} // namespace wavesmith::detail
#endif

#endif /* WAVESMITH_H */

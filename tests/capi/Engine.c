/* An engine in plain C11, from the public header and HIP alone: plan, prepare, upload, launch on
 * the emulator, results against float64. Bounds: docs/testing.md. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hip/hip_runtime_api.h>
#include <wavesmith/wavesmith.h>

enum { kBatch = 4, kHeads = 4, kKvHeads = 2, kDim = 128, kGroup = kHeads / kKvHeads };

static const int32_t kLensQ[kBatch] = {70, 0, 33, 5};
static const int32_t kLensKv[kBatch] = {70, 5, 300, 0};

#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                              \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fprintf(stderr, "\n");                                                                       \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
#define OK(call)                                                                                   \
  do {                                                                                             \
    const wavesmith_status ok_ = (call);                                                           \
    CHECK(ok_ == WAVESMITH_OK, "%s: %s", wavesmith_status_name(ok_), wavesmith_last_error());      \
  } while (0)
#define HIP(call) CHECK((call) == hipSuccess, "HIP failed")

static uint16_t toBf16(double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
static double fromBf16(uint16_t value) {
  const uint32_t bits = (uint32_t)value << 16;
  float wide;
  memcpy(&wide, &bits, sizeof wide);
  return (double)wide;
}

/* Nearly normal: the sum of twelve uniform numbers. */
static double draw(uint64_t *state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    sum += (double)(*state >> 11) / 9007199254740992.0;
  }
  return sum;
}
static uint16_t *fill(size_t count, uint64_t seed) {
  uint16_t *values = malloc(count * sizeof *values);
  CHECK(values, "no memory");
  for (size_t i = 0; i < count; ++i)
    values[i] = toBf16(draw(&seed));
  return values;
}
static void *onDevice(const void *from, size_t bytes) {
  void *memory = NULL;
  HIP(hipMalloc(&memory, bytes));
  if (from)
    HIP(hipMemcpy(memory, from, bytes, hipMemcpyHostToDevice));
  else
    HIP(hipMemset(memory, 0xa5, bytes));
  return memory;
}

/* Row `i` of sequence `s` and head `h` in float64; the number of keys that it sees. */
static int32_t referenceRow(const uint16_t *q, const uint16_t *k, const uint16_t *v, int32_t s,
                            int32_t i, int32_t h, const int32_t *cuQ, const int32_t *cuKv,
                            double *out, double *lse) {
  static double scores[512];
  const int32_t seen = i + kLensKv[s] - kLensQ[s] + 1;
  const uint16_t *row = q + ((size_t)(cuQ[s] + i) * kHeads + (size_t)h) * kDim;
  double largest = -HUGE_VAL, sum = 0;
  for (int32_t j = 0; j < seen; ++j) {
    const uint16_t *key = k + ((size_t)(cuKv[s] + j) * kKvHeads + (size_t)(h / kGroup)) * kDim;
    scores[j] = 0;
    for (int32_t d = 0; d < kDim; ++d)
      scores[j] += fromBf16(row[d]) * fromBf16(key[d]);
    scores[j] /= sqrt(kDim);
    largest = fmax(largest, scores[j]);
  }
  memset(out, 0, kDim * sizeof *out);
  for (int32_t j = 0; j < seen; ++j) {
    const uint16_t *value = v + ((size_t)(cuKv[s] + j) * kKvHeads + (size_t)(h / kGroup)) * kDim;
    const double weight = exp(scores[j] - largest);
    sum += weight;
    for (int32_t d = 0; d < kDim; ++d)
      out[d] += weight * fromBf16(value[d]);
  }
  for (int32_t d = 0; d < kDim && seen > 0; ++d)
    out[d] /= sum;
  *lse = seen > 0 ? largest + log(sum) : -HUGE_VAL;
  return seen;
}

static int32_t onProgress(void *user, const wavesmith_progress *progress) {
  uint32_t *calls = user;
  ++*calls;
  CHECK(progress->done <= progress->total && progress->kernel, "progress of %u", progress->total);
  return 0;
}

int main(void) {
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  wavesmith_context context = NULL;
  OK(wavesmith_context_create(&options, &context));
  wavesmith_context_info device = WAVESMITH_INIT(wavesmith_context_info);
  OK(wavesmith_context_get_info(context, &device));
  CHECK(device.is_emulator == 1, "%s", device.library);

  int32_t cuQ[kBatch + 1] = {0}, cuKv[kBatch + 1] = {0};
  for (int i = 0; i < kBatch; ++i) {
    cuQ[i + 1] = cuQ[i] + kLensQ[i];
    cuKv[i + 1] = cuKv[i] + kLensKv[i];
  }
  const size_t totalQ = (size_t)cuQ[kBatch], totalKv = (size_t)cuKv[kBatch];

  wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
  attention.dtype = WAVESMITH_BF16;
  attention.head_dim_qk = attention.head_dim_v = kDim;
  attention.heads = kHeads;
  attention.kv_heads = kKvHeads;
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  attention.batch = kBatch;
  attention.cu_seqlens_q = cuQ;
  attention.cu_seqlens_kv = cuKv;
  attention.splits = 2; /* so that the merge of partials is run too */

  const wavesmith_attention *attentions[] = {&attention};
  uint32_t calls = 0;
  wavesmith_prepare_options prepare = WAVESMITH_INIT(wavesmith_prepare_options);
  prepare.attentions = attentions;
  prepare.attention_count = 1;
  prepare.progress = onProgress;
  prepare.user = &calls;
  OK(wavesmith_prepare(context, &prepare));
  CHECK(calls >= 1, "%u calls", calls);
  wavesmith_statistics before = WAVESMITH_INIT(wavesmith_statistics);
  OK(wavesmith_get_statistics(context, &before));

  wavesmith_plan plan = NULL;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  OK(wavesmith_plan_attention(context, &attention, &plan, &info));
  wavesmith_statistics after = WAVESMITH_INIT(wavesmith_statistics);
  OK(wavesmith_get_statistics(context, &after));
  CHECK(after.compiles == before.compiles && after.disk_hits == before.disk_hits,
        "what was prepared is not looked for again");
  CHECK(info.ready == 1 && info.launches == 2 && info.splits == 2 &&
            info.path == WAVESMITH_PATH_BF16,
        "%u launches, %d splits", info.launches, info.splits);

  uint16_t *q = fill(totalQ * kHeads * kDim, 1), *k = fill(totalKv * kKvHeads * kDim, 2),
           *v = fill(totalKv * kKvHeads * kDim, 3);
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = onDevice(q, totalQ * kHeads * kDim * 2);
  buffers.k = onDevice(k, totalKv * kKvHeads * kDim * 2);
  buffers.v = onDevice(v, totalKv * kKvHeads * kDim * 2);
  buffers.out = onDevice(NULL, totalQ * kHeads * kDim * 2);
  buffers.lse = onDevice(NULL, totalQ * kHeads * sizeof(float));
  buffers.workspace = onDevice(NULL, info.workspace_bytes);
  buffers.workspace_bytes = info.workspace_bytes;

  hipStream_t stream = NULL;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  OK(wavesmith_upload(plan, buffers.workspace, buffers.workspace_bytes, stream));
  OK(wavesmith_launch_attention(plan, &buffers, stream));
  HIP(hipStreamSynchronize(stream));

  uint16_t *out = malloc(totalQ * kHeads * kDim * 2);
  float *lse = malloc(totalQ * kHeads * sizeof *lse);
  CHECK(out && lse, "no memory");
  HIP(hipMemcpy(out, buffers.out, totalQ * kHeads * kDim * 2, hipMemcpyDeviceToHost));
  HIP(hipMemcpy(lse, buffers.lse, totalQ * kHeads * sizeof *lse, hipMemcpyDeviceToHost));
  int rows = 0, empty = 0;
  for (int32_t s = 0; s < kBatch; ++s)
    for (int32_t i = 0; i < kLensQ[s]; ++i)
      for (int32_t h = 0; h < kHeads; ++h, ++rows) {
        double expected[kDim], expectedLse, error = 0, norm = 0;
        const int32_t seen = referenceRow(q, k, v, s, i, h, cuQ, cuKv, expected, &expectedLse);
        const size_t row = (size_t)(cuQ[s] + i);
        for (int32_t d = 0; d < kDim; ++d) {
          const double value = fromBf16(out[(row * kHeads + (size_t)h) * kDim + (size_t)d]);
          error += (value - expected[d]) * (value - expected[d]);
          norm += expected[d] * expected[d];
        }
        const double got = (double)lse[(size_t)h * totalQ + row];
        if (seen <= 0) {
          ++empty;
          CHECK(error == 0 && got == -HUGE_VAL, "sequence %d row %d: lse %g", s, i, got);
          continue;
        }
        CHECK(sqrt(error) <= 8e-3 * sqrt(norm), "sequence %d row %d head %d: error %g of %g", s, i,
              h, sqrt(error), sqrt(norm));
        CHECK(fabs(got - expectedLse) <= 1e-5 * fmax(1, fabs(expectedLse)),
              "sequence %d row %d head %d: lse %g, want %g", s, i, h, got, expectedLse);
      }
  CHECK(rows == (70 + 33 + 5) * kHeads && empty == 5 * kHeads, "%d rows, %d empty", rows, empty);

  const char *explained = NULL;
  OK(wavesmith_plan_explain(plan, &explained));
  CHECK(strstr(explained, "\"path\":\"bf16\"") && strstr(explained, "ws_attention_bf16_d128x128"),
        "%s", explained);

  OK(wavesmith_plan_destroy(plan));
  OK(wavesmith_context_destroy(context));
  CHECK(wavesmith_plan_destroy(plan) == WAVESMITH_INVALID_ARGUMENT, "destroyed twice");
  CHECK(strstr(wavesmith_last_error(), "destroyed"), "%s", wavesmith_last_error());

  HIP(hipStreamDestroy(stream));
  HIP(hipFree((void *)(uintptr_t)buffers.q));
  HIP(hipFree((void *)(uintptr_t)buffers.k));
  HIP(hipFree((void *)(uintptr_t)buffers.v));
  HIP(hipFree(buffers.out));
  HIP(hipFree(buffers.lse));
  HIP(hipFree(buffers.workspace));
  free(q);
  free(k);
  free(v);
  free(out);
  free(lse);
  printf("%d rows right, %d of them without keys\n", rows, empty);
  return 0;
}

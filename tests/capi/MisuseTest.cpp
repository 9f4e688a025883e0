// What a caller can do wrong: a status and a sentence that names the value, never a crash, and
// nothing enqueued.

#include <limits>
#include <thread>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

class Misuse : public CapiTest {
protected:
  wavesmith_status planned(const wavesmith_attention &attention) const {
    wavesmith_plan made = nullptr;
    const wavesmith_status status = wavesmith_plan_attention(context, &attention, &made, nullptr);
    EXPECT_EQ(made == nullptr, status != WAVESMITH_OK);
    if (made)
      EXPECT_TRUE(ok(wavesmith_plan_destroy(made)));
    return status;
  }
  /// A description with one value changed.
  template <typename Change> wavesmith_status with(Change change) const {
    wavesmith_attention attention = description();
    change(attention);
    return planned(attention);
  }
};

TEST_F(Misuse, OfHandles) {
  const wavesmith_plan made = plan(description());
  const wavesmith_attention attention = description();
  wavesmith_plan out = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  EXPECT_TRUE(invalid(wavesmith_plan_attention(nullptr, &attention, &out, nullptr),
                      "wavesmith_plan_attention", "context is null"));
  EXPECT_TRUE(invalid(wavesmith_plan_get_info(nullptr, &info), "plan is null"));
  EXPECT_TRUE(invalid(wavesmith_context_destroy(nullptr), "context is null"));
  EXPECT_TRUE(invalid(wavesmith_plan_destroy(nullptr), "plan is null"));
  // One for the other, and what was never one.
  EXPECT_TRUE(invalid(wavesmith_plan_get_info(reinterpret_cast<wavesmith_plan>(context), &info),
                      "is a context, not a plan"));
  EXPECT_TRUE(invalid(wavesmith_context_destroy(reinterpret_cast<wavesmith_context>(made)),
                      "is a plan, not a context"));
  for (const std::uint64_t wild :
       {std::uint64_t{1}, std::uint64_t{2}, ~std::uint64_t{0}, std::uint64_t{0xdeadbeef02},
        reinterpret_cast<std::uint64_t>(made) + (std::uint64_t{1} << 32),
        reinterpret_cast<std::uint64_t>(made) + (std::uint64_t{1} << 20),
        reinterpret_cast<std::uint64_t>(&info)})
    EXPECT_EQ(wavesmith_plan_get_info(reinterpret_cast<wavesmith_plan>(wild), &info),
              WAVESMITH_INVALID_ARGUMENT)
        << wild;

  ASSERT_TRUE(ok(wavesmith_plan_destroy(made)));
  EXPECT_TRUE(invalid(wavesmith_plan_destroy(made), "was destroyed or never made"));
  EXPECT_TRUE(invalid(wavesmith_plan_get_info(made, &info), "was destroyed or never made"));
  const wavesmith_plan next = plan(description());
  EXPECT_TRUE(invalid(wavesmith_plan_get_info(made, &info), "was destroyed"))
      << "also when its place was taken";
  ASSERT_TRUE(ok(wavesmith_plan_destroy(next)));

  wavesmith_context other = open(0);
  ASSERT_TRUE(ok(wavesmith_context_destroy(other)));
  EXPECT_TRUE(invalid(wavesmith_context_destroy(other), "context", "was destroyed"));
  EXPECT_TRUE(invalid(wavesmith_plan_attention(other, &attention, &out, nullptr), "was destroyed"));
}

TEST_F(Misuse, OfNullPointers) {
  const wavesmith_attention attention = description();
  const wavesmith_plan made = plan(attention);
  wavesmith_plan out = nullptr;
  EXPECT_TRUE(invalid(wavesmith_context_create(nullptr, nullptr), "context is null"));
  EXPECT_TRUE(invalid(wavesmith_plan_attention(context, nullptr, &out, nullptr), "attention"));
  EXPECT_TRUE(invalid(wavesmith_plan_attention(context, &attention, nullptr, nullptr), "plan"));
  EXPECT_TRUE(invalid(wavesmith_plan_get_info(made, nullptr), "info is null"));
  EXPECT_TRUE(invalid(wavesmith_plan_explain(made, nullptr), "json is null"));
  EXPECT_TRUE(invalid(wavesmith_context_get_info(context, nullptr), "info is null"));
  EXPECT_TRUE(invalid(wavesmith_get_statistics(context, nullptr), "statistics is null"));
  EXPECT_TRUE(invalid(wavesmith_launch_attention(made, nullptr, stream), "buffers is null"));
  EXPECT_TRUE(invalid(wavesmith_prepare(context, nullptr), "options is null"));
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attention_count = options.plan_count = options.spec_count = 1;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "attentions is null"));
  options.attention_count = 0;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "plans is null"));
  options.plan_count = 0;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "specs is null"));
  const char *specs[] = {nullptr};
  options.specs = specs;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "specs[0] is null"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.cu_seqlens_q = nullptr; }), "cu_seqlens_q is null"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.cu_seqlens_kv = nullptr; }), "cu_seqlens_kv is null"));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(made)));
}

TEST_F(Misuse, OfSizes) {
  EXPECT_TRUE(invalid(with([](auto &a) { a.size = 0; }), "attention.size is 0"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.size = offsetof(wavesmith_attention, scale) - 1; }),
                      "attention.size is"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.size = ~std::size_t{0}; }), "attention.size is"));
  EXPECT_TRUE(ok(with([](auto &a) { a.size = offsetof(wavesmith_attention, scale); })))
      << "an older caller's";
  EXPECT_TRUE(ok(with([](auto &a) {
    a.size = offsetof(wavesmith_attention, scale);
    a.scale = -1; // beyond its size: not read
  })));

  // A newer caller's struct: fine as long as the unknown part says nothing.
  struct {
    wavesmith_attention known;
    std::uint64_t unknown[2];
  } newer = {description(), {0, 0}};
  newer.known.size = sizeof newer;
  EXPECT_TRUE(ok(planned(newer.known)));
  newer.unknown[1] = 1;
  EXPECT_TRUE(refused(planned(newer.known), WAVESMITH_UNSUPPORTED, "attention.size", "newer"));

  wavesmith_plan_info info{};
  const wavesmith_plan made = plan(description());
  EXPECT_TRUE(invalid(wavesmith_plan_get_info(made, &info), "info.size is 0", "before the call"));
  info.size = offsetof(wavesmith_plan_info, launches);
  info.launches = 77;
  EXPECT_TRUE(ok(wavesmith_plan_get_info(made, &info)));
  EXPECT_GT(info.workspace_bytes, 0u);
  EXPECT_EQ(info.launches, 77u) << "beyond its size: not written";
  struct {
    wavesmith_plan_info known;
    std::uint64_t unknown;
  } larger = {};
  larger.known.size = sizeof larger;
  larger.unknown = 5;
  EXPECT_TRUE(ok(wavesmith_plan_get_info(made, &larger.known)));
  EXPECT_EQ(larger.unknown, 0u) << "what we do not know is 0";

  wavesmith_attention_buffers buffers{};
  EXPECT_TRUE(invalid(wavesmith_launch_attention(made, &buffers, stream), "buffers.size is 0"));
  wavesmith_context_options options{};
  wavesmith_context other = nullptr;
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "options.size is 0"));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(made)));
}

TEST_F(Misuse, OfAttention) {
  const auto big = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(invalid(with([](auto &a) { a.dtype = 0; }), "dtype is 0"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.dtype = WAVESMITH_F32; }), "dtype is 4",
                      "1 (bf16), 2 (fp8) or 3 (f16)"));
  EXPECT_TRUE(ok(with([](auto &a) { a.dtype = WAVESMITH_F16; })));
  EXPECT_TRUE(invalid(with([](auto &a) { a.heads = 0; }), "heads is 0"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.heads = 129; }), "heads is 129"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.kv_heads = 5; }), "multiple of kv_heads 5"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.kv_heads = -1; }), "kv_heads is -1"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.flags = 1u << 31; }), "flags are 0x80000000"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.flags |= WAVESMITH_SHARED_DESCALE_Q; }), "descales"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.lengths = 7; }), "lengths is 7"));
  const auto onDevice = [&](auto change) {
    return with([&](auto &a) {
      a.lengths = WAVESMITH_LENGTHS_ON_DEVICE;
      a.cu_seqlens_q = a.cu_seqlens_kv = nullptr;
      a.max_total_q = a.max_total_kv = 1000;
      change(a);
    });
  };
  EXPECT_TRUE(ok(onDevice([](auto &) {})));
  EXPECT_TRUE(invalid(onDevice([&](auto &a) { a.cu_seqlens_q = cuQ; }), "cu_seqlens_q", "buffers"));
  EXPECT_TRUE(invalid(onDevice([](auto &a) { a.max_total_q = -1; }), "-1"));
  EXPECT_TRUE(refused(onDevice([](auto &a) { a.scales = WAVESMITH_SCALES_DYNAMIC; }),
                      WAVESMITH_UNSUPPORTED, "scales is 2"));
  EXPECT_TRUE(
      refused(onDevice([](auto &a) { a.splits = 2; }), WAVESMITH_UNSUPPORTED, "splits is 2"));
  EXPECT_TRUE(refused(onDevice([](auto &a) { a.path = WAVESMITH_PATH_FP8; }), WAVESMITH_UNSUPPORTED,
                      "path is 2", "inputs are bf16"));
  EXPECT_TRUE(refused(onDevice([](auto &a) {
                        a.path = WAVESMITH_PATH_FP8;
                        a.dtype = WAVESMITH_F16;
                      }),
                      WAVESMITH_UNSUPPORTED, "path is 2", "inputs are f16"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.max_total_q = 5; }), "max_total_q is 5"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.batch = -1; }), "batch is -1"));
  EXPECT_TRUE(invalid(with([&](auto &a) { a.batch = big; }), "batch is"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.scale = -1; }), "scale is -1"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.scale = std::numeric_limits<double>::quiet_NaN(); }),
                      "scale is nan"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.splits = -1; }), "splits is -1"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.splits = 65; }), "splits is 65"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.path = 9; }), "path is 9"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.scales = 4; }), "scales is 4"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.rotation = 5; }), "rotation is 5", "scales is 0"));
  EXPECT_TRUE(invalid(with([](auto &a) {
                        a.scales = WAVESMITH_SCALES_DYNAMIC;
                        a.rotation = 1u << 31;
                        a.path = WAVESMITH_PATH_FP8;
                      }),
                      "2147483648"));
  EXPECT_TRUE(invalid(with([](auto &a) {
                        a.dtype = WAVESMITH_FP8;
                        a.scales = WAVESMITH_SCALES_UNIT;
                      }),
                      "scales is 3", "fp8"));
  EXPECT_TRUE(invalid(with([](auto &a) {
                        a.dtype = WAVESMITH_FP8;
                        a.path = WAVESMITH_PATH_BF16;
                      }),
                      "path is 1"));
  EXPECT_TRUE(refused(with([](auto &a) { a.path = WAVESMITH_PATH_FP8; }), WAVESMITH_UNSUPPORTED,
                      "sequence 0", "scales"))
      << "FP8 never without scales";
  EXPECT_TRUE(invalid(with([](auto &a) { a.q.row = -8; }), "q row stride is -8"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.k.head = 3; }), "k head stride is 3"));
  EXPECT_TRUE(invalid(with([&](auto &a) { a.v.row = big - 7; }), "v row stride is"));
  EXPECT_TRUE(invalid(with([&](auto &a) { a.q.head = big - 7; }), "q head stride"));
  // Idle strides become bytes too.
  EXPECT_TRUE(invalid(with([&](auto &a) {
                        a.heads = 1;
                        a.q.row = 192;
                        a.q.head = big - 7;
                      }),
                      "q reaches"));
  EXPECT_TRUE(invalid(with([&](auto &a) {
                        a.heads = 1;
                        a.lse_head_stride = big;
                      }),
                      "lse reaches"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.out.row = 8; }), "out rows overlap"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.lse_head_stride = 319; }), "lse head stride is 319"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.lse_head_stride = -1; }), "lse head stride is -1"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.fp8_format = 3; }), "fp8_format is 3"));
  EXPECT_TRUE(invalid(with([](auto &a) {
                        a.dtype = WAVESMITH_FP8;
                        a.fp8_format = WAVESMITH_FP8_E4M3_OCP;
                      }),
                      "e4m3", "e4m3fnuz"));
  EXPECT_TRUE(invalid(with([](auto &a) {
                        a.dtype = WAVESMITH_F16;
                        a.fp8_format = WAVESMITH_FP8_E4M3_FNUZ;
                      }),
                      "fp8_format is 1 for f16 inputs", "want 0"));
  EXPECT_NE(with([](auto &a) { a.head_dim_qk = 96; }), WAVESMITH_OK);
  EXPECT_THAT(wavesmith_last_error(), testing::HasSubstr("192x128")) << "lists what there is";

  std::int32_t falling[] = {0, 300, 200}, late[] = {1, 300, 320}, negative[] = {0, -5, 320};
  EXPECT_TRUE(invalid(with([&](auto &a) { a.cu_seqlens_q = falling; }), "fall from 300 to 200"));
  EXPECT_TRUE(invalid(with([&](auto &a) { a.cu_seqlens_kv = late; }), "start with 1"));
  EXPECT_TRUE(invalid(with([&](auto &a) { a.cu_seqlens_q = negative; }), "fall from 0 to -5"));
  std::int32_t many[] = {0, 1 << 24, std::numeric_limits<std::int32_t>::max()};
  EXPECT_TRUE(invalid(with([&](auto &a) { a.cu_seqlens_kv = many; }), "tokens"));
  alignas(8) char bytes[32] = {};
  EXPECT_TRUE(
      invalid(with([&](auto &a) { a.cu_seqlens_q = reinterpret_cast<std::int32_t *>(bytes + 1); }),
              "cu_seqlens_q", "aligned to 4"));
}

TEST_F(Misuse, OfBuffers) {
  const Memory memory(kMemoryBytes);
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  const wavesmith_plan made = plan(description(), &info);
  const auto launch = [&](auto change) {
    wavesmith_attention_buffers buffers = buffersAt(memory);
    change(buffers);
    return wavesmith_launch_attention(made, &buffers, stream);
  };
  const auto nothing = [](auto &) {};
  EXPECT_TRUE(invalid(launch(nothing), "holds no work lists", "wavesmith_upload"));
  void *const workspace = memory.at(kWorkspaceAt);
  EXPECT_TRUE(invalid(wavesmith_upload(made, nullptr, kWorkspaceBytes, stream), "null"));
  EXPECT_TRUE(invalid(wavesmith_upload(made, memory.at(kWorkspaceAt + 64), kWorkspaceBytes, stream),
                      "aligned to 256"));
  EXPECT_TRUE(invalid(wavesmith_upload(made, workspace, info.workspace_bytes - 1, stream),
                      "the plan needs"));
  ASSERT_TRUE(ok(wavesmith_upload(made, workspace, kWorkspaceBytes, stream)));
  EXPECT_TRUE(ok(launch(nothing)));

  EXPECT_TRUE(invalid(launch([](auto &b) { b.q = nullptr; }), "q is null"));
  EXPECT_TRUE(invalid(launch([](auto &b) { b.k = nullptr; }), "k is null"));
  EXPECT_TRUE(invalid(launch([](auto &b) { b.out = nullptr; }), "out is null"));
  EXPECT_TRUE(invalid(launch([](auto &b) { b.lse = nullptr; }), "lse is null"));
  EXPECT_TRUE(invalid(launch([&](auto &b) { b.v = memory.at(0x3008); }), "v is at", "16 bytes"));
  EXPECT_TRUE(invalid(launch([&](auto &b) { b.lse = (float *)memory.at(0x5002); }), "lse is at"));
  EXPECT_TRUE(invalid(launch([](auto &b) { b.workspace = nullptr; }), "workspace is null"));
  EXPECT_TRUE(invalid(launch([&](auto &b) { b.workspace_bytes = info.workspace_bytes - 1; }),
                      "workspace has", "needs"));
  EXPECT_TRUE(invalid(launch([&](auto &b) { b.workspace = memory.at(kWorkspaceAt + 256); }),
                      "no work lists"));

  // Another plan's lists in the same workspace.
  wavesmith_attention second = description();
  second.heads = 6;
  const wavesmith_plan other = plan(second);
  ASSERT_TRUE(ok(wavesmith_upload(other, workspace, kWorkspaceBytes, stream)));
  EXPECT_TRUE(invalid(launch(nothing), "lists of another plan"));
  ASSERT_TRUE(ok(wavesmith_upload(made, workspace, kWorkspaceBytes, stream)));
  EXPECT_TRUE(ok(launch(nothing)));
  // And one that makes its own there.
  wavesmith_attention onDevice = description();
  onDevice.lengths = WAVESMITH_LENGTHS_ON_DEVICE;
  onDevice.cu_seqlens_q = onDevice.cu_seqlens_kv = nullptr;
  onDevice.max_total_q = onDevice.max_total_kv = 1000;
  const wavesmith_plan making = plan(onDevice);
  wavesmith_attention_buffers there = buffersAt(memory);
  there.cu_seqlens_q = there.cu_seqlens_kv =
      reinterpret_cast<const std::int32_t *>(memory.at(0x6000));
  ASSERT_TRUE(ok(wavesmith_launch_attention(making, &there, stream)));
  EXPECT_TRUE(invalid(launch(nothing), "lists of another plan"));

  wavesmith_attention fp8 = description();
  fp8.dtype = WAVESMITH_FP8;
  const wavesmith_plan quantised = plan(fp8);
  ASSERT_TRUE(ok(wavesmith_upload(quantised, workspace, kWorkspaceBytes, stream)));
  wavesmith_attention_buffers buffers = buffersAt(memory);
  EXPECT_TRUE(
      invalid(wavesmith_launch_attention(quantised, &buffers, stream), "descale_q is null"));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  wavesmith_statistics counts = WAVESMITH_INIT(wavesmith_statistics);
  ASSERT_TRUE(ok(wavesmith_get_statistics(context, &counts)));
  EXPECT_EQ(counts.launches, 3u);
  EXPECT_EQ(counts.refusals, 16u);
  for (const wavesmith_plan each : {made, other, making, quantised})
    ASSERT_TRUE(ok(wavesmith_plan_destroy(each)));
}

TEST_F(Misuse, OfDevicesAndStreams) {
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  wavesmith_context other = nullptr;
  options.device = 9;
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "options.device is 9"));
  options.device = WAVESMITH_DEVICE_EMULATOR;
  options.ordinal = -2;
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "options.ordinal is -2"));
  options.ordinal = 2;
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "device 2", "0 gfx942"));
  options.ordinal = 0;
  options.jit = 3;
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "options.jit is 3"));
  options.jit = 0;
  options.cache_directory = "";
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "cache_directory is empty"));
  options.cache_directory = nullptr;
  options.bundles = "";
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "bundles is empty"));

  const Memory memory(kMemoryBytes);
  const wavesmith_plan made = plan(description());
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  ASSERT_TRUE(ok(wavesmith_upload(made, buffers.workspace, kWorkspaceBytes, stream)));
  hipStream_t foreign = nullptr;
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  ASSERT_EQ(hipStreamCreateWithFlags(&foreign, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_TRUE(invalid(wavesmith_launch_attention(made, &buffers, foreign), "of device 1",
                      "plan of device 0"));
  EXPECT_TRUE(
      invalid(wavesmith_upload(made, buffers.workspace, kWorkspaceBytes, foreign), "of device 1"));
  ASSERT_EQ(hipStreamDestroy(foreign), hipSuccess);
  EXPECT_TRUE(invalid(wavesmith_launch_attention(made, &buffers, foreign), "no stream"));
  EXPECT_TRUE(invalid(wavesmith_launch_attention(made, &buffers, (void *)&options), "no stream"));
  (void)hipGetLastError();

  wavesmith_context second = open(1);
  wavesmith_prepare_options prepare = WAVESMITH_INIT(wavesmith_prepare_options);
  prepare.plans = &made;
  prepare.plan_count = 1;
  EXPECT_TRUE(invalid(wavesmith_prepare(second, &prepare), "plans[0]", "another context"));
  ASSERT_TRUE(ok(wavesmith_context_destroy(second)));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(made)));
}

TEST_F(Misuse, OfPolicies) {
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  wavesmith_context other = nullptr;
  for (const char *text :
       {"{", "{}", "{\"schema\": \"wavesmith-policy-1\", \"rules\": 3}",
        "{\"schema\": \"other\", \"name\": \"x\", \"rules\": []}",
        "{\"schema\": \"wavesmith-policy-1\", \"name\": \"\xff\", \"rules\": []}"}) {
    options.policy = text;
    EXPECT_EQ(wavesmith_context_create(&options, &other), WAVESMITH_INVALID_ARGUMENT) << text;
    EXPECT_THAT(wavesmith_last_error(), testing::HasSubstr("options.policy")) << text;
  }
  options.policy = "no-such-policy";
  EXPECT_TRUE(
      invalid(wavesmith_context_create(&options, &other), "no-such-policy", "bf16-under-1024"));
  options.policy = "/no/such/file.json";
  EXPECT_NE(wavesmith_context_create(&options, &other), WAVESMITH_OK);
  EXPECT_THAT(wavesmith_last_error(), testing::HasSubstr("/no/such/file.json"));
  options.policy = "";
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &other), "options.policy is empty"));
  EXPECT_EQ(other, nullptr);
  options.policy = "bf16-under-1024";
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &other)));
  wavesmith_context_info info = WAVESMITH_INIT(wavesmith_context_info);
  ASSERT_TRUE(ok(wavesmith_context_get_info(other, &info)));
  EXPECT_STREQ(info.policy, "bf16-under-1024");
  ASSERT_TRUE(ok(wavesmith_context_destroy(other)));
}

TEST_F(Misuse, OfPrepare) {
  wavesmith_attention attention = description();
  attention.heads = -3;
  const wavesmith_attention *attentions[] = {&attention};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  EXPECT_TRUE(ok(wavesmith_prepare(context, &options))) << "nothing is fine";
  options.attentions = attentions;
  options.attention_count = 1;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "attentions[0]", "heads is -3"));
  options.threads = 1000;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "threads is 1000"));
  options = WAVESMITH_INIT(wavesmith_prepare_options);
  const wavesmith_plan none = nullptr;
  options.plans = &none;
  options.plan_count = 1;
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "plans[0]", "null"));
  options.plan_count = ~std::uint64_t{0};
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "plans has"));
}

TEST_F(Misuse, OfPasses) {
  const Memory memory(kMemoryBytes);
  const std::int32_t lengths[] = {0, 100, 100}, more[] = {0, 5, 5000};
  const std::int32_t *segments[] = {lengths, more, lengths};
  wavesmith_attention attention = description();
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.segments = segments;
  options.segment_count = 3;
  wavesmith_pass pass = nullptr;
  const auto begin = [&] { return wavesmith_pass_begin(context, &options, &pass, nullptr); };
  EXPECT_TRUE(invalid(begin(), "attention is null"));
  options.attention = &attention;
  attention.flags = WAVESMITH_CAUSAL;
  EXPECT_TRUE(invalid(begin(), "WAVESMITH_LSE"));
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE | WAVESMITH_DEFER;
  EXPECT_TRUE(invalid(begin(), "deferred"));
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  options.segment_count = 1 << 20;
  EXPECT_TRUE(invalid(begin(), "segment_count is"));
  options.segment_count = 3;
  segments[1] = nullptr;
  EXPECT_TRUE(invalid(begin(), "segments[1]", "null"));
  segments[1] = more;
  attention.heads = -1;
  EXPECT_TRUE(invalid(begin(), "heads is -1"));
  attention.heads = 12;
  attention.splits = 1; // partials would not fit the tests' workspace
  EXPECT_EQ(pass, nullptr);
  wavesmith_pass_info info = WAVESMITH_INIT(wavesmith_pass_info);
  ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, &info)));

  wavesmith_attention_buffers buffers = buffersAt(memory);
  ASSERT_GE(kWorkspaceBytes, info.workspace_bytes);
  const auto segment = [&](std::uint64_t index) {
    return wavesmith_pass_segment(pass, index, &buffers, stream);
  };
  EXPECT_TRUE(invalid(segment(0), "no work lists"));
  EXPECT_TRUE(invalid(wavesmith_pass_upload(pass, nullptr, 0, stream), "workspace is null"));
  EXPECT_TRUE(
      invalid(wavesmith_pass_upload(pass, buffers.workspace, info.workspace_bytes - 1, stream),
              "the pass needs"));
  ASSERT_TRUE(ok(wavesmith_pass_upload(pass, buffers.workspace, kWorkspaceBytes, stream)));
  for (const std::uint64_t index : {0, 1, 2})
    EXPECT_TRUE(ok(segment(index)));
  EXPECT_TRUE(ok(wavesmith_pass_finish(pass, &buffers, stream)));
  EXPECT_TRUE(invalid(segment(3), "segment is 3", "has 3"));
  // Another pass, or a plan, in the same workspace: its lists are gone, whatever they have in
  // common.
  wavesmith_pass another = nullptr;
  ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &another, nullptr)));
  ASSERT_TRUE(ok(wavesmith_pass_upload(another, buffers.workspace, kWorkspaceBytes, stream)));
  for (const std::uint64_t index : {0, 1, 2})
    EXPECT_TRUE(invalid(segment(index), "another plan", "wavesmith_pass_upload"));
  EXPECT_TRUE(invalid(wavesmith_pass_finish(pass, &buffers, stream), "another plan"));
  ASSERT_TRUE(ok(wavesmith_pass_destroy(another)));
  ASSERT_TRUE(ok(wavesmith_pass_upload(pass, buffers.workspace, kWorkspaceBytes, stream)));
  EXPECT_TRUE(ok(wavesmith_pass_finish(pass, &buffers, stream)));
  const wavesmith_plan alone = plan(description());
  ASSERT_TRUE(ok(wavesmith_upload(alone, buffers.workspace, kWorkspaceBytes, stream)));
  EXPECT_TRUE(invalid(wavesmith_pass_finish(pass, &buffers, stream), "another plan"));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(alone)));
  ASSERT_TRUE(ok(wavesmith_pass_upload(pass, buffers.workspace, kWorkspaceBytes, stream)));
  buffers.lse = nullptr;
  EXPECT_TRUE(invalid(segment(1), "lse is"));
  EXPECT_TRUE(invalid(wavesmith_pass_finish(pass, nullptr, stream), "buffers is null"));
  buffers.workspace_bytes = info.workspace_bytes - 1;
  EXPECT_TRUE(invalid(segment(0), "the pass needs"));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_TRUE(invalid(wavesmith_plan_destroy(reinterpret_cast<wavesmith_plan>(pass)),
                      "is a context pass, not a plan"));
  ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
  EXPECT_TRUE(invalid(segment(0), "was destroyed"));
  EXPECT_TRUE(invalid(wavesmith_pass_destroy(pass), "was destroyed"));
}

TEST_F(Misuse, APassWithNothingToDoDoesIt) {
  const std::int32_t nothing[] = {0, 0, 0}, keys[] = {0, 9, 20};
  const std::int32_t *segments[] = {keys};
  wavesmith_attention attention = description();
  attention.cu_seqlens_q = nothing;
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.attention = &attention;
  options.segments = segments;
  options.segment_count = 1;
  for (const std::int64_t batch : {2, 0}) {
    attention.batch = batch;
    wavesmith_pass pass = nullptr;
    wavesmith_pass_info info = WAVESMITH_INIT(wavesmith_pass_info);
    ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, &info)));
    EXPECT_EQ(info.launches, 0u);
    EXPECT_EQ(info.workspace_bytes, 0u);
    const wavesmith_attention_buffers none = WAVESMITH_INIT(wavesmith_attention_buffers);
    EXPECT_TRUE(ok(wavesmith_pass_upload(pass, nullptr, 0, stream)));
    EXPECT_TRUE(ok(wavesmith_pass_segment(pass, 0, &none, stream)));
    EXPECT_TRUE(ok(wavesmith_pass_finish(pass, &none, stream)));
    ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
  }
}

TEST_F(Misuse, TheSentenceIsTheThreadsOwn) {
  ASSERT_NE(wavesmith_plan_destroy(nullptr), WAVESMITH_OK);
  const std::string mine = wavesmith_last_error();
  EXPECT_EQ(mine.find("wavesmith_plan_destroy: "), 0u);
  std::thread([] {
    EXPECT_STREQ(wavesmith_last_error(), "");
    EXPECT_NE(wavesmith_context_destroy(nullptr), WAVESMITH_OK);
  }).join();
  EXPECT_TRUE(ok(wavesmith_plan_destroy(plan(description())))) << "success leaves it";
  EXPECT_EQ(wavesmith_last_error(), mine);
}

} // namespace
} // namespace wavesmith::test

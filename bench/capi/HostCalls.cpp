// What the C interface costs the host: launch over HIP's own, a repeated plan, the first plan of a
// process whose kernels lie in the disk cache. HIP is the tests' library that does nothing, so the
// times are Wavesmith's alone.
//
//   bench-capi                        Launch/hip against Launch/attention, Plan/repeated
//   bench-capi --first DIRECTORY      one line of JSON: the first plan, kernels from that disk
//   cache

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

#include "include/wavesmith/wavesmith.hpp"

extern "C" int hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                     unsigned blockX, unsigned blockY, unsigned blockZ,
                                     unsigned lds, void *stream, void **parameters, void **extra);

namespace {

using wavesmith::Context;
using wavesmith::Plan;

wavesmith_context_options onNullHip(const char *cache) {
  setenv("WAVESMITH_HIP_LIBRARY", WAVESMITH_NULL_HIP, 1);
  auto options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_HIP;
  options.cache_directory = cache;
  return options;
}

struct Batch {
  std::vector<std::int32_t> lengths{0};
  wavesmith_attention call = WAVESMITH_INIT(wavesmith_attention);

  explicit Batch(std::int64_t sequences, std::int32_t splits = 1) {
    for (std::int64_t i = 0; i < sequences; ++i)
      lengths.push_back(lengths.back() + 600 + static_cast<std::int32_t>(i % 7));
    call.dtype = WAVESMITH_BF16;
    call.head_dim_qk = 192;
    call.head_dim_v = 128;
    call.heads = 12;
    call.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
    call.batch = sequences;
    call.cu_seqlens_q = call.cu_seqlens_kv = lengths.data();
    call.splits = splits;
  }
};

const Context &device() {
  static const Context context(onNullHip("off"));
  return context;
}

void launchHip(benchmark::State &state) {
  char arguments[168] = {};
  std::size_t size = sizeof arguments;
  void *extra[] = {reinterpret_cast<void *>(1), arguments, reinterpret_cast<void *>(2), &size,
                   reinterpret_cast<void *>(3)};
  for (auto _ : state)
    benchmark::DoNotOptimize(hipModuleLaunchKernel(reinterpret_cast<void *>(0x10), 100, 1, 1, 512,
                                                   1, 1, 0, nullptr, nullptr, extra));
}
BENCHMARK(launchHip)->Name("Launch/hip");

/// With one kernel, and with two: attention and the merge of its partials.
void launchAttention(benchmark::State &state) {
  const Batch batch(4, static_cast<std::int32_t>(state.range(0)));
  const Plan plan = device().plan(batch.call);
  const wavesmith_plan_info info = plan.info();
  void *const memory = std::aligned_alloc(256, info.workspace_bytes);
  auto buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = buffers.k = buffers.v = buffers.out = buffers.workspace = memory;
  buffers.lse = static_cast<float *>(memory);
  buffers.workspace_bytes = info.workspace_bytes;
  void *const stream = reinterpret_cast<void *>(0x10);
  plan.upload(memory, info.workspace_bytes, stream);
  for (auto _ : state)
    if (wavesmith_launch_attention(plan.get(), &buffers, stream) != WAVESMITH_OK)
      return state.SkipWithError(wavesmith_last_error());
  state.counters["kernels"] = info.launches;
  std::free(memory);
}
BENCHMARK(launchAttention)->Name("Launch/attention")->Arg(1)->Arg(2)->ArgName("splits");

void planRepeated(benchmark::State &state) {
  const Batch batch(state.range(0));
  const Plan kept = device().plan(batch.call);
  auto info = WAVESMITH_INIT(wavesmith_plan_info);
  for (auto _ : state) {
    wavesmith_plan plan = nullptr;
    if (wavesmith_plan_attention(device().get(), &batch.call, &plan, &info) != WAVESMITH_OK ||
        wavesmith_plan_destroy(plan) != WAVESMITH_OK)
      return state.SkipWithError(wavesmith_last_error());
  }
}
BENCHMARK(planRepeated)->Name("Plan/repeated")->Arg(1)->Arg(8)->Arg(64)->ArgName("sequences");

void planNew(benchmark::State &state) {
  Batch batch(state.range(0));
  static double scale = 0.5; // the cache outlives a run of this function
  for (auto _ : state) {
    batch.call.scale = scale += 1e-9; // another value each time, the same kernels
    (void)device().plan(batch.call);
  }
}
BENCHMARK(planNew)->Name("Plan/new")->Arg(1)->Arg(8)->Arg(64)->ArgName("sequences");

/// Of the wall, and of this thread's processor time, which a busy machine disturbs less.
struct Microseconds {
  double wall, cpu;
};
Microseconds now() {
  const auto read = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  };
  return {read(CLOCK_MONOTONIC), read(CLOCK_THREAD_CPUTIME_ID)};
}

int first(const char *cache) {
  const Batch batch(8);
  const Microseconds start = now();
  const Context context(onNullHip(cache));
  const Microseconds opened = now();
  const Plan plan = context.plan(batch.call);
  const Microseconds planned = now();
  const wavesmith_statistics counts = context.statistics();
  std::printf("{\"context_us\": %.1f, \"plan_us\": %.1f, \"plan_cpu_us\": %.1f, "
              "\"disk_hits\": %llu, \"compiles\": %llu}\n",
              opened.wall - start.wall, planned.wall - opened.wall, planned.cpu - opened.cpu,
              static_cast<unsigned long long>(counts.disk_hits),
              static_cast<unsigned long long>(counts.compiles));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "--first") == 0)
      return first(argv[2]);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const wavesmith::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

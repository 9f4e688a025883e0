#include "Engine.h"

#include <algorithm>

namespace engine {
namespace {

using Tensor = Model::Tensor;
constexpr Tensor kTensors[] = {Tensor::Q, Tensor::K, Tensor::V};

template <typename Handle, typename Create>
Owned<Handle> make(const Hip &hip, hipError_t (*destroy)(Handle), const char *name,
                   Create &&create) {
  Handle handle{};
  hip.check(create(&handle), name);
  return {handle, destroy};
}

} // namespace

Engine::Engine(const wavesmith::Context &context, const Hip &hip, const Model &model,
               const Limits &limits, const Precision &precision)
    : context_(context), hip_(hip), model_(model), limits_(limits), precision_(precision),
      stream_(make(hip, hip.streamDestroy, "hipStreamCreateWithFlags",
                   [&](hipStream_t *s) { return hip.streamCreate(s, hipStreamNonBlocking); })),
      start_(make(hip, hip.eventDestroy, "hipEventCreate", hip.eventCreate)),
      stop_(make(hip, hip.eventDestroy, "hipEventCreate", hip.eventCreate)),
      staging_{{nullptr, hip.free}, {nullptr, hip.free}, {nullptr, hip.free}},
      cache_{{nullptr, hip.free}, {nullptr, hip.free}},
      segment_{{nullptr, hip.free}, {nullptr, hip.free}}, out_(nullptr, hip.free),
      lse_(nullptr, hip.free) {
  const std::int64_t staged = std::int64_t{model.layers} * limits.tokensInStep;
  for (const Tensor tensor : kTensors)
    staging_[static_cast<int>(tensor)] = allocate(hip, bytes(tensor, staged));
  for (const Tensor tensor : {Tensor::K, Tensor::V}) {
    const int index = static_cast<int>(tensor) - 1;
    cache_[index] = allocate(
        hip, bytes(tensor, std::int64_t{model.layers} * limits.slots * limits.longestPrompt));
    segment_[index] = allocate(hip, bytes(tensor, limits.tokensInSegment));
  }
  const auto rows = static_cast<std::size_t>(limits.tokensInStep * model.heads);
  out_ = allocate(hip, rows * static_cast<std::size_t>(model.layers * model.dimV) * 2);
  lse_ = allocate(hip, rows * sizeof(float));

  // Both parts of a pass: the last one is causal, segments are not.
  wavesmith_attention causal = describe(), segment = causal;
  segment.flags &= ~std::uint32_t{WAVESMITH_CAUSAL};
  context.prepare({causal, segment});
}

wavesmith_attention Engine::describe() const {
  auto attention = WAVESMITH_INIT(wavesmith_attention);
  attention.dtype = WAVESMITH_BF16;
  attention.head_dim_qk = model_.dimQk;
  attention.head_dim_v = model_.dimV;
  attention.heads = model_.heads;
  attention.kv_heads = model_.kvHeads;
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  attention.scales = precision_.scales;
  attention.rotation = precision_.rotation;
  if (precision_.fp8Context)
    attention.flags |= WAVESMITH_FP8_CONTEXT;
  return attention;
}

Outcome Engine::run(const Step &step) {
  project(step);
  Key key;
  for (const Chunk &chunk : step)
    key.push_back({chunk.slot, chunk.begin, chunk.count});
  const auto found = captured_.find(key);
  const bool replayed = found != captured_.end();
  const Captured &captured =
      replayed ? found->second : captured_.emplace(key, capture(step)).first->second;

  hip_.check(hip_.eventRecord(start_.get(), stream_.get()), "hipEventRecord");
  hip_.check(hip_.graphLaunch(captured.executable.get(), stream_.get()), "hipGraphLaunch");
  hip_.check(hip_.eventRecord(stop_.get(), stream_.get()), "hipEventRecord");
  hip_.check(hip_.streamSynchronize(stream_.get()), "hipStreamSynchronize");

  Outcome outcome;
  float milliseconds = 0;
  hip_.check(hip_.eventElapsedTime(&milliseconds, start_.get(), stop_.get()),
             "hipEventElapsedTime");
  outcome.microseconds = static_cast<double>(milliseconds) * 1e3;
  outcome.segments = captured.pass.info().segments;
  outcome.kernels = captured.pass.info().launches * static_cast<std::uint32_t>(model_.layers);
  outcome.replayed = replayed;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const wavesmith_decision decision = captured.pass.decision(static_cast<std::int64_t>(i));
    outcome.decisions.push_back({decision.path, decision.rule, decision.reason});
  }
  return outcome;
}

/// The context of all chunks, cut wherever the scratch buffer is full.
std::vector<Engine::Segment> Engine::cut(const Step &step) const {
  std::vector<Segment> segments;
  std::int32_t room = 0;
  for (std::size_t i = 0; i < step.size(); ++i)
    for (std::int32_t at = 0; at < step[i].begin;) {
      if (room == 0) {
        segments.push_back(
            {std::vector<std::int32_t>(step.size()), std::vector<std::int32_t>(step.size()), {0}});
        room = limits_.tokensInSegment;
      }
      const std::int32_t count = std::min(room, step[i].begin - at);
      segments.back().begin[i] = at;
      segments.back().count[i] = count;
      at += count;
      room -= count;
    }
  for (Segment &segment : segments)
    for (const std::int32_t count : segment.count)
      segment.offsets.push_back(segment.offsets.back() + count);
  return segments;
}

Engine::Captured Engine::capture(const Step &step) const {
  Captured captured;
  captured.segments = cut(step);
  std::vector<std::int32_t> offsets{0};
  for (const Chunk &chunk : step)
    offsets.push_back(offsets.back() + chunk.count);
  std::vector<const std::int32_t *> segmentOffsets;
  for (const Segment &segment : captured.segments)
    segmentOffsets.push_back(segment.offsets.data());

  wavesmith_attention attention = describe();
  attention.batch = static_cast<std::int64_t>(step.size());
  attention.cu_seqlens_q = attention.cu_seqlens_kv = offsets.data();
  captured.pass = context_.begin(attention, segmentOffsets);
  // The workspace belongs to this graph alone, so one upload lasts for all replays.
  captured.workspace = allocate(hip_, captured.pass.info().workspace_bytes);
  captured.pass.upload(captured.workspace.get(), captured.pass.info().workspace_bytes,
                       stream_.get());

  hip_.check(hip_.beginCapture(stream_.get(), hipStreamCaptureModeThreadLocal),
             "hipStreamBeginCapture");
  enqueue(step, captured);
  captured.graph = make(hip_, hip_.graphDestroy, "hipStreamEndCapture",
                        [&](hipGraph_t *graph) { return hip_.endCapture(stream_.get(), graph); });
  captured.executable =
      make(hip_, hip_.graphExecDestroy, "hipGraphInstantiate", [&](hipGraphExec_t *executable) {
        return hip_.graphInstantiate(executable, captured.graph.get(), nullptr, nullptr, 0);
      });
  return captured;
}

/// Everything that the stream does in one step. Nothing here waits or allocates.
void Engine::enqueue(const Step &step, const Captured &captured) const {
  auto buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.workspace = captured.workspace.get();
  buffers.workspace_bytes = captured.pass.info().workspace_bytes;
  buffers.lse = static_cast<float *>(lse_.get());
  for (int layer = 0; layer < model_.layers; ++layer) {
    buffers.q = staged(Tensor::Q, layer);
    buffers.out = out(layer);
    buffers.k = segment_[0].get();
    buffers.v = segment_[1].get();
    for (std::size_t s = 0; s < captured.segments.size(); ++s) {
      const Segment &segment = captured.segments[s];
      for (const Tensor tensor : {Tensor::K, Tensor::V})
        for (std::size_t i = 0; i < step.size(); ++i)
          copy(static_cast<char *>(segment_[static_cast<int>(tensor) - 1].get()) +
                   bytes(tensor, segment.offsets[i]),
               cached(tensor, layer, step[i].slot, segment.begin[i]),
               bytes(tensor, segment.count[i]));
      captured.pass.segment(s, buffers, stream_.get());
    }
    buffers.k = staged(Tensor::K, layer);
    buffers.v = staged(Tensor::V, layer);
    captured.pass.finish(buffers, stream_.get());
    // The new tokens are the next step's context.
    for (const Tensor tensor : {Tensor::K, Tensor::V}) {
      const char *from = staged(tensor, layer);
      for (const Chunk &chunk : step) {
        copy(cached(tensor, layer, chunk.slot, chunk.begin), from, bytes(tensor, chunk.count));
        from += bytes(tensor, chunk.count);
      }
    }
  }
}

void Engine::copy(void *to, const void *from, std::size_t bytes) const {
  if (bytes > 0)
    hip_.check(hip_.memcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream_.get()),
               "hipMemcpyAsync");
}

/// A real engine's projections write here on the device.
void Engine::project(const Step &step) {
  stepTokens_ = 0;
  for (const Chunk &chunk : step)
    stepTokens_ += chunk.count;
  for (const Tensor tensor : kTensors) {
    const auto width = static_cast<std::size_t>(model_.width(tensor));
    std::vector<std::uint16_t> rows(width * static_cast<std::size_t>(stepTokens_));
    for (int layer = 0; layer < model_.layers; ++layer) {
      std::span<std::uint16_t> left = rows;
      for (const Chunk &chunk : step)
        for (std::int32_t token = chunk.begin; token < chunk.end(); ++token) {
          model_.project(tensor, chunk.request, layer, token, left.first(width));
          left = left.subspan(width);
        }
      hip_.check(hip_.memcpy(staged(tensor, layer), rows.data(), rows.size() * sizeof rows[0],
                             hipMemcpyHostToDevice),
                 "hipMemcpy");
    }
  }
}

std::vector<std::uint16_t> Engine::output(int layer) const {
  std::vector<std::uint16_t> rows(
      static_cast<std::size_t>(std::int64_t{stepTokens_} * model_.heads * model_.dimV));
  hip_.check(
      hip_.memcpy(rows.data(), out(layer), rows.size() * sizeof rows[0], hipMemcpyDeviceToHost),
      "hipMemcpy");
  return rows;
}

char *Engine::staged(Tensor tensor, int layer) const {
  return static_cast<char *>(staging_[static_cast<int>(tensor)].get()) +
         bytes(tensor, std::int64_t{layer} * limits_.tokensInStep);
}

char *Engine::cached(Tensor tensor, int layer, int slot, std::int32_t token) const {
  const std::int64_t at =
      (std::int64_t{layer} * limits_.slots + slot) * limits_.longestPrompt + token;
  return static_cast<char *>(cache_[static_cast<int>(tensor) - 1].get()) + bytes(tensor, at);
}

char *Engine::out(int layer) const {
  return static_cast<char *>(out_.get()) +
         std::size_t{2} * static_cast<std::size_t>(std::int64_t{layer} * limits_.tokensInStep *
                                                   model_.heads * model_.dimV);
}

} // namespace engine

#pragma once
// The attention of a serving engine: a key/value cache, steps that mix chunks of several prompts,
// cached context taken in segments that fit a scratch buffer, and a HIP graph for each shape of
// step. One device, one stream, one thread.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <wavesmith/wavesmith.hpp>

#include "Hip.h"
#include "Model.h"
#include "Scheduler.h"

namespace engine {

struct Limits {
  std::int32_t tokensInStep = 4096;
  std::int32_t tokensInSegment = 4096; ///< cached tokens, of all prompts, gathered at a time
  std::int32_t longestPrompt = 0;
  int slots = 8; ///< prompts in the cache at once
};

/// How attention may quantise: see wavesmith_attention.
struct Precision {
  std::int32_t scales = WAVESMITH_SCALES_DYNAMIC;
  bool fp8Context = false;
  std::uint32_t rotation = 0;
};

struct Decision {
  std::int32_t path = 0; ///< WAVESMITH_PATH_BF16 or _FP8
  std::string rule, reason;
};

struct Outcome {
  std::vector<Decision> decisions; ///< one for each chunk
  std::uint32_t segments = 0, kernels = 0;
  bool replayed = false; ///< the step's graph was there already
  double microseconds = 0;
};

class Engine {
public:
  /// Compiles and loads all kernels.
  Engine(const wavesmith::Context &context, const Hip &hip, const Model &model,
         const Limits &limits, const Precision &precision);

  /// One step through every layer.
  Outcome run(const Step &step);
  /// What the last step left: [tokens of the step][heads][dimV], BF16.
  std::vector<std::uint16_t> output(int layer) const;

private:
  /// Some cached tokens of each prompt, gathered for one part of a pass.
  struct Segment {
    std::vector<std::int32_t> begin, count; ///< of each chunk
    std::vector<std::int32_t> offsets{0};   ///< cu_seqlens_kv
  };
  /// A step's plan and graph. Addresses are part of a graph, so the slots are part of its key.
  struct Captured {
    wavesmith::Pass pass;
    std::vector<Segment> segments;
    Owned<void *> workspace{nullptr, nullptr};
    Owned<hipGraph_t> graph{nullptr, nullptr};
    Owned<hipGraphExec_t> executable{nullptr, nullptr};
  };
  using Key = std::vector<std::array<std::int32_t, 3>>;

  wavesmith_attention describe() const;
  std::vector<Segment> cut(const Step &step) const;
  Captured capture(const Step &step) const;
  void enqueue(const Step &step, const Captured &captured) const;
  void copy(void *to, const void *from, std::size_t bytes) const;
  void project(const Step &step);

  std::size_t bytes(Model::Tensor tensor, std::int64_t tokens) const {
    return static_cast<std::size_t>(tokens * model_.width(tensor)) * sizeof(std::uint16_t);
  }
  char *staged(Model::Tensor tensor, int layer) const;
  char *cached(Model::Tensor tensor, int layer, int slot, std::int32_t token) const;
  char *out(int layer) const;

  const wavesmith::Context &context_;
  const Hip &hip_;
  const Model model_;
  const Limits limits_;
  const Precision precision_;
  Owned<hipStream_t> stream_;
  Owned<hipEvent_t> start_, stop_;
  // What the new tokens bring, layer by layer; the cache; one segment of it; results.
  Owned<void *> staging_[3], cache_[2], segment_[2], out_, lse_;
  std::map<Key, Captured> captured_;
  std::int32_t stepTokens_ = 0;
};

} // namespace engine

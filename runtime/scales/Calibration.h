#pragma once
// What every file of a calibration says about itself: which model, which run, which layout over
// ranks, what the FP8 codes will be. Shards, artifacts and loading share these values and their
// checks, so that a field means the same everywhere. Plain values, pure functions, any thread.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith {

/// The three inputs of attention that are quantised.
enum class Qkv : std::uint8_t { Q, K, V };
inline constexpr std::array kQkv = {Qkv::Q, Qkv::K, Qkv::V};
constexpr std::string_view qkvName(Qkv which) {
  return which == Qkv::Q ? "q" : which == Qkv::K ? "k" : "v";
}

/// Something for each of q, k and v.
template <typename T> struct PerQkv {
  T q, k, v;

  T &operator[](Qkv which) { return which == Qkv::Q ? q : which == Qkv::K ? k : v; }
  const T &operator[](Qkv which) const { return which == Qkv::Q ? q : which == Qkv::K ? k : v; }
  bool operator==(const PerQkv &) const = default;
};
/// One number for each head; k and v have one for each key/value head.
using HeadValues = PerQkv<std::vector<float>>;

/// What all ranks of one calibration run have in common.
struct CalibrationRun {
  std::string model;    ///< as the engine names it
  std::string revision; ///< as the engine was asked for it; may be empty
  /// What exactly was loaded: a commit (7 or more hex digits) or a path ".../snapshots/COMMIT".
  std::string checkpointId;
  std::string calibrationId; ///< of the run: shards of two runs never mix
  int tpSize = 1, ppSize = 1;
  int heads = 0, kvHeads = 0; ///< of the whole model, all ranks together
  int headDimQk = 0, headDimV = 0;
  Fp8Format fp8 = Fp8Format::None; ///< of the codes that the scales are for
  std::string cacheMode;           ///< how the engine keeps keys and values, "bf16_latent_cache"
  double margin = 1.1;             ///< finite, at least 1; widens the maxima
  std::uint32_t rotationSeed = 0;  ///< of q and k before they were measured; 0 = not rotated
  int numLayers = 0;               ///< with scales, over all stages; 0 = not stated

  bool operator==(const CalibrationRun &) const = default;
};

inline constexpr int kMaxRanks = 4096, kMaxModelHeads = 1 << 16, kMaxHeadDim = 1024;
inline constexpr int kMaxLayers = 1 << 16;
inline constexpr std::uint32_t kMaxRotationSeed = 0x7fffffff;

/// Ok, or the field, its value and what would be right. The fields' names are those of the files.
Status validateRun(const CalibrationRun &run);
/// Every field of a run by the name that files give it, the checkpoint as its commit: what must
/// agree between the files of a run.
struct RunField {
  std::string_view name;
  std::string value;
};
std::vector<RunField> runFields(const CalibrationRun &run);
/// Heads of one rank. With fewer key/value heads than ranks each of them stands on several ranks.
int localHeads(const CalibrationRun &run);
int localKvHeads(const CalibrationRun &run);
/// localHeads for q, localKvHeads for k and v.
int localCount(const CalibrationRun &run, Qkv which);
/// heads for q, kvHeads for k and v.
int totalCount(const CalibrationRun &run, Qkv which);
/// The model's head that is the rank's first.
int firstHead(const CalibrationRun &run, Qkv which, int tpRank);

/// The commit in a checkpoint's identity, lower case; InvalidArgument for a branch, a tag or a
/// plain directory, whose contents may change.
Expected<std::string> checkpointCommit(std::string_view checkpointId);

/// As PyTorch and the published files write a format: "float8_e4m3fnuz", "float8_e4m3fn".
std::string_view fp8DtypeName(Fp8Format format);
Expected<Fp8Format> parseFp8Dtype(std::string_view name);
/// The largest value of the format: 240 for fnuz, 448 for OCP (AMD CDNA3 ISA and OCP OFP8 1.0).
float fp8Max(Fp8Format format);

/// descale = amax · margin / fp8Max, in float32 step by step as PyTorch computes it, so that equal
/// maxima give the bits of the published tools; at least 1e-12, as there. InvalidArgument when the
/// maximum is not finite and positive or the result is not finite.
Expected<float> descaleOf(float amax, double margin, Fp8Format format);

/// A text that files may carry: one line of printable UTF-8, not empty, of bounded length.
Status validateText(std::string_view field, std::string_view value);

} // namespace wavesmith

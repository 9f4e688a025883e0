#pragma once
// What is known of calls' times on a device, and from which length on FP8 is the faster path there:
// the crossovers that a policy's rules may ask for. Values; any thread. Where records lie:
// TuningDatabase.h.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/dispatch/policy/Policy.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith::tuning {

/// The time of one call of one sequence.
struct Record {
  enum class Source : std::uint8_t { Measured, Modelled };

  std::string device;  ///< a chip: "MI325X"
  std::string target;  ///< "gfx942"
  std::string headDim; ///< "192x128"
  std::int64_t heads = 1, kvHeads = 1;
  bool causal = false;
  std::int64_t qLen = 0, kvLen = 0;
  policy::Path path = policy::Path::Bf16; ///< of 16-bit inputs; Fp8 quantises them in the call
  std::string scales = "none";            ///< static, dynamic or unit on the FP8 path
  Source source = Source::Modelled;
  std::string toolchain; ///< toolchainId() of what made the kernels
  double microseconds = 0;

  /// Ok, or which value is wrong. Nothing that fails gets into a database or out of one.
  Status validate() const;
  bool operator==(const Record &) const = default;
};
std::string_view sourceName(Record::Source source); ///< "measured", "modelled"

/// Records of other kernels say nothing about these: 16 hex digits over all that decides their
/// code.
std::string toolchainId(const Toolchain &toolchain);
/// "MI325X" of "AMD Instinct MI325X", as drivers name it: the first word like it, or everything.
std::string chipOf(std::string_view deviceName);

/// The records of one chip and toolchain.
class Tuning {
public:
  Tuning() = default; ///< knows nothing
  Tuning(const std::vector<Record> &records, std::string chip, std::string toolchain);

  /// Of a call like this but for its length, the smallest recorded length from which on FP8 is the
  /// faster path at every longer one; policy::Crossover::kNever if it is not at the longest. Only
  /// lengths with both paths count; where measured ones exist, modelled ones do not. Names:
  ///   fp8_q_len        queries without cached keys
  ///   fp8_context_len  cached keys before as many queries as the call has, or the most below
  std::optional<policy::Crossover> crossover(std::string_view name,
                                             const policy::Values &values) const;
  /// For Policy::decide(); keeps a copy.
  policy::Crossovers crossovers() const;

  std::size_t size() const { return size_; }
  std::size_t otherToolchains() const { return otherToolchains_; } ///< of this chip, not used

private:
  /// Target, head dims, heads, key/value heads, causal: policies ask often, for one at a time.
  using Kind = std::tuple<std::string, std::string, std::int64_t, std::int64_t, bool>;

  std::map<Kind, std::vector<Record>> records_;
  std::size_t size_ = 0;
  std::string chip_;
  std::size_t otherToolchains_ = 0;
};

} // namespace wavesmith::tuning

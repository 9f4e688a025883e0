#pragma once
// What a policy's rules look at: the named values of one sequence's call, and conditions on them.
// Plain values.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wavesmith::policy {

/// One sequence of a call, as rules see it.
struct Values {
  std::string target = "gfx942";   ///< gfx name of the device
  std::string headDim = "192x128"; ///< QK and V
  std::string scales = "none";     ///< none, static, dynamic, unit (1.0, asked for by name)
  std::int64_t heads = 1, kvHeads = 1;
  std::int64_t qLen = 0;       ///< query tokens
  std::int64_t contextLen = 0; ///< keys before the first query: kv_len - q_len, at least 0
  bool causal = false;
  bool fp8Kernel = false;  ///< an FP8 kernel exists for target and dims
  bool fp8Context = false; ///< opt-in: FP8 over cached context
};

using Value = std::variant<bool, std::int64_t, std::string>;
std::string toText(const Value &value);

/// A value that conditions can name.
struct Variable {
  enum class Kind : std::uint8_t { Flag, Number, Word };
  std::string_view name; ///< as in JSON: "q_len"
  Kind kind;
  std::span<const std::string_view> words; ///< of a Word: what it can be; empty: anything
  Value (*get)(const Values &);
  void (*set)(Values &, const Value &); ///< null: derived from others
};
/// All, in the order in which messages list them.
std::span<const Variable> variables();
const Variable *findVariable(std::string_view name); ///< null when unknown

/// What thresholds can be looked up as: the length from which on FP8 is faster.
inline constexpr std::string_view kFp8QLen = "fp8_q_len";             ///< in query tokens
inline constexpr std::string_view kFp8ContextLen = "fp8_context_len"; ///< in keys before them
std::span<const std::string_view> crossoverNames();

/// Where a tuning database has a measured (or modelled) threshold for the device.
struct Crossover {
  static constexpr std::int64_t kNever = INT64_MAX; ///< no length is large enough
  std::int64_t value;
  std::string source; ///< "FP8 is faster from 2048: modelled on MI325X, ..."
};
using Crossovers =
    std::function<std::optional<Crossover>(std::string_view name, const Values &values)>;

/// A number, or a named crossover with the number that stands in for it.
struct Threshold {
  std::int64_t number = 0;
  std::string crossover; ///< "" = the number alone
};

struct Condition {
  enum class Test : std::uint8_t { OneOf, Below, AtLeast };
  const Variable *variable = nullptr;
  Test test = Test::OneOf;
  std::vector<Value> values; ///< of OneOf
  Threshold threshold;       ///< of Below and AtLeast

  /// The threshold for these values; fills `source` when it came from a crossover.
  std::int64_t limit(const Values &values, const Crossovers &crossovers, std::string &source) const;
  bool holds(const Values &values, const Crossovers &crossovers, std::string &source) const;
};

} // namespace wavesmith::policy

#include "runtime/dispatch/policy/Condition.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include <fmt/format.h>

namespace wavesmith::policy {
namespace {

using Kind = Variable::Kind;

constexpr std::array<std::string_view, 2> kTargets = {"gfx942", "gfx950"};
constexpr std::array<std::string_view, 4> kScales = {"none", "static", "dynamic", "unit"};

template <auto Member> Value get(const Values &values) { return values.*Member; }
template <auto Member> void set(Values &values, const Value &value) {
  using T = std::remove_reference_t<decltype(values.*Member)>;
  values.*Member = std::get<T>(value);
}
template <auto Member>
constexpr Variable plain(std::string_view name, Kind kind,
                         std::span<const std::string_view> words = {}) {
  return {name, kind, words, get<Member>, set<Member>};
}

const std::array kVariables = {
    plain<&Values::target>("target", Kind::Word, kTargets),
    plain<&Values::headDim>("head_dim", Kind::Word),
    plain<&Values::scales>("scales", Kind::Word, kScales),
    plain<&Values::heads>("heads", Kind::Number),
    plain<&Values::kvHeads>("kv_heads", Kind::Number),
    plain<&Values::qLen>("q_len", Kind::Number),
    plain<&Values::contextLen>("context_len", Kind::Number),
    Variable{"kv_len",
             Kind::Number,
             {},
             [](const Values &values) -> Value { return values.qLen + values.contextLen; },
             nullptr},
    plain<&Values::causal>("causal", Kind::Flag),
    plain<&Values::fp8Kernel>("fp8_kernel", Kind::Flag),
    plain<&Values::fp8Context>("fp8_context", Kind::Flag),
};

} // namespace

std::span<const std::string_view> crossoverNames() {
  static constexpr std::array kNames = {kFp8QLen, kFp8ContextLen};
  return kNames;
}

std::string toText(const Value &value) {
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  if (const auto *number = std::get_if<std::int64_t>(&value))
    return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

std::span<const Variable> variables() { return kVariables; }

const Variable *findVariable(std::string_view name) {
  const auto *found = std::ranges::find(kVariables, name, &Variable::name);
  return found == kVariables.end() ? nullptr : found;
}

std::int64_t Condition::limit(const Values &values, const Crossovers &crossovers,
                              std::string &source) const {
  if (!threshold.crossover.empty() && crossovers)
    if (const auto found = crossovers(threshold.crossover, values)) {
      source = found->source;
      return found->value;
    }
  return threshold.number;
}

bool Condition::holds(const Values &values, const Crossovers &crossovers,
                      std::string &source) const {
  const Value value = variable->get(values);
  if (test == Test::OneOf)
    return std::ranges::find(this->values, value) != this->values.end();
  const auto number = std::get<std::int64_t>(value);
  const std::int64_t bound = limit(values, crossovers, source);
  return test == Test::Below ? number < bound : number >= bound;
}

} // namespace wavesmith::policy

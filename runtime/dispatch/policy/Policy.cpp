#include "runtime/dispatch/policy/Policy.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "runtime/support/Env.h"

namespace wavesmith::policy {
namespace {

struct Preset {
  std::string_view name, text;
};
#include "runtime/dispatch/policy/Presets.inc"

/// Values of a variable at which some condition may change its mind.
std::set<Value> turningPoints(const Variable &variable, const std::vector<Rule> &rules,
                              const Values &values, const Crossovers &crossovers) {
  std::set<Value> points;
  if (variable.kind == Variable::Kind::Flag)
    points = {false, true};
  for (const std::string_view word : variable.words)
    points.insert(std::string(word));
  std::string source;
  for (const Rule &rule : rules)
    for (const Condition &condition : rule.when) {
      if (condition.variable != &variable)
        continue;
      points.insert(condition.values.begin(), condition.values.end());
      if (condition.test == Condition::Test::OneOf)
        continue;
      const std::int64_t limit = condition.limit(values, crossovers, source);
      if (limit == Crossover::kNever)
        continue; // nothing gets there
      points.insert(limit);
      if (limit > 0)
        points.insert(limit - 1);
    }
  return points;
}

/// How far a number is away; words and flags are all alike.
std::uint64_t distance(const Value &from, const Value &to) {
  if (!std::holds_alternative<std::int64_t>(from))
    return 0;
  const auto a = std::get<std::int64_t>(from), b = std::get<std::int64_t>(to);
  return static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b));
}

} // namespace

std::string_view pathName(Path path) {
  switch (path) {
  case Path::Bf16:
    return "bf16";
  case Path::Fp8:
    return "fp8";
  case Path::Refuse:
    return "refuse";
  }
  return "?";
}

Status checkFp8(const Values &values) {
  if (!values.fp8Kernel)
    return error(StatusCode::Unsupported, "there is no FP8 kernel for {} with head dims {}",
                 values.target, values.headDim);
  if (values.scales == "none")
    return Status(StatusCode::InvalidArgument,
                  "there are no scales; give calibrated or dynamic ones, or ask for scale 1.0 by "
                  "name");
  return Status::ok();
}

Policy::Outcome Policy::evaluate(const Values &values, const Crossovers &crossovers) const {
  std::string source;
  const auto holds = [&](const Rule &rule) {
    source.clear();
    return std::ranges::all_of(rule.when, [&](const Condition &condition) {
      return condition.holds(values, crossovers, source);
    });
  };
  const Rule &rule = *std::ranges::find_if(rules_, holds); // the last always holds
  Outcome outcome{&rule, rule.path, rule.reason};
  if (!source.empty())
    outcome.reason += fmt::format(" (threshold {})", source);
  if (rule.path != Path::Fp8)
    return outcome;
  if (const Status possible = checkFp8(values); !possible.isOk()) {
    outcome.path = Path::Refuse;
    outcome.reason = fmt::format("rule {} chooses FP8, but {}", rule.name, possible.message());
  }
  return outcome;
}

Decision Policy::decide(const Values &values, const Crossovers &crossovers) const {
  const Outcome outcome = evaluate(values, crossovers);
  Decision decision{outcome.path, outcome.rule->name, outcome.reason, {}};
  for (const Variable &variable : variables()) {
    if (!variable.set)
      continue;
    const Value now = variable.get(values);
    // The nearest turn towards each other path.
    std::vector<std::pair<Value, Outcome>> nearest;
    for (const Value &point : turningPoints(variable, rules_, values, crossovers)) {
      if (point == now)
        continue;
      Values changed = values;
      variable.set(changed, point);
      Outcome there = evaluate(changed, crossovers);
      if (there.path == outcome.path)
        continue;
      const auto same = std::ranges::find_if(
          nearest, [&](const auto &other) { return other.second.path == there.path; });
      if (same == nearest.end())
        nearest.emplace_back(point, std::move(there));
      else if (distance(now, point) < distance(now, same->first))
        *same = {point, std::move(there)};
    }
    for (const auto &[value, there] : nearest)
      decision.flips.push_back(
          {std::string(variable.name), toText(value), there.path, there.rule->name});
  }
  return decision;
}

std::vector<std::string_view> Policy::presetNames() {
  std::vector<std::string_view> names;
  for (const Preset &preset : kPresets)
    names.push_back(preset.name);
  return names;
}

Expected<Policy> Policy::preset(std::string_view name) {
  const auto *found = std::ranges::find(kPresets, name, &Preset::name);
  if (found == std::end(kPresets))
    return error(StatusCode::NotFound, "no policy is called \"{}\"; known: {}", name.substr(0, 80),
                 fmt::join(presetNames(), ", "));
  return parse(found->text, name);
}

Expected<Policy> Policy::named(const std::string &presetOrFile) {
  if (std::ranges::count(presetNames(), presetOrFile))
    return preset(presetOrFile);
  if (presetOrFile.find('/') == std::string::npos && !presetOrFile.ends_with(".json"))
    return error(StatusCode::InvalidArgument, "\"{}\" is neither a file (.json) nor one of: {}",
                 presetOrFile.substr(0, 80), fmt::join(presetNames(), ", "));
  return load(presetOrFile);
}

Expected<Policy> Policy::fromEnvironment() {
  const std::string chosen = env::get("WAVESMITH_POLICY");
  if (chosen.empty())
    return preset("default");
  Expected<Policy> policy = named(chosen);
  if (!policy)
    return policy.status().withContext("WAVESMITH_POLICY");
  return policy;
}

} // namespace wavesmith::policy

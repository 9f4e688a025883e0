// Policies from JSON. Everything is checked here, so that decide() has nothing left to doubt.

#include <algorithm>
#include <set>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runtime/dispatch/policy/Policy.h"
#include "runtime/support/Files.h"

namespace wavesmith::policy {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxBytes = 1u << 20;
constexpr std::size_t kMaxRules = 256, kMaxName = 64, kMaxReason = 400;
constexpr std::string_view kSchema = "wavesmith-policy-1";

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

/// A value as it stands in the file, cut to what a message can carry.
std::string shown(const Json &value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 80)
    text = text.substr(0, 77) + "...";
  return text;
}

/// The library keeps the last of two equal keys; a rule that lost a condition so would mislead.
Expected<Json> parseStrictly(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const Json::parser_callback_t watch = [&](int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open.pop_back();
    else if (event == Json::parse_event_t::key && repeated.empty() &&
             !open.back().insert(parsed.get<std::string>()).second)
      repeated = shown(parsed);
    return true;
  };
  Json root = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (root.is_discarded())
    return Status(StatusCode::InvalidArgument, "this is not JSON");
  if (!repeated.empty())
    return invalid("the key {} appears twice in one object", repeated);
  return root;
}

Status checkKeys(const Json &object, std::initializer_list<std::string_view> known) {
  for (const auto &[key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      return invalid("unknown key {}; known: {}", shown(Json(key)), fmt::join(known, ", "));
  return Status::ok();
}

Expected<std::string> text(const Json &object, const char *key, std::size_t limit) {
  const auto found = object.find(key);
  if (found == object.end())
    return invalid("\"{}\" is missing", key);
  if (!found->is_string() || found->get_ref<const std::string &>().empty() ||
      found->get_ref<const std::string &>().size() > limit)
    return invalid("\"{}\" is {}; want a text of 1 to {} bytes", key, shown(*found), limit);
  return found->get<std::string>();
}

Expected<Value> readValue(const Variable &variable, const Json &json) {
  switch (variable.kind) {
  case Variable::Kind::Flag:
    if (json.is_boolean())
      return Value(json.get<bool>());
    return invalid("{} is {}; want true or false", variable.name, shown(json));
  case Variable::Kind::Number:
    if (json.is_number_integer() && json >= 0 && json <= INT64_MAX)
      return Value(json.get<std::int64_t>());
    return invalid("{} is {}; want a whole number, 0 or more", variable.name, shown(json));
  case Variable::Kind::Word:
    break;
  }
  if (!json.is_string())
    return invalid("{} is {}; want a text", variable.name, shown(json));
  const auto &word = json.get_ref<const std::string &>();
  if (!variable.words.empty() && std::ranges::find(variable.words, word) == variable.words.end())
    return invalid("{} is {}; want one of: {}", variable.name, shown(json),
                   fmt::join(variable.words, ", "));
  return Value(word);
}

Expected<Threshold> readThreshold(const Variable &variable, const Json &json) {
  Threshold threshold;
  const Json *number = &json;
  if (json.is_object()) {
    WAVESMITH_TRY(checkKeys(json, {"crossover", "default"}));
    WAVESMITH_ASSIGN(threshold.crossover, text(json, "crossover", kMaxName));
    const auto found = json.find("default");
    if (found == json.end())
      return invalid("{}: the crossover {} has no \"default\"", variable.name,
                     shown(Json(threshold.crossover)));
    number = &*found;
  }
  WAVESMITH_ASSIGN(const Value value, readValue(variable, *number));
  threshold.number = std::get<std::int64_t>(value);
  return threshold;
}

Expected<std::vector<Condition>> readConditions(const std::string &name, const Json &json) {
  const Variable *variable = findVariable(name);
  if (!variable) {
    std::vector<std::string_view> known;
    for (const Variable &v : variables())
      known.push_back(v.name);
    return invalid("no value is called {}; known: {}", shown(Json(name)), fmt::join(known, ", "));
  }
  if (!json.is_object() && !json.is_array()) {
    WAVESMITH_ASSIGN(const Value value, readValue(*variable, json));
    return std::vector{Condition{variable, Condition::Test::OneOf, {value}, {}}};
  }
  if (json.is_array()) {
    Condition condition{variable, Condition::Test::OneOf, {}, {}};
    for (const Json &item : json) {
      WAVESMITH_ASSIGN(Value value, readValue(*variable, item));
      condition.values.push_back(std::move(value));
    }
    if (condition.values.empty())
      return invalid("{} is an empty list, which nothing equals", name);
    return std::vector{std::move(condition)};
  }
  WAVESMITH_TRY(checkKeys(json, {"below", "at_least"}));
  if (variable->kind != Variable::Kind::Number)
    return invalid("{} is no number: it cannot be below or at least {}", name, shown(json));
  std::vector<Condition> conditions;
  for (auto [key, test] :
       {std::pair{"at_least", Condition::Test::AtLeast}, {"below", Condition::Test::Below}})
    if (const auto bound = json.find(key); bound != json.end()) {
      WAVESMITH_ASSIGN(Threshold threshold, readThreshold(*variable, *bound));
      conditions.push_back({variable, test, {}, std::move(threshold)});
    }
  if (conditions.empty())
    return invalid("{} is {{}}; want \"below\", \"at_least\" or both", name);
  return conditions;
}

Expected<Rule> readRule(const Json &json) {
  if (!json.is_object())
    return invalid("is {}; want an object", shown(json));
  WAVESMITH_TRY(checkKeys(json, {"name", "when", "path", "reason"}));
  Rule rule;
  WAVESMITH_ASSIGN(rule.name, text(json, "name", kMaxName));
  WAVESMITH_ASSIGN(rule.reason, text(json, "reason", kMaxReason));
  WAVESMITH_ASSIGN(const std::string path, text(json, "path", kMaxName));
  const auto named = [&](Path p) { return pathName(p) == path; };
  const std::initializer_list<Path> paths = {Path::Bf16, Path::Fp8, Path::Refuse};
  const auto *found = std::ranges::find_if(paths, named);
  if (found == paths.end())
    return invalid("\"path\" is {}; want bf16, fp8 or refuse", shown(Json(path)));
  rule.path = *found;
  const auto when = json.find("when");
  if (when == json.end())
    return rule;
  if (!when->is_object())
    return invalid("\"when\" is {}; want an object of conditions", shown(*when));
  for (const auto &[name, condition] : when->items()) {
    WAVESMITH_ASSIGN(std::vector<Condition> conditions, readConditions(name, condition));
    std::ranges::move(conditions, std::back_inserter(rule.when));
  }
  return rule;
}

Expected<std::vector<Rule>> readRules(const Json &root) {
  const auto rules = root.find("rules");
  if (rules == root.end() || !rules->is_array() || rules->empty() || rules->size() > kMaxRules)
    return invalid("\"rules\" must be a list of 1 to {} rules", kMaxRules);
  std::vector<Rule> result;
  for (const Json &item : *rules) {
    auto rule = readRule(item);
    if (!rule)
      return invalid("rule {}: {}", result.size() + 1, rule.status().message());
    if (std::ranges::find(result, rule->name, &Rule::name) != result.end())
      return invalid("rule {}: the name {} is taken", result.size() + 1, shown(Json(rule->name)));
    if (rule->when.empty() && result.size() + 1 < rules->size())
      return invalid("rule {} ({}) always holds: the rules after it never count", result.size() + 1,
                     rule->name);
    result.push_back(*std::move(rule));
  }
  if (!result.back().when.empty())
    return invalid(
        "the last rule ({}) has conditions; end with one without, which decides the rest",
        result.back().name);
  return result;
}

} // namespace

Expected<Policy> Policy::parse(std::string_view json, std::string_view origin) {
  const auto read = [&]() -> Expected<Policy> {
    WAVESMITH_ASSIGN(const Json root, parseStrictly(json));
    if (!root.is_object())
      return invalid("is {}; want an object", shown(root));
    WAVESMITH_TRY(checkKeys(root, {"schema", "name", "rules"}));
    WAVESMITH_ASSIGN(const std::string schema, text(root, "schema", kMaxName));
    if (schema != kSchema)
      return invalid("\"schema\" is {}; this build reads \"{}\"", shown(Json(schema)), kSchema);
    Policy policy;
    policy.origin_ = origin;
    WAVESMITH_ASSIGN(policy.name_, text(root, "name", kMaxName));
    WAVESMITH_ASSIGN(policy.rules_, readRules(root));
    return policy;
  };
  auto policy = read();
  if (!policy)
    return error(policy.status().code(), "policy {}: {}", origin, policy.status().message());
  return policy;
}

Expected<Policy> Policy::load(const std::string &file) {
  WAVESMITH_ASSIGN(const std::vector<std::byte> bytes, readFile(file, kMaxBytes));
  return parse({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, file);
}

} // namespace wavesmith::policy

// Policies from JSON. Everything is checked here, so that decide() has nothing left to doubt.

#include <algorithm>

#include <fmt/ranges.h>

#include "runtime/dispatch/policy/Policy.h"
#include "runtime/json/Json.h"
#include "runtime/support/Files.h"

namespace wavesmith::policy {
namespace {

using JsonValue = json::Value;

constexpr std::uint64_t kMaxBytes = 1u << 20;
constexpr std::size_t kMaxRules = 256, kMaxName = 64, kMaxReason = 400;
constexpr std::string_view kSchema = "wavesmith-policy-1";

Expected<std::string> text(const JsonValue &object, const char *key, std::size_t limit) {
  WAVESMITH_ASSIGN(const JsonValue value, object.required(key));
  WAVESMITH_ASSIGN(std::string text, value.text());
  if (text.empty() || text.size() > limit)
    return value.wrong(fmt::format("want a text of 1 to {} bytes", limit));
  return text;
}

Expected<Value> readValue(const Variable &variable, const JsonValue &json) {
  switch (variable.kind) {
  case Variable::Kind::Flag:
    if (json.raw().is_boolean())
      return Value(json.raw().get<bool>());
    return json.wrong("want true or false");
  case Variable::Kind::Number: {
    WAVESMITH_ASSIGN(const std::uint64_t number, json.number(0, INT64_MAX));
    return Value(static_cast<std::int64_t>(number));
  }
  case Variable::Kind::Word:
    break;
  }
  WAVESMITH_ASSIGN(std::string word, json.text());
  if (!variable.words.empty() && std::ranges::find(variable.words, word) == variable.words.end())
    return json.wrong(fmt::format("want one of: {}", fmt::join(variable.words, ", ")));
  return Value(std::move(word));
}

Expected<Threshold> readThreshold(const Variable &variable, const JsonValue &json) {
  Threshold threshold;
  JsonValue number = json;
  if (json.raw().is_object()) {
    WAVESMITH_TRY(json.expectObject({"crossover", "default"}));
    WAVESMITH_ASSIGN(threshold.crossover, text(json, "crossover", kMaxName));
    if (std::ranges::find(crossoverNames(), threshold.crossover) == crossoverNames().end())
      return json.at("crossover")
          .wrong(fmt::format("want one of: {}", fmt::join(crossoverNames(), ", ")));
    WAVESMITH_ASSIGN(number, json.required("default"));
  }
  WAVESMITH_ASSIGN(const Value value, readValue(variable, number));
  threshold.number = std::get<std::int64_t>(value);
  return threshold;
}

Status readConditions(const Variable &variable, const JsonValue &json,
                      std::vector<Condition> &conditions) {
  if (!json.raw().is_object()) {
    Condition condition{&variable, Condition::Test::OneOf, {}, {}};
    std::vector<JsonValue> items{json};
    if (json.raw().is_array()) {
      WAVESMITH_ASSIGN(items, json.list("values"));
    }
    for (const JsonValue &item : items) {
      WAVESMITH_ASSIGN(Value value, readValue(variable, item));
      condition.values.push_back(std::move(value));
    }
    if (condition.values.empty())
      return json.wrong("want a value; nothing equals one of none");
    conditions.push_back(std::move(condition));
    return Status::ok();
  }
  WAVESMITH_TRY(json.expectObject({"below", "at_least"}));
  if (variable.kind != Variable::Kind::Number)
    return json.wrong("no number, so nothing is below or at least it; want a value or a list");
  if (json.raw().empty())
    return json.wrong("want \"below\", \"at_least\" or both");
  for (auto [key, test] :
       {std::pair{"at_least", Condition::Test::AtLeast}, {"below", Condition::Test::Below}})
    if (json.has(key)) {
      WAVESMITH_ASSIGN(Threshold threshold, readThreshold(variable, json.at(key)));
      conditions.push_back({&variable, test, {}, std::move(threshold)});
    }
  return Status::ok();
}

Expected<Rule> readRule(const JsonValue &json) {
  WAVESMITH_TRY(json.expectObject({"name", "when", "path", "reason"}));
  Rule rule;
  WAVESMITH_ASSIGN(rule.name, text(json, "name", kMaxName));
  WAVESMITH_ASSIGN(rule.reason, text(json, "reason", kMaxReason));
  WAVESMITH_ASSIGN(const std::string path, text(json, "path", kMaxName));
  const auto named = [&](Path p) { return pathName(p) == path; };
  const std::initializer_list<Path> paths = {Path::Bf16, Path::Fp8, Path::Refuse};
  const auto *found = std::ranges::find_if(paths, named);
  if (found == paths.end())
    return json.at("path").wrong("want bf16, fp8 or refuse");
  rule.path = *found;
  if (!json.has("when"))
    return rule;
  const JsonValue when = json.at("when");
  if (!when.raw().is_object())
    return when.wrong("want an object of conditions");
  for (const auto &entry : when.raw().items()) {
    const Variable *variable = findVariable(entry.key());
    if (!variable) {
      std::vector<std::string_view> known;
      for (const Variable &v : variables())
        known.push_back(v.name);
      return error(StatusCode::InvalidArgument, "{}: no value is called {}; known: {}", when.path(),
                   json::describe(entry.key()), fmt::join(known, ", "));
    }
    WAVESMITH_TRY(readConditions(*variable, when.at(entry.key().c_str()), rule.when));
  }
  return rule;
}

Expected<std::vector<Rule>> readRules(const JsonValue &root) {
  WAVESMITH_ASSIGN(const JsonValue rules, root.required("rules"));
  WAVESMITH_ASSIGN(const std::vector<JsonValue> items, rules.list("rules"));
  if (items.empty() || items.size() > kMaxRules)
    return rules.wrong(fmt::format("want 1 to {} rules", kMaxRules));
  std::vector<Rule> result;
  for (const JsonValue &item : items) {
    WAVESMITH_ASSIGN(Rule rule, readRule(item));
    if (std::ranges::find(result, rule.name, &Rule::name) != result.end())
      return item.at("name").wrong("want a name that no other rule has");
    const bool last = result.size() + 1 == items.size();
    if (rule.when.empty() && !last)
      return item.wrong("without conditions it always holds, and the rules after it never count");
    if (!rule.when.empty() && last)
      return item.wrong("the last rule must have no condition, so that it decides the rest");
    result.push_back(std::move(rule));
  }
  return result;
}

} // namespace

Expected<Policy> Policy::parse(std::string_view text, std::string_view origin) {
  WAVESMITH_ASSIGN(const nlohmann::json document, json::parse(text, origin));
  const JsonValue root(document, std::string(origin));
  WAVESMITH_TRY(root.expectObject({"schema", "name", "rules"}));
  WAVESMITH_ASSIGN(const std::string schema, policy::text(root, "schema", kMaxName));
  if (schema != kSchema)
    return root.at("schema").wrong(fmt::format("this build reads \"{}\"", kSchema));
  Policy policy;
  policy.origin_ = origin;
  WAVESMITH_ASSIGN(policy.name_, policy::text(root, "name", kMaxName));
  WAVESMITH_ASSIGN(policy.rules_, readRules(root));
  return policy;
}

Expected<Policy> Policy::load(const std::string &file) {
  WAVESMITH_ASSIGN(const std::vector<std::byte> bytes, readFile(file, kMaxBytes));
  return parse({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, file);
}

} // namespace wavesmith::policy

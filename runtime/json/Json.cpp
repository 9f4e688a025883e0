#include "runtime/json/Json.h"

#include <algorithm>
#include <set>

namespace wavesmith::json {

using Json = nlohmann::json;

namespace {

// Our documents nest six deep. nlohmann prints a value recursively, which costs stack per level.
constexpr int kMaxDepth = 64;
/// The library quotes what it read, which may be all of a large file.
constexpr std::size_t kMaxProblem = 200;

} // namespace

std::string describe(const Json &value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60)
    text = text.substr(0, 57) + "...";
  return text;
}

Status Value::wrong(std::string_view what) const {
  return error(StatusCode::InvalidArgument, "{}: {}, is {}", path_, what, describe(*value_));
}

Status Value::expectObject(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object())
    return wrong("want an object");
  for (const auto &entry : value_->items())
    if (std::ranges::find(known, entry.key()) == known.end()) {
      std::string names;
      for (const std::string_view name : known)
        names += (names.empty() ? "" : ", ") + std::string(name);
      return error(StatusCode::InvalidArgument, "{}: unknown name {}; want {}", path_,
                   describe(entry.key()), names);
    }
  return Status::ok();
}

Expected<std::string> Value::requiredText(const char *key) const {
  WAVESMITH_ASSIGN(const Value value, required(key));
  return value.text();
}

Expected<Value> Value::required(const char *key) const {
  if (!has(key))
    return error(StatusCode::InvalidArgument, "{}: \"{}\" is missing", path_, key);
  return at(key);
}

Expected<std::vector<Value>> Value::list(const char *what) const {
  if (!value_->is_array())
    return wrong(fmt::format("want a list of {}", what));
  std::vector<Value> values;
  for (std::size_t i = 0; i < value_->size(); ++i)
    values.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i));
  return values;
}

Expected<std::string> Value::text() const {
  if (!value_->is_string())
    return wrong("want a text");
  return value_->get<std::string>();
}

Expected<std::uint64_t> Value::number(std::uint64_t low, std::uint64_t high) const {
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() < low ||
      value_->get<std::uint64_t>() > high)
    return wrong(fmt::format("want a whole number from {} to {}", low, high));
  return value_->get<std::uint64_t>();
}

Expected<Json> parse(std::string_view text, std::string_view origin) {
  // nlohmann keeps the last of two equal keys; a document that has both is a mistake.
  std::vector<std::set<std::string>> open;
  std::string repeated;
  bool tooDeep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json &value) {
    tooDeep = tooDeep || depth > kMaxDepth;
    if (event == Json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open.pop_back();
    else if (event == Json::parse_event_t::key && !open.empty())
      if (const auto key = value.get<std::string>(); !open.back().insert(key).second)
        repeated = key;
    return true;
  };
  try {
    Json document = Json::parse(text, watch);
    if (tooDeep)
      return error(StatusCode::InvalidArgument, "{}: nests deeper than {} levels", origin,
                   kMaxDepth);
    if (!repeated.empty())
      return error(StatusCode::InvalidArgument, "{}: the name {} is given twice in one object",
                   origin, describe(repeated));
    return document;
  } catch (const Json::exception &problem) { // a syntax error, or a number beyond double
    std::string what = problem.what();
    if (const std::size_t start = what.find("] "); start != std::string::npos)
      what = what.substr(start + 2);
    if (what.size() > kMaxProblem)
      what = what.substr(0, kMaxProblem - 3) + "...";
    return error(StatusCode::InvalidArgument, "{}: is no JSON: {}", origin, what);
  }
}

} // namespace wavesmith::json

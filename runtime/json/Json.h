#pragma once
// Strict reading of JSON: every value knows its path, so that an error names place, value and what
// would be right. A Value views the document that it was made from. Any thread.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/support/Status.h"

namespace wavesmith::json {

class Value {
public:
  Value(const nlohmann::json &value, std::string path) : value_(&value), path_(std::move(path)) {}

  const nlohmann::json &raw() const { return *value_; }
  const std::string &path() const { return path_; }

  /// InvalidArgument: "path: what, is value".
  Status wrong(std::string_view what) const;

  Status expectObject(std::initializer_list<std::string_view> known) const;
  bool has(const char *key) const { return value_->contains(key); }
  Value at(const char *key) const { return {(*value_)[key], path_ + "." + key}; }
  Expected<Value> required(const char *key) const;
  Expected<std::string> requiredText(const char *key) const;
  Expected<std::vector<Value>> list(const char *what) const;
  Expected<std::string> text() const;
  Expected<std::uint64_t> number(std::uint64_t low, std::uint64_t high) const;

private:
  const nlohmann::json *value_;
  std::string path_;
};

/// Parses a document; repeated keys are errors. `origin` (a path) leads every message.
Expected<nlohmann::json> parse(std::string_view text, std::string_view origin);
/// A short text of any value, valid UTF-8.
std::string describe(const nlohmann::json &value);

} // namespace wavesmith::json

#include "runtime/codeobject/Note.h"

#include <nlohmann/json.hpp>

namespace wavesmith {
namespace {

struct Field {
  const char *key;
  std::string ObjectNote::*member;
};
constexpr Field kFields[] = {
    {"spec", &ObjectNote::spec},
    {"spec_key", &ObjectNote::specKey},
    {"build_key", &ObjectNote::buildKey},
    {"abi", &ObjectNote::abi},
    {"fp8_format", &ObjectNote::fp8Format},
    {"schedule", &ObjectNote::schedule},
    {"toolchain", &ObjectNote::toolchain},
};
// The text is flat; nlohmann's parser is iterative for text, so depth costs no stack.
constexpr std::size_t kMaxNoteBytes = 1u << 20;

} // namespace

Expected<ObjectNote> parseNote(std::string_view json, std::string_view origin) {
  if (json.size() > kMaxNoteBytes)
    return error(StatusCode::Corrupt, "{}: Wavesmith note: {} bytes, more than {}", origin,
                 json.size(), kMaxNoteBytes);
  const auto root = nlohmann::json::parse(json, nullptr, false);
  if (!root.is_object())
    return error(StatusCode::Corrupt, "{}: Wavesmith note: is not a JSON object", origin);
  ObjectNote note;
  for (const Field &field : kFields) {
    const auto found = root.find(field.key);
    if (found == root.end() || !found->is_string())
      return error(StatusCode::Corrupt, "{}: Wavesmith note: {} is {}, want a string", origin,
                   field.key, found == root.end() ? "missing" : found->type_name());
    note.*field.member = found->get<std::string>();
  }
  return note;
}

std::string printNote(const ObjectNote &note) {
  nlohmann::ordered_json root;
  for (const Field &field : kFields)
    root[field.key] = note.*field.member;
  return root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace wavesmith

#include "runtime/codeobject/Verification.h"

#include "runtime/json/Json.h"

namespace wavesmith {
namespace {

constexpr std::size_t kMaxCases = 1000;

} // namespace

std::string printVerification(const VerificationRecord &record) {
  const nlohmann::ordered_json root = {
      {"judge", record.judge}, {"object_sha256", record.objectSha256}, {"cases", record.cases}};
  return root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Expected<VerificationRecord> parseVerification(std::string_view json, std::string_view origin) {
  WAVESMITH_ASSIGN(const nlohmann::json document, json::parse(json, origin));
  const json::Value root(document, std::string(origin));
  WAVESMITH_TRY(root.expectObject({"judge", "object_sha256", "cases"}));
  VerificationRecord record;
  WAVESMITH_ASSIGN(const json::Value judge, root.required("judge"));
  WAVESMITH_ASSIGN(record.judge, judge.text());
  WAVESMITH_ASSIGN(const json::Value digest, root.required("object_sha256"));
  WAVESMITH_ASSIGN(record.objectSha256, digest.text());
  WAVESMITH_ASSIGN(const json::Value cases, root.required("cases"));
  WAVESMITH_ASSIGN(const std::vector<json::Value> list, cases.list("texts"));
  if (list.empty() || list.size() > kMaxCases)
    return cases.wrong(fmt::format("want 1 to {} cases", kMaxCases));
  for (const json::Value &item : list) {
    WAVESMITH_ASSIGN(std::string text, item.text());
    record.cases.push_back(std::move(text));
  }
  return record;
}

bool isVerificationOf(std::string_view json, std::string_view objectSha256) {
  if (json.empty())
    return false;
  const auto record = parseVerification(json, "verification record");
  record.ignoreError("a damaged record verifies nothing");
  return record && record->objectSha256 == objectSha256;
}

} // namespace wavesmith

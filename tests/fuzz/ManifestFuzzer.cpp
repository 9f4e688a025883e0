// BundleManifest::parse; what it accepts, it prints and reads again, and no file of it lies
// elsewhere.

#include "runtime/bundle/Manifest.h"
#include "runtime/support/Hash.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

namespace {

/// Behind the digest, which random bytes would never get past.
std::string sealed(std::string_view text) {
  auto root = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!root.is_object())
    return std::string(text);
  const auto dump = [&] {
    return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  };
  root.erase("sha256");
  root["sha256"] = sha256Hex(dump());
  return dump();
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  for (const std::string &input : {std::string(text), sealed(text)}) {
    const auto manifest = BundleManifest::parse(input, "input");
    if (!manifest) {
      fuzz::requireMessage(manifest.status());
      continue;
    }
    for (const BundleEntry &entry : manifest->entries)
      fuzz::require(entry.file.find('/') == std::string::npos && entry.file[0] != '.',
                    "files stand beside the manifest");
    const auto again = BundleManifest::parse(manifest->print(), "printed");
    fuzz::require(again && again->entries == manifest->entries, "a printed manifest reads back");
  }
  return 0;
}

// The reader of calibration shards.

#include <string>

#include "runtime/scales/Shard.h"
#include "runtime/support/Hash.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

namespace {

void check(std::string_view text) {
  const auto shard = CalibrationShard::parse(text, "input");
  if (!shard) {
    fuzz::requireMessage(shard.status());
    return;
  }
  CalibrationShard own = *shard;
  if (own.run.numLayers == 0) // the published schema does not state it, ours must
    own.run.numLayers = kMaxLayers;
  const auto printed = own.print();
  fuzz::require(bool(printed), "what was read can be written");
  const auto again = CalibrationShard::parse(*printed, "again");
  fuzz::require(again && *again == own, "a shard survives its file");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string text(fuzz::text(data, size));
  check(text);
  // With a digest that fits, so that what lies behind it is reached.
  static constexpr std::string_view kKey = "\"sha256\": \"";
  constexpr std::size_t kDigits = 64;
  const std::size_t at = text.rfind(kKey);
  if (at != std::string::npos && text.size() - at - kKey.size() >= kDigits) {
    text.replace(at + kKey.size(), kDigits, kDigits, '0');
    text.replace(at + kKey.size(), kDigits, sha256Hex(text));
    check(text);
  }
  return 0;
}

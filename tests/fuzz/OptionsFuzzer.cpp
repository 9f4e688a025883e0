// The emulator's settings as text: ExecutionOrder, Checks and WAVESMITH_EMULATOR.

#include "emulator/hip/Config.h"
#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  if (const auto order = emulator::ExecutionOrder::parse(text)) {
    const auto again = emulator::ExecutionOrder::parse(order->text());
    fuzz::require(again && again->text() == order->text(), "a printed order reads back");
  } else {
    fuzz::requireMessage(order.status());
  }
  if (const auto checks = emulator::Checks::parse(text))
    fuzz::require(checks->mask <= emulator::Checks::all().mask, "only known checks are set");
  else
    fuzz::requireMessage(checks.status());
  if (const auto config = hipfront::parseConfig(text, {})) {
    const auto again = hipfront::parseConfig(config->text(), {});
    fuzz::require(again && again->text() == config->text(), "printed settings read back");
  } else {
    fuzz::requireMessage(config.status());
  }
  return 0;
}

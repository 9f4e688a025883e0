#pragma once
// Runs every kernel of a code object on the emulator with little of everything: any object may do
// anything but harm the host. Shared by the targets that mutate objects and code.

#include "emulator/Emulator.h"
#include "tests/fuzz/Fuzz.h"

namespace wavesmith::fuzz {

inline void run(const CodeObject &object, std::uint8_t knobs) {
  auto device = emulator::Device::create({object.target()});
  require(bool(device), "a parsed object's target is known");
  const auto module = (*device)->load(object);
  if (!module)
    return requireMessage(module.status());
  const auto in = (*device)->allocate(4096), out = (*device)->allocate(65536);
  require(in && out, "small buffers fit");
  require((*device)->fill(*in, std::byte{0x3f}, 4096).isOk(), "a buffer can be filled");
  const std::uint64_t arguments[] = {*in, *out, 0x3f800000, 64};

  emulator::RunOptions options;
  options.threads = 1;
  options.maxInstructionsPerWave = 500;
  options.maxFaults = 4;
  options.seed = knobs;
  options.order.vectorMemory = static_cast<emulator::ExecutionOrder::Landing>(knobs & 1);
  options.order.lds = static_cast<emulator::ExecutionOrder::Landing>(knobs >> 1 & 1);
  options.order.waves = static_cast<emulator::ExecutionOrder::Waves>((knobs >> 2 & 3) % 3);
  options.order.poison = knobs >> 4 & 1;
  options.coverage = knobs >> 5 & 1;
  if (knobs >> 6 & 1)
    options.checks = emulator::Checks::none();

  std::size_t runs = 0;
  for (const KernelInfo &kernel : object.kernels()) {
    if (++runs > 2)
      break;
    emulator::LaunchConfig launch;
    launch.kernel = kernel.name;
    launch.kernarg = std::as_bytes(std::span(arguments));
    launch.block = {knobs & 0x80 ? 100u : 64u, 1, 1};
    if (kernel.requiredWorkgroupSize.size() == 3)
      for (std::size_t i = 0; i < 3; ++i)
        launch.block[i] = kernel.requiredWorkgroupSize[i];
    const auto report = (*device)->run(**module, launch, options);
    if (!report) {
      requireMessage(report.status());
      continue;
    }
    for (const emulator::Fault &fault : report->faults)
      require(!fault.message.empty() && !fault.text().empty(), "a fault says what is wrong");
  }
}

} // namespace wavesmith::fuzz

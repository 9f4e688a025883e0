#pragma once
// A HIP device made of host memory: its kernels are attention as AttentionAbi.h words it and the
// merge of RowKernelAbi.h, written down plainly, row by row. So whatever the planner and the
// session hand to a device is read by a second pair of eyes, without GPU or emulator. One per
// process at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/hip/HipTable.h"
#include "runtime/provider/Provider.h"
#include "runtime/spec/AttentionAbi.h"

namespace wavesmith::test {

class FakeDevice {
public:
  FakeDevice();
  ~FakeDevice();

  std::shared_ptr<const HipTable> table();

  bool causal = false;
  int headDimQk = 192, headDimV = 128;
  std::string target = "gfx942";
  bool emulator = false;  ///< has the emulator's functions
  std::string report;     ///< of wavesmithEmulatorLastReport
  std::string configured; ///< what wavesmithEmulatorConfigure was told last
  hipError_t launchResult = hipSuccess;
  hipError_t synchronizeResult = hipSuccess;
  std::function<void(const AttentionArguments &)> after; ///< runs after the kernel: damage

  std::vector<AttentionArguments> launches;
  std::vector<std::uint32_t> grids;
  int allocations = 0, frees = 0, copies = 0, combines = 0;
};

} // namespace wavesmith::test

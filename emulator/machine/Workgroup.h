#pragma once
// One workgroup: its waves and its LDS with validity and, for race reports, who touched what.
// Reused from group to group by its Machine.

#include <array>
#include <memory>
#include <vector>

#include "emulator/checks/LdsShadow.h"
#include "emulator/machine/Wave.h"

namespace wavesmith::emulator {

class Workgroup {
public:
  std::array<u32, 3> id{};
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<u8> lds;
  std::vector<u8> ldsValid; ///< the bits that are defined
  u32 ldsBytes = 0;
  u64 barriers = 0; ///< released
  bool aborted = false;
  LdsShadow shadow;
};

} // namespace wavesmith::emulator

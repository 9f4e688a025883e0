#pragma once
// One workgroup: its waves and its LDS with validity and, for race reports, who touched what.
// Reused from group to group by its Machine.

#include <array>
#include <memory>
#include <vector>

#include "emulator/machine/Wave.h"

namespace wavesmith::emulator {

/// The last write of an LDS dword: by whom, when (in that wave's order), which bytes.
struct LdsWrite {
  u64 sequence = 0; ///< 0: never
  const Inst *inst = nullptr;
  u8 wave = 0;
  u8 bytes = 0;     ///< mask
  bool dma = false; ///< sequence counts vector memory, else LDS operations
};
struct LdsRead {
  u64 sequence = 0;
  const Inst *inst = nullptr;
};

class Workgroup {
public:
  std::array<u32, 3> id{};
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<u8> lds;
  std::vector<u8> ldsValid; ///< 0xff per byte that was written
  u32 ldsBytes = 0;
  bool ldsAllValid = false;
  u64 barriers = 0; ///< released
  bool aborted = false;
  std::vector<LdsWrite> writes;            ///< per dword
  std::vector<std::vector<LdsRead>> reads; ///< [wave][dword]
};

} // namespace wavesmith::emulator

#pragma once
// How landed memory operations reach bytes: allocations, LDS, lane-private scratch; shared by the
// vector memory and LDS files.

#include <bit>

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {

inline bool isLdsDma(const Inst &inst) { return inst.lds || inst.row->use == Use::LdsDma; }

/// Bytes of one lane's access, where they lie and how to read their validity.
struct Reach {
  std::byte *bytes = nullptr; ///< null: nowhere (a fault was reported)
  Allocation *allocation = nullptr;
  u8 *valid = nullptr; ///< LDS and scratch: a byte per byte
};

/// Finds `size` bytes at an address; reports a fault when no allocation holds them.
Reach reach(Machine &machine, Wave &wave, const Inst &inst, int lane, u64 address, unsigned size,
            const char *what);

} // namespace wavesmith::emulator

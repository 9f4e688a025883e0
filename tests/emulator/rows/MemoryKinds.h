#pragma once
// What the loads and stores of all memory families have in common: width, sign, half of a register.
// Plain data and functions.

#include <cstring>

#include "tests/emulator/rows/Bench.h"

namespace wavesmith::emulator::rows {

struct MemoryKind {
  const char *name;
  int bytes;
  bool isSigned = false, half = false, high = false;
  int words() const { return bytes < 4 ? 1 : bytes / 4; }
};
inline constexpr MemoryKind kLoads[] = {{"ubyte", 1},
                                        {"sbyte", 1, true},
                                        {"ushort", 2},
                                        {"sshort", 2, true},
                                        {"dword", 4},
                                        {"dwordx2", 8},
                                        {"dwordx3", 12},
                                        {"dwordx4", 16},
                                        {"ubyte_d16", 1, false, true},
                                        {"ubyte_d16_hi", 1, false, true, true},
                                        {"sbyte_d16", 1, true, true},
                                        {"sbyte_d16_hi", 1, true, true, true},
                                        {"short_d16", 2, false, true},
                                        {"short_d16_hi", 2, false, true, true}};
inline constexpr MemoryKind kStores[] = {{"byte", 1},     {"byte_d16_hi", 1, false, false, true},
                                         {"short", 2},    {"short_d16_hi", 2, false, false, true},
                                         {"dword", 4},    {"dwordx2", 8},
                                         {"dwordx3", 12}, {"dwordx4", 16}};

/// "v8" or "v[8:11]".
inline std::string registers(int first, int words) {
  return words == 1 ? "v" + std::to_string(first)
                    : "v[" + std::to_string(first) + ":" + std::to_string(first + words - 1) + "]";
}

/// The register after loading little-endian `bytes` into what it held.
inline u32 loaded(const MemoryKind &kind, const u8 *bytes, u32 before) {
  u32 value = 0;
  int count = kind.bytes < 4 ? kind.bytes : 4;
  for (int i = 0; i < count; ++i)
    value |= u32{bytes[i]} << (8 * i);
  if (kind.isSigned && (bytes[count - 1] & 0x80))
    value |= count == 1 ? 0xffffff00 : 0xffff0000;
  if (!kind.half)
    return value;
  value &= 0xffff;
  return kind.high ? (before & 0xffff) | value << 16 : (before & 0xffff0000) | value;
}

/// The bytes that a store takes from one register.
inline void stored(const MemoryKind &kind, u32 word, u8 *bytes) {
  int count = kind.bytes < 4 ? kind.bytes : 4;
  for (int i = 0; i < count; ++i)
    bytes[i] = static_cast<u8>(word >> (8 * i + (kind.high ? 16 : 0)));
}

} // namespace wavesmith::emulator::rows

// Source marks: M measured, S vendor statement, T compiler or profiler table, D derived, U
// uncertain. The measurements are listed with their sources in tests/unit/cycles/measured.tsv.

#include "emulator/cycles/Chips.h"

#include <string>

namespace wavesmith::emulator::cycles {
namespace {

constexpr Architecture kGfx942{
    .target = "gfx942",
    .vectorClk = 4,            // M
    .transcendentalClk = 16,   // M (exp, rcp)
    .convertClk = 8,           // M: fits two traced FP8 kernels best; the compiler says 16
    .wideIntegerClk = 16,      // U
    .swapClk = 8,              // T
    .matrixClk = 4,            // M
    .sparseMatrixClk = 8,      // U
    .packedBubbleClk = 4,      // M
    .operandClk = 8,           // M: 8 to 12, traced on gfx950
    .branchClk = 16,           // U
    .barrierClk = 20,          // U
    .ldsBytes = 64 * 1024,     // S
    .ldsGranule = 512,         // S
    .ldsBanks = 32,            // M
    .ldsPortBytes = 64,        // M
    .ldsLatency32 = 52,        // M
    .ldsLatency64 = 56,        // D: between the others
    .ldsLatency128 = 64,       // M
    .ldsConflictLatency = 119, // M
    .ldsQueue = 8,             // U
    .addressClk = 4,           // U
    .ldsDmaClk = 11,           // M
    .l1Latency = 116,          // M
    .l2Latency = 288,          // M
    .mallLatency = 550,        // U: 500 to 600
    .hbmLatency = 876,         // M
    .storeLatency = 240,       // M: gfx950
    .l1BytesPerClk = 64,       // U
    .fillBytesPerClk = 32,     // M
    .writeBytesPerClk = 16,    // D: half of reads, as L2 measures
    .l2ReadBytesPerClk = 920,  // M: 15.4 TB/s on 8 XCDs
    .l2WriteBytesPerClk = 420, // M: 7.05 TB/s
    .vectorQueue = 50,         // M
    .instructionBytes = 65536, // S: shared by two compute units, which run the same code
    .scalarHit = 48,           // M
    .scalarL2 = 172,           // M
    .scalarMiss = 744,         // M: gfx950, 720 to 775
};

constexpr Architecture gfx950() {
  Architecture a = kGfx942;
  a.target = "gfx950";
  a.transcendentalClk = 8;   // U: stated as twice the rate
  a.convertClk = 4;          // D: more would cap a published kernel below its figure
  a.ldsBytes = 160 * 1024;   // S
  a.ldsGranule = 1280;       // S
  a.ldsBanks = 64;           // M
  a.ldsPortBytes = 128;      // S for wide reads; writes stay at 64
  a.ldsLatency32 = 40;       // M: traced, 36 to 48
  a.ldsLatency64 = 44;       // D
  a.ldsLatency128 = 48;      // M
  a.ldsConflictLatency = 60; // U
  return a;
}
constexpr Architecture kGfx950 = gfx950();

constexpr Chip kChips[] = {
    // name, architecture, XCDs and CUs S, MHz S, HBM S, MALL M, efficiency M (reads 0.75, writes
    // 0.83, copies 0.76 to 0.82), sustained BF16 (M, but MI300X and MI350X U) and FP8 (U), slope M
    // for MI325X
    {"MI325X", &kGfx942, 8, 38, 2100, 6.0, 11.9, 0.80, 1230, 1115, 0.52},
    {"MI300X", &kGfx942, 8, 38, 2100, 5.3, 11.9, 0.80, 1230, 1115, 0.52},
    {"MI308X", &kGfx942, 4, 20, 2100, 5.3, 11.9, 0.80, 1790, 1790, 0},
    {"MI350X", &kGfx950, 8, 32, 2200, 8.0, 11.9, 0.80, 1500, 1400, 0.2},
    {"MI355X", &kGfx950, 8, 32, 2400, 8.0, 11.9, 0.80, 1500, 1400, 0.2},
};
constexpr std::string_view kDefaults[] = {"MI325X", "MI355X"};

} // namespace

std::span<const Chip> chips() { return kChips; }

Expected<const Chip *> findChip(std::string_view name, std::string_view target) {
  std::string known;
  for (const Chip &chip : kChips) {
    if (chip.architecture->target != target)
      continue;
    known += (known.empty() ? "" : ", ") + std::string(chip.name);
    bool isDefault = chip.name == kDefaults[0] || chip.name == kDefaults[1];
    if (name.empty() ? isDefault : chip.name == name)
      return &chip;
  }
  return error(StatusCode::InvalidArgument, "chip {}: not modelled for {}; want {}", name, target,
               known);
}

} // namespace wavesmith::emulator::cycles

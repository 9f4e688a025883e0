// Uninitialised registers: which bits of a result depend on bits that were never written.
//
// An instruction with undefined inputs runs several times with those bits filled differently; the
// result bits that change are undefined. So moves, selects, packs and masks carry validity
// exactly, xor v,v is defined, and no instruction needs a rule of its own.

#include <algorithm>
#include <bit>

#include "emulator/machine/Handlers.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

constexpr int kFillings = 5;
/// The first filling is what the registers hold. A register always gets the same filling, so that
/// a value compared or combined with itself stays defined.
u32 filling(int round, int reg) {
  constexpr u32 kPatterns[kFillings] = {0, 0x00000000, 0xffffffff, 0x7149f36d, ~0x7149f36du};
  u32 pattern = kPatterns[round];
  return round >= 3 ? pattern ^ (static_cast<u32>(reg) * 0x01050309) : pattern;
}

struct SavedVector {
  int reg;
  u32 lanes[kLanes];
  LaneValidity valid;
};

} // namespace

void Machine::setValid(Wave &wave, int reg, u64 lanesMask, const LaneValidity &valid) {
  LaneValidity &mine = wave.vectorValid[reg];
  if (!(wave.vectorState[reg] & kInvalid))
    mine.fill(~0u);
  u32 all = ~0u;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanesMask >> lane) & 1)
      mine[lane] = valid[lane];
    all &= mine[lane];
  }
  if (all == ~0u)
    wave.vectorState[reg] &= static_cast<u8>(~kInvalid);
  else
    wave.vectorState[reg] |= kInvalid;
}

void Machine::setAllValid(Wave &wave, int reg, u64 lanesMask) {
  if (!(wave.vectorState[reg] & kInvalid))
    return;
  LaneValidity full;
  full.fill(~0u);
  setValid(wave, reg, lanesMask, full);
}

/// Branches, EXEC and the like must not depend on undefined bits.
void Machine::checkDecision(Wave &wave, const Inst &inst) {
  if (!tracksValidity_)
    return;
  const Row &row = *inst.row;
  if (row.format == Format::Sopp && row.use == Use::Branch) {
    if (inst.readsScc && !wave.sccValid) {
      fault(CheckKind::Uninitialised, wave, inst, -1, "branches on SCC, which is undefined");
      wave.sccValid = true;
    }
    for (int i = 0; i < inst.scalarReadCount; ++i)
      for (int word = 0; word < inst.scalarReads[i].count; ++word) {
        int reg = inst.scalarReads[i].first + word;
        if (!(wave.scalarState[reg] & kInvalid))
          continue;
        fault(CheckKind::Uninitialised, wave, inst, -1, "branches on VCC, which is undefined");
        wave.scalarState[reg] &= static_cast<u8>(~kInvalid);
        wave.scalarValid[reg] = ~0u;
      }
  }
  if (row.use == Use::SkipMode || row.use == Use::Fork)
    for (int i = 0; i < inst.scalarReadCount; ++i)
      for (int word = 0; word < inst.scalarReads[i].count; ++word) {
        int reg = inst.scalarReads[i].first + word;
        if (!(wave.scalarState[reg] & kInvalid) || reg == kExec || reg == kExec + 1)
          continue;
        fault(CheckKind::Uninitialised, wave, inst, -1,
              fmt::format("{} by s{}, which is undefined",
                          row.use == Use::Fork ? "branches" : "skips or not", reg));
        wave.scalarState[reg] &= static_cast<u8>(~kInvalid);
        wave.scalarValid[reg] = ~0u;
      }
  for (int word : {int{kExec}, kExec + 1}) {
    if (!(wave.scalarState[word] & kInvalid))
      continue;
    fault(CheckKind::Uninitialised, wave, inst,
          std::countr_zero(~wave.scalarValid[word]) + (word == kExec ? 0 : 32),
          "EXEC becomes undefined");
    wave.scalarState[word] &= static_cast<u8>(~kInvalid);
    wave.scalarValid[word] = ~0u;
  }
}

void Machine::stepWithValidity(Wave &wave, const Inst &inst) {
  // Undefined sources.
  std::vector<SavedVector> vectors;
  std::vector<std::pair<int, u32>> scalars;
  for (int i = 0; i < inst.vectorReadCount; ++i)
    for (int j = 0; j < inst.vectorReads[i].count; ++j) {
      int reg = inst.vectorReads[i].first + j;
      if (!(wave.vectorState[reg] & kInvalid) ||
          std::any_of(vectors.begin(), vectors.end(),
                      [&](const SavedVector &v) { return v.reg == reg; }))
        continue;
      SavedVector &saved = vectors.emplace_back();
      saved.reg = reg;
      std::memcpy(saved.lanes, wave.lanes(reg), sizeof(saved.lanes));
      saved.valid = wave.vectorValid[reg];
    }
  for (int i = 0; i < inst.scalarReadCount; ++i)
    for (int j = 0; j < inst.scalarReads[i].count; ++j) {
      int reg = inst.scalarReads[i].first + j;
      if (wave.scalarState[reg] & kInvalid)
        scalars.emplace_back(reg, wave.scalar[reg]);
    }
  bool oldScc = wave.scc, sccUndefined = inst.readsScc && !wave.sccValid;
  u32 oldMode = wave.mode, firstMode = oldMode;
  if (vectors.empty() && scalars.empty() && !sccUndefined && inst.row->use != Use::Swap &&
      inst.row->handler != writeLane && inst.variant != Variant::Dpp) {
    u64 lanesWritten = inst.isMatrix ? ~u64{0} : wave.exec();
    inst.handler(*this, wave, inst);
    for (int i = 0; i < inst.vectorWriteCount; ++i)
      for (int j = 0; j < inst.vectorWrites[i].count; ++j)
        setAllValid(wave, inst.vectorWrites[i].first + j, lanesWritten);
    for (int i = 0; i < inst.scalarWriteCount; ++i)
      for (int j = 0; j < inst.scalarWrites[i].count; ++j) {
        wave.scalarValid[inst.scalarWrites[i].first + j] = ~0u;
        wave.scalarState[inst.scalarWrites[i].first + j] &= static_cast<u8>(~kInvalid);
      }
    if (inst.writesScc)
      wave.sccValid = true;
    return;
  }
  u64 written = wave.exec();
  if (inst.isMatrix)
    written = ~u64{0};
  // Destinations before the instruction.
  struct Output {
    int reg;
    bool vector;
    u32 before[kLanes], first[kLanes], changed[kLanes];
  };
  std::vector<Output> outputs;
  for (int i = 0; i < inst.vectorWriteCount; ++i)
    for (int j = 0; j < inst.vectorWrites[i].count; ++j) {
      Output &output = outputs.emplace_back();
      output.reg = inst.vectorWrites[i].first + j;
      output.vector = true;
      std::memcpy(output.before, wave.lanes(output.reg), sizeof(output.before));
    }
  for (int i = 0; i < inst.scalarWriteCount; ++i)
    for (int j = 0; j < inst.scalarWrites[i].count; ++j) {
      Output &output = outputs.emplace_back();
      output.reg = inst.scalarWrites[i].first + j;
      output.vector = false;
      output.before[0] = wave.scalar[output.reg];
    }
  for (Output &output : outputs)
    std::memset(output.changed, 0, sizeof(output.changed));
  bool firstScc = false, sccChanged = false;
  bool anyUndefined = !vectors.empty() || !scalars.empty() || sccUndefined;
  const Inst *next = wave.inst;
  int rounds = anyUndefined ? kFillings : 1;
  for (int round = 0; round < rounds; ++round) {
    if (round) {
      wave.inst = next;
      wave.scc = sccUndefined ? round % 2 : oldScc;
      wave.setMode(oldMode);
      for (Output &output : outputs)
        if (output.vector)
          std::memcpy(wave.lanes(output.reg), output.before, sizeof(output.before));
        else
          wave.scalar[output.reg] = output.before[0];
      for (const SavedVector &saved : vectors)
        for (int lane = 0; lane < kLanes; ++lane) {
          u32 bits = ~saved.valid[lane];
          wave.lanes(saved.reg)[lane] =
              (saved.lanes[lane] & ~bits) | (filling(round, saved.reg) & bits);
        }
      for (auto [reg, value] : scalars) {
        u32 bits = ~wave.scalarValid[reg];
        wave.scalar[reg] = (value & ~bits) | (filling(round, reg) & bits);
      }
    }
    inst.handler(*this, wave, inst);
    for (Output &output : outputs) {
      const u32 *now = output.vector ? wave.lanes(output.reg) : &wave.scalar[output.reg];
      int count = output.vector ? kLanes : 1;
      for (int lane = 0; lane < count; ++lane)
        if (round == 0)
          output.first[lane] = now[lane];
        else
          output.changed[lane] |= now[lane] ^ output.first[lane];
    }
    if (round == 0)
      firstScc = wave.scc, firstMode = wave.mode;
    else
      sccChanged |= wave.scc != firstScc;
  }
  // Sources get their bytes back, destinations the result of the first run.
  if (rounds > 1) {
    for (const SavedVector &saved : vectors)
      std::memcpy(wave.lanes(saved.reg), saved.lanes, sizeof(saved.lanes));
    for (auto [reg, value] : scalars)
      wave.scalar[reg] = value;
    for (Output &output : outputs)
      if (output.vector)
        std::memcpy(wave.lanes(output.reg), output.first, sizeof(output.first));
      else
        wave.scalar[output.reg] = output.first[0];
    wave.scc = firstScc;
    wave.setMode(firstMode);
  }
  if (inst.row->handler == writeLane)
    written = u64{1} << (readScalar(wave, inst.source[1]) & 63);
  for (Output &output : outputs) {
    if (!output.vector) {
      wave.scalarValid[output.reg] = ~output.changed[0];
      if (output.changed[0])
        wave.scalarState[output.reg] |= kInvalid;
      else
        wave.scalarState[output.reg] &= static_cast<u8>(~kInvalid);
      continue;
    }
    LaneValidity valid;
    u64 lanesWritten = written;
    for (int lane = 0; lane < kLanes; ++lane) {
      // Lanes that an instruction writes although EXEC is off show by their value.
      if (output.first[lane] != output.before[lane])
        lanesWritten |= u64{1} << lane;
      valid[lane] = ~output.changed[lane];
    }
    setValid(wave, output.reg, lanesWritten, valid);
  }
  if (inst.writesScc)
    wave.sccValid = !sccChanged;
}

} // namespace wavesmith::emulator

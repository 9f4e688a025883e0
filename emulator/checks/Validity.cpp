// Uninitialised registers: which bits of a result depend on bits that were never written.
//
// An instruction with undefined inputs runs several times with those bits filled differently; the
// result bits that change are undefined. So moves, selects, packs and masks carry validity
// exactly, xor v,v is defined, and no instruction needs a rule of its own.
//
// Moves and bitwise operations of one undefined register also keep what each filling came to. So an
// insert by ((old ^ new) & mask) ^ old into an undefined `old` is defined where the mask is. Other
// instructions forget it, else their undefined results would be less varied from step to step.

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/machine/Handlers.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

constexpr int kFillings = 1 + kGuesses; ///< the first is what the registers hold
/// Zeros, ones, and pairs of a pattern and its complement. The same seed gives the same, so that a
/// value compared or combined with itself stays defined.
u32 filling(int round, u32 seed) {
  if (round < 3)
    return round == 1 ? 0 : ~0u;
  u32 x = seed * 0x9e3779b9 + static_cast<u32>((round + 1) / 2) * 0x85ebca6b;
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  x ^= x >> 16;
  return round % 2 ? x : ~x;
}

/// Registers have the seeds below it, origins of kept guesses those from it on.
constexpr u32 kFirstOrigin = 4096;

/// A register's content in a round, where it is undefined: kept, or the register's own filling. In
/// the further rounds from kFillings on the latter, whatever is kept.
class Guess {
public:
  Guess(const Wave &wave, int key, int round)
      : pattern_(filling(round < kFillings ? round : round - kGuesses, static_cast<u32>(key))) {
    if (round >= kFillings)
      return;
    if (const auto kept = wave.guesses.find(key); kept != wave.guesses.end())
      lanes_ = kept->second->lanes[round - 1];
  }
  u32 operator()(int lane) const { return lanes_ ? lanes_[lane] : pattern_; }

private:
  const u32 *lanes_ = nullptr;
  u32 pattern_;
};

/// Gives an undefined register guesses of its own, which go where its bits go.
void keepGuesses(Wave &wave, int key) {
  auto &kept = wave.guesses[key];
  if (kept)
    return;
  kept = std::make_unique<Guesses>();
  const u32 seed = kept->origin = kFirstOrigin + wave.guessSeed++;
  for (int round = 1; round < kFillings; ++round)
    std::fill_n(kept->lanes[round - 1], kLanes, filling(round, seed));
}

/// Whether undefined registers have what was kept, and no bits in common: then anything may be in
/// them, also what their guesses leave out. 5 ^ u is kept as 5, ~5 and so on, never as 0.
bool mayHoldAnything(const Wave &wave, std::span<const int> undefined) {
  std::vector<u32> origins;
  for (int key : undefined)
    if (const auto kept = wave.guesses.find(key); kept != wave.guesses.end())
      origins.push_back(kept->second->origin);
  std::ranges::sort(origins);
  return origins.size() == 1 || (!origins.empty() && origins.front() != 0 &&
                                 std::ranges::adjacent_find(origins) == origins.end());
}

/// Does a bit of the result depend on the same bit of the operands alone?
bool isBitwise(const Inst &inst) {
  constexpr std::string_view kNames[] = {
      "v_mov_b32",  "v_not_b32",  "v_and_b32",          "v_or_b32",           "v_xor_b32",
      "v_xnor_b32", "v_bfi_b32",  "s_mov_b32",          "s_mov_b64",          "s_not_b32",
      "s_not_b64",  "s_and_b32",  "s_and_b64",          "s_or_b32",           "s_or_b64",
      "s_xor_b32",  "s_xor_b64",  "s_andn2_b32",        "s_andn2_b64",        "s_orn2_b32",
      "s_orn2_b64", "s_nand_b32", "s_nand_b64",         "s_nor_b32",          "s_nor_b64",
      "s_xnor_b32", "s_xnor_b64", "v_accvgpr_read_b32", "v_accvgpr_write_b32"};
  return (inst.variant == Variant::Normal || inst.variant == Variant::Long) &&
         std::ranges::find(kNames, std::string_view(inst.row->name)) != std::end(kNames);
}

struct SavedVector {
  int reg;
  u32 lanes[kLanes];
  LaneValidity valid;
};

} // namespace

void Machine::setValid(Wave &wave, int reg, u64 lanesMask, const LaneValidity &valid) {
  if (!wave.guesses.empty())
    wave.guesses.erase(reg);
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
  int undefinedWords[2] = {}; // undefined registers by the half of a 64-bit result they are for
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
      ++undefinedWords[0];
    }
  for (int i = 0; i < inst.scalarReadCount; ++i)
    for (int j = 0; j < inst.scalarReads[i].count; ++j) {
      int reg = inst.scalarReads[i].first + j;
      if (wave.scalarState[reg] & kInvalid) {
        scalars.emplace_back(reg, wave.scalar[reg]);
        ++undefinedWords[j & 1];
      }
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
  const bool keeps =
      anyUndefined && undefinedWords[0] <= 1 && undefinedWords[1] <= 1 && isBitwise(inst);
  std::vector<std::unique_ptr<Guesses>> kept(keeps ? outputs.size() : 0);
  std::vector<int> undefined; // what guesses are kept by
  for (const SavedVector &saved : vectors)
    undefined.push_back(saved.reg);
  for (auto [reg, value] : scalars)
    undefined.push_back(Wave::kScalarGuess + reg);
  if (keeps) {
    for (int key : undefined)
      keepGuesses(wave, key);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      kept[i] = std::make_unique<Guesses>();
      // The halves of a pair may have one each.
      if (undefined.size() == 1)
        kept[i]->origin = wave.guesses[undefined[0]]->origin;
      // Lanes that are off keep theirs.
      if (outputs[i].vector && ~written && (wave.vectorState[outputs[i].reg] & kInvalid)) {
        keepGuesses(wave, outputs[i].reg);
        if (wave.guesses[outputs[i].reg]->origin != kept[i]->origin)
          kept[i]->origin = 0;
      }
    }
  }
  const Inst *next = wave.inst;
  const int rounds = !anyUndefined                      ? 1
                     : mayHoldAnything(wave, undefined) ? kFillings + kGuesses
                                                        : kFillings;
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
      for (const SavedVector &saved : vectors) {
        const Guess guess(wave, saved.reg, round);
        for (int lane = 0; lane < kLanes; ++lane) {
          u32 bits = ~saved.valid[lane];
          wave.lanes(saved.reg)[lane] = (saved.lanes[lane] & ~bits) | (guess(lane) & bits);
        }
      }
      for (auto [reg, value] : scalars) {
        u32 bits = ~wave.scalarValid[reg];
        wave.scalar[reg] =
            (value & ~bits) | (Guess(wave, Wave::kScalarGuess + reg, round)(0) & bits);
      }
    }
    inst.handler(*this, wave, inst);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Output &output = outputs[i];
      const u32 *now = output.vector ? wave.lanes(output.reg) : &wave.scalar[output.reg];
      int count = output.vector ? kLanes : 1;
      for (int lane = 0; lane < count; ++lane)
        if (round == 0)
          output.first[lane] = now[lane];
        else
          output.changed[lane] |= now[lane] ^ output.first[lane];
      if (!keeps || round == 0 || round >= kFillings)
        continue;
      const Guess guess(wave, output.reg, round);
      for (int lane = 0; lane < count; ++lane)
        kept[i]->lanes[round - 1][lane] =
            !output.vector || (written >> lane) & 1 ? now[lane] : guess(lane);
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
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    if (!output.vector) {
      wave.guesses.erase(Wave::kScalarGuess + output.reg);
      if (keeps && output.changed[0])
        wave.guesses[Wave::kScalarGuess + output.reg] = std::move(kept[i]);
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
    if (keeps && (wave.vectorState[output.reg] & kInvalid))
      wave.guesses[output.reg] = std::move(kept[i]);
  }
  if (inst.writesScc)
    wave.sccValid = !sccChanged;
}

} // namespace wavesmith::emulator

#include "emulator/machine/Program.h"

#include <algorithm>
#include <optional>

#include "emulator/checks/WaitStates.h"
#include "emulator/isa/Decoder.h"
#include "emulator/machine/Handlers.h"

namespace wavesmith::emulator {

namespace {

/// Is what stands behind the instruction reached from it?
bool goesOn(const Inst &inst) {
  if (!inst.row)
    return false;
  const Handler handler = inst.row->handler;
  return handler != endProgram && handler != setPc && handler != branchAlways && handler != refused;
}

std::optional<u64> branchTarget(const Inst &inst) {
  if (!inst.row || inst.row->use != Use::Branch || inst.row->format != Format::Sopp)
    return std::nullopt;
  return inst.pc + 4 + static_cast<u64>(i64{inst.immediate} * 4);
}

} // namespace

int highestVgpr(const Inst &inst) {
  int highest = 0;
  const auto look = [&](const Operand &operand) {
    if (operand.kind == OperandKind::Vector && !operand.accumulator)
      highest = std::max(highest, operand.index + operand.words);
  };
  look(inst.destination);
  for (const Operand &operand : inst.source)
    look(operand);
  for (const Operand &operand : inst.scale)
    look(operand);
  return highest;
}

Expected<std::shared_ptr<Program>> Program::decode(Module &module, const KernelInfo &kernel,
                                                   bool gfx950) {
  auto program = std::make_shared<Program>();
  program->module_ = &module;
  program->kernel_ = &kernel;
  program->gfx950_ = gfx950;
  program->entryAddress_ = kernel.entryAddress + module.bias();
  const KernelDescriptor &descriptor = kernel.descriptor;
  program->vgprs_ = static_cast<int>((descriptor.rsrc1 & 63) + 1) * 8;
  program->accumOffset_ = static_cast<int>((descriptor.rsrc3 & 63) + 1) * 4;
  // Granules of 16, in steps of two; VCC and its like lie at their end.
  program->sgprs_ = std::min(102, static_cast<int>((descriptor.rsrc1 >> 7 & 7) + 1) * 16);
  u64 begin = program->entryAddress_, end = begin + kernel.codeSize;
  if (kernel.codeSize == 0) {
    end = 0;
    for (const Segment &segment : module.object().segments())
      if (segment.executable && kernel.entryAddress >= segment.address &&
          kernel.entryAddress < segment.address + segment.bytes.size())
        end = segment.address + segment.bytes.size() + module.bias();
  }
  if (begin % 4 || begin >= end || !module.image().contains(begin, end - begin))
    return error(StatusCode::Corrupt, "kernel {}: its code at {:#x} lies outside the image",
                 kernel.name, kernel.entryAddress);
  program->decodeRegion(begin, end, Extent::All);
  program->entry_ = program->at(begin);
  return program;
}

const u32 *Program::lanesOf(u64 value, int words) {
  auto &slot = constants_[{value, words}];
  if (!slot) {
    slot = std::make_unique<std::array<u32, 2 * kLanes>>();
    for (int lane = 0; lane < kLanes; ++lane) {
      (*slot)[lane] = static_cast<u32>(value);
      (*slot)[lane + kLanes] = static_cast<u32>(value >> 32);
    }
  }
  return slot->data();
}

void Program::complete(Inst &inst) {
  inst.exceedsAllocation =
      inst.maxVector > vgprs_ || inst.maxScalar > sgprs_ || highestVgpr(inst) > accumOffset_;
  inst.isMatrix = inst.row && (inst.row->use == Use::Matrix || inst.row->use == Use::SparseMatrix);
  if (inst.row)
    markHazards(inst);
  inst.isNop = inst.row && inst.row->format == Format::Sopp && inst.row->opcode == 0;
  auto lanes = [&](Operand &operand) {
    if (operand.kind == OperandKind::Constant)
      operand.lanes = lanesOf(operand.value, operand.words);
  };
  for (Operand &operand : inst.source)
    lanes(operand);
  for (Operand &operand : inst.scale)
    lanes(operand);
}

const Inst *Program::redirected(const Inst &inst, u32 m0, bool skip) {
  u32 index = m0 & 0xff, mask = (m0 >> 12) & 15;
  std::lock_guard lock(mutex_);
  auto &slot = redirected_[{&inst, skip ? ~0u : m0 & 0xf0ff}];
  if (slot)
    return slot.get();
  auto copy = std::make_unique<Inst>();
  DecodeContext context{gfx950_, accumOffset_};
  if (!skip) {
    context.index = static_cast<u8>(index);
    context.indexMask = static_cast<u8>(mask);
    context.vgprs = std::min(vgprs_, accumOffset_);
  }
  decodeInst(inst.words, inst.pc, context, *copy);
  copy->nullified |= skip;
  if (copy->nullified) {
    copy->handler = doNothing;
    copy->vectorReadCount = copy->vectorWriteCount = 0;
    copy->scalarReadCount = copy->scalarWriteCount = 0;
    copy->readsScc = copy->writesScc = copy->isVector = false;
  }
  complete(*copy);
  if (copy->nullified)
    copy->isMatrix = false, copy->produces = copy->consumes = copy->hazardWindow = 0;
  copy->exceedsAllocation |= copy->outsideIndex != 0;
  copy->original = &inst;
  copy->next = inst.next;
  copy->target = inst.target;
  slot = std::move(copy);
  return slot.get();
}

Program::Region &Program::decodeRegion(u64 begin, u64 end, Extent extent) {
  regions_.push_back(std::make_unique<Region>());
  Region &region = *regions_.back();
  region.begin = begin;
  DecodeContext context{gfx950_, accumOffset_};
  const auto *words = reinterpret_cast<const u32 *>(module_->image().at(begin));
  const std::size_t count = (end - begin) / 4;
  std::size_t at = 0, furthest = 0; // the furthest place that a branch goes to
  while (at < count) {
    region.indexOf.resize(at + 1, ~0u);
    region.indexOf[at] = static_cast<std::uint32_t>(region.instructions.size());
    Inst &inst = region.instructions.emplace_back();
    std::span<const u32> rest(words + at, std::min<std::size_t>(count - at, 5));
    if (!decodeInst(rest, begin + 4 * at, context, inst))
      inst.handler = notAnInstruction;
    complete(inst);
    at += inst.size / 4;
    if (const auto target = branchTarget(inst); target && *target > begin && *target < end)
      furthest = std::max<std::size_t>(furthest, (*target - begin) / 4);
    if (extent == Extent::Function && at > furthest && !goesOn(inst))
      break;
  }
  region.end = begin + 4 * at;
  // Falling off the end is a bug of the code, met when it happens.
  region.indexOf.resize(at + 1, ~0u);
  region.indexOf[at] = static_cast<std::uint32_t>(region.instructions.size());
  Inst &last = region.instructions.emplace_back();
  last.pc = region.end;
  last.handler = notAnInstruction;
  for (Inst &inst : region.instructions) {
    inst.number = static_cast<u32>(numbered_.size());
    numbered_.push_back(&inst);
    noteSynchronisation(inst);
  }
  link(region);
  return region;
}

void Program::noteSynchronisation(const Inst &inst) {
  if (!inst.row)
    return;
  const Row &row = *inst.row;
  calls_ |= row.handler == swapPc || row.handler == setPc || row.handler == callRelative;
  if (row.format == Format::Smem) {
    acquires_ |= (row.use == Use::Load || row.use == Use::Atomic) && inst.sc0;
    releases_ |= row.use == Use::Atomic;
    return;
  }
  if (!isVectorMemory(row.format) || row.format == Format::Scratch)
    return;
  bool atomic = row.use == Use::Atomic;
  releases_ |= atomic || (row.use == Use::Store && inst.sc1);
  acquires_ |= (atomic && inst.destination.kind == OperandKind::Vector) ||
               (row.use == Use::Load && inst.sc1);
}

std::string Program::sourceOf(const Inst &inst) const {
  return module_->lines().find(inst.pc - module_->bias()).value_or("");
}

std::string Program::place(const Inst &inst) const {
  const bool before = inst.pc < entryAddress_;
  const u64 distance = before ? entryAddress_ - inst.pc : inst.pc - entryAddress_;
  const std::string source = sourceOf(inst);
  return fmt::format("{}{:#x}{}{}{}", before ? '-' : '+', distance, source.empty() ? "" : " (",
                     source, source.empty() ? "" : ")");
}

const Inst &Program::numbered(u32 number) {
  std::lock_guard lock(mutex_);
  return *numbered_[std::min<std::size_t>(number, numbered_.size() - 1)];
}

void Program::link(Region &region) {
  for (std::size_t i = 0; i < region.instructions.size(); ++i) {
    Inst &inst = region.instructions[i];
    inst.next = i + 1 < region.instructions.size() ? &region.instructions[i + 1] : &inst;
    const auto target = branchTarget(inst);
    if (!target)
      continue;
    if (*target < region.begin || *target >= region.end) {
      calls_ = true;
      continue;
    }
    std::uint32_t index = region.indexOf[(*target - region.begin) / 4];
    if (index != ~0u)
      inst.target = &region.instructions[index];
  }
}

const Inst *Program::at(u64 address) {
  if (address % 4 != 0)
    return nullptr;
  std::lock_guard lock(mutex_);
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const auto &region : regions_)
      if (address >= region->begin && address < region->end) {
        std::uint32_t index = region->indexOf[(address - region->begin) / 4];
        return index == ~0u ? nullptr : &region->instructions[index];
      }
    // A function outside the kernel.
    bool found = false;
    for (const Segment &segment : module_->object().segments()) {
      u64 begin = segment.address + module_->bias();
      if (!segment.executable || address < begin || address >= begin + segment.bytes.size())
        continue;
      decodeRegion(address, begin + segment.bytes.size(), Extent::Function);
      found = true;
    }
    if (!found)
      return nullptr;
  }
  return nullptr;
}

} // namespace wavesmith::emulator

#include "compiler/codegen/InstructionMix.h"

#include <string>

#include "compiler/codegen/Disassembly.h"
#include <fmt/format.h>

namespace wavesmith::compiler {
namespace {

using Kind = InstructionKind;
using Mix = InstructionMix;

/// Where a kind is counted; null = only in `valu` or nowhere by itself.
int Mix::*counter(Kind kind) {
  switch (kind) {
  case Kind::Mfma:
    return &Mix::mfma;
  case Kind::Exp:
    return &Mix::exp;
  case Kind::Transcendental:
    return &Mix::transcendental;
  case Kind::PackedF32:
    return &Mix::packedF32;
  case Kind::Select:
    return &Mix::select;
  case Kind::AccumulatorMove:
    return &Mix::accumulatorMove;
  case Kind::LaneMove:
    return &Mix::laneMove;
  case Kind::SaveExec:
    return &Mix::saveExec;
  case Kind::Salu:
    return &Mix::salu;
  case Kind::Smem:
    return &Mix::smem;
  case Kind::Branch:
    return &Mix::branch;
  case Kind::Barrier:
    return &Mix::barrier;
  case Kind::Wait:
    return &Mix::wait;
  case Kind::Nop:
    return &Mix::nop;
  case Kind::LdsRead:
    return &Mix::ldsRead;
  case Kind::LdsWrite:
    return &Mix::ldsWrite;
  case Kind::LdsOther:
    return &Mix::ldsOther;
  case Kind::LdsDma:
    return &Mix::ldsDma;
  case Kind::VmemLoad:
    return &Mix::vmemLoad;
  case Kind::VmemStore:
    return &Mix::vmemStore;
  case Kind::Scratch:
    return &Mix::scratch;
  case Kind::Valu:
  case Kind::Control:
    return nullptr;
  }
  return nullptr;
}

constexpr MixField kFields[] = {
    {"total", &Mix::total},
    {"mfma", &Mix::mfma},
    {"valu", &Mix::valu},
    {"exp", &Mix::exp},
    {"transcendental", &Mix::transcendental},
    {"select", &Mix::select},
    {"packed_f32", &Mix::packedF32},
    {"accumulator_move", &Mix::accumulatorMove},
    {"lane_move", &Mix::laneMove},
    {"save_exec", &Mix::saveExec},
    {"salu", &Mix::salu},
    {"smem", &Mix::smem},
    {"branch", &Mix::branch},
    {"barrier", &Mix::barrier},
    {"wait", &Mix::wait},
    {"vmcnt_zero", &Mix::vmcntZero},
    {"lgkmcnt_zero", &Mix::lgkmcntZero},
    {"nop", &Mix::nop},
    {"nop_states", &Mix::nopStates},
    {"lds_read", &Mix::ldsRead},
    {"lds_write", &Mix::ldsWrite},
    {"lds_other", &Mix::ldsOther},
    {"lds_dma", &Mix::ldsDma},
    {"vmem_load", &Mix::vmemLoad},
    {"vmem_store", &Mix::vmemStore},
    {"scratch", &Mix::scratch},
};

} // namespace

void InstructionMix::add(const Instruction &instruction) {
  ++total;
  if (isValu(instruction.kind))
    ++valu;
  if (int Mix::*count = counter(instruction.kind))
    ++(this->*count);
  if (instruction.kind == Kind::Nop)
    nopStates += static_cast<int>(instruction.waitStates());
  if (instruction.kind == Kind::Wait) {
    vmcntZero += instruction.waits().vmcnt == 0;
    lgkmcntZero += instruction.waits().lgkmcnt == 0;
  }
}

InstructionMix countInstructions(llvm::ArrayRef<Instruction> instructions) {
  InstructionMix mix;
  for (const Instruction &instruction : instructions)
    mix.add(instruction);
  return mix;
}

llvm::ArrayRef<MixField> mixFields() { return kFields; }

std::string mixText(const InstructionMix &mix) {
  std::string text;
  for (const MixField &field : kFields)
    if (const int count = mix.*field.count)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.name, count);
  return text;
}

} // namespace wavesmith::compiler

#include "compiler/codegen/Disassembly.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

using Kind = InstructionKind;
using ElfFile = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;

Kind classifyVector(llvm::StringRef name) {
  if (name.starts_with("v_mfma_") || name.starts_with("v_smfmac_"))
    return Kind::Mfma;
  if (name.starts_with("v_accvgpr_"))
    return Kind::AccumulatorMove;
  if (name.starts_with("v_exp_"))
    return Kind::Exp;
  if (name.starts_with("v_cndmask_"))
    return Kind::Select;
  if (name.starts_with("v_pk_") && name.contains("_f32"))
    return Kind::PackedF32;
  for (const char *prefix : {"v_readfirstlane_", "v_readlane_", "v_writelane_"})
    if (name.starts_with(prefix))
      return Kind::LaneMove;
  for (const char *prefix : {"v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"})
    if (name.starts_with(prefix))
      return Kind::Transcendental;
  return Kind::Valu;
}

Kind classifyScalar(llvm::StringRef name) {
  if (name.contains("_saveexec_"))
    return Kind::SaveExec;
  for (const char *prefix : {"s_load_", "s_buffer_", "s_store_", "s_scratch_", "s_atomic_",
                             "s_dcache_", "s_memtime", "s_memrealtime"})
    if (name.starts_with(prefix))
      return Kind::Smem;
  return llvm::StringSwitch<Kind>(name)
      .StartsWith("s_cbranch_", Kind::Branch)
      .Cases({"s_branch", "s_setpc_b64", "s_swappc_b64", "s_call_b64"}, Kind::Branch)
      .Case("s_barrier", Kind::Barrier)
      .StartsWith("s_waitcnt", Kind::Wait)
      .Case("s_nop", Kind::Nop)
      .Cases({"s_setprio", "s_sleep", "s_endpgm", "s_sethalt", "s_trap", "s_icache_inv"},
             Kind::Control)
      .Default(Kind::Salu);
}

Kind classifyLds(llvm::StringRef name) {
  if (name.starts_with("ds_read"))
    return Kind::LdsRead;
  return name.starts_with("ds_write") ? Kind::LdsWrite : Kind::LdsOther;
}

struct KernelCode {
  llvm::ArrayRef<std::uint8_t> bytes;
  std::uint64_t address = 0;
};

llvm::Expected<KernelCode> findKernel(const ElfFile &file, llvm::StringRef kernel) {
  for (const llvm::object::ELFSymbolRef symbol : file.symbols()) {
    auto name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name != kernel || symbol.getELFType() != llvm::ELF::STT_FUNC)
      continue;
    auto section = symbol.getSection();
    if (!section)
      return section.takeError();
    auto address = symbol.getAddress();
    if (!address)
      return address.takeError();
    if (*section == file.section_end())
      continue; // only declared here
    auto bytes = (*section)->getContents();
    if (!bytes)
      return bytes.takeError();
    const std::uint64_t begin = *address - (*section)->getAddress();
    if (begin > bytes->size() || symbol.getSize() > bytes->size() - begin)
      return codegenError(StatusCode::Corrupt, "kernel '{}' reaches past its section",
                          kernel.str());
    return KernelCode{llvm::arrayRefFromStringRef(bytes->substr(begin, symbol.getSize())),
                      *address};
  }
  return codegenError(StatusCode::NotFound, "the object has no kernel '{}'", kernel.str());
}

/// The MC objects of one target, in the order in which they depend on each other.
struct Decoder {
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;

  llvm::Error initialise(llvm::StringRef cpu) {
    initialiseTarget();
    std::string message;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!target)
      return codegenError(StatusCode::Internal, "LLVM cannot disassemble AMDGPU: {}", message);
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, options));
    subtarget.reset(target->createMCSubtargetInfo(triple, cpu, ""));
    instructions.reset(target->createMCInstrInfo());
    context =
        std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, 0, *assembly, *instructions, *registers));
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    if (!disassembler || !printer || !analysis)
      return codegenError(StatusCode::Internal, "LLVM cannot disassemble {}", cpu.str());
    return llvm::Error::success();
  }

  llvm::Expected<Instruction> decode(llvm::ArrayRef<std::uint8_t> bytes, std::uint64_t address) {
    llvm::MCInst inst;
    std::uint64_t size = 0;
    if (disassembler->getInstruction(inst, size, bytes, address, llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return codegenError(StatusCode::Corrupt, "no {} instruction at {:#x}: bytes {}",
                          subtarget->getCPU().str(), address,
                          llvm::toHex(bytes.take_front(8), /*LowerCase=*/true));
    Instruction result{.address = address, .size = static_cast<unsigned>(size)};
    llvm::raw_string_ostream stream(result.text);
    printer->printInst(&inst, address, "", *subtarget, stream);
    result.text = llvm::StringRef(result.text).trim().str();
    std::replace(result.text.begin(), result.text.end(), '\t', ' ');
    result.kind = classify(result.text);
    std::uint64_t branch = 0;
    if (analysis->evaluateBranch(inst, address, size, branch))
      result.branchTarget = branch;
    const llvm::MCInstrDesc &description = instructions->get(inst.getOpcode());
    result.fallsThrough = !description.isBarrier() && !description.isReturn() &&
                          !llvm::StringRef(result.text).starts_with("s_endpgm");
    if ((result.kind == Kind::Nop || result.kind == Kind::Wait) && inst.getNumOperands() > 0 &&
        inst.getOperand(0).isImm())
      result.immediate = static_cast<unsigned>(inst.getOperand(0).getImm()) & 0xffff;
    for (const llvm::MCOperand &operand : inst)
      if (operand.isReg() && operand.getReg().isValid())
        result.registers.push_back(operand.getReg().id());
    return result;
  }
};

} // namespace

InstructionKind classify(llvm::StringRef text) {
  const llvm::StringRef name = text.take_until([](char c) { return c == ' ' || c == '\t'; });
  if (name.starts_with("v_"))
    return classifyVector(name);
  if (name.starts_with("s_"))
    return classifyScalar(name);
  if (name.starts_with("ds_"))
    return classifyLds(name);
  if (name.starts_with("scratch_"))
    return Kind::Scratch;
  if (text.ends_with(" lds") || text.contains(" lds ") || name.contains("_load_lds_"))
    return Kind::LdsDma;
  return name.contains("_store_") ? Kind::VmemStore : Kind::VmemLoad;
}

bool isValu(InstructionKind kind) {
  switch (kind) {
  case Kind::Exp:
  case Kind::Transcendental:
  case Kind::PackedF32:
  case Kind::Select:
  case Kind::AccumulatorMove:
  case Kind::LaneMove:
  case Kind::Valu:
    return true;
  default:
    return false;
  }
}

WaitCounts Instruction::waits() const {
  return {.vmcnt = (immediate & 15) | ((immediate >> 14 & 3) << 4), .lgkmcnt = immediate >> 8 & 15};
}

Disassembly::Disassembly() = default;
Disassembly::Disassembly(Disassembly &&) noexcept = default;
Disassembly &Disassembly::operator=(Disassembly &&) noexcept = default;
Disassembly::~Disassembly() = default;

llvm::Expected<Disassembly> Disassembly::decode(llvm::ArrayRef<char> object,
                                                llvm::StringRef kernel) {
  auto file = ElfFile::create(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "code object"));
  if (!file)
    return withContext(file.takeError(), "not a code object");
  if (file->getArch() != llvm::Triple::amdgcn)
    return codegenError(StatusCode::InvalidArgument, "not an AMDGPU code object");
  auto code = findKernel(*file, kernel);
  if (!code)
    return code.takeError();

  Disassembly result;
  result.target_ = file->tryGetCPUName().value_or("").str();
  Decoder decoder;
  if (llvm::Error error = decoder.initialise(result.target_))
    return error;
  for (std::uint64_t at = 0; at < code->bytes.size();) {
    auto instruction = decoder.decode(code->bytes.drop_front(at), code->address + at);
    if (!instruction)
      return instruction.takeError();
    at += instruction->size;
    result.instructions_.push_back(std::move(*instruction));
  }
  result.registers_ = std::move(decoder.registers);
  return result;
}

bool Disassembly::touchesResult(const Instruction &user, const Instruction &producer) const {
  if (producer.registers.empty())
    return false;
  return llvm::any_of(user.registers, [&](unsigned reg) {
    return registers_->regsOverlap(reg, producer.registers.front());
  });
}

} // namespace wavesmith::compiler

#include "compiler/codegen/AcceptanceGate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/codegen/ControlFlow.h"
#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/Disassembly.h"
#include "compiler/codegen/InstructionMix.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

using Kind = InstructionKind;
using Sequence = std::vector<const Instruction *>;

Sequence sequenceOf(llvm::ArrayRef<unsigned> blocks, const ControlFlow &flow,
                    const std::vector<Instruction> &instructions) {
  Sequence sequence;
  for (const unsigned block : blocks)
    for (unsigned i = flow.blocks()[block].begin; i < flow.blocks()[block].end; ++i)
      sequence.push_back(&instructions[i]);
  return sequence;
}

InstructionMix mixOf(const Sequence &sequence) {
  InstructionMix mix;
  for (const Instruction *instruction : sequence)
    mix.add(*instruction);
  return mix;
}

std::string symbol(const Instruction &instruction) {
  switch (instruction.kind) {
  case Kind::Mfma:
    return "M";
  case Kind::Barrier:
    return "|";
  case Kind::LdsRead:
    return "r";
  case Kind::LdsWrite:
    return "w";
  case Kind::LdsDma:
    return "g";
  case Kind::VmemLoad:
  case Kind::VmemStore:
    return "v";
  case Kind::Wait: {
    const WaitCounts waits = instruction.waits();
    std::string text;
    if (waits.vmcnt != WaitCounts::kNoVmcnt)
      text += fmt::format("<v{}>", waits.vmcnt);
    if (waits.lgkmcnt != WaitCounts::kNoLgkmcnt)
      text += fmt::format("<l{}>", waits.lgkmcnt);
    return text;
  }
  default:
    return isValu(instruction.kind) ? "a" : "s";
  }
}

/// Judges one loop; every complaint starts with the loop's address.
class LoopJudge {
public:
  LoopJudge(const Disassembly &code, const LoopExpectation &expected, GateReport &report)
      : code_(code), expected_(expected), report_(report) {}

  void judge(const Sequence &iteration, const Sequence &cold) {
    loop_ = LoopReport{};
    loop_.address = iteration.front()->address;
    loop_.mix = mixOf(iteration);
    loop_.coldMix = mixOf(cold);
    loop_.masked = loop_.mix.exp > 0 && loop_.mix.select * expected_.expsOfScore >= loop_.mix.exp;
    loop_.staging = loop_.mix.ldsWrite > 0;
    checkCounts();
    checkForbidden();
    checkPhases(iteration);
    checkResultDistance(iteration);
    report_.loops.push_back(std::move(loop_));
  }

private:
  template <typename... Args> void complain(fmt::format_string<Args...> format, Args &&...args) {
    report_.violations.push_back(fmt::format("loop at {:#x}: {}", loop_.address,
                                             fmt::format(format, std::forward<Args>(args)...)));
  }
  void exactly(std::optional<int> wanted, int found, std::string_view what) {
    if (wanted && *wanted != found)
      complain("{} {} in an iteration, expected {}", found, what, *wanted);
  }
  void atMost(int limit, int found, std::string_view what) {
    if (found > limit)
      complain("{} {}, at most {} allowed", found, what, limit);
  }

  void checkCounts() {
    exactly(expected_.mfma, loop_.mix.mfma, "MFMAs");
    exactly(expected_.exp, loop_.mix.exp, "v_exp_f32");
    exactly(expected_.ldsReads, loop_.mix.ldsRead, "LDS reads");
    if (loop_.staging)
      exactly(expected_.ldsWrites, loop_.mix.ldsWrite, "LDS writes");
    exactly(expected_.barriers, loop_.mix.barrier, "s_barrier");
    atMost(expected_.vmcntZero, loop_.mix.vmcntZero, "waits for vmcnt(0)");
    if (expected_.valuBudget)
      atMost(*expected_.valuBudget + expected_.valuSlack +
                 (loop_.staging ? expected_.stagingValu : 0) +
                 (loop_.masked ? expected_.maskedValu : 0),
             loop_.mix.valu, "vector ALU instructions in an iteration");
  }

  void checkForbidden() {
    atMost(0, loop_.mix.accumulatorMove, "v_accvgpr moves");
    atMost(0, loop_.mix.scratch + loop_.coldMix.scratch, "scratch accesses");
    atMost(0, loop_.mix.packedF32, "packed f32 instructions");
    atMost(0, loop_.mix.laneMove, "v_readfirstlane, v_readlane or v_writelane");
    atMost(0, loop_.mix.saveExec, "s_*_saveexec");
  }

  /// The loop as a ring that starts behind a barrier and ends with one; empty without barriers.
  static Sequence rotatedToBarrier(Sequence ring) {
    const auto last = std::find_if(ring.rbegin(), ring.rend(), [](const Instruction *instruction) {
      return instruction->kind == Kind::Barrier;
    });
    if (last == ring.rend())
      return {};
    std::rotate(ring.begin(), last.base(), ring.end());
    return ring;
  }

  void checkPhases(const Sequence &iteration) {
    const Sequence ring = rotatedToBarrier(iteration);
    int phasesWithMfma = 0;
    for (auto begin = ring.begin(); begin != ring.end();) {
      const auto end = std::find_if(begin, ring.end(), [](const Instruction *instruction) {
        return instruction->kind == Kind::Barrier;
      });
      const llvm::ArrayRef<const Instruction *> phase(&*begin, end - begin);
      if (llvm::any_of(phase, isMfma)) {
        if (++phasesWithMfma == 1)
          checkMatrixPhase(phase);
      } else {
        checkVectorPhase(phase);
      }
      begin = end + 1;
    }
    if (phasesWithMfma > 1)
      complain("MFMAs in {} phases, expected one", phasesWithMfma);
  }

  static bool isMfma(const Instruction *instruction) { return instruction->kind == Kind::Mfma; }

  void checkMatrixPhase(llvm::ArrayRef<const Instruction *> phase) {
    loop_.phase = "|";
    for (const Instruction *instruction : phase)
      loop_.phase += symbol(*instruction);
    loop_.phase += "|";
    const auto first = llvm::find_if(phase, isMfma);
    loop_.barrierToFirstMfma = static_cast<int>(first - phase.begin());
    const auto reversed = llvm::reverse(phase);
    loop_.lastMfmaToBarrier = static_cast<int>(llvm::find_if(reversed, isMfma) - reversed.begin());
    atMost(expected_.barrierToFirstMfma, loop_.barrierToFirstMfma,
           "instructions between s_barrier and the first MFMA");
    atMost(expected_.lastMfmaToBarrier, loop_.lastMfmaToBarrier,
           "instructions between the last MFMA and s_barrier");

    bool readFollows = false;
    for (const Instruction *instruction : reversed) {
      readFollows |= instruction->kind == Kind::LdsRead;
      if (instruction->kind != Kind::Wait)
        continue;
      if (instruction->waits().lgkmcnt == 0 && readFollows)
        complain("lgkmcnt(0) at {:#x} before the last LDS read of the phase", instruction->address);
      if (instruction->waits().vmcnt == 0)
        complain("vmcnt(0) at {:#x} among the MFMAs", instruction->address);
    }
  }

  /// Fragments read here are for the next phase: waiting for them now drains the prefetch.
  void checkVectorPhase(llvm::ArrayRef<const Instruction *> phase) {
    bool reading = false;
    for (const Instruction *instruction : phase) {
      reading |= instruction->kind == Kind::LdsRead;
      if (reading && instruction->kind == Kind::Wait && instruction->waits().lgkmcnt == 0)
        complain("lgkmcnt(0) at {:#x} drains the fragments read ahead", instruction->address);
    }
  }

  void checkResultDistance(const Sequence &iteration) {
    constexpr int kFarEnough = 64;
    const auto last = std::find_if(iteration.rbegin(), iteration.rend(), isMfma).base() - 1;
    Sequence after(last + 1, iteration.end());
    after.insert(after.end(), iteration.begin(), last);
    int states = 0;
    for (const Instruction *instruction : after) {
      if (states >= kFarEnough)
        break;
      // A chained MFMA takes its accumulator without a wait.
      if (!isMfma(instruction) && code_.touchesResult(*instruction, **last))
        break;
      states += static_cast<int>(instruction->waitStates());
    }
    loop_.resultWaitStates = std::min(states, kFarEnough);
    if (loop_.resultWaitStates < expected_.resultWaitStates)
      complain("{} wait states between the last MFMA and the first use of its result, at least {} "
               "needed",
               loop_.resultWaitStates, expected_.resultWaitStates);
  }

  const Disassembly &code_;
  const LoopExpectation &expected_;
  GateReport &report_;
  LoopReport loop_;
};

} // namespace

llvm::Expected<GateReport> inspectLoops(llvm::ArrayRef<char> object, llvm::StringRef kernel,
                                        const LoopExpectation &expected) {
  auto code = Disassembly::decode(object, kernel);
  if (!code)
    return code.takeError();
  auto flow = ControlFlow::build(code->instructions());
  if (!flow)
    return flow.takeError();

  struct Candidate {
    const Loop *loop;
    Sequence iteration;
  };
  std::vector<Candidate> candidates;
  for (const Loop &loop : flow->loops()) {
    Sequence iteration = sequenceOf(loop.everyTime, *flow, code->instructions());
    if (mixOf(iteration).mfma > 0)
      candidates.push_back({&loop, std::move(iteration)});
  }
  GateReport report{.target = code->target()};
  LoopJudge judge(*code, expected, report);
  for (const Candidate &candidate : candidates) {
    // A loop over work items around the pipelined ones also runs MFMAs each time.
    if (llvm::any_of(candidates, [&](const Candidate &other) {
          return other.loop != candidate.loop &&
                 llvm::is_contained(candidate.loop->blocks, other.loop->header);
        }))
      continue;
    std::vector<unsigned> cold;
    for (const unsigned block : candidate.loop->blocks)
      if (!llvm::is_contained(candidate.loop->everyTime, block))
        cold.push_back(block);
    judge.judge(candidate.iteration, sequenceOf(cold, *flow, code->instructions()));
  }
  if (expected.loops && *expected.loops != static_cast<int>(report.loops.size()))
    report.violations.push_back(fmt::format("kernel '{}': {} pipelined loops, expected {}",
                                            kernel.str(), report.loops.size(), *expected.loops));
  return report;
}

llvm::Error toError(const GateReport &report) {
  if (report.violations.empty())
    return llvm::Error::success();
  return codegenError(StatusCode::CompileFailed, "{}", fmt::join(report.violations, "; "));
}

} // namespace wavesmith::compiler

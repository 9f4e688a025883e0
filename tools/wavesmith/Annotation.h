#pragma once
// Runs a code object on the emulator to see what each instruction does: executions in the whole
// launch, clocks and stall reasons from the cycle model. One run at a time: the emulator's settings
// are the process's.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/codeobject/Note.h"
#include "runtime/exec/Observed.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/Disassembly.h"

namespace wavesmith::cli {

struct Annotation {
  std::string call;                                                      ///< what ran
  std::string device;                                                    ///< chip that was modelled
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> counts; ///< by kernel and pc
  ModelledLines lines;
  std::vector<std::string> faults; ///< of the run, one line each
};

/// As a launch file says, which must name the same object.
Expected<Annotation> annotateLaunch(const CodeObject &object, const std::string &launchFile);
/// A small call that fits the note of one of our attention kernels.
Expected<Annotation> annotateAttention(const CodeObject &object, const ObjectNote &note);

/// "annotated" of docs/schemas/inspect.json: what a kernel's instruction costs.
Json annotatedJson(const Annotation &annotation, const std::string &kernel, std::uint64_t pc);
/// The disassembly with a column each for executions, clocks, share and reasons; the lines that
/// cost most carry a mark.
std::string annotatedText(const Annotation &annotation, const std::string &kernel,
                          const std::vector<Instruction> &instructions);

} // namespace wavesmith::cli

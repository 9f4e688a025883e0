#pragma once
// The templates by name, built in or from a directory, and which of them, with which parameter
// values and schedule, makes the kernel of a spec. Built-in texts are constants; any thread.

#include <string>
#include <string_view>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {

/// The text of a template: `directory`/`name`.mlir, or the built-in one when it is empty.
Expected<std::string> templateText(std::string_view name, const std::string &directory);

/// A row of the schedule table: what passes need beside the template and its parameters.
struct ScheduleRow {
  std::string_view name = "default"; ///< as the spec says it; "default" is the one without a name
  std::string_view target;
  DType dtype;
  int headDimQk = 0;            ///< 0: of every other; such rows stand last
  int blockN;                   ///< keys of one step
  int ring;                     ///< operand fragments in flight in a matrix phase
  int pre;                      ///< of them, read before its barrier
  int keyBuffers, valueBuffers; ///< tiles in LDS
  int registerAhead = 2;        ///< steps that tiles through registers are requested ahead: 2 or 1
  std::string_view rowSum = "vector";    ///< "vector" or "matrix"
  std::string_view order = "pipelined";  ///< "pipelined" or "windowed"
  std::string_view rounding = "nearest"; ///< of weights: "nearest" or "truncated"
  double exponent = 0;                   ///< log2 of the factor of all weights
  double threshold = 8;                  ///< log2 by which a row may outgrow its reference
};

struct Selection {
  std::string templateName;
  std::string parameters;                ///< "name=value,...", for wavesmith-bind-parameters
  const ScheduleRow *schedule = nullptr; ///< none: a row kernel
  int rows = 0;                          ///< of a row kernel's workgroup
};

/// What makes the kernel of a valid spec.
Expected<Selection> select(const KernelSpec &spec);

} // namespace wavesmith::compiler

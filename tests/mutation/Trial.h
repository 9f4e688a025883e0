#pragma once
// A kernel, and problems that show whether it is right: what the mutation tests and the tests of
// the reference kernels run. A problem is immutable after it was made and runs on a device of its
// own, so any number of threads may run it at once.

#include <memory>
#include <string>
#include <vector>

#include "emulator/Emulator.h"
#include "runtime/codeobject/CodeObject.h"
#include "runtime/support/Status.h"

namespace wavesmith::testing {

struct Outcome {
  std::string complaint; ///< the first fault or what is wrong with the results; empty = all is well
  emulator::RunReport report;
  double relativeRms = 0; ///< of out; 0 when a fault came first
};

class TrialProblem {
public:
  virtual ~TrialProblem() = default;
  virtual std::string text() const = 0;
  /// MFMA arithmetic of the launch, two operations per multiply-add.
  virtual double flops() const = 0;
  /// The Status is for a test that could not be made.
  virtual Expected<Outcome> run(const CodeObject &object,
                                const emulator::RunOptions &options) const = 0;
};

struct Trial {
  std::string name; ///< "gfx942_bf16", "ours_192x128_causal"
  std::string target;
  std::string ir; ///< LLVM IR text
  std::vector<std::shared_ptr<const TrialProblem>> problems;
};

/// LLVM IR text to code object, without gates. Any thread.
Expected<CodeObject> compileIr(const std::string &ir, const std::string &name,
                               const std::string &target);

/// One of the hand-written kernels in tests/fixtures/reference: "gfx942_bf16" and so on.
struct ReferenceProblem {
  int lenQ = 1, lenKv = 1, heads = 1;
  int splits = 1;   ///< KV parts of each block of rows; above 1 partials are merged here
  float growth = 1; ///< keys grow by this factor over the sequence, so that maxima move
  int padding = 0;  ///< bytes after each head's row and after each token, multiple of 16
  std::uint64_t seed = 1;
};
const std::vector<std::string> &referenceKernels();
Expected<Trial> referenceTrial(const std::string &kernel,
                               const std::vector<ReferenceProblem> &problems);

/// A kernel of ours through the whole compiler, with its own planner's work list.
struct OurProblem {
  std::string target = "gfx942";
  int headDimQk = 192, headDimV = 128;
  bool causal = false;
  /// Each entry is one problem: a batch of (queries, keys).
  std::vector<std::vector<std::pair<int, int>>> batches;
  float growth = 1;
};
Expected<Trial> ourTrial(const std::string &name, const OurProblem &problem);

/// Every execution order: 2 landings of vector memory x 2 of LDS x 3 of waves, and poison.
std::vector<emulator::ExecutionOrder> allExecutionOrders();

} // namespace wavesmith::testing

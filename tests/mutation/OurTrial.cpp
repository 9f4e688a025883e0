// Kernels that our compiler generates, launched as our planner plans them, but straight on the
// emulator: a mutant must not pass the caches and notes of the runtime.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdlib.h>

#include "compiler/library/CompileKernel.h"
#include "runtime/dispatch/AttentionPlan.h"
#include "tests/mutation/DeviceImages.h"
#include "tests/mutation/Inputs.h"
#include "tests/mutation/Trial.h"

namespace wavesmith::testing {
namespace {

class OurTrialProblem final : public TrialProblem {
public:
  OurTrialProblem(AttentionPlan plan, float growth) : plan_(std::move(plan)) {
    inputs_.checked = plan_.checked;
    inputs_.draw(1, growth);
    inputs_.computeReference();
  }

  std::string text() const override {
    std::string lengths;
    for (const SequenceLength &length : plan_.checked.problem.lengths)
      lengths += fmt::format("{}{}:{}", lengths.empty() ? "" : ",", length.q, length.kv);
    return lengths;
  }

  double flops() const override {
    std::int64_t keys = 0;
    for (const AttentionWorkUnit &unit : plan_.work())
      keys += (unit.kv1 - unit.kv0 + 31) / 32 * 32;
    const AttentionProblem &p = plan_.checked.problem;
    return 2.0 * double(keys) * kAttentionBlockM * (p.headDimQk + p.headDimV);
  }

  Expected<Outcome> run(const CodeObject &object,
                        const emulator::RunOptions &options) const override {
    WAVESMITH_ASSIGN(const auto device, emulator::Device::create({.target = plan_.spec().target}));
    WAVESMITH_ASSIGN(const auto module, device->load(object));
    DeviceImages images(*device);
    HostTensor out = inputs_.emptyOut(), lse = inputs_.emptyLse();
    AttentionArguments arguments = plan_.arguments;
    WAVESMITH_ASSIGN(arguments.q, images.upload(inputs_.q));
    WAVESMITH_ASSIGN(arguments.k, images.upload(inputs_.k));
    WAVESMITH_ASSIGN(arguments.v, images.upload(inputs_.v));
    WAVESMITH_ASSIGN(arguments.out, images.upload(out));
    WAVESMITH_ASSIGN(arguments.lse, images.upload(lse));
    WAVESMITH_ASSIGN(arguments.work, images.uploadBytes(std::as_bytes(std::span(plan_.work()))));

    emulator::LaunchConfig launch;
    launch.kernel = plan_.spec().kernelName();
    launch.grid = {plan_.grid(), 1, 1};
    launch.block = {kAttentionThreads, 1, 1};
    launch.kernarg = std::as_bytes(std::span(&arguments, 1));
    Outcome outcome;
    WAVESMITH_ASSIGN(outcome.report, device->run(*module, launch, options));
    outcome.complaint = firstFault(outcome.report);
    if (!outcome.complaint.empty())
      return outcome;
    WAVESMITH_TRY(images.download(out, arguments.out));
    WAVESMITH_TRY(images.download(lse, arguments.lse));
    outcome.complaint = inputs_.compare(out, lse, outcome.relativeRms);
    return outcome;
  }

private:
  AttentionPlan plan_;
  Inputs inputs_;
};

/// The compiler's LLVM IR, which it writes into a directory on request.
Expected<std::string> irOf(const KernelSpec &spec) {
  std::string directory =
      (std::filesystem::temp_directory_path() / "wavesmith-mutation-XXXXXX").string();
  if (!::mkdtemp(directory.data()))
    return error(StatusCode::Io, "cannot make {}", directory);
  const auto blob = compiler::compileKernel(spec, {.dumpDirectory = directory});
  std::stringstream text;
  text << std::ifstream(directory + "/" + spec.kernelName() + ".ll").rdbuf();
  std::error_code ignored; // a directory left behind fails no test
  std::filesystem::remove_all(directory, ignored);
  if (!blob)
    return blob.status();
  if (text.str().empty())
    return error(StatusCode::NotFound, "no dump of {}", spec.kernelName());
  return text.str();
}

} // namespace

Expected<Trial> ourTrial(const std::string &name, const OurProblem &problem) {
  Trial trial;
  trial.name = name;
  for (const auto &batch : problem.batches) {
    AttentionProblem attention;
    attention.target = problem.target;
    attention.headDimQk = problem.headDimQk;
    attention.headDimV = problem.headDimV;
    attention.causal = problem.causal;
    for (const auto &[queries, keys] : batch)
      attention.lengths.push_back({queries, keys});
    WAVESMITH_ASSIGN(AttentionPlan plan, planAttention(attention, {.splits = 1}));
    trial.target = plan.spec().target;
    if (trial.ir.empty()) {
      WAVESMITH_ASSIGN(trial.ir, irOf(plan.spec()));
    }
    trial.problems.push_back(std::make_shared<OurTrialProblem>(std::move(plan), problem.growth));
  }
  return trial;
}

} // namespace wavesmith::testing

// wavesmith run: one attention call from spec to verified result.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/hip/HipTable.h"
#include "runtime/session/Session.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Env.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/Progress.h"
#include "tools/wavesmith/RunTable.h"

namespace wavesmith::cli {
namespace {

class Run final : public Command {
public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "compile, run and verify one attention call"; }

  void declare(CLI::App &app) override {
    app.add_option("--target", target_, "gfx942 or gfx950")->required();
    app.add_option("--dtype", dtype_,
                   "bf16, or fp8 in the target's format (or by name: e4m3fnuz, e4m3)")
        ->required();
    app.add_option("--head-dim", headDim_, "<qk>x<v>: 192x128, 128x128, 64x64, 256x256")
        ->required();
    app.add_option("--heads", heads_, "Query heads, 1 to 128")->required();
    app.add_option("--kv-heads", kvHeads_, "Key/value heads; default: as many as query heads");
    app.add_option("--q-len", qLen_, "Queries of a single sequence");
    app.add_option("--kv-len", kvLen_, "Keys of a single sequence");
    app.add_option("--lens", lens_, "Packed batch: q:kv,q:kv,...");
    app.add_flag("--causal", causal_, "Causal mask, aligned bottom right");
    app.add_flag("--verify", verify_, "Compare with a float64 reference; exit 1 on a mismatch");
    app.add_option("--checks", checks_,
                   "all, none, or of: memory,uninitialised,waits,races,barriers,hazards,alignment,"
                   "registers; default: all");
    app.add_option("--order", order_,
                   "Emulator's execution order: default, or of: vmem-early vmem-late lds-early "
                   "lds-late lockstep run-to-barrier preemptive poison, with commas");
    app.add_option("--seed", seed_, "Of the inputs and of preemptive orders; default: 1");
    app.add_option("--chip", chip_,
                   "Chip that the emulator models: MI300X, MI308X, MI325X; MI350X, MI355X");
    app.add_option("--device", device_,
                   "auto, hip or emulator; auto takes a real GPU if one is there");
    app.add_option("--splits", splits_,
                   "Pieces of each row block's keys: 1 to 64; default: as the device's size asks");
    app.add_option(
        "--quantize", quantize_,
        "fp8: static, dynamic or unit scales; inputs are bf16 and quantised on the device");
    app.add_option("--rotate", rotate_,
                   "With --quantize: seed of the rotation of queries and keys, 1 to 2^31 - 1");
    app.add_option("--distribution", distribution_,
                   "Of bf16 inputs: normal, heavy-tail, outlier-channels, needle");
    app.add_flag("--model-cycles", modelCycles_, "Model the time on the chip (docs/emulator.md)");
    app.add_flag("--coverage", coverage_, "Count executions per instruction");
    app.add_option("--trace", trace_,
                   "File for ui.perfetto.dev: what the modelled waves do (docs/seeing.md)");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(const DeviceChoice device, deviceChoice());
    WAVESMITH_ASSIGN(RunRequest request, check());
    auto session = Session::create({.device = device, .store = std::nullopt});
    if (!session)
      return asEnvironment(session.status());
    Stage stage;
    request.progress = [&stage](std::string_view name) { stage.enter(name); };
    const auto report = (*session)->run(request);
    stage.leave();
    if (!report)
      return asEnvironment(report.status());

    Result result;
    result.exitCode = report->ok() ? ExitCode::Fine : ExitCode::Failed;
    result.json = Json::parse(report->json());
    result.text = describeRun(request, *report);
    return result;
  }

private:
  Expected<RunRequest> check() const {
    WAVESMITH_TRY(checkTracePath("--trace", trace_));

    RunRequest request;
    AttentionProblem &problem = request.problem;
    WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dim", headDim_));
    WAVESMITH_ASSIGN(const KernelSpec spec, checkedSpec({"--target", "--dtype", "--head-dim"},
                                                        target_, dtype_, dim, causal_));
    problem.target = spec.target;
    problem.dtype = spec.attention.dtype;
    problem.headDimQk = dim.qk;
    problem.headDimV = dim.v;
    problem.causal = causal_;
    WAVESMITH_ASSIGN(problem.heads, parseCount("--heads", heads_, 1, kMaxHeads));
    if (!kvHeads_.empty()) {
      WAVESMITH_ASSIGN(problem.kvHeads, parseCount("--kv-heads", kvHeads_, 1, kMaxHeads));
    }
    if (!splits_.empty()) {
      WAVESMITH_ASSIGN(const std::int64_t splits, parseCount("--splits", splits_, 1, kMaxSplits));
      request.splits = static_cast<int>(splits);
    }
    WAVESMITH_ASSIGN(problem.lengths, lengths());
    WAVESMITH_TRY(quantization(request));
    // Everything that depends on more than one flag.
    WAVESMITH_ASSIGN([[maybe_unused]] const CheckedProblem checked, checkProblem(problem));

    WAVESMITH_ASSIGN(const EmulatorSettings emulator,
                     emulatorSettings(checks_, order_, seed_, chip_));
    request.checks = emulator.checks;
    request.order = emulator.order;
    request.seed = emulator.seed;
    if (!chip_.empty())
      WAVESMITH_TRY(checkChip("--chip", chip_, problem.target));
    request.chip = chip_;
    request.modelCycles = modelCycles_ || emulator.modelCycles;
    request.coverage = coverage_;
    request.trace = trace_;
    request.verify = verify_;
    return request;
  }

  Status quantization(RunRequest &request) const {
    if (!distribution_.empty()) {
      WAVESMITH_ASSIGN(request.distribution,
                       withFlag("--distribution", parseDistribution(distribution_)));
    }
    const bool fp8 = request.problem.dtype == DType::FP8;
    if (quantize_.empty()) {
      if (!rotate_.empty())
        return Status(StatusCode::InvalidArgument, "--rotate is of --quantize, which is not given");
      if (fp8 && !distribution_.empty())
        return error(StatusCode::InvalidArgument,
                     "--distribution is of bf16 inputs; with --dtype {} give --quantize too",
                     dtype_);
      return Status::ok();
    }
    if (!fp8)
      return error(StatusCode::InvalidArgument, "--quantize needs --dtype fp8, not {}", dtype_);
    Quantization how;
    WAVESMITH_TRY(checkWord("--quantize", quantize_, {"static", "dynamic", "unit"}));
    how.scales = quantize_ == "static"    ? Quantization::Scales::Given
                 : quantize_ == "dynamic" ? Quantization::Scales::Dynamic
                                          : Quantization::Scales::Unit;
    if (!rotate_.empty()) {
      WAVESMITH_ASSIGN(const std::int64_t seed, parseCount("--rotate", rotate_, 1, INT32_MAX));
      how.rotationQ = how.rotationK = static_cast<std::uint32_t>(seed);
    }
    request.quantization = how;
    return Status::ok();
  }

  Expected<DeviceChoice> deviceChoice() const {
    if (!device_.empty())
      return withFlag("--device", parseDeviceChoice(device_));
    return withFlag("WAVESMITH_DEVICE", parseDeviceChoice(env::get("WAVESMITH_DEVICE")));
  }

  Expected<std::vector<SequenceLength>> lengths() const {
    if (!lens_.empty()) {
      if (!qLen_.empty() || !kvLen_.empty())
        return Status(StatusCode::InvalidArgument,
                      "--lens and --q-len/--kv-len exclude each other; give one of them");
      return withFlag("--lens", parseLengths(lens_));
    }
    if (qLen_.empty() || kvLen_.empty())
      return Status(StatusCode::InvalidArgument,
                    "no lengths; expected --lens q:kv,... or both --q-len and --kv-len");
    SequenceLength length;
    WAVESMITH_ASSIGN(length.q, parseCount("--q-len", qLen_, 0, kMaxTokens));
    WAVESMITH_ASSIGN(length.kv, parseCount("--kv-len", kvLen_, 0, kMaxTokens));
    return std::vector<SequenceLength>{length};
  }

  std::string target_, dtype_, headDim_, heads_, kvHeads_, qLen_, kvLen_, lens_, checks_, order_,
      seed_, chip_, device_, splits_, trace_, quantize_, rotate_, distribution_;
  bool causal_ = false, verify_ = false, modelCycles_ = false, coverage_ = false;
};

} // namespace

std::unique_ptr<Command> makeRun() { return std::make_unique<Run>(); }

} // namespace wavesmith::cli

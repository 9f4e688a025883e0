// wavesmith run: one attention call from spec to verified result.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "emulator/Emulator.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

/// What was asked, checked.
struct Request {
  KernelSpec spec;
  std::int64_t heads = 0, kvHeads = 0;
  std::vector<SequenceLength> lengths;
  bool verify = false;
  emulator::Checks checks;
  emulator::ExecutionOrder order;
  std::uint64_t seed = 1;
  std::string chip, device;
};

class Run final : public Command {
public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "compile, run and verify one attention call"; }

  void declare(CLI::App &app) override {
    app.add_option("--target", target_, "gfx942")->required();
    app.add_option("--dtype", dtype_, "bf16 (fp8: not supported yet)")->required();
    app.add_option("--head-dim", headDim_, "<qk>x<v>: 192x128, 128x128, 64x64")->required();
    app.add_option("--heads", heads_, "Query heads, 1 to 128")->required();
    app.add_option("--kv-heads", kvHeads_, "Key/value heads; default: as many as query heads");
    app.add_option("--q-len", qLen_, "Queries of a single sequence");
    app.add_option("--kv-len", kvLen_, "Keys of a single sequence");
    app.add_option("--lens", lens_, "Packed batch: q:kv,q:kv,...");
    app.add_flag("--causal", causal_, "Causal mask, aligned bottom right");
    app.add_flag("--verify", verify_, "Compare with a float64 reference; exit 1 on a mismatch");
    app.add_option("--checks", checks_,
                   "all, none, or of: memory,uninitialised,waits,races,barriers,hazards,alignment,"
                   "registers")
        ->default_val("all");
    app.add_option("--order", order_,
                   "Emulator's execution order: default, or of: vmem-early vmem-late lds-early "
                   "lds-late lockstep run-to-barrier preemptive poison, with commas")
        ->default_val("default");
    app.add_option("--seed", seed_, "Of the inputs and of preemptive orders")->default_val("1");
    app.add_option("--chip", chip_, "Chip that the emulator models: MI300X, MI325X");
    app.add_option("--device", device_,
                   "auto, hip or emulator; auto takes a real GPU if one is there");
    app.add_option("--splits", splits_, "Not supported yet");
    app.add_flag("--model-cycles", modelCycles_, "Not supported yet");
    app.add_option("--trace", trace_, "Not supported yet");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(const Request request, check());
    (void)request;
    return error(StatusCode::Unsupported, "run: not supported yet");
  }

private:
  Expected<Request> check() const {
    WAVESMITH_TRY(refuseLater("--splits", !splits_.empty()));
    WAVESMITH_TRY(refuseLater("--model-cycles", modelCycles_));
    WAVESMITH_TRY(refuseLater("--trace", !trace_.empty()));

    Request request;
    WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dim", headDim_));
    WAVESMITH_ASSIGN(request.spec, checkedSpec({"--target", "--dtype", "--head-dim"}, target_,
                                               dtype_, dim, causal_));
    WAVESMITH_ASSIGN(request.heads, parseCount("--heads", heads_, 1, kMaxHeads));
    request.kvHeads = request.heads;
    if (!kvHeads_.empty()) {
      WAVESMITH_ASSIGN(request.kvHeads, parseCount("--kv-heads", kvHeads_, 1, kMaxHeads));
    }
    if (request.heads % request.kvHeads != 0)
      return error(StatusCode::InvalidArgument,
                   "--kv-heads is {}; --heads {} is no multiple of it, expected a divisor",
                   request.kvHeads, request.heads);

    if (!lens_.empty()) {
      if (!qLen_.empty() || !kvLen_.empty())
        return Status(StatusCode::InvalidArgument,
                      "--lens and --q-len/--kv-len exclude each other; give one of them");
      WAVESMITH_ASSIGN(request.lengths, parseLengths("--lens", lens_));
    } else {
      if (qLen_.empty() || kvLen_.empty())
        return Status(StatusCode::InvalidArgument,
                      "no lengths; expected --lens q:kv,... or both --q-len and --kv-len");
      SequenceLength length;
      WAVESMITH_ASSIGN(length.q, parseCount("--q-len", qLen_, 0, kMaxTokens));
      WAVESMITH_ASSIGN(length.kv, parseCount("--kv-len", kvLen_, 0, kMaxTokens));
      request.lengths.push_back(length);
    }

    WAVESMITH_ASSIGN(request.checks, withFlag("--checks", emulator::Checks::parse(checks_)));
    WAVESMITH_ASSIGN(request.order, withFlag("--order", emulator::ExecutionOrder::parse(order_)));
    WAVESMITH_ASSIGN(request.seed, parseSeed("--seed", seed_));
    if (!chip_.empty())
      WAVESMITH_TRY(checkChip("--chip", chip_, request.spec.target));
    request.chip = chip_;
    if (!device_.empty())
      WAVESMITH_TRY(checkWord("--device", device_, {"auto", "hip", "emulator"}));
    request.device = device_;
    request.verify = verify_;
    return request;
  }

  std::string target_, dtype_, headDim_, heads_, kvHeads_, qLen_, kvLen_, lens_, checks_, order_,
      seed_, chip_, device_, splits_, trace_;
  bool causal_ = false, verify_ = false, modelCycles_ = false;
};

} // namespace

std::unique_ptr<Command> makeRun() { return std::make_unique<Run>(); }

} // namespace wavesmith::cli

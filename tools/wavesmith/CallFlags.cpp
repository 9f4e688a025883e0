#include "tools/wavesmith/CallFlags.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/spec/KernelSpec.h"
#include "tools/wavesmith/Arguments.h"

namespace wavesmith::cli {

void ScoreFlags::declare(CLI::App &app) {
  app.add_option("--window", window_,
                 "L or L,R: keys that a query sees before and after its own position; -1: all");
  app.add_option("--soft-cap", softCap_, "Scores s become cap * tanh(s / cap)");
  app.add_flag("--sink", sink_, "Attention sinks, one for each head");
}

Status ScoreFlags::put(AttentionProblem &problem) const {
  problem.sink = sink_;
  if (!window_.empty()) {
    WAVESMITH_ASSIGN(problem.window, parseWindow("--window", window_));
  }
  if (!softCap_.empty()) {
    WAVESMITH_ASSIGN(problem.softCap, parseReal("--soft-cap", softCap_));
  }
  return Status::ok();
}

void CallFlags::declare(CLI::App &app, bool needsTarget) {
  CLI::Option *target = app.add_option("--target", target_, "gfx942 or gfx950");
  if (needsTarget)
    target->required();
  app.add_option("--dtype", dtype_,
                 "bf16, f16, or fp8 in the target's format (or by name: e4m3fnuz, e4m3)")
      ->required();
  app.add_option("--head-dim", headDim_, "<qk>x<v>: 192x128, 128x128, 64x64, 256x256")->required();
  app.add_option("--heads", heads_, "Query heads, 1 to 128")->required();
  app.add_option("--kv-heads", kvHeads_, "Key/value heads; default: as many as query heads");
  app.add_option("--q-len", qLen_, "Queries of a single sequence");
  app.add_option("--kv-len", kvLen_, "Keys of a single sequence");
  app.add_option("--lens", lens_, "Packed batch: q:kv,q:kv,...");
  app.add_flag("--causal", causal_, "Causal mask, aligned bottom right");
  scores_.declare(app);
  app.add_option("--splits", splits_,
                 "Pieces of each row block's keys: 1 to 64; default: as the device's size asks");
  app.add_option(
      "--quantize", quantize_,
      "fp8: static, dynamic or unit scales; inputs are 16 bits wide and quantised on the device");
  app.add_option("--input", input_,
                 "With --quantize: bf16 or f16, of inputs and out; default: bf16");
  app.add_option("--rotate", rotate_,
                 "With --quantize: seed of the rotation of queries and keys, 1 to 2^31 - 1");
  app.add_option("--distribution", distribution_,
                 "Of 16-bit inputs: normal, heavy-tail, outlier-channels, needle, drift");
}

Expected<RunRequest> CallFlags::request(const std::string &target) const {
  RunRequest request;
  AttentionProblem &problem = request.problem;
  WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dim", headDim_));
  WAVESMITH_ASSIGN(const KernelSpec spec,
                   checkedSpec({"--target", "--dtype", "--head-dim"},
                               target.empty() ? target_ : target, dtype_, dim, causal_));
  problem.target = spec.target;
  problem.dtype = spec.attention.dtype;
  problem.headDimQk = dim.qk;
  problem.headDimV = dim.v;
  problem.causal = causal_;
  WAVESMITH_TRY(scores_.put(problem));
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
  return request;
}

Expected<std::vector<SequenceLength>> CallFlags::lengths() const {
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

Status CallFlags::quantization(RunRequest &request) const {
  if (!distribution_.empty()) {
    WAVESMITH_ASSIGN(request.distribution,
                     withFlag("--distribution", parseDistribution(distribution_)));
  }
  const bool fp8 = request.problem.dtype == DType::FP8;
  if (quantize_.empty()) {
    for (const auto &[flag, value] : {std::pair{"--rotate", &rotate_}, {"--input", &input_}})
      if (!value->empty())
        return error(StatusCode::InvalidArgument, "{} is of --quantize, which is not given", flag);
    if (fp8 && !distribution_.empty())
      return error(StatusCode::InvalidArgument,
                   "--distribution is of 16-bit inputs; with --dtype {} give --quantize too",
                   dtype_);
    return Status::ok();
  }
  if (!fp8)
    return error(StatusCode::InvalidArgument,
                 "--quantize needs --dtype fp8, not {0}; --input {0} says what it quantises",
                 dtype_);
  Quantization how;
  WAVESMITH_ASSIGN(how.scales, withFlag("--quantize", parseScales(quantize_)));
  if (!rotate_.empty()) {
    WAVESMITH_ASSIGN(const std::int64_t seed, parseCount("--rotate", rotate_, 1, INT32_MAX));
    how.rotationQ = how.rotationK = static_cast<std::uint32_t>(seed);
  }
  if (!input_.empty()) {
    WAVESMITH_TRY(checkWord("--input", input_, {"bf16", "f16"}));
    how.input = input_;
  }
  request.problem.f16Out = how.input == "f16";
  request.quantization = how;
  return Status::ok();
}

} // namespace wavesmith::cli

// The hand-written kernels in tests/fixtures/reference: their own argument block and work list.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <numbers>
#include <sstream>

#include "runtime/verify/BFloat16.h"
#include "tests/mutation/DeviceImages.h"
#include "tests/mutation/Fp8.h"
#include "tests/mutation/Inputs.h"
#include "tests/mutation/Trial.h"

namespace wavesmith::testing {
namespace {

constexpr int kHeadDimQk = 192, kHeadDimV = 128, kBlock = 256, kThreads = 512;
/// Splits begin at a multiple of the largest KV tile of the four.
constexpr int kSplitGrain = 128;

struct KernelFacts {
  std::string name, target;
  Fp8Format format = Fp8Format::None;
  int kvTile = 32;
};
const std::array<KernelFacts, 4> kKernels{{
    {"gfx942_bf16", "gfx942", Fp8Format::None, 32},
    {"gfx942_fp8", "gfx942", Fp8Format::E4M3Fnuz, 64},
    {"gfx950_bf16", "gfx950", Fp8Format::None, 64},
    {"gfx950_fp8", "gfx950", Fp8Format::E4M3Ocp, 128},
}};

/// FP8: with the scales of q and k.
double scaleOf(bool fp8) { return (fp8 ? 1.25 : 1.0) / std::sqrt(double{kHeadDimQk}); }

/// What one of our own kernels for the same call would be asked.
AttentionProblem attentionOf(const ReferenceProblem &problem, bool fp8) {
  AttentionProblem attention;
  attention.causal = true;
  attention.heads = problem.heads;
  attention.lengths = {{problem.lenQ, problem.lenKv}};
  attention.scale = scaleOf(fp8);
  const auto pad = [&](TensorStrides &strides, int dim) {
    strides.head = dim + problem.padding / 2;
    strides.row = *strides.head * problem.heads + problem.padding / 2;
  };
  pad(attention.q, kHeadDimQk);
  pad(attention.k, kHeadDimQk);
  pad(attention.v, kHeadDimV);
  pad(attention.out, kHeadDimV);
  return attention;
}

struct WorkItem {
  std::int32_t q0, kv0, kv1, head, slot; ///< slot -1: out and lse, else partials
  std::int32_t unused[3];
};

struct Arguments {
  std::uint64_t q, k, v, out, lse, partialOut, partialLse, work;
  std::int32_t qRow, kRow, vRow, outRow, qHead, kHead, vHead, outHead; ///< strides in bytes
  std::int32_t lenQ, lenKv;
  float scaleLog2, threshold, valueScale;
  std::int32_t units, grid;
};
static_assert(offsetof(Arguments, grid) == 120);
constexpr std::size_t kArgumentBytes = 124;

class ReferenceTrialProblem final : public TrialProblem {
public:
  ReferenceTrialProblem(const KernelFacts &facts, const ReferenceProblem &problem,
                        const CheckedProblem &checked, double scale)
      : facts_(facts), problem_(problem) {
    const bool fp8 = facts.format != Fp8Format::None;
    scaleLog2_ = static_cast<float>(scale * std::numbers::log2e);
    valueScale_ = fp8 ? 0.75f : 1.0f;
    inputs_.checked = checked;
    inputs_.draw(problem.seed, problem.growth);
    // The bf16 copies of FP8 tensors only feed the reference.
    q_ = fp8 ? quantise(inputs_.q) : inputs_.q;
    k_ = fp8 ? quantise(inputs_.k) : inputs_.k;
    v_ = fp8 ? quantise(inputs_.v) : inputs_.v;
    inputs_.computeReference();
    for (double &value : inputs_.reference.out)
      value *= valueScale_;
    if (fp8) // each P is off by up to 2^-4, 2.6e-2 in the mean; its sum is taken after the rounding
    {
      const RowBounds bounds{.rel = 1e-1, .maxRel = 1.5e-1, .lseRel = 2e-2};
      inputs_.tolerance = {.outRelRms = 3e-2, .manyKeys = bounds, .fewKeys = bounds};
    }
    makeWork();
  }

  std::string text() const override {
    return fmt::format("{} queries, {} keys, {} heads, {} splits, growth {}", problem_.lenQ,
                       problem_.lenKv, problem_.heads, problem_.splits, problem_.growth);
  }

  double flops() const override {
    double tiles = 0;
    for (const WorkItem &item : work_) {
      const int end = std::min(item.kv1, item.q0 + problem_.lenKv - problem_.lenQ + kBlock);
      tiles += std::max(0, (end - item.kv0 + facts_.kvTile - 1) / facts_.kvTile);
    }
    return 2.0 * tiles * facts_.kvTile * kBlock * (kHeadDimQk + kHeadDimV);
  }

  Expected<Outcome> run(const CodeObject &object,
                        const emulator::RunOptions &options) const override {
    WAVESMITH_ASSIGN(const auto device, emulator::Device::create({.target = facts_.target}));
    WAVESMITH_ASSIGN(const auto module, device->load(object));
    DeviceImages images(*device);
    HostTensor out = inputs_.emptyOut(), lse = inputs_.emptyLse();
    Arguments arguments{};
    WAVESMITH_ASSIGN(arguments.q, images.upload(q_));
    WAVESMITH_ASSIGN(arguments.k, images.upload(k_));
    WAVESMITH_ASSIGN(arguments.v, images.upload(v_));
    WAVESMITH_ASSIGN(arguments.out, images.upload(out));
    WAVESMITH_ASSIGN(arguments.lse, images.upload(lse));
    WAVESMITH_ASSIGN(arguments.work, images.uploadBytes(std::as_bytes(std::span(work_))));
    // NaN where the kernel writes nothing.
    const std::size_t slots = std::max<std::size_t>(1, work_.size());
    std::vector<float> partialOut(slots * kBlock * kHeadDimV, NAN), partialLse(slots * kBlock, NAN);
    WAVESMITH_ASSIGN(arguments.partialOut,
                     images.uploadBytes(std::as_bytes(std::span(partialOut))));
    WAVESMITH_ASSIGN(arguments.partialLse,
                     images.uploadBytes(std::as_bytes(std::span(partialLse))));
    fillStrides(arguments);

    emulator::LaunchConfig launch;
    launch.kernel = "fa";
    launch.grid = {static_cast<std::uint32_t>(work_.size()), 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.kernarg = std::as_bytes(std::span(&arguments, 1)).first(kArgumentBytes);
    Outcome outcome;
    WAVESMITH_ASSIGN(outcome.report, device->run(*module, launch, options));
    outcome.complaint = firstFault(outcome.report);
    if (!outcome.complaint.empty())
      return outcome;

    WAVESMITH_TRY(images.download(out, arguments.out));
    WAVESMITH_TRY(images.download(lse, arguments.lse));
    if (problem_.splits > 1) {
      WAVESMITH_TRY(
          device->read(arguments.partialOut, std::as_writable_bytes(std::span(partialOut))));
      WAVESMITH_TRY(
          device->read(arguments.partialLse, std::as_writable_bytes(std::span(partialLse))));
      merge(partialOut, partialLse, out, lse);
    }
    outcome.complaint = inputs_.compare(out, lse, outcome.relativeRms);
    for (auto [tensor, address] :
         {std::pair{&q_, arguments.q}, {&k_, arguments.k}, {&v_, arguments.v}}) {
      WAVESMITH_ASSIGN(const bool same, images.unchanged(*tensor, address));
      if (!same)
        outcome.complaint += "; an input was written";
    }
    return outcome;
  }

private:
  /// The bytes for the device; the bf16 tensor gets the values that they stand for.
  HostTensor quantise(HostTensor &tensor) const {
    TensorShape shape = tensor.shape();
    shape.elementBytes = 1;
    shape.headStride = shape.dim + problem_.padding;
    shape.rowStride = shape.headStride * shape.heads + problem_.padding;
    HostTensor bytes(shape,
                     facts_.format == Fp8Format::E4M3Fnuz ? std::byte{0x80} : std::byte{0xff});
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t head = 0; head < shape.heads; ++head)
        for (std::int64_t i = 0; i < shape.dim; ++i) {
          std::uint16_t &element = tensor.at<std::uint16_t>(row, head)[i];
          const std::uint8_t code = fp8Nearest(facts_.format, bf16ToFloat(element));
          bytes.at<std::uint8_t>(row, head)[i] = code;
          element = doubleToBf16(fp8Value(facts_.format, code));
        }
    return bytes;
  }

  void makeWork() {
    const int grains = (problem_.lenKv + kSplitGrain - 1) / kSplitGrain;
    int slot = 0;
    for (int head = 0; head < problem_.heads; ++head)
      for (int q0 = 0; q0 < problem_.lenQ; q0 += kBlock)
        for (int part = 0; part < problem_.splits; ++part) {
          const auto bound = [&](int i) {
            return std::min(problem_.lenKv, grains * i / problem_.splits * kSplitGrain);
          };
          work_.push_back({.q0 = q0,
                           .kv0 = bound(part),
                           .kv1 = bound(part + 1),
                           .head = head,
                           .slot = problem_.splits > 1 ? slot++ : -1});
        }
  }

  void fillStrides(Arguments &a) const {
    const auto row = [](const TensorShape &s) {
      return static_cast<std::int32_t>(s.rowStride * s.elementBytes);
    };
    const auto head = [](const TensorShape &s) {
      return static_cast<std::int32_t>(s.headStride * s.elementBytes);
    };
    a.qRow = row(q_.shape());
    a.kRow = row(k_.shape());
    a.vRow = row(v_.shape());
    a.outRow = row(inputs_.checked.out);
    a.qHead = head(q_.shape());
    a.kHead = head(k_.shape());
    a.vHead = head(v_.shape());
    a.outHead = head(inputs_.checked.out);
    a.lenQ = problem_.lenQ;
    a.lenKv = problem_.lenKv;
    a.scaleLog2 = scaleLog2_;
    // log2 of how far a maximum may rise before the rescale. FP8: P is biased by 2^4 and must stay
    // below 240.
    a.threshold = (facts_.format == Fp8Format::None ? 8.0f : 3.9f) / scaleLog2_;
    a.valueScale = valueScale_;
    a.units = a.grid = static_cast<std::int32_t>(work_.size());
  }

  void merge(const std::vector<float> &partialOut, const std::vector<float> &partialLse,
             HostTensor &out, HostTensor &lse) const {
    for (std::size_t first = 0; first < work_.size();
         first += static_cast<std::size_t>(problem_.splits)) {
      const WorkItem &item = work_[first];
      for (int row = 0; row < std::min(kBlock, problem_.lenQ - item.q0); ++row) {
        double top = -INFINITY, sum = 0;
        std::vector<double> merged(kHeadDimV, 0.0);
        for (int part = 0; part < problem_.splits; ++part)
          top = std::max<double>(top, partialLse[(first + part) * kBlock + row]);
        for (int part = 0; part < problem_.splits; ++part) {
          const std::size_t at = (first + part) * kBlock + row;
          if (partialLse[at] == -INFINITY) // NaN goes on and spoils the row, as it should
            continue;
          const double weight = std::exp(partialLse[at] - top);
          sum += weight;
          for (int i = 0; i < kHeadDimV; ++i)
            merged[i] += weight * partialOut[at * kHeadDimV + i];
        }
        auto *to = out.at<std::uint16_t>(item.q0 + row, item.head);
        for (int i = 0; i < kHeadDimV; ++i)
          to[i] = doubleToBf16(sum == 0 ? 0.0 : merged[i] / sum);
        *lse.at<float>(item.q0 + row, item.head) =
            static_cast<float>(sum == 0 ? -INFINITY : top + std::log(sum));
      }
    }
  }

  KernelFacts facts_;
  ReferenceProblem problem_;
  Inputs inputs_;
  HostTensor q_, k_, v_; ///< as the kernel reads them
  float scaleLog2_ = 0, valueScale_ = 1;
  std::vector<WorkItem> work_;
};

} // namespace

const std::vector<std::string> &referenceKernels() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made(kKernels.size());
    std::ranges::transform(kKernels, made.begin(), &KernelFacts::name);
    return made;
  }();
  return names;
}

Expected<Trial> referenceTrial(const std::string &kernel,
                               const std::vector<ReferenceProblem> &problems) {
  const auto *facts = std::ranges::find(kKernels, kernel, &KernelFacts::name);
  if (facts == kKernels.end())
    return error(StatusCode::NotFound, "no reference kernel {}", kernel);
  const std::string path =
      fmt::format("{}/attention_{}_d192x128_causal.ll", WAVESMITH_REFERENCE_KERNELS, kernel);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  if (text.str().empty())
    return error(StatusCode::Io, "cannot read {}", path);
  const bool fp8 = facts->format != Fp8Format::None;
  Trial trial{.name = kernel, .target = facts->target, .ir = text.str(), .problems = {}};
  for (const ReferenceProblem &problem : problems) {
    WAVESMITH_ASSIGN(const CheckedProblem checked, checkProblem(attentionOf(problem, fp8)));
    trial.problems.push_back(
        std::make_shared<ReferenceTrialProblem>(*facts, problem, checked, scaleOf(fp8)));
  }
  return trial;
}

} // namespace wavesmith::testing

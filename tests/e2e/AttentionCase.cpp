#include "tests/e2e/AttentionCase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace wavesmith::testing {
namespace {

struct Dims {
  int qk, v;
};
constexpr std::array<Dims, 4> kDims{{{192, 128}, {128, 128}, {64, 64}, {256, 256}}};
/// Around the sizes of waves, tiles and workgroups.
constexpr std::array kEdges{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
constexpr std::int64_t kLongest = 1500;
/// Arithmetic of one case, so that no single one holds up the set.
constexpr double kMostFlops = 1.5e9;

class Draw {
public:
  explicit Draw(int number) : engine_(0x57a5e + static_cast<unsigned>(number)) {}

  // Not std::uniform_int_distribution: its results differ between standard libraries.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % n); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool oneIn(int n) { return below(n) == 0; }
  std::int64_t length() { return oneIn(2) ? kEdges[below(kEdges.size())] : between(0, kLongest); }

private:
  std::mt19937_64 engine_;
};

double workOf(const AttentionProblem &problem) {
  double pairs = 0;
  // What the kernel multiplies: whole workgroups of rows and whole tiles of keys.
  for (const SequenceLength &length : problem.lengths)
    pairs += 256.0 * double((length.q + 255) / 256) * (double(length.kv) + 32);
  return 2 * pairs * double(problem.heads) * (problem.headDimQk + problem.headDimV);
}

} // namespace

const std::vector<std::string> &allOrders() {
  static const std::vector<std::string> orders = [] {
    std::vector<std::string> made;
    for (const char *memory : {"vmem-late", "vmem-early"})
      for (const char *lds : {"lds-early", "lds-late"})
        for (const char *waves : {"lockstep", "run-to-barrier", "preemptive"})
          for (const char *poison : {"", ",poison"})
            made.push_back(fmt::format("{},{},{}{}", memory, lds, waves, poison));
    return made;
  }();
  return orders;
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const Target &target : knownTargets())
    names.push_back(target.name);
  return names;
}

RunRequest drawCase(int number) {
  Draw draw(number);
  RunRequest request;
  AttentionProblem &problem = request.problem;
  // Dims, causality, target and order by counting, so that any 24 cases in a row cover each, and 48
  // all of them together, types included.
  const Dims dims = kDims[number % kDims.size()];
  problem.headDimQk = dims.qk;
  problem.headDimV = dims.v;
  problem.causal = number / 4 % 2 == 0;
  const auto &targets = knownTargets();
  const auto kind = static_cast<std::size_t>(number) / 8;
  problem.target = targets[kind % targets.size()].name;
  constexpr std::array kTypes{DType::BF16, DType::FP8, DType::F16};
  problem.dtype = kTypes[kind / targets.size() % kTypes.size()];
  const bool fp8 = problem.dtype == DType::FP8;
  if (fp8) {
    problem.sharedDescales = {draw.oneIn(4), draw.oneIn(4), draw.oneIn(4)};
  }
  // 5 and 24 have no common divisor: every order comes, and each with other dims next time.
  request.order =
      allOrders()[(5 * static_cast<std::size_t>(number) + number / 24) % allOrders().size()];
  problem.writeLse = !draw.oneIn(5);
  const std::int64_t ratio = draw.between(1, 8);
  problem.kvHeads = draw.between(1, std::max<std::int64_t>(1, 16 / ratio));
  problem.heads = problem.kvHeads * ratio;
  const std::int64_t sequences = draw.between(1, 5);
  for (std::int64_t i = 0; i < sequences; ++i) {
    SequenceLength length{draw.length(), draw.length()};
    if (draw.oneIn(3))
      length.kv = length.q;
    problem.lengths.push_back(length);
  }
  request.padding = draw.oneIn(2) ? (fp8 ? 16 : 8) * draw.between(1, 4) : 0;
  request.seed = static_cast<std::uint64_t>(number) + 1;
  // Bounds of FP8 hold for scores no more peaked than those of the default scale.
  if (draw.oneIn(4))
    problem.scale = fp8 ? 0.1 * double(draw.between(1, 10)) / std::sqrt(double(dims.qk))
                        : 0.01 * double(draw.between(1, 40));
  // Half of them as the planner likes, which on a large chip means pieces even for short keys.
  constexpr std::array kSplits{0, 0, 0, 1, 1, 2, 3, 64};
  request.splits = kSplits[static_cast<std::size_t>(draw.below(kSplits.size()))];
  // Too much work: fewer heads first (one per key head remains), then shorter sequences.
  while (workOf(problem) > kMostFlops && problem.kvHeads > 1) {
    problem.kvHeads = (problem.kvHeads + 1) / 2;
    problem.heads = problem.kvHeads * ratio;
  }
  while (workOf(problem) > kMostFlops && problem.lengths.size() > 1)
    problem.lengths.pop_back();
  while (workOf(problem) > kMostFlops)
    problem.lengths.front().kv = problem.lengths.front().kv * 2 / 3;
  return request;
}

std::string commandLine(const RunRequest &request) {
  const AttentionProblem &problem = request.problem;
  std::string lengths;
  for (const SequenceLength &length : problem.lengths)
    lengths += fmt::format("{}{}:{}", lengths.empty() ? "" : ",", length.q, length.kv);
  return fmt::format(
      "wavesmith run --target {} --dtype {} --head-dim {}x{} --heads {} "
      "--kv-heads {} --lens {}{}{}{}{} --order {} --seed {}{} --verify (padding {}, lse {}, "
      "scale {})",
      problem.target, dtypeName(problem.dtype), problem.headDimQk, problem.headDimV, problem.heads,
      problem.kvHeads, lengths, problem.causal ? " --causal" : "",
      problem.window.isOn()
          ? fmt::format(" --window {},{}", problem.window.left, problem.window.right)
          : "",
      problem.softCap ? fmt::format(" --soft-cap {}", *problem.softCap) : "",
      problem.sink ? " --sink" : "", request.order, request.seed,
      request.splits ? fmt::format(" --splits {}", request.splits) : "", request.padding,
      problem.writeLse, problem.scale ? fmt::format("{}", *problem.scale) : "default");
}

Expected<RunReport> runCase(const RunRequest &request) {
  static Expected<std::unique_ptr<Session>> session =
      Session::create({.device = DeviceChoice::Emulator, .store = KernelStoreOptions{}});
  if (!session)
    return session.status();
  return (*session)->run(request);
}

std::string complaints(const Expected<RunReport> &report) {
  if (!report)
    return report.status().message();
  std::string text;
  for (const std::string &failure : report->failures)
    text += failure + "\n";
  for (const std::string &fault : report->faults)
    text += fault + "\n";
  return text;
}

} // namespace wavesmith::testing

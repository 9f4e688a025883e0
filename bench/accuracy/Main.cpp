// What FP8 costs in accuracy, by the CPU model of our kernels. One line of JSON for each seed and
// method.
//
//   bench-accuracy [--target gfx942] [--head-dim 192x128] [--heads 4] [--rows 24]
//                  [--keys 4096[,N...]] [--distribution normal] [--depth 0.5]
//                  [--outlier 20] [--seeds 1-8]
//   bench-accuracy --attend    requests and tensors over stdin and stdout (Attend.h)

#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/accuracy/Attend.h"
#include "bench/accuracy/Cases.h"
#include "bench/accuracy/Measures.h"

namespace wavesmith::bench {
namespace {

template <typename T> Expected<T> numberOf(std::string_view text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size())
    return error(StatusCode::InvalidArgument, "\"{}\" is no number", text);
  return value;
}

/// Two numbers with something between them: "192x128", "1-8".
template <typename T> Expected<std::pair<T, T>> pairOf(std::string_view text, char between) {
  const std::size_t place = text.find(between);
  if (place == std::string_view::npos)
    return error(StatusCode::InvalidArgument, "\"{}\" is not two numbers with {} between them",
                 text, between);
  WAVESMITH_ASSIGN(const T first, numberOf<T>(text.substr(0, place)));
  WAVESMITH_ASSIGN(const T second, numberOf<T>(text.substr(place + 1)));
  return std::pair{first, second};
}

struct Options {
  bool attends = false;
  Case drawn;
  std::vector<std::int64_t> keys{4096};
  std::pair<std::uint64_t, std::uint64_t> seeds{1, 8};
};

Expected<Options> parse(int count, char **arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--attend") {
      options.attends = true;
      continue;
    }
    if (i + 1 == count)
      return error(StatusCode::InvalidArgument, "{} wants a value", name);
    const std::string_view value = arguments[++i];
    Case &drawn = options.drawn;
    if (name == "--target") {
      drawn.target = value;
    } else if (name == "--head-dim") {
      WAVESMITH_ASSIGN(const auto dims, pairOf<int>(value, 'x'));
      drawn.headDimQk = dims.first;
      drawn.headDimV = dims.second;
    } else if (name == "--heads") {
      WAVESMITH_ASSIGN(drawn.heads, numberOf<std::int64_t>(value));
    } else if (name == "--rows") {
      WAVESMITH_ASSIGN(drawn.rows, numberOf<std::int64_t>(value));
    } else if (name == "--keys") {
      options.keys.clear();
      for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
        end = value.find(',', begin);
        WAVESMITH_ASSIGN(const auto keys, numberOf<std::int64_t>(value.substr(begin, end - begin)));
        options.keys.push_back(keys);
      }
    } else if (name == "--distribution") {
      WAVESMITH_ASSIGN(drawn.distribution, parseDistribution(value));
    } else if (name == "--depth") {
      WAVESMITH_ASSIGN(drawn.options.needleDepth, numberOf<double>(value));
    } else if (name == "--outlier") {
      WAVESMITH_ASSIGN(drawn.options.outlier, numberOf<double>(value));
    } else if (name == "--seeds") {
      WAVESMITH_ASSIGN(options.seeds, pairOf<std::uint64_t>(value, '-'));
    } else {
      return error(StatusCode::InvalidArgument, "{} is no option", name);
    }
  }
  const DistributionOptions &how = options.drawn.options;
  if (!(how.needleDepth >= 0 && how.needleDepth < 1))
    return error(StatusCode::InvalidArgument, "--depth {} is not in [0, 1)", how.needleDepth);
  if (!(how.outlier > 0 && how.outlier <= 1e3))
    return error(StatusCode::InvalidArgument, "--outlier {} is not in (0, 1000]", how.outlier);
  for (const std::int64_t keys : options.keys)
    if (options.drawn.rows < 1 || options.drawn.rows > keys)
      return error(StatusCode::InvalidArgument, "--rows {} is not in 1 to {}, the keys",
                   options.drawn.rows, keys);
  return options;
}

void print(const Case &drawn, std::uint64_t seed, const Method &method, const Measures &measures,
           std::uint64_t saturated) {
  const nlohmann::json line{{"distribution", distributionName(drawn.distribution)},
                            {"target", drawn.target},
                            {"head_dim", fmt::format("{}x{}", drawn.headDimQk, drawn.headDimV)},
                            {"keys", drawn.keys},
                            {"depth", drawn.options.needleDepth},
                            {"outlier", drawn.options.outlier},
                            {"seed", seed},
                            {"scales", nameOf(method.scales)},
                            {"rotated", method.rotated},
                            {"relative", measures.relative},
                            {"lse", measures.lse},
                            {"rows", measures.rows},
                            {"flips", measures.flips},
                            {"clear", measures.clear},
                            {"clear_flips", measures.clearFlips},
                            {"saturated", saturated}};
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

Status runCase(const Case &drawn, std::uint64_t seed, const Calibration &calibration,
               const Readout &readout) {
  WAVESMITH_ASSIGN(const Inputs inputs, drawInputs(drawn, seed));
  WAVESMITH_ASSIGN(const CheckedProblem checked, checkProblem(inputs.problem));
  const AttentionReference reference = attentionReference(checked, inputs.q, inputs.k, inputs.v);
  for (const Method &method : allMethods()) {
    if (method.scales == Scales::PerTensor && drawn.heads == 1)
      continue; // there it is Dynamic
    WAVESMITH_ASSIGN(const Computed computed,
                     compute(method, inputs.problem, inputs.q, inputs.k, inputs.v,
                             method.rotated ? calibration.rotated : calibration.plain));
    print(drawn, seed, method, readout.compare(reference, computed.attention), computed.saturated);
  }
  return Status::ok();
}

Status run(const Options &options) {
  Case drawn = options.drawn;
  WAVESMITH_ASSIGN(const Calibration calibration, calibrate(drawn));
  const Readout readout(drawn.heads, drawn.headDimV);
  for (const std::int64_t keys : options.keys)
    for (std::uint64_t seed = options.seeds.first; seed <= options.seeds.second; ++seed) {
      drawn.keys = keys;
      WAVESMITH_TRY(runCase(drawn, seed, calibration, readout));
    }
  return Status::ok();
}

Status runMain(int count, char **arguments) {
  WAVESMITH_ASSIGN(const Options options, parse(count, arguments));
  return options.attends ? attend(stdin, stdout) : run(options);
}

} // namespace
} // namespace wavesmith::bench

int main(int count, char **arguments) {
  const wavesmith::Status status = wavesmith::bench::runMain(count, arguments);
  if (!status.isOk())
    fmt::print(stderr, "bench-accuracy: {}\n", status.message());
  return status.isOk() ? 0 : 1;
}

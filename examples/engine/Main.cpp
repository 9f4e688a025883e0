// Serves a queue of prompts and prints, for each step, what it holds, which path each prompt takes
// and why, and how long it takes; then each prompt's time to its first token.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "Engine.h"

namespace {

using namespace engine;

constexpr const char *kHelp =
    "Usage: engine [options]\n"
    "  --prompts N,N,...       lengths of the queue's prompts\n"
    "  --chunk N               tokens in a step at most (4096)\n"
    "  --segment N             cached tokens that are gathered at a time (4096)\n"
    "  --heads N, --layers N   (1), --kv-heads N (as heads)\n"
    "  --scales none|dynamic|unit   how FP8 may quantise (dynamic)\n"
    "  --rotate SEED           rotate queries and keys before they are quantised\n"
    "  --fp8-context           consent to FP8 over cached tokens\n"
    "  --policy NAME|FILE      which prompts take FP8 (docs/policy.md)\n"
    "  --quick                 a small queue\n"
    "  --check                 compare rows of every chunk with float64\n";

struct Options {
  std::vector<std::int32_t> prompts{600, 3496, 4096, 16384, 900, 7000};
  Limits limits;
  Model model;
  Precision precision;
  const char *policy = nullptr;
  bool check = false;
};

[[noreturn]] void usage(std::string_view problem) {
  std::fprintf(stderr, "engine: %.*s\n%s", static_cast<int>(problem.size()), problem.data(), kHelp);
  std::exit(2);
}

std::int32_t number(std::string_view text, std::int32_t most) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    usage(std::string(text) + " is no number from 1 to " + std::to_string(most));
  return value;
}

Options parse(int argc, char **argv) {
  constexpr std::int32_t kMostTokens = 1 << 20;
  Options options;
  options.model.kvHeads = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == argc)
        usage(std::string(name) + " wants a value");
      return argv[++i];
    };
    if (name == "--prompts") {
      options.prompts.clear();
      for (std::string_view rest = value(); !rest.empty();) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        options.prompts.push_back(number(rest.substr(0, comma), kMostTokens));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
    } else if (name == "--chunk") {
      options.limits.tokensInStep = number(value(), kMostTokens);
    } else if (name == "--segment") {
      options.limits.tokensInSegment = number(value(), kMostTokens);
    } else if (name == "--heads") {
      options.model.heads = number(value(), 128);
    } else if (name == "--kv-heads") {
      options.model.kvHeads = number(value(), 128);
    } else if (name == "--layers") {
      options.model.layers = number(value(), 256);
    } else if (name == "--scales") {
      const std::string_view scales = value();
      if (scales != "none" && scales != "dynamic" && scales != "unit")
        usage("--scales wants none, dynamic or unit");
      options.precision.scales = scales == "none"      ? WAVESMITH_SCALES_NONE
                                 : scales == "dynamic" ? WAVESMITH_SCALES_DYNAMIC
                                                       : WAVESMITH_SCALES_UNIT;
    } else if (name == "--rotate") {
      options.precision.rotation = static_cast<std::uint32_t>(number(value(), INT32_MAX));
    } else if (name == "--fp8-context") {
      options.precision.fp8Context = true;
    } else if (name == "--policy") {
      options.policy = value().data();
    } else if (name == "--quick") {
      options.prompts = {200, 300, 500, 1100, 70};
      options.limits.tokensInStep = 500;
      options.limits.tokensInSegment = 384;
    } else if (name == "--check") {
      options.check = true;
    } else {
      usage(std::string("there is no option ") + argv[i]);
    }
  }
  if (options.model.kvHeads == 0)
    options.model.kvHeads = options.model.heads;
  for (const std::int32_t tokens : options.prompts)
    options.limits.longestPrompt = std::max(options.limits.longestPrompt, tokens);
  return options;
}

/// The first and the last row of each chunk against float64, for the first and the last head.
class Check {
public:
  Check(const Engine &engine, const Model &model) : engine_(engine), model_(model) {}

  void step(const Step &step, const Outcome &outcome) {
    for (int layer = 0; layer < model_.layers; ++layer) {
      const std::vector<std::uint16_t> out = engine_.output(layer);
      std::int32_t row = 0;
      for (std::size_t i = 0; i < step.size(); ++i) {
        for (const std::int32_t at : {0, step[i].count - 1})
          for (const int head : {0, model_.heads - 1})
            compare(out, layer, step[i], at, row, head, limit(outcome, i));
        row += step[i].count;
      }
    }
  }
  bool passed() const { return wrong_ == 0; }
  void print() const {
    std::printf("%d rows compared with float64, %d wrong, largest error %.2f of its limit\n", rows_,
                wrong_, worst_);
  }

private:
  /// Of a row's error, by its size (Model::Row). BF16: docs/testing.md, and a rounding to BF16 for
  /// each segment. FP8 rounds q, k, v and the weights, each by 2.6% in the mean of squares, and the
  /// errors of different keys are independent: 5.2% in all; no row is off by four times as much.
  static double limit(const Outcome &outcome, std::size_t chunk) {
    if (outcome.decisions[chunk].path == WAVESMITH_PATH_FP8)
      return 4 * 0.052;
    return 8e-3 + outcome.segments * 0x1p-9;
  }
  void compare(const std::vector<std::uint16_t> &out, int layer, const Chunk &chunk,
               std::int32_t at, std::int32_t row, int head, double limit) {
    const Model::Row expected = model_.attend(chunk.request, layer, chunk.begin + at, head);
    const auto *got = out.data() + ((std::int64_t{row} + at) * model_.heads + head) * model_.dimV;
    double squares = 0;
    for (const double element : expected.out) {
      const double error = fromBf16(*got++) - element;
      squares += error * error;
    }
    const double share = std::sqrt(squares) / (limit * expected.size);
    ++rows_;
    wrong_ += !(share <= 1); // a NaN is wrong too
    worst_ = std::max(worst_, share);
  }

  const Engine &engine_;
  const Model &model_;
  int rows_ = 0, wrong_ = 0;
  double worst_ = 0;
};

int serve(const Options &options) {
  // Where there is no GPU, events count the modelled time of the chip.
  setenv("WAVESMITH_EMULATOR", "events=model", 0);
  auto contextOptions = WAVESMITH_INIT(wavesmith_context_options);
  contextOptions.ordinal = WAVESMITH_FIRST_USABLE;
  contextOptions.policy = options.policy;
  const wavesmith::Context context(contextOptions);
  const wavesmith_context_info device = context.info();
  const Hip hip(device.library);
  hip.check(hip.setDevice(device.ordinal), "hipSetDevice");

  Engine engine(context, hip, options.model, options.limits, options.precision);
  const wavesmith_statistics statistics = context.statistics();
  const bool modelled =
      device.is_emulator && std::strstr(std::getenv("WAVESMITH_EMULATOR"), "events=model");
  std::printf("device    %s%s, policy %s\n", device.name, device.is_emulator ? " (emulated)" : "",
              device.policy);
  std::printf("kernels   %llu loaded, of these %llu compiled now\n",
              static_cast<unsigned long long>(statistics.kernels_loaded),
              static_cast<unsigned long long>(statistics.compiles));
  std::printf("times     %s\n\n", !device.is_emulator ? "measured between events"
                                  : modelled          ? "modelled for the chip, not measured"
                                                      : "of the emulator on this host");

  Check check(engine, options.model);
  Scheduler scheduler(options.prompts, options.limits.tokensInStep, options.limits.slots);
  std::vector<double> firstToken(options.prompts.size());
  double now = 0;
  for (int number = 1;; ++number) {
    const Step step = scheduler.next();
    if (step.empty())
      break;
    const Outcome outcome = engine.run(step);
    now += outcome.microseconds;
    std::printf("step %d: %zu prompt%s, %u segments, %u kernels, graph %s, %.1f us\n", number,
                step.size(), step.size() == 1 ? "" : "s", outcome.segments, outcome.kernels,
                outcome.replayed ? "replayed" : "captured", outcome.microseconds);
    for (std::size_t i = 0; i < step.size(); ++i) {
      const Chunk &chunk = step[i];
      const Decision &decision = outcome.decisions[i];
      firstToken[static_cast<std::size_t>(chunk.request)] = now;
      std::printf("  #%d  %5d tokens over %5d  %s  %s: %s\n", chunk.request, chunk.count,
                  chunk.begin, decision.path == WAVESMITH_PATH_FP8 ? "fp8 " : "bf16",
                  decision.rule.c_str(), decision.reason.c_str());
    }
    if (options.check)
      check.step(step, outcome);
  }

  std::printf("\nprompt  tokens  attention done after\n");
  for (const Request &request : scheduler.requests())
    std::printf("  #%-3d  %6d  %10.1f us\n", request.id, request.tokens,
                firstToken[static_cast<std::size_t>(request.id)]);
  if (!options.check)
    return 0;
  check.print();
  return check.passed() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return serve(parse(argc, argv));
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "engine: %s\n", exception.what());
    return 1;
  }
}

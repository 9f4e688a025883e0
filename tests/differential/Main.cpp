// Differential testing: random programs compiled by clang for the device and for the host.
//
//   wavesmith_differential [--seed N] [--count N] [--batch N] [--target gfx942,gfx950]
//                          [--levels O0,O1,O2,O3] [--orders default;vmem-early;...]
//                          [--rotate] [--keep DIR] [--no-reduce] [--print] [--coverage]
//
// Program i has the seed N + i. With --rotate each batch is compiled at one of the levels only and
// runs in two of the orders, the next batch at the next. A failing one is reduced and written to
// DIR. The exit code is 1 when any failed, 77 when clang is missing.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "tests/differential/Generator.h"
#include "tests/differential/Reducer.h"
#include "tests/differential/Runner.h"

namespace wavesmith::differential {
namespace {

struct Options {
  std::uint64_t seed = 1;
  int count = 100, batch = 25;
  std::vector<std::string> targets = {"gfx942", "gfx950"}, levels = {"O0", "O1", "O2", "O3"};
  std::vector<std::string> orders = {"default", "vmem-early,lds-late,run-to-barrier,poison",
                                     "preemptive", "vmem-early,lds-early,lockstep,poison",
                                     "lds-late,preemptive,poison"};
  std::filesystem::path keep;
  bool reduce = true, print = false, coverage = false, rotate = false;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

template <class T> bool parseNumber(std::string_view text, T &value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--no-reduce" || word == "--print" || word == "--coverage" || word == "--rotate") {
      options.reduce &= word != "--no-reduce";
      options.print |= word == "--print";
      options.coverage |= word == "--coverage";
      options.rotate |= word == "--rotate";
      continue;
    }
    if (++i == argc)
      return false;
    const std::string_view value = argv[i];
    bool good = true;
    if (word == "--seed")
      good = parseNumber(value, options.seed);
    else if (word == "--count")
      good = parseNumber(value, options.count) && options.count > 0;
    else if (word == "--batch")
      good = parseNumber(value, options.batch) && options.batch > 0;
    else if (word == "--target")
      options.targets = split(value, ',');
    else if (word == "--levels")
      options.levels = split(value, ',');
    else if (word == "--orders")
      options.orders = split(value, ';');
    else if (word == "--keep")
      options.keep = value;
    else
      good = false;
    if (!good)
      return false;
  }
  return true;
}

class Campaign {
public:
  Campaign(const Options &options, Toolchain toolchain)
      : options_(options), runner_(std::move(toolchain)) {}

  int run() {
    for (int first = 0; first < options_.count; first += options_.batch)
      for (const std::string &target : options_.targets)
        runBatch(first, std::min(options_.batch, options_.count - first), target);
    std::printf("%d programs from seed %llu, %llu runs, %d failures\n", options_.count,
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(runner_.runs()), failures_);
    if (options_.coverage)
      for (const auto &[mnemonic, times] : runner_.coverage())
        std::printf("%s %llu\n", mnemonic.c_str(), static_cast<unsigned long long>(times));
    return failures_ ? 1 : 0;
  }

private:
  void runBatch(int first, int count, const std::string &target) {
    std::vector<Program> programs;
    for (int i = 0; i < count; ++i)
      programs.push_back(generate(options_.seed + static_cast<std::uint64_t>(first + i), target));
    if (options_.print)
      std::fputs(sourceOf(programs).c_str(), stdout);
    std::vector<std::string> levels = options_.levels, orders = options_.orders;
    if (options_.rotate) {
      const auto turn = static_cast<std::size_t>(first / options_.batch);
      levels = {levels[turn % levels.size()]};
      orders = {orders[turn % orders.size()], orders[(turn + 1) % orders.size()]};
    }
    for (const std::string &level : levels) {
      const Configuration configuration{target, level, orders};
      std::vector<Verdict> verdicts = runner_.run(programs, configuration);
      // One program that clang refuses takes all with it.
      const bool refused = std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict &v) {
        return v.kind == Verdict::Kind::NotCompiled;
      });
      for (std::size_t i = 0; i < programs.size(); ++i) {
        if (refused && count > 1)
          verdicts[i] = runner_.run(std::span(&programs[i], 1), configuration)[0];
        if (verdicts[i].kind != Verdict::Kind::Same)
          report(programs[i], configuration, verdicts[i]);
      }
    }
  }

  void report(const Program &program, const Configuration &configuration, const Verdict &verdict) {
    ++failures_;
    std::printf("FAILED: seed %llu %s %s: %s: %s\n", static_cast<unsigned long long>(program.seed),
                configuration.target.c_str(), configuration.level.c_str(),
                std::string(name(verdict.kind)).c_str(), verdict.text.c_str());
    Program small = program;
    Verdict last = verdict;
    if (options_.reduce)
      small = reduce(program, [&](const Program &candidate) {
        const Verdict again = runner_.run(std::span(&candidate, 1), configuration)[0];
        if (again.kind == verdict.kind)
          last = again;
        return again.kind == verdict.kind;
      });
    const std::string text =
        fmt::format("// seed {}, {}, {}\n// {}: {}\n{}", program.seed, configuration.target,
                    configuration.level, name(last.kind), last.text, sourceOf({&small, 1}));
    if (options_.keep.empty()) {
      std::fputs(text.c_str(), stdout);
    } else {
      std::filesystem::create_directories(options_.keep);
      const auto file = options_.keep / fmt::format("{}_{}_{}.cpp", program.seed,
                                                    configuration.target, configuration.level);
      std::ofstream(file) << text;
      std::printf("  kept as %s\n", file.c_str());
    }
    std::fflush(stdout);
  }

  const Options &options_;
  Runner runner_;
  int failures_ = 0;
};

int run(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "error: unknown option or bad value; the head of Main.cpp has them all\n");
    return 2;
  }
  auto toolchain = Toolchain::create();
  if (!toolchain) {
    std::fprintf(stderr, "skipped: %s\n", toolchain.status().message().c_str());
    return 77;
  }
  return Campaign(options, *std::move(toolchain)).run();
}

} // namespace
} // namespace wavesmith::differential

int main(int argc, char **argv) { return wavesmith::differential::run(argc, argv); }

#include "tests/differential/Campaign.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "tests/differential/Generator.h"
#include "tests/differential/Reducer.h"

namespace wavesmith::differential {
namespace {

class Campaign {
public:
  explicit Campaign(const CampaignOptions &options) : options_(options) {}

  Expected<CampaignResult> run() {
    const int batches = (options_.count + options_.batch - 1) / options_.batch;
    int jobs =
        options_.jobs ? options_.jobs : static_cast<int>(std::thread::hardware_concurrency());
    jobs = std::clamp(jobs, 1, batches);
    std::vector<Runner> runners;
    for (int i = 0; i < jobs; ++i) {
      auto toolchain = Toolchain::create();
      if (!toolchain)
        return toolchain.status();
      runners.emplace_back(*std::move(toolchain));
    }
    std::atomic<int> next = 0;
    std::vector<std::jthread> workers;
    for (Runner &runner : runners)
      workers.emplace_back([&] {
        for (int batch = next++; batch < batches; batch = next++) {
          runBatch(runner, batch);
          const std::scoped_lock lock(output_);
          ++done_;
          if (done_ * 10 / batches != (done_ - 1) * 10 / batches)
            std::fprintf(stderr, "%d of %d programs, %d failures\n",
                         std::min(done_ * options_.batch, options_.count), options_.count,
                         result_.failures);
        }
      });
    workers.clear();
    for (const Runner &runner : runners) {
      result_.runs += runner.runs();
      for (const auto &[mnemonic, times] : runner.coverage())
        result_.coverage[mnemonic] += times;
    }
    return std::move(result_);
  }

private:
  void runBatch(Runner &runner, int batch) {
    const int first = batch * options_.batch;
    std::vector<Program> programs;
    for (int i = first; i < std::min(first + options_.batch, options_.count); ++i)
      programs.push_back(generate(options_.seed + static_cast<std::uint64_t>(i)));
    if (options_.print) {
      const std::scoped_lock lock(output_);
      std::fputs(sourceOf(programs).c_str(), stdout);
    }
    std::vector<std::string> levels = options_.levels, orders = options_.orders;
    if (options_.rotate) {
      const auto turn = static_cast<std::size_t>(batch);
      levels = {levels[turn % levels.size()]};
      orders = {orders[turn % orders.size()], orders[(turn + 1) % orders.size()]};
    }
    for (const std::string &target : options_.targets)
      for (const std::string &level : levels)
        runConfiguration(runner, programs, {target, level, orders});
  }

  void runConfiguration(Runner &runner, std::span<const Program> programs,
                        const Configuration &configuration) {
    std::vector<Verdict> verdicts = runner.run(programs, configuration);
    // One program that clang refuses takes all with it.
    const bool refused = std::ranges::all_of(
        verdicts, [](const Verdict &v) { return v.kind == Verdict::Kind::NotCompiled; });
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (refused && programs.size() > 1)
        verdicts[i] = runner.run(programs.subspan(i, 1), configuration)[0];
      if (verdicts[i].kind != Verdict::Kind::Same)
        report(runner, programs[i], configuration, verdicts[i]);
    }
  }

  void report(Runner &runner, const Program &program, const Configuration &configuration,
              const Verdict &verdict) {
    Program small = program;
    Verdict last = verdict;
    if (options_.reduce)
      small = reduce(program, [&](const Program &candidate) {
        const Verdict again = runner.run(std::span(&candidate, 1), configuration)[0];
        if (again.kind == verdict.kind)
          last = again;
        return again.kind == verdict.kind;
      });
    const std::string text =
        fmt::format("// seed {}, {}, {}\n// {}: {}\n{}", program.seed, configuration.target,
                    configuration.level, name(last.kind), last.text, sourceOf({&small, 1}));
    const std::scoped_lock lock(output_);
    ++result_.failures;
    std::printf("FAILED: seed %llu %s %s: %s: %s\n", static_cast<unsigned long long>(program.seed),
                configuration.target.c_str(), configuration.level.c_str(),
                std::string(name(verdict.kind)).c_str(), verdict.text.c_str());
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

  const CampaignOptions &options_;
  std::mutex output_; ///< of stdout, the failures and what is done
  int done_ = 0;      ///< batches
  CampaignResult result_;
};

} // namespace

Expected<CampaignResult> runCampaign(const CampaignOptions &options) {
  return Campaign(options).run();
}

} // namespace wavesmith::differential

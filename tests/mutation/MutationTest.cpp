// Kernels with one wait, barrier or mask taken out: each must be caught, by a check of the emulator
// or by the float64 reference. Those that cannot be are in survivors.txt with the reason.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "runtime/verify/Parallel.h"
#include "tests/mutation/Mutants.h"
#include "tests/mutation/Survivors.h"
#include "tests/mutation/Trial.h"

namespace wavesmith::testing {
namespace {

/// A loop that never ends is a fault soon; the longest right wave executes under 2^15.
constexpr std::uint64_t kMostInstructions = 1 << 18;

/// The likeliest to catch something first. Each of the landings and wave orders is in some of them.
const std::vector<emulator::ExecutionOrder> &ordersToTry() {
  static const std::vector<emulator::ExecutionOrder> orders = [] {
    std::vector<emulator::ExecutionOrder> made;
    for (const char *text : {
             "vmem-late,lds-late,preemptive,poison",
             "vmem-late,lds-early,run-to-barrier,poison",
             "vmem-early,lds-late,run-to-barrier",
             "vmem-early,lds-early,preemptive,poison",
             "vmem-late,lds-early,lockstep",
         })
      made.push_back(*emulator::ExecutionOrder::parse(text));
    return made;
  }();
  return orders;
}

std::vector<std::string> kernelNames() {
  std::vector<std::string> names = referenceKernels();
  names.insert(names.end(), {"ours_192x128_causal", "ours_64x64", "ours_256x256_causal",
                             "ours_gfx950_128x128_causal"});
  return names;
}

/// Problems for a kernel: few keys a row, so that one key too many shows, in both wave groups; then
/// at least three full tiles, three masked ones (of up to 128 keys) and maxima that move; for ours
/// also a second wave group without rows.
Expected<Trial> makeTrial(const std::string &name) {
  if (name == "ours_192x128_causal")
    return ourTrial(name, {.headDimQk = 192,
                           .headDimV = 128,
                           .causal = true,
                           .batches = {{{250, 100}}, {{150, 331}}, {{100, 230}}},
                           .growth = 3});
  if (name == "ours_256x256_causal")
    return ourTrial(name, {.headDimQk = 256,
                           .headDimV = 256,
                           .causal = true,
                           .batches = {{{250, 100}}, {{150, 331}}, {{100, 230}}},
                           .growth = 3});
  if (name == "ours_gfx950_128x128_causal")
    return ourTrial(name, {.target = "gfx950",
                           .headDimQk = 128,
                           .headDimV = 128,
                           .causal = true,
                           .batches = {{{250, 100}}, {{150, 459}}, {{100, 330}}},
                           .growth = 3});
  if (name == "ours_64x64")
    return ourTrial(name, {.headDimQk = 64,
                           .headDimV = 64,
                           .batches = {{{200, 3}}, {{150, 139}}, {{100, 139}}},
                           .growth = 3});
  return referenceTrial(
      name, {{.lenQ = 250, .lenKv = 100, .growth = 2}, {.lenQ = 250, .lenKv = 655, .growth = 3}});
}

const Expected<Trial> &trialOf(const std::string &name) {
  static std::map<std::string, Expected<Trial>> trials;
  const auto found = trials.find(name);
  return found != trials.end() ? found->second
                               : trials.emplace(name, makeTrial(name)).first->second;
}

struct Verdict {
  std::string by;     ///< name of the check or "result"; empty = survived
  std::string detail; ///< what it said
};

Expected<Verdict> judge(const Trial &trial, const std::string &ir, const std::string &name) {
  WAVESMITH_ASSIGN(const CodeObject object, compileIr(ir, name, trial.target));
  for (const emulator::ExecutionOrder &order : ordersToTry())
    for (const auto &problem : trial.problems) {
      WAVESMITH_ASSIGN(const Outcome outcome,
                       problem->run(object, {.order = order,
                                             .threads = 1,
                                             .maxFaults = 1,
                                             .maxInstructionsPerWave = kMostInstructions}));
      if (outcome.complaint.empty())
        continue;
      const auto &faults = outcome.report.faults;
      return Verdict{faults.empty() ? "result"
                                    : std::string(emulator::checkName(faults.front().kind)),
                     fmt::format("{}, {}: {}", order.text(), problem->text(), outcome.complaint)};
    }
  return Verdict{};
}

/// For whoever examines a survivor: with WAVESMITH_MUTANTS_DIR set, what every mutant came to is
/// printed, and the survivors' IR is written there.
void keep(const std::string &name, const Verdict &verdict, const std::string &ir) {
  const char *directory = std::getenv("WAVESMITH_MUTANTS_DIR");
  if (!directory)
    return;
  std::printf("%s: %s: %s\n", name.c_str(), verdict.by.c_str(), verdict.detail.c_str());
  if (verdict.by.empty())
    std::ofstream(fmt::format("{}/{}.ll", directory, name)) << ir;
}

/// Judges every site of `sites` and compares with the list.
void expectCaught(const Trial &trial, const std::vector<MutationSite> &sites) {
  const auto survivors = readSurvivors(WAVESMITH_SURVIVORS);
  ASSERT_TRUE(survivors) << survivors.status().message();
  const auto original = judge(trial, trial.ir, trial.name);
  ASSERT_TRUE(original) << original.status().message();
  ASSERT_EQ(original->detail, "") << trial.name << " is not right as it is";
  keep(trial.name, *original, trial.ir);

  std::mutex mutex;
  std::map<std::string, int> caughtBy;
  std::string wrong;
  parallelFor(static_cast<std::int64_t>(sites.size()), [&](std::int64_t i) {
    const MutationSite &site = sites[static_cast<std::size_t>(i)];
    const std::string name = trial.name + " " + site.name;
    const auto verdict = judge(trial, mutate(trial.ir, site), name);
    const bool listed = survivors->contains(name);
    const std::lock_guard lock(mutex);
    if (!verdict)
      wrong += fmt::format("{}: {}\n", name, verdict.status().message());
    else if (verdict->by.empty() && !listed)
      wrong += fmt::format("{}: survived, and survivors.txt has no reason for it\n", name);
    else if (!verdict->by.empty() && listed)
      wrong += fmt::format("{}: is in survivors.txt, but {} catches it: {}\n", name, verdict->by,
                           verdict->detail);
    if (verdict) {
      ++caughtBy[verdict->by.empty() ? "survived" : verdict->by];
      keep(name, *verdict, mutate(trial.ir, site));
    }
  });
  std::string summary;
  for (const auto &[by, count] : caughtBy)
    summary += fmt::format(" {} {}", by, count);
  std::printf("%s, %zu mutants:%s\n", trial.name.c_str(), sites.size(), summary.c_str());
  EXPECT_EQ(wrong, "");
}

/// Some of each kind, the same ones every time.
std::vector<MutationSite> sampleOf(const std::vector<MutationSite> &sites, unsigned seed) {
  constexpr std::array<std::pair<MutationKind, std::size_t>, 3> shares{
      {{MutationKind::Wait, 2}, {MutationKind::Barrier, 2}, {MutationKind::Mask, 3}}};
  std::mt19937_64 engine(seed);
  std::vector<MutationSite> sample;
  for (const auto &[kind, share] : shares) {
    std::vector<MutationSite> pool;
    std::ranges::copy_if(sites, std::back_inserter(pool),
                         [&](const MutationSite &site) { return site.kind == kind; });
    for (std::size_t i = 0; i < share && !pool.empty(); ++i) {
      const auto at = pool.begin() + static_cast<std::ptrdiff_t>(engine() % pool.size());
      sample.push_back(*at);
      pool.erase(at);
    }
  }
  return sample;
}

class Mutants : public ::testing::TestWithParam<std::string> {};

TEST_P(Mutants, OfASampleAreCaught) {
  const auto &trial = trialOf(GetParam());
  ASSERT_TRUE(trial) << trial.status().message();
  const std::vector<MutationSite> sample = sampleOf(findMutations(trial->ir), 7);
  std::set<MutationKind> kinds;
  for (const MutationSite &site : sample)
    kinds.insert(site.kind);
  EXPECT_EQ(kinds.size(), 3u) << "a kernel without waits, barriers or masks";
  expectCaught(*trial, sample);
}

class MutantsLong : public Mutants {};

TEST_P(MutantsLong, AreAllCaught) {
  const auto &trial = trialOf(GetParam());
  ASSERT_TRUE(trial) << trial.status().message();
  expectCaught(*trial, findMutations(trial->ir));
}

std::string nameOf(const ::testing::TestParamInfo<std::string> &info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Default, Mutants, ::testing::ValuesIn(kernelNames()), nameOf);
INSTANTIATE_TEST_SUITE_P(Long, MutantsLong, ::testing::ValuesIn(kernelNames()), nameOf);

/// An entry whose mutant is gone would hide the next one of that name.
TEST(Survivors, AreMutantsOfTheseKernels) {
  const auto survivors = readSurvivors(WAVESMITH_SURVIVORS);
  ASSERT_TRUE(survivors) << survivors.status().message();
  std::set<std::string> names;
  for (const std::string &kernel : kernelNames()) {
    const auto &trial = trialOf(kernel);
    ASSERT_TRUE(trial) << trial.status().message();
    for (const MutationSite &site : findMutations(trial->ir))
      names.insert(trial->name + " " + site.name);
  }
  for (const auto &[name, reason] : *survivors)
    EXPECT_TRUE(names.contains(name)) << name;
}

} // namespace
} // namespace wavesmith::testing

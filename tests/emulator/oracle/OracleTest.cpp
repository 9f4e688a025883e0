// Our disassembly against LLVM's, for words of every format. What LLVM decodes and we do not stands
// in not_implemented.txt with a reason, what crashes LLVM in crashes.txt, known differences in
// differences.txt; an entry that is not needed any more fails as well.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "emulator/Emulator.h"
#include "tests/emulator/oracle/Words.h"

namespace wavesmith::emulator::oracle {
namespace {

/// "key  reason" per line.
std::map<std::string, std::string> readReasons(const char *name) {
  std::map<std::string, std::string> reasons;
  std::ifstream stream(std::string(WAVESMITH_ORACLE_DIR) + "/" + name);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    std::string key, reason;
    words >> key >> std::ws;
    std::getline(words, reason);
    EXPECT_FALSE(reason.empty()) << name << ": " << key << " has no reason";
    EXPECT_TRUE(reasons.emplace(key, reason).second) << name << ": " << key << " stands twice";
  }
  return reasons;
}

/// Words that crash llvm-mc: mask and value of the first and the second word.
struct Crash {
  std::uint32_t mask[2], value[2];
};
std::vector<Crash> readCrashes() {
  std::vector<Crash> crashes;
  std::ifstream stream(std::string(WAVESMITH_ORACLE_DIR) + "/crashes.txt");
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    Crash crash;
    words >> std::hex >> crash.mask[0] >> crash.value[0] >> crash.mask[1] >> crash.value[1];
    EXPECT_FALSE(words.fail()) << "crashes.txt: " << line;
    crashes.push_back(crash);
  }
  return crashes;
}

/// The mnemonic without its encoding's suffix.
std::string mnemonicOf(const std::string &text) {
  std::string name = text.substr(0, text.find(' '));
  for (const char *suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (name.ends_with(suffix))
      return name.substr(0, name.size() - std::string_view(suffix).size());
  return name;
}

std::string hexOf(const Words &words) {
  std::string text;
  for (int i = 0; i < words.count; ++i) {
    char part[16];
    std::snprintf(part, sizeof(part), "%s0x%08x", i ? " " : "", words.word[i]);
    text += part;
  }
  return text;
}

struct Tally {
  std::size_t asked = 0, both = 0, neither = 0, missing = 0, crashed = 0, extra = 0;
  std::set<std::string> decoded, missingNames, matched;
};

class Oracle {
public:
  explicit Oracle(std::string target)
      : target_(std::move(target)), missing_(readReasons("not_implemented.txt")),
        crashes_(readCrashes()) {}

  void compare(std::vector<Words> inputs) {
    std::erase_if(inputs, [&](const Words &words) { return crashes(words); });
    std::vector<Answer> answers = askLlvm(inputs, target_);
    tally_.asked += inputs.size();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      judge(inputs[i], answers[i]);
  }

  /// `complete`: every opcode was tried, so that what never differed is on no list.
  void finish(bool complete) {
    std::printf("%s: %zu inputs; both decode %zu, neither %zu, only LLVM %zu, only we %zu, crashed "
                "%zu; %zu mnemonics seen, %zu of them not implemented\n",
                target_.c_str(), tally_.asked, tally_.both, tally_.neither, tally_.missing,
                tally_.extra, tally_.crashed, tally_.decoded.size(), tally_.missingNames.size());
    for (const auto &[name, count] : problems_)
      ADD_FAILURE() << target_ << ": " << count.first << "x " << name << "\n" << count.second;
    if (!complete)
      return;
    for (const auto &[name, reason] : missing_)
      EXPECT_FALSE(tally_.matched.contains(name) && !tally_.missingNames.contains(name))
          << "not_implemented.txt: " << name << " works: remove it";
  }

private:
  bool crashes(const Words &words) const {
    return std::any_of(crashes_.begin(), crashes_.end(), [&](const Crash &crash) {
      return (words.word[0] & crash.mask[0]) == crash.value[0] &&
             (words.word[1] & crash.mask[1]) == crash.value[1];
    });
  }

  void problem(const std::string &what, const std::string &detail) {
    auto &entry = problems_[what];
    if (++entry.first <= 3)
      entry.second += "  " + detail + "\n";
  }

  void judge(const Words &words, const Answer &answer) {
    std::span<const std::uint32_t> span(words.word, words.count);
    auto ours = disassemble(span, 0, target_, nullptr);
    if (answer.crashed) {
      ++tally_.crashed;
      problem("crashes llvm-mc and is not in crashes.txt", hexOf(words));
      return;
    }
    if (!answer.text) {
      if (ours) {
        ++tally_.extra;
        problem(mnemonicOf(*ours) + ": LLVM refuses it", hexOf(words) + "  ours: " + *ours);
      } else {
        ++tally_.neither;
      }
      return;
    }
    std::string name = mnemonicOf(*answer.text);
    tally_.decoded.insert(name);
    if (!ours && answer.marked) {
      ++tally_.neither; // an operand that no real instruction has
      return;
    }
    for (const auto &[operand, reason] : missing_)
      if (!ours && operand.starts_with("src_") && answer.text->find(operand) != std::string::npos)
        return;
    if (!ours) {
      ++tally_.missing;
      tally_.missingNames.insert(name);
      if (!missing_.contains(name))
        problem(name + ": not decoded", hexOf(words) + "  LLVM: " + *answer.text);
      return;
    }
    ++tally_.both;
    // Beside the remark, an operand may be missing.
    if (*ours == *answer.text || (answer.marked && mnemonicOf(*ours) == name))
      tally_.matched.insert(name);
    else
      problem(name + ": other text",
              hexOf(words) + "\n    LLVM: " + *answer.text + "\n    ours: " + *ours);
  }

  std::string target_;
  std::map<std::string, std::string> missing_;
  std::vector<Crash> crashes_;
  std::map<std::string, std::pair<std::size_t, std::string>> problems_;
  Tally tally_;
};

class Disassembly : public testing::TestWithParam<const char *> {};

TEST_P(Disassembly, EqualsLlvm) {
  if (!std::filesystem::exists(WAVESMITH_LLVM_MC))
    GTEST_SKIP() << "llvm-mc not found at " << WAVESMITH_LLVM_MC;
  bool isLong =
      std::string(testing::UnitTest::GetInstance()->current_test_info()->test_suite_name())
          .starts_with("Long");
  Oracle oracle(GetParam());
  oracle.compare(systematicWords(1, isLong ? 100 : 5));
  oracle.compare(randomWords(2, isLong ? 700000 : 3000));
  oracle.finish(true);
}

INSTANTIATE_TEST_SUITE_P(Targets, Disassembly, testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Long, Disassembly, testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace wavesmith::emulator::oracle

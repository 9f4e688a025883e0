#include "tests/unit/lowering/LoopText.h"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

namespace wavesmith::compiler::testing {

namespace {

std::string withoutEncoding(const std::string &mnemonic) {
  if (mnemonic.ends_with("_e32") || mnemonic.ends_with("_e64"))
    return mnemonic.substr(0, mnemonic.size() - 4);
  return mnemonic;
}

} // namespace

int MainLoop::count(const std::string &prefix) const {
  return static_cast<int>(std::count_if(body.begin(), body.end(), [&](const Instruction &i) {
    return i.mnemonic.starts_with(prefix);
  }));
}

int MainLoop::vectorAlu() const { return count("v_") - count("v_mfma"); }

int MainLoop::find(const std::string &prefix, int n) const {
  for (std::size_t i = 0; i < body.size(); ++i)
    if (body[i].mnemonic.starts_with(prefix) && n-- == 0)
      return static_cast<int>(i);
  return -1;
}

int MainLoop::findLast(const std::string &prefix) const { return find(prefix, count(prefix) - 1); }

std::vector<int> MainLoop::waits(const std::string &counter) const {
  std::vector<int> found;
  const std::regex pattern(counter + R"(\((\d+)\))");
  for (const Instruction &i : body)
    if (std::smatch match;
        i.mnemonic == "s_waitcnt" && std::regex_search(i.operands, match, pattern))
      found.push_back(std::stoi(match[1]));
  return found;
}

std::vector<MainLoop> mainLoops(const std::string &assembly) {
  std::vector<Instruction> instructions;
  std::map<std::string, std::size_t> labels;
  std::istringstream lines(assembly);
  const std::regex label(R"(^(\.LBB\w+):)"), code(R"(^\t([a-z]\w*)\s*([^;]*))");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, label))
      labels[match[1]] = instructions.size();
    else if (std::regex_search(line, match, code))
      instructions.push_back({withoutEncoding(match[1]), match[2]});
  }
  std::vector<MainLoop> loops;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (!instructions[i].mnemonic.starts_with("s_cbranch_scc"))
      continue;
    std::string target = instructions[i].operands;
    target.erase(target.find_last_not_of(" \t") + 1);
    auto found = labels.find(target);
    if (found == labels.end() || found->second > i)
      continue;
    MainLoop loop{{instructions.begin() + static_cast<std::ptrdiff_t>(found->second),
                   instructions.begin() + static_cast<std::ptrdiff_t>(i + 1)}};
    if (loop.count("s_barrier") == 2)
      loops.push_back(std::move(loop));
  }
  return loops;
}

} // namespace wavesmith::compiler::testing

// What the random programs avoid because LLVM gets it wrong (llvm_bugs/): each is still wrong. One
// that is right again can be taken out, and with it what keeps it out of the programs.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace wavesmith::differential {
namespace {

namespace fs = std::filesystem;

/// And what the compiler says.
std::string assembly(const fs::path &source, const std::string &target, const std::string &flags) {
  const std::string command = std::string(WAVESMITH_CLANG) +
                              " -x ir --target=amdgcn-amd-amdhsa -nogpulib -O1 -S -mcpu=" + target +
                              " " + flags + " '" + source.string() + "' -o - 2>&1";
  std::string text;
  if (FILE *pipe = ::popen(command.c_str(), "r")) {
    char part[4096];
    while (const std::size_t size = std::fread(part, 1, sizeof(part), pipe))
      text.append(part, size);
    ::pclose(pipe);
  }
  return text;
}

/// What stands behind `key` in a comment of the file, or nothing.
std::string field(const std::string &text, const std::string &key) {
  const std::size_t at = text.find("; " + key + ": ");
  if (at == std::string::npos)
    return {};
  const std::size_t from = at + key.size() + 4;
  return text.substr(from, text.find('\n', from) - from);
}

TEST(LlvmBugs, AreStillThere) {
  if (!fs::exists(WAVESMITH_CLANG))
    GTEST_SKIP() << "no clang 22";
  int bugs = 0;
  for (const auto &entry : fs::directory_iterator(WAVESMITH_LLVM_BUGS)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream stream(entry.path());
    const std::string source((std::istreambuf_iterator<char>(stream)), {});
    const std::string wrong = field(source, "WRONG"), missing = field(source, "MISSING");
    ASSERT_NE(wrong.empty(), missing.empty()) << "needs WRONG: or MISSING:";
    const std::string target = field(source, "TARGET");
    const std::string text =
        assembly(entry.path(), target.empty() ? "gfx942" : target, field(source, "FLAGS"));
    ASSERT_NE(text.find("s_endpgm") == std::string::npos,
              text.find("s_setpc_b64") == std::string::npos)
        << text;
    if (missing.empty())
      EXPECT_NE(text.find(wrong), std::string::npos) << text;
    else
      EXPECT_EQ(text.find("\t" + missing), std::string::npos) << text;
    ++bugs;
  }
  EXPECT_EQ(bugs, 7);
}

} // namespace
} // namespace wavesmith::differential

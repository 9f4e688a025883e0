// The binary interface as numbers: abi.txt holds sizes, offsets, codes and exported symbols. A line
// that is missing or different breaks programs that were built before; new lines at a struct's end
// are an extension and belong into the file with the change.

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "include/wavesmith/wavesmith.h"

namespace wavesmith::test {
namespace {

class Snapshot {
public:
  template <typename T> void structure(const char *name) {
    text_ << "struct " << name << " " << sizeof(T) << "\n";
  }
  void field(const char *name, std::size_t offset, std::size_t size) {
    text_ << "  " << offset << " " << size << " " << name << "\n";
    if (offset != end_ && offset != 0)
      ADD_FAILURE() << name << " follows a gap: a plan's value would hold undefined bytes";
    end_ = offset + size;
  }
  void value(const char *name, int number) { text_ << name << " = " << number << "\n"; }
  std::string text() const { return text_.str(); }

private:
  std::ostringstream text_;
  std::size_t end_ = 0;
};

#define STRUCT(type) snapshot.structure<type>(#type)
#define FIELD(type, name) snapshot.field(#name, offsetof(type, name), sizeof(type::name))
#define VALUE(name) snapshot.value(#name, name)

std::string headerSnapshot() {
  Snapshot snapshot;
#include "tests/capi/AbiList.inc"
  return snapshot.text();
}

std::string fileText() {
  std::ifstream file(WAVESMITH_ABI_FILE);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Lines of a command's output.
std::vector<std::string> run(const std::string &command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> line;
  while (pipe && std::fgets(line.data(), line.size(), pipe.get())) {
    lines.emplace_back(line.data());
    lines.back().pop_back();
  }
  return lines;
}

/// Sorted.
std::set<std::string> exportedSymbols() {
  std::set<std::string> names;
  for (const std::string &line : run("nm -D --defined-only " WAVESMITH_LIBRARY " 2>&1"))
    names.insert(line.substr(line.rfind(' ') + 1));
  return names;
}

TEST(CapiAbi, NumbersAndSymbolsAreThoseOfTheSnapshot) {
  std::string now = headerSnapshot() + "symbols\n";
  for (const std::string &name : exportedSymbols())
    now += "  " + name + "\n";
  if (now == fileText())
    return;
  const std::string path = testing::TempDir() + "abi.txt";
  std::ofstream(path) << now;
  ADD_FAILURE() << "the interface is now " << path << ", which differs from " << WAVESMITH_ABI_FILE;
}

TEST(CapiAbi, EveryCodeOfTheHeaderIsInTheSnapshot) {
  std::ifstream header(WAVESMITH_HEADER);
  const std::string text = fileText();
  int codes = 0;
  for (std::string line; std::getline(header, line);) {
    const std::size_t name = line.find("WAVESMITH_"), equals = line.find(" = ");
    if (equals == std::string::npos || name > equals || line[0] == '#' ||
        line.find_first_not_of(" enum{", 0) != name)
      continue;
    ++codes;
    EXPECT_NE(text.find(line.substr(name, equals - name + 3)), std::string::npos) << line;
  }
  EXPECT_GT(codes, 40) << WAVESMITH_HEADER;
}

TEST(CapiAbi, NeedsNeitherHipNorLlvm) {
  const std::vector<std::string> lines =
      run("readelf -d " WAVESMITH_LIBRARY " 2>&1 | grep -E 'NEEDED|SONAME'");
  if (lines.empty())
    GTEST_SKIP() << "no readelf here";
  std::string all;
  for (const std::string &line : lines)
    all += line + "\n";
  EXPECT_NE(all.find("soname: [libwavesmith.so.0]"), std::string::npos) << all;
  for (const char *other : {"LLVM", "MLIR", "amdhip", "wavesmith-", "comgr"})
    EXPECT_EQ(all.find(other), std::string::npos) << all;
}

} // namespace
} // namespace wavesmith::test

// Which rows of the instruction table the lists of Cases.h execute, by target. The others are in
// elsewhere.txt with the file that tests them; nothing is in both.

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "emulator/isa/Table.h"
#include "tests/emulator/rows/Cases.h"

namespace wavesmith::emulator::rows {
namespace {

struct Elsewhere {
  std::string file;
  bool used = false;
};

std::map<std::string, Elsewhere> elsewhere() {
  std::map<std::string, Elsewhere> all;
  std::ifstream stream(WAVESMITH_ROWS_DIR "/elsewhere.txt");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string row, file;
    if (words >> row >> file && row[0] != '#')
      all[row] = {file};
  }
  return all;
}

/// Does the file name the row, apart from the suffix of an encoding?
bool names(const std::string &text, const std::string &row) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(row); at != std::string::npos; at = text.find(row, at + 1)) {
    std::string rest = text.substr(at + row.size(), 5);
    for (const char *suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
      if (rest.starts_with(suffix))
        return true;
    if ((at == 0 || !isWord(text[at - 1])) && (rest.empty() || !isWord(rest[0])))
      return true;
  }
  return false;
}

TEST(RowsCoverage, EveryRowIsExecutedOnEachTarget) {
  std::set<std::string> executed[2];
  for (const Case &test : allCases())
    for (int gfx950 = test.only950; !test.row.empty() && gfx950 < (test.only942 ? 1 : 2); ++gfx950)
      executed[gfx950].insert(test.row);
  std::map<std::string, Elsewhere> others = elsewhere();
  std::set<std::string> known;
  for (const Row &row : allRows()) {
    known.insert(row.name);
    for (int gfx950 = 0; gfx950 < 2; ++gfx950) {
      if (!(row.targets & (gfx950 ? kGfx950 : kGfx942)))
        continue;
      auto other = others.find(row.name);
      if (other == others.end()) {
        EXPECT_TRUE(executed[gfx950].count(row.name))
            << row.name << " of " << (gfx950 ? "gfx950" : "gfx942")
            << " is executed by no case and not in elsewhere.txt";
        continue;
      }
      other->second.used = true;
      EXPECT_FALSE(executed[gfx950].count(row.name))
          << row.name << " has a case: remove it from elsewhere.txt";
    }
  }
  for (const auto &[row, other] : others) {
    EXPECT_TRUE(other.used) << row << " of elsewhere.txt is no row";
    std::ifstream stream(WAVESMITH_ROWS_DIR "/../" + other.file);
    std::string text((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_TRUE(names(text, row)) << other.file << " does not name " << row;
  }
  for (const auto &rows : executed)
    for (const std::string &row : rows)
      EXPECT_TRUE(known.count(row)) << "a case names " << row << ", which is no row";
}

} // namespace
} // namespace wavesmith::emulator::rows

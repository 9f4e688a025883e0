#include "tests/mutation/Survivors.h"

#include <fstream>

namespace wavesmith::testing {

Expected<std::map<std::string, std::string>> readSurvivors(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return error(StatusCode::Io, "cannot read {}", path);
  std::map<std::string, std::string> survivors;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#')
      continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || colon + 2 == line.size())
      return error(StatusCode::Corrupt, "{}:{}: \"<kernel> <mutation>: <reason>\" is right", path,
                   number);
    survivors[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return survivors;
}

} // namespace wavesmith::testing

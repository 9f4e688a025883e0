#pragma once
// The register maps of tests/emulator/data/matrix_maps.tsv as expressions over m, n, k, blk, s and
// what earlier assignments named. Plain values.

#include <map>
#include <string>

namespace wavesmith::emulator {

using MapValues = std::map<std::string, int>;

/// Runs "lane=m+32*(k/4); item=k%4; bit=16*item" and returns all values.
MapValues evaluateMap(const std::string &map, MapValues values);

} // namespace wavesmith::emulator

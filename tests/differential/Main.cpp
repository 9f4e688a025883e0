// Differential testing: random programs compiled by clang for the device and for the host.
//
//   wavesmith_differential [--seed N] [--count N] [--batch N] [--jobs N] [--target gfx942,gfx950]
//                          [--levels O0,O1,O2,O3] [--orders default;vmem-early;...]
//                          [--rotate] [--keep DIR] [--no-reduce] [--print] [--coverage]
//
// What they mean: Campaign.h. The exit code is 1 when any program failed, 77 when clang is missing.

#include <charconv>
#include <cstdio>
#include <string_view>

#include "tests/differential/Campaign.h"

namespace wavesmith::differential {
namespace {

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

bool parse(int argc, char **argv, CampaignOptions &options, bool &coverage) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--no-reduce" || word == "--print" || word == "--coverage" || word == "--rotate") {
      options.reduce &= word != "--no-reduce";
      options.print |= word == "--print";
      options.rotate |= word == "--rotate";
      coverage |= word == "--coverage";
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
    else if (word == "--jobs")
      good = parseNumber(value, options.jobs) && options.jobs > 0;
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

int run(int argc, char **argv) {
  CampaignOptions options;
  bool coverage = false;
  if (!parse(argc, argv, options, coverage)) {
    std::fprintf(stderr, "error: unknown option or bad value; the head of Main.cpp has them all\n");
    return 2;
  }
  const auto result = runCampaign(options);
  if (!result) {
    std::fprintf(stderr, "skipped: %s\n", result.status().message().c_str());
    return 77;
  }
  std::printf("%d programs from seed %llu, %llu runs, %d failures\n", options.count,
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(result->runs), result->failures);
  if (coverage)
    for (const auto &[mnemonic, times] : result->coverage)
      std::printf("%s %llu\n", mnemonic.c_str(), static_cast<unsigned long long>(times));
  return result->failures ? 1 : 0;
}

} // namespace
} // namespace wavesmith::differential

int main(int argc, char **argv) { return wavesmith::differential::run(argc, argv); }

#pragma once
// Runs conversion instructions over lists of inputs, one kernel each, and lets a predicate judge
// every output. Needs llvm-mc and ld.lld; tests derived from Conversions skip without them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/emulator/conversion/ScalarModel.h"

namespace wavesmith::emulator::conversion {

using Word = std::uint32_t;
using Words = std::vector<Word>;

/// v1 is the input, v2 and what follows the output. The body may use v3 to v119.
struct Conversion {
  std::string body;
  int outputs;
  Words inputs;
  /// Does that output fit this input?
  std::function<bool(Word in, const Word *out)> accepts;
};

void check(const std::string &arch, const std::vector<Conversion> &all);

bool sameFloat(Word bits, double value);
bool sameCode(model::Format format, Word code, Word expected);

/// 0, 1, 2, ...
Words codes(Word count);
/// All bfloat16 patterns as float32, and the boundaries of a format.
Words floats(model::Format format);

class Conversions : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
};

} // namespace wavesmith::emulator::conversion

#include "runtime/support/Hash.h"

#include <array>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

// FIPS 180-2, appendix B.
TEST(Hash, KnownAnswers) {
  EXPECT_EQ(sha256Hex(std::string_view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, PartsEqualTheirConcatenation) {
  const std::array parts = {asBytes("ab"), asBytes(""), asBytes("c")};
  EXPECT_EQ(sha256Hex(parts), sha256Hex(std::string_view("abc")));
}

} // namespace
} // namespace wavesmith

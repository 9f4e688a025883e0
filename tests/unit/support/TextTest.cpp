#include "runtime/support/Text.h"

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

TEST(Text, WhatATerminalMayShowStays) {
  for (const char *text : {"", "plain\tand\n", "gr\u00fcn \u2264 \U0001f600", "\u00a0"})
    EXPECT_EQ(printable(text), text);
}

TEST(Text, ControlCharactersAndBrokenUtf8AreEscaped) {
  EXPECT_EQ(printable("a\x1b[1m\x7f\r"), R"(a\x1b[1m\x7f\x0d)");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), R"(\x00x)");
  EXPECT_EQ(printable("\xff\xc3("), R"(\xff\xc3()");
  EXPECT_EQ(printable("\xe2\x89"), R"(\xe2\x89)") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)") << "beyond Unicode";
  EXPECT_EQ(printable("\xc2\x9b"), R"(\xc2\x9b)") << "a control character of two bytes";
}

} // namespace
} // namespace wavesmith

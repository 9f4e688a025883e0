#include "runtime/support/Log.h"

#include <vector>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

class LogTest : public ::testing::Test {
protected:
  void SetUp() override {
    log::setSink(
        [](void *context, log::Level, std::string_view line) {
          static_cast<std::vector<std::string> *>(context)->emplace_back(line);
        },
        &lines_);
  }
  void TearDown() override {
    log::setSink(nullptr, nullptr);
    ASSERT_TRUE(log::configure("warn").isOk());
  }
  std::vector<std::string> lines_;
};

TEST_F(LogTest, LevelsByArea) {
  ASSERT_TRUE(log::configure("error,cache=info").isOk());
  log::warn("jit", "hidden");
  log::info("cache", "hit key={}", "1f3a");
  log::trace("cache", "hidden");
  log::error("jit", "shown");
  EXPECT_EQ(lines_, (std::vector<std::string>{"wavesmith info cache: hit key=1f3a",
                                              "wavesmith error jit: shown"}));
}

TEST_F(LogTest, OffShowsNothing) {
  ASSERT_TRUE(log::configure("off").isOk());
  log::error("cache", "hidden");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(LogTest, BadSettingsNameTheWord) {
  for (const char *bad : {"loud", "warn,cache=", "=info", "cache=loud,warn"})
    EXPECT_EQ(log::configure(bad).code(), StatusCode::InvalidArgument) << bad;
  EXPECT_NE(log::configure("warn,cache=loud").message().find("cache=loud"), std::string::npos);
}

TEST_F(LogTest, AnUnknownAreaIsNamedWithTheKnownOnes) {
  const Status status = log::configure("info,cash=trace");
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  for (const char *word :
       {"cash=trace", "bundle", "cache", "hip", "jit", "lock", "remote", "tuning", "verify"})
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

TEST_F(LogTest, SettingsReadBack) {
  for (const char *text : {"off", "warn", "error,cache=info,hip=trace"}) {
    ASSERT_TRUE(log::configure(text).isOk());
    EXPECT_EQ(log::settings(), text);
  }
}

TEST_F(LogTest, ForeignBytesAreEscaped) {
  log::error("cache", "path={}", "a\x1b[31m\xff");
  EXPECT_EQ(lines_, (std::vector<std::string>{R"(wavesmith error cache: path=a\x1b[31m\xff)"}));
}

} // namespace
} // namespace wavesmith

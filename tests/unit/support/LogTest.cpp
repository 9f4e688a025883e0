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
  log::warn("plan", "hidden");
  log::info("cache", "hit key={}", "1f3a");
  log::trace("cache", "hidden");
  log::error("plan", "shown");
  EXPECT_EQ(lines_, (std::vector<std::string>{"wavesmith info cache: hit key=1f3a",
                                              "wavesmith error plan: shown"}));
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

} // namespace
} // namespace wavesmith

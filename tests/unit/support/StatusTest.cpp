#include "runtime/support/Status.h"

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

Expected<int> half(int value) {
  if (value % 2)
    return error(StatusCode::InvalidArgument, "{} is odd", value);
  return value / 2;
}

Expected<int> quarter(int value) {
  WAVESMITH_ASSIGN(const int once, half(value));
  WAVESMITH_ASSIGN(const int twice, half(once));
  return twice;
}

TEST(Status, CarriesCodeAndMessageThroughTheMacros) {
  EXPECT_EQ(*quarter(12), 3);
  const Status status = quarter(6).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "3 is odd");
  EXPECT_EQ(status.withContext("quarter").message(), "quarter: 3 is odd");
}

TEST(Status, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(StatusCode::JitForbidden); ++code)
    EXPECT_NE(statusCodeName(static_cast<StatusCode>(code)), "unknown") << code;
}

#ifndef NDEBUG
TEST(StatusDeathTest, DroppingAnErrorUnreadAborts) {
  EXPECT_DEATH({ const Status dropped(StatusCode::Io, "lost"); }, "dropped unread");
}
#endif

TEST(Status, IgnoringIsSpelled) {
  const Status status(StatusCode::Io, "expected");
  status.ignoreError("the test's point");
}

} // namespace
} // namespace wavesmith

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/Emulator.h"

namespace wavesmith::emulator {
namespace {

TEST(Options, OrdersRoundTrip) {
  for (const char *text : {"vmem-late,lds-early,lockstep", "vmem-early,lds-late,preemptive,poison",
                           "vmem-late,lds-late,run-to-barrier"}) {
    auto order = ExecutionOrder::parse(text);
    ASSERT_TRUE(order);
    EXPECT_EQ(order->text(), text);
  }
  EXPECT_EQ(ExecutionOrder::parse("default")->text(), "vmem-late,lds-early,lockstep");
  EXPECT_THAT(ExecutionOrder::parse("fast").status().message(), testing::HasSubstr("'fast'"));
}

TEST(Options, ChecksParse) {
  EXPECT_EQ(Checks::parse("all")->mask, 0xffu);
  EXPECT_EQ(Checks::parse("none")->mask, 0u);
  auto two = Checks::parse("memory,races");
  ASSERT_TRUE(two);
  EXPECT_TRUE(two->has(CheckKind::Memory));
  EXPECT_TRUE(two->has(CheckKind::Races));
  EXPECT_FALSE(two->has(CheckKind::Waits));
  EXPECT_THAT(Checks::parse("race").status().message(), testing::HasSubstr("unknown check 'race'"));
}

} // namespace
} // namespace wavesmith::emulator

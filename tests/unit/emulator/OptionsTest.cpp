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

TEST(Options, AListThatContradictsItselfIsRefused) {
  const std::pair<const char *, const char *> kContradictions[] = {
      {"vmem-early,vmem-late", "'vmem-early' and 'vmem-late'"},
      {"lds-late,poison,lds-early", "'lds-late' and 'lds-early'"},
      {"lockstep,run-to-barrier", "'lockstep' and 'run-to-barrier'"},
      {"preemptive,lockstep", "'preemptive' and 'lockstep'"}};
  for (const auto &[text, words] : kContradictions)
    EXPECT_THAT(ExecutionOrder::parse(text).status().message(), testing::HasSubstr(words));
  EXPECT_EQ(ExecutionOrder::parse("vmem-early,vmem-early")->text(), "vmem-early,lds-early,lockstep")
      << "saying it twice is no contradiction";
}

TEST(Options, EmptyItemsAreRefused) {
  for (const char *text : {"memory,", ",memory", "memory,,races", ","}) {
    EXPECT_THAT(Checks::parse(text).status().message(),
                testing::AllOf(testing::HasSubstr(text), testing::HasSubstr("is empty")));
  }
  EXPECT_THAT(Checks::parse("memory,").status().message(), testing::HasSubstr("item 2"));
  EXPECT_THAT(ExecutionOrder::parse("poison,").status().message(), testing::HasSubstr("item 2"));
}

TEST(Options, AFaultBeforeTheKernelHasANegativeOffset) {
  Fault fault;
  fault.kernel = "k";
  fault.pc = -0x404;
  EXPECT_THAT(fault.text(), testing::HasSubstr(" k-0x404: "));
  fault.pc = 0x10;
  EXPECT_THAT(fault.text(), testing::HasSubstr(" k+0x10: "));
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

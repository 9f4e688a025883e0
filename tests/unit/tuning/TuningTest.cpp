// Crossovers out of records.

#include "runtime/dispatch/tuning/Tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tuning/Records.h"

namespace wavesmith::tuning {
namespace {

using policy::Crossover;
using policy::Path;
using ::testing::HasSubstr;

/// The crossover's value; -1 where there is none.
std::int64_t valueOf(const Tuning &tuning, std::string_view name, const policy::Values &values) {
  const auto found = tuning.crossover(name, values);
  return found ? found->value : -1;
}
std::int64_t qLenOf(const std::vector<Record> &records) {
  return valueOf(Tuning(records, "MI325X", "t"), "fp8_q_len", values());
}

TEST(Tuning, TheCrossoverIsTheLengthFromWhichFp8StaysFaster) {
  EXPECT_EQ(qLenOf({}), -1);
  EXPECT_EQ(qLenOf(pair(512, 512, 5, 6)), Crossover::kNever);
  EXPECT_EQ(qLenOf(pair(512, 512, 6, 5)), 512);
  EXPECT_EQ(qLenOf(pair(512, 512, 5, 5)), Crossover::kNever) << "as fast is not faster";
  EXPECT_EQ(qLenOf(pair(512, 512, 5, 6) + pair(2048, 2048, 20, 15)), 2048);
  // Faster once, slower again: only what lasts counts.
  EXPECT_EQ(qLenOf(pair(256, 256, 3, 2) + pair(512, 512, 5, 6) + pair(1024, 1024, 9, 8) +
                   pair(4096, 4096, 40, 20)),
            1024);
  EXPECT_EQ(qLenOf(pair(512, 512, 6, 5) + pair(4096, 4096, 20, 40)), Crossover::kNever);
  // One path alone says nothing.
  EXPECT_EQ(qLenOf({pair(512, 512, 6, 5).front()}), -1);
  EXPECT_EQ(qLenOf({pair(512, 512, 6, 5).back()}), -1);
}

TEST(Tuning, OnlyRecordsOfSuchCallsCount) {
  const std::vector<Record> records = pair(512, 512, 6, 5);
  const Tuning tuning(records, "MI325X", "t");
  const auto with = [&](auto change) {
    policy::Values changed = values();
    change(changed);
    return valueOf(tuning, "fp8_q_len", changed);
  };
  EXPECT_EQ(with([](policy::Values &) {}), 512);
  EXPECT_EQ(with([](policy::Values &v) { v.target = "gfx950"; }), -1);
  EXPECT_EQ(with([](policy::Values &v) { v.headDim = "128x128"; }), -1);
  EXPECT_EQ(with([](policy::Values &v) { v.heads = 6; }), -1);
  EXPECT_EQ(with([](policy::Values &v) { v.kvHeads = 6; }), -1);
  EXPECT_EQ(with([](policy::Values &v) { v.causal = false; }), -1);
  EXPECT_EQ(with([](policy::Values &v) { v.scales = "static"; }), -1);
  EXPECT_EQ(with([](policy::Values &v) { v.qLen = 7, v.contextLen = 9; }), 512);
  EXPECT_EQ(valueOf(tuning, "fp8_context_len", values()), -1);
  EXPECT_EQ(valueOf(tuning, "other", values()), -1);
  EXPECT_EQ(valueOf(Tuning(records, "MI300X", "t"), "fp8_q_len", values()), -1);
  const Tuning newer(records, "MI325X", "u");
  EXPECT_EQ(valueOf(newer, "fp8_q_len", values()), -1);
  EXPECT_EQ(newer.otherToolchains(), 2u);
  EXPECT_EQ(newer.size(), 0u);
}

TEST(Tuning, MeasuredTimesComeBeforeModelledOnes) {
  std::vector<Record> measured = pair(1024, 1024, 6, 5);
  for (Record &record : measured)
    record.source = Record::Source::Measured;
  const Tuning tuning(measured + pair(512, 512, 6, 5), "MI325X", "t");
  const auto found = tuning.crossover("fp8_q_len", values());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 1024);
  EXPECT_EQ(found->source,
            "FP8 is faster from 1024: measured on MI325X, 12 heads, 1 lengths from 1024 to 1024");
  // Half a pair is none.
  measured.pop_back();
  EXPECT_EQ(qLenOf(measured + pair(512, 512, 6, 5)), 512);
}

TEST(Tuning, ContextIsOfTheNearestNumberOfQueriesBelow) {
  const std::vector<Record> records = pair(1024, 1024 + 8192, 9, 8) +
                                      pair(4096, 4096 + 8192, 30, 31) +
                                      pair(4096, 4096 + 65536, 200, 150);
  const Tuning tuning(records, "MI325X", "t");
  policy::Values call = values();
  const auto at = [&](std::int64_t queries) {
    call.qLen = queries;
    return valueOf(tuning, "fp8_context_len", call);
  };
  EXPECT_EQ(at(4096), 65536);
  EXPECT_EQ(at(100000), 65536);
  EXPECT_EQ(at(4095), 8192);
  EXPECT_EQ(at(1023), -1);
  EXPECT_THAT(tuning.crossover("fp8_context_len", call = values())->source,
              HasSubstr("65536 before 4096 queries"));
}

TEST(Tuning, ThePolicyAsksIt) {
  const auto policy = policy::Policy::preset("default");
  ASSERT_TRUE(policy);
  policy::Values call = values();
  call.qLen = 1500;
  EXPECT_EQ(policy->decide(call).path, Path::Fp8);
  const policy::Crossovers later =
      Tuning(pair(1024, 1024, 5, 6) + pair(2048, 2048, 10, 9), "MI325X", "t").crossovers();
  const policy::Decision decision = policy->decide(call, later);
  EXPECT_EQ(decision.path, Path::Bf16);
  EXPECT_THAT(decision.reason, HasSubstr("(threshold FP8 is faster from 2048: modelled on MI325X"));
  call.qLen = 2048;
  EXPECT_EQ(policy->decide(call, later).path, Path::Fp8);
  EXPECT_FALSE(Tuning().crossovers()) << "nothing to ask";
}

TEST(Tuning, ChipsByTheNamesOfDrivers) {
  EXPECT_EQ(chipOf("AMD Instinct MI325X"), "MI325X");
  EXPECT_EQ(chipOf("AMD Instinct MI300X OAM"), "MI300X");
  EXPECT_EQ(chipOf("MI355X"), "MI355X");
  EXPECT_EQ(chipOf("Some MINI device"), "Some MINI device");
  EXPECT_EQ(chipOf(""), "");
}

TEST(Tuning, WrongRecordsAreNamed) {
  const auto message = [](auto change) {
    Record record = pair(512, 512, 6, 5).front();
    change(record);
    return record.validate().message();
  };
  EXPECT_EQ(message([](Record &) {}), "");
  EXPECT_THAT(message([](Record &r) { r.device = ""; }), HasSubstr("device has 0 bytes"));
  EXPECT_THAT(message([](Record &r) { r.toolchain = std::string(65, 'x'); }),
              HasSubstr("65 bytes"));
  EXPECT_THAT(message([](Record &r) { r.heads = 129; }), HasSubstr("heads is 129"));
  EXPECT_THAT(message([](Record &r) { r.kvHeads = 5; }), HasSubstr("kv_heads 5"));
  EXPECT_THAT(message([](Record &r) { r.kvLen = 511; }), HasSubstr("kv_len 511"));
  EXPECT_THAT(message([](Record &r) { r.scales = "dynamic"; }), HasSubstr("path is bf16"));
  EXPECT_THAT(message([](Record &r) { r.path = Path::Fp8; }), HasSubstr("scales \"none\""));
  EXPECT_THAT(message([](Record &r) { r.path = Path::Refuse; }), HasSubstr("path is refuse"));
  for (const double wrong : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THAT(message([&](Record &r) { r.microseconds = wrong; }), HasSubstr("positive number"));
}

} // namespace
} // namespace wavesmith::tuning

// The session against a device made of host memory: everything but the machine code.

#include "runtime/session/Session.h"

#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/spec/RowKernelAbi.h"
#include "tests/unit/dispatch/FakeDevice.h"
#include "tests/unit/dispatch/FakeObject.h"

namespace wavesmith {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ObjectProvider : public Provider {
public:
  std::string_view name() const override { return "jit"; }
  Expected<SharedCodeObject> get(const KernelSpec &spec) override {
    if (spec.isRowKernel())
      return test::fakeObject(spec, {.abi = kCombineLayout,
                                     .arguments = sizeof(CombineArguments) / 8,
                                     .maxThreads = kRowThreads});
    return test::fakeObject(spec);
  }
};

struct SessionTest : ::testing::Test {
  void SetUp() override {
    if (const auto missing = test::assemblerMissing())
      GTEST_SKIP() << *missing;
  }
  Session session() {
    return {device.table(),
            std::make_shared<KernelStore>(
                std::vector<std::shared_ptr<Provider>>{std::make_shared<ObjectProvider>()},
                Toolchain::builtin())};
  }
  RunRequest request(std::vector<SequenceLength> lengths, bool causal = true) {
    RunRequest request;
    request.problem.heads = 4;
    request.problem.kvHeads = 2;
    request.problem.causal = device.causal = causal;
    request.problem.lengths = std::move(lengths);
    return request;
  }
  test::FakeDevice device;
};

TEST_F(SessionTest, ARightKernelPasses) {
  Session s = session();
  for (std::int64_t padding : {0, 24})
    for (bool causal : {false, true}) {
      RunRequest r = request({{33, 65}, {0, 7}, {300, 280}, {5, 0}, {1, 1}}, causal);
      r.padding = padding;
      const auto report = s.run(r);
      ASSERT_TRUE(report) << report.status().message();
      EXPECT_TRUE(report->ok()) << report->failures.front();
      EXPECT_LT(report->errors->outRelRms, 3e-3);
      EXPECT_EQ(report->errors->rowsWithoutKeys, (causal ? 25 : 5) * 4);
      EXPECT_EQ(report->device, "Fake MI325X");
      EXPECT_FALSE(report->emulated);
    }
  EXPECT_EQ(device.allocations, device.frees);
}

TEST_F(SessionTest, SamplesAreTheEmulatorsAndNotVerified) {
  Session s = session();
  RunRequest r = request({{33, 65}});
  r.sample = true;
  EXPECT_EQ(s.run(r).status().code(), StatusCode::Unsupported);
}

TEST_F(SessionTest, RandomBatchesOfEveryDim) {
  std::mt19937 random(11);
  const auto upTo = [&](unsigned n) { return static_cast<std::int64_t>(random() % (n + 1)); };
  for (int round = 0; round < 12; ++round) {
    const std::pair<int, int> dims[] = {{192, 128}, {128, 128}, {64, 64}, {256, 256}};
    RunRequest r = request({}, random() % 2);
    std::tie(r.problem.headDimQk, r.problem.headDimV) = dims[round % 4];
    device.headDimQk = r.problem.headDimQk;
    device.headDimV = r.problem.headDimV;
    r.problem.kvHeads = 1 + upTo(2);
    r.problem.heads = r.problem.kvHeads * (1 + upTo(2));
    for (std::int64_t i = upTo(3); i >= 0; --i)
      r.problem.lengths.push_back({upTo(280), upTo(280)});
    r.problem.writeLse = random() % 4 != 0;
    r.padding = 8 * upTo(3);
    r.seed = random();
    Session s = session();
    const auto report = s.run(r);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->ok()) << report->failures.front();
  }
}

TEST_F(SessionTest, TheSecondCallComesFromMemory) {
  Session s = session();
  EXPECT_EQ(s.run(request({{3, 3}}))->provider, "jit");
  EXPECT_EQ(s.run(request({{7, 9}}))->provider, "memory");
}

TEST_F(SessionTest, AnEmptyBatchIsFine) {
  Session s = session();
  for (std::vector<SequenceLength> lengths :
       {std::vector<SequenceLength>{}, {{0, 0}}, {{0, 17}, {0, 3}}}) {
    const auto report = s.run(request(lengths));
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->workUnits, 0u);
  }
  EXPECT_TRUE(device.launches.empty());
}

TEST_F(SessionTest, SplitsAreMerged) {
  Session s = session();
  for (const bool causal : {false, true}) {
    RunRequest r = request({{33, 1065}, {0, 7}, {300, 700}, {5, 0}, {280, 130}}, causal);
    r.splits = 3;
    r.padding = 8;
    device.combines = 0;
    const auto report = s.run(r);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->ok()) << report->failures.front();
    EXPECT_GT(report->partials, 0u);
    EXPECT_EQ(report->kernels.size(), 2u);
    EXPECT_EQ(device.combines, 1);
  }
}

TEST_F(SessionTest, WrongResultsAreFailures) {
  Session s = session();
  device.after = [](const AttentionArguments &a) {
    reinterpret_cast<std::uint16_t *>(a.out + 2 * static_cast<std::uint64_t>(a.outRowStride) +
                                      static_cast<std::uint64_t>(a.outHeadStride))[3] ^= 0x4000;
  };
  const auto report = s.run(request({{5, 5}}));
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_FALSE(report->ok());
  EXPECT_THAT(report->failures, Contains(HasSubstr("sequence 0 row 2 head 1")));
}

TEST_F(SessionTest, WritesOutsideAreFailures) {
  Session s = session();
  RunRequest r = request({{5, 5}});
  r.padding = 8;
  device.after = [](const AttentionArguments &a) {
    *reinterpret_cast<std::uint16_t *>(a.out + 2 * 128) = 0;
    *reinterpret_cast<std::uint16_t *>(a.q - 2) = 0;
  };
  const auto report = s.run(r);
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_THAT(report->failures, ElementsAre(HasSubstr("out: canary"), HasSubstr("q: canary")));
}

TEST_F(SessionTest, AFaultIsAResultWithItsText) {
  device.emulator = true;
  device.synchronizeResult = hipErrorLaunchFailure;
  device.report = R"({"instructions": 12, "seconds": 0.5, "checks": {"memory": 0, "races": 2},
                      "faults": [{"text": "races: two waves met"}]})";
  Session s = session();
  RunRequest r = request({{5, 5}});
  r.order = "vmem-early,lockstep";
  r.checks = "memory,races";
  r.seed = 9;
  const auto report = s.run(r);
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_EQ(
      device.configured,
      "target=gfx942,order=vmem-early,lockstep,checks=memory,races,seed=9,model=off,coverage=0");
  EXPECT_FALSE(report->ok());
  EXPECT_FALSE(report->errors);
  EXPECT_THAT(report->failures, ElementsAre(HasSubstr("two waves met")));
  EXPECT_THAT(report->faults, ElementsAre("races: two waves met"));
  EXPECT_EQ(report->emulated->instructions, 12u);
  EXPECT_EQ(report->checks[3].name, "races");
  EXPECT_EQ(report->checks[3].faults, 2u);
  EXPECT_EQ(report->checks[1].faults, std::nullopt);
}

TEST_F(SessionTest, OtherErrorsAreErrors) {
  Session s = session();
  device.launchResult = hipErrorOutOfMemory;
  EXPECT_EQ(s.run(request({{5, 5}})).status().code(), StatusCode::ResourceExhausted);
  device.launchResult = hipSuccess;
  RunRequest bad = request({{5, 5}});
  bad.problem.heads = 3;
  EXPECT_EQ(s.run(bad).status().code(), StatusCode::InvalidArgument);
  device.emulator = true;
  Session emulated = session();
  bad = request({{5, 5}});
  bad.order = "bad";
  const Status status = emulated.run(bad).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("order=bad: is unknown"));
}

} // namespace
} // namespace wavesmith

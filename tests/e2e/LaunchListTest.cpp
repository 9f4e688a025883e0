// Launch lists on the emulator: what a plan enqueues can be captured before anything else has run,
// replays on whatever the buffers hold then, and gives the same bits by every way to it.

#include <array>

#include <gtest/gtest.h>

#include "runtime/dispatch/Dispatch.h"
#include "tests/e2e/AttentionCase.h"
#include "tests/e2e/CallBuffers.h"

namespace wavesmith::testing {
namespace {

AttentionProblem smallFp8(const std::string &target) {
  AttentionProblem problem;
  problem.target = target;
  problem.dtype = DType::FP8;
  problem.heads = 2;
  problem.causal = true;
  problem.lengths = {{70, 300}, {0, 9}, {33, 33}};
  return problem;
}

class LaunchLists : public ::testing::TestWithParam<std::string> {};

TEST_P(LaunchLists, CanBeCapturedBeforeTheyEverRan) {
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  const auto plan =
      planQuantized(smallFp8(GetParam()), {.rotationQ = 5, .rotationK = 5}, {.splits = 2});
  ASSERT_TRUE(plan) << plan.status().message();
  const auto list = (*device)->load(launchList(*plan));
  ASSERT_TRUE(list) << list.status().message();
  const CheckedProblem inputs = bf16Of(smallFp8(GetParam()));
  const HipTable &hip = (*device)->table();
  auto first = buffersOf(**device, inputs, list->list().workspaceBytes, 1);
  auto captured = buffersOf(**device, inputs, list->list().workspaceBytes, 1);
  ASSERT_TRUE(first && captured);
  const hipStream_t stream = (*device)->stream();
  ASSERT_TRUE(list->uploadWork(captured->workspace.address(), stream).isOk());
  ASSERT_EQ(hip.hipStreamSynchronize(stream), hipSuccess);

  ASSERT_EQ(hip.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
  const Status enqueued = list->launch(captured->addresses(), stream);
  ASSERT_TRUE(enqueued.isOk()) << enqueued.message();
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hip.hipStreamEndCapture(stream, &graph), hipSuccess);
  ASSERT_EQ(hip.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hip.hipGraphDestroy(graph), hipSuccess);

  for (const std::uint64_t seed : {1u, 2u}) {
    // Other inputs in the same place: maxima, descales and counts are made anew.
    HostTensor k = normal(inputs.k, seed, 1);
    for (const CallBuffers *buffers : {&*first, &*captured})
      ASSERT_EQ(hip.hipMemcpy(buffers->k.data(), k.bytes().data(), k.bytes().size(),
                              hipMemcpyHostToDevice),
                hipSuccess);
    const auto expected = runOnce(**device, *list, *first);
    ASSERT_TRUE(expected) << expected.status().message();
    ASSERT_EQ(hip.hipGraphLaunch(exec, stream), hipSuccess);
    const Status finished = (*device)->finish();
    ASSERT_TRUE(finished.isOk()) << finished.message();
    EXPECT_TRUE(*captured->results() == *expected) << "seed " << seed;
  }
  EXPECT_EQ(hip.hipGraphExecDestroy(exec), hipSuccess);
}

TEST_P(LaunchLists, KeysInTwoPartsGiveTheBitsOfWholeOnes) {
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  const AttentionProblem problem = smallFp8(GetParam());
  const CheckedProblem inputs = bf16Of(problem);
  // Whole keys whose last 64 elements are the same in every head.
  HostTensor k = normal(inputs.k, 1, 1);
  const TensorShape nopeShape{inputs.k.rows, 2, 128, 256, 128, 2};
  const TensorShape ropeShape{inputs.k.rows, 1, 64, 64, 64, 2};
  HostTensor nope(nopeShape, std::byte{0xff}), rope(ropeShape, std::byte{0xff});
  for (std::int64_t row = 0; row < inputs.k.rows; ++row)
    for (std::int64_t head = 0; head < 2; ++head) {
      auto *whole = k.at<std::uint16_t>(row, head);
      const auto *shared = k.at<std::uint16_t>(row, 0) + 128;
      std::copy_n(shared, 64, whole + 128);
      std::copy_n(whole, 128, nope.at<std::uint16_t>(row, head));
      std::copy_n(shared, 64, rope.at<std::uint16_t>(row, 0));
    }
  std::vector<std::vector<std::byte>> results;
  for (const bool parts : {false, true}) {
    const auto plan = planQuantized(problem, {.rotationQ = 7, .rotationK = 7, .keysInParts = parts},
                                    {.splits = 1});
    ASSERT_TRUE(plan) << plan.status().message();
    const auto list = (*device)->load(launchList(*plan));
    ASSERT_TRUE(list) << list.status().message();
    auto buffers = buffersOf(**device, inputs, list->list().workspaceBytes, 1);
    ASSERT_TRUE(buffers) << buffers.status().message();
    buffers->k = *(*device)->upload(parts ? nope : k);
    if (parts)
      buffers->kRope = *(*device)->upload(rope);
    const auto result = runOnce(**device, *list, *buffers);
    ASSERT_TRUE(result) << result.status().message();
    results.push_back(*result);
  }
  EXPECT_TRUE(results[0] == results[1]);
}

TEST_P(LaunchLists, PartsOfABatchLeaveTheOthersAlone) {
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  AttentionProblem problem = smallFp8(GetParam());
  problem.lengths = {{70, 300}, {40, 90}, {0, 9}, {33, 33}, {300, 20}};
  const CheckedProblem inputs = bf16Of(problem);
  // Scale 1.0: a sequence's codes do not depend on which others are planned.
  const Quantization how{.scales = Quantization::Scales::Unit};
  const auto whole = planQuantized(problem, how, {.splits = 2});
  ASSERT_TRUE(whole) << whole.status().message();
  const auto wholeList = (*device)->load(launchList(*whole));
  ASSERT_TRUE(wholeList) << wholeList.status().message();
  auto buffers = buffersOf(**device, inputs, wholeList->list().workspaceBytes, 3);
  ASSERT_TRUE(buffers) << buffers.status().message();
  const auto expected = runOnce(**device, *wholeList, *buffers);
  ASSERT_TRUE(expected) << expected.status().message();

  // Two launches of complementary parts make the same; one alone leaves canaries.
  LaunchList both;
  const std::array<std::vector<std::size_t>, 2> parts = {{{0, 3}, {1, 2, 4}}};
  for (const std::vector<std::size_t> &some : parts)
    both.append(launchList(*planQuantized(problem, how, {.splits = 2, .sequences = some})));
  const auto list = (*device)->load(both);
  ASSERT_TRUE(list) << list.status().message();
  auto again = buffersOf(**device, inputs, list->list().workspaceBytes, 3);
  ASSERT_TRUE(again) << again.status().message();
  const auto result = runOnce(**device, *list, *again);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_TRUE(*result == *expected);

  const auto half = (*device)->load(
      launchList(*planQuantized(problem, how, {.splits = 2, .sequences = parts[0]})));
  ASSERT_TRUE(half) << half.status().message();
  auto left = buffersOf(**device, inputs, half->list().workspaceBytes, 3);
  ASSERT_TRUE(left) << left.status().message();
  ASSERT_TRUE(runOnce(**device, *half, *left));
  HostTensor out(inputs.out, std::byte{0xa5});
  ASSERT_TRUE(left->out.download(out.bytes()).isOk());
  for (std::int64_t row = 0; row < inputs.totalQ; ++row) {
    const bool planned = row < 70 || (row >= 110 && row < 143);
    EXPECT_EQ(out.at<std::uint16_t>(row, 1)[0] == 0xa5a5, !planned) << row;
  }
}

TEST_P(LaunchLists, MixedBatchesHaveTheBitsOfEachPath) {
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  DispatchRequest request;
  request.problem = smallFp8(GetParam());
  request.problem.dtype = DType::BF16;
  request.problem.lengths = {{20, 300}, {90, 200}, {0, 9}, {1, 77}, {300, 300}, {16, 16}};
  // Scale 1.0: codes do not depend on which sequences are quantised.
  request.quantization = Quantization{.scales = Quantization::Scales::Unit};
  const auto policy = policy::Policy::parse(
      R"({"schema": "wavesmith-policy-1", "name": "t", "rules": [
          {"name": "short", "when": {"q_len": {"below": 64}}, "path": "bf16", "reason": "short"},
          {"name": "else", "path": "fp8", "reason": "long"}]})",
      "t");
  ASSERT_TRUE(policy) << policy.status().message();
  const CheckedProblem inputs = bf16Of(request.problem);
  const PlanOptions options{.splits = 2, .device = std::nullopt, .sequences = std::nullopt};
  std::vector<HostTensor> outs;
  const std::optional<policy::Path> paths[] = {std::nullopt, policy::Path::Bf16, policy::Path::Fp8};
  for (const std::optional<policy::Path> &path : paths) {
    request.path = path;
    const auto decisions = decideSequences(request, *policy);
    ASSERT_TRUE(decisions) << decisions.status().message();
    const auto plan = planDispatch(request, *decisions, options);
    ASSERT_TRUE(plan) << plan.status().message();
    const auto list = (*device)->load(plan->list());
    ASSERT_TRUE(list) << list.status().message();
    auto buffers = buffersOf(**device, inputs, list->list().workspaceBytes, 4);
    ASSERT_TRUE(buffers) << buffers.status().message();
    const auto ran = runOnce(**device, *list, *buffers);
    ASSERT_TRUE(ran) << ran.status().message();
    HostTensor out(inputs.out, std::byte{0xa5});
    ASSERT_TRUE(buffers->out.download(out.bytes()).isOk());
    outs.push_back(std::move(out));
  }
  const HostTensor &mixed = outs[0];
  std::int64_t row = 0;
  int differing = 0;
  for (const SequenceLength &length : request.problem.lengths)
    for (std::int64_t i = 0; i < length.q; ++i, ++row)
      for (std::int64_t head = 0; head < 2; ++head) {
        const auto same = [&](const HostTensor &other) {
          return std::equal(mixed.at<std::uint16_t>(row, head),
                            mixed.at<std::uint16_t>(row, head) + 128,
                            other.at<std::uint16_t>(row, head));
        };
        EXPECT_TRUE(same(outs[length.q < 64 ? 1 : 2])) << "row " << row;
        differing += !same(outs[length.q < 64 ? 2 : 1]);
      }
  EXPECT_GT(differing, 600) << "the paths are told apart by their bits";
}

INSTANTIATE_TEST_SUITE_P(Targets, LaunchLists, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace wavesmith::testing

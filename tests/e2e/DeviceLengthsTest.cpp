// Lengths on the device: a launch that was captured for one batch serves every other within the
// bounds, and has the bits of a list that the host made.

#include <gtest/gtest.h>

#include "runtime/dispatch/DeviceLengths.h"
#include "tests/e2e/AttentionCase.h"
#include "tests/e2e/CallBuffers.h"

namespace wavesmith::testing {
namespace {

constexpr LengthBounds kBounds{.sequences = 3, .queries = 600, .keys = 900};

std::vector<std::int32_t> offsetsOf(const std::vector<SequenceLength> &lengths,
                                    std::int64_t SequenceLength::*which) {
  std::vector<std::int32_t> offsets = {0};
  for (const SequenceLength &length : lengths)
    offsets.push_back(offsets.back() + static_cast<std::int32_t>(length.*which));
  return offsets;
}

class DeviceLengths : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceLengths, OneCaptureServesEveryBatchWithinTheBounds) {
  for (const auto &[causal, scored] : {std::pair{false, false}, {true, false}, {true, true}}) {
    auto device = RowDevice::open(GetParam());
    ASSERT_TRUE(device) << device.status().message();
    AttentionProblem problem;
    problem.target = GetParam();
    problem.headDimQk = problem.headDimV = causal ? 64 : 128;
    problem.heads = 4;
    problem.kvHeads = 2;
    problem.causal = causal;
    if (scored) {
      problem.window.left = 130;
      problem.softCap = 5;
      problem.sink = true;
    }
    const auto plan = planDeviceLengths(problem, kBounds);
    ASSERT_TRUE(plan) << plan.status().message();
    const auto list = (*device)->load(launchList(*plan));
    ASSERT_TRUE(list) << list.status().message();
    auto buffers = buffersOf(**device, plan->checked, list->list().workspaceBytes, 5);
    ASSERT_TRUE(buffers) << buffers.status().message();
    auto qOffsets = (*device)->allocate(4 * (kBounds.sequences + 1));
    auto kvOffsets = (*device)->allocate(4 * (kBounds.sequences + 1));
    ASSERT_TRUE(qOffsets && kvOffsets);
    AttentionBuffers addresses = buffers->addresses();
    addresses.qOffsets = qOffsets->address();
    addresses.kvOffsets = kvOffsets->address();

    const HipTable &hip = (*device)->table();
    const hipStream_t stream = (*device)->stream();
    ASSERT_EQ(hip.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
    const Status enqueued = list->launch(addresses, stream);
    ASSERT_TRUE(enqueued.isOk()) << enqueued.message();
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    ASSERT_EQ(hip.hipStreamEndCapture(stream, &graph), hipSuccess);
    ASSERT_EQ(hip.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
    ASSERT_EQ(hip.hipGraphDestroy(graph), hipSuccess);

    const std::vector<std::vector<SequenceLength>> batches = {
        {{200, 300}, {200, 300}, {200, 300}},
        {{600, 900}, {0, 0}, {0, 0}},
        {{1, 1}, {0, 500}, {257, 3}},
        {{0, 0}, {0, 0}, {0, 0}},
        {{255, 64}, {256, 256}, {1, 580}},
        // What ends beyond the bounds is left out, although its blocks would find units.
        {{512, 100}, {1000, 100}, {0, 0}},
        {{601, 10}, {0, 0}, {0, 0}},
        {{10, 10}, {10, 900}, {0, 0}},
        // Offsets that fall below 0, or fall at all.
        {{-5, 10}, {45, 30}, {0, 0}},
        {{90, 80}, {-80, 10}, {0, 5}},
        {{30, -8}, {10, 40}, {0, 0}},
    };
    const auto within = [](std::vector<SequenceLength> lengths) {
      std::int64_t queries = 0, keys = 0;
      for (SequenceLength &length : lengths) {
        const bool begins = queries >= 0 && keys >= 0 && length.q >= 0 && length.kv >= 0;
        queries += length.q;
        keys += length.kv;
        if (!begins || queries > kBounds.queries || keys > kBounds.keys)
          length = {};
      }
      return lengths;
    };
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::vector<std::int32_t> q = offsetsOf(batches[i], &SequenceLength::q);
      const std::vector<std::int32_t> kv = offsetsOf(batches[i], &SequenceLength::kv);
      ASSERT_TRUE(qOffsets->upload(std::as_bytes(std::span(q))).isOk());
      ASSERT_TRUE(kvOffsets->upload(std::as_bytes(std::span(kv))).isOk());
      // Rows of the batch before stay where this one has none: canaries again.
      for (DeviceBuffer *output : {&buffers->out, &buffers->lse})
        ASSERT_TRUE(output->fill(std::byte{0xa5}).isOk());
      ASSERT_EQ(hip.hipGraphLaunch(exec, stream), hipSuccess);
      const Status finished = (*device)->finish();
      ASSERT_TRUE(finished.isOk()) << finished.message();
      const auto result = buffers->results();
      ASSERT_TRUE(result);

      AttentionProblem known = problem;
      known.lengths = within(batches[i]);
      known.lseHeadStride = kBounds.queries;
      const auto host = planAttention(known, {.splits = 1});
      ASSERT_TRUE(host) << host.status().message();
      const auto hostList = (*device)->load(launchList(*host));
      ASSERT_TRUE(hostList) << hostList.status().message();
      auto expected = buffersOf(**device, plan->checked, host->workspaceBytes(), 5);
      ASSERT_TRUE(expected) << expected.status().message();
      if (!host->work().empty())
        ASSERT_TRUE(runOnce(**device, *hostList, *expected));
      EXPECT_TRUE(*result == *expected->results())
          << "batch " << i << " causal " << causal << " scored " << scored;
    }
    EXPECT_EQ(hip.hipGraphExecDestroy(exec), hipSuccess);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, DeviceLengths, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace wavesmith::testing

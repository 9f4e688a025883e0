// Tensors whose bytes reach past 2^31 and 2^32, in rows and in heads: the same bits as the same
// elements side by side. The emulator's memory is sparse, so only what is touched exists.

#include <array>

#include <gtest/gtest.h>

#include "runtime/verify/HostTensor.h"
#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

/// Strides in bytes; 0: packed.
struct Layout {
  const char *name;
  std::int64_t row, head;
};

class Device {
public:
  Status open(const std::string &target) {
    WAVESMITH_ASSIGN(table_, HipTable::open(DeviceChoice::Emulator));
    const std::string settings = fmt::format("target={},order=default,checks=all", target);
    const int code = table_->wavesmithEmulatorConfigure(settings.c_str());
    if (code != 0)
      return Status(StatusCode::Internal, table_->wavesmithEmulatorLastError());
    WAVESMITH_ASSIGN(KernelStoreOptions options, KernelStoreOptions::fromEnvironment());
    options.disk.reset();
    store_ = std::make_shared<KernelStore>(std::move(options));
    return Status::ok();
  }

  /// The elements of out, then those of lse.
  Expected<std::vector<std::byte>> run(const AttentionProblem &problem) {
    WAVESMITH_ASSIGN(const AttentionPlan plan, planAttention(problem, {.splits = 1}));
    KernelLoader loader(table_, store_);
    WAVESMITH_ASSIGN(const LoadedLaunchList list,
                     LoadedLaunchList::load(table_, launchList(plan), [&](const KernelSpec &spec) {
                       return loader.get(spec);
                     }));
    const CheckedProblem &c = plan.checked;
    std::array<DeviceBuffer, 6> buffers;
    const std::array shapes{&c.q, &c.k, &c.v, &c.out, &c.lse};
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      WAVESMITH_ASSIGN(buffers[i], DeviceBuffer::allocate(table_, shapes[i]->extentBytes()));
      if (i < 3)
        WAVESMITH_TRY(fill(*shapes[i], i, buffers[i]));
    }
    WAVESMITH_ASSIGN(buffers[5], DeviceBuffer::allocate(table_, plan.workspaceBytes()));
    const AttentionBuffers addresses{buffers[0].address(), buffers[1].address(),
                                     buffers[2].address(), buffers[3].address(),
                                     buffers[4].address(), buffers[5].address()};
    WAVESMITH_ASSIGN(const Stream stream, Stream::create(table_));
    WAVESMITH_TRY(list.uploadWork(addresses.workspace, stream.get()));
    WAVESMITH_TRY(list.launch(addresses, stream.get()));
    WAVESMITH_TRY(stream.synchronize());
    std::vector<std::byte> elements;
    for (const std::size_t i : {3, 4})
      WAVESMITH_TRY(collect(*shapes[i], buffers[i], elements));
    return elements;
  }

private:
  static std::uint64_t offsetOf(const TensorShape &s, std::int64_t row, std::int64_t head) {
    return static_cast<std::uint64_t>((row * s.rowStride + head * s.headStride) * s.elementBytes);
  }

  static Status fill(const TensorShape &shape, std::uint64_t tensor, DeviceBuffer &to) {
    TensorShape packed = shape;
    packed.headStride = shape.dim;
    packed.rowStride = shape.dim * shape.heads;
    HostTensor values(packed, std::byte{0xff});
    values.fillNormalBf16(1, tensor);
    const std::size_t bytes = static_cast<std::size_t>(shape.dim * shape.elementBytes);
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t head = 0; head < shape.heads; ++head)
        WAVESMITH_TRY(
            to.upload({values.at<std::byte>(row, head), bytes}, offsetOf(shape, row, head)));
    return Status::ok();
  }

  static Status collect(const TensorShape &shape, const DeviceBuffer &from,
                        std::vector<std::byte> &elements) {
    const std::size_t bytes = static_cast<std::size_t>(shape.dim * shape.elementBytes);
    std::vector<std::byte> one(bytes);
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        WAVESMITH_TRY(from.download(one, offsetOf(shape, row, head)));
        elements.insert(elements.end(), one.begin(), one.end());
      }
    return Status::ok();
  }

  HipTablePtr table_;
  std::shared_ptr<KernelStore> store_;
};

constexpr std::int64_t kTwo31 = std::int64_t{1} << 31, kTwo32 = std::int64_t{1} << 32;
// The widest rows the contract has put 2^32 bytes 1025 rows away, inside one sequence.
constexpr std::array kLayouts{
    Layout{"widest rows", kMaxRowStrideBytes - 16, 0},
    Layout{"rows of 2 MiB", 2 << 20, 0},
    Layout{"heads 2^31 apart", 0, kTwo31},
    Layout{"heads just under 2^32 apart", 0, kTwo32 - 16},
    Layout{"heads 2^32 apart", 0, kTwo32},
    Layout{"heads 2^35 apart", 0, std::int64_t{1} << 35},
};

class BigExtents : public ::testing::TestWithParam<std::string> {};

TEST_P(BigExtents, GiveTheSameBits) {
  Device device;
  const Status opened = device.open(GetParam());
  ASSERT_TRUE(opened.isOk()) << opened.message();
  for (const auto &[dimQk, dimV] : {std::pair{192, 128}, {64, 64}}) {
    AttentionProblem problem;
    problem.target = GetParam();
    problem.headDimQk = dimQk;
    problem.headDimV = dimV;
    problem.heads = problem.kvHeads = 2;
    problem.causal = true;
    problem.lengths = {{40, 33}, {300, 1200}, {1, 70}};
    const auto expected = device.run(problem);
    ASSERT_TRUE(expected) << expected.status().message();
    for (const Layout &layout : kLayouts) {
      const std::array dims{dimQk, dimQk, dimV, dimV};
      const std::array tensors{&problem.q, &problem.k, &problem.v, &problem.out};
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i]->row = layout.row ? layout.row / 2 : dims[i];
        tensors[i]->head = layout.head ? layout.head / 2 : dims[i];
      }
      problem.lseHeadStride = layout.head ? layout.head / 4 : 400;
      const auto far = device.run(problem);
      ASSERT_TRUE(far) << layout.name << ": " << far.status().message();
      EXPECT_TRUE(*far == *expected) << layout.name << ", " << dimQk << "x" << dimV;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BigExtents, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace wavesmith::testing

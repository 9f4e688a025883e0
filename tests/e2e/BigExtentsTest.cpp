// Tensors whose bytes reach to 2^31, 2^32, 2^40 and past them, in rows and in heads, and tokens up
// to the last that the contract has: the same bits as the same elements side by side. The
// emulator's memory is sparse, so only what is touched exists.

#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "runtime/verify/HostTensor.h"
#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

/// Strides in bytes; 0: packed. With an extent, the heads are so far apart that it is that many
/// bytes from the first element to past the last one.
struct Layout {
  const char *name;
  std::int64_t row = 0, head = 0, extent = 0;
};

/// What of a problem is computed, and which of its rows anybody touches.
struct Part {
  std::optional<std::vector<std::size_t>> sequences;
  std::int64_t firstQ = 0, firstKv = 0;
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
  Expected<std::vector<std::byte>> run(const AttentionProblem &problem, const Part &part = {}) {
    WAVESMITH_ASSIGN(const AttentionPlan plan,
                     planAttention(problem, {.splits = 1, .sequences = part.sequences}));
    KernelLoader loader(table_, store_);
    WAVESMITH_ASSIGN(const LoadedLaunchList list,
                     LoadedLaunchList::load(table_, launchList(plan), [&](const KernelSpec &spec) {
                       return loader.get(spec);
                     }));
    const CheckedProblem &c = plan.checked;
    std::array<DeviceBuffer, 6> buffers;
    std::array<DeviceBuffer, 3> descales;
    const std::array shapes{&c.q, &c.k, &c.v, &c.out, &c.lse};
    const auto firstRow = [&](std::size_t i) {
      return i == 1 || i == 2 ? part.firstKv : part.firstQ;
    };
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      WAVESMITH_ASSIGN(buffers[i], DeviceBuffer::allocate(table_, shapes[i]->extentBytes()));
      if (i >= descales.size())
        continue;
      WAVESMITH_ASSIGN(const std::vector<float> scales,
                       fill(*shapes[i], i, firstRow(i), c.fp8, buffers[i]));
      WAVESMITH_ASSIGN(descales[i], DeviceBuffer::allocate(table_, scales.size() * sizeof(float)));
      WAVESMITH_TRY(descales[i].upload(std::as_bytes(std::span(scales))));
    }
    WAVESMITH_ASSIGN(buffers[5], DeviceBuffer::allocate(table_, plan.workspaceBytes()));
    AttentionBuffers addresses{buffers[0].address(), buffers[1].address(), buffers[2].address(),
                               buffers[3].address(), buffers[4].address(), buffers[5].address()};
    addresses.descaleQ = descales[0].address();
    addresses.descaleK = descales[1].address();
    addresses.descaleV = descales[2].address();
    WAVESMITH_ASSIGN(const Stream stream, Stream::create(table_));
    WAVESMITH_TRY(list.uploadWork(addresses.workspace, stream.get()));
    WAVESMITH_TRY(list.launch(addresses, stream.get()));
    WAVESMITH_TRY(stream.synchronize());
    std::vector<std::byte> elements;
    for (const std::size_t i : {3, 4})
      WAVESMITH_TRY(collect(*shapes[i], firstRow(i), buffers[i], elements));
    return elements;
  }

private:
  static std::uint64_t offsetOf(const TensorShape &s, std::int64_t row, std::int64_t head) {
    return static_cast<std::uint64_t>((row * s.rowStride + head * s.headStride) * s.elementBytes);
  }

  /// The rows from `first` on, with values that do not depend on it; returns the descales, of which
  /// bf16 has none.
  static Expected<std::vector<float>> fill(const TensorShape &shape, std::uint64_t tensor,
                                           std::int64_t first, Fp8Format fp8, DeviceBuffer &to) {
    TensorShape packed = shape;
    packed.rows -= first;
    packed.headStride = shape.dim;
    packed.rowStride = shape.dim * shape.heads;
    HostTensor values(packed, std::byte{0xff});
    std::vector<float> descales(1);
    if (fp8 == Fp8Format::None)
      values.fillNormal(DType::BF16, 1, tensor);
    else
      descales = values.fillNormalFp8(fp8, /*shared=*/false, 1, tensor);
    const std::size_t bytes = static_cast<std::size_t>(shape.dim * shape.elementBytes);
    for (std::int64_t row = 0; row < packed.rows; ++row)
      for (std::int64_t head = 0; head < shape.heads; ++head)
        WAVESMITH_TRY(to.upload({values.at<std::byte>(row, head), bytes},
                                offsetOf(shape, first + row, head)));
    return descales;
  }

  static Status collect(const TensorShape &shape, std::int64_t first, const DeviceBuffer &from,
                        std::vector<std::byte> &elements) {
    const std::size_t bytes = static_cast<std::size_t>(shape.dim * shape.elementBytes);
    std::vector<std::byte> one(bytes);
    for (std::int64_t row = first; row < shape.rows; ++row)
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        WAVESMITH_TRY(from.download(one, offsetOf(shape, row, head)));
        elements.insert(elements.end(), one.begin(), one.end());
      }
    return Status::ok();
  }

  HipTablePtr table_;
  std::shared_ptr<KernelStore> store_;
};

constexpr std::int64_t power(int exponent) { return std::int64_t{1} << exponent; }

/// The widest rows the contract has put 2^32 bytes 1025 rows away, inside one sequence. Strides are
/// multiples of 16 bytes, so 16 less than a power is the next extent below it.
constexpr std::array kLayouts{
    Layout{.name = "widest rows", .row = kMaxRowStrideBytes - 16},
    Layout{.name = "rows of 2 MiB", .row = 2 << 20},
    Layout{.name = "heads 2^31 apart", .head = power(31)},
    Layout{.name = "heads 2^32 apart", .head = power(32)},
    Layout{.name = "just under 2^31 bytes", .extent = power(31) - 16},
    Layout{.name = "2^31 bytes", .extent = power(31)},
    Layout{.name = "just under 2^32 bytes", .extent = power(32) - 16},
    Layout{.name = "2^32 bytes", .extent = power(32)},
    Layout{.name = "2^35 bytes", .extent = power(35)},
};

/// Strides of a tensor of two heads, in elements.
TensorStrides stridesOf(const Layout &layout, std::int64_t rows, std::int64_t dim,
                        std::int64_t elementBytes) {
  TensorStrides strides;
  strides.row = layout.row ? layout.row / elementBytes : layout.extent ? dim : 2 * dim;
  strides.head = layout.head     ? layout.head / elementBytes
                 : layout.extent ? layout.extent / elementBytes - rows * dim
                                 : dim;
  if (layout.head)
    strides.row = dim;
  return strides;
}

class BigExtents : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    const Status opened = device.open(GetParam());
    ASSERT_TRUE(opened.isOk()) << opened.message();
  }
  AttentionProblem problemOf(DType dtype, int dimQk, int dimV) const {
    AttentionProblem problem;
    problem.target = GetParam();
    problem.dtype = dtype;
    problem.headDimQk = dimQk;
    problem.headDimV = dimV;
    problem.heads = problem.kvHeads = 2;
    problem.causal = true;
    return problem;
  }

  Device device;
};

TEST_P(BigExtents, GiveTheSameBits) {
  struct {
    DType dtype;
    int qk, v;
  } const kernels[] = {{DType::BF16, 192, 128}, {DType::BF16, 64, 64}, {DType::FP8, 128, 128}};
  for (const auto &[dtype, qk, v] : kernels) {
    AttentionProblem problem = problemOf(dtype, qk, v);
    problem.lengths = {{40, 33}, {300, 1200}, {1, 70}};
    constexpr std::int64_t kQueries = 341, kKeys = 1303;
    const auto expected = device.run(problem);
    ASSERT_TRUE(expected) << expected.status().message();
    for (const Layout &layout : kLayouts) {
      const int bytes = dtype == DType::FP8 ? 1 : 2;
      problem.q = stridesOf(layout, kQueries, qk, bytes);
      problem.k = stridesOf(layout, kKeys, qk, bytes);
      problem.v = stridesOf(layout, kKeys, v, bytes);
      problem.out = stridesOf(layout, kQueries, v, 2);
      problem.lseHeadStride = layout.head     ? layout.head / 4
                              : layout.extent ? layout.extent / 4 - kQueries
                                              : 400;
      if (layout.extent) {
        const auto checked = checkProblem(problem);
        ASSERT_TRUE(checked) << layout.name << ": " << checked.status().message();
        for (const TensorShape *shape :
             {&checked->q, &checked->k, &checked->v, &checked->out, &checked->lse})
          ASSERT_EQ(shape->extentBytes(), layout.extent) << layout.name;
      }
      const auto far = device.run(problem);
      ASSERT_TRUE(far) << layout.name << ": " << far.status().message();
      EXPECT_TRUE(*far == *expected)
          << layout.name << ", " << dtypeName(dtype) << " " << qk << "x" << v;
    }
  }
}

TEST_P(BigExtents, LastTokensOfTheContract) {
  for (const DType dtype : {DType::BF16, DType::FP8}) {
    constexpr std::int64_t kQueries = 300, kKeys = 1000;
    AttentionProblem problem = problemOf(dtype, 64, 64);
    problem.window.left = 200; // or every key would have to be computed
    problem.lengths = {{kQueries, kKeys}};
    const auto expected = device.run(problem);
    ASSERT_TRUE(expected) << expected.status().message();
    // As the last keys of the longest sequence.
    problem.lengths = {{kQueries, kMaxTokens}};
    const auto late = device.run(problem, {.firstKv = kMaxTokens - kKeys});
    ASSERT_TRUE(late) << late.status().message();
    EXPECT_TRUE(*late == *expected) << dtypeName(dtype) << ": late keys";
    // Behind another sequence that fills the rest of the batch.
    problem.lengths = {{kMaxTokens - kQueries, kMaxTokens - kKeys}, {kQueries, kKeys}};
    const auto behind = device.run(
        problem,
        {.sequences = {{1}}, .firstQ = kMaxTokens - kQueries, .firstKv = kMaxTokens - kKeys});
    ASSERT_TRUE(behind) << behind.status().message();
    EXPECT_TRUE(*behind == *expected) << dtypeName(dtype) << ": late tokens";
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BigExtents, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace wavesmith::testing

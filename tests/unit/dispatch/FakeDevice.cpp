#include "tests/unit/dispatch/FakeDevice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numbers>

#include "runtime/spec/RowKernelAbi.h"
#include "runtime/verify/BFloat16.h"

namespace wavesmith::test {
namespace {

FakeDevice *current = nullptr;

double loadBf16(std::uint64_t address, int element) {
  return static_cast<double>(
      bf16ToFloat(reinterpret_cast<const std::uint16_t *>(address)[element]));
}

void attentionRow(const AttentionArguments &a, const AttentionWorkUnit &u, std::int64_t row) {
  const FakeDevice &device = *current;
  const auto at = [](std::uint64_t base, std::int64_t rowIndex, std::int64_t rowStride,
                     std::int64_t head, std::int64_t headStride) {
    return base + static_cast<std::uint64_t>(rowIndex * rowStride + head * headStride);
  };
  const std::uint64_t q = at(a.q, u.qBegin + row, a.qRowStride, u.head, a.qHeadStride);
  std::vector<double> scores;
  for (std::int64_t key = u.kv0; key < u.kv1; ++key) {
    if (device.causal && key > row + u.lenKv - u.lenQ)
      break;
    const std::uint64_t k = at(a.k, u.kvBegin + key, a.kRowStride, u.kvHead, a.kHeadStride);
    double score = 0;
    for (int i = 0; i < device.headDimQk; ++i)
      score += loadBf16(q, i) * loadBf16(k, i);
    scores.push_back(score * static_cast<double>(a.scaleLog2));
  }
  std::vector<double> out(static_cast<std::size_t>(device.headDimV), 0.0);
  double sum = 0, maximum = 0;
  if (!scores.empty())
    maximum = *std::ranges::max_element(scores);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double weight = std::exp2(scores[j] - maximum);
    sum += weight;
    const std::uint64_t v = at(a.v, u.kvBegin + u.kv0 + static_cast<std::int64_t>(j), a.vRowStride,
                               u.kvHead, a.vHeadStride);
    for (int i = 0; i < device.headDimV; ++i)
      out[static_cast<std::size_t>(i)] += weight * loadBf16(v, i);
  }
  const float logarithm = scores.empty()
                              ? -std::numeric_limits<float>::infinity()
                              : static_cast<float>(maximum * std::numbers::ln2 + std::log(sum));
  if (u.slot >= 0) {
    const std::int64_t partialRow = std::int64_t{u.slot} * kAttentionBlockM + row - u.q0;
    reinterpret_cast<float *>(a.partialLse)[partialRow] = logarithm;
    auto *to = reinterpret_cast<float *>(a.partialOut) + partialRow * device.headDimV;
    for (std::size_t i = 0; i < out.size(); ++i)
      to[i] = scores.empty() ? 0 : static_cast<float>(out[i] / sum);
    return;
  }
  auto *to = reinterpret_cast<std::uint16_t *>(
      at(a.out, u.qBegin + row, a.outRowStride, u.head, a.outHeadStride));
  for (std::size_t i = 0; i < out.size(); ++i)
    to[i] = scores.empty() ? 0 : doubleToBf16(out[i] / sum);
  if (a.lse != 0)
    *reinterpret_cast<float *>(at(a.lse, u.qBegin + row, sizeof(float), u.head, a.lseHeadStride)) =
        logarithm;
}

void combineRow(const CombineArguments &a, const CombineUnit &u, std::int64_t row) {
  const auto dims = static_cast<std::size_t>(current->headDimV);
  const auto lseOf = [&](std::int32_t slot) {
    return static_cast<double>(
        *reinterpret_cast<const float *>(a.partialLse + slot * a.partialLseSlotStride + row * 4));
  };
  double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int32_t slot = u.slot; slot < u.slot + u.slots; ++slot)
    maximum = std::max(maximum, lseOf(slot));
  std::vector<double> out(dims, 0.0);
  for (std::int32_t slot = u.slot; slot < u.slot + u.slots && std::isfinite(maximum); ++slot) {
    const double weight = std::exp(lseOf(slot) - maximum);
    sum += weight;
    const auto *from = reinterpret_cast<const float *>(
        a.partialOut + slot * a.partialOutSlotStride + row * static_cast<std::int64_t>(dims) * 4);
    for (std::size_t i = 0; i < dims; ++i)
      out[i] += weight * static_cast<double>(from[i]);
  }
  const std::int64_t packed = u.firstRow + row;
  auto *to =
      reinterpret_cast<std::uint16_t *>(a.out + packed * a.outRowStride + u.head * a.outHeadStride);
  for (std::size_t i = 0; i < dims; ++i)
    to[i] = sum == 0 ? 0 : doubleToBf16(out[i] / sum);
  if (a.lse != 0)
    *reinterpret_cast<float *>(a.lse + u.head * a.lseHeadStride + packed * a.lseRowStride) =
        static_cast<float>(maximum + std::log(sum));
}

hipError_t launchCombine(unsigned units, unsigned groups, unsigned threads, void **extra) {
  CombineArguments arguments{};
  if (threads != kRowThreads || *static_cast<std::size_t *>(extra[3]) != sizeof arguments)
    return hipErrorInvalidConfiguration;
  std::memcpy(&arguments, extra[1], sizeof arguments);
  ++current->combines;
  const auto *work = reinterpret_cast<const CombineUnit *>(arguments.units);
  for (unsigned i = 0; i < units; ++i)
    for (std::int64_t row = 0; row < std::min<std::int64_t>(work[i].rows, groups * kCombineRows);
         ++row)
      combineRow(arguments, work[i], row);
  return hipSuccess;
}

template <typename T> T handle(std::uintptr_t value = 0x10) { return reinterpret_cast<T>(value); }
constexpr std::uintptr_t kCombineHandle = 0x20;

hipError_t launchKernel(hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned, unsigned, unsigned, hipStream_t, void **,
                        void **extra) {
  if (function == handle<hipFunction_t>(kCombineHandle))
    return launchCombine(gridX, gridY, blockX, extra);
  if (gridY != 1 || gridZ != 1 || blockX != kAttentionThreads)
    return hipErrorInvalidConfiguration;
  AttentionArguments arguments{};
  std::memcpy(&arguments, extra[1], sizeof arguments);
  if (*static_cast<std::size_t *>(extra[3]) != sizeof arguments)
    return hipErrorInvalidValue;
  current->launches.push_back(arguments);
  current->grids.push_back(gridX);
  if (current->launchResult != hipSuccess)
    return current->launchResult;
  const auto *work = reinterpret_cast<const AttentionWorkUnit *>(arguments.work);
  for (unsigned i = 0; i < gridX; ++i)
    for (std::int64_t row = work[i].q0; row < std::min(work[i].q0 + 256, work[i].lenQ); ++row)
      attentionRow(arguments, work[i], row);
  if (current->after)
    current->after(arguments);
  return hipSuccess;
}

std::shared_ptr<HipTable> makeTable() {
  auto table = std::make_shared<HipTable>();
  HipTable &t = *table;
  t.hipGetErrorName = [](hipError_t code) {
    return code == hipErrorLaunchFailure ? "hipErrorLaunchFailure" : "hipErrorOther";
  };
  t.hipGetErrorString = [](hipError_t) { return "as the test asked"; };
  t.hipSetDevice = [](int) { return hipSuccess; };
  t.hipGetDeviceProperties = [](hipDeviceProp_t *properties, int) {
    std::strcpy(properties->gcnArchName, (current->target + ":sramecc+").c_str());
    return hipSuccess;
  };
  t.hipDeviceGetName = [](char *name, int, hipDevice_t) {
    std::strcpy(name, "Fake MI325X");
    return hipSuccess;
  };
  t.hipDeviceGetAttribute = [](int *value, hipDeviceAttribute_t, int) {
    *value = 1;
    return hipSuccess;
  };
  t.hipMalloc = [](void **to, std::size_t bytes) {
    ++current->allocations;
    *to = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return hipSuccess;
  };
  t.hipFree = [](void *address) {
    ++current->frees;
    std::free(address);
    return hipSuccess;
  };
  t.hipMemcpy = [](void *to, const void *from, std::size_t bytes, hipMemcpyKind) {
    std::memcpy(to, from, bytes);
    return hipSuccess;
  };
  t.hipMemcpyAsync = [](void *to, const void *from, std::size_t bytes, hipMemcpyKind, hipStream_t) {
    ++current->copies;
    std::memcpy(to, from, bytes);
    return hipSuccess;
  };
  t.hipModuleLoadData = [](hipModule_t *module, const void *) {
    *module = handle<hipModule_t>();
    return hipSuccess;
  };
  t.hipModuleUnload = [](hipModule_t) { return hipSuccess; };
  t.hipModuleGetFunction = [](hipFunction_t *function, hipModule_t, const char *name) {
    const bool combine = std::strstr(name, "combine") != nullptr;
    *function = handle<hipFunction_t>(combine ? kCombineHandle : 0x10);
    return hipSuccess;
  };
  t.hipModuleLaunchKernel = launchKernel;
  t.hipStreamCreateWithFlags = [](hipStream_t *stream, unsigned) {
    *stream = handle<hipStream_t>();
    return hipSuccess;
  };
  t.hipStreamDestroy = [](hipStream_t) { return hipSuccess; };
  t.hipStreamSynchronize = [](hipStream_t) {
    return current->launches.empty() ? hipSuccess : current->synchronizeResult;
  };
  return table;
}

} // namespace

FakeDevice::FakeDevice() { current = this; }
FakeDevice::~FakeDevice() { current = nullptr; }

std::shared_ptr<const HipTable> FakeDevice::table() {
  const std::shared_ptr<HipTable> table = makeTable();
  if (emulator) {
    table->wavesmithEmulatorConfigure = [](const char *settings) {
      current->configured = settings;
      return current->configured.find("order=bad") == std::string::npos ? 0 : 1;
    };
    table->wavesmithEmulatorLastError = [] { return "order=bad: is unknown"; };
    table->wavesmithEmulatorLastFault = [] { return "races: two waves met"; };
    table->wavesmithEmulatorLastReport = [](int) { return current->report.c_str(); };
  }
  return table;
}

} // namespace wavesmith::test

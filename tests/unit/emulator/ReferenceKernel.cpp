#include "tests/unit/emulator/ReferenceKernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace wavesmith::emulator::test {

float bf16ToFloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
std::uint16_t floatToBf16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float fp8ToFloat(std::uint8_t bits, bool ocp) {
  int exponent = (bits >> 3) & 15, mantissa = bits & 7, bias = ocp ? 7 : 8;
  float value = exponent ? std::ldexp(1.0f + mantissa / 8.0f, exponent - bias)
                         : std::ldexp(mantissa / 8.0f, 1 - bias);
  return bits & 0x80 ? -value : value;
}
std::uint8_t floatToFp8(float value, bool ocp) {
  // Nearest of all finite codes; ties do not matter for inputs.
  static const auto tables = [] {
    std::array<std::vector<std::pair<float, std::uint8_t>>, 2> both;
    for (int kind = 0; kind < 2; ++kind) {
      for (int code = 0; code < 128; ++code)
        if (!(kind && code == 127))
          both[kind].push_back(
              {fp8ToFloat(static_cast<std::uint8_t>(code), kind), static_cast<std::uint8_t>(code)});
      std::sort(both[kind].begin(), both[kind].end());
    }
    return both;
  }();
  const auto &table = tables[ocp];
  float magnitude = std::fabs(value);
  auto above = std::lower_bound(table.begin(), table.end(), std::pair{magnitude, std::uint8_t{0}});
  if (above == table.end())
    above = std::prev(table.end());
  else if (above != table.begin() && magnitude - std::prev(above)->first < above->first - magnitude)
    --above;
  return above->second ? static_cast<std::uint8_t>(above->second | (value < 0 ? 0x80 : 0)) : 0;
}

namespace {

struct Tensor {
  std::vector<std::byte> bytes;
  std::vector<float> values;
};

Tensor makeTensor(std::size_t count, const Problem &p, std::mt19937_64 &random) {
  std::normal_distribution<float> normal;
  Tensor tensor;
  tensor.values.resize(count);
  tensor.bytes.resize(count * (p.fp8 ? 1 : 2));
  bool ocp = p.target == "gfx950";
  for (std::size_t i = 0; i < count; ++i) {
    if (p.fp8) {
      std::uint8_t code = floatToFp8(normal(random), ocp);
      tensor.bytes[i] = std::byte{code};
      tensor.values[i] = fp8ToFloat(code, ocp);
    } else {
      std::uint16_t code = floatToBf16(normal(random));
      std::memcpy(&tensor.bytes[2 * i], &code, 2);
      tensor.values[i] = bf16ToFloat(code);
    }
  }
  return tensor;
}

struct Arguments {
  std::uint64_t q, k, v, o, lse, partialOut, partialLse, work;
  std::int32_t qs, ks, vs, os, qh, kh, vh, oh, lenQ, lenKv;
  float c, threshold, vScale;
  std::int32_t units, grid;
};

} // namespace

Expected<Outcome> runAttention(const CodeObject &object, const Problem &p,
                               const RunOptions &options) {
  std::mt19937_64 random(p.seed);
  std::size_t heads = p.heads, rowsQ = p.lenQ, rowsKv = p.lenKv, dQk = p.dQk, dV = p.dV;
  Tensor q = makeTensor(rowsQ * heads * dQk, p, random);
  Tensor k = makeTensor(rowsKv * heads * dQk, p, random);
  Tensor v = makeTensor(rowsKv * heads * dV, p, random);

  WAVESMITH_ASSIGN(auto device, Device::create({p.target}));
  auto upload = [&](const Tensor &tensor) -> Expected<std::uint64_t> {
    WAVESMITH_ASSIGN(std::uint64_t address, device->allocate(tensor.bytes.size()));
    WAVESMITH_TRY(device->write(address, tensor.bytes));
    return address;
  };
  Arguments arguments{};
  WAVESMITH_ASSIGN(arguments.q, upload(q));
  WAVESMITH_ASSIGN(arguments.k, upload(k));
  WAVESMITH_ASSIGN(arguments.v, upload(v));
  std::size_t outCount = rowsQ * heads * dV;
  WAVESMITH_ASSIGN(arguments.o, device->allocate(outCount * 2));
  WAVESMITH_ASSIGN(arguments.lse, device->allocate(heads * rowsQ * 4));

  std::vector<std::int32_t> work;
  int blocks = (p.lenQ + 255) / 256;
  int tiles = (p.lenKv + p.tile - 1) / p.tile;
  int slots = p.splits > 1 ? blocks * p.heads * p.splits : 1;
  for (int head = 0; head < p.heads; ++head)
    for (int block = 0; block < blocks; ++block)
      for (int split = 0; split < p.splits; ++split) {
        int kv0 = tiles * split / p.splits * p.tile;
        int kv1 = std::min(tiles * (split + 1) / p.splits * p.tile, p.lenKv);
        int slot = p.splits > 1 ? (head * blocks + block) * p.splits + split : -1;
        for (int word : {block * 256, kv0, kv1, head, slot, 0, 0, 0})
          work.push_back(word);
      }
  int units = static_cast<int>(work.size() / 8);
  WAVESMITH_ASSIGN(arguments.partialOut, device->allocate(std::size_t(slots) * 256 * dV * 4));
  WAVESMITH_ASSIGN(arguments.partialLse, device->allocate(std::size_t(slots) * 256 * 4));
  WAVESMITH_ASSIGN(arguments.work, device->allocate(work.size() * 4));
  WAVESMITH_TRY(device->write(arguments.work, std::as_bytes(std::span(work))));

  int size = p.fp8 ? 1 : 2;
  double scale = 1.0 / std::sqrt(double(dQk));
  arguments.qh = arguments.kh = static_cast<std::int32_t>(dQk) * size;
  arguments.vh = static_cast<std::int32_t>(dV) * size;
  arguments.oh = static_cast<std::int32_t>(dV) * 2;
  arguments.qs = arguments.qh * p.heads;
  arguments.ks = arguments.kh * p.heads;
  arguments.vs = arguments.vh * p.heads;
  arguments.os = arguments.oh * p.heads;
  arguments.lenQ = p.lenQ;
  arguments.lenKv = p.lenKv;
  arguments.c = static_cast<float>(scale * std::log2(std::exp(1.0)));
  // P stays below the largest FP8 value, with the bias of 2^4 that the kernel may add.
  arguments.threshold = (p.fp8 ? 3.9f : 8.0f) / arguments.c;
  arguments.vScale = 1.0f;
  arguments.units = units;
  arguments.grid = units;

  WAVESMITH_ASSIGN(auto module, device->load(object));
  LaunchConfig launch;
  launch.kernel = "fa";
  launch.grid = {static_cast<std::uint32_t>(units), 1, 1};
  launch.block = {512, 1, 1};
  launch.kernarg = std::as_bytes(std::span(&arguments, 1));
  Outcome outcome;
  WAVESMITH_ASSIGN(outcome.report, device->run(*module, launch, options));

  std::vector<std::uint16_t> out(outCount);
  std::vector<float> lse(heads * rowsQ), partialOut(std::size_t(slots) * 256 * dV),
      partialLse(std::size_t(slots) * 256);
  WAVESMITH_TRY(device->read(arguments.o, std::as_writable_bytes(std::span(out))));
  WAVESMITH_TRY(device->read(arguments.lse, std::as_writable_bytes(std::span(lse))));
  WAVESMITH_TRY(device->read(arguments.partialOut, std::as_writable_bytes(std::span(partialOut))));
  WAVESMITH_TRY(device->read(arguments.partialLse, std::as_writable_bytes(std::span(partialLse))));

  double errorSquares = 0, squares = 0;
  std::vector<double> scores(rowsKv), expected(dV), actual(dV);
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t row = 0; row < rowsQ; ++row) {
      long visible = std::clamp<long>(long(row) + p.lenKv - p.lenQ + 1, 0, p.lenKv);
      double top = -INFINITY, sum = 0;
      for (long key = 0; key < visible; ++key) {
        double dot = 0;
        for (std::size_t i = 0; i < dQk; ++i)
          dot += double(q.values[(row * heads + head) * dQk + i]) *
                 k.values[(key * heads + head) * dQk + i];
        scores[key] = dot * scale;
        top = std::max(top, scores[key]);
      }
      std::fill(expected.begin(), expected.end(), 0.0);
      for (long key = 0; key < visible; ++key) {
        double weight = std::exp(scores[key] - top);
        sum += weight;
        for (std::size_t i = 0; i < dV; ++i)
          expected[i] += weight * v.values[(key * heads + head) * dV + i];
      }
      outcome.flops += 2.0 * visible * (dQk + dV);
      double expectedLse = visible ? top + std::log(sum) : -INFINITY, actualLse;
      if (p.splits > 1) {
        // Merge the partials in double.
        double best = -INFINITY, total = 0;
        std::fill(actual.begin(), actual.end(), 0.0);
        std::size_t first = (head * blocks + row / 256) * p.splits;
        for (int split = 0; split < p.splits; ++split)
          best = std::max<double>(best, partialLse[(first + split) * 256 + row % 256]);
        for (int split = 0; split < p.splits; ++split) {
          std::size_t slot = (first + split) * 256 + row % 256;
          double weight = best == -INFINITY ? 0 : std::exp(partialLse[slot] - best);
          total += weight;
          for (std::size_t i = 0; i < dV; ++i)
            actual[i] += weight * partialOut[slot * dV + i];
        }
        for (double &x : actual)
          x = total ? x / total : 0;
        actualLse = total ? best + std::log(total) : -INFINITY;
      } else {
        for (std::size_t i = 0; i < dV; ++i)
          actual[i] = bf16ToFloat(out[(row * heads + head) * dV + i]);
        actualLse = lse[head * rowsQ + row];
      }
      for (std::size_t i = 0; i < dV; ++i) {
        double wanted = visible ? expected[i] / sum : 0;
        double difference = actual[i] - wanted;
        errorSquares += difference * difference;
        squares += wanted * wanted;
      }
      if (expectedLse != actualLse)
        outcome.lseMaxAbs = std::max(outcome.lseMaxAbs, std::fabs(actualLse - expectedLse));
    }
  outcome.outRelativeRms = std::sqrt(errorSquares / std::max(squares, 1e-300));
  return outcome;
}

} // namespace wavesmith::emulator::test

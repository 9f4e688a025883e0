#include "tests/unit/lowering/AttentionProblem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/verify/BFloat16.h"
#include "runtime/verify/Float8.h"

namespace wavesmith::compiler::testing {

namespace {

constexpr std::byte kUntouched{0xAB};
/// What FP8 values are divided by, so that the tails of a normal distribution use the format.
constexpr float kDescale = 1.0f / 32;

/// How a tensor's values look in memory.
struct Format {
  int bytes;
  float (*decode)(std::uint16_t);
  std::uint16_t (*encode)(float);
  std::uint16_t nan;
};
constexpr Format kBf16{2, bf16ToFloat, floatToBf16, 0x7fff};
constexpr Format kF16{
    2, [](std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); },
    [](float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }, 0x7fff};
template <Fp8Format format>
constexpr Format kFp8{
    1,
    [](std::uint16_t code) {
      return static_cast<float>(fp8ToDouble(format, static_cast<std::uint8_t>(code)) * kDescale);
    },
    [](float value) { return std::uint16_t{doubleToFp8(format, double{value} / kDescale)}; },
    fp8Nan(format)};

const Format &formatOf(ElementType element) {
  switch (element) {
  case ElementType::BF16:
    return kBf16;
  case ElementType::F16:
    return kF16;
  case ElementType::F8E4M3Fnuz:
    return kFp8<Fp8Format::E4M3Fnuz>;
  case ElementType::F8E4M3Ocp:
    return kFp8<Fp8Format::E4M3Ocp>;
  }
  __builtin_unreachable();
}

/// A packed [token][head][dim] tensor on the device, with its values kept on the host.
struct Tensor {
  Format format;
  int tokens, heads, dim;
  std::int64_t rowBytes, headBytes;
  std::vector<std::uint16_t> values;
  std::uint64_t address = 0;
  int shift = 0; ///< the device gets the values times two to this

  std::uint16_t &at(int token, int head, int i) {
    return values[(static_cast<std::size_t>(token) * heads + head) * dim + i];
  }
  std::int64_t offset(int token, int head) const { return token * rowBytes + head * headBytes; }
  /// Exactly up to the last element, so that any read past it is a fault.
  std::uint64_t bytes() const {
    return tokens ? static_cast<std::uint64_t>(offset(tokens - 1, heads - 1) + dim * format.bytes)
                  : 16;
  }
  std::vector<std::byte> row(int token, int head) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(dim) * format.bytes);
    for (int i = 0; i < dim; ++i) {
      const std::uint16_t code =
          shift == 0 ? at(token, head, i) : format.encode(std::ldexp(value(token, head, i), shift));
      std::memcpy(&bytes[static_cast<std::size_t>(i) * format.bytes], &code, format.bytes);
    }
    return bytes;
  }
  float value(int token, int head, int i) { return format.decode(at(token, head, i)); }
};

class Runner {
public:
  Runner(emulator::Device &device, const emulator::Module &module, const AttentionProblem &problem,
         const emulator::RunOptions &options)
      : device_(device), module_(module), p_(problem), options_(options), random_(problem.seed) {}

  Status run(AttentionResult &result) {
    makeTensors();
    for (Tensor *tensor : {&q_, &k_, &v_})
      WAVESMITH_TRY(upload(*tensor, p_.headBytes != 0 || (tensor != &q_ && p_.keyRowBytes != 0)));
    WAVESMITH_ASSIGN(out_.address, device_.allocate(out_.bytes()));
    if (p_.headBytes == 0)
      WAVESMITH_TRY(device_.fill(out_.address, kUntouched, out_.bytes()));
    const std::uint64_t lseBytes = std::max<std::uint64_t>(4ull * p_.heads * totalQ_, 4);
    WAVESMITH_ASSIGN(lse_, device_.allocate(lseBytes));
    WAVESMITH_TRY(device_.fill(lse_, kUntouched, lseBytes));
    makeUnits();
    if (units_.empty())
      return Status::ok();
    WAVESMITH_TRY(launch());
    WAVESMITH_TRY(collect());
    compare(result);
    for (std::uint64_t address : allocations_)
      WAVESMITH_TRY(device_.free(address));
    for (std::uint64_t address : {q_.address, k_.address, v_.address, out_.address, lse_})
      WAVESMITH_TRY(device_.free(address));
    return Status::ok();
  }

private:
  Tensor makeTensor(const Format &format, int tokens, int heads, int dim, std::int64_t rowBytes) {
    Tensor tensor{
        .format = format, .tokens = tokens, .heads = heads, .dim = dim, .rowBytes = rowBytes};
    tensor.headBytes = format.bytes * (dim + p_.headPadding);
    if (p_.headBytes) {
      tensor.rowBytes = tensor.headBytes;
      tensor.headBytes = p_.headBytes;
    }
    if (!tensor.rowBytes)
      tensor.rowBytes = heads * tensor.headBytes + format.bytes * p_.rowPadding;
    tensor.values.resize(static_cast<std::size_t>(tokens) * heads * dim);
    std::normal_distribution<float> normal;
    for (std::uint16_t &value : tensor.values)
      value = format.encode(normal(random_));
    return tensor;
  }

  void makeTensors() {
    int totalKv = 0;
    for (const SequenceLengths &s : p_.sequences) {
      firstQ_.push_back(totalQ_);
      firstKv_.push_back(totalKv);
      totalQ_ += s.q;
      totalKv += s.kv;
    }
    const KernelShape &shape = p_.shape;
    const Format &input = formatOf(shape.element);
    q_ = makeTensor(input, totalQ_, p_.heads, shape.headDimQk, 0);
    q_.shift = p_.queryShift;
    k_ = makeTensor(input, totalKv, p_.kvHeads, shape.headDimQk, p_.keyRowBytes);
    v_ = makeTensor(input, totalKv, p_.kvHeads, shape.headDimV, p_.keyRowBytes);
    out_ = makeTensor(formatOf(shape.output), totalQ_, p_.heads, shape.headDimV, 0);
    for (std::size_t s = 0; s < p_.sequences.size(); ++s)
      for (int row = 0; row < p_.sequences[s].q; ++row)
        for (int i = 0; row != 5 && i < p_.heads * q_.dim; ++i) {
          std::uint16_t &value = q_.at(firstQ_[s] + row, 0, i);
          value = input.encode(input.decode(value) * p_.otherQueries);
        }
    for (auto [name, tensor] : {std::pair{'q', &q_}, {'k', &k_}, {'v', &v_}})
      for (int token = 0; p_.bits && token < tensor->tokens; ++token)
        for (int head = 0; head < tensor->heads; ++head)
          for (int i = 0; i < tensor->dim; ++i)
            tensor->at(token, head, i) = p_.bits(name, token, head, i);
    if (p_.nanSequence >= 0) {
      const auto [lenQ, lenKv] = p_.sequences[p_.nanSequence];
      auto poison = [](Tensor &tensor, int first, int count) {
        const int row = tensor.heads * tensor.dim;
        std::fill_n(tensor.values.begin() + first * row, count * row, tensor.format.nan);
      };
      poison(q_, firstQ_[p_.nanSequence], lenQ);
      poison(k_, firstKv_[p_.nanSequence], lenKv);
      poison(v_, firstKv_[p_.nanSequence], lenKv);
    }
    for (std::size_t s = 0; s < p_.sequences.size() && p_.growth > 0; ++s)
      for (int key = 0; key < p_.sequences[s].kv; ++key)
        for (int head = 0; head < p_.kvHeads; ++head)
          for (int i = 0; i < k_.dim; ++i) {
            std::uint16_t &value = k_.at(firstKv_[s] + key, head, i);
            const float along = static_cast<float>(key) / static_cast<float>(p_.sequences[s].kv);
            value = input.encode(input.decode(value) * (1 + p_.growth * along));
          }
  }

  Status upload(Tensor &tensor, bool sparse) {
    WAVESMITH_ASSIGN(tensor.address, device_.allocate(tensor.bytes()));
    if (!sparse) {
      std::vector<std::byte> image(tensor.bytes());
      for (std::size_t byte = 0; byte < image.size(); ++byte)
        image[byte] =
            static_cast<std::byte>(tensor.format.nan >> (8 * (byte % tensor.format.bytes)));
      for (int token = 0; token < tensor.tokens; ++token)
        for (int head = 0; head < tensor.heads; ++head)
          std::ranges::copy(tensor.row(token, head), image.begin() + tensor.offset(token, head));
      return device_.write(tensor.address, image);
    }
    for (int token = 0; token < tensor.tokens; ++token)
      for (int head = 0; head < tensor.heads; ++head)
        WAVESMITH_TRY(
            device_.write(tensor.address + tensor.offset(token, head), tensor.row(token, head)));
    return Status::ok();
  }

  void makeUnits() {
    for (std::size_t s = 0; s < p_.sequences.size(); ++s) {
      const auto [lenQ, lenKv] = p_.sequences[s];
      for (int head = 0; head < p_.heads; ++head)
        for (int q0 = 0; q0 < lenQ; q0 += kAttentionBlockM) {
          const int tile = p_.blockN, tiles = (lenKv + tile - 1) / tile;
          for (int part = 0; part < p_.splits; ++part) {
            AttentionWorkUnit unit{};
            unit.qBegin = firstQ_[s];
            unit.kvBegin = firstKv_[s];
            unit.lenQ = lenQ;
            unit.lenKv = lenKv;
            unit.q0 = q0;
            unit.kv0 = std::min(tile * (tiles * part / p_.splits), lenKv / tile * tile);
            unit.kv1 = std::min(tile * (tiles * (part + 1) / p_.splits), lenKv);
            unit.head = head;
            unit.kvHead = head / (p_.heads / p_.kvHeads);
            unit.slot = p_.splits > 1 ? slots_++ : -1;
            units_.push_back(unit);
          }
        }
    }
  }

  Status launch() {
    AttentionArguments a{};
    a.q = q_.address;
    a.k = k_.address;
    a.v = v_.address;
    a.out = out_.address;
    a.lse = lse_;
    a.qRowStride = q_.rowBytes;
    a.qHeadStride = q_.headBytes;
    a.kRowStride = k_.rowBytes;
    a.kHeadStride = k_.headBytes;
    a.vRowStride = v_.rowBytes;
    a.vHeadStride = v_.headBytes;
    a.outRowStride = out_.rowBytes;
    a.outHeadStride = out_.headBytes;
    a.lseHeadStride = 4ll * totalQ_;
    scale_ = 1.0 / std::sqrt(static_cast<double>(p_.shape.headDimQk));
    a.scaleLog2 = static_cast<float>(scale_ * 1.4426950408889634);
    auto allocate = [&](std::uint64_t bytes) -> Expected<std::uint64_t> {
      auto address = device_.allocate(bytes);
      if (address)
        allocations_.push_back(*address);
      return address;
    };
    WAVESMITH_ASSIGN(a.work, allocate(units_.size() * sizeof(AttentionWorkUnit)));
    WAVESMITH_TRY(device_.write(a.work, std::as_bytes(std::span(units_))));
    if (slots_) {
      const std::uint64_t rows = 256ull * slots_;
      WAVESMITH_ASSIGN(a.partialOut, allocate(rows * p_.shape.headDimV * 4));
      WAVESMITH_ASSIGN(a.partialLse, allocate(rows * 4));
      WAVESMITH_TRY(device_.fill(a.partialOut, kUntouched, rows * p_.shape.headDimV * 4));
      WAVESMITH_TRY(device_.fill(a.partialLse, kUntouched, rows * 4));
    }
    if (p_.shape.scaled) {
      std::vector<float> descales;
      const std::pair<std::uint64_t *, int> tensors[] = {
          {&a.descaleQ, p_.heads}, {&a.descaleK, p_.kvHeads}, {&a.descaleV, p_.kvHeads}};
      for (const auto &[address, heads] : tensors) {
        const std::vector<float> values(
            p_.sharedDescales ? 1 : heads,
            address == &a.descaleQ ? std::ldexp(kDescale, -p_.queryShift) : kDescale);
        WAVESMITH_ASSIGN(*address, allocate(values.size() * sizeof(float)));
        WAVESMITH_TRY(device_.write(*address, std::as_bytes(std::span(values))));
      }
      a.sharedDescales = p_.sharedDescales ? 7 : 0;
    }
    arguments_ = a;
    emulator::LaunchConfig config;
    config.kernel = "k";
    config.grid = {static_cast<std::uint32_t>(units_.size()), 1, 1};
    config.block = {kAttentionThreads, 1, 1};
    config.kernarg = std::as_bytes(std::span(&a, 1));
    WAVESMITH_ASSIGN(emulator::RunReport report, device_.run(module_, config, options_));
    if (!report.clean()) {
      std::string text;
      for (std::size_t i = 0; i < std::min<std::size_t>(report.faults.size(), 4); ++i)
        text += "\n" + report.faults[i].text();
      return error(StatusCode::EmulationFault, "{} faults:{}", report.faults.size(), text);
    }
    return Status::ok();
  }

  Status collectRows() {
    for (int token = 0; token < totalQ_; ++token)
      for (int head = 0; head < p_.heads; ++head)
        WAVESMITH_TRY(device_.read(
            out_.address + out_.offset(token, head),
            std::as_writable_bytes(std::span(&out_.at(token, head, 0), std::size_t(out_.dim)))));
    return Status::ok();
  }

  /// Every byte of out, also of those between the rows.
  Status collectImage() {
    std::vector<std::byte> image(out_.bytes());
    WAVESMITH_TRY(device_.read(out_.address, image));
    std::vector<bool> isRow(image.size(), false);
    for (int token = 0; token < totalQ_; ++token)
      for (int head = 0; head < p_.heads; ++head) {
        std::memcpy(&out_.at(token, head, 0), &image[out_.offset(token, head)], 2 * out_.dim);
        std::fill_n(isRow.begin() + out_.offset(token, head), 2 * out_.dim, true);
      }
    for (std::size_t byte = 0; byte < image.size(); ++byte)
      if ((!isRow[byte] || slots_) && image[byte] != kUntouched)
        return error(StatusCode::VerificationFailed, "byte {} of out was written", byte);
    return Status::ok();
  }

  Status collect() {
    WAVESMITH_TRY(p_.headBytes ? collectRows() : collectImage());
    outFloats_.resize(out_.values.size());
    for (std::size_t i = 0; i < outFloats_.size(); ++i)
      outFloats_[i] = out_.format.decode(out_.values[i]);
    lseFloats_.resize(static_cast<std::size_t>(p_.heads) * totalQ_);
    WAVESMITH_TRY(device_.read(lse_, std::as_writable_bytes(std::span(lseFloats_))));
    return slots_ ? merge() : Status::ok();
  }

  Status merge() {
    const int dim = out_.dim;
    std::vector<float> partial(256ull * slots_ * dim), partialLse(256ull * slots_);
    WAVESMITH_TRY(device_.read(arguments_.partialOut, std::as_writable_bytes(std::span(partial))));
    WAVESMITH_TRY(
        device_.read(arguments_.partialLse, std::as_writable_bytes(std::span(partialLse))));
    for (std::size_t first = 0; first < units_.size(); first += p_.splits) {
      const AttentionWorkUnit &unit = units_[first];
      for (int row = 0; row < std::min(256, unit.lenQ - unit.q0); ++row) {
        double top = -INFINITY, sum = 0;
        for (int part = 0; part < p_.splits; ++part)
          top = std::max<double>(top, partialLse[(units_[first + part].slot) * 256ull + row]);
        std::vector<double> merged(dim, 0.0);
        for (int part = 0; part < p_.splits && top > -INFINITY; ++part) {
          const std::size_t at = units_[first + part].slot * 256ull + row;
          const double weight = std::exp(partialLse[at] - top);
          sum += weight;
          for (int i = 0; i < dim; ++i)
            merged[i] += weight * partial[at * dim + i];
        }
        const int token = unit.qBegin + unit.q0 + row;
        for (int i = 0; i < dim; ++i)
          outFloats_[(static_cast<std::size_t>(token) * p_.heads + unit.head) * dim + i] =
              static_cast<float>(sum > 0 ? merged[i] / sum : 0.0);
        lseFloats_[static_cast<std::size_t>(unit.head) * totalQ_ + token] =
            static_cast<float>(sum > 0 ? top + std::log(sum) : -INFINITY);
      }
    }
    return Status::ok();
  }

  int keysOf(std::size_t s, int row) const {
    const auto [lenQ, lenKv] = p_.sequences[s];
    return p_.shape.causal ? std::min(lenKv, row + lenKv - lenQ + 1) : lenKv;
  }

  /// One row in float64; false when it sees no key.
  bool reference(std::size_t s, int head, int row, std::vector<double> &out, double &lse) {
    const int last = keysOf(s, row);
    if (last <= 0)
      return false;
    const int kvHead = head / (p_.heads / p_.kvHeads);
    std::vector<double> scores(last);
    double top = -INFINITY, sum = 0;
    for (int key = 0; key < last; ++key) {
      double dot = 0;
      for (int i = 0; i < q_.dim; ++i)
        dot += double{q_.value(firstQ_[s] + row, head, i)} * k_.value(firstKv_[s] + key, kvHead, i);
      scores[key] = dot * scale_;
      top = std::max(top, scores[key]);
    }
    out.assign(out_.dim, 0.0);
    for (int key = 0; key < last; ++key) {
      const double weight = std::exp(scores[key] - top);
      sum += weight;
      for (int i = 0; i < out_.dim; ++i)
        out[i] += weight * v_.value(firstKv_[s] + key, kvHead, i);
    }
    for (double &value : out)
      value /= sum;
    lse = top + std::log(sum);
    return true;
  }

  void compare(AttentionResult &result) {
    result.out = outFloats_;
    result.lse = lseFloats_;
    double error = 0, norm = 0;
    std::vector<double> expected;
    if (p_.sequences.front().q > 5)
      result.rowFive.assign(&outFloats_[static_cast<std::size_t>(5) * p_.heads * out_.dim],
                            &outFloats_[static_cast<std::size_t>(5) * p_.heads * out_.dim] +
                                out_.dim);
    for (int s = 0; s < static_cast<int>(p_.sequences.size()); ++s)
      for (int head = 0; head < p_.heads && s != p_.nanSequence; ++head)
        for (int row = 0; row < p_.sequences[s].q; ++row) {
          const std::size_t token = firstQ_[s] + row;
          const float *out = &outFloats_[(token * p_.heads + head) * out_.dim];
          const float lse = lseFloats_[static_cast<std::size_t>(head) * totalQ_ + token];
          const bool hasLse = p_.shape.writeLse || slots_;
          double expectedLse = 0;
          if (!reference(s, head, row, expected, expectedLse)) {
            for (int i = 0; i < out_.dim; ++i)
              result.emptyRowsExact &= out[i] == 0;
            result.emptyRowsExact &= !hasLse || lse == -INFINITY;
            continue;
          }
          double rowError = 0, rowNorm = 0;
          for (int i = 0; i < out_.dim; ++i) {
            const double difference = std::isfinite(out[i]) ? out[i] - expected[i] : 1e9;
            rowError += difference * difference;
            rowNorm += expected[i] * expected[i];
          }
          error += rowError;
          norm += rowNorm;
          const bool few = keysOf(s, row) < 64;
          double &worst = few ? result.worstShortRow : result.worstRow;
          worst = std::max(worst, std::sqrt(rowError / rowNorm));
          double &worstLse = few ? result.worstShortLse : result.worstLse;
          if (hasLse)
            worstLse = std::max(worstLse, std::isfinite(lse) ? std::abs(lse - expectedLse) : 1e9);
        }
    result.relativeRms = norm > 0 ? std::sqrt(error / norm) : 0;
  }

  emulator::Device &device_;
  const emulator::Module &module_;
  const AttentionProblem &p_;
  const emulator::RunOptions &options_;
  std::mt19937_64 random_;
  Tensor q_{}, k_{}, v_{}, out_{};
  std::uint64_t lse_ = 0;
  std::vector<std::uint64_t> allocations_;
  std::vector<int> firstQ_, firstKv_;
  int totalQ_ = 0, slots_ = 0;
  double scale_ = 0;
  std::vector<AttentionWorkUnit> units_;
  AttentionArguments arguments_{};
  std::vector<float> outFloats_, lseFloats_;
};

} // namespace

AttentionResult runAttention(emulator::Device &device, const emulator::Module &module,
                             const AttentionProblem &problem, const emulator::RunOptions &options) {
  AttentionResult result;
  if (Status status = Runner(device, module, problem, options).run(result); !status.isOk())
    result.error = status.message();
  return result;
}

} // namespace wavesmith::compiler::testing

#include "runtime/dispatch/AttentionProblem.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace wavesmith {
namespace {

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

bool multiplyAdd(std::int64_t a, std::int64_t b, std::int64_t &sum) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

/// Extents stay below half the address space, so sums of offsets cannot wrap.
constexpr std::int64_t kMaxExtentBytes = std::int64_t{1} << 46;

Status checkExtent(std::string_view name, const TensorShape &shape) {
  std::int64_t elements = shape.dim;
  const std::int64_t most = kMaxExtentBytes / shape.elementBytes;
  // Strides alone too: they become bytes also where one head or no row leaves them idle.
  if (std::max(shape.rowStride, shape.headStride) > most ||
      (shape.rows > 0 &&
       (!multiplyAdd(shape.rows - 1, shape.rowStride, elements) ||
        !multiplyAdd(shape.heads - 1, shape.headStride, elements) || elements > most)))
    return invalid("{} reaches over more than 2^46 bytes with row stride {} and head stride {}",
                   name, shape.rowStride, shape.headStride);
  return Status::ok();
}

Status checkLengths(const std::vector<SequenceLength> &lengths, std::int64_t &totalQ,
                    std::int64_t &totalKv) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (auto [name, length] : {std::pair{"q", lengths[i].q}, {"kv", lengths[i].kv}}) {
      if (length < 0)
        return invalid("sequence {}: {} length is {}; lengths are 0 or more", i, name, length);
      if (length > kMaxTokens)
        return invalid("sequence {}: {} length is {}; at most {} tokens", i, name, length,
                       kMaxTokens);
    }
    totalQ += lengths[i].q;
    totalKv += lengths[i].kv;
    for (auto [name, total] : {std::pair{"q", totalQ}, {"kv", totalKv}})
      if (total > kMaxTokens)
        return invalid("the batch has more than {} {} tokens in its first {} sequences", kMaxTokens,
                       name, i + 1);
  }
  return Status::ok();
}

} // namespace

Status checkDisjoint(std::string_view name, const TensorShape &shape) {
  const bool headsInRows =
      (shape.heads == 1 || shape.headStride >= shape.dim) &&
      (shape.rows <= 1 || shape.rowStride >= (shape.heads - 1) * shape.headStride + shape.dim);
  const bool rowsInHeads =
      (shape.rows <= 1 || shape.rowStride >= shape.dim) &&
      (shape.heads == 1 ||
       shape.headStride >= std::max<std::int64_t>(shape.rows - 1, 0) * shape.rowStride + shape.dim);
  if (headsInRows || rowsInHeads)
    return Status::ok();
  return invalid("{} rows overlap: {} heads of {} elements with row stride {} and head stride {}",
                 name, shape.heads, shape.dim, shape.rowStride, shape.headStride);
}

Expected<TensorShape> tensorShape(std::string_view name, const TensorStrides &strides,
                                  std::int64_t rows, std::int64_t heads, std::int64_t dim,
                                  int elementBytes) {
  TensorShape shape{rows, heads, dim, 0, 0, elementBytes};
  shape.headStride = strides.head.value_or(dim);
  const std::int64_t alignment = kAddressAlignment / elementBytes;
  for (auto [which, stride] : {std::pair{"head", strides.head}, {"row", strides.row}}) {
    if (stride && *stride < 0)
      return invalid("{} {} stride is {}; strides are 0 or more", name, which, *stride);
    if (stride && *stride % alignment != 0)
      return invalid("{} {} stride is {} elements; it must be a multiple of {} ({} bytes)", name,
                     which, *stride, alignment, kAddressAlignment);
  }
  if (strides.row) {
    shape.rowStride = *strides.row;
  } else {
    shape.rowStride = 0;
    if (!multiplyAdd(heads, shape.headStride, shape.rowStride))
      return invalid("{} head stride {} is too large", name, shape.headStride);
  }
  if (shape.rowStride >= kMaxRowStrideBytes / elementBytes)
    return invalid("{} row stride is {} elements; rows must be less than 4 MiB ({} elements) apart",
                   name, shape.rowStride, kMaxRowStrideBytes / elementBytes);
  WAVESMITH_TRY(checkExtent(name, shape));
  return shape;
}

std::int64_t TensorShape::extentBytes() const {
  if (rows == 0 || heads == 0)
    return 0;
  return ((rows - 1) * rowStride + (heads - 1) * headStride + dim) * elementBytes;
}

Expected<CheckedProblem> checkProblem(const AttentionProblem &problem) {
  CheckedProblem checked;
  checked.problem = problem;
  AttentionProblem &p = checked.problem;
  checked.spec = {p.target,
                  {.dtype = p.dtype,
                   .headDimQk = p.headDimQk,
                   .headDimV = p.headDimV,
                   .causal = p.causal,
                   .writeLse = p.writeLse,
                   .softCap = p.softCap.has_value(),
                   .window = p.window.isOn(),
                   .sink = p.sink,
                   .f16Out = p.f16Out},
                  p.schedule};
  WAVESMITH_TRY(checked.spec.validate());

  WAVESMITH_ASSIGN(const Target target, parseTarget(p.target));
  checked.fp8 = p.dtype == DType::FP8 ? target.fp8 : Fp8Format::None;
  // The formats differ by a factor of two at best: no result would be right.
  if (p.fp8 && *p.fp8 != checked.fp8)
    return invalid("inputs are {}; {} on {} takes {}", fp8FormatName(*p.fp8), dtypeName(p.dtype),
                   p.target,
                   p.dtype == DType::FP8 ? fp8FormatName(checked.fp8) : dtypeName(p.dtype));
  if (p.dtype != DType::FP8 && p.sharedDescales != SharedDescales{})
    return invalid("descales belong to fp8 inputs, these are {}", dtypeName(p.dtype));

  if (p.heads < 1 || p.heads > kMaxHeads)
    return invalid("heads is {}; 1 to {} are supported", p.heads, kMaxHeads);
  if (p.kvHeads == 0)
    p.kvHeads = p.heads;
  if (p.kvHeads < 1 || p.kvHeads > kMaxHeads)
    return invalid("kv_heads is {}; 1 to {} are supported", p.kvHeads, kMaxHeads);
  if (p.heads % p.kvHeads != 0)
    return invalid("heads {} is not a multiple of kv_heads {}", p.heads, p.kvHeads);
  WAVESMITH_TRY(checkLengths(p.lengths, checked.totalQ, checked.totalKv));

  if (!p.scale)
    p.scale = 1.0 / std::sqrt(static_cast<double>(p.headDimQk));
  // The kernel gets scale * log2(e) in float32: it must be a normal number there.
  if (!(*p.scale >= 1e-30 && *p.scale <= 1e30))
    return invalid("scale is {}; it must be positive, from 1e-30 to 1e30", *p.scale);

  if (p.softCap && !(*p.softCap >= kLeastSoftCap && *p.softCap <= kLargestSoftCap))
    return invalid("soft cap is {}; it must be from {} to {}", *p.softCap, kLeastSoftCap,
                   kLargestSoftCap);
  for (auto [name, side] : {std::pair{"left", p.window.left}, {"right", p.window.right}})
    if (side < -1 || side > kMaxTokens)
      return invalid("window {} is {}; it must be -1 (unlimited) or 0 to {} keys", name, side,
                     kMaxTokens);

  const int bytes = bytesOf(p.dtype);
  WAVESMITH_ASSIGN(checked.q, tensorShape("q", p.q, checked.totalQ, p.heads, p.headDimQk, bytes));
  WAVESMITH_ASSIGN(checked.k,
                   tensorShape("k", p.k, checked.totalKv, p.kvHeads, p.headDimQk, bytes));
  WAVESMITH_ASSIGN(checked.v, tensorShape("v", p.v, checked.totalKv, p.kvHeads, p.headDimV, bytes));
  WAVESMITH_ASSIGN(checked.out, tensorShape("out", p.out, checked.totalQ, p.heads, p.headDimV, 2));
  WAVESMITH_TRY(checkDisjoint("out", checked.out));
  checked.lse = {checked.totalQ, p.heads, 1, 1, p.lseHeadStride.value_or(checked.totalQ), 4};
  if (checked.lse.headStride < checked.totalQ)
    return invalid("lse head stride is {}; the batch has {} queries", checked.lse.headStride,
                   checked.totalQ);
  WAVESMITH_TRY(checkExtent("lse", checked.lse));
  return checked;
}

KeyRange visibleKeys(const AttentionProblem &problem, const SequenceLength &length,
                     std::int64_t query) {
  const std::int64_t own = query + length.kv - length.q;
  KeyRange keys{0, length.kv};
  if (problem.window.left >= 0)
    keys.begin = std::max(keys.begin, own - problem.window.left);
  if (problem.window.right >= 0)
    keys.end = std::min(keys.end, own + problem.window.right + 1);
  if (problem.causal)
    keys.end = std::min(keys.end, own + 1);
  return keys;
}

Expected<std::vector<SequenceLength>> lengthsFromOffsets(std::span<const std::int32_t> q,
                                                         std::span<const std::int32_t> kv) {
  if (q.empty() || q.size() != kv.size())
    return invalid("cumulative lengths have {} entries for q and {} for kv; both need batch + 1",
                   q.size(), kv.size());
  for (auto [name, offsets] : {std::pair{"q", q}, {"kv", kv}}) {
    if (offsets[0] != 0)
      return invalid("cumulative {} lengths start with {}, not with 0", name, offsets[0]);
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] < offsets[i - 1])
        return invalid("cumulative {} lengths fall from {} to {} at sequence {}", name,
                       offsets[i - 1], offsets[i], i - 1);
  }
  std::vector<SequenceLength> lengths(q.size() - 1);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = {q[i + 1] - q[i], kv[i + 1] - kv[i]};
  return lengths;
}

Expected<std::vector<SequenceLength>> parseLengths(std::string_view text) {
  std::vector<SequenceLength> lengths;
  for (std::string_view rest = text; !rest.empty() || lengths.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const bool last = comma == std::string_view::npos;
    rest = last ? std::string_view() : rest.substr(comma + 1);
    SequenceLength length;
    const char *end = item.data() + item.size();
    const auto q = std::from_chars(item.data(), end, length.q);
    const bool colon = q.ec == std::errc() && q.ptr != end && *q.ptr == ':';
    const auto kv = colon ? std::from_chars(q.ptr + 1, end, length.kv) : q;
    if (!colon || kv.ec != std::errc() || kv.ptr != end || (!last && rest.empty()))
      return invalid("lengths \"{}\" are not q:kv,q:kv,...: cannot read \"{}\"", text.substr(0, 80),
                     item.substr(0, 40));
    lengths.push_back(length);
  }
  return lengths;
}

} // namespace wavesmith

#include "runtime/dispatch/QuantizedPlan.h"

#include <utility>

namespace wavesmith {
namespace {

using Scales = Quantization::Scales;

constexpr int kNopeDim = 128, kRopeDim = 64; ///< of keys in two parts

/// Neighbouring rows of planned sequences.
struct Rows {
  std::int64_t begin = 0, count = 0;
};
std::vector<Rows> plannedRows(const AttentionPlan &plan, std::int64_t SequenceLength::*length) {
  std::vector<Rows> runs;
  std::int64_t row = 0;
  std::size_t next = 0;
  const auto &lengths = plan.checked.problem.lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t count = lengths[i].*length;
    if (next < plan.sequences.size() && plan.sequences[next] == i) {
      ++next;
      if (!runs.empty() && runs.back().begin + runs.back().count == row)
        runs.back().count += count;
      else if (count > 0)
        runs.push_back({row, count});
    }
    row += count;
  }
  return runs;
}

QuantizeOptions optionsOf(const Quantization &quantization, std::uint32_t rotation) {
  return {.input = quantization.input,
          .dynamic = quantization.scales == Scales::Dynamic,
          .rotation = rotation};
}

KernelSpec keySpec(const std::string &target, int headDim, const Quantization &quantization) {
  const QuantizeOptions options = optionsOf(quantization, quantization.rotationK);
  return quantization.keysInParts ? quantizeConcatSpec(target, options)
                                  : quantizeSpec(target, headDim, options);
}

/// Which of the two that a plan has no need of.
Status checkQuantization(const AttentionProblem &problem, const Quantization &quantization) {
  if (problem.dtype != DType::FP8)
    return error(StatusCode::InvalidArgument, "the call is {}; inputs are quantised for fp8 only",
                 dtypeName(problem.dtype));
  for (const std::uint32_t seed : {quantization.rotationQ, quantization.rotationK})
    if (seed > INT32_MAX)
      return error(StatusCode::InvalidArgument, "rotation seed {} is not below 2^31", seed);
  if (quantization.keysInParts && problem.headDimQk != kNopeDim + kRopeDim)
    return error(StatusCode::InvalidArgument,
                 "keys in two parts have {} + {} elements, the head dim is {}", kNopeDim, kRopeDim,
                 problem.headDimQk);
  const KernelSpec queries = quantizeSpec(problem.target, problem.headDimQk,
                                          optionsOf(quantization, quantization.rotationQ));
  WAVESMITH_TRY(queries.validate());
  const KernelSpec keys = keySpec(problem.target, problem.headDimQk, quantization);
  WAVESMITH_TRY(keys.validate());
  return checkSameRotation(queries, keys);
}

/// Adds the steps of one launch list.
class Builder {
public:
  explicit Builder(const QuantizedPlan &plan)
      : plan_(plan), target_(plan.attention.checked.problem.target),
        dynamic_(plan.quantization.scales == Scales::Dynamic) {}

  LaunchList build() {
    const std::vector<Rows> queries = plannedRows(plan_.attention, &SequenceLength::q);
    const std::vector<Rows> keys = plannedRows(plan_.attention, &SequenceLength::kv);
    const Quantization &quantization = plan_.quantization;
    const Source q{plan_.q,
                   queries,
                   Binding::Q,
                   Binding::DescaleQ,
                   Binding::SaturatedQ,
                   quantization.rotationQ};
    const Source k{
        plan_.k, keys, Binding::K, Binding::DescaleK, Binding::SaturatedK, quantization.rotationK};
    const Source v{plan_.v, keys, Binding::V, Binding::DescaleV, Binding::SaturatedV, 0};
    list_.workspaceBytes = plan_.workspaceBytes;
    if (plan_.zeroBytes > 0)
      list_.zeros.push_back({plan_.zeros, plan_.zeroBytes});
    const std::vector<Source> sources = plan_.work == QuantizedWork::Queries ? std::vector{q}
                                        : plan_.work == QuantizedWork::Rest  ? std::vector{k, v}
                                                                             : std::vector{q, k, v};
    if (quantization.scales == Scales::Unit)
      addUnitDescales(sources);
    if (dynamic_)
      for (const Source &source : sources) {
        addMaxima(source, source.tensor.input, source.input, 0);
        if (source.input == Binding::K && quantization.keysInParts)
          addMaxima(source, plan_.kRope, Binding::KRope, kNopeDim);
      }
    for (const Source &source : sources)
      if (source.input == Binding::K && quantization.keysInParts)
        addConcat(source);
      else
        addCodes(source);
    if (plan_.work != QuantizedWork::Queries)
      addAttention();
    return std::move(list_);
  }

private:
  struct Source {
    const QuantizedTensor &tensor;
    const std::vector<Rows> &rows;
    Binding input, descale, saturated;
    std::uint32_t rotation;
  };

  static std::int64_t bytes(const TensorShape &shape, std::int64_t stride) {
    return stride * shape.elementBytes;
  }
  static std::uint64_t rowOffset(const TensorShape &shape, const Rows &rows) {
    return static_cast<std::uint64_t>(bytes(shape, rows.begin * shape.rowStride));
  }
  /// Tokens and heads were checked with the problem.
  static KernelGrid gridOf(const KernelSpec &spec, const Rows &rows, std::int64_t heads) {
    return *rowGrid(spec, rows.count, heads);
  }
  std::int64_t amaxStride(const QuantizedTensor &tensor) const {
    return tensor.shared ? 0 : sizeof(float);
  }

  void addUnitDescales(const std::vector<Source> &sources) {
    const float one = 1;
    const auto bytes = std::as_bytes(std::span(&one, 1));
    for (const Source &source : sources)
      list_.images.push_back({source.tensor.descale, {bytes.begin(), bytes.end()}});
  }

  void addMaxima(const Source &source, const TensorShape &shape, Binding input, int firstColumn) {
    const KernelSpec spec = amaxSpec(target_, static_cast<int>(shape.dim),
                                     optionsOf(plan_.quantization, source.rotation), firstColumn);
    for (const Rows &rows : source.rows) {
      AmaxArguments a{};
      a.xRowStride = bytes(shape, shape.rowStride);
      a.xHeadStride = bytes(shape, shape.headStride);
      a.amaxHeadStride = amaxStride(source.tensor);
      a.tokens = static_cast<std::int32_t>(rows.count);
      list_.add(spec, gridOf(spec, rows, shape.heads), a,
                {{.offset = offsetof(AmaxArguments, x),
                  .binding = input,
                  .addend = rowOffset(shape, rows)},
                 {.offset = offsetof(AmaxArguments, amax), .addend = source.tensor.amax}},
                shape.dataBytes(rows.count));
    }
  }

  /// What both quantisers take.
  template <typename Arguments>
  std::vector<AddressPlace> fill(const Source &source, const Rows &rows, Arguments &a) const {
    const QuantizedTensor &tensor = source.tensor;
    const bool given = plan_.quantization.scales == Scales::Given;
    a.yRowStride = tensor.codes.rowStride;
    a.yHeadStride = tensor.codes.headStride;
    a.descaleHeadStride =
        plan_.quantization.scales == Scales::Unit || (given && tensor.shared) ? 0 : sizeof(float);
    a.amaxHeadStride = amaxStride(tensor);
    a.saturatedHeadStride = sizeof(std::uint64_t);
    a.tokens = static_cast<std::int32_t>(rows.count);
    std::vector<AddressPlace> places = {
        {.offset = offsetof(Arguments, y), .addend = tensor.data + rowOffset(tensor.codes, rows)},
    };
    if (plan_.quantization.countsGiven)
      places.push_back({.offset = offsetof(Arguments, saturated), .binding = source.saturated});
    else
      places.push_back({.offset = offsetof(Arguments, saturated), .addend = tensor.saturated});
    if (given)
      places.push_back({.offset = offsetof(Arguments, descale), .binding = source.descale});
    else
      places.push_back({.offset = offsetof(Arguments, descale), .addend = tensor.descale});
    if (dynamic_)
      places.push_back({.offset = offsetof(Arguments, amax), .addend = tensor.amax});
    return places;
  }

  void addCodes(const Source &source) {
    const TensorShape &input = source.tensor.input;
    const KernelSpec spec = quantizeSpec(target_, static_cast<int>(input.dim),
                                         optionsOf(plan_.quantization, source.rotation));
    for (const Rows &rows : source.rows) {
      QuantizeArguments a{};
      a.xRowStride = bytes(input, input.rowStride);
      a.xHeadStride = bytes(input, input.headStride);
      std::vector<AddressPlace> places = fill(source, rows, a);
      places.push_back({.offset = offsetof(QuantizeArguments, x),
                        .binding = source.input,
                        .addend = rowOffset(input, rows)});
      list_.add(spec, gridOf(spec, rows, input.heads), a, std::move(places),
                input.dataBytes(rows.count) + source.tensor.codes.dataBytes(rows.count));
    }
  }

  void addConcat(const Source &source) {
    const TensorShape &nope = source.tensor.input, &rope = plan_.kRope;
    const KernelSpec spec =
        quantizeConcatSpec(target_, optionsOf(plan_.quantization, source.rotation));
    for (const Rows &rows : source.rows) {
      QuantizeConcatArguments a{};
      a.nopeRowStride = bytes(nope, nope.rowStride);
      a.nopeHeadStride = bytes(nope, nope.headStride);
      a.ropeRowStride = bytes(rope, rope.rowStride);
      a.ropeHeadStride = bytes(rope, rope.headStride);
      std::vector<AddressPlace> places = fill(source, rows, a);
      places.push_back({.offset = offsetof(QuantizeConcatArguments, nope),
                        .binding = Binding::K,
                        .addend = rowOffset(nope, rows)});
      places.push_back({.offset = offsetof(QuantizeConcatArguments, rope),
                        .binding = Binding::KRope,
                        .addend = rowOffset(rope, rows)});
      list_.add(spec, gridOf(spec, rows, nope.heads), a, std::move(places),
                nope.dataBytes(rows.count) + rope.dataBytes(rows.count) +
                    source.tensor.codes.dataBytes(rows.count));
    }
  }

  /// The attention of the codes, with the workspace where the caller's tensors were.
  void addAttention() {
    LaunchList attention = launchList(plan_.attention);
    struct Move {
      Binding from, to;
      std::uint64_t addend;
    };
    const bool given = plan_.quantization.scales == Scales::Given;
    std::vector<Move> moves = {{Binding::K, Binding::Workspace, plan_.k.data},
                               {Binding::V, Binding::Workspace, plan_.v.data}};
    if (!given)
      moves.insert(moves.end(), {{Binding::DescaleK, Binding::Workspace, plan_.k.descale},
                                 {Binding::DescaleV, Binding::Workspace, plan_.v.descale}});
    const bool elsewhere = plan_.work == QuantizedWork::Rest;
    const Binding codes = elsewhere ? Binding::QCodes : Binding::Workspace;
    const Binding descale = elsewhere ? Binding::QCodesDescale : Binding::Workspace;
    moves.push_back({Binding::Q, codes, elsewhere ? 0 : plan_.q.data});
    if (!given)
      moves.push_back({Binding::DescaleQ, descale, elsewhere ? 0 : plan_.q.descale});
    for (LaunchStep &step : attention.steps) {
      for (AddressPlace &place : step.addresses)
        for (const Move &move : moves)
          if (place.binding == move.from) {
            place.binding = move.to;
            place.addend += move.addend;
            break;
          }
      list_.steps.push_back(std::move(step));
    }
    for (WorkspaceImage &image : attention.images)
      list_.images.push_back(std::move(image));
  }

  const QuantizedPlan &plan_;
  const std::string &target_;
  const bool dynamic_;
  LaunchList list_;
};

} // namespace

std::string_view scalesName(Quantization::Scales scales) {
  switch (scales) {
  case Scales::Given:
    return "static";
  case Scales::Dynamic:
    return "dynamic";
  case Scales::Unit:
    return "unit";
  }
  return "?";
}

Expected<Scales> parseScales(std::string_view text) {
  for (const Scales scales : {Scales::Given, Scales::Dynamic, Scales::Unit})
    if (scalesName(scales) == text)
      return scales;
  return error(StatusCode::InvalidArgument,
               "scales \"{}\" are unknown; known: static, dynamic, unit", text.substr(0, 80));
}

Expected<QuantizedPlan> planQuantized(const AttentionProblem &problem,
                                      const Quantization &quantization, const PlanOptions &options,
                                      QuantizedWork work) {
  WAVESMITH_TRY(checkQuantization(problem, quantization));
  QuantizedPlan plan;
  plan.quantization = quantization;
  plan.work = work;
  AttentionProblem codes = problem;
  codes.q = codes.k = codes.v = {};
  if (quantization.scales == Scales::Dynamic)
    codes.sharedDescales = {}; // each head has its own copy
  else if (quantization.scales == Scales::Unit)
    codes.sharedDescales = {.q = true, .k = true, .v = true};
  WAVESMITH_ASSIGN(plan.attention, planAttention(codes, options));

  const CheckedProblem &c = plan.attention.checked;
  const int bytes = quantization.input == "f32" ? 4 : 2;
  const std::int64_t kvHeads = c.problem.kvHeads;
  plan.q = {.codes = c.q, .shared = problem.sharedDescales.q};
  plan.k = {.codes = c.k, .shared = problem.sharedDescales.k};
  plan.v = {.codes = c.v, .shared = problem.sharedDescales.v};
  WAVESMITH_ASSIGN(plan.q.input, tensorShape("q", problem.q, c.totalQ, c.problem.heads,
                                             c.problem.headDimQk, bytes));
  WAVESMITH_ASSIGN(plan.k.input,
                   tensorShape("k", problem.k, c.totalKv, kvHeads,
                               quantization.keysInParts ? kNopeDim : c.problem.headDimQk, bytes));
  WAVESMITH_ASSIGN(plan.v.input,
                   tensorShape("v", problem.v, c.totalKv, kvHeads, c.problem.headDimV, bytes));
  if (quantization.keysInParts) {
    TensorStrides strides = quantization.kRope;
    if (!strides.head)
      strides.head = 0;
    if (!strides.row)
      strides.row = *strides.head == 0 ? kRopeDim : kvHeads * *strides.head;
    WAVESMITH_ASSIGN(plan.kRope,
                     tensorShape("k_rope", strides, c.totalKv, kvHeads, kRopeDim, bytes));
  }

  plan.workspaceBytes = work == QuantizedWork::Queries ? 0 : plan.attention.workspaceBytes();
  if (plan.attention.list.units.empty())
    return plan;
  const auto take = [&](std::uint64_t size) {
    const std::uint64_t begin = plan.workspaceBytes;
    plan.workspaceBytes = alignWorkspace(begin + size);
    return begin;
  };
  const std::vector<QuantizedTensor *> tensors =
      work == QuantizedWork::Queries ? std::vector{&plan.q}
      : work == QuantizedWork::Rest  ? std::vector{&plan.k, &plan.v}
                                     : std::vector{&plan.q, &plan.k, &plan.v};
  for (QuantizedTensor *tensor : tensors) {
    // Of a batch that is planned in part, from the first planned row to the last.
    const std::vector<Rows> runs =
        plannedRows(plan.attention, tensor == &plan.q ? &SequenceLength::q : &SequenceLength::kv);
    const std::int64_t first = runs.empty() ? 0 : runs.front().begin;
    const std::int64_t end = runs.empty() ? 0 : runs.back().begin + runs.back().count;
    tensor->data = take(static_cast<std::uint64_t>((end - first) * tensor->codes.rowStride)) -
                   static_cast<std::uint64_t>(first * tensor->codes.rowStride);
    tensor->descale = take(static_cast<std::uint64_t>(tensor->codes.heads) * sizeof(float));
  }
  plan.zeros = plan.workspaceBytes;
  for (QuantizedTensor *tensor : tensors) {
    const auto heads = static_cast<std::uint64_t>(tensor->codes.heads);
    if (!quantization.countsGiven)
      tensor->saturated = take(heads * sizeof(std::uint64_t));
    if (quantization.scales == Scales::Dynamic)
      tensor->amax = take(heads * sizeof(float));
  }
  plan.zeroBytes = plan.workspaceBytes - plan.zeros;
  return plan;
}

LaunchList launchList(const QuantizedPlan &plan) {
  if (plan.attention.list.units.empty())
    return {};
  return Builder(plan).build();
}

} // namespace wavesmith

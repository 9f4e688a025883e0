// The kernels around attention through the C interface. Each is a launch list of one step: the
// caller's tensors go to bindings of attention with the alignment that they need, and their own
// names stand in the messages.

#include "runtime/capi/RowOps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/capi/Attention.h"
#include "runtime/capi/Call.h"
#include "runtime/dispatch/RowKernel.h"
#include "runtime/spec/MagnitudeClasses.h"

namespace wavesmith::capi {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

Status checkCounts(std::int64_t tokens, std::int32_t heads) {
  if (tokens < 0 || tokens > kMaxTokens)
    return invalid("tokens is {}; 0 to {} are supported", tokens, kMaxTokens);
  if (heads < 1 || heads > kMaxHeads)
    return invalid("heads is {}; 1 to {} are supported", heads, kMaxHeads);
  return Status::ok();
}

Status checkFlags(std::uint32_t flags, std::uint32_t known) {
  if (flags & ~known)
    return invalid("flags are 0x{:x}; this kernel knows 0x{:x}", flags, known);
  return Status::ok();
}

struct Element {
  std::string name;
  int bytes;
};
Expected<Element> elementOf(std::int32_t dtype, std::string_view field) {
  switch (dtype) {
  case WAVESMITH_BF16:
    return Element{"bf16", 2};
  case WAVESMITH_F32:
    return Element{"f32", 4};
  case WAVESMITH_F16:
    return Element{"f16", 2};
  default:
    return invalid("{} is {}; want 1 (bf16), 3 (f16) or 4 (f32)", field, dtype);
  }
}

/// A tensor of the caller's, in bytes.
struct Strides {
  std::int64_t row = 0, head = 0;

  Strides() = default;
  explicit Strides(const TensorShape &shape)
      : row(shape.rowStride * shape.elementBytes), head(shape.headStride * shape.elementBytes) {}
};
Expected<Strides> stridesOf(std::string_view name, const wavesmith_strides &given,
                            std::int64_t tokens, std::int64_t heads, std::int64_t dim, int bytes) {
  WAVESMITH_ASSIGN(const TensorShape shape,
                   tensorShape(name, tensorStrides(given), tokens, heads, dim, bytes));
  return Strides(shape);
}
/// One that is written.
Expected<Strides> outputStrides(std::string_view name, const wavesmith_strides &given,
                                std::int64_t tokens, std::int64_t heads, std::int64_t dim,
                                int bytes) {
  WAVESMITH_ASSIGN(const TensorShape shape,
                   tensorShape(name, tensorStrides(given), tokens, heads, dim, bytes));
  if (tokens > 0)
    WAVESMITH_TRY(checkDisjoint(name, shape));
  return Strides(shape);
}

/// Bytes between heads of float32 [heads, tokens].
Expected<std::int64_t> lseStride(std::string_view name, std::int64_t given, std::int64_t tokens) {
  if (given != 0 && given < tokens)
    return invalid("{} is {}; there are {} tokens", name, given, tokens);
  constexpr std::int64_t kMaxStride = std::int64_t{1} << 38; // so that extents cannot wrap
  if (given > kMaxStride)
    return invalid("{} is {}; at most {}", name, given, kMaxStride);
  return (given == 0 ? tokens : given) * kFloat;
}

Status checkRotation(std::uint32_t rotation) {
  if (rotation > INT32_MAX)
    return invalid("rotation is {}; seeds are below 2^31", rotation);
  return Status::ok();
}

/// A plan of one kernel.
template <typename Arguments>
Expected<std::shared_ptr<Plan>>
planOf(const Context &context, Plan::Kind kind, const KernelSpec &spec, const KernelGrid &grid,
       const Arguments &arguments, std::vector<AddressPlace> places, std::int64_t tokens,
       std::int32_t heads, std::vector<WorkspaceImage> images = {}) {
  WAVESMITH_TRY(spec.validate());
  LaunchList list;
  list.add(spec, grid, arguments, std::move(places), 0);
  if (list.steps.empty())
    images.clear();
  for (const WorkspaceImage &image : images)
    list.workspaceBytes =
        std::max(list.workspaceBytes, alignWorkspace(image.offset + image.bytes.size()));
  list.images = std::move(images);
  Explanation explanation;
  explanation.path = WAVESMITH_PATH_ROWS;
  explanation.rule = "asked";
  explanation.reason = fmt::format("{} was asked for by name", planKindName(kind));
  explanation.values =
      nlohmann::ordered_json{{"tokens", tokens}, {"heads", heads}, {"spec", spec.text()}}.dump();
  auto plan = std::make_shared<Plan>(kind, context.device, std::move(list), std::move(explanation));
  context.device->counters.plans.fetch_add(1, std::memory_order_relaxed);
  WAVESMITH_TRY(plan->makeReady());
  return plan;
}

const std::string &targetOf(const Context &context) { return context.device->info().target; }

//===-- merge_states -------------------------------------------------------------------------===//

} // namespace

Expected<std::shared_ptr<Plan>> planMerge(const Context &context, const wavesmith_merge &m) {
  WAVESMITH_TRY(checkCounts(m.tokens, m.heads));
  WAVESMITH_TRY(checkFlags(m.flags, 0));
  WAVESMITH_ASSIGN(const Element element, elementOf(m.element, "element"));
  if (m.tokens_with_a < 0 || m.tokens_with_a > m.tokens)
    return invalid("tokens_with_a is {}; want 0 (all) to {}", m.tokens_with_a, m.tokens);
  const auto spec = mergeSpec(targetOf(context), m.head_dim_v, element.name);
  WAVESMITH_TRY(spec.validate());
  const auto strides = [&](std::string_view name, const wavesmith_strides &given) {
    return stridesOf(name, given, m.tokens, m.heads, m.head_dim_v, element.bytes);
  };
  WAVESMITH_ASSIGN(const Strides a, strides("a", m.a));
  WAVESMITH_ASSIGN(const Strides b, strides("b", m.b));
  WAVESMITH_ASSIGN(const Strides out,
                   outputStrides("out", m.out, m.tokens, m.heads, m.head_dim_v, element.bytes));
  MergeArguments arguments{};
  arguments.aRowStride = a.row;
  arguments.aHeadStride = a.head;
  arguments.bRowStride = b.row;
  arguments.bHeadStride = b.head;
  arguments.outRowStride = out.row;
  arguments.outHeadStride = out.head;
  WAVESMITH_ASSIGN(arguments.lseAHeadStride,
                   lseStride("lse_a_head_stride", m.lse_a_head_stride, m.tokens));
  WAVESMITH_ASSIGN(arguments.lseBHeadStride,
                   lseStride("lse_b_head_stride", m.lse_b_head_stride, m.tokens));
  WAVESMITH_ASSIGN(arguments.lseHeadStride,
                   lseStride("lse_head_stride", m.lse_head_stride, m.tokens));
  arguments.lseARowStride = arguments.lseBRowStride = arguments.lseRowStride = kFloat;
  arguments.tokens = static_cast<std::int32_t>(m.tokens);
  arguments.merged = static_cast<std::int32_t>(m.tokens_with_a == 0 ? m.tokens : m.tokens_with_a);
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(spec, m.tokens, m.heads));
  return planOf(context, Plan::Kind::Merge, spec, grid, arguments,
                {{offsetof(MergeArguments, a), Binding::Q},
                 {offsetof(MergeArguments, lseA), Binding::DescaleQ},
                 {offsetof(MergeArguments, b), Binding::K},
                 {offsetof(MergeArguments, lseB), Binding::DescaleK},
                 {offsetof(MergeArguments, out), Binding::Out},
                 {offsetof(MergeArguments, lse), Binding::Lse}},
                m.tokens, m.heads);
}

namespace {

//===-- combine_splits -----------------------------------------------------------------------===//

Status checkBlock(const wavesmith_combine &c, const wavesmith_combine_block &block) {
  if (block.rows < 1 || block.rows > kAttentionBlockM)
    return invalid("rows is {}; want 1 to {}", block.rows, kAttentionBlockM);
  if (block.first_row < 0 || block.first_row > c.tokens - block.rows)
    return invalid("rows {} to {} of {} tokens", block.first_row,
                   std::int64_t{block.first_row} + block.rows - 1, c.tokens);
  if (block.head < 0 || block.head >= c.heads)
    return invalid("head is {} of {}", block.head, c.heads);
  if (block.slots < 0 || block.first_slot < 0 || block.first_slot > c.slots - block.slots)
    return invalid("slots {} to {} of {}", block.first_slot,
                   std::int64_t{block.first_slot} + block.slots - 1, c.slots);
  for (const std::int32_t reserved : block.reserved)
    if (reserved != 0)
      return invalid("reserved is {}; it must be 0", reserved);
  return Status::ok();
}

Expected<DType> combineOutput(const wavesmith_combine &c) {
  if (c.reserved != 0)
    return invalid("reserved is {}; it must be 0", c.reserved);
  switch (c.element) {
  case 0:
  case WAVESMITH_BF16:
    return DType::BF16;
  case WAVESMITH_F16:
    return DType::F16;
  default:
    return invalid("element is {}; want 0 or 1 (bf16), or 3 (f16)", c.element);
  }
}

Expected<std::shared_ptr<Plan>> planCombine(const Context &context, const wavesmith_combine &c) {
  static_assert(sizeof(wavesmith_combine_block) == sizeof(CombineUnit));
  static_assert(offsetof(wavesmith_combine_block, first_row) == offsetof(CombineUnit, firstRow));
  static_assert(offsetof(wavesmith_combine_block, rows) == offsetof(CombineUnit, rows));
  static_assert(offsetof(wavesmith_combine_block, head) == offsetof(CombineUnit, head));
  static_assert(offsetof(wavesmith_combine_block, first_slot) == offsetof(CombineUnit, slot));
  static_assert(offsetof(wavesmith_combine_block, slots) == offsetof(CombineUnit, slots));
  WAVESMITH_TRY(checkCounts(c.tokens, c.heads));
  WAVESMITH_TRY(checkFlags(c.flags, WAVESMITH_LSE));
  constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 24;
  if (c.slots < 0)
    return invalid("slots is {}; want 0 or more", c.slots);
  if (c.block_count > kMaxBlocks)
    return invalid("block_count is {}; at most {}", c.block_count, kMaxBlocks);
  if (c.block_count > 0 && !c.blocks)
    return isNull("blocks");
  if (reinterpret_cast<std::uintptr_t>(c.blocks) % alignof(wavesmith_combine_block) != 0)
    return invalid("blocks is at {}; it must be aligned to 4 bytes",
                   static_cast<const void *>(c.blocks));
  const std::span blocks(c.blocks, c.block_count);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (const Status status = checkBlock(c, blocks[i]); !status.isOk())
      return status.withContext(fmt::format("blocks[{}]", i));
  const bool lse = (c.flags & WAVESMITH_LSE) != 0;
  WAVESMITH_ASSIGN(const DType element, combineOutput(c));
  const auto spec = combineSpec(targetOf(context), c.head_dim_v, lse, element);
  WAVESMITH_TRY(spec.validate());
  WAVESMITH_ASSIGN(const Strides out,
                   outputStrides("out", c.out, c.tokens, c.heads, c.head_dim_v, bytesOf(element)));
  AttentionArguments written{};
  written.outRowStride = out.row;
  written.outHeadStride = out.head;
  WAVESMITH_ASSIGN(written.lseHeadStride,
                   lseStride("lse_head_stride", c.lse_head_stride, c.tokens));
  const CombineArguments arguments = combineArguments(written, c.head_dim_v, 0);
  std::vector<AddressPlace> places = {{offsetof(CombineArguments, partialOut), Binding::Q},
                                      {offsetof(CombineArguments, partialLse), Binding::DescaleQ},
                                      {offsetof(CombineArguments, units), Binding::Workspace},
                                      {offsetof(CombineArguments, out), Binding::Out}};
  if (lse)
    places.push_back({offsetof(CombineArguments, lse), Binding::Lse});
  const auto bytes = std::as_bytes(blocks);
  return planOf(context, Plan::Kind::Combine, spec, combineGrid(blocks.size()), arguments,
                std::move(places), c.tokens, c.heads, {{0, {bytes.begin(), bytes.end()}}});
}

//===-- quantize, quantize_concat, amax, histogram -------------------------------------------===//

/// What both quantisers have.
template <typename Arguments>
std::vector<AddressPlace> quantizePlaces(std::uint32_t flags, Arguments &arguments) {
  const bool dynamic = (flags & WAVESMITH_DYNAMIC) != 0,
             shared = (flags & WAVESMITH_SHARED_SCALE) != 0;
  arguments.descaleHeadStride = shared && !dynamic ? 0 : kFloat;
  arguments.amaxHeadStride = shared ? 0 : kFloat;
  arguments.saturatedHeadStride = sizeof(std::uint64_t);
  std::vector<AddressPlace> places = {{offsetof(Arguments, y), Binding::Out},
                                      {offsetof(Arguments, descale), Binding::DescaleQ},
                                      {offsetof(Arguments, saturated), Binding::Lse}};
  if (dynamic)
    places.push_back({offsetof(Arguments, amax), Binding::DescaleK});
  return places;
}

Expected<std::shared_ptr<Plan>> planRow(const Context &context, const wavesmith_quantize &q,
                                        const Element &input, const QuantizeOptions &options) {
  const auto spec = quantizeSpec(targetOf(context), q.head_dim, options);
  WAVESMITH_TRY(spec.validate());
  WAVESMITH_ASSIGN(const Strides x,
                   stridesOf("x", q.x, q.tokens, q.heads, q.head_dim, input.bytes));
  WAVESMITH_ASSIGN(const Strides y, outputStrides("y", q.y, q.tokens, q.heads, q.head_dim, 1));
  QuantizeArguments arguments{};
  arguments.xRowStride = x.row;
  arguments.xHeadStride = x.head;
  arguments.yRowStride = y.row;
  arguments.yHeadStride = y.head;
  arguments.tokens = static_cast<std::int32_t>(q.tokens);
  std::vector<AddressPlace> places = quantizePlaces(q.flags, arguments);
  places.push_back({offsetof(QuantizeArguments, x), Binding::Q});
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(spec, q.tokens, q.heads));
  return planOf(context, Plan::Kind::Quantize, spec, grid, arguments, std::move(places), q.tokens,
                q.heads);
}

/// A row in two parts becomes one.
Expected<std::shared_ptr<Plan>> planParts(const Context &context, const wavesmith_quantize &q,
                                          const Element &input, const QuantizeOptions &options) {
  if (q.head_dim != kNopeDim + kRopeDim)
    return invalid("head_dim is {}; rows in parts have {} + {} elements", q.head_dim, kNopeDim,
                   kRopeDim);
  const auto spec = quantizeConcatSpec(targetOf(context), options);
  const bool sharedRope = (q.flags & WAVESMITH_SHARED_ROPE) != 0;
  if (sharedRope && q.rope.head != 0)
    return invalid("rope head stride is {}; a rope that is the same for all heads has none",
                   q.rope.head);
  WAVESMITH_ASSIGN(const Strides nope,
                   stridesOf("x", q.x, q.tokens, q.heads, kNopeDim, input.bytes));
  WAVESMITH_ASSIGN(const Strides rope, stridesOf("rope", q.rope, q.tokens, sharedRope ? 1 : q.heads,
                                                 kRopeDim, input.bytes));
  WAVESMITH_ASSIGN(const Strides y, outputStrides("y", q.y, q.tokens, q.heads, q.head_dim, 1));
  QuantizeConcatArguments arguments{};
  arguments.nopeRowStride = nope.row;
  arguments.nopeHeadStride = nope.head;
  arguments.ropeRowStride = rope.row;
  arguments.ropeHeadStride = sharedRope ? 0 : rope.head;
  arguments.yRowStride = y.row;
  arguments.yHeadStride = y.head;
  arguments.tokens = static_cast<std::int32_t>(q.tokens);
  std::vector<AddressPlace> places = quantizePlaces(q.flags, arguments);
  places.push_back({offsetof(QuantizeConcatArguments, nope), Binding::Q});
  places.push_back({offsetof(QuantizeConcatArguments, rope), Binding::K});
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(spec, q.tokens, q.heads));
  return planOf(context, Plan::Kind::Quantize, spec, grid, arguments, std::move(places), q.tokens,
                q.heads);
}

Expected<std::shared_ptr<Plan>> planQuantize(const Context &context, const wavesmith_quantize &q) {
  WAVESMITH_TRY(checkCounts(q.tokens, q.heads));
  WAVESMITH_TRY(checkFlags(q.flags, WAVESMITH_DYNAMIC | WAVESMITH_SHARED_SCALE |
                                        WAVESMITH_IN_PARTS | WAVESMITH_SHARED_ROPE));
  WAVESMITH_TRY(checkRotation(q.rotation));
  if (q.reserved != 0)
    return invalid("reserved is {}; it must be 0", q.reserved);
  WAVESMITH_ASSIGN(const Element input, elementOf(q.input, "input"));
  const QuantizeOptions options{
      .input = input.name, .dynamic = (q.flags & WAVESMITH_DYNAMIC) != 0, .rotation = q.rotation};
  if (q.flags & WAVESMITH_IN_PARTS)
    return planParts(context, q, input, options);
  if (q.flags & WAVESMITH_SHARED_ROPE)
    return invalid("flags are 0x{:x}; a rope belongs to WAVESMITH_IN_PARTS", q.flags);
  return planRow(context, q, input, options);
}

/// What amax and histogram are planned from.
struct MagnitudeRows {
  KernelSpec spec;
  Strides x;
  KernelGrid grid;
};
using MagnitudeSpec = KernelSpec (*)(const std::string &, int, const QuantizeOptions &, int);
Expected<MagnitudeRows> magnitudeRows(const Context &context, const wavesmith_amax &a,
                                      MagnitudeSpec specOf) {
  WAVESMITH_TRY(checkCounts(a.tokens, a.heads));
  WAVESMITH_TRY(checkFlags(a.flags, WAVESMITH_SHARED_SCALE));
  WAVESMITH_TRY(checkRotation(a.rotation));
  WAVESMITH_ASSIGN(const Element input, elementOf(a.input, "input"));
  MagnitudeRows rows;
  rows.spec = specOf(targetOf(context), a.head_dim, {.input = input.name, .rotation = a.rotation},
                     a.first_column);
  WAVESMITH_TRY(rows.spec.validate());
  WAVESMITH_ASSIGN(rows.x, stridesOf("x", a.x, a.tokens, a.heads, a.head_dim, input.bytes));
  WAVESMITH_ASSIGN(rows.grid, rowGrid(rows.spec, a.tokens, a.heads));
  return rows;
}

} // namespace

Expected<std::shared_ptr<Plan>> planAmax(const Context &context, const wavesmith_amax &a) {
  WAVESMITH_ASSIGN(const MagnitudeRows rows, magnitudeRows(context, a, amaxSpec));
  AmaxArguments arguments{};
  arguments.xRowStride = rows.x.row;
  arguments.xHeadStride = rows.x.head;
  arguments.amaxHeadStride = (a.flags & WAVESMITH_SHARED_SCALE) != 0 ? 0 : kFloat;
  arguments.tokens = static_cast<std::int32_t>(a.tokens);
  return planOf(context, Plan::Kind::Amax, rows.spec, rows.grid, arguments,
                {{offsetof(AmaxArguments, x), Binding::Q},
                 {offsetof(AmaxArguments, amax), Binding::DescaleK}},
                a.tokens, a.heads);
}

Expected<std::shared_ptr<Plan>> planHistogram(const Context &context, const wavesmith_amax &a) {
  WAVESMITH_ASSIGN(const MagnitudeRows rows, magnitudeRows(context, a, histogramSpec));
  HistogramArguments arguments{};
  arguments.xRowStride = rows.x.row;
  arguments.xHeadStride = rows.x.head;
  arguments.countsHeadStride = kMagnitudeClasses * sizeof(std::uint64_t);
  arguments.tokens = static_cast<std::int32_t>(a.tokens);
  return planOf(context, Plan::Kind::Histogram, rows.spec, rows.grid, arguments,
                {{offsetof(HistogramArguments, x), Binding::Q},
                 {offsetof(HistogramArguments, counts), Binding::Lse}},
                a.tokens, a.heads);
}

namespace {

//===-- launching ----------------------------------------------------------------------------===//

/// A pointer of the caller's under its own name.
struct Pointer {
  const char *name;
  const void *address;
  std::uint64_t alignment;
  Binding to;
};

template <typename Description>
wavesmith_status
planRows(const char *function, wavesmith_context context, const Description *description,
         std::size_t required, std::string_view name,
         Expected<std::shared_ptr<Plan>> (*make)(const Context &, const Description &),
         wavesmith_plan *plan, wavesmith_plan_info *info) {
  return call(function, [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    if (!plan)
      return isNull("plan");
    Description given;
    WAVESMITH_TRY(readStruct(description, given, required, name));
    WAVESMITH_ASSIGN(std::shared_ptr<Plan> made, make(*found, given));
    return giveOut(std::move(made), plan, info);
  });
}

template <typename Buffers, typename Pointers>
wavesmith_status launchRows(const char *function, wavesmith_plan plan, Plan::Kind kind,
                            const Buffers *buffers, void *stream, std::size_t required,
                            Pointers &&pointersOf) {
  return call(function, [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(plan));
    const auto launch = [&]() -> Status {
      if (found->kind() != kind)
        return invalid("the plan is one of {}, not of {}", planKindName(found->kind()),
                       planKindName(kind));
      Buffers given;
      WAVESMITH_TRY(readStruct(buffers, given, required, "buffers"));
      AttentionBuffers addresses;
      for (const Pointer &pointer : pointersOf(given)) {
        const auto address = reinterpret_cast<std::uint64_t>(pointer.address);
        if (!found->uses(pointer.to))
          continue;
        if (address == 0)
          return isNull(pointer.name);
        if (address % pointer.alignment != 0)
          return invalid("{} is at 0x{:x}; it must be aligned to {} bytes", pointer.name, address,
                         pointer.alignment);
        addresses.*bindingInfo(pointer.to).address = address;
      }
      std::uint64_t workspaceBytes = 0;
      if constexpr (requires { given.workspace_bytes; }) {
        addresses.workspace = reinterpret_cast<std::uint64_t>(given.workspace);
        workspaceBytes = given.workspace_bytes;
      }
      return found->launch(addresses, workspaceBytes, static_cast<hipStream_t>(stream));
    };
    return counted(found->device(), launch());
  });
}

} // namespace
} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_plan_merge(wavesmith_context context, const wavesmith_merge *merge,
                                      wavesmith_plan *plan, wavesmith_plan_info *info) {
  return planRows("wavesmith_plan_merge", context, merge, offsetof(wavesmith_merge, tokens_with_a),
                  "merge", planMerge, plan, info);
}

wavesmith_status wavesmith_launch_merge(wavesmith_plan plan, const wavesmith_merge_buffers *buffers,
                                        void *stream) {
  return launchRows("wavesmith_launch_merge", plan, Plan::Kind::Merge, buffers, stream,
                    sizeof(wavesmith_merge_buffers), [](const wavesmith_merge_buffers &b) {
                      return std::array{Pointer{"a", b.a, 16, Binding::Q},
                                        Pointer{"lse_a", b.lse_a, 4, Binding::DescaleQ},
                                        Pointer{"b", b.b, 16, Binding::K},
                                        Pointer{"lse_b", b.lse_b, 4, Binding::DescaleK},
                                        Pointer{"out", b.out, 16, Binding::Out},
                                        Pointer{"lse", b.lse, 4, Binding::Lse}};
                    });
}

wavesmith_status wavesmith_plan_combine(wavesmith_context context, const wavesmith_combine *combine,
                                        wavesmith_plan *plan, wavesmith_plan_info *info) {
  return planRows("wavesmith_plan_combine", context, combine, offsetof(wavesmith_combine, out),
                  "combine", planCombine, plan, info);
}

wavesmith_status wavesmith_launch_combine(wavesmith_plan plan,
                                          const wavesmith_combine_buffers *buffers, void *stream) {
  return launchRows("wavesmith_launch_combine", plan, Plan::Kind::Combine, buffers, stream,
                    sizeof(wavesmith_combine_buffers), [](const wavesmith_combine_buffers &b) {
                      return std::array{Pointer{"partial_out", b.partial_out, 16, Binding::Q},
                                        Pointer{"partial_lse", b.partial_lse, 4, Binding::DescaleQ},
                                        Pointer{"out", b.out, 16, Binding::Out},
                                        Pointer{"lse", b.lse, 4, Binding::Lse}};
                    });
}

wavesmith_status wavesmith_plan_quantize(wavesmith_context context,
                                         const wavesmith_quantize *quantize, wavesmith_plan *plan,
                                         wavesmith_plan_info *info) {
  return planRows("wavesmith_plan_quantize", context, quantize,
                  offsetof(wavesmith_quantize, rotation), "quantize", planQuantize, plan, info);
}

wavesmith_status wavesmith_launch_quantize(wavesmith_plan plan,
                                           const wavesmith_quantize_buffers *buffers,
                                           void *stream) {
  return launchRows("wavesmith_launch_quantize", plan, Plan::Kind::Quantize, buffers, stream,
                    offsetof(wavesmith_quantize_buffers, rope),
                    [](const wavesmith_quantize_buffers &b) {
                      return std::array{Pointer{"x", b.x, 16, Binding::Q},
                                        Pointer{"rope", b.rope, 16, Binding::K},
                                        Pointer{"y", b.y, 16, Binding::Out},
                                        Pointer{"descale", b.descale, 4, Binding::DescaleQ},
                                        Pointer{"amax", b.amax, 4, Binding::DescaleK},
                                        Pointer{"saturated", b.saturated, 8, Binding::Lse}};
                    });
}

wavesmith_status wavesmith_plan_amax(wavesmith_context context, const wavesmith_amax *amax,
                                     wavesmith_plan *plan, wavesmith_plan_info *info) {
  return planRows("wavesmith_plan_amax", context, amax, offsetof(wavesmith_amax, rotation), "amax",
                  planAmax, plan, info);
}

wavesmith_status wavesmith_launch_amax(wavesmith_plan plan, const wavesmith_amax_buffers *buffers,
                                       void *stream) {
  return launchRows("wavesmith_launch_amax", plan, Plan::Kind::Amax, buffers, stream,
                    sizeof(wavesmith_amax_buffers), [](const wavesmith_amax_buffers &b) {
                      return std::array{Pointer{"x", b.x, 16, Binding::Q},
                                        Pointer{"amax", b.amax, 4, Binding::DescaleK}};
                    });
}

#include "runtime/dispatch/LaunchList.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/dispatch/RowKernel.h"

namespace wavesmith {
namespace {

using Buffers = AttentionBuffers;
constexpr std::array kBindings = {
    BindingInfo{Binding::Q, "q", &Buffers::q, kAddressAlignment},
    BindingInfo{Binding::K, "k", &Buffers::k, kAddressAlignment},
    BindingInfo{Binding::V, "v", &Buffers::v, kAddressAlignment},
    BindingInfo{Binding::Out, "out", &Buffers::out, kAddressAlignment},
    BindingInfo{Binding::Lse, "lse", &Buffers::lse, sizeof(float)},
    BindingInfo{Binding::DescaleQ, "descale_q", &Buffers::descaleQ, sizeof(float)},
    BindingInfo{Binding::DescaleK, "descale_k", &Buffers::descaleK, sizeof(float)},
    BindingInfo{Binding::DescaleV, "descale_v", &Buffers::descaleV, sizeof(float)},
    BindingInfo{Binding::Sinks, "sinks", &Buffers::sinks, sizeof(float)},
    BindingInfo{Binding::KRope, "k_rope", &Buffers::kRope, kAddressAlignment},
    BindingInfo{Binding::QOffsets, "q_offsets", &Buffers::qOffsets, sizeof(std::int32_t)},
    BindingInfo{Binding::KvOffsets, "kv_offsets", &Buffers::kvOffsets, sizeof(std::int32_t)},
    BindingInfo{Binding::QCodes, "q_codes", &Buffers::qCodes, kAddressAlignment},
    BindingInfo{Binding::QCodesDescale, "q_codes_descale", &Buffers::qCodesDescale, sizeof(float)},
    BindingInfo{Binding::SaturatedQ, "saturated_q", &Buffers::saturatedQ, sizeof(std::uint64_t)},
    BindingInfo{Binding::SaturatedK, "saturated_k", &Buffers::saturatedK, sizeof(std::uint64_t)},
    BindingInfo{Binding::SaturatedV, "saturated_v", &Buffers::saturatedV, sizeof(std::uint64_t)},
    BindingInfo{Binding::Workspace, "workspace", &Buffers::workspace, sizeof(AttentionWorkUnit)},
};
static_assert([] {
  for (std::size_t i = 0; i < kBindings.size(); ++i)
    if (kBindings[i].binding != static_cast<Binding>(i))
      return false;
  return true;
}());

template <typename T> WorkspaceImage imageOf(std::uint64_t offset, const std::vector<T> &values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {offset, {bytes.begin(), bytes.end()}};
}

std::uint64_t partialBytes(const AttentionPlan &plan) {
  std::uint64_t rows = 0;
  for (const CombineUnit &unit : plan.list.merges)
    rows += static_cast<std::uint64_t>(unit.rows) * static_cast<std::uint64_t>(unit.slots);
  return rows * (static_cast<std::uint64_t>(plan.checked.problem.headDimV) + 1) * sizeof(float);
}

/// Of the attention kernel itself; every key and value once, whatever the number of blocks.
std::uint64_t attentionBytes(const AttentionPlan &plan) {
  const CheckedProblem &c = plan.checked;
  // Rows of split blocks leave as partials.
  std::uint64_t bytes = partialBytes(plan);
  std::int64_t written = plan.rowsQ * c.q.heads;
  for (const CombineUnit &unit : plan.list.merges)
    written -= unit.rows;
  const std::int64_t rowBytes =
      c.out.dim * c.out.elementBytes + (c.problem.writeLse ? c.lse.elementBytes : 0);
  return bytes + static_cast<std::uint64_t>(written * rowBytes) + c.q.dataBytes(plan.rowsQ) +
         c.k.dataBytes(plan.rowsKv) + c.v.dataBytes(plan.rowsKv) +
         plan.list.units.size() * sizeof(AttentionWorkUnit);
}

} // namespace

std::span<const BindingInfo> bindings() { return kBindings; }
const BindingInfo &bindingInfo(Binding binding) {
  return kBindings[static_cast<std::size_t>(binding)];
}

void LaunchList::addBytes(KernelSpec spec, const KernelGrid &grid,
                          std::span<const std::byte> arguments, std::vector<AddressPlace> addresses,
                          std::uint64_t bytesMoved) {
  if (grid.x == 0 || grid.y == 0)
    return;
  steps.push_back({std::move(spec), grid, std::vector(arguments.begin(), arguments.end()),
                   std::move(addresses), bytesMoved});
}

void LaunchList::append(LaunchList other) {
  const std::uint64_t base = alignWorkspace(workspaceBytes);
  for (LaunchStep &step : other.steps) {
    for (AddressPlace &place : step.addresses)
      if (place.binding == Binding::Workspace)
        place.addend += base;
    steps.push_back(std::move(step));
  }
  for (WorkspaceImage &image : other.images)
    images.push_back({image.offset + base, std::move(image.bytes)});
  for (const WorkspaceZeros &range : other.zeros)
    zeros.push_back({range.offset + base, range.bytes});
  if (other.workspaceBytes > 0)
    workspaceBytes = base + other.workspaceBytes;
}

std::vector<KernelSpec> LaunchList::kernels() const {
  std::vector<KernelSpec> specs;
  for (const LaunchStep &step : steps)
    if (std::ranges::find(specs, step.spec) == specs.end())
      specs.push_back(step.spec);
  return specs;
}

LaunchList::Share LaunchList::shareOf(const KernelSpec &spec) const {
  Share share;
  for (const LaunchStep &step : steps)
    if (step.spec == spec) {
      ++share.launches;
      share.bytesMoved += step.bytesMoved;
    }
  return share;
}

std::uint64_t LaunchList::bytesMoved() const {
  std::uint64_t sum = 0;
  for (const LaunchStep &step : steps)
    sum += step.bytesMoved;
  return sum;
}

void addAttention(LaunchList &list, const CheckedProblem &c, const KernelGrid &grid,
                  const AttentionArguments &arguments, std::uint64_t work, std::uint64_t bytesMoved,
                  std::vector<AddressPlace> places) {
  using A = AttentionArguments;
  const auto add = [&](std::size_t offset, Binding binding, bool required = true) {
    places.push_back(
        {.offset = static_cast<std::uint32_t>(offset), .binding = binding, .required = required});
  };
  // Without keys there may be no key memory at all.
  const bool keys = c.totalKv > 0;
  add(offsetof(A, q), Binding::Q);
  add(offsetof(A, k), Binding::K, keys);
  add(offsetof(A, v), Binding::V, keys);
  add(offsetof(A, out), Binding::Out);
  places.push_back({.offset = offsetof(A, work), .addend = work});
  if (c.problem.writeLse)
    add(offsetof(A, lse), Binding::Lse);
  if (c.problem.dtype == DType::FP8) {
    add(offsetof(A, descaleQ), Binding::DescaleQ);
    add(offsetof(A, descaleK), Binding::DescaleK);
    add(offsetof(A, descaleV), Binding::DescaleV);
  }
  if (!c.spec.attention.isScored()) {
    list.add(c.spec, grid, arguments, std::move(places), bytesMoved);
    return;
  }
  if (c.problem.sink)
    add(offsetof(ScoredAttentionArguments, score) + offsetof(ScoreArguments, sinks),
        Binding::Sinks);
  list.add(c.spec, grid, ScoredAttentionArguments{arguments, scoreArguments(c.problem)},
           std::move(places), bytesMoved);
}

LaunchList launchList(const AttentionPlan &plan) {
  LaunchList list;
  if (plan.list.units.empty())
    return list;
  const CheckedProblem &c = plan.checked;
  const WorkspaceLayout &workspace = plan.workspace;
  const bool merges = !plan.list.merges.empty(), lse = c.problem.writeLse;
  list.workspaceBytes = workspace.bytes;
  list.images.push_back(imageOf(workspace.work, plan.list.units));
  if (merges)
    list.images.push_back(imageOf(workspace.merges, plan.list.merges));

  using A = AttentionArguments;
  std::vector<AddressPlace> places;
  if (merges)
    places = {{.offset = offsetof(A, partialOut), .addend = workspace.partialOut},
              {.offset = offsetof(A, partialLse), .addend = workspace.partialLse}};
  addAttention(list, c, {.x = plan.grid()}, plan.arguments, workspace.work, attentionBytes(plan),
               std::move(places));
  if (!merges)
    return list;

  using C = CombineArguments;
  places = {
      {.offset = offsetof(C, partialOut), .addend = workspace.partialOut},
      {.offset = offsetof(C, partialLse), .addend = workspace.partialLse},
      {.offset = offsetof(C, units), .addend = workspace.merges},
      {.offset = offsetof(C, out), .binding = Binding::Out},
  };
  if (lse)
    places.push_back({.offset = offsetof(C, lse), .binding = Binding::Lse});
  std::int64_t rows = 0;
  for (const CombineUnit &unit : plan.list.merges)
    rows += unit.rows;
  const std::int64_t rowBytes = c.out.dim * c.out.elementBytes + (lse ? c.lse.elementBytes : 0);
  list.add(*plan.combineSpec, combineGrid(plan.list.merges.size()),
           combineArguments(plan.arguments, c.problem.headDimV, 0), std::move(places),
           partialBytes(plan) + static_cast<std::uint64_t>(rows * rowBytes));
  return list;
}

} // namespace wavesmith

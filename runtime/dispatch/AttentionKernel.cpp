#include "runtime/dispatch/AttentionKernel.h"

#include "runtime/dispatch/RowKernel.h"

namespace wavesmith {

Expected<AttentionKernel> AttentionKernel::load(HipTablePtr table, const KernelSpec &spec,
                                                SharedCodeObject object) {
  WAVESMITH_ASSIGN(LoadedKernel kernel,
                   LoadedKernel::load(std::move(table), spec, std::move(object)));
  return AttentionKernel(std::move(kernel));
}

Status AttentionKernel::uploadWork(const AttentionPlan &plan, std::uint64_t workspace,
                                   hipStream_t stream) const {
  if (plan.work().empty())
    return Status::ok();
  if (workspace == 0)
    return error(StatusCode::InvalidArgument, "the workspace is null; the plan needs {} bytes",
                 plan.workspaceBytes());
  const auto copy = [&](const auto &list, std::uint64_t offset) {
    if (list.empty())
      return Status::ok();
    return table().check(table().hipMemcpyAsync(reinterpret_cast<void *>(workspace + offset),
                                                list.data(), list.size() * sizeof(list[0]),
                                                hipMemcpyHostToDevice, stream),
                         "hipMemcpyAsync of the work list");
  };
  WAVESMITH_TRY(copy(plan.list.units, plan.workspace.work));
  return copy(plan.list.merges, plan.workspace.merges);
}

Status AttentionKernel::launch(const AttentionPlan &plan, const AttentionBuffers &buffers,
                               hipStream_t stream) const {
  if (plan.work().empty())
    return Status::ok();
  if (!(plan.spec() == kernel_.spec()))
    return error(StatusCode::InvalidArgument, "the plan is of [{}], the kernel of [{}]",
                 plan.spec().text(), kernel_.spec().text());
  const bool merges = !plan.list.merges.empty();
  if (merges && !combine_)
    return Status(StatusCode::InvalidArgument,
                  "the plan has KV splits, but the kernel that merges them is not loaded");
  if (merges && !(combine_->spec() == plan.combineSpec))
    return error(StatusCode::InvalidArgument, "the plan merges with [{}], the kernel is [{}]",
                 plan.combineSpec->text(), combine_->spec().text());
  const CheckedProblem &c = plan.checked;
  const bool hasKeys = c.totalKv > 0, fp8 = c.problem.dtype == DType::FP8;
  const struct {
    const char *name;
    std::uint64_t address;
    bool needed;
    std::uint64_t alignment;
  } rows[] = {{"q", buffers.q, true, kAddressAlignment},
              {"k", buffers.k, hasKeys, kAddressAlignment},
              {"v", buffers.v, hasKeys, kAddressAlignment},
              {"out", buffers.out, true, kAddressAlignment},
              {"lse", buffers.lse, c.problem.writeLse, 4},
              {"descale_q", buffers.descaleQ, fp8, 4},
              {"descale_k", buffers.descaleK, fp8, 4},
              {"descale_v", buffers.descaleV, fp8, 4},
              {"workspace", buffers.workspace, true, sizeof(AttentionWorkUnit)}};
  for (const auto &row : rows) {
    if (row.needed && row.address == 0)
      return error(StatusCode::InvalidArgument, "{} is null", row.name);
    if (row.address % row.alignment != 0)
      return error(StatusCode::InvalidArgument, "{} is at 0x{:x}; it must be aligned to {} bytes",
                   row.name, row.address, row.alignment);
  }
  AttentionArguments arguments = plan.arguments;
  arguments.q = buffers.q;
  arguments.k = buffers.k;
  arguments.v = buffers.v;
  arguments.out = buffers.out;
  arguments.lse = c.problem.writeLse ? buffers.lse : 0;
  if (fp8) {
    arguments.descaleQ = buffers.descaleQ;
    arguments.descaleK = buffers.descaleK;
    arguments.descaleV = buffers.descaleV;
  }
  arguments.work = buffers.workspace + plan.workspace.work;
  if (merges) {
    arguments.partialOut = buffers.workspace + plan.workspace.partialOut;
    arguments.partialLse = buffers.workspace + plan.workspace.partialLse;
  }
  WAVESMITH_TRY(kernel_.launch({.x = plan.grid()}, arguments, stream));
  if (!merges)
    return Status::ok();
  return combine_->launch(
      combineGrid(plan.list.merges.size()),
      combineArguments(arguments, c.problem.headDimV, buffers.workspace + plan.workspace.merges),
      stream);
}

} // namespace wavesmith

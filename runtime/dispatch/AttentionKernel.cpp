#include "runtime/dispatch/AttentionKernel.h"

#include "runtime/codeobject/Note.h"

namespace wavesmith {

Expected<KernelInfo> checkKernelObject(const KernelSpec &spec, const CodeObjectBlob &blob) {
  WAVESMITH_ASSIGN(const CodeObject object, CodeObject::parse(blob.bytes, blob.kernelName));
  if (object.target() != spec.target)
    return error(StatusCode::Unsupported, "{}: the object is for {}, the plan for {}",
                 blob.kernelName, object.target(), spec.target);
  if (!object.wavesmithNote())
    return error(StatusCode::Corrupt, "{}: the object carries no Wavesmith note", blob.kernelName);
  WAVESMITH_ASSIGN(const ObjectNote note, parseNote(*object.wavesmithNote(), blob.kernelName));
  if (note.spec != spec.text() || note.specKey != spec.key())
    return error(StatusCode::Corrupt, "{}: the object is of [{}], the plan of [{}]",
                 blob.kernelName, note.spec, spec.text());
  if (note.abi != kAttentionLayout)
    return error(StatusCode::Unsupported,
                 "{}: the object's argument layout is [{}], this runtime's [{}]", blob.kernelName,
                 note.abi, kAttentionLayout);
  WAVESMITH_ASSIGN(const KernelInfo *kernel, object.kernel(blob.kernelName));
  // The compiler pads to the block's alignment and may append hidden arguments.
  if (kernel->kernargBytes < sizeof(AttentionArguments))
    return error(StatusCode::Corrupt, "{}: the kernel takes {} bytes of arguments, we pass {}",
                 blob.kernelName, kernel->kernargBytes, sizeof(AttentionArguments));
  if (kernel->maxFlatWorkgroupSize < kAttentionThreads)
    return error(StatusCode::Corrupt, "{}: the kernel takes up to {} threads, we launch {}",
                 blob.kernelName, kernel->maxFlatWorkgroupSize, kAttentionThreads);
  return *kernel;
}

Expected<AttentionKernel> AttentionKernel::load(HipTablePtr table, const KernelSpec &spec,
                                                SharedCodeObject object) {
  AttentionKernel kernel;
  WAVESMITH_ASSIGN(kernel.info_, checkKernelObject(spec, *object));
  // Asked again: the emulator's chip may have been changed since the table was opened.
  WAVESMITH_ASSIGN(const DeviceInfo device, table->queryDevice(table->device().ordinal));
  if (device.target != spec.target)
    return error(StatusCode::Unsupported, "the device is a {}, the plan is for {}", device.target,
                 spec.target);
  WAVESMITH_ASSIGN(kernel.module_, DeviceModule::load(table, object->bytes, object->kernelName));
  WAVESMITH_ASSIGN(kernel.function_, kernel.module_.function(object->kernelName));
  kernel.table_ = std::move(table);
  kernel.spec_ = spec;
  kernel.object_ = std::move(object);
  return kernel;
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
    return table_->check(table_->hipMemcpyAsync(reinterpret_cast<void *>(workspace + offset),
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
  if (!(plan.spec() == spec_))
    return error(StatusCode::InvalidArgument, "the plan is of [{}], the kernel of [{}]",
                 plan.spec().text(), spec_.text());
  const bool merges = !plan.list.merges.empty();
  if (merges && !combine_)
    return Status(StatusCode::InvalidArgument,
                  "the plan has KV splits, but the kernel that merges them is not loaded");
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
  WAVESMITH_TRY(wavesmith::launch(*table_, function_,
                                  {.grid = {plan.grid(), 1, 1}, .block = {kAttentionThreads, 1, 1}},
                                  std::as_bytes(std::span(&arguments, 1)), stream));
  if (!merges)
    return Status::ok();
  return combine_->launch(
      combineGrid(plan.list.merges.size()),
      combineArguments(arguments, c.problem.headDimV, buffers.workspace + plan.workspace.merges),
      stream);
}

} // namespace wavesmith

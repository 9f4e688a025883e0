#include "runtime/dispatch/LoadedLaunchList.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace wavesmith {
namespace {

Status checkAddress(const BindingInfo &info, std::uint64_t address, bool required) {
  if (address == 0 && required)
    return error(StatusCode::InvalidArgument, "{} is null", info.name);
  if (address % info.alignment != 0)
    return error(StatusCode::InvalidArgument, "{} is at 0x{:x}; it must be aligned to {} bytes",
                 info.name, address, info.alignment);
  return Status::ok();
}

} // namespace

Expected<ResolvedKernel> KernelLoader::get(const KernelSpec &spec) {
  const std::string key = spec.text();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = loaded_.find(key); found != loaded_.end())
      return ResolvedKernel{found->second, "memory", 0, 0};
  }
  WAVESMITH_ASSIGN(KernelLookup lookup, store_->get(spec));
  WAVESMITH_ASSIGN(LoadedKernel loaded, LoadedKernel::load(table_, spec, std::move(lookup.object)));
  const std::lock_guard lock(mutex_);
  const auto [at, isNew] =
      loaded_.try_emplace(key, std::make_shared<const LoadedKernel>(std::move(loaded)));
  return ResolvedKernel{at->second, std::move(lookup.provider), lookup.compileMs, lookup.lookupMs};
}

Expected<LoadedLaunchList> LoadedLaunchList::load(HipTablePtr table, LaunchList list,
                                                  const KernelResolver &resolve) {
  LoadedLaunchList loaded;
  const std::vector<KernelSpec> specs = list.kernels();
  for (const KernelSpec &spec : specs) {
    WAVESMITH_ASSIGN(ResolvedKernel kernel, resolve(spec));
    if (!(kernel.kernel->spec() == spec))
      return error(StatusCode::Internal, "asked for [{}], the kernel is [{}]", spec.text(),
                   kernel.kernel->spec().text());
    loaded.kernels_.push_back(std::move(kernel));
  }
  for (const LaunchStep &step : list.steps) {
    const auto index = std::ranges::find(specs, step.spec) - specs.begin();
    loaded.kernelOf_.push_back(loaded.kernels_[static_cast<std::size_t>(index)].kernel.get());
  }
  loaded.table_ = std::move(table);
  loaded.list_ = std::move(list);
  return loaded;
}

Status LoadedLaunchList::uploadWork(std::uint64_t workspace, hipStream_t stream) const {
  if (list_.images.empty())
    return Status::ok();
  WAVESMITH_TRY(checkAddress(bindingInfo(Binding::Workspace), workspace, true));
  for (const WorkspaceImage &image : list_.images)
    WAVESMITH_TRY(
        table_->check(table_->hipMemcpyAsync(reinterpret_cast<void *>(workspace + image.offset),
                                             image.bytes.data(), image.bytes.size(),
                                             hipMemcpyHostToDevice, stream),
                      "hipMemcpyAsync to the workspace"));
  return Status::ok();
}

Status LoadedLaunchList::launch(const AttentionBuffers &buffers, hipStream_t stream,
                                const BeforeStep &before) const {
  // All of them before the first step: half a plan is worse than none.
  for (const LaunchStep &step : list_.steps)
    for (const AddressPlace &place : step.addresses) {
      const BindingInfo &info = bindingInfo(place.binding);
      WAVESMITH_TRY(checkAddress(info, buffers.*info.address, place.required));
    }
  for (const WorkspaceZeros &range : list_.zeros)
    WAVESMITH_TRY(table_->check(
        table_->hipMemsetAsync(reinterpret_cast<void *>(buffers.workspace + range.offset), 0,
                               range.bytes, stream),
        "hipMemsetAsync of the workspace"));
  for (std::size_t i = 0; i < list_.steps.size(); ++i) {
    const LaunchStep &step = list_.steps[i];
    alignas(16) std::array<std::byte, kMaxArgumentBytes> block;
    std::memcpy(block.data(), step.arguments.data(), step.arguments.size());
    for (const AddressPlace &place : step.addresses) {
      const std::uint64_t address = buffers.*bindingInfo(place.binding).address + place.addend;
      std::memcpy(block.data() + place.offset, &address, sizeof address);
    }
    if (before)
      before(step);
    WAVESMITH_TRY(kernelOf_[i]->launchBytes(step.grid,
                                            std::span(block).first(step.arguments.size()), stream));
  }
  return Status::ok();
}

} // namespace wavesmith

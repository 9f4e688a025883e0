#pragma once
// What a plan does on a device, as data: kernels in order with their grids and arguments, the
// places in the arguments where addresses go, and what the workspace must hold. Pure functions make
// it of a plan; a value, any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/dispatch/LoadedKernel.h"

namespace wavesmith {

/// Device addresses of element (0, 0, 0) of each tensor. 0 is right for what the list does not use:
/// an empty tensor, an lse that is not written, descales that are not given.
struct AttentionBuffers {
  std::uint64_t q = 0, k = 0, v = 0, out = 0, lse = 0;
  std::uint64_t workspace = 0; ///< LaunchList::workspaceBytes, filled by uploadWork()
  /// float32, one for each head or a single one, as the problem says.
  std::uint64_t descaleQ = 0, descaleK = 0, descaleV = 0;
  std::uint64_t sinks = 0;                     ///< float32, one for each query head
  std::uint64_t qOffsets = 0, kvOffsets = 0;   ///< lengths on the device (DeviceLengths.h)
  std::uint64_t qCodes = 0, qCodesDescale = 0; ///< queries quantised before (QuantizedPlan.h)
  std::uint64_t kRope = 0; ///< second part of keys that come in two (QuantizedPlan.h)
  /// uint64, one for each head, that grow: Quantization::countsGiven.
  std::uint64_t saturatedQ = 0, saturatedK = 0, saturatedV = 0;
};

/// What an address in an argument block is relative to.
enum class Binding : std::uint8_t {
  Q,
  K,
  V,
  Out,
  Lse,
  DescaleQ,
  DescaleK,
  DescaleV,
  Sinks,
  KRope,
  QOffsets,
  KvOffsets,
  QCodes,
  QCodesDescale,
  SaturatedQ,
  SaturatedK,
  SaturatedV,
  Workspace,
};
struct BindingInfo {
  Binding binding;
  std::string_view name; ///< as messages have it
  std::uint64_t AttentionBuffers::*address;
  std::uint64_t alignment; ///< in bytes
};
/// All, in the order of the enumerators.
std::span<const BindingInfo> bindings();
const BindingInfo &bindingInfo(Binding binding);

/// An 8-byte place in an argument block: the binding's address + addend (modulo 2^64) goes there.
struct AddressPlace {
  std::uint32_t offset = 0;
  Binding binding = Binding::Workspace;
  std::uint64_t addend = 0;
  bool required = true; ///< a null address is an error and not an empty tensor

  bool operator==(const AddressPlace &) const = default;
};

/// Of every kernel; a launch patches a block of this size on its stack.
inline constexpr std::size_t kMaxArgumentBytes = 256;

struct LaunchStep {
  KernelSpec spec;
  KernelGrid grid;                  ///< not empty
  std::vector<std::byte> arguments; ///< complete but for the addresses
  std::vector<AddressPlace> addresses;
  std::uint64_t bytesMoved = 0; ///< from and to device memory if every byte went once
};

/// Bytes that the workspace holds before the first launch.
struct WorkspaceImage {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};
/// A range of the workspace that every launch begins with clearing.
struct WorkspaceZeros {
  std::uint64_t offset = 0, bytes = 0;
};

struct LaunchList {
  std::vector<LaunchStep> steps; ///< none: launching does nothing
  std::uint64_t workspaceBytes = 0;
  std::vector<WorkspaceImage> images;
  std::vector<WorkspaceZeros> zeros;

  template <typename Arguments>
  void add(KernelSpec spec, const KernelGrid &grid, const Arguments &arguments,
           std::vector<AddressPlace> addresses, std::uint64_t bytesMoved) {
    static_assert(sizeof(Arguments) <= kMaxArgumentBytes);
    addBytes(std::move(spec), grid, std::as_bytes(std::span(&arguments, 1)), std::move(addresses),
             bytesMoved);
  }
  /// Puts another list's steps after these and its workspace behind this one.
  void append(LaunchList other);

  /// Every kernel once, in the order of the steps.
  std::vector<KernelSpec> kernels() const;
  std::uint64_t bytesMoved() const;
  /// What the list does with one kernel.
  struct Share {
    int launches = 0;
    std::uint64_t bytesMoved = 0;
  };
  Share shareOf(const KernelSpec &spec) const;

private:
  /// A step with an empty grid is none.
  void addBytes(KernelSpec spec, const KernelGrid &grid, std::span<const std::byte> arguments,
                std::vector<AddressPlace> addresses, std::uint64_t bytesMoved);
};

/// Adds an attention kernel that takes the caller's addresses and, at this offset of the workspace,
/// its work list; `places` are what else its arguments need.
void addAttention(LaunchList &list, const CheckedProblem &problem, const KernelGrid &grid,
                  const AttentionArguments &arguments, std::uint64_t work, std::uint64_t bytesMoved,
                  std::vector<AddressPlace> places = {});

/// Attention and, where blocks are split, the merge of their partials.
LaunchList launchList(const AttentionPlan &plan);

} // namespace wavesmith

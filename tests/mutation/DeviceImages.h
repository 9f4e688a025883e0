#pragma once
// Host tensors on a device of the emulator, for one launch: uploads, hands out addresses, reads
// results back. Not shared between threads.

#include <cstring>
#include <memory>
#include <vector>

#include "emulator/Emulator.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith::testing {

class DeviceImages {
public:
  explicit DeviceImages(emulator::Device &device) : device_(device) {}

  /// Address of the first element.
  Expected<std::uint64_t> upload(const HostTensor &tensor) {
    WAVESMITH_ASSIGN(const std::uint64_t base, uploadBytes(tensor.bytes()));
    return base + HostTensor::originOffset();
  }
  Expected<std::uint64_t> uploadBytes(std::span<const std::byte> bytes) {
    WAVESMITH_ASSIGN(const std::uint64_t base, device_.allocate(bytes.size()));
    WAVESMITH_TRY(device_.write(base, bytes));
    return base;
  }
  Status download(HostTensor &tensor, std::uint64_t address) {
    return device_.read(address - HostTensor::originOffset(), tensor.bytes());
  }
  /// An input must come back as it went.
  Expected<bool> unchanged(const HostTensor &tensor, std::uint64_t address) {
    std::vector<std::byte> now(tensor.bytes().size());
    WAVESMITH_TRY(device_.read(address - HostTensor::originOffset(), now));
    return std::memcmp(now.data(), tensor.bytes().data(), now.size()) == 0;
  }

private:
  emulator::Device &device_;
};

} // namespace wavesmith::testing

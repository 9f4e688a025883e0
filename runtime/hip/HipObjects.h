#pragma once
// HIP's objects as values that clean up after themselves: buffers, streams, events, modules, and a
// launch. Each keeps its table alive. A destructor cannot report, so errors of freeing are logged.
// Movable; one thread at a time unless HIP says otherwise.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/hip/HipTable.h"

namespace wavesmith {

using HipTablePtr = std::shared_ptr<const HipTable>;

class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// Zero bytes give an empty buffer with a null address.
  static Expected<DeviceBuffer> allocate(HipTablePtr table, std::uint64_t bytes);
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer();

  void *data() const { return data_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::uint64_t size() const { return size_; }

  // Synchronous. The range must lie in the buffer.
  Status upload(std::span<const std::byte> bytes, std::uint64_t offset = 0);
  Status download(std::span<std::byte> bytes, std::uint64_t offset = 0) const;
  Status fill(std::byte value);

private:
  void swap(DeviceBuffer &other) noexcept {
    table_.swap(other.table_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  Status checkRange(std::uint64_t offset, std::uint64_t bytes, const char *what) const;

  HipTablePtr table_;
  void *data_ = nullptr;
  std::uint64_t size_ = 0;
};

class Stream {
public:
  Stream() = default; ///< the null stream, without a table
  static Expected<Stream> create(HipTablePtr table, unsigned flags = hipStreamNonBlocking);
  Stream(Stream &&other) noexcept { swap(other); }
  Stream &operator=(Stream &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Stream();

  hipStream_t get() const { return handle_; }
  /// Waits; on the emulator a fault of the stream's kernels is an EmulationFault with its text.
  Status synchronize() const;

private:
  void swap(Stream &other) noexcept {
    table_.swap(other.table_);
    std::swap(handle_, other.handle_);
  }

  HipTablePtr table_;
  hipStream_t handle_ = nullptr;
};

class Event {
public:
  Event() = default;
  static Expected<Event> create(HipTablePtr table, unsigned flags = hipEventDefault);
  Event(Event &&other) noexcept { swap(other); }
  Event &operator=(Event &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Event();

  hipEvent_t get() const { return handle_; }
  Status record(hipStream_t stream) const;
  Status synchronize() const;
  /// Milliseconds from `start` to this event.
  Expected<float> since(const Event &start) const;

private:
  void swap(Event &other) noexcept {
    table_.swap(other.table_);
    std::swap(handle_, other.handle_);
  }

  HipTablePtr table_;
  hipEvent_t handle_ = nullptr;
};

/// A loaded code object. Functions stay valid while the module lives.
class DeviceModule {
public:
  DeviceModule() = default;
  /// `origin` (a path or a key) leads every message.
  static Expected<DeviceModule> load(HipTablePtr table, std::span<const std::byte> object,
                                     std::string origin);
  DeviceModule(DeviceModule &&other) noexcept { swap(other); }
  DeviceModule &operator=(DeviceModule &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceModule();

  Expected<hipFunction_t> function(const std::string &name) const;

private:
  void swap(DeviceModule &other) noexcept {
    table_.swap(other.table_);
    std::swap(handle_, other.handle_);
    origin_.swap(other.origin_);
  }

  HipTablePtr table_;
  hipModule_t handle_ = nullptr;
  std::string origin_;
};

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< in workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1}; ///< in work-items
  std::uint32_t dynamicLds = 0;
};

/// Enqueues a kernel with its packed explicit arguments; no allocation, no synchronisation.
Status launch(const HipTable &table, hipFunction_t function, const LaunchShape &shape,
              std::span<const std::byte> kernarg, hipStream_t stream);

} // namespace wavesmith

#pragma once
// Handles of the C interface: values that name a slot and its generation, never an address, so that
// one that was destroyed or never made is recognised without touching memory that has gone. Finding
// takes no lock and no allocation. Slots are reused, never freed. Any thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith::capi {

enum class HandleKind : std::uint8_t { Context = 1, Plan = 2, Pass = 3, Collector = 4, Scales = 5 };
const char *kindName(HandleKind kind); ///< "context", "plan", ...

/// What is wrong with a handle that find() does not know; InvalidArgument.
Status badHandle(std::uint64_t handle, HandleKind wanted);

template <typename T> class HandleTable {
public:
  explicit HandleTable(HandleKind kind) : kind_(kind) {}

  /// Keeps the object alive while it is used.
  class Use {
  public:
    Use() = default;
    Use(Use &&other) noexcept { *this = std::move(other); }
    Use &operator=(Use &&other) noexcept {
      std::swap(table_, other.table_);
      std::swap(index_, other.index_);
      std::swap(object_, other.object_);
      return *this;
    }
    ~Use() {
      if (table_)
        table_->release(index_);
    }
    explicit operator bool() const { return object_ != nullptr; }
    T &operator*() const { return *object_; }
    T *operator->() const { return object_; }

  private:
    friend class HandleTable;
    HandleTable *table_ = nullptr;
    std::uint32_t index_ = 0;
    T *object_ = nullptr;
  };

  Expected<std::uint64_t> add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty() && used_ == kChunk * kChunks)
      return error(StatusCode::ResourceExhausted, "{} {}s exist; destroy some", used_,
                   kindName(kind_));
    std::uint32_t index = 0;
    if (free_.empty()) {
      if (used_ % kChunk == 0) {
        // Room for all of them once destroyed: giving up a slot must not fail.
        free_.reserve(used_ + kChunk);
        chunks_[used_ / kChunk].store(new Slot[kChunk], std::memory_order_release);
      }
      index = used_++;
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Slot &slot = *find(index);
    slot.object = std::move(object);
    const std::uint64_t generation = generationOf(slot.state.load(std::memory_order_relaxed)) + 1;
    // The generation 0 would make handles that look like small numbers.
    const std::uint64_t next = generation > kMaxGeneration ? 1 : generation;
    slot.state.store((next << kGenerationShift) | 1, std::memory_order_release);
    return (next << kGenerationShift) | (std::uint64_t{index} << 8) | std::uint64_t(kind_);
  }

  /// The object, or an empty Use when the handle names none.
  Use use(std::uint64_t handle) {
    Use result;
    Slot *slot = slotOf(handle);
    if (!slot)
      return result;
    std::uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      if (generationOf(state) != generationOf(handle) || (state & kDead) || (state & kUses) == 0)
        return result;
    } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel,
                                                std::memory_order_acquire));
    result.table_ = this;
    result.index_ = indexOf(handle);
    result.object_ = slot->object.get();
    return result;
  }

  /// Ends the handle; the object goes with the last use. False when the handle names none.
  bool remove(std::uint64_t handle) {
    Slot *slot = slotOf(handle);
    if (!slot)
      return false;
    std::uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      if (generationOf(state) != generationOf(handle) || (state & kDead) || (state & kUses) == 0)
        return false;
    } while (!slot->state.compare_exchange_weak(state, state | kDead, std::memory_order_acq_rel,
                                                std::memory_order_acquire));
    release(indexOf(handle));
    return true;
  }

private:
  // A slot's state: generation, whether its handle has ended, uses (the handle's own counts as
  // one).
  struct Slot {
    std::atomic<std::uint64_t> state{0};
    std::shared_ptr<T> object;
  };
  static constexpr std::uint32_t kChunk = 1024, kChunks = 1024;
  static constexpr int kGenerationShift = 32;
  static constexpr std::uint64_t kMaxGeneration = 0xffffffff, kDead = std::uint64_t{1} << 31,
                                 kUses = kDead - 1;

  static std::uint64_t generationOf(std::uint64_t word) { return word >> kGenerationShift; }
  static std::uint32_t indexOf(std::uint64_t handle) { return (handle >> 8) & 0xffffff; }

  Slot *find(std::uint32_t index) {
    if (index >= kChunk * kChunks)
      return nullptr;
    Slot *chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk ? chunk + index % kChunk : nullptr;
  }
  Slot *slotOf(std::uint64_t handle) {
    return (handle & 0xff) == std::uint64_t(kind_) ? find(indexOf(handle)) : nullptr;
  }
  void release(std::uint32_t index) {
    Slot &slot = *find(index);
    if ((slot.state.fetch_sub(1, std::memory_order_acq_rel) & kUses) != 1)
      return;
    const std::shared_ptr<T> last = std::move(slot.object); // ends after the lock
    const std::lock_guard lock(mutex_);
    free_.push_back(index);
  }

  const HandleKind kind_;
  std::array<std::atomic<Slot *>, kChunks> chunks_{};
  std::mutex mutex_; ///< of what follows
  std::uint32_t used_ = 0;
  std::vector<std::uint32_t> free_;
};

} // namespace wavesmith::capi

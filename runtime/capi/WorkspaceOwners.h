#pragma once
// Which plan's work lists were put into which workspace last, so that a launch with lists that are
// not its own is refused and does not read wild addresses. A fixed table of atomics: neither side
// takes a lock or allocates. When more workspaces have been used than it has room for, those that
// it does not know pass unchecked. Any thread.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wavesmith::capi {

class WorkspaceOwners {
public:
  enum class Answer { Owned, Other, Never, Unknown };

  /// A number that no other plan or pass of the process has; never 0.
  static std::uint64_t nextOwner() {
    static std::atomic<std::uint64_t> next{1};
    return next.fetch_add(1, std::memory_order_relaxed);
  }

  void set(std::uint64_t workspace, std::uint64_t plan) {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      Entry &entry = entries_[slot(workspace, probe)];
      std::uint64_t seen = entry.workspace.load(std::memory_order_acquire);
      if (seen == 0 &&
          entry.workspace.compare_exchange_strong(seen, workspace, std::memory_order_acq_rel))
        seen = workspace;
      if (seen == workspace) {
        entry.plan.store(plan, std::memory_order_release);
        return;
      }
    }
    overflowed_.store(true, std::memory_order_release);
  }

  Answer ask(std::uint64_t workspace, std::uint64_t plan) const {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const Entry &entry = entries_[slot(workspace, probe)];
      const std::uint64_t seen = entry.workspace.load(std::memory_order_acquire);
      if (seen == 0)
        return Answer::Never;
      if (seen != workspace)
        continue;
      const std::uint64_t owner = entry.plan.load(std::memory_order_acquire);
      return owner == plan ? Answer::Owned : owner == 0 ? Answer::Never : Answer::Other;
    }
    return overflowed_.load(std::memory_order_acquire) ? Answer::Unknown : Answer::Never;
  }

private:
  struct Entry {
    std::atomic<std::uint64_t> workspace{0}, plan{0};
  };
  static constexpr std::size_t kEntries = 4096, kProbes = 64;

  static std::size_t slot(std::uint64_t workspace, std::size_t probe) {
    // Workspaces are aligned: the multiplier brings what differs to the top.
    return ((workspace * 0x9e3779b97f4a7c15u >> 52) + probe) % kEntries;
  }

  std::array<Entry, kEntries> entries_{};
  std::atomic<bool> overflowed_{false};
};

} // namespace wavesmith::capi

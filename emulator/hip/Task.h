#pragma once
// One piece of device work as a value: what a stream executes and a graph node holds. Addresses are
// resolved when the task is made, so that executing it needs no table. Plain values.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "emulator/hip/Hip.h"

namespace wavesmith::hipfront {

struct LoadedModule;
struct Ticket;

/// Device memory, or memory of the host that the process may touch directly.
struct Location {
  std::uint64_t address = 0;
  bool onDevice = false;
};

struct KernelTask {
  std::shared_ptr<LoadedModule> module;
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamicLds = 0;
  bool together = false;          ///< a cooperative launch
  std::vector<std::byte> kernarg; ///< explicit arguments
  std::vector<double> weights;    ///< not empty: only samples run (WavesmithEmulator.h)
};

struct CopyTask {
  Location to, from;
  std::uint64_t width = 0, height = 1; ///< rows of `width` bytes
  std::uint64_t toPitch = 0, fromPitch = 0;
  std::vector<std::byte> snapshot; ///< the source's bytes, when the caller may reuse it at once
};

struct FillTask {
  Location to;
  std::uint32_t value = 0;
  unsigned elementSize = 1;            ///< 1, 2 or 4
  std::uint64_t width = 0, height = 1; ///< in elements, rows
  std::uint64_t pitch = 0;             ///< bytes
};

struct HostTask {
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
};

struct EmptyTask {};

struct GraphExecState;
struct GraphTask {
  std::shared_ptr<GraphExecState> graph;
};

using Task = std::variant<EmptyTask, KernelTask, CopyTask, FillTask, HostTask, GraphTask>;

} // namespace wavesmith::hipfront

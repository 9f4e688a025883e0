#pragma once
// The process's emulated device behind the hip* functions: memory blocks, modules, streams, events,
// graphs, one executor. Created at the first HIP call, never destroyed (programs call HIP from
// static destructors). Handles given out are looked up, never followed blindly. Any thread; lock
// order: device, front, executor; the device's lock is held while a kernel runs, so nothing that
// only enqueues takes it.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "emulator/hip/Config.h"
#include "emulator/hip/Executor.h"
#include "emulator/hip/Report.h"
#include "emulator/hip/Task.h"

namespace wavesmith::hipfront {

struct LoadedModule {
  CodeObject object;
  std::shared_ptr<emulator::Module> placed;
};

struct Function {
  std::shared_ptr<LoadedModule> module;
  const KernelInfo *info = nullptr; ///< in the module's object
};

struct EventState {
  unsigned flags = 0;
  std::shared_ptr<Ticket> ticket;           ///< of the last record; null: never recorded
  std::shared_ptr<Capture> capture;         ///< recorded in a capturing stream
  std::vector<struct GraphNode *> captured; ///< the stream's last nodes then
};

/// A range that a HIP pointer may name.
struct Block {
  enum class Kind { Device, Host, Registered, Managed, ModuleImage };
  Kind kind = Kind::Device;
  std::uint64_t address = 0, size = 0;
  unsigned flags = 0;
  const LoadedModule *module = nullptr; ///< of an image
  int device = 0;
  const void *pool = nullptr; ///< the memory pool that it counts for
  bool onDevice() const { return kind == Kind::Device || kind == Kind::ModuleImage; }
  /// Memory of the host that we allocated.
  bool isOwnHost() const { return kind == Kind::Host || kind == Kind::Managed; }
};

/// Keeps objects alive by the handle that was given out for them.
template <typename T> class Handles {
public:
  T *add(std::shared_ptr<T> object) {
    T *raw = object.get();
    objects_.emplace(raw, std::move(object));
    return raw;
  }
  std::shared_ptr<T> find(const void *handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> remove(const void *handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end())
      return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  template <typename Predicate> void removeIf(Predicate predicate) {
    std::erase_if(objects_, [&](const auto &entry) { return predicate(*entry.second); });
  }
  template <typename Visit> void forEach(Visit visit) const {
    for (const auto &entry : objects_)
      visit(*entry.second);
  }
  bool empty() const { return objects_.empty(); }
  void clear() { objects_.clear(); }

private:
  std::unordered_map<const void *, std::shared_ptr<T>> objects_;
};

class Front {
public:
  static Front &get();

  // Settings.
  hipError_t usable(); ///< an error when WAVESMITH_EMULATOR is malformed
  hipError_t configure(std::string_view text);
  Config config();
  Report &report() { return report_; }

  // Memory. `address` of a host block is the host pointer.
  hipError_t allocate(std::uint64_t bytes, std::uint64_t *address, const void *pool = nullptr);
  hipError_t allocateManaged(std::uint64_t bytes, void **pointer);
  hipError_t allocateHost(std::uint64_t bytes, unsigned flags, void **pointer);
  hipError_t registerHost(void *pointer, std::uint64_t bytes, unsigned flags);
  hipError_t release(const void *pointer, bool host);
  hipError_t unregisterHost(const void *pointer);
  std::optional<Block> blockOf(const void *pointer);
  std::uint64_t bytesAllocated(int device);
  /// Of the blocks that were allocated from a pool.
  std::uint64_t bytesOfPool(const void *pool);
  /// Resolves a pointer for an access of `bytes`; null or short ranges are errors with a text.
  hipError_t locate(const void *pointer, std::uint64_t bytes, const char *what, Location *location);

  // Modules.
  hipError_t load(const void *image, std::optional<std::size_t> size, std::string origin,
                  hipModule_t *module);
  hipError_t unload(hipModule_t module);
  hipError_t function(hipModule_t module, const char *name, hipFunction_t *function);
  hipError_t global(hipModule_t module, const char *name, void **address, std::size_t *bytes);
  hipError_t findFunction(const void *handle, std::shared_ptr<Function> *function);
  hipError_t findModule(hipModule_t handle, std::shared_ptr<LoadedModule> *module);
  /// Takes this thread's next weights, whatever comes of it. `function`: which it is.
  hipError_t makeKernel(const void *handle, dim3 grid, dim3 block, std::uint64_t dynamicLds,
                        void **kernelParams, void **extra, KernelTask *task,
                        std::shared_ptr<Function> *function = nullptr);

  // Streams. `findStream` takes null and the special handles too.
  hipError_t findStream(hipStream_t handle, std::shared_ptr<StreamState> *stream);
  hipStream_t addStream(unsigned flags, int priority);
  hipError_t removeStream(hipStream_t handle);
  /// Enqueues, or adds to the stream's capture.
  hipError_t submit(hipStream_t handle, Task task);
  std::shared_ptr<Ticket> enqueue(const std::shared_ptr<StreamState> &stream, Task task);
  /// On the worker; failures are kept for wavesmithEmulatorLastFault.
  hipError_t execute(const Task &task, StreamState &stream) noexcept;
  hipError_t synchronize(hipStream_t handle);
  hipError_t synchronizeDevice();
  Executor &executor() { return executor_; }

  // Events.
  hipEvent_t addEvent(unsigned flags);
  hipError_t removeEvent(hipEvent_t handle);
  hipError_t findEvent(hipEvent_t handle, std::shared_ptr<EventState> *event);
  hipError_t record(hipEvent_t handle, hipStream_t stream);
  hipError_t waitFor(hipStream_t stream, hipEvent_t handle);

  /// hipErrorStreamCapture* when a capture forbids a call that is not stream-ordered.
  hipError_t allowedInCapture(const char *call);
  hipError_t reset();

  /// The calling thread's device.
  static int &currentDevice();
  hipError_t checkDevice(int device);
  hipError_t changePeer(int peer, bool enable);

  std::mutex mutex; ///< the tables below, stream captures, graphs
  Handles<struct GraphState> graphs;
  Handles<struct GraphExecState> graphExecs;
  std::vector<std::weak_ptr<Capture>> captures;

private:
  Front();
  Status openTrace(const Config &config);
  Expected<emulator::Device *> device(); ///< with deviceMutex_ held
  hipError_t dispatch(const Task &task, StreamState &stream);
  hipError_t runKernel(const KernelTask &task, StreamState &stream);
  hipError_t runCopy(const CopyTask &task);
  hipError_t runFill(const FillTask &task);
  hipError_t reserve(std::uint64_t bytes);
  void account(int device, std::uint64_t freed); ///< with the mutex held
  hipError_t mapHost(const Block &block);
  hipError_t allocateOnHost(std::uint64_t bytes, Block block, void **pointer);
  hipError_t releaseBlock(const void *pointer, hipError_t otherwise, const char *what,
                          const std::function<bool(const Block &)> &isRight);
  void applyConfig(); ///< with the mutex held
  hipError_t copyRow(const Location &to, const Location &from, std::uint64_t bytes);

  Executor executor_;
  Report report_;
  std::mutex deviceMutex_;
  std::unique_ptr<emulator::Device> device_;
  std::shared_ptr<emulator::TraceFile> trace_; ///< with deviceMutex_ held
  std::map<int, std::uint64_t> allocated_;     ///< bytes, by device
  std::atomic<double> modelledMilliseconds_{0};
  Config config_;
  std::string configError_; ///< why WAVESMITH_EMULATOR was refused
  std::map<std::uint64_t, Block> blocks_;
  std::set<std::pair<int, int>> peers_; ///< who may reach whom
  Handles<LoadedModule> modules_;
  Handles<Function> functions_;
  Handles<StreamState> streams_;
  Handles<EventState> events_;
  std::shared_ptr<StreamState> nullStream_ = std::make_shared<StreamState>();
};

} // namespace wavesmith::hipfront

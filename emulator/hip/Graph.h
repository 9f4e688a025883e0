#pragma once
// Graphs: nodes with dependencies, made by capture or by hand, run in topological order as one
// stream operation. Under the front's mutex, except for instantiated graphs, which are immutable
// while they run.

#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "emulator/hip/Front.h"

namespace wavesmith::hipfront {

struct GraphNode {
  Task task;
  std::vector<GraphNode *> dependencies;
  std::size_t id = 0; ///< position in the graph
};

struct GraphState {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode *add(Task task, std::vector<GraphNode *> dependencies);
  /// Null when the handle is not of this graph.
  GraphNode *find(const void *handle) const;
  /// Positions so that each node follows its dependencies; nullopt for a cycle.
  std::optional<std::vector<std::size_t>> order() const;
  std::shared_ptr<GraphState> clone() const;
};

struct GraphExecState {
  std::shared_ptr<const GraphState> graph; ///< a private copy; nodes keep their positions
  std::shared_ptr<GraphState> origin;      ///< whose node handles name its nodes
  std::vector<std::size_t> order;
};

/// A capture in progress, shared by the streams that joined it.
class Capture {
public:
  std::shared_ptr<GraphState> graph = std::make_shared<GraphState>();
  std::weak_ptr<StreamState> origin;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::thread::id thread;
  unsigned long long id = 0;
  bool active = true, invalidated = false;
  /// The last nodes of each joined stream: what its next node depends on.
  std::map<StreamState *, std::vector<GraphNode *>> ends;
  std::vector<std::shared_ptr<StreamState>> streams;

  void append(StreamState &stream, Task task);
  void join(const std::shared_ptr<StreamState> &stream, const std::vector<GraphNode *> &nodes);
  /// Whether the legacy stream may run beside it.
  bool nonBlocking() const;
  /// Every forked stream's last nodes are behind the origin's.
  bool joinedBack() const;
  /// Releases the streams.
  void end();
};

/// Sets the calling thread's capture interaction mode and returns the one before.
hipStreamCaptureMode exchangeThreadMode(hipStreamCaptureMode mode);

} // namespace wavesmith::hipfront

// hip* functions for stream capture and graphs.

#include <algorithm>

#include "emulator/hip/Call.h"
#include "emulator/hip/Graph.h"

using namespace wavesmith::hipfront;

namespace {

hipError_t findGraph(hipGraph_t handle, std::shared_ptr<GraphState> *graph) {
  *graph = Front::get().graphs.find(handle);
  if (!*graph)
    return fail(hipErrorInvalidValue, "{} is no graph", static_cast<void *>(handle));
  return hipSuccess;
}

/// A node handle and the graph that holds it.
struct NodeRef {
  GraphNode *node = nullptr;
  GraphState *graph = nullptr;
};

NodeRef searchNode(const void *handle) {
  NodeRef found;
  Front::get().graphs.forEach([&](GraphState &graph) {
    if (GraphNode *node = graph.find(handle))
      found = {node, &graph};
  });
  return found;
}

hipError_t findNode(hipGraphNode_t handle, NodeRef *found) {
  *found = searchNode(handle);
  if (!found->node)
    return fail(hipErrorInvalidValue, "{} is no node of a live graph", static_cast<void *>(handle));
  return hipSuccess;
}

hipError_t addNode(hipGraphNode_t *result, hipGraph_t handle, const hipGraphNode_t *dependencies,
                   std::size_t count, Task task) {
  const std::lock_guard lock(Front::get().mutex);
  std::shared_ptr<GraphState> graph;
  WAVESMITH_HIP_TRY(findGraph(handle, &graph));
  if (!result || (count != 0 && !dependencies))
    return fail(hipErrorInvalidValue, "null node or dependencies");
  std::vector<GraphNode *> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode *node = graph->find(dependencies[i]);
    if (!node)
      return fail(hipErrorInvalidValue, "dependency {} is no node of this graph", i);
    nodes.push_back(node);
  }
  *result = reinterpret_cast<hipGraphNode_t>(graph->add(std::move(task), std::move(nodes)));
  return hipSuccess;
}

hipError_t kernelFrom(const hipKernelNodeParams *parameters, Task *task) {
  if (!parameters)
    return fail(hipErrorInvalidValue, "null kernel parameters");
  KernelTask kernel;
  WAVESMITH_HIP_TRY(Front::get().makeKernel(parameters->func, parameters->gridDim,
                                            parameters->blockDim, parameters->sharedMemBytes,
                                            parameters->kernelParams, parameters->extra, &kernel));
  if (!kernel.weights.empty())
    return fail(hipErrorInvalidValue, "kernel {}: a graph's kernels run in full, not in samples",
                kernel.kernel);
  *task = std::move(kernel);
  return hipSuccess;
}

hipError_t copyFrom(void *to, const void *from, std::size_t bytes, Task *task) {
  CopyTask copy;
  WAVESMITH_HIP_TRY(Front::get().locate(to, bytes, "destination", &copy.to));
  WAVESMITH_HIP_TRY(Front::get().locate(from, bytes, "source", &copy.from));
  copy.width = copy.toPitch = copy.fromPitch = bytes;
  *task = std::move(copy);
  return hipSuccess;
}

hipError_t fillFrom(const hipMemsetParams *parameters, Task *task) {
  if (!parameters)
    return fail(hipErrorInvalidValue, "null memset parameters");
  const unsigned size = parameters->elementSize;
  if (size != 1 && size != 2 && size != 4)
    return fail(hipErrorInvalidValue, "elements of {} bytes; want 1, 2 or 4", size);
  FillTask fill;
  const std::size_t row = parameters->width * size;
  const std::size_t pitch = parameters->height > 1 ? parameters->pitch : row;
  if (row == 0 || parameters->height == 0)
    return fail(hipErrorInvalidValue, "an empty fill");
  WAVESMITH_HIP_TRY(Front::get().locate(parameters->dst, pitch * (parameters->height - 1) + row,
                                        "destination", &fill.to));
  fill.value = parameters->value;
  fill.elementSize = size;
  fill.width = parameters->width;
  fill.height = parameters->height;
  fill.pitch = pitch;
  *task = fill;
  return hipSuccess;
}

/// Replaces one node of an instantiated graph; launches under way keep the old one.
hipError_t setExecTask(hipGraphExec_t execHandle, hipGraphNode_t nodeHandle, Task task) {
  const std::lock_guard lock(Front::get().mutex);
  const auto exec = Front::get().graphExecs.find(execHandle);
  NodeRef found;
  WAVESMITH_HIP_TRY(findNode(nodeHandle, &found));
  if (!exec || exec->origin.get() != found.graph)
    return fail(hipErrorInvalidValue, "the node is not of the graph that was instantiated");
  std::shared_ptr<GraphState> changed = exec->graph->clone();
  if (changed->nodes[found.node->id]->task.index() != task.index())
    return fail(hipErrorInvalidValue, "the node is of another type");
  changed->nodes[found.node->id]->task = std::move(task);
  exec->graph = std::move(changed);
  return hipSuccess;
}

hipError_t setNodeTask(hipGraphNode_t handle, Task task) {
  const std::lock_guard lock(Front::get().mutex);
  NodeRef found;
  WAVESMITH_HIP_TRY(findNode(handle, &found));
  if (found.node->task.index() != task.index())
    return fail(hipErrorInvalidValue, "the node is of another type");
  found.node->task = std::move(task);
  return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t *result, hipGraph_t handle) {
  const std::lock_guard lock(Front::get().mutex);
  std::shared_ptr<GraphState> graph;
  WAVESMITH_HIP_TRY(findGraph(handle, &graph));
  if (!result)
    return fail(hipErrorInvalidValue, "null result pointer");
  auto order = graph->order();
  if (!order)
    return fail(hipErrorInvalidValue, "the graph has a cycle");
  auto exec = std::make_shared<GraphExecState>();
  exec->graph = graph->clone();
  exec->origin = graph;
  exec->order = *std::move(order);
  *result = reinterpret_cast<hipGraphExec_t>(Front::get().graphExecs.add(std::move(exec)));
  return hipSuccess;
}

/// HIP's way to return a list: count only when `out` is null, else at most `*count` of them.
hipError_t giveNodes(const std::vector<GraphNode *> &nodes, hipGraphNode_t *out,
                     std::size_t *count) {
  if (!count)
    return fail(hipErrorInvalidValue, "null count");
  if (out)
    for (std::size_t i = 0; i < *count; ++i)
      out[i] = i < nodes.size() ? reinterpret_cast<hipGraphNode_t>(nodes[i]) : nullptr;
  *count = out ? std::min(*count, nodes.size()) : nodes.size();
  return hipSuccess;
}

template <typename Use> hipError_t withCapture(hipStream_t handle, Use &&use) {
  return guarded([&] {
    std::shared_ptr<StreamState> stream;
    WAVESMITH_HIP_TRY(Front::get().findStream(handle, &stream));
    const std::lock_guard lock(Front::get().mutex);
    return use(stream, stream->capture);
  });
}

hipStreamCaptureStatus statusOf(const std::shared_ptr<Capture> &capture) {
  if (!capture)
    return hipStreamCaptureStatusNone;
  return capture->invalidated ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
}

} // namespace

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return withCapture(handle, [&](const std::shared_ptr<StreamState> &stream,
                                 const std::shared_ptr<Capture> &running) {
    if (stream->isNull)
      return fail(hipErrorStreamCaptureUnsupported, "the legacy stream cannot be captured");
    if (running)
      return fail(hipErrorIllegalState, "the stream is being captured already");
    if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
      return fail(hipErrorInvalidValue, "capture mode {}", static_cast<int>(mode));
    static unsigned long long ids = 0;
    auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->id = ++ids;
    capture->ends[stream.get()] = {};
    capture->streams.push_back(stream);
    stream->capture = capture;
    Front::get().captures.push_back(capture);
    return hipSuccess;
  });
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *result) {
  return withCapture(
      handle, [&](const std::shared_ptr<StreamState> &stream, std::shared_ptr<Capture> capture) {
        if (result)
          *result = nullptr;
        if (!capture)
          return fail(hipErrorIllegalState, "the stream is not being captured");
        if (capture->origin.lock() != stream) {
          capture->invalidated = true;
          return fail(hipErrorStreamCaptureUnmatched, "the capture began in another stream");
        }
        if (capture->mode != hipStreamCaptureModeRelaxed &&
            capture->thread != std::this_thread::get_id())
          return fail(hipErrorStreamCaptureWrongThread, "the capture began in another thread");
        const bool joined = capture->joinedBack();
        capture->end();
        if (capture->invalidated)
          return fail(hipErrorStreamCaptureInvalidated, "the capture was invalidated");
        if (!joined)
          return fail(hipErrorStreamCaptureUnjoined, "a forked stream was not joined");
        if (!result)
          return fail(hipErrorInvalidValue, "null result pointer");
        *result = reinterpret_cast<hipGraph_t>(Front::get().graphs.add(capture->graph));
        return hipSuccess;
      });
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus *status) {
  return withCapture(handle, [&](const auto &, const std::shared_ptr<Capture> &capture) {
    if (!status)
      return fail(hipErrorInvalidValue, "null result pointer");
    *status = statusOf(capture);
    return hipSuccess;
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus *status,
                                   unsigned long long *id) {
  return hipStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus *status,
                                      unsigned long long *id, hipGraph_t *graph,
                                      const hipGraphNode_t **dependencies, size_t *count) {
  return withCapture(handle, [&](const std::shared_ptr<StreamState> &stream,
                                 const std::shared_ptr<Capture> &capture) {
    if (!status)
      return fail(hipErrorInvalidValue, "null result pointer");
    *status = statusOf(capture);
    if (!capture)
      return hipSuccess;
    if (id)
      *id = capture->id;
    if (graph)
      *graph = reinterpret_cast<hipGraph_t>(capture->graph.get());
    const std::vector<GraphNode *> &ends = capture->ends[stream.get()];
    static_assert(sizeof(GraphNode *) == sizeof(hipGraphNode_t));
    if (dependencies)
      *dependencies = reinterpret_cast<const hipGraphNode_t *>(ends.data());
    if (count)
      *count = ends.size();
    return hipSuccess;
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  return guarded([&] {
    if (!mode || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed)
      return fail(hipErrorInvalidValue, "null or unknown capture mode");
    *mode = exchangeThreadMode(*mode);
    return hipSuccess;
  });
}

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  return guarded([&] {
    if (!graph || flags != 0)
      return fail(hipErrorInvalidValue, "null graph or flags {:#x}", flags);
    const std::lock_guard lock(Front::get().mutex);
    *graph = reinterpret_cast<hipGraph_t>(Front::get().graphs.add(std::make_shared<GraphState>()));
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    if (!Front::get().graphs.remove(graph))
      return fail(hipErrorInvalidValue, "{} is no graph", static_cast<void *>(graph));
    return hipSuccess;
  });
}

hipError_t hipGraphClone(hipGraph_t *copy, hipGraph_t handle) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    std::shared_ptr<GraphState> graph;
    WAVESMITH_HIP_TRY(findGraph(handle, &graph));
    if (!copy)
      return fail(hipErrorInvalidValue, "null result pointer");
    *copy = reinterpret_cast<hipGraph_t>(Front::get().graphs.add(graph->clone()));
    return hipSuccess;
  });
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph,
                                const hipGraphNode_t *dependencies, size_t count) {
  return guarded([&] { return addNode(node, graph, dependencies, count, EmptyTask{}); });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph,
                                 const hipGraphNode_t *dependencies, size_t count,
                                 const hipKernelNodeParams *parameters) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(kernelFrom(parameters, &task));
    return addNode(node, graph, dependencies, count, std::move(task));
  });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *dependencies, size_t count, void *to,
                                   const void *from, size_t bytes, hipMemcpyKind) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(copyFrom(to, from, bytes, &task));
    return addNode(node, graph, dependencies, count, std::move(task));
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph,
                                 const hipGraphNode_t *dependencies, size_t count,
                                 const hipMemsetParams *parameters) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(fillFrom(parameters, &task));
    return addNode(node, graph, dependencies, count, std::move(task));
  });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph,
                               const hipGraphNode_t *dependencies, size_t count,
                               const hipHostNodeParams *parameters) {
  return guarded([&] {
    if (!parameters || !parameters->fn)
      return fail(hipErrorInvalidValue, "null host function");
    return addNode(node, graph, dependencies, count,
                   HostTask{parameters->fn, parameters->userData});
  });
}

hipError_t hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t *from,
                                   const hipGraphNode_t *to, size_t count) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    std::shared_ptr<GraphState> graph;
    WAVESMITH_HIP_TRY(findGraph(handle, &graph));
    if (count != 0 && (!from || !to))
      return fail(hipErrorInvalidValue, "null node lists");
    for (size_t i = 0; i < count; ++i) {
      GraphNode *first = graph->find(from[i]), *second = graph->find(to[i]);
      if (!first || !second || first == second)
        return fail(hipErrorInvalidValue, "edge {} does not join two nodes of the graph", i);
      if (std::ranges::find(second->dependencies, first) == second->dependencies.end())
        second->dependencies.push_back(first);
    }
    return hipSuccess;
  });
}

hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *count) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    std::shared_ptr<GraphState> graph;
    WAVESMITH_HIP_TRY(findGraph(handle, &graph));
    std::vector<GraphNode *> all;
    for (const auto &node : graph->nodes)
      all.push_back(node.get());
    return giveNodes(all, nodes, count);
  });
}

hipError_t hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *count) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    std::shared_ptr<GraphState> graph;
    WAVESMITH_HIP_TRY(findGraph(handle, &graph));
    std::vector<GraphNode *> roots;
    for (const auto &node : graph->nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    return giveNodes(roots, nodes, count);
  });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t handle, hipGraphNode_t *nodes,
                                       size_t *count) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    NodeRef found;
    WAVESMITH_HIP_TRY(findNode(handle, &found));
    return giveNodes(found.node->dependencies, nodes, count);
  });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType *type) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    NodeRef found;
    WAVESMITH_HIP_TRY(findNode(handle, &found));
    if (!type)
      return fail(hipErrorInvalidValue, "null result pointer");
    constexpr hipGraphNodeType kTypes[] = {hipGraphNodeTypeEmpty,  hipGraphNodeTypeKernel,
                                           hipGraphNodeTypeMemcpy, hipGraphNodeTypeMemset,
                                           hipGraphNodeTypeHost,   hipGraphNodeTypeGraph};
    static_assert(std::size(kTypes) == std::variant_size_v<Task>);
    *type = kTypes[found.node->task.index()];
    return hipSuccess;
  });
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *parameters) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(kernelFrom(parameters, &task));
    return setNodeTask(node, std::move(task));
  });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams *parameters) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(kernelFrom(parameters, &task));
    return setExecTask(exec, node, std::move(task));
  });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to,
                                             const void *from, size_t bytes, hipMemcpyKind) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(copyFrom(to, from, bytes, &task));
    return setExecTask(exec, node, std::move(task));
  });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams *parameters) {
  return guarded([&] {
    Task task;
    WAVESMITH_HIP_TRY(fillFrom(parameters, &task));
    return setExecTask(exec, node, std::move(task));
  });
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *errorNode,
                               char *log, size_t logBytes) {
  return guarded([&] {
    if (errorNode)
      *errorNode = nullptr;
    if (log && logBytes)
      *log = '\0';
    return instantiate(exec, graph);
  });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
                                        unsigned long long) {
  return guarded([&] { return instantiate(exec, graph); });
}

hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream) {
  return guarded([&] {
    // A snapshot: later changes of the executable graph do not reach this launch.
    auto launched = std::make_shared<GraphExecState>();
    {
      const std::lock_guard lock(Front::get().mutex);
      const auto exec = Front::get().graphExecs.find(handle);
      if (!exec)
        return fail(hipErrorInvalidValue, "{} is no executable graph", static_cast<void *>(handle));
      *launched = *exec;
    }
    return Front::get().submit(stream, GraphTask{std::move(launched)});
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return guarded([&] {
    const std::lock_guard lock(Front::get().mutex);
    if (!Front::get().graphExecs.remove(exec))
      return fail(hipErrorInvalidValue, "{} is no executable graph", static_cast<void *>(exec));
    return hipSuccess;
  });
}

hipError_t hipGraphExecGetFlags(hipGraphExec_t, unsigned long long *flags) {
  return guarded([&] {
    if (!flags)
      return fail(hipErrorInvalidValue, "null result pointer");
    *flags = 0;
    return hipSuccess;
  });
}

} // extern "C"

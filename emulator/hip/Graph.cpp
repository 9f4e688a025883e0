#include "emulator/hip/Graph.h"

#include <algorithm>
#include <set>

namespace wavesmith::hipfront {

GraphNode *GraphState::add(Task task, std::vector<GraphNode *> dependencies) {
  nodes.push_back(std::make_unique<GraphNode>(
      GraphNode{std::move(task), std::move(dependencies), nodes.size()}));
  return nodes.back().get();
}

GraphNode *GraphState::find(const void *handle) const {
  const auto found = std::ranges::find_if(
      nodes, [&](const auto &node) { return static_cast<const void *>(node.get()) == handle; });
  return found == nodes.end() ? nullptr : found->get();
}

std::optional<std::vector<std::size_t>> GraphState::order() const {
  std::vector<std::size_t> order;
  std::vector<std::size_t> missing(nodes.size());
  std::vector<std::vector<std::size_t>> dependents(nodes.size());
  for (const auto &node : nodes) {
    missing[node->id] = node->dependencies.size();
    for (const GraphNode *dependency : node->dependencies)
      dependents[dependency->id].push_back(node->id);
  }
  std::set<std::size_t> ready; // the lowest position first: a captured graph keeps its order
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0)
      ready.insert(i);
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const std::size_t dependent : dependents[next])
      if (--missing[dependent] == 0)
        ready.insert(dependent);
  }
  if (order.size() != nodes.size())
    return std::nullopt;
  return order;
}

std::shared_ptr<GraphState> GraphState::clone() const {
  auto copy = std::make_shared<GraphState>();
  for (const auto &node : nodes)
    copy->add(node->task, {});
  for (const auto &node : nodes)
    for (const GraphNode *dependency : node->dependencies)
      copy->nodes[node->id]->dependencies.push_back(copy->nodes[dependency->id].get());
  return copy;
}

void Capture::append(StreamState &stream, Task task) {
  std::vector<GraphNode *> &end = ends[&stream];
  end = {graph->add(std::move(task), end)};
}

void Capture::join(const std::shared_ptr<StreamState> &stream,
                   const std::vector<GraphNode *> &nodes) {
  if (!stream->capture) {
    stream->capture = origin.lock()->capture;
    streams.push_back(stream);
  }
  std::vector<GraphNode *> &end = ends[stream.get()];
  for (GraphNode *node : nodes)
    if (std::ranges::find(end, node) == end.end())
      end.push_back(node);
}

bool Capture::nonBlocking() const {
  return !active ||
         std::ranges::all_of(streams, [](const auto &stream) { return stream->nonBlocking; });
}

bool Capture::joinedBack() const {
  std::set<const GraphNode *> behind;
  std::vector<const GraphNode *> open;
  if (const auto main = ends.find(origin.lock().get()); main != ends.end())
    open.assign(main->second.begin(), main->second.end());
  while (!open.empty()) {
    const GraphNode *node = open.back();
    open.pop_back();
    if (behind.insert(node).second)
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::ranges::all_of(ends, [&](const auto &entry) {
    return std::ranges::all_of(entry.second,
                               [&](const GraphNode *node) { return behind.contains(node); });
  });
}

void Capture::end() {
  active = false;
  for (const auto &stream : streams)
    stream->capture.reset();
  streams.clear();
}

} // namespace wavesmith::hipfront

// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

GraphNode& Graph::add(NodeType type, std::vector<GraphNode*> needs) {
  nodes.push_back(std::make_unique<GraphNode>());
  GraphNode& node = *nodes.back();
  node.type = type;
  node.needs = std::move(needs);
  node.graph = this;
  return node;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes) {
    copy->nodes.push_back(std::make_unique<GraphNode>(*node));
    GraphNode& c = *copy->nodes.back();
    c.graph = copy.get();
    c.origin = node.get();
    if (node->child != nullptr) c.child = std::shared_ptr<Graph>(node->child->clone());
    copies[node.get()] = &c;
  }
  for (const auto& node : copy->nodes) {
    for (GraphNode*& need : node->needs) need = copies.at(need);
  }
  return copy;
}

std::vector<GraphNode*> Graph::order() const {
  std::vector<GraphNode*> ordered;
  std::set<const GraphNode*> done;
  while (ordered.size() < nodes.size()) {
    const std::size_t before = ordered.size();
    for (const auto& node : nodes) {
      const auto is_done = [&](const GraphNode* n) { return done.count(n) != 0; };
      if (is_done(node.get()) || !std::all_of(node->needs.begin(), node->needs.end(), is_done)) continue;
      done.insert(node.get());
      ordered.push_back(node.get());
    }
    if (ordered.size() == before) return {};
  }
  return ordered;
}

GraphNode* Graph::counterpart(const GraphNode* origin) const {
  for (const auto& node : nodes) {
    if (node->origin == origin) return node.get();
    if (node->child == nullptr) continue;
    if (GraphNode* const inner = node->child->counterpart(origin)) return inner;
  }
  return nullptr;
}

Graphs& Graphs::get() {
  static Graphs* const graphs = new Graphs;
  return *graphs;
}

Graph* Graphs::keep(std::unique_ptr<Graph> graph) {
  Graph* const handle = graph.get();
  graphs_[handle] = std::move(graph);
  return handle;
}

Graph* Graphs::find(const void* handle) {
  const auto found = graphs_.find(handle);
  return found == graphs_.end() ? nullptr : found->second.get();
}

GraphNode* Graphs::node(const void* handle) {
  for (const auto& [key, graph] : graphs_) {
    for (const auto& node : graph->nodes) {
      if (node.get() == handle) return node.get();
      // Nodes of a child are nodes of the program too.
      if (node->child == nullptr) continue;
      for (const auto& inner : node->child->nodes) {
        if (inner.get() == handle) return inner.get();
      }
    }
  }
  return nullptr;
}

bool Graphs::drop(const void* handle) { return graphs_.erase(handle) != 0; }

Graphs::Capture* Graphs::capture_of(void* stream) {
  for (const auto& c : captures_) {
    if (c->last.count(stream) != 0) return c.get();
  }
  return nullptr;
}

GraphNode* Graphs::add_to(void* stream, NodeType type) {
  Capture* const c = captures_.empty() ? nullptr : capture_of(stream);
  if (c == nullptr) return nullptr;
  std::vector<GraphNode*>& last = c->last[stream];
  GraphNode& node = c->graph->add(type, last);
  last = {&node};
  return &node;
}

Graphs::Capture& Graphs::begin(void* stream, Graph* into, std::vector<GraphNode*> needs) {
  captures_.push_back(std::make_unique<Capture>());
  Capture& c = *captures_.back();
  c.graph = into;
  c.origin = stream;
  c.id = next_id_++;
  c.last[stream] = std::move(needs);
  return c;
}

std::pair<Graph*, int> Graphs::end(void* stream) {
  Capture* const c = capture_of(stream);
  if (c == nullptr) return {nullptr, illegal_state};
  if (c->origin != stream) return {nullptr, stream_capture_unmatched};
  // What other streams did must lead to the last node of this one.
  std::set<const GraphNode*> joined;
  std::vector<const GraphNode*> open(c->last[stream].begin(), c->last[stream].end());
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    if (joined.insert(node).second) open.insert(open.end(), node->needs.begin(), node->needs.end());
  }
  int code = c->is_broken ? stream_capture_invalidated : success;
  for (const auto& [other, last] : c->last) {
    for (const GraphNode* const node : last) {
      if (code == success && joined.count(node) == 0) code = stream_capture_unjoined;
    }
  }
  Graph* const graph = c->graph;
  for (auto e = events_.begin(); e != events_.end();) e = e->second.first == c ? events_.erase(e) : std::next(e);
  captures_.erase(std::find_if(captures_.begin(), captures_.end(), [&](const auto& each) { return each.get() == c; }));
  if (code == success) return {graph, success};
  drop(graph);
  return {nullptr, code};
}

void Graphs::record(void* event, void* stream) {
  if (Capture* const c = capture_of(stream)) {
    events_[event] = {c, c->last[stream]};
  } else {
    events_.erase(event);
  }
}

void Graphs::wait(void* stream, void* event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  std::vector<GraphNode*>& last = found->second.first->last[stream];
  for (GraphNode* const node : found->second.second) {
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
}

KernelWork kernel_work(const void* function, Dim3 grid, Dim3 block, void** arguments, std::uint64_t shared,
                       std::uint32_t flags) {
  KernelWork work{function, grid, block, shared, flags, {}};
  const Kernel* const k = State::get().kernel(function);
  if (k == nullptr || arguments == nullptr) return work;
  work.parameters.resize(k->parameter_bytes);
  for (std::size_t i = 0; i < k->parameters.size(); ++i) {
    std::memcpy(work.parameters.data() + k->parameters[i].offset, arguments[i], k->parameters[i].bytes);
  }
  return work;
}

int run_kernel(const KernelWork& work) {
  State& s = State::get();
  Kernel* const k = s.kernel(work.function);
  if (k == nullptr) return invalid_device_function;
  std::vector<std::uint8_t> parameters = work.parameters;
  parameters.resize(k->parameter_bytes);
  return s.launch(*k, work.grid, work.block, parameters, work.shared, work.flags);
}

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
//
// The functions that make, copy and launch graphs, and capture streams.
#include "graphs.h"

#include <algorithm>
#include <utility>

namespace regatta::capture {

namespace {

int run(const Graph& graph) {
  for (GraphNode* const node : graph.order()) {
    if (!node->is_enabled) continue;
    int code = success;
    if (node->type == NodeType::kernel) {
      code = run_kernel(node->kernel);
    } else if (node->type == NodeType::graph) {
      code = run(*node->child);
    } else if (node->work) {
      code = node->work();
    }
    if (code != success) return code;
  }
  return success;
}

int instantiate(void** out, void* graph) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(graph);
  if (out == nullptr || g == nullptr || g->is_executable) return result(invalid_value);
  if (g->order().size() != g->nodes.size()) return result(invalid_value);
  auto executable = g->clone();
  executable->is_executable = true;
  *out = Graphs::get().keep(std::move(executable));
  return result(success);
}

/// Gives the nodes of `to` the work of those of `from`, if both are the same graph else.
bool update(Graph& to, const Graph& from) {
  if (to.nodes.size() != from.nodes.size()) return false;
  const auto place = [](const Graph& g, const GraphNode* n) {
    return std::find_if(g.nodes.begin(), g.nodes.end(), [&](const auto& each) { return each.get() == n; }) -
           g.nodes.begin();
  };
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    const GraphNode &a = *to.nodes[i], &b = *from.nodes[i];
    if (a.type != b.type || a.needs.size() != b.needs.size()) return false;
    for (std::size_t k = 0; k < a.needs.size(); ++k) {
      if (place(to, a.needs[k]) != place(from, b.needs[k])) return false;
    }
  }
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    GraphNode &a = *to.nodes[i], &b = *from.nodes[i];
    if (a.child != nullptr && !update(*a.child, *b.child)) return false;
    a.work = b.work;
    a.kernel = b.kernel;
  }
  return true;
}

}  // namespace

REGATTA_API int cudaGraphCreate(void** out, unsigned /*flags*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (out == nullptr) return result(invalid_value);
  *out = Graphs::get().keep(std::make_unique<Graph>());
  return result(success);
}
REGATTA_API int cudaGraphDestroy(void* graph) {
  State& s = State::get();
  const Guard guard(s.lock);
  return result(Graphs::get().drop(graph) ? success : invalid_value);
}
REGATTA_API int cudaGraphExecDestroy(void* executable) { return cudaGraphDestroy(executable); }
REGATTA_API int cudaGraphClone(void** out, void* graph) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(graph);
  if (out == nullptr || g == nullptr) return result(invalid_value);
  *out = Graphs::get().keep(g->clone());
  return result(success);
}
REGATTA_API int cudaGraphNodeFindInClone(void** out, void* node, void* clone) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(clone);
  if (out == nullptr || g == nullptr) return result(invalid_value);
  *out = g->counterpart(static_cast<GraphNode*>(node));
  return result(*out == nullptr ? invalid_value : success);
}

REGATTA_API int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, void* fourth,
                                         std::size_t fifth) {
  State& s = State::get();
  const Guard guard(s.lock);
  const std::size_t count = is_count(fourth) ? address_of(fourth) : fifth;
  if (Graphs::get().find(graph) == nullptr) return result(invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode *const a = Graphs::get().node(from[i]), *const b = Graphs::get().node(to[i]);
    if (a == nullptr || b == nullptr || a->graph != graph || b->graph != graph) return result(invalid_value);
    b->needs.push_back(a);
  }
  return result(success);
}

REGATTA_API int cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(graph);
  if (g == nullptr || count == nullptr) return result(invalid_value);
  for (std::size_t i = 0; nodes != nullptr && i < *count; ++i)
    nodes[i] = i < g->nodes.size() ? g->nodes[i].get() : nullptr;
  if (nodes == nullptr || *count > g->nodes.size()) *count = g->nodes.size();
  return result(success);
}
REGATTA_API int cudaGraphGetRootNodes(void* graph, void** nodes, std::size_t* count) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(graph);
  if (g == nullptr || count == nullptr) return result(invalid_value);
  std::vector<void*> roots;
  for (const auto& node : g->nodes) {
    if (node->needs.empty()) roots.push_back(node.get());
  }
  for (std::size_t i = 0; nodes != nullptr && i < *count; ++i) nodes[i] = i < roots.size() ? roots[i] : nullptr;
  if (nodes == nullptr || *count > roots.size()) *count = roots.size();
  return result(success);
}
REGATTA_API int cudaGraphInstantiate(void** out, void* graph) { return instantiate(out, graph); }
REGATTA_API int cudaGraphInstantiateWithFlags(void** out, void* graph, unsigned long long /*flags*/) {
  return instantiate(out, graph);
}
REGATTA_API int cudaGraphInstantiateWithParams(void** out, void* graph, void* /*parameters*/) {
  return instantiate(out, graph);
}
REGATTA_API int cudaGraphUpload(void* executable, void* /*stream*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  return result(Graphs::get().find(executable) == nullptr ? invalid_value : success);
}
REGATTA_API int cudaGraphLaunch(void* executable, void* stream) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(executable);
  if (g == nullptr || !g->is_executable) return result(invalid_value);
  if (GraphNode* const node = Graphs::get().add_to(stream, NodeType::graph)) {
    node->child = std::shared_ptr<Graph>(g->clone());
    return result(success);
  }
  return result(run(*g));
}
REGATTA_API int cudaGraphExecUpdate(void* executable, void* graph, int* outcome) {
  State& s = State::get();
  const Guard guard(s.lock);
  constexpr int topology_changed = 2;
  Graph* const to = Graphs::get().find(executable);
  const Graph* const from = Graphs::get().find(graph);
  if (to == nullptr || from == nullptr || !to->is_executable) return result(invalid_value);
  const bool is_done = update(*to, *from);
  if (outcome != nullptr) *outcome = is_done ? 0 : topology_changed;
  return result(is_done ? success : graph_exec_update_failure);
}

// Streams that are captured.

REGATTA_API int cudaStreamBeginCapture(void* stream, int /*mode*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  constexpr std::uint64_t legacy = 1;
  if (address_of(stream) <= legacy) return result(stream_capture_unsupported);
  if (Graphs::get().capture_of(stream) != nullptr) return result(illegal_state);
  Graphs::get().begin(stream, Graphs::get().keep(std::make_unique<Graph>()), {});
  return result(success);
}
REGATTA_API int cudaStreamEndCapture(void* stream, void** graph) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (graph == nullptr) return result(invalid_value);
  const auto [made, code] = Graphs::get().end(stream);
  *graph = made;
  return result(code);
}
REGATTA_API int cudaStreamIsCapturing(void* stream, int* status) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (status == nullptr) return result(invalid_value);
  const Graphs::Capture* const c = Graphs::get().capture_of(stream);
  *status = c == nullptr ? 0 : c->is_broken ? 2 : 1;
  return result(success);
}
REGATTA_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int own = 0;
  if (mode == nullptr) return result(invalid_value);
  std::swap(*mode, own);
  return result(success);
}

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
//
// The functions that make and change nodes of graphs.
#include "copies.h"
#include "graphs.h"
#include "memory.h"

#include <cstring>

namespace regatta::capture {

namespace {

/// cudaKernelNodeParams; the second version has a context behind it.
struct KernelNodeParameters {
  void* function;
  Dim3 grid, block;
  unsigned shared;
  void** arguments;
  void** extra;
};
struct FillNodeParameters {
  void* to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct HostNodeParameters {
  void (*call)(void*);
  void* data;
};
struct AllocationNodeParameters {
  char pool_and_access[104];
  std::size_t bytes;
  void* pointer;
};
/// cudaGraphNodeParams.
struct NodeParameters {
  int type, reserved[3];
  union {
    long long words[29];
    KernelNodeParameters kernel;
    struct {
      char head[16];
      Copy3D copy;
    } copy;
    FillNodeParameters fill;
    HostNodeParameters host;
    void* handle;  ///< a child graph, an event, memory to free
    AllocationNodeParameters allocation;
  };
};
static_assert(sizeof(NodeParameters) == 248);

/// What a function that makes a node is told of the others.
struct NodeList {
  void* const* nodes;
  std::size_t count;
};

/// Makes a node of `graph`; `fill` gives it its work and returns an Error.
template <class Fill>
int add_node(void** out, void* graph, NodeList needs, NodeType type, Fill fill) {
  State& s = State::get();
  const Guard guard(s.lock);
  Graph* const g = Graphs::get().find(graph);
  if (out == nullptr || g == nullptr || g->is_executable || (needs.count != 0 && needs.nodes == nullptr)) {
    return result(invalid_value);
  }
  std::vector<GraphNode*> before;
  for (std::size_t i = 0; i < needs.count; ++i) {
    before.push_back(Graphs::get().node(needs.nodes[i]));
    if (before.back() == nullptr || before.back()->graph != g) return result(invalid_value);
  }
  GraphNode& node = g->add(type, std::move(before));
  const int code = fill(node);
  if (code != success) {
    g->nodes.pop_back();
    return result(code);
  }
  *out = &node;
  return result(success);
}

int set_kernel(GraphNode& node, const KernelNodeParameters* p) {
  if (p == nullptr) return invalid_value;
  if (p->extra != nullptr) refuse("a kernel node of a graph has its parameters in 'extra', which is not supported");
  if (State::get().kernel(p->function) == nullptr) return invalid_device_function;
  node.kernel = kernel_work(p->function, p->grid, p->block, p->arguments, p->shared, node.kernel.flags);
  return success;
}

int set_fill(GraphNode& node, const FillNodeParameters* p) {
  if (p == nullptr || (p->element != 1 && p->element != 2 && p->element != 4)) return invalid_value;
  node.work = [p = *p] {
    const std::uint64_t width = p.width * p.element;
    return fill_box(p.to, {p.height > 1 ? p.pitch : width, 0}, {width, p.height, 1}, p.value, p.element);
  };
  return success;
}

int set_copy(GraphNode& node, const Copy3D* p) {
  if (p == nullptr) return invalid_value;
  node.work = [p = *p] { return copy_3d(p); };
  return success;
}

int set_host(GraphNode& node, const HostNodeParameters* p) {
  if (p == nullptr || p->call == nullptr) return invalid_value;
  node.work = [p = *p] {
    State::get().flush();
    p.call(p.data);
    return success;
  };
  return success;
}

int set_child(GraphNode& node, void* child) {
  const Graph* const g = Graphs::get().find(child);
  if (g == nullptr || g == node.graph) return invalid_value;
  node.child = std::shared_ptr<Graph>(g->clone());
  return success;
}

int set_allocation(GraphNode& node, AllocationNodeParameters* p) {
  if (p == nullptr) return invalid_value;
  // A graph's memory has one address for its whole life; it is there from now on.
  node.work = [] { return success; };
  return allocate(&p->pointer, p->bytes);
}

int set_record(GraphNode& node, void* event) {
  node.work = [event] { return record_event(event); };
  return success;
}

/// Changes a node of a graph that is not instantiated.
template <class Change>
int change_node(void* handle, NodeType type, Change change) {
  State& s = State::get();
  const Guard guard(s.lock);
  GraphNode* const node = Graphs::get().node(handle);
  return result(node == nullptr || node->type != type ? static_cast<int>(invalid_value) : change(*node));
}

/// Changes, in an instantiated graph, the copy of a node.
template <class Change>
int change_copy(void* executable, void* handle, NodeType type, Change change) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(executable);
  GraphNode* const node = g == nullptr || !g->is_executable ? nullptr : g->counterpart(static_cast<GraphNode*>(handle));
  return result(node == nullptr || node->type != type ? static_cast<int>(invalid_value) : change(*node));
}

}  // namespace

REGATTA_API int cudaGraphAddKernelNode(void** out, void* graph, void* const* needs, std::size_t count,
                                       const KernelNodeParameters* p) {
  return add_node(out, graph, {needs, count}, NodeType::kernel, [&](GraphNode& n) { return set_kernel(n, p); });
}
REGATTA_API int cudaGraphAddMemcpyNode(void** out, void* graph, void* const* needs, std::size_t count,
                                       const Copy3D* p) {
  return add_node(out, graph, {needs, count}, NodeType::copy, [&](GraphNode& n) { return set_copy(n, p); });
}
REGATTA_API int cudaGraphAddMemcpyNode1D(void** out, void* graph, void* const* needs, std::size_t count, void* to,
                                         const void* from, std::size_t bytes, int kind) {
  return add_node(out, graph, {needs, count}, NodeType::copy, [&](GraphNode& n) {
    n.work = [=] { return copy(to, from, bytes, kind); };
    return success;
  });
}
REGATTA_API int cudaGraphAddMemcpyNodeToSymbol(void** out, void* graph, void* const* needs, std::size_t count,
                                               const void* symbol, const void* from, std::size_t bytes,
                                               std::size_t offset, int /*kind*/) {
  return add_node(out, graph, {needs, count}, NodeType::copy, [&](GraphNode& n) {
    n.work = [=] { return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true); };
    return success;
  });
}
REGATTA_API int cudaGraphAddMemcpyNodeFromSymbol(void** out, void* graph, void* const* needs, std::size_t count,
                                                 void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                                 int /*kind*/) {
  return add_node(out, graph, {needs, count}, NodeType::copy, [&](GraphNode& n) {
    n.work = [=] { return copy_symbol(symbol, to, bytes, offset, false); };
    return success;
  });
}
REGATTA_API int cudaGraphAddMemsetNode(void** out, void* graph, void* const* needs, std::size_t count,
                                       const FillNodeParameters* p) {
  return add_node(out, graph, {needs, count}, NodeType::fill, [&](GraphNode& n) { return set_fill(n, p); });
}
REGATTA_API int cudaGraphAddHostNode(void** out, void* graph, void* const* needs, std::size_t count,
                                     const HostNodeParameters* p) {
  return add_node(out, graph, {needs, count}, NodeType::host, [&](GraphNode& n) { return set_host(n, p); });
}
REGATTA_API int cudaGraphAddChildGraphNode(void** out, void* graph, void* const* needs, std::size_t count,
                                           void* child) {
  return add_node(out, graph, {needs, count}, NodeType::graph, [&](GraphNode& n) { return set_child(n, child); });
}
REGATTA_API int cudaGraphAddEmptyNode(void** out, void* graph, void* const* needs, std::size_t count) {
  return add_node(out, graph, {needs, count}, NodeType::empty, [](GraphNode&) { return success; });
}
REGATTA_API int cudaGraphAddEventRecordNode(void** out, void* graph, void* const* needs, std::size_t count,
                                            void* event) {
  return add_node(out, graph, {needs, count}, NodeType::record, [&](GraphNode& n) { return set_record(n, event); });
}
REGATTA_API int cudaGraphAddEventWaitNode(void** out, void* graph, void* const* needs, std::size_t count,
                                          void* /*event*/) {
  return add_node(out, graph, {needs, count}, NodeType::wait, [](GraphNode&) { return success; });
}
REGATTA_API int cudaGraphAddMemAllocNode(void** out, void* graph, void* const* needs, std::size_t count,
                                         AllocationNodeParameters* p) {
  return add_node(out, graph, {needs, count}, NodeType::allocate, [&](GraphNode& n) { return set_allocation(n, p); });
}
REGATTA_API int cudaGraphAddMemFreeNode(void** out, void* graph, void* const* needs, std::size_t count,
                                        void* /*pointer*/) {
  return add_node(out, graph, {needs, count}, NodeType::release, [](GraphNode&) { return success; });
}

REGATTA_API int cudaGraphAddNode(void** out, void* graph, void* const* needs, void* fourth, void* fifth, void* sixth) {
  // CUDA 12: number of nodes, parameters. CUDA 13: data of edges, number of nodes, parameters.
  const bool is_old = is_count(fourth) || (fourth == nullptr && address_of(fifth) > 4095);
  const std::size_t count = address_of(is_old ? fourth : fifth);
  auto* const p = static_cast<NodeParameters*>(is_old ? fifth : sixth);
  if (p == nullptr) return result(invalid_value);
  const auto type = static_cast<NodeType>(p->type);
  return add_node(out, graph, {needs, count}, type, [&](GraphNode& n) -> int {
    switch (type) {
      case NodeType::kernel:
        return set_kernel(n, &p->kernel);
      case NodeType::copy:
        return set_copy(n, &p->copy.copy);
      case NodeType::fill:
        return set_fill(n, &p->fill);
      case NodeType::host:
        return set_host(n, &p->host);
      case NodeType::graph:
        return set_child(n, p->handle);
      case NodeType::record:
        return set_record(n, p->handle);
      case NodeType::allocate:
        return set_allocation(n, &p->allocation);
      case NodeType::empty:
      case NodeType::wait:
      case NodeType::release:
        return success;
    }
    refuse("the program adds a node of type " + std::to_string(p->type) + " to a graph, which is not supported");
  });
}

REGATTA_API int cudaGraphNodeGetType(void* handle, int* type) {
  State& s = State::get();
  const Guard guard(s.lock);
  const GraphNode* const node = Graphs::get().node(handle);
  if (node == nullptr || type == nullptr) return result(invalid_value);
  *type = static_cast<int>(node->type);
  return result(success);
}

REGATTA_API int cudaGraphKernelNodeSetParams(void* node, const KernelNodeParameters* p) {
  return change_node(node, NodeType::kernel, [&](GraphNode& n) { return set_kernel(n, p); });
}
REGATTA_API int cudaGraphMemsetNodeSetParams(void* node, const FillNodeParameters* p) {
  return change_node(node, NodeType::fill, [&](GraphNode& n) { return set_fill(n, p); });
}
REGATTA_API int cudaGraphMemcpyNodeSetParams(void* node, const Copy3D* p) {
  return change_node(node, NodeType::copy, [&](GraphNode& n) { return set_copy(n, p); });
}
REGATTA_API int cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from, std::size_t bytes, int kind) {
  return change_node(node, NodeType::copy, [&](GraphNode& n) {
    n.work = [=] { return copy(to, from, bytes, kind); };
    return success;
  });
}
REGATTA_API int cudaGraphHostNodeSetParams(void* node, const HostNodeParameters* p) {
  return change_node(node, NodeType::host, [&](GraphNode& n) { return set_host(n, p); });
}
REGATTA_API int cudaGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParameters* p) {
  return change_copy(executable, node, NodeType::kernel, [&](GraphNode& n) { return set_kernel(n, p); });
}
REGATTA_API int cudaGraphExecMemsetNodeSetParams(void* executable, void* node, const FillNodeParameters* p) {
  return change_copy(executable, node, NodeType::fill, [&](GraphNode& n) { return set_fill(n, p); });
}
REGATTA_API int cudaGraphExecMemcpyNodeSetParams(void* executable, void* node, const Copy3D* p) {
  return change_copy(executable, node, NodeType::copy, [&](GraphNode& n) { return set_copy(n, p); });
}
REGATTA_API int cudaGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to, const void* from,
                                                   std::size_t bytes, int kind) {
  return change_copy(executable, node, NodeType::copy, [&](GraphNode& n) {
    n.work = [=] { return copy(to, from, bytes, kind); };
    return success;
  });
}
REGATTA_API int cudaGraphExecHostNodeSetParams(void* executable, void* node, const HostNodeParameters* p) {
  return change_copy(executable, node, NodeType::host, [&](GraphNode& n) { return set_host(n, p); });
}
REGATTA_API int cudaGraphNodeSetEnabled(void* executable, void* handle, unsigned is_enabled) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(executable);
  GraphNode* const node = g == nullptr ? nullptr : g->counterpart(static_cast<GraphNode*>(handle));
  if (node == nullptr) return result(invalid_value);
  node->is_enabled = is_enabled != 0;
  return result(success);
}
REGATTA_API int cudaGraphNodeGetEnabled(void* executable, void* handle, unsigned* is_enabled) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Graph* const g = Graphs::get().find(executable);
  const GraphNode* const node = g == nullptr ? nullptr : g->counterpart(static_cast<GraphNode*>(handle));
  if (node == nullptr || is_enabled == nullptr) return result(invalid_value);
  *is_enabled = node->is_enabled ? 1 : 0;
  return result(success);
}

}  // namespace regatta::capture

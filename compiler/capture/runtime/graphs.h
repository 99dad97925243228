// SPDX-License-Identifier: Apache-2.0
//
// CUDA graphs, and streams whose work becomes one. A launched graph does its nodes at once, each after those that it
// depends on, else in the order in which they were made.
#pragma once

#include "state.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace regatta::capture {

/// cudaGraphNodeType.
enum class NodeType : int {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait = 6,
  record = 7,
  allocate = 10,
  release = 11,
};

/// A launch with its own copy of the parameters.
struct KernelWork {
  const void* function = nullptr;
  Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared = 0;
  std::uint32_t flags = 0;
  std::vector<std::uint8_t> parameters;
};

struct Graph;

struct GraphNode {
  NodeType type = NodeType::empty;
  std::function<int()> work;  ///< unless it is a kernel or a graph; returns an Error
  KernelWork kernel;
  std::shared_ptr<Graph> child;
  std::vector<GraphNode*> needs;
  bool is_enabled = true;
  Graph* graph = nullptr;
  GraphNode* origin = nullptr;  ///< which it was copied from
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  bool is_executable = false;

  GraphNode& add(NodeType type, std::vector<GraphNode*> needs);
  /// Every node has its counterpart at the same place.
  std::unique_ptr<Graph> clone() const;
  /// Nodes in an order in which they can be done. Empty: they wait for one another.
  std::vector<GraphNode*> order() const;
  /// The copy of `origin`; nullptr: there is none.
  GraphNode* counterpart(const GraphNode* origin) const;
};

/// CUDA 13 gave functions of graphs a further argument, the data of edges, under the old name: a number of nodes then
/// stands where newer programs have a pointer.
inline bool is_count(const void* argument) { return address_of(argument) - 1 < 4095; }

/// All graphs and what streams put into them.
class Graphs {
 public:
  static Graphs& get();

  Graph* keep(std::unique_ptr<Graph> graph);
  Graph* find(const void* handle);  ///< nullptr: unknown
  GraphNode* node(const void* handle);
  bool drop(const void* handle);

  // Streams that are captured.
  struct Capture {
    Graph* graph = nullptr;
    void* origin = nullptr;
    unsigned long long id = 0;
    bool is_broken = false;
    std::map<void*, std::vector<GraphNode*>> last;  ///< by stream: what its next node depends on
  };
  Capture* capture_of(void* stream);
  /// The node that the stream's work became; nullptr: the stream is not captured, the work is to be done.
  GraphNode* add_to(void* stream, NodeType type);
  Capture& begin(void* stream, Graph* into, std::vector<GraphNode*> needs);
  /// The graph; nullptr with a code for what went wrong.
  std::pair<Graph*, int> end(void* stream);
  /// An event was recorded in a captured stream: who waits for it joins.
  void record(void* event, void* stream);
  void wait(void* stream, void* event);

 private:
  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::vector<std::unique_ptr<Capture>> captures_;
  std::map<void*, std::pair<Capture*, std::vector<GraphNode*>>> events_;
  unsigned long long next_id_ = 1;
};

/// Does what a program puts into a stream, or makes it a node where the stream is captured.
template <class Work>
int in_stream(void* stream, NodeType type, Work work) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (GraphNode* const node = Graphs::get().add_to(stream, type)) {
    node->work = work;
    return result(success);
  }
  return result(work());
}

/// A launch from its arguments in memory. nullptr as `arguments`: there are none.
KernelWork kernel_work(const void* function, Dim3 grid, Dim3 block, void** arguments, std::uint64_t shared,
                       std::uint32_t flags);
int run_kernel(const KernelWork& work);

}  // namespace regatta::capture

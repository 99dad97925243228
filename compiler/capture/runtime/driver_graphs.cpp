// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the driver API that come from captured streams: the runtime's. Nodes that the driver API describes by
// structures of its own are refused.
#include "driver.h"

extern "C" {
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaGraphCreate(void** out, unsigned flags);
int cudaGraphDestroy(void* graph);
int cudaGraphClone(void** out, void* graph);
int cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count);
int cudaGraphGetRootNodes(void* graph, void** nodes, std::size_t* count);
int cudaGraphNodeGetType(void* node, int* type);
int cudaGraphAddEmptyNode(void** out, void* graph, void* const* needs, std::size_t count);
int cudaGraphAddChildGraphNode(void** out, void* graph, void* const* needs, std::size_t count, void* child);
int cudaGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags);
int cudaGraphExecDestroy(void* executable);
int cudaGraphUpload(void* executable, void* stream);
int cudaGraphLaunch(void* executable, void* stream);
}

namespace regatta::capture {

REGATTA_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  return in_context([&] { return cudaStreamBeginCapture(stream, mode); });
}
REGATTA_API int cuStreamEndCapture(void* stream, void** graph) {
  return in_context([&] { return cudaStreamEndCapture(stream, graph); });
}
REGATTA_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  return through_runtime([&] { return cudaThreadExchangeStreamCaptureMode(mode); });
}
REGATTA_API int cuGraphCreate(void** out, unsigned flags) {
  return through_runtime([&] { return cudaGraphCreate(out, flags); });
}
REGATTA_API int cuGraphDestroy(void* graph) {
  return through_runtime([&] { return cudaGraphDestroy(graph); });
}
REGATTA_API int cuGraphClone(void** out, void* graph) {
  return through_runtime([&] { return cudaGraphClone(out, graph); });
}
REGATTA_API int cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  return through_runtime([&] { return cudaGraphGetNodes(graph, nodes, count); });
}
REGATTA_API int cuGraphGetRootNodes(void* graph, void** nodes, std::size_t* count) {
  return through_runtime([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
REGATTA_API int cuGraphNodeGetType(void* node, int* type) {
  return through_runtime([&] { return cudaGraphNodeGetType(node, type); });
}
REGATTA_API int cuGraphAddEmptyNode(void** out, void* graph, void* const* needs, std::size_t count) {
  return through_runtime([&] { return cudaGraphAddEmptyNode(out, graph, needs, count); });
}
REGATTA_API int cuGraphAddChildGraphNode(void** out, void* graph, void* const* needs, std::size_t count, void* child) {
  return through_runtime([&] { return cudaGraphAddChildGraphNode(out, graph, needs, count, child); });
}
REGATTA_API int cuGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags) {
  return in_context([&] { return cudaGraphInstantiateWithFlags(out, graph, flags); });
}
REGATTA_API int cuGraphExecDestroy(void* executable) {
  return through_runtime([&] { return cudaGraphExecDestroy(executable); });
}
REGATTA_API int cuGraphUpload(void* executable, void* stream) {
  return in_context([&] { return cudaGraphUpload(executable, stream); });
}
REGATTA_API int cuGraphLaunch(void* executable, void* stream) {
  return in_context([&] { return cudaGraphLaunch(executable, stream); });
}

}  // namespace regatta::capture

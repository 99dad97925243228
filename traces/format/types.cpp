// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/types.h>

namespace regatta::trace {
namespace {

constexpr const char* op_class_names[] = {
    "nop",      "int_add",  "int_max",  "int_mul",  "int_mad",       "int_div",  "int64",    "convert",
    "fp32_add", "fp32_max", "fp32_mul", "fp32_mad", "fp32_div",      "fp64_add", "fp64_max", "fp64_mul",
    "fp64_mad", "fp64_div", "sfu",      "shuffle",  "constant_load", "load",     "store",    "atomic",
    "fence",    "barrier",  "branch",   "exit",     "metadata",      "tensor",   "async"};
static_assert(sizeof op_class_names / sizeof *op_class_names == op_class_count, "one name per class");

constexpr const char* space_names[] = {"none",  "global",  "shared",  "local",   "constant",
                                       "param", "generic", "texture", "surface", "asynchronous"};
static_assert(sizeof space_names / sizeof *space_names == static_cast<unsigned>(MemorySpace::asynchronous) + 1,
              "one name per space");

constexpr const char* async_names[] = {"none",           "copy",          "commit",       "wait",
                                       "wait_all",       "arrive_copies", "barrier_init", "barrier_inval",
                                       "barrier_update", "barrier_wait",  "bulk_load",    "bulk_store",
                                       "bulk_reduce",    "bulk_commit",   "bulk_wait",    "bulk_wait_read"};
static_assert(sizeof async_names / sizeof *async_names == async_kind_count, "one name per kind");

}  // namespace

const char* to_string(AsyncKind k) {
  const auto i = static_cast<unsigned>(k);
  return i < async_kind_count ? async_names[i] : "unknown";
}

const char* to_string(OpClass c) {
  const auto i = static_cast<unsigned>(c);
  return i < op_class_count ? op_class_names[i] : "unknown";
}

const char* to_string(MemorySpace s) {
  const auto i = static_cast<unsigned>(s);
  return i <= static_cast<unsigned>(MemorySpace::asynchronous) ? space_names[i] : "unknown";
}

}  // namespace regatta::trace

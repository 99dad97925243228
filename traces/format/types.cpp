// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/types.h>

namespace regatta::trace {
namespace {

constexpr const char* op_class_names[] = {"nop",      "int_add",  "int_max",       "int_mul",  "int_mad",  "int_div",
                                          "int64",    "convert",  "fp32_add",      "fp32_max", "fp32_mul", "fp32_mad",
                                          "fp32_div", "fp64_add", "fp64_max",      "fp64_mul", "fp64_mad", "fp64_div",
                                          "sfu",      "shuffle",  "constant_load", "load",     "store",    "atomic",
                                          "fence",    "barrier",  "branch",        "exit",     "metadata", "tensor"};
static_assert(sizeof op_class_names / sizeof *op_class_names == op_class_count, "one name per class");

constexpr const char* space_names[] = {"none",  "global",  "shared",  "local",  "constant",
                                       "param", "generic", "texture", "surface"};
static_assert(sizeof space_names / sizeof *space_names == static_cast<unsigned>(MemorySpace::surface) + 1,
              "one name per space");

}  // namespace

const char* to_string(OpClass c) {
  const auto i = static_cast<unsigned>(c);
  return i < op_class_count ? op_class_names[i] : "unknown";
}

const char* to_string(MemorySpace s) {
  const auto i = static_cast<unsigned>(s);
  return i <= static_cast<unsigned>(MemorySpace::surface) ? space_names[i] : "unknown";
}

}  // namespace regatta::trace

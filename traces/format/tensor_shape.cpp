// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/tensor_shape.h>

#include <algorithm>
#include <cstdio>

namespace regatta::trace {
namespace {

unsigned bits_of(const std::string& format) {
  constexpr struct {
    const char* name;
    unsigned bits;
  } formats[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f64", 64}, {"e4m3", 8}, {"e5m2", 8},
                 {"u8", 8},   {"s8", 8},    {"u4", 4},    {"s4", 4},   {"b1", 1}};
  for (const auto& f : formats)
    if (format == f.name) return f.bits;
  return 0;
}

}  // namespace

std::optional<TensorShape> tensor_shape(const std::string& opcode) {
  TensorShape shape;
  unsigned format = 0;  // D's, A's, B's
  for (std::size_t at = 0; at < opcode.size();) {
    const std::size_t end = std::min(opcode.find('.', at), opcode.size());
    const std::string part = opcode.substr(at, end - at);
    at = end + 1;
    int length = 0;
    TensorShape here;
    if (std::sscanf(part.c_str(), "m%3un%3uk%3u%n", &here.m, &here.n, &here.k, &length) == 3 &&
        length == static_cast<int>(part.size())) {
      shape = here;
    } else if (shape.m != 0 && part != "satfinite" && ++format == 2) {
      shape.bits = bits_of(part);
    }
  }
  shape.of_group = opcode.rfind("wgmma.", 0) == 0;
  shape.a_in_memory = shape.of_group && opcode.find(".shared_a") != std::string::npos;
  if (shape.m == 0 || shape.n == 0 || shape.k == 0 || shape.bits == 0) return std::nullopt;
  return shape;
}

}  // namespace regatta::trace

// SPDX-License-Identifier: Apache-2.0
#include "operand_name.h"

#include <regatta/trace/tensor_shape.h>

namespace regatta::checker {
namespace {

constexpr unsigned fragment_bits = 32 * 32;  // of a register of each lane
constexpr unsigned descriptor_words = 2, columns = 8;

}  // namespace

std::string operand_name(const trace::StaticInstruction& i, unsigned reg) {
  if (i.op_class != trace::OpClass::tensor) return "";
  const auto shape = trace::tensor_shape(i.opcode);
  if (!shape || i.source_count < i.destination_count) return "";
  const unsigned c = i.source_count - i.destination_count;  // C's registers are as many as D's, and the last ones
  const unsigned a = shape->a_in_memory ? descriptor_words : shape->m * shape->k * shape->bits / fragment_bits;
  const unsigned b = shape->of_group ? descriptor_words : columns * shape->k * shape->bits / fragment_bits;
  if (a + b != c) return "";
  std::string names;
  for (unsigned s = 0; s < i.source_count; ++s) {
    if (i.sources[s] != reg) continue;
    if (!names.empty()) names += " and ";
    if (s >= c) {
      names += "C" + std::to_string(s - c);
    } else if (s >= a) {
      names += shape->of_group ? "descriptor of B" : "B" + std::to_string(s - a);
    } else {
      names += shape->a_in_memory ? "descriptor of A" : "A" + std::to_string(s);
    }
  }
  return names;
}

}  // namespace regatta::checker

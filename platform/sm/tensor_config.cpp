// SPDX-License-Identifier: Apache-2.0
#include <regatta/sm/tensor_config.h>

#include <regatta/trace/tensor_shape.h>

#include <algorithm>

namespace regatta::sm {

void TensorConfig::declare(support::OptionSet& o) {
  o.add("unit.tensor", units, "pipelines", "tensor pipelines for matrix products of a warp; 0: the machine has none", 0,
        64);
  o.add("tensor.product_bits", product_bits, "bits",
        "what a tensor pipeline makes per cycle: products times the bits of an element of the first matrix", 64,
        1u << 20);
  o.add("tensor.group_product_bits", group_product_bits, "bits",
        "the same for products of a group of four warps (wgmma), which read shared memory", 64, 1u << 20);
  o.add("tensor.latency", latency, "cycles",
        "cycles from the operands of a matrix product to its result, beside twice those for which it occupies its "
        "pipeline",
        1, 1000);
}

std::uint64_t TensorConfig::half_products(const trace::StaticInstruction& i) {
  constexpr unsigned half_bits = 16;
  const auto shape = trace::tensor_shape(i.opcode);
  return shape ? std::uint64_t{shape->m} * shape->n * shape->k * shape->bits / half_bits : 0;
}

unsigned TensorConfig::shared_bytes(const trace::StaticInstruction& i) {
  constexpr unsigned warps_of_group = 4, bits_of_byte = 8;
  const auto shape = trace::tensor_shape(i.opcode);
  if (!shape || !shape->of_group) return 0;
  const unsigned of_b = shape->n * shape->k * shape->bits / bits_of_byte / warps_of_group;
  const bool is_first =
      !i.operands.empty() && i.operands.back().kind == trace::Operand::Kind::immediate && i.operands.back().value == 0;
  return of_b + (is_first && shape->a_in_memory ? shape->m * shape->k * shape->bits / bits_of_byte : 0);
}

unsigned TensorConfig::cycles(const trace::StaticInstruction& i) const {
  const auto shape = trace::tensor_shape(i.opcode);
  if (!shape) return 1;
  const std::uint64_t bits = std::uint64_t{shape->m} * shape->n * shape->k * shape->bits;
  const unsigned rate = shape->of_group ? group_product_bits : product_bits;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((bits + rate - 1) / rate, 1, 10000));
}

}  // namespace regatta::sm

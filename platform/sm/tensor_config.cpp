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

unsigned TensorConfig::cycles(const trace::StaticInstruction& i) const {
  const auto shape = trace::tensor_shape(i.opcode);
  if (!shape) return 1;
  const std::uint64_t bits = std::uint64_t{shape->m} * shape->n * shape->k * shape->bits;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((bits + product_bits - 1) / product_bits, 1, 10000));
}

}  // namespace regatta::sm

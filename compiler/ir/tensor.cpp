// SPDX-License-Identifier: Apache-2.0
//
// Matrices in the registers of a warp.
#include <regatta/ir/ir.h>

namespace regatta::ir {
namespace {

constexpr unsigned columns = 8, lanes = 32, word_bits = 32;

unsigned words(unsigned elements, TensorFormat f) { return elements * bits_of(f) / (lanes * word_bits); }

void add(OperandGroups& to, bool destinations, std::size_t first, std::size_t count) {
  if (count < 2) return;
  OperandGroup& g = to.group[to.count++];
  g.destinations = destinations;
  g.first = static_cast<std::uint8_t>(first);
  g.count = static_cast<std::uint8_t>(count);
}

}  // namespace

unsigned a_words(const TensorModifiers& t) { return words(unsigned{t.m} * t.k, t.a); }
unsigned b_words(const TensorModifiers& t) { return words(columns * t.k, t.b); }
unsigned accumulator_words(const TensorModifiers& t) { return words(t.m * columns, t.accumulator); }

std::string shape_text(const TensorModifiers& t) {
  return "m" + std::to_string(t.m) + "n" + std::to_string(columns) + "k" + std::to_string(t.k);
}

OperandGroups operand_groups(const Instruction& i) {
  OperandGroups groups;
  switch (i.op) {
    case Opcode::ld:
    case Opcode::ldmatrix:
      if (i.mod.vector > 1) add(groups, true, 0, i.destinations.size());
      break;
    case Opcode::st:
    case Opcode::stmatrix:
      if (i.mod.vector > 1 && !i.sources.empty()) add(groups, false, 1, i.sources.size() - 1);
      break;
    case Opcode::mma: {
      const unsigned of_operand = bits_of(i.mod.tensor.a) > word_bits ? 2 : 1;
      const std::size_t a = a_words(i.mod.tensor) / of_operand, b = b_words(i.mod.tensor) / of_operand;
      add(groups, true, 0, i.destinations.size());
      add(groups, false, 0, a);
      add(groups, false, a, b);
      if (i.sources.size() > a + b) add(groups, false, a + b, i.sources.size() - a - b);
      break;
    }
    case Opcode::wgmma: {
      constexpr std::size_t behind = 2;  // the accumulators
      const std::size_t c = i.destinations.size();
      add(groups, true, 0, c);
      if (!i.mod.tensor.a_in_memory) add(groups, false, 0, a_words(i.mod.tensor));
      if (i.sources.size() > c + behind) add(groups, false, i.sources.size() - behind - c, c);
      break;
    }
    default:
      break;
  }
  return groups;
}

bool is_exchange(Opcode op) {
  switch (op) {
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::elect:
    case Opcode::mma:
    case Opcode::wgmma:
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
    case Opcode::movmatrix:
      return true;
    default:
      return false;
  }
}

}  // namespace regatta::ir

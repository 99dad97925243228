// SPDX-License-Identifier: Apache-2.0
//
// Random programs over 32- and 64-bit registers, predicates, guards and vector accesses.
#pragma once

#include <regatta/ir/ir.h>

#include <random>

namespace regatta::test {

struct Shape {
  unsigned blocks = 1;
  unsigned instructions = 20;  ///< per block
  unsigned singles = 10;
  unsigned pairs = 5;
  unsigned predicates = 4;
  bool vectors = true;
  bool ordered = false;    ///< carry chains, atomics, volatile accesses, barriers and local memory too
  bool addresses = false;  ///< address arithmetic on registers with one definition, parameters and launch dimensions
  bool define_all = true;  ///< every register gets a value in the first block
};

/// Builds instructions tersely; also used by the hand-written tests.
class Builder {
 public:
  explicit Builder(ir::Function& f) : f_(f) {}
  std::uint32_t single() { return add_register(1, false); }
  std::uint32_t pair() { return add_register(2, false); }
  std::uint32_t predicate() { return add_register(0, true); }
  std::uint32_t block();  ///< opens a new last block
  ir::Operand operand(std::uint32_t v) const;
  ir::Instruction& emit(ir::Opcode op, ir::Type type, const std::vector<ir::Operand>& destinations,
                        const std::vector<ir::Operand>& sources);
  ir::Instruction& store(std::uint32_t address, const std::vector<std::uint32_t>& values, std::int64_t offset = 0);
  ir::Instruction& load(const std::vector<std::uint32_t>& values, std::uint32_t address, std::int64_t offset = 0);
  ir::Instruction& parameter(std::uint32_t v, std::uint32_t offset);
  ir::Instruction& exit() { return emit(ir::Opcode::exit, ir::Type::none, {}, {}); }
  ir::Instruction& branch(std::uint32_t target);

 private:
  std::uint32_t add_register(unsigned words, bool is_predicate);
  ir::Function& f_;
};

ir::Function random_program(std::mt19937& random, const Shape& shape);

}  // namespace regatta::test

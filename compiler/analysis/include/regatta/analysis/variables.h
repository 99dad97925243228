// SPDX-License-Identifier: Apache-2.0
//
// One numbering for everything an instruction can read or write, so that each analysis runs unchanged before
// and after register allocation. Before it, a variable is a virtual register (general and predicate registers
// already share Function::registers). After it, variables 0..254 are the 32-bit registers R0.. and variable
// 256+p is predicate Pp.
#pragma once

#include <regatta/ir/ir.h>

namespace regatta::analysis {

class Variables {
 public:
  /// Variable of predicate P0 in an allocated function.
  static constexpr std::uint32_t first_physical_predicate = 256;

  explicit Variables(const ir::Function& f) : allocated_(f.allocated), virtual_count_(f.registers.size()) {}

  bool allocated() const { return allocated_; }
  std::size_t count() const { return allocated_ ? first_physical_predicate + trace::max_predicates : virtual_count_; }
  std::uint32_t predicate(std::uint32_t id) const { return allocated_ ? first_physical_predicate + id : id; }

  /// Calls visit(variable) for each register or predicate the operand names; an allocated 64-bit operand is two.
  template <typename Visit>
  void for_each(const ir::Operand& o, Visit&& visit) const {
    if (o.is_predicate()) {
      visit(predicate(o.id));
    } else if (o.is_reg()) {
      visit(o.id);
      if (allocated_ && o.words == 2) visit(o.id + 1);
    }
  }
  /// Variables read, in operand order after the guard, duplicates kept.
  template <typename Visit>
  void for_each_read(const ir::Instruction& i, Visit&& visit) const {
    if (i.guarded) visit(predicate(i.guard));
    for (const ir::Operand& o : i.sources) for_each(o, visit);
  }
  template <typename Visit>
  void for_each_write(const ir::Instruction& i, Visit&& visit) const {
    for (const ir::Operand& o : i.destinations) for_each(o, visit);
  }

 private:
  bool allocated_;
  std::size_t virtual_count_;
};

}  // namespace regatta::analysis

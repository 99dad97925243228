// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/shared_accesses.h>

#include <regatta/base/address_map.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace regatta::analysis {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

/// The shared variables that a value may point into.
struct Origin {
  VariableSet variables = 0;
  bool unknown = false;  ///< may be another shared address
  bool number = false;   ///< may be a number in which there is no address: a shared address of unknown origin

  bool any() const { return variables != 0 || unknown; }
  bool merge(const Origin& o) {
    const Origin before = *this;
    variables |= o.variables;
    unknown |= o.unknown;
    number |= o.number;
    return variables != before.variables || unknown != before.unknown || number != before.number;
  }
};

/// Whether the result is one of the sources, not a sum of all: a number among them stays one.
bool selects(const Instruction& i) { return i.op == Opcode::selp || i.op == Opcode::min || i.op == Opcode::max; }

bool is_access(const Instruction& i) { return ir::accesses_memory(i.op); }

bool in_shared_window(const Operand& o) {
  if (o.kind != Operand::Kind::immediate || !o.symbol.empty()) return false;
  const std::uint64_t address = o.words == 1 ? base::widened(o.value & 0xffffffffu) : o.value;
  return base::window_number(address) == static_cast<std::uint64_t>(base::Window::shared);
}

class SharedAccesses {
 public:
  explicit SharedAccesses(ir::Function& f)
      : f_(f), all_(all_variables(f.shared_variables.size())), origins_(f.registers.size()) {}

  void run() {
    propagate();
    // Only now is it known which sums with the window have no variable in them.
    seed_unknown_ = true;
    propagate();
    for (ir::Block& b : f_.blocks)
      for (Instruction& i : b.instructions) i.shared_accesses = touched(i);
  }

 private:
  Origin origin(const Operand& o) const {
    if (o.is_reg()) return origins_[o.id];
    if (o.shared_variable == 0) return {0, false, true};
    return {variable_bit(o.shared_variable - 1), false, false};
  }

  void propagate() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::Block& b : f_.blocks)
        for (const Instruction& i : b.instructions) changed |= visit(i);
    }
  }

  bool visit(const Instruction& i) {
    bool changed = false;
    Origin result;
    if (is_access(i)) {
      // Values that are stored; the address does not flow into the result.
      for (std::size_t s = 1; s < i.sources.size(); ++s)
        if (!escapes_ && origin(i.sources[s]).any()) changed = escapes_ = true;
      result.unknown = escapes_;
      result.number = true;
    } else {
      bool window = false, all_numbers = true;
      for (const Operand& o : i.sources) {
        if (o.is_predicate()) continue;
        result.merge(origin(o));
        all_numbers &= origin(o).number;
        window |= in_shared_window(o);
      }
      // An address and an index make an address, so a number needs numbers only.
      if (!selects(i)) result.number = all_numbers;
      // The lane and the mask of a shuffle are no part of its result.
      if (i.op == Opcode::shfl) result.number = origin(i.sources[0]).number;
      if (window && seed_unknown_ && !result.any()) result.unknown = true;
    }
    for (const Operand& o : i.destinations)
      if (o.is_reg()) changed |= origins_[o.id].merge(result);
    return changed;
  }

  VariableSet touched(const Instruction& i) const {
    // A format may print a string that lies in shared memory.
    if (i.op == Opcode::print) return escapes_ ? all_ : 0;
    if (ir::is_asynchronous(i.op)) return all_;
    if (!is_access(i) || i.sources.empty()) return 0;
    const Origin address = origin(i.sources[0]);
    switch (i.mod.space) {
      case MemorySpace::shared:
        return address.unknown || address.number || address.variables == 0 ? all_ : address.variables;
      case MemorySpace::generic:
      case MemorySpace::none:
        return address.unknown || in_shared_window(i.sources[0]) ? all_ : address.variables;
      default:
        return 0;
    }
  }

  ir::Function& f_;
  const VariableSet all_;
  std::vector<Origin> origins_;  ///< per virtual register
  bool escapes_ = false;         ///< the address of a shared variable may lie in memory
  bool seed_unknown_ = false;
};

}  // namespace

void mark_shared_accesses(ir::Function& f) {
  if (f.allocated) throw std::logic_error(f.name + ": shared accesses are marked before allocation");
  SharedAccesses(f).run();
}

}  // namespace regatta::analysis

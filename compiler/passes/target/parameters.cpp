// SPDX-License-Identifier: Apache-2.0
#include "parameters.h"

#include "code.h"

#include <regatta/analysis/function_analyses.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

bool is_dimension(const Operand& o) {
  if (o.kind != Operand::Kind::special) return false;
  const auto s = static_cast<ir::Special>(o.value);
  return (s >= ir::Special::ntid_x && s <= ir::Special::ntid_z) ||
         (s >= ir::Special::nctaid_x && s <= ir::Special::nctaid_z);
}

struct Constant {
  Operand::Kind kind = Operand::Kind::none;
  std::uint64_t value = 0;
  unsigned words = 1;
  bool is_uniform = false;
  friend bool operator<(const Constant& a, const Constant& b) {
    return std::tie(a.kind, a.value, a.words, a.is_uniform) < std::tie(b.kind, b.value, b.words, b.is_uniform);
  }
};

bool is_load_itself(const Instruction& i) { return i.op == Opcode::mov || i.op == Opcode::uldc; }

bool is_global(const Instruction& i) {
  switch (i.op) {
    case Opcode::ld:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
      return i.mod.space == MemorySpace::global || i.mod.space == MemorySpace::generic ||
             i.mod.space == MemorySpace::none;
    default:
      return false;
  }
}

/// Operands that are no general register.
std::ptrdiff_t count_others(const Instruction& i) {
  return std::count_if(i.sources.begin(), i.sources.end(), [](const Operand& s) {
    return !s.is_reg() && !s.is_predicate() &&
           !(s.kind == Operand::Kind::immediate && s.symbol.empty() && s.value == 0);
  });
}

/// Whether the operand can come from a uniform register, if it is the only one that is no general register: the value
/// has one word or is a term of a sum.
bool may_be_uniform(const Instruction& i, const Operand& o) {
  switch (i.op) {
    case Opcode::add:
    case Opcode::sub:
      return true;
    case Opcode::div:
    case Opcode::rem:
    case Opcode::cvt:
      return false;
    default:
      return o.words == 1;
  }
}

bool is_same(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.value == b.value && a.words == b.words && a.id == b.id;
}

/// Blocks that lead to all of some blocks.
class Places {
 public:
  explicit Places(const ir::Function& f) : analyses_(f) {}

  std::uint32_t common(std::uint32_t a, std::uint32_t b) {
    const auto& dominators = analyses_.dominators();
    while (!dominators.dominates(a, b)) a = static_cast<std::uint32_t>(dominators.immediate(a));
    return a;
  }
  /// The nearest block above that is in the fewest loops.
  std::uint32_t outside_loops(std::uint32_t block) {
    const auto& dominators = analyses_.dominators();
    std::uint32_t best = block;
    for (std::int32_t b = dominators.immediate(block); b >= 0;
         b = dominators.immediate(static_cast<std::uint32_t>(b))) {
      const auto above = static_cast<std::uint32_t>(b);
      if (analyses_.loops().depth(above) < analyses_.loops().depth(best)) best = above;
    }
    return best;
  }
  bool is_reached(std::uint32_t block) { return analyses_.dominators().reachable(block); }

 private:
  analysis::FunctionAnalyses analyses_;
};

class Loader {
 public:
  explicit Loader(ir::Function& f) : f_(f), places_(f) {}

  std::uint32_t run() {
    find();
    // All readers before the first load is put in: they are known by their address.
    std::vector<std::pair<std::uint32_t, Instruction>> loads;
    for (const auto& [constant, uses] : uses_) {
      std::uint32_t place = uses.front().block;
      for (const Use& use : uses) place = places_.common(place, use.block);
      loads.emplace_back(places_.outside_loops(place), load(constant, uses));
    }
    for (auto& [place, i] : loads) {
      const bool is_uniform = i.op == Opcode::uldc;
      const Operand wanted = is_uniform ? i.sources[0] : i.destinations[0];
      insert(place, std::move(i), [&](const Instruction& user) {
        return (!is_uniform || !is_load_itself(user)) &&
               std::any_of(user.sources.begin(), user.sources.end(),
                           [&](const Operand& o) { return is_same(o, wanted); });
      });
    }
    if (!accesses_.empty()) {
      std::uint32_t place = accesses_.front();
      for (std::uint32_t b : accesses_) place = places_.common(place, b);
      insert(places_.outside_loops(place), uniform(Operand::special(ir::Special::memory_descriptor)), is_global);
    }
    insert(0, uniform(Operand::special(ir::Special::stack_pointer)), [](const Instruction&) { return true; });
    ir::build_edges(f_);
    return loads_;
  }

 private:
  struct Use {
    std::uint32_t block = 0;
    Operand* operand = nullptr;
  };

  void find() {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      if (!places_.is_reached(b)) continue;
      for (Instruction& i : f_.blocks[b].instructions) {
        if (is_global(i)) accesses_.push_back(b);
        if (!is_load_itself(i)) find(i, b);
      }
    }
  }
  /// Operands are loaded into general registers until one is left that is no such register.
  void find(Instruction& i, std::uint32_t block) {
    auto others = count_others(i);
    std::vector<const Operand*> loaded;
    for (Operand& o : i.sources) {
      if (o.kind != Operand::Kind::parameter && !is_dimension(o)) continue;
      const bool is_loaded =
          std::any_of(loaded.begin(), loaded.end(), [&](const Operand* other) { return is_same(*other, o); });
      const bool is_uniform = others == 1 && may_be_uniform(i, o) && !is_loaded;
      uses_[{o.kind, o.value, o.words, is_uniform}].push_back({block, &o});
      if (is_uniform) continue;
      --others;
      loaded.push_back(&o);
    }
  }

  /// The load of a constant; its readers have the register afterwards, if it is a general one.
  Instruction load(const Constant& constant, const std::vector<Use>& uses) {
    const Operand from = *uses.front().operand;
    if (constant.is_uniform) return uniform(from);
    Instruction i;
    i.op = Opcode::mov;
    i.type = constant.words == 2 ? ir::Type::b64 : ir::Type::b32;
    const Operand to = fresh_register(f_, constant.words, "%constant");
    i.destinations = {to};
    i.sources = {from};
    if (constant.kind == Operand::Kind::parameter) {
      i.op = Opcode::ld;
      i.mod.space = MemorySpace::param;
      i.sources = {Operand::immediate(constant.value)};
    }
    for (const Use& use : uses) *use.operand = to;
    return i;
  }

  /// Before the first instruction of the block that wants it, or at its end.
  template <class Wants>
  void insert(std::uint32_t block, Instruction i, Wants&& wants) {
    auto& code = f_.blocks[block].instructions;
    auto at = std::find_if(code.begin(), code.end(), wants);
    if (at == code.end() && !code.empty() && (code.back().op == Opcode::bra || code.back().op == Opcode::exit)) --at;
    if (at != code.end()) i.where = at->where;
    code.insert(at, std::move(i));
    ++loads_;
  }

  static Instruction uniform(const Operand& constant) {
    Instruction i;
    i.op = Opcode::uldc;
    i.type = constant.words == 2 ? ir::Type::b64 : ir::Type::b32;
    i.sources = {constant};
    return i;
  }

  ir::Function& f_;
  Places places_;
  std::map<Constant, std::vector<Use>> uses_;
  std::vector<std::uint32_t> accesses_;
  std::uint32_t loads_ = 0;
};

}  // namespace

std::uint32_t load_parameters(ir::Function& f) { return Loader(f).run(); }

}  // namespace regatta::passes

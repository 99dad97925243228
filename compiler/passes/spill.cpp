// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"

#include <regatta/passes/combine.h>

#include <algorithm>

namespace regatta::passes {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

Rematerialization::Rematerialization(const ir::Function& f) : definitions_(f.registers.size(), 0) {
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.instructions) {
      for (const Operand& d : i.destinations)
        if (d.is_reg() || d.is_predicate()) ++definitions_[d.id];
      if (is_recomputable(i)) candidates_.emplace(i.destinations[0].id, i);
    }
}

const Instruction* Rematerialization::definition(std::uint32_t vreg) const {
  if (definitions_[vreg] != 1) return nullptr;
  const auto found = candidates_.find(vreg);
  return found == candidates_.end() ? nullptr : &found->second;
}

namespace {

/// Where a spilled virtual register lives now.
struct Home {
  enum class Kind : std::uint8_t { none, slot, general, recompute } kind = Kind::none;
  std::uint32_t place = 0;                  ///< byte offset in the frame, or the general register of a predicate
  const Instruction* definition = nullptr;  ///< recompute
};

class Spiller {
 public:
  Spiller(AllocationState& state, std::vector<Home> homes) : state_(state), homes_(std::move(homes)) {}
  void run();

 private:
  bool is_spilled(const Operand& o) const {
    return (o.is_reg() || o.is_predicate()) && o.id < homes_.size() && homes_[o.id].kind != Home::Kind::none;
  }
  bool in_slot(const Operand& o) const { return is_spilled(o) && homes_[o.id].kind == Home::Kind::slot; }
  void rewrite(Instruction& i);
  bool rewrite_copy(const Instruction& i);
  std::uint32_t reload(std::uint32_t vreg, const Instruction& user, bool under_guard);
  void store(std::uint32_t vreg, std::uint32_t temporary, const Instruction& user);
  Instruction load_slot(const Operand& to, std::uint32_t slot) const;
  Instruction store_slot(const Operand& from, std::uint32_t slot) const;
  void emit(Instruction i, const Instruction& user, bool under_guard);
  std::uint32_t temporary(std::uint32_t vreg);

  AllocationState& state_;
  std::vector<Home> homes_;
  std::vector<Instruction> code_;
};

Instruction Spiller::load_slot(const Operand& to, std::uint32_t slot) const {
  Instruction i;
  i.op = Opcode::ld;
  i.type = to.words == 2 ? ir::Type::b64 : ir::Type::b32;
  i.mod.space = trace::MemorySpace::local;
  i.destinations = {to};
  i.sources = {Operand::immediate(slot)};
  return i;
}

Instruction Spiller::store_slot(const Operand& from, std::uint32_t slot) const {
  Instruction i;
  i.op = Opcode::st;
  i.type = from.words == 2 ? ir::Type::b64 : ir::Type::b32;
  i.mod.space = trace::MemorySpace::local;
  i.sources = {Operand::immediate(slot), from};
  return i;
}

void Spiller::emit(Instruction i, const Instruction& user, bool under_guard) {
  i.where = user.where;
  if (under_guard && user.guarded) {
    i.guarded = true;
    i.guard = user.guard;
    i.guard_negated = user.guard_negated;
  }
  code_.push_back(std::move(i));
}

std::uint32_t Spiller::temporary(std::uint32_t vreg) {
  const ir::VirtualRegister r = state_.f->registers[vreg];
  const std::uint32_t t = state_.new_register(r.words, r.is_predicate, r.name);
  state_.pinned[t] = true;
  return t;
}

std::uint32_t Spiller::reload(std::uint32_t vreg, const Instruction& user, bool under_guard) {
  const Home home = homes_[vreg];
  const std::uint32_t t = temporary(vreg);
  const unsigned words = state_.f->registers[vreg].words;
  if (home.kind == Home::Kind::slot) {
    emit(load_slot(Operand::reg(t, words), home.place), user, under_guard);
  } else if (home.kind == Home::Kind::recompute) {
    Instruction i = *home.definition;
    i.destinations[0].id = t;
    emit(std::move(i), user, under_guard);
  } else {
    Instruction i;
    i.op = Opcode::setp;
    i.type = ir::Type::u32;
    i.mod.compare = ir::Compare::ne;
    i.destinations = {Operand::predicate(t)};
    i.sources = {Operand::reg(home.place, 1), Operand::immediate(0)};
    emit(std::move(i), user, under_guard);
  }
  return t;
}

void Spiller::store(std::uint32_t vreg, std::uint32_t temporary, const Instruction& user) {
  const Home& home = homes_[vreg];
  if (home.kind == Home::Kind::slot) {
    emit(store_slot(Operand::reg(temporary, state_.f->registers[vreg].words), home.place), user, true);
    return;
  }
  Instruction i;
  i.op = Opcode::selp;
  i.type = ir::Type::b32;
  i.destinations = {Operand::reg(home.place, 1)};
  i.sources = {Operand::immediate(1), Operand::immediate(0), Operand::predicate(temporary)};
  emit(std::move(i), user, true);
}

/// A copy from or to a slot is the reload or the store itself.
bool Spiller::rewrite_copy(const Instruction& i) {
  if (i.op != Opcode::mov || i.destinations.size() != 1 || i.sources.size() != 1) return false;
  const Operand &d = i.destinations[0], &s = i.sources[0];
  if (!d.is_reg() || !s.is_reg() || d.words != s.words) return false;
  if (in_slot(d) && in_slot(s)) return homes_[d.id].place == homes_[s.id].place;
  if (in_slot(d) && !is_spilled(s)) {
    emit(store_slot(s, homes_[d.id].place), i, true);
    return true;
  }
  if (in_slot(s) && !is_spilled(d)) {
    emit(load_slot(d, homes_[s.id].place), i, true);
    return true;
  }
  return false;
}

void Spiller::rewrite(Instruction& i) {
  if (i.destinations.size() == 1 && is_spilled(i.destinations[0]) &&
      homes_[i.destinations[0].id].kind == Home::Kind::recompute)
    return;  // its one definition; every use recomputes
  if (i.guarded && is_spilled(Operand::predicate(i.guard))) {
    i.guard = reload(i.guard, i, false);
  }
  if (rewrite_copy(i)) return;
  for (std::size_t s = 0; s < i.sources.size(); ++s) {
    if (!is_spilled(i.sources[s])) continue;
    const std::uint32_t old = i.sources[s].id;
    const std::uint32_t t = reload(old, i, true);
    for (Operand& o : i.sources)
      if ((o.is_reg() || o.is_predicate()) && o.id == old) o.id = t;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stores;
  for (Operand& d : i.destinations) {
    if (!is_spilled(d)) continue;
    const std::uint32_t t = temporary(d.id);
    stores.emplace_back(d.id, t);
    d.id = t;
  }
  const Instruction user = i;
  code_.push_back(std::move(i));
  for (const auto& [vreg, t] : stores) store(vreg, t, user);
}

void Spiller::run() {
  for (ir::Block& block : state_.f->blocks) {
    code_.clear();
    code_.reserve(block.instructions.size());
    for (Instruction& i : block.instructions) rewrite(i);
    block.instructions.swap(code_);
  }
}

}  // namespace

void insert_spills(AllocationState& state, const Nodes& nodes, const std::vector<std::uint32_t>& spilled,
                   AllocationResult& result) {
  ir::Function& f = *state.f;
  std::vector<std::uint32_t> registers;
  for (std::uint32_t n : spilled)
    for (const Member& m : nodes.node[n].members)
      if (!state.pinned[m.vreg]) registers.push_back(m.vreg);
  dissolve_tuples(state, registers);
  const Rematerialization remat(f);
  std::vector<Home> homes(f.registers.size());
  for (std::uint32_t n : spilled) {
    const Node& node = nodes.node[n];
    std::uint32_t slot = 0;
    bool has_slot = false;
    std::uint32_t general = 0;
    for (const Member& m : node.members) {
      if (state.pinned[m.vreg]) continue;
      Home& home = homes[m.vreg];
      if (node.is_predicate) {
        if (general == 0) general = state.new_register(1, false, f.registers[m.vreg].name);
        home.kind = Home::Kind::general;
        home.place = general;
        ++result.spilled_predicates;
      } else if (const Instruction* definition = remat.definition(m.vreg)) {
        home.kind = Home::Kind::recompute;
        home.definition = definition;
        ++result.rematerialized;
      } else {
        if (!has_slot) {
          const std::uint32_t alignment = 4 * node.width;
          slot = (f.local_bytes + alignment - 1) / alignment * alignment;
          f.local_bytes = slot + alignment;
          has_slot = true;
        }
        home.kind = Home::Kind::slot;
        home.place = slot + 4 * m.offset;
        ++result.spilled_registers;
      }
    }
  }
  Spiller(state, std::move(homes)).run();
}

}  // namespace regatta::passes

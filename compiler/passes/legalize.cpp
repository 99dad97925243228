// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"

namespace regatta::passes {

std::uint32_t AllocationState::new_register(unsigned words, bool is_predicate, const std::string& name) {
  ir::VirtualRegister r;
  r.words = static_cast<std::uint8_t>(is_predicate ? 0 : words);
  r.is_predicate = is_predicate;
  r.name = name;
  f->registers.push_back(r);
  pinned.resize(f->registers.size(), false);
  tuple_of.resize(f->registers.size(), 0);
  place_in_tuple.resize(f->registers.size(), 0);
  return static_cast<std::uint32_t>(f->registers.size() - 1);
}

void refuse(const ir::Function& f, const ir::Location& where, const std::string& what) {
  std::string place = f.ptx_file.empty() ? std::string("<ptx>") : f.ptx_file;
  if (where.line != 0) place += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  throw trace::InputError(place + ": error: kernel " + f.name + ": " + what);
}

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

Instruction copy_to(const Operand& to, const Operand& from, const Instruction& model) {
  Instruction m;
  m.op = Opcode::mov;
  m.type = to.is_predicate() ? ir::Type::pred : to.words == 2 ? ir::Type::b64 : ir::Type::b32;
  m.destinations = {to};
  m.sources = {from};
  m.where = model.where;
  return m;
}

void guard_like(Instruction& i, const Instruction& model) {
  i.guarded = model.guarded;
  i.guard = model.guard;
  i.guard_negated = model.guard_negated;
}

/// Replaces operands that have to be consecutive registers by a fresh tuple; copies go to `before` or `after`.
void split_group(AllocationState& state, Instruction& i, const ir::OperandGroup& g, std::vector<Instruction>& before,
                 std::vector<Instruction>& after) {
  std::vector<Operand>& operands = g.destinations ? i.destinations : i.sources;
  const unsigned words = ir::words_of(i.type);
  const std::size_t count = g.count;
  const bool is_vector = i.op == Opcode::ld || i.op == Opcode::st;
  if (is_vector && count != i.mod.vector)
    refuse(
        *state.f, i.where,
        ir::opcode_text(i) + " has " + std::to_string(count) + " elements, expected " + std::to_string(i.mod.vector));
  if (words * count > 4 || (count & (count - 1)) != 0)
    refuse(*state.f, i.where, ir::opcode_text(i) + " moves more than four registers");
  Tuple tuple;
  for (std::size_t e = g.first; e < g.first + count; ++e) {
    Operand& o = operands[e];
    const std::uint32_t t = state.new_register(words, false, "vector element");
    state.pinned[t] = true;
    tuple.push_back(t);
    const Operand element = Operand::reg(t, words);
    Instruction m = g.destinations ? copy_to(o, element, i) : copy_to(element, o, i);
    guard_like(m, i);
    if (o.kind != Operand::Kind::none) (g.destinations ? after : before).push_back(m);
    o = element;
  }
  state.tuples.push_back(tuple);
}

bool is_matrix(const Instruction& i) { return ir::is_exchange(i.op) && ir::operand_groups(i).count != 0; }

const Operand* begin_of(const Instruction& i, const ir::OperandGroup& g) {
  return (g.destinations ? i.destinations : i.sources).data() + g.first;
}

/// Whether the operands are consecutive in one tuple already, from a multiple of their number on.
bool stand_together(const AllocationState& state, const Instruction& i, const ir::OperandGroup& g) {
  const Operand* const o = begin_of(i, g);
  unsigned words = 0;
  for (unsigned n = 0; n < g.count; ++n) {
    if (!o[n].is_reg() || state.tuple_of[o[n].id] == 0 || state.tuple_of[o[n].id] != state.tuple_of[o[0].id] ||
        state.place_in_tuple[o[n].id] != state.place_in_tuple[o[0].id] + words)
      return false;
    words += o[n].words;
  }
  return state.place_in_tuple[o[0].id] % words == 0;
}

/// Makes the operands a tuple, unless one of them is in one, or is there twice.
void adopt(AllocationState& state, const Instruction& i, const ir::OperandGroup& g) {
  const Operand* const o = begin_of(i, g);
  for (unsigned n = 0; n < g.count; ++n) {
    if (!o[n].is_reg() || state.tuple_of[o[n].id] != 0) return;
    for (unsigned before = 0; before < n; ++before)
      if (o[before].id == o[n].id) return;
  }
  Tuple tuple;
  unsigned words = 0;
  for (unsigned n = 0; n < g.count; ++n) {
    tuple.push_back(o[n].id);
    state.tuple_of[o[n].id] = static_cast<std::uint32_t>(state.tuples.size() + 1);
    state.place_in_tuple[o[n].id] = static_cast<std::uint8_t>(words);
    words += o[n].words;
  }
  state.tuples.push_back(std::move(tuple));
}

/// Long groups first: a pair may be a half of four registers that are loaded together.
void adopt_operands(AllocationState& state) {
  for (const unsigned count : {4u, 2u})
    for (const ir::Block& block : state.f->blocks)
      for (const Instruction& i : block.instructions) {
        if (!is_matrix(i)) continue;
        for (const ir::OperandGroup& g : ir::operand_groups(i))
          if (g.count == count) adopt(state, i, g);
      }
}

}  // namespace

void dissolve_tuples(AllocationState& state, const std::vector<std::uint32_t>& registers) {
  std::vector<bool> apart(state.tuples.size() + 1, false);
  bool any = false;
  for (const std::uint32_t r : registers) {
    if (state.tuple_of[r] == 0) continue;
    apart[state.tuple_of[r]] = any = true;
  }
  if (!any) return;
  for (std::size_t t = 1; t < apart.size(); ++t) {
    if (!apart[t]) continue;
    for (const std::uint32_t r : state.tuples[t - 1]) state.tuple_of[r] = 0;
    state.tuples[t - 1].clear();
  }
  for (ir::Block& block : state.f->blocks) {
    std::vector<Instruction> code;
    code.reserve(block.instructions.size());
    for (Instruction& i : block.instructions) {
      std::vector<Instruction> before, after;
      if (is_matrix(i)) {
        for (const ir::OperandGroup& g : ir::operand_groups(i)) {
          // Others are of temporaries that stand side by side for this instruction.
          const Operand* const o = begin_of(i, g);
          if (!state.pinned[o->id] && !stand_together(state, i, g)) split_group(state, i, g, before, after);
        }
      }
      for (Instruction& n : before) code.push_back(std::move(n));
      code.push_back(std::move(i));
      for (Instruction& n : after) code.push_back(std::move(n));
    }
    block.instructions = std::move(code);
  }
}

void legalize(AllocationState& state) {
  ir::Function& f = *state.f;
  state.pinned.assign(f.registers.size(), false);
  state.tuple_of.assign(f.registers.size(), 0);
  state.place_in_tuple.assign(f.registers.size(), 0);
  adopt_operands(state);
  for (ir::Block& block : f.blocks) {
    std::vector<Instruction> code;
    code.reserve(block.instructions.size());
    for (Instruction& i : block.instructions) {
      std::vector<Instruction> before, after;
      if (i.guarded)
        for (const Operand& d : i.destinations)
          if (d.is_predicate() && d.id == i.guard && i.destinations.size() > 1) {
            const std::uint32_t copy = state.new_register(0, true, "guard copy");
            state.pinned[copy] = true;
            before.push_back(copy_to(Operand::predicate(copy), Operand::predicate(i.guard), i));
            i.guard = copy;
            break;
          }
      for (const ir::OperandGroup& g : ir::operand_groups(i))
        if (!is_matrix(i) || !stand_together(state, i, g)) split_group(state, i, g, before, after);
      for (Instruction& n : before) code.push_back(std::move(n));
      code.push_back(std::move(i));
      for (Instruction& n : after) code.push_back(std::move(n));
    }
    block.instructions = std::move(code);
  }
}

}  // namespace regatta::passes

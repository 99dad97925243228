// SPDX-License-Identifier: Apache-2.0
//
// Forms whose operands do not follow a row's letters.
#include "lowering.h"

#include <regatta/ir/address_windows.h>

namespace regatta::ptx {
namespace {

using ir::Opcode;
using ir::Type;

Type half_type(Type t) { return ir::size_of(t) == 8 ? Type::b32 : ir::size_of(t) == 4 ? Type::b16 : Type::b8; }

/// Elements of a vector operand of a mov of `type`: 2, or 4 that are taken in pairs.
void check_elements(FunctionLowering& l, const Statement& s, const Operand& v, Type type) {
  const std::size_t n = v.elements.size();
  if (ir::size_of(type) < 2 || !(n == 2 || (n == 4 && ir::size_of(type) == 8)))
    l.error(v.at, "'" + s.name + "' cannot take a vector of " + std::to_string(n) + " registers");
}

void pack(FunctionLowering& l, const Statement& s, const ir::Instruction& proto) {
  const Operand& v = s.operands[1];
  check_elements(l, s, v, proto.type);
  std::vector<ir::Operand> halves;
  if (v.elements.size() == 2) {
    for (const Operand& e : v.elements) halves.push_back(l.source(e, half_type(proto.type), plain(proto)));
  } else {
    for (unsigned h = 0; h < 4; h += 2) {
      const ir::Operand low = l.source(v.elements[h], Type::b16, plain(proto));
      const ir::Operand high = l.source(v.elements[h + 1], Type::b16, plain(proto));
      halves.push_back(l.temporary(Type::b32));
      l.emit(proto, Opcode::pack, Type::b32, {halves.back()}, {low, high});
    }
  }
  const ir::Operand d = l.destination(s.operands[0], proto.type);
  if (ir::size_of(proto.type) == 2) {
    // Bytes are in registers of their own, whose upper bits are of no account.
    const ir::Operand low = l.temporary(Type::b32);
    l.emit(proto, Opcode::and_, Type::b32, {low}, {halves[0], ir::Operand::immediate(0xff)});
    l.emit(proto, Opcode::bfi, Type::b32, {d}, {halves[1], low, ir::Operand::immediate(8), ir::Operand::immediate(8)});
    return;
  }
  l.emit(proto, Opcode::pack, ir::size_of(proto.type) == 8 ? Type::b64 : Type::b32, {d}, halves);
}

void unpack(FunctionLowering& l, const Statement& s, const ir::Instruction& proto) {
  const Operand& v = s.operands[0];
  check_elements(l, s, v, proto.type);
  const Type type = ir::size_of(proto.type) == 8 ? Type::b64 : Type::b32;
  ir::Operand value = l.source(s.operands[1], proto.type, plain(proto));
  if (!value.is_reg()) {
    const ir::Operand t = l.temporary(type);
    l.emit(proto, Opcode::mov, type, {t}, {value});
    value = t;
  }
  if (v.elements.size() == 2) {
    const ir::Operand low = l.destination(v.elements[0], half_type(proto.type));
    const ir::Operand high = l.destination(v.elements[1], half_type(proto.type));
    if (ir::size_of(proto.type) == 2) {
      const ir::Operand both = l.temporary(Type::b32);
      l.emit(proto, Opcode::mov, Type::b32, {both}, {value});
      for (const unsigned n : {0u, 1u}) {
        l.emit(proto, Opcode::bfe, Type::u32, {n == 0 ? low : high},
               {both, ir::Operand::immediate(8u * n), ir::Operand::immediate(8)});
      }
      return;
    }
    l.emit(proto, Opcode::unpack, type, {low, high}, {value});
    return;
  }
  const ir::Operand low = l.temporary(Type::b32), high = l.temporary(Type::b32);
  l.emit(proto, Opcode::unpack, type, {low, high}, {value});
  for (unsigned h = 0; h < 4; h += 2) {
    const ir::Operand first = l.destination(v.elements[h], Type::b16);
    const ir::Operand second = l.destination(v.elements[h + 1], Type::b16);
    l.emit(proto, Opcode::unpack, Type::b32, {first, second}, {h == 0 ? low : high});
  }
}

base::Window window(const Statement& s) {
  if (has_modifier(s, "shared") || has_modifier(s, "shared::cta") || has_modifier(s, "shared::cluster"))
    return base::Window::shared;
  if (has_modifier(s, "local")) return base::Window::local;
  if (has_modifier(s, "const")) return base::Window::constant;
  if (has_modifier(s, "param") || has_modifier(s, "param::entry")) return base::Window::parameters;
  return base::Window::global;
}

}  // namespace

void lower_mov(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Operand& to = s.operands[0];
  const Operand& from = s.operands[1];
  if (to.kind == Operand::Kind::vector) {
    unpack(l, s, proto);
    return;
  }
  if (from.kind == Operand::Kind::vector) {
    pack(l, s, proto);
    return;
  }
  if (proto.type == Type::pred) {
    const ir::Operand value = l.predicate_source(from);
    l.emit(proto, Opcode::mov, Type::pred, {l.destination(to, Type::pred)}, {value});
    return;
  }
  const unsigned size = ir::size_of(proto.type);
  if (from.kind == Operand::Kind::name && !from.negated && !FunctionLowering::cluster_constant(from.name)) {
    if (const auto special = FunctionLowering::special_named(from.name)) {
      l.read_special(from, *special, l.destination(to, proto.type), proto.type, proto);
      return;
    }
    // Special registers are tried first: any other name has to be a register or a variable.
    const Symbol symbol = l.register_symbol(from);
    if (symbol.kind != Symbol::Kind::reg) {
      if (size < 4) l.error(from.at, "the address of '" + from.name + "' does not fit '" + s.name + "'");
      l.emit(proto, Opcode::mov, proto.type, {l.destination(to, proto.type)},
             {l.symbol_address(symbol, from, size / 4)});
      return;
    }
  }
  const ir::Operand value = l.source(from, proto.type, plain(proto));
  l.emit(proto, Opcode::mov, proto.type, {l.destination(to, proto.type)}, {value});
}

/// mov.v2 and mov.v4, which ptxas takes for registers of several elements.
void lower_mov_vector(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Operand& to = s.operands[0];
  const Operand& from = s.operands[1];
  const std::size_t elements = has_modifier(s, "v4") ? 4 : 2;
  for (const Operand* o : {&to, &from}) {
    if (o->kind != Operand::Kind::vector || o->elements.size() != elements)
      l.error(o->at,
              "'" + o->text + "' in '" + s.name + "' is not a vector of " + std::to_string(elements) + " registers");
  }
  // A destination may be one of the sources: all are read first.
  std::vector<ir::Operand> values;
  for (const Operand& e : from.elements) {
    values.push_back(l.temporary(proto.type));
    l.emit(proto, Opcode::mov, proto.type, {values.back()}, {l.source(e, proto.type, plain(proto))});
  }
  for (std::size_t e = 0; e < elements; ++e)
    l.emit(proto, Opcode::mov, proto.type, {l.destination(to.elements[e], proto.type)}, {values[e]});
}

void lower_cvt(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  ir::Instruction i = proto;
  i.sources.push_back(l.relaxed_source(s.operands[1], proto.source_type, bare));
  const FunctionLowering::RelaxedDestination d = l.relaxed_destination(s.operands[0], proto.type);
  i.destinations.push_back(d.operand);
  l.append(std::move(i));
  l.finish_wide(d, proto.type, bare);
}

void lower_cvta(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const base::Window w = window(s);
  const Type type = l.address_type();
  if (proto.type != type) {
    l.error(s.at, "'" + s.name + "' in a module of ." + (type == Type::u32 ? "address_size 32" : "address_size 64"));
  }
  const ir::Operand from = l.source(s.operands[1], type, plain(proto));
  const ir::Operand to = l.destination(s.operands[0], type);
  if (w == base::Window::global) {
    l.emit(proto, Opcode::mov, type, {to}, {from});
  } else {
    const Opcode op = has_modifier(s, "to") ? Opcode::sub : Opcode::add;
    l.emit(proto, op, type, {to}, {from, ir::Operand::immediate(l.window(w), l.address_words())});
  }
}

/// The window's number is in the upper bits of a generic address. Of 32-bit ones, those below all windows are global.
void lower_isspacep(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const base::Window w = window(s);
  const Type type = l.address_type();
  const bool narrow = type == Type::u32;
  const ir::Operand address = l.source(s.operands[1], type, plain(proto));
  const ir::Operand top = l.temporary(type);
  const unsigned shift = narrow ? base::narrow_window_shift : base::window_shift;
  l.emit(proto, Opcode::shr, type, {top}, {address, ir::Operand::immediate(shift)});
  l.emit(proto, Opcode::setp, type, {l.predicate_destination(s.operands[0], s.operands[0].name)},
         {top, ir::Operand::immediate(l.window(w) >> shift, l.address_words())});
  l.last().mod.compare = narrow && w == base::Window::global ? ir::Compare::lo : ir::Compare::eq;
}

void lower_branch(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.branch(s, proto);
}

void lower_indexed_branch(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.indexed_branch(s, proto);
}

void lower_exit(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.leave(s, proto);
}

void lower_call(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.call(s, proto);
}

void lower_trap(FunctionLowering& l, const Statement&, const Form&, const ir::Instruction& proto) { l.append(proto); }

void lower_barrier(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  const bool reduces = proto.mod.barrier >= ir::BarrierMode::popc;
  const std::size_t first = reduces ? 1 : 0;
  // d, number, [count,] predicate; or number, [count].
  for (std::size_t o = first; o < s.operands.size() - first; ++o)
    i.sources.push_back(l.source(s.operands[o], Type::u32, plain(proto)));
  if (reduces) {
    i.sources.push_back(l.source(s.operands.back(), Type::pred, plain(proto)));
    i.destinations.push_back(l.destination(s.operands[0], proto.type));
  }
  if (i.sources[0].kind == ir::Operand::Kind::immediate && i.sources[0].value > 15)
    l.error(s.operands[first].at,
            "barrier " + std::to_string(i.sources[0].value) + " does not exist, expected 0 to 15");
  l.append(std::move(i));
}

void lower_warp_sync(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  i.sources.push_back(l.source(s.operands[0], Type::u32, plain(proto)));
  l.append(std::move(i));
}

void FunctionLowering::require_sync(const Statement& s) const {
  constexpr std::uint32_t first_target = 70, first_version = 604;
  if (has_modifier(s, "sync") || module_.target < first_target || module_.version < first_version) return;
  error(s.at, "'" + s.name + "' without .sync is not supported for .target sm_70 and later since PTX 6.4, expected '" +
                  s.mnemonic + ".sync' with a member mask");
}

void lower_shuffle(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  // Without .sync the lanes that happen to be there take part: no member mask.
  l.require_sync(s);
  if (proto.mod.shuffle == ir::ShuffleMode::none)
    l.error(s.at, "'" + s.name + "' has no mode, expected .up, .down, .bfly or .idx");
  ir::Instruction i = proto;
  const ir::Instruction bare = plain(proto);
  i.sources.push_back(l.source(s.operands[1], Type::b32, bare));
  for (std::size_t o = 2; o < s.operands.size(); ++o) i.sources.push_back(l.source(s.operands[o], Type::u32, bare));
  l.destinations_with_predicate(s.operands[0], Type::b32, i);
  l.append(std::move(i));
}

void lower_vote(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  if (proto.mod.vote == ir::VoteMode::none)
    l.error(s.at, "'" + s.name + "' has no mode, expected .all, .any, .uni or .ballot");
  l.require_sync(s);
  ir::Instruction i = proto;
  const ir::Instruction bare = plain(proto);
  i.sources.push_back(l.source(s.operands[1], Type::pred, bare));
  if (s.operands.size() > 2) i.sources.push_back(l.source(s.operands[2], Type::u32, bare));
  i.destinations.push_back(l.destination(s.operands[0], proto.type));
  l.append(std::move(i));
}

void lower_match(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  const ir::Instruction bare = plain(proto);
  i.sources.push_back(l.source(s.operands[1], proto.type, bare));
  i.sources.push_back(l.source(s.operands[2], Type::u32, bare));
  l.destinations_with_predicate(s.operands[0], Type::b32, i);
  l.append(std::move(i));
}

}  // namespace regatta::ptx

// SPDX-License-Identifier: Apache-2.0
#include "three_inputs.h"

#include "../definitions.h"
#include "code.h"

#include <algorithm>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Type;

bool is_of_words(const Instruction& i) {
  return (i.type == Type::s32 || i.type == Type::u32 || i.type == Type::b32) && !i.mod.saturate &&
         i.destinations.size() == 1;
}

bool is_word_logic(const Instruction& i) {
  return (i.op == Opcode::and_ || i.op == Opcode::or_ || i.op == Opcode::xor_) && is_of_words(i) &&
         i.sources.size() == 2;
}

std::uint8_t apply_logic(Opcode op, std::uint8_t a, std::uint8_t b) {
  switch (op) {
    case Opcode::and_:
      return a & b;
    case Opcode::or_:
      return a | b;
    default:
      return a ^ b;
  }
}

class Joiner {
 public:
  explicit Joiner(ir::Function& f) : f_(f), definitions_(f) {}

  std::uint32_t run() {
    for (std::uint32_t b : definitions_.order())
      for (std::uint32_t n = 0; n < f_.blocks[b].instructions.size(); ++n) {
        at_ = {b, n};
        join(f_.blocks[b].instructions[n]);
      }
    return joined_;
  }

 private:
  void join(Instruction& i) {
    if (drop_extension(i)) return;
    if (i.type == Type::pred) return join_predicates(i);
    if (!is_of_words(i)) return;
    if (i.op == Opcode::add && i.sources.size() == 2) {
      for (std::size_t s = 0; s < 2; ++s)
        if (join_sum(i, s)) return;
    } else if (is_word_logic(i)) {
      for (std::size_t s = 0; s < 2; ++s)
        if (join_logic(i, s)) return;
    }
  }

  /// A load of 8 or 16 bits without sign has extended them already.
  bool drop_extension(Instruction& i) {
    if (i.destinations.size() != 1 || i.sources.empty() || !i.sources[0].is_reg() || i.sources[0].words != 1)
      return false;
    unsigned kept = 0;
    if (i.op == Opcode::cvt && ir::size_of(i.type) == 4 && !ir::is_float(i.type) && !i.mod.saturate &&
        (i.source_type == Type::u16 || i.source_type == Type::u8)) {
      kept = ir::size_of(i.source_type);
    } else if (i.op == Opcode::and_ && is_of_words(i) && i.sources.size() == 2 && is_plain_number(i.sources[1]) &&
               (i.sources[1].value == 0xff || i.sources[1].value == 0xffff)) {
      kept = i.sources[1].value == 0xff ? 1 : 2;
    }
    if (kept == 0) return false;
    const Instruction* d = definitions_.unique(i.sources[0].id, at_);
    for (unsigned step = 0; d != nullptr && step < 4 && d->op == Opcode::mov && d->sources[0].is_reg(); ++step) {
      if (!definitions_.is_stable(d->sources[0], definitions_.place(d->destinations[0].id), at_)) return false;
      d = definitions_.unique(d->sources[0].id, at_);
    }
    const bool is_load = d != nullptr && d->op == Opcode::ld && d->mod.vector == 1 &&
                         (d->type == Type::u8 || d->type == Type::u16 || d->type == Type::b8 || d->type == Type::b16);
    if (!is_load || ir::size_of(d->type) > kept) return false;
    i.op = Opcode::mov;
    i.type = Type::b32;
    i.source_type = Type::none;
    i.mod = {};
    i.sources.resize(1);
    ++joined_;
    return true;
  }

  /// The instruction that makes source s of `i`, if nothing else reads it and its operands are still there.
  const Instruction* maker(const Instruction& i, std::size_t s) const {
    const Operand& o = i.sources[s];
    if (!o.is_reg() && !o.is_predicate()) return nullptr;
    const Instruction* d = definitions_.unique(o.id, at_);
    if (d == nullptr || definitions_.place(o.id).block != at_.block || definitions_.uses(o.id).size() != 1)
      return nullptr;
    if (std::any_of(i.sources.begin(), i.sources.end(),
                    [&](const Operand& other) { return &other != &o && other.kind == o.kind && other.id == o.id; }))
      return nullptr;
    for (const Operand& from : d->sources)
      if (!definitions_.is_stable(from, definitions_.place(o.id), at_)) return nullptr;
    return d;
  }
  /// Whether at most one of the operands is no register, and that a number or zero.
  static bool are_encodable(std::initializer_list<const Operand*> operands) {
    unsigned others = 0;
    for (const Operand* o : operands) others += o->is_reg() || (is_plain_number(*o) && o->value == 0) ? 0u : 1u;
    return others <= 1;
  }
  void become(Instruction& i, Opcode op, std::vector<Operand> sources) {
    i.op = op;
    i.sources = std::move(sources);
    for (const Operand& o : i.sources)
      if (o.is_reg() || o.is_predicate()) definitions_.add_use(o.id, at_);
    ++joined_;
  }

  bool join_sum(Instruction& i, std::size_t s) {
    const Instruction* d = maker(i, s);
    if (d == nullptr || !is_of_words(*d)) return false;
    const Operand other = i.sources[1 - s];
    if (d->op == Opcode::shl && is_plain_number(d->sources[1]) && d->sources[1].value < 32 && d->sources[0].is_reg() &&
        are_encodable({&other})) {
      become(i, Opcode::lea, {d->sources[0], other, d->sources[1]});
      return true;
    }
    if (d->op == Opcode::mul_lo && are_encodable({&d->sources[0], &d->sources[1], &other})) {
      become(i, Opcode::mad_lo, {d->sources[0], d->sources[1], other});
      return true;
    }
    if (d->op == Opcode::add && d->sources.size() == 2 && are_encodable({&d->sources[0], &d->sources[1], &other})) {
      become(i, Opcode::add3, {d->sources[0], d->sources[1], other});
      return true;
    }
    return false;
  }

  bool join_logic(Instruction& i, std::size_t s) {
    const Instruction* d = maker(i, s);
    if (d == nullptr || !is_of_words(*d)) return false;
    constexpr std::uint8_t a = 0xf0, b = 0xcc, c = 0xaa;
    const Operand other = i.sources[1 - s];
    if (is_word_logic(*d) && are_encodable({&d->sources[0], &d->sources[1], &other})) {
      const std::uint8_t table = apply_logic(i.op, apply_logic(d->op, a, b), c);
      become(i, Opcode::lop3, {d->sources[0], d->sources[1], other, Operand::immediate(table)});
      i.type = Type::b32;
      return true;
    }
    if (d->op == Opcode::not_ && are_encodable({&d->sources[0], &other})) {
      const auto table = apply_logic(i.op, static_cast<std::uint8_t>(~a), b);
      become(i, Opcode::lop3, {d->sources[0], other, Operand::immediate(0), Operand::immediate(table)});
      i.type = Type::b32;
      return true;
    }
    return false;
  }

  /// `p and (a < b)`: the comparison takes p.
  void join_predicates(Instruction& i) {
    if (i.guarded || i.sources.size() != 2 || i.destinations.size() != 1) return;
    ir::BoolOp how = ir::BoolOp::none;
    if (i.op == Opcode::and_) how = ir::BoolOp::and_;
    if (i.op == Opcode::or_) how = ir::BoolOp::or_;
    if (how == ir::BoolOp::none) return;
    for (const std::size_t s : {std::size_t{1}, std::size_t{0}}) {
      const Instruction* d = maker(i, s);
      if (d == nullptr || d->op != Opcode::setp || d->mod.bool_op != ir::BoolOp::none || d->destinations.size() != 1 ||
          i.sources[s].negated || !i.sources[1 - s].is_predicate())
        continue;
      const Operand other = i.sources[1 - s], to = i.destinations[0];
      const ir::Location where = i.where;
      const Instruction compare = *d;
      i = compare;
      i.where = where;
      i.destinations = {to};
      i.mod.bool_op = how;
      std::vector<Operand> sources = compare.sources;
      sources.push_back(other);
      become(i, Opcode::setp, std::move(sources));
      return;
    }
  }

  ir::Function& f_;
  Definitions definitions_;
  Place at_;
  std::uint32_t joined_ = 0;
};

}  // namespace

std::uint32_t join_operations(ir::Function& f) { return Joiner(f).run(); }

}  // namespace regatta::passes

// SPDX-License-Identifier: Apache-2.0
#include "random_kernel.h"

namespace regatta::test {

namespace {

using ir::Opcode;
using ir::Operand;
using ir::Type;

/// R0 is a number that decides where a lane goes, R1 what it has left to run, both changed by every node.
constexpr std::uint32_t way = 0, fuel = 1, first_free = 2;
/// P0 and P1 serve the jumps, P2 to P4 are the bodies'.
constexpr std::uint32_t jump = 0, empty = 1, first_predicate = 2, predicates = 3;

class Generator {
 public:
  Generator(std::mt19937& random, const KernelShape& shape) : random_(random), shape_(shape) {
    f_.name = "random";
    f_.allocated = true;
    f_.registers_used = first_free + shape.registers;
    f_.predicates_used = first_predicate + predicates;
  }

  ir::Function run() {
    prologue();
    if (shape_.structured) {
      sequence(shape_.nodes, 0);
      emit(Opcode::exit, Type::none, {}, {});
    } else {
      anywhere();
    }
    ir::build_edges(f_);
    return std::move(f_);
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::uint32_t block() {
    f_.blocks.emplace_back();
    return static_cast<std::uint32_t>(f_.blocks.size() - 1);
  }
  ir::Instruction& emit(Opcode op, Type type, std::vector<Operand> destinations, std::vector<Operand> sources) {
    ir::Instruction i;
    i.op = op;
    i.type = type;
    i.destinations = std::move(destinations);
    i.sources = std::move(sources);
    f_.blocks.back().instructions.push_back(std::move(i));
    return f_.blocks.back().instructions.back();
  }
  static Operand r(std::uint32_t id) { return Operand::reg(id, 1); }
  static Operand imm(std::uint32_t value) { return Operand::immediate(value); }
  Operand any() { return r(first_free + below(shape_.registers)); }
  Operand source() { return one_in(6) ? r(way) : any(); }
  Operand pair() { return Operand::reg(first_free + 2 * below(shape_.registers / 2), 2); }

  void prologue() {
    block();
    emit(Opcode::mov, Type::u32, {r(way)}, {Operand::special(ir::Special::laneid)});
    emit(Opcode::mad_lo, Type::u32, {r(way)}, {r(way), imm(0x9e3779b1), imm(static_cast<std::uint32_t>(random_()))});
    emit(Opcode::and_, Type::b32, {r(fuel)}, {r(way), imm(3)});
    emit(Opcode::add, Type::u32, {r(fuel)}, {r(fuel), imm(shape_.fuel)});
    for (std::uint32_t i = 0; i < shape_.registers; ++i)
      emit(Opcode::mad_lo, Type::u32, {r(first_free + i)}, {r(way), imm(2 * i + 1), imm(i)});
    for (std::uint32_t p = 0; p < first_predicate + predicates; ++p) compare(p, way);
  }

  void compare(std::uint32_t p, std::uint32_t with) {
    emit(Opcode::setp, Type::u32, {Operand::predicate(p)}, {r(with), imm(static_cast<std::uint32_t>(random_()))})
        .mod.compare = ir::Compare::lt;
  }

  void body() {
    for (std::uint32_t n = below(shape_.instructions + 1); n > 0; --n) instruction();
    // Every lane decides anew, by bits that have nothing to do with the last decision's.
    emit(Opcode::mad_lo, Type::u32, {r(way)}, {r(way), imm(0x19660d), imm(0x3c6ef35f)});
    emit(Opcode::sub, Type::u32, {r(fuel)}, {r(fuel), imm(1)});
    emit(Opcode::setp, Type::s32, {Operand::predicate(empty)}, {r(fuel), imm(0)}).mod.compare = ir::Compare::le;
  }

  void instruction() {
    const std::size_t before = f_.blocks.back().instructions.size();
    const unsigned kind = below(shape_.wide ? 13 : 7);
    switch (kind) {
      case 0:
        emit(Opcode::mov, Type::u32, {any()}, {source()});
        break;
      case 1:
        emit(Opcode::mad_lo, Type::u32, {any()}, {source(), source(), source()});
        break;
      case 2:
        emit(Opcode::add, Type::u32, {any()}, {source(), source()});
        break;
      case 3:
        emit(Opcode::setp, Type::u32, {Operand::predicate(first_predicate + below(predicates))}, {source(), source()})
            .mod.compare = ir::Compare::lt;
        return;
      case 4:
        memory(Opcode::ld, 1, Type::b32);
        break;
      case 5:
        memory(Opcode::st, 1, Type::b32);
        break;
      case 6:
        if (shape_.barriers && one_in(4)) {
          emit(Opcode::bar, Type::none, {}, {imm(0)});
          return;
        }
        emit(Opcode::xor_, Type::b32, {any()}, {source(), any()});
        break;
      case 7:
        emit(Opcode::mul_wide, Type::u32, {pair()}, {source(), source()});
        break;
      case 8:
        emit(Opcode::add, Type::u64, {pair()}, {pair(), pair()});
        break;
      case 9:
        memory(Opcode::ld, 1, Type::b64);
        break;
      case 10:
        memory(one_in(2) ? Opcode::ld : Opcode::st, one_in(2) ? 4 : 2, Type::b32);
        break;
      case 11:
        emit(Opcode::mad_wide, Type::u32, {pair()}, {source(), source(), pair()});
        break;
      default:
        memory(Opcode::atom, 1, Type::b32);
        break;
    }
    if (!shape_.guards || !one_in(4)) return;
    // What is under way since `before` stands under one guard.
    const std::uint32_t guard = first_predicate + below(predicates);
    const bool negated = one_in(2);
    for (std::size_t i = before; i < f_.blocks.back().instructions.size(); ++i) {
      ir::Instruction& made = f_.blocks.back().instructions[i];
      made.guarded = true;
      made.guard = guard;
      made.guard_negated = negated;
    }
  }

  void memory(Opcode op, unsigned elements, Type type) {
    const unsigned words = ir::words_of(type), total = words * elements;
    Operand address = Operand::immediate(shape_.buffer, 2);
    if (shape_.wide && one_in(2)) {
      address = pair();
      emit(Opcode::mov, Type::u64, {address}, {Operand::immediate(shape_.buffer, 2)});
    }
    const std::uint32_t places = shape_.registers / total;
    const std::uint32_t base = (first_free + total - 1) / total * total;
    std::vector<Operand> data;
    const std::uint32_t first = base + total * below(places > 1 ? places - 1 : 1);
    for (unsigned e = 0; e < elements; ++e) data.push_back(Operand::reg(first + e * words, words));
    ir::Instruction* i = nullptr;
    if (op == Opcode::ld) {
      i = &emit(op, type, data, {address});
    } else if (op == Opcode::st) {
      i = &emit(op, type, {}, {address});
      for (const Operand& d : data) i->sources.push_back(d);
    } else {
      i = &emit(op, Type::u32, data, {address, source()});
      i->mod.atomic = ir::AtomicOp::add;
    }
    i->mod.vector = static_cast<std::uint8_t>(elements);
    i->mod.space = trace::MemorySpace::global;
    i->offset = 16 * below(64);
  }

  ir::Instruction& guarded(Opcode op, std::uint32_t predicate) {
    ir::Instruction& i = emit(op, Type::none, {}, {});
    i.guarded = true;
    i.guard = predicate;
    i.guard_negated = false;
    return i;
  }
  /// The lane's next decision goes to P0; one time in `often`.
  void decide(std::uint32_t often) {
    emit(Opcode::setp, Type::u32, {Operand::predicate(jump)}, {r(way), imm(0xffffffffu / often)}).mod.compare =
        ir::Compare::lt;
  }

  /// Nodes of three blocks: the body, which ends in @P1 exit; @P0 bra; bra.
  void anywhere() {
    const std::uint32_t first = static_cast<std::uint32_t>(f_.blocks.size());
    const auto place = [&](std::uint32_t node) { return first + 3 * node; };
    for (std::uint32_t n = 0; n < shape_.nodes; ++n) {
      block();
      body();
      const bool last = one_in(shape_.nodes);
      guarded(Opcode::exit, empty);
      block();
      decide(2 + below(3));
      guarded(Opcode::bra, jump).target = place(below(shape_.nodes));
      block();
      if (last)
        emit(Opcode::exit, Type::none, {}, {});
      else
        emit(Opcode::bra, Type::none, {}, {}).target = place(below(shape_.nodes));
    }
  }

  /// Nested ifs and loops. Leaves a block open at its end.
  void sequence(unsigned nodes, unsigned depth) {
    while (nodes > 0) {
      block();
      body();
      --nodes;
      const unsigned inner = nodes > 0 ? 1 + below(nodes) : 0;
      if (inner == 0 || depth > 3) continue;
      nodes -= inner;
      switch (below(3)) {
        case 0: {  // if
          decide(2);
          const std::uint32_t at = open_branch();
          sequence(inner, depth + 1);
          close(at);
          break;
        }
        case 1: {  // if, else
          decide(2);
          const std::uint32_t at = open_branch();
          sequence(inner / 2 + 1, depth + 1);
          block();
          emit(Opcode::bra, Type::none, {}, {});
          const auto over = static_cast<std::uint32_t>(f_.blocks.size() - 1);
          close(at);
          sequence(inner / 2 + 1, depth + 1);
          close(over);
          break;
        }
        default: {  // loop until the lane decides otherwise or has nothing left
          const auto head = static_cast<std::uint32_t>(f_.blocks.size());
          sequence(inner, depth + 1);
          block();
          decide(3);
          ir::Instruction& both = emit(Opcode::setp, Type::s32, {Operand::predicate(jump)}, {r(fuel), imm(0)});
          both.mod.compare = ir::Compare::gt;
          both.mod.bool_op = ir::BoolOp::and_;
          both.sources.push_back(Operand::predicate(jump));
          emit(Opcode::sub, Type::u32, {r(fuel)}, {r(fuel), imm(1)});
          emit(Opcode::mad_lo, Type::u32, {r(way)}, {r(way), imm(0x19660d), imm(0x3c6ef35f)});
          guarded(Opcode::bra, jump).target = head;
          break;
        }
      }
    }
    block();
    emit(Opcode::nop, Type::none, {}, {});
  }
  std::uint32_t open_branch() {
    guarded(Opcode::bra, jump);
    return static_cast<std::uint32_t>(f_.blocks.size() - 1);
  }
  /// The branch that ends block `at` leads behind what there is.
  void close(std::uint32_t at) {
    const std::uint32_t here = block();
    emit(Opcode::nop, Type::none, {}, {});
    f_.blocks[at].instructions.back().target = here;
  }

  std::mt19937& random_;
  const KernelShape& shape_;
  ir::Function f_;
};

}  // namespace

ir::Function random_kernel(std::mt19937& random, const KernelShape& shape) { return Generator(random, shape).run(); }

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

namespace regatta::test {

using ir::Opcode;
using ir::Operand;
using ir::Type;

std::uint32_t Builder::add_register(unsigned words, bool is_predicate) {
  ir::VirtualRegister r;
  r.words = static_cast<std::uint8_t>(words);
  r.is_predicate = is_predicate;
  r.name = "%v" + std::to_string(f_.registers.size());
  f_.registers.push_back(r);
  return static_cast<std::uint32_t>(f_.registers.size() - 1);
}

std::uint32_t Builder::block() {
  f_.blocks.emplace_back();
  return static_cast<std::uint32_t>(f_.blocks.size() - 1);
}

Operand Builder::operand(std::uint32_t v) const {
  return f_.registers[v].is_predicate ? Operand::predicate(v) : Operand::reg(v, f_.registers[v].words);
}

ir::Instruction& Builder::emit(Opcode op, Type type, const std::vector<Operand>& destinations,
                               const std::vector<Operand>& sources) {
  ir::Instruction i;
  i.op = op;
  i.type = type;
  i.destinations = destinations;
  i.sources = sources;
  f_.blocks.back().instructions.push_back(i);
  return f_.blocks.back().instructions.back();
}

ir::Instruction& Builder::store(std::uint32_t address, const std::vector<std::uint32_t>& values, std::int64_t offset) {
  auto& i = emit(Opcode::st, f_.registers[values[0]].words == 2 ? Type::b64 : Type::b32, {}, {operand(address)});
  for (std::uint32_t v : values) i.sources.push_back(operand(v));
  i.mod.vector = static_cast<std::uint8_t>(values.size());
  i.mod.space = trace::MemorySpace::global;
  i.offset = offset;
  return i;
}

ir::Instruction& Builder::load(const std::vector<std::uint32_t>& values, std::uint32_t address, std::int64_t offset) {
  auto& i = emit(Opcode::ld, f_.registers[values[0]].words == 2 ? Type::b64 : Type::b32, {}, {operand(address)});
  for (std::uint32_t v : values) i.destinations.push_back(operand(v));
  i.mod.vector = static_cast<std::uint8_t>(values.size());
  i.mod.space = trace::MemorySpace::global;
  i.offset = offset;
  return i;
}

ir::Instruction& Builder::parameter(std::uint32_t v, std::uint32_t offset) {
  auto& i =
      emit(Opcode::ld, f_.registers[v].words == 2 ? Type::b64 : Type::b32, {operand(v)}, {Operand::immediate(offset)});
  i.mod.space = trace::MemorySpace::param;
  return i;
}

ir::Instruction& Builder::branch(std::uint32_t target) {
  auto& i = emit(Opcode::bra, Type::none, {}, {});
  i.target = target;
  return i;
}

namespace {

class Generator {
 public:
  Generator(std::mt19937& random, const Shape& shape) : random_(random), shape_(shape), build_(f_) {}

  ir::Function run() {
    f_.name = "random";
    f_.local_bytes = 1u << 16;  // small addresses are the program's own, not those of spill slots
    for (unsigned n = 0; n < shape_.singles; ++n) singles_.push_back(build_.single());
    for (unsigned n = 0; n < shape_.pairs; ++n) pairs_.push_back(build_.pair());
    for (unsigned n = 0; n < shape_.predicates; ++n) predicates_.push_back(build_.predicate());
    for (unsigned b = 0; b < shape_.blocks; ++b) {
      build_.block();
      if (b == 0 && shape_.define_all) define_all();
      for (unsigned n = 0; n < shape_.instructions; ++n) instruction();
      if (b == 0 || below(2) == 0) build_.store(any(pairs_), {any(singles_)}, b);
      terminate();
    }
    build_.block();
    for (std::uint32_t v : singles_) build_.store(pairs_[0], {v}, v);
    for (std::uint32_t v : pairs_) build_.store(pairs_[0], {v}, v);
    build_.exit();
    ir::build_edges(f_);
    return f_;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::uint32_t any(const std::vector<std::uint32_t>& of) { return of[below(static_cast<unsigned>(of.size()))]; }
  Operand single() { return below(6) == 0 ? Operand::immediate(below(1000)) : build_.operand(any(singles_)); }

  void define_all() {
    for (std::uint32_t v : singles_) {
      if (below(3) == 0)
        build_.emit(Opcode::mov, Type::b32, {build_.operand(v)}, {Operand::immediate(below(100))});
      else
        build_.parameter(v, 8 * v);
    }
    for (std::uint32_t v : pairs_) build_.parameter(v, 8 * v);
    for (std::uint32_t v : predicates_) compare(v);
  }

  ir::Instruction& compare(std::uint32_t v) {
    auto& i = build_.emit(Opcode::setp, Type::u32, {build_.operand(v)}, {single(), single()});
    i.mod.compare = below(2) ? ir::Compare::ne : ir::Compare::lo;
    return i;
  }

  void instruction() {
    const Operand d1 = build_.operand(any(singles_)), d2 = build_.operand(any(pairs_));
    ir::Instruction* i = nullptr;
    if (shape_.addresses && below(2) == 0) return address();
    switch (below(shape_.ordered ? 20 : 14)) {
      case 0:
        i = &build_.emit(Opcode::mov, Type::b32, {d1}, {single()});
        break;
      case 1:
        i = &build_.emit(Opcode::mov, Type::b64, {d2}, {build_.operand(any(pairs_))});
        break;
      case 2:
        i = &build_.emit(Opcode::pack, Type::b64, {d2}, {single(), single()});
        break;
      case 3: {
        const std::uint32_t low = any(singles_);
        std::uint32_t high = any(singles_);
        if (high == low) high = singles_[low == singles_[0] ? 1 : 0];
        i = &build_.emit(Opcode::unpack, Type::b64, {build_.operand(low), build_.operand(high)},
                         {build_.operand(any(pairs_))});
        break;
      }
      case 4:
        i = &build_.emit(Opcode::mad_lo, Type::u32, {d1}, {single(), single(), single()});
        break;
      case 5:
        i = &build_.emit(Opcode::add, Type::u64, {d2}, {build_.operand(any(pairs_)), build_.operand(any(pairs_))});
        break;
      case 6:
        i = &compare(any(predicates_));
        break;
      case 7: {
        i = &compare(any(predicates_));
        const std::uint32_t other = any(predicates_);
        if (other != i->destinations[0].id) i->destinations.push_back(build_.operand(other));
        break;
      }
      case 8: {
        Operand p = build_.operand(any(predicates_));
        p.negated = below(2);
        i = &build_.emit(Opcode::selp, Type::b32, {d1}, {single(), single(), p});
        break;
      }
      case 9:
        i = &build_.emit(Opcode::mov, Type::pred, {build_.operand(any(predicates_))},
                         {build_.operand(any(predicates_))});
        break;
      case 10:
        i = vector(true);
        break;
      case 11:
        i = vector(false);
        break;
      case 14:
      case 15:
        i = &build_.emit(below(3) ? Opcode::addc : Opcode::add_cc, Type::u32, {d1}, {single(), single()});
        i->mod.carry_out = i->op == Opcode::addc && below(2) == 0;
        break;
      case 16:
        i = &build_.emit(Opcode::atom, Type::b32, {d1}, {build_.operand(any(pairs_)), single()});
        i->mod.atomic = ir::AtomicOp::add;
        i->mod.space = trace::MemorySpace::global;
        break;
      case 17:
        i = vector(below(2) == 0);
        i->mod.is_volatile = true;
        break;
      case 18:
        i = vector(below(2) == 0);
        i->mod.space = trace::MemorySpace::local;
        break;
      case 19:
        i = &build_.emit(Opcode::bar, Type::none, {}, {Operand::immediate(0)});
        break;
      default:
        i = &build_.emit(Opcode::add, Type::u32, {d1}, {single(), single()});
        break;
    }
    if (i && below(4) == 0) {
      i->guarded = true;
      i->guard = any(predicates_);
      i->guard_negated = below(2);
    }
  }

  /// What compilers write for base[index]: a fresh register per step.
  void address() {
    const auto fresh = [&](unsigned words) { return build_.operand(words == 2 ? build_.pair() : build_.single()); };
    const Operand index = fresh(1), base = fresh(2), product = fresh(2), sum = fresh(2), next = fresh(2),
                  size = fresh(1);
    const Type type = below(2) ? Type::s32 : Type::u32;
    switch (below(3)) {
      case 0:
        build_.emit(Opcode::mov, Type::u32, {index}, {Operand::special(ir::Special::ntid_x)});
        break;
      case 1:
        build_.parameter(index.id, 4 * below(20));
        break;
      default:
        build_.emit(Opcode::add, Type::u32, {index}, {single(), single()});
    }
    if (below(3) == 0)
      build_.emit(Opcode::mov, Type::b64, {base}, {build_.operand(any(pairs_))});
    else
      build_.parameter(base.id, 8 * below(20));
    if (below(2)) {
      build_.emit(Opcode::cvt, below(2) ? Type::s64 : Type::u64, {next}, {index}).source_type = type;
      build_.emit(Opcode::shl, Type::b64, {product}, {next, Operand::immediate(below(4))});
    } else {
      build_.emit(Opcode::mov, Type::b32, {size}, {Operand::immediate(below(9))});
      build_.emit(Opcode::mul_wide, type, {product}, {index, below(2) ? size : Operand::immediate(4)});
    }
    build_.emit(Opcode::add, Type::s64, {sum},
                below(2) ? std::vector<Operand>{base, product} : std::vector<Operand>{product, base});
    const Operand offset = fresh(2);
    build_.emit(Opcode::add, Type::s64, {offset}, {sum, Operand::immediate(below(2) ? 16 : std::uint64_t{0} - 16, 2)});
    if (below(8) == 0) build_.store(any(pairs_), {offset.id});
    if (f_.blocks.size() == 1 && below(3) == 0)
      pairs_.insert(pairs_.end(), {sum.id, product.id});  // defined on all paths
    auto& i = below(2) ? build_.store(offset.id, {any(singles_)}, below(64))
                       : build_.load({any(singles_)}, offset.id, below(64));
    if (below(4) == 0) {
      i.guarded = true;
      i.guard = any(predicates_);
    }
  }

  ir::Instruction* vector(bool is_load) {
    const unsigned elements[] = {1, 2, 4};
    unsigned count = shape_.vectors ? elements[below(3)] : 1;
    const bool wide = below(3) == 0 && shape_.pairs >= 3;
    if (wide && count == 4) count = 2;
    std::vector<std::uint32_t> values;
    const auto& pool = wide ? pairs_ : singles_;
    while (count > pool.size()) count /= 2;  // a load needs distinct registers
    while (values.size() < count) {
      const std::uint32_t v = any(pool);
      bool repeated = false;
      for (std::uint32_t u : values) repeated |= u == v;
      if (!repeated || !is_load) values.push_back(v);
    }
    return is_load ? &build_.load(values, any(pairs_), below(64)) : &build_.store(any(pairs_), values, below(64));
  }

  void terminate() {
    const unsigned kind = shape_.blocks == 1 ? 0 : below(4);
    if (kind == 0) return;
    auto& i = below(8) == 0 ? build_.exit() : build_.branch(below(shape_.blocks + 1));
    if (kind > 1 || i.op == Opcode::exit) {
      i.guarded = true;
      i.guard = any(predicates_);
      i.guard_negated = below(2);
    }
  }

  std::mt19937& random_;
  Shape shape_;
  ir::Function f_;
  Builder build_;
  std::vector<std::uint32_t> singles_, pairs_, predicates_;
};

}  // namespace

ir::Function random_program(std::mt19937& random, const Shape& shape) { return Generator(random, shape).run(); }

}  // namespace regatta::test

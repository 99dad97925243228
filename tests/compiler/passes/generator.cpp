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
    switch (below(14)) {
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

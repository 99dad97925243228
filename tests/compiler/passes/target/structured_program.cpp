// SPDX-License-Identifier: Apache-2.0
#include "structured_program.h"

#include <algorithm>
#include <vector>

#include "generator.h"

namespace regatta::test {

namespace {

using ir::Compare;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Type;

class StructuredGenerator {
 public:
  StructuredGenerator(std::mt19937& random, const StructuredShape& shape)
      : random_(random), shape_(shape), build_(f_) {}

  ir::Function run() {
    f_.name = "structured";
    build_.block();
    base_ = build_.pair();
    build_.parameter(base_, 0);
    for (unsigned n = 0; n < 6; ++n) {
      variables_.push_back(build_.single());
      build_.parameter(variables_.back(), 8 + 4 * n);
    }
    for (unsigned n = 0; n < 2; ++n) predicates_.push_back(compare(build_.predicate()));
    sequence(shape_.parts, shape_.depth);
    for (std::size_t n = 0; n < variables_.size(); ++n)
      build_.store(base_, {variables_[n]}, static_cast<std::int64_t>(4096 + 4 * n));
    for (std::size_t n = 0; n < values_.size(); ++n)
      build_.store(base_, {values_[n]}, static_cast<std::int64_t>(8192 + 4 * n));
    build_.exit();
    ir::build_edges(f_);
    return f_;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::uint32_t any(const std::vector<std::uint32_t>& of) { return of[below(static_cast<unsigned>(of.size()))]; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(f_.blocks.size() - 1); }

  /// Mostly one of the newest values, so that results are read soon and often once.
  Operand word() {
    if (below(8) == 0) return Operand::immediate(below(4) == 0 ? 0 : below(1000));
    if (shape_.constants && below(10) == 0) return Operand::parameter(4 * below(8), 1);
    return build_.operand(reg());
  }
  std::uint32_t reg() {
    // Mostly once.
    if (values_.size() > 3 && below(2)) {
      const std::uint32_t newest = values_.back();
      values_.pop_back();
      return newest;
    }
    if (values_.empty() || below(4) == 0) return any(variables_);
    const auto newest = static_cast<unsigned>(std::min<std::size_t>(values_.size(), below(3) == 0 ? 12 : 2));
    return values_[values_.size() - 1 - below(newest)];
  }
  /// Now and then a fresh comparison that nothing else reads.
  Operand condition() {
    if (below(3) == 0) {
      const std::uint32_t p = compare(build_.predicate());
      predicates_.push_back(p);
      return build_.operand(p);
    }
    Operand p = build_.operand(any(predicates_));
    p.negated = below(3) == 0;
    return p;
  }
  std::uint32_t compare(std::uint32_t to) {
    constexpr Compare all[] = {Compare::eq, Compare::ne, Compare::lt, Compare::le, Compare::gt, Compare::ge};
    build_.emit(Opcode::setp, below(2) ? Type::s32 : Type::u32, {build_.operand(to)}, {word(), word()}).mod.compare =
        all[below(6)];
    return to;
  }
  void guard(Instruction& i) {
    if (!shape_.guards || below(4) != 0) return;
    i.guarded = true;
    i.guard = predicates_.back();
    i.guard_negated = below(4) == 0;
  }

  void value(Opcode op, std::vector<Operand> from) {
    const std::uint32_t to = build_.single();
    const bool is_logic =
        op == Opcode::and_ || op == Opcode::or_ || op == Opcode::xor_ || op == Opcode::not_ || op == Opcode::shl;
    build_.emit(op, is_logic ? Type::b32 : Type::u32, {build_.operand(to)}, std::move(from));
    values_.push_back(to);
  }

  void instruction() {
    constexpr Opcode of_two[] = {Opcode::add,  Opcode::add, Opcode::and_,  Opcode::or_,
                                 Opcode::xor_, Opcode::sub, Opcode::mul_lo};
    switch (below(16)) {
      case 0:
        return value(Opcode::shl, {build_.operand(reg()), Operand::immediate(below(6))});
      case 1:
        return value(Opcode::not_, {build_.operand(reg())});
      case 2:
        predicates_.push_back(compare(build_.predicate()));
        return;
      case 3: {
        const std::uint32_t to = build_.predicate();
        build_.emit(below(2) ? Opcode::and_ : Opcode::or_, Type::pred, {build_.operand(to)},
                    {condition(), condition()});
        predicates_.push_back(to);
        return;
      }
      case 4:
        return value(Opcode::selp, {word(), word(), condition()});
      case 5: {
        const Operand v = build_.operand(any(variables_));
        return guard(build_.emit(below(2) ? Opcode::add : Opcode::xor_, Type::b32, {v}, {v, word()}));
      }
      case 6:
        return guard(build_.emit(Opcode::mov, Type::b32, {build_.operand(any(variables_))}, {word()}));
      case 7: {
        values_.push_back(build_.single());
        build_.load({values_.back()}, base_, 4 * below(64));
        return;
      }
      case 8:
        return guard(build_.store(base_, {reg()}, 4 * below(64)));
      case 9:
        if (predicates_.size() > 2) compare(any(predicates_));  // a second definition
        return;
      default:
        return value(of_two[below(7)], {build_.operand(reg()), word()});
    }
  }
  void straight() {
    for (unsigned n = 1 + below(shape_.length); n > 0; --n) instruction();
  }

  void sequence(unsigned parts, unsigned depth) {
    for (unsigned n = 0; n < parts; ++n) {
      straight();
      if (depth == 0) continue;
      if (shape_.loops && below(4) == 0)
        loop(depth - 1);
      else if (below(4) != 0)
        branch(depth - 1);
    }
  }

  /// What is defined inside is not read outside.
  template <class Body>
  void scope(Body&& body) {
    const auto values = values_, predicates = predicates_;
    body();
    values_ = values;
    predicates_ = predicates;
  }
  void side(unsigned depth) {
    scope([&] {
      straight();
      if (shape_.fences && below(6) == 0) build_.emit(Opcode::bar, Type::none, {}, {Operand::immediate(0)});
      if (depth > 0 && below(2) == 0) sequence(1, depth);
    });
  }
  void branch(unsigned depth) {
    if (below(2)) predicates_.push_back(compare(build_.predicate()));
    Operand p = below(2) ? condition() : build_.operand(predicates_.back());
    p.negated = below(2);
    const std::uint32_t head = here();
    auto& jump = build_.branch(0);
    jump.guarded = true;
    jump.guard = p.id;
    jump.guard_negated = p.negated;
    build_.block();
    side(depth);
    if (below(2) == 0) {
      const std::uint32_t end = here();
      build_.branch(0);
      f_.blocks[head].instructions.back().target = build_.block();
      side(depth);
      f_.blocks[end].instructions.back().target = build_.block();
    } else {
      f_.blocks[head].instructions.back().target = build_.block();
    }
  }
  void loop(unsigned depth) {
    const std::uint32_t counter = build_.single(), again = build_.predicate();
    const Operand c = build_.operand(counter);
    build_.emit(Opcode::mov, Type::b32, {c}, {Operand::immediate(0)});
    const std::uint32_t top = build_.block();
    side(depth);
    build_.emit(Opcode::add, Type::s32, {c}, {c, Operand::immediate(1)});
    build_.emit(Opcode::setp, Type::s32, {build_.operand(again)}, {c, Operand::immediate(1 + below(5))}).mod.compare =
        Compare::lt;
    auto& jump = build_.branch(top);
    jump.guarded = true;
    jump.guard = again;
    build_.block();
  }

  std::mt19937& random_;
  StructuredShape shape_;
  ir::Function f_;
  Builder build_;
  std::uint32_t base_ = 0;
  std::vector<std::uint32_t> values_, variables_, predicates_;
};

}  // namespace

ir::Function structured_program(std::mt19937& random, const StructuredShape& shape) {
  return StructuredGenerator(random, shape).run();
}

std::size_t count_of(const ir::Function& f, Opcode op) {
  std::size_t n = 0;
  for (const ir::Block& block : f.blocks)
    n += static_cast<std::size_t>(std::count_if(block.instructions.begin(), block.instructions.end(),
                                                [op](const Instruction& i) { return i.op == op; }));
  return n;
}

}  // namespace regatta::test

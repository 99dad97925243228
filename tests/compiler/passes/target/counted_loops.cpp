// SPDX-License-Identifier: Apache-2.0
#include "counted_loops.h"

#include "generator.h"

namespace regatta::test {

namespace {

using ir::Compare;
using ir::Opcode;
using ir::Operand;
using ir::Type;

constexpr unsigned most_trips = 60;

struct Count {
  std::uint32_t start = 0, step = 1, bound = 0;
  Compare stays = Compare::lt;
  Type type = Type::s32;

  bool goes_on(std::uint32_t counter) const {
    const auto number = [this](std::uint32_t v) {
      return type == Type::s32 ? std::int64_t{static_cast<std::int32_t>(v)} : std::int64_t{v};
    };
    const std::int64_t a = number(counter), b = number(bound);
    switch (stays) {
      case Compare::ne:
        return a != b;
      case Compare::lt:
        return a < b;
      case Compare::le:
        return a <= b;
      case Compare::gt:
        return a > b;
      default:
        return a >= b;
    }
  }
  bool ends_soon() const {
    std::uint32_t counter = start;
    for (unsigned n = 0; n < most_trips; ++n) {
      counter += step;
      if (!goes_on(counter)) return true;
    }
    return false;
  }
};

Compare opposite(Compare c) {
  switch (c) {
    case Compare::ne:
      return Compare::eq;
    case Compare::lt:
      return Compare::ge;
    case Compare::le:
      return Compare::gt;
    case Compare::gt:
      return Compare::le;
    default:
      return Compare::lt;
  }
}

Compare exchanged(Compare c) {
  switch (c) {
    case Compare::lt:
      return Compare::gt;
    case Compare::le:
      return Compare::ge;
    case Compare::gt:
      return Compare::lt;
    case Compare::ge:
      return Compare::le;
    default:
      return c;
  }
}

/// The names that PTX has for comparisons of unsigned numbers.
Compare unsigned_name(Compare c) {
  switch (c) {
    case Compare::lt:
      return Compare::lo;
    case Compare::le:
      return Compare::ls;
    case Compare::gt:
      return Compare::hi;
    case Compare::ge:
      return Compare::hs;
    default:
      return c;
  }
}

class LoopGenerator {
 public:
  LoopGenerator(std::mt19937& random, const CountedShape& shape) : random_(random), shape_(shape), build_(f_) {}

  ir::Function run() {
    f_.name = "counted";
    build_.block();
    base_ = build_.pair();
    build_.parameter(base_, 0);
    for (unsigned n = 0; n < 4; ++n) {
      sums_.push_back(build_.single());
      build_.parameter(sums_.back(), 8 + 4 * n);
    }
    condition_ = build_.predicate();
    compare(condition_, Compare::lt, Type::s32, build_.operand(sums_[0]), build_.operand(sums_[1]));
    for (unsigned n = 0; n < shape_.loops; ++n) loop();
    for (const std::uint32_t v : sums_) build_.store(base_, {v}, 4096 + 4 * v);
    build_.exit();
    ir::build_edges(f_);
    return f_;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::uint32_t any() { return sums_[below(static_cast<unsigned>(sums_.size()))]; }
  void compare(std::uint32_t to, Compare how, Type type, const Operand& a, const Operand& b) {
    build_.emit(Opcode::setp, type, {build_.operand(to)}, {a, b}).mod.compare = how;
  }

  Count count() {
    constexpr Compare all[] = {Compare::lt, Compare::le, Compare::gt, Compare::ge, Compare::ne};
    constexpr std::uint32_t anchors[] = {0, 1, 0x7fffffd0u, 0x80000000u, 0xffffffd0u, 0x80000020u, 100};
    for (;;) {
      Count c;
      c.stays = all[below(5)];
      c.type = below(2) ? Type::s32 : Type::u32;
      c.step = 1 + (below(2) ? 0 : below(9));
      if (shape_.far_steps && below(2)) c.step = random_() >> below(8);
      if (c.stays == Compare::gt || c.stays == Compare::ge || (c.stays == Compare::ne && below(2))) c.step = 0 - c.step;
      c.start = anchors[below(7)] + below(40);
      c.bound = c.start + c.step * (1 + below(40));
      if (c.stays != Compare::ne) c.bound += below(7) - 3;
      if (shape_.far_steps && below(4) == 0) c.bound = random_();
      if (c.step != 0 && c.ends_soon()) return c;
    }
  }

  /// The number, so that a compiler sees it or does not.
  void give(std::uint32_t to, std::uint32_t number) {
    if (shape_.known) {
      build_.emit(Opcode::mov, Type::b32, {build_.operand(to)}, {Operand::immediate(number)});
      return;
    }
    const std::uint32_t part = build_.single();
    build_.emit(Opcode::mov, Type::b32, {build_.operand(part)}, {Operand::immediate(number ^ 0x55u)});
    build_.emit(Opcode::xor_, Type::b32, {build_.operand(to)}, {build_.operand(part), Operand::immediate(0x55)});
  }

  void loop() {
    const Count c = count();
    counter_ = build_.single();
    local_ = build_.single();
    pointer_ = build_.pair();
    const std::uint32_t again = build_.predicate();
    build_.emit(Opcode::mov, Type::b64, {build_.operand(pointer_)}, {build_.operand(base_)});
    build_.emit(Opcode::mov, Type::b32, {build_.operand(local_)}, {build_.operand(any())});
    Operand bound = Operand::immediate(c.bound);
    if (!shape_.known && below(3) != 0) {
      bound = build_.operand(build_.single());
      give(bound.id, c.bound);
    }
    give(counter_, c.start);
    const std::uint32_t top = build_.block();
    f_.blocks[top].keeps_loop = shape_.kept;
    const Operand counter = build_.operand(counter_);
    body();
    build_.emit(Opcode::add, c.type, {counter}, {counter, Operand::immediate(c.step)});
    body();
    Compare how = c.stays;
    const bool leaves = below(3) == 0, is_swapped = bound.is_reg() && below(3) == 0;
    if (leaves) how = opposite(how);
    if (is_swapped) how = exchanged(how);
    if (c.type == Type::u32 && below(2)) how = unsigned_name(how);
    compare(again, how, c.type, is_swapped ? bound : counter, is_swapped ? counter : bound);
    if (below(3) == 0) body();
    auto& back = build_.branch(top);
    back.guarded = true;
    back.guard = again;
    back.guard_negated = leaves;
    build_.block();
    // What is left of the counter is a result too.
    for (const std::uint32_t v : {counter_, local_}) build_.store(base_, {v}, 8192 + 4 * v);
    build_.store(base_, {pointer_}, 8192 + 4 * pointer_);
  }

  void body() {
    for (unsigned n = below(4); n > 0; --n) {
      const Operand sum = build_.operand(any()), counter = build_.operand(counter_), local = build_.operand(local_);
      ir::Instruction* i = nullptr;
      switch (below(9)) {
        case 0:
          i = &build_.emit(Opcode::add, Type::u32, {sum}, {sum, counter});
          break;
        case 1:
          i = &build_.emit(Opcode::xor_, Type::b32, {sum}, {sum, local});
          break;
        case 2:
          i = &build_.emit(Opcode::mul_lo, Type::u32, {local}, {counter, Operand::immediate(3 + below(20))});
          break;
        case 3:
          i = &build_.emit(Opcode::mov, Type::b32, {local}, {below(2) ? sum : counter});
          break;
        case 4:
          i = &build_.load({local_}, pointer_, 4 * below(8));
          break;
        case 5:
          i = &build_.store(pointer_, {below(2) ? local_ : sum.id}, 4 * below(8));
          break;
        case 6:  // a second counter
          build_.emit(Opcode::add, Type::s64, {build_.operand(pointer_)},
                      {build_.operand(pointer_), Operand::immediate(4, 2)});
          break;
        case 7:  // a value of the last iteration where it is read before
          compare(condition_, Compare::lt, Type::u32, local, sum);
          break;
        default:
          i = &build_.emit(Opcode::add, Type::u32, {local}, {local, Operand::immediate(below(9))});
      }
      if (i == nullptr || below(3) != 0) continue;
      i->guarded = true;
      i->guard = condition_;
      i->guard_negated = below(2);
    }
  }

  std::mt19937& random_;
  CountedShape shape_;
  ir::Function f_;
  Builder build_;
  std::uint32_t base_ = 0, counter_ = 0, local_ = 0, pointer_ = 0, condition_ = 0;
  std::vector<std::uint32_t> sums_;
};

}  // namespace

ir::Function counted_loops(std::mt19937& random, const CountedShape& shape) {
  return LoopGenerator(random, shape).run();
}

}  // namespace regatta::test

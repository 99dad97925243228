// SPDX-License-Identifier: Apache-2.0
#include "counted_loop.h"

#include "code.h"

#include <algorithm>

namespace regatta::passes {

using ir::Compare;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

bool is_counter_type(Type t) { return t == Type::s32 || t == Type::u32 || t == Type::b32; }

Compare swapped(Compare c) {
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

Compare negated(Compare c) {
  switch (c) {
    case Compare::eq:
      return Compare::ne;
    case Compare::ne:
      return Compare::eq;
    case Compare::lt:
      return Compare::ge;
    case Compare::le:
      return Compare::gt;
    case Compare::gt:
      return Compare::le;
    case Compare::ge:
      return Compare::lt;
    default:
      return Compare::none;
  }
}

/// The unsigned comparisons have names of their own in PTX.
Compare plain(Compare c) {
  switch (c) {
    case Compare::lo:
      return Compare::lt;
    case Compare::ls:
      return Compare::le;
    case Compare::hi:
      return Compare::gt;
    case Compare::hs:
      return Compare::ge;
    default:
      return c;
  }
}

class Finder {
 public:
  explicit Finder(const ir::Function& f) : f_(f) {}

  std::optional<CountedLoop> counted(std::uint32_t b) const {
    const auto& code = f_.blocks[b].instructions;
    if (f_.blocks[b].keeps_loop || code.size() < 3) return std::nullopt;
    const Instruction& branch = code.back();
    if (branch.op != Opcode::bra || !branch.guarded || branch.target != b || b + 1 >= f_.blocks.size())
      return std::nullopt;
    for (const Instruction& i : code)
      if (i.op == Opcode::bar || i.op == Opcode::warp_sync || i.op == Opcode::set_registers || ir::reads_carry(i) ||
          ir::writes_carry(i))
        return std::nullopt;
    const Instruction* compare = only_writer(code, branch.guard);
    if (compare == nullptr || compare->op != Opcode::setp || compare->guarded || !is_counter_type(compare->type) ||
        compare->mod.bool_op != ir::BoolOp::none || compare->destinations.size() != 1 || compare->sources.size() != 2)
      return std::nullopt;
    for (const bool first : {true, false}) {
      const Operand &counter = compare->sources[first ? 0 : 1], &bound = compare->sources[first ? 1 : 0];
      if (!counter.is_reg()) continue;
      const Instruction* step = only_writer(code, counter.id);
      if (step == nullptr || !is_step(*step) || step > compare || !stays(code, bound)) continue;
      CountedLoop loop;
      loop.block = b;
      loop.counter = counter.id;
      loop.step = static_cast<std::int32_t>(static_cast<std::uint32_t>(step->sources[1].value));
      loop.type = compare->type;
      loop.bound = bound;
      loop.stays = plain(compare->mod.compare);
      if (!first) loop.stays = swapped(loop.stays);
      if (branch.guard_negated) loop.stays = negated(loop.stays);
      if (!counts(loop)) continue;
      const Instruction* begin = start(loop);
      loop.is_uniform = begin != nullptr && is_uniform(begin->sources[0]) && is_uniform(loop.bound);
      if (begin != nullptr) loop.trips = trips(loop, begin->sources[0]);
      return loop;
    }
    return std::nullopt;
  }

 private:
  static const Instruction* only_writer(const std::vector<Instruction>& code, std::uint32_t v) {
    const Instruction* writer = nullptr;
    for (const Instruction& i : code) {
      if (!writes(i, v)) continue;
      if (writer != nullptr) return nullptr;
      writer = &i;
    }
    return writer;
  }
  static bool stays(const std::vector<Instruction>& code, const Operand& bound) {
    if (bound.kind == Operand::Kind::immediate) return bound.symbol.empty();
    if (bound.kind == Operand::Kind::parameter) return true;
    return bound.is_reg() &&
           std::none_of(code.begin(), code.end(), [&](const Instruction& i) { return writes(i, bound.id); });
  }
  /// Whether the counter comes nearer to the bound.
  static bool counts(const CountedLoop& loop) {
    if (loop.step == 0 || loop.step == INT32_MIN) return false;
    switch (loop.stays) {
      case Compare::ne:
        return true;
      case Compare::lt:
      case Compare::le:
        return loop.step > 0;
      case Compare::gt:
      case Compare::ge:
        return loop.step < 0;
      default:
        return false;
    }
  }
  static bool is_uniform(const Operand& o) {
    return o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::parameter;
  }
  /// The move that gives the counter its first value, if that is all that leads to the loop. The counter has two
  /// definitions then: this one, and its step.
  const Instruction* start(const CountedLoop& loop) const {
    const Instruction* found = nullptr;
    for (std::uint32_t p : f_.blocks[loop.block].predecessors) {
      if (p == loop.block) continue;
      if (found != nullptr) return nullptr;
      const auto& code = f_.blocks[p].instructions;
      for (auto i = code.rbegin(); i != code.rend() && found == nullptr; ++i)
        if (writes(*i, loop.counter)) found = &*i;
      if (found == nullptr) return nullptr;
    }
    return found != nullptr && found->op == Opcode::mov && !found->guarded ? found : nullptr;
  }
  /// The trip count, if the counter begins with a number and the bound is one.
  static std::optional<std::uint64_t> trips(const CountedLoop& loop, const Operand& begin) {
    if (loop.bound.kind != Operand::Kind::immediate || begin.kind != Operand::Kind::immediate || !begin.symbol.empty())
      return std::nullopt;
    const auto first = static_cast<std::uint32_t>(begin.value), bound = static_cast<std::uint32_t>(loop.bound.value);
    constexpr std::uint64_t most = 4096;
    std::uint32_t value = first;
    for (std::uint64_t n = 1; n <= most; ++n) {
      value += static_cast<std::uint32_t>(loop.step);
      if (!holds(loop, value, bound)) return n;
    }
    return std::nullopt;
  }
  static bool holds(const CountedLoop& loop, std::uint32_t a, std::uint32_t b) {
    const auto x =
        static_cast<std::int64_t>(loop.type == Type::s32 ? static_cast<std::int64_t>(static_cast<std::int32_t>(a)) : a);
    const auto y =
        static_cast<std::int64_t>(loop.type == Type::s32 ? static_cast<std::int64_t>(static_cast<std::int32_t>(b)) : b);
    switch (loop.stays) {
      case Compare::ne:
        return x != y;
      case Compare::lt:
        return x < y;
      case Compare::le:
        return x <= y;
      case Compare::gt:
        return x > y;
      default:
        return x >= y;
    }
  }

  const ir::Function& f_;
};

}  // namespace

bool is_step(const Instruction& i) {
  return i.op == Opcode::add && !i.guarded && !i.mod.saturate && !ir::is_float(i.type) && ir::size_of(i.type) >= 4 &&
         i.destinations.size() == 1 && i.sources.size() == 2 && i.sources[0].is_reg() &&
         i.sources[0].id == i.destinations[0].id && is_plain_number(i.sources[1]);
}

std::optional<CountedLoop> counted_loop(const ir::Function& f, std::uint32_t block) { return Finder(f).counted(block); }

}  // namespace regatta::passes

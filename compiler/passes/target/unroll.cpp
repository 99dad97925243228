// SPDX-License-Identifier: Apache-2.0
#include "unroll.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace regatta::passes {

namespace {

using ir::Compare;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Type;

/// A loop of one block: `do body while (counter + step, compared with bound)`.
struct CountedLoop {
  std::uint32_t block = 0;
  std::uint32_t counter = 0;
  std::int32_t step = 0;
  Compare stays = Compare::none;  ///< of counter and bound, as signed or unsigned numbers
  Type type = Type::s32;
  Operand bound;
  std::optional<std::uint64_t> trips;  ///< if known
  bool is_uniform = false;             ///< counter and bound are the same in all lanes
};

bool is_counter_type(Type t) { return t == Type::s32 || t == Type::u32 || t == Type::b32; }

/// What lanes execute together: which of them are there is part of the result.
bool is_collective(const Instruction& i) {
  switch (i.op) {
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::activemask:
      return true;
    default:
      return false;
  }
}

/// An addition of a number to a register itself.
bool is_step(const Instruction& i) {
  return i.op == Opcode::add && !i.guarded && !i.mod.saturate && !ir::is_float(i.type) && ir::size_of(i.type) >= 4 &&
         i.destinations.size() == 1 && i.sources.size() == 2 && i.sources[0].is_reg() &&
         i.sources[0].id == i.destinations[0].id && i.sources[1].kind == Operand::Kind::immediate &&
         i.sources[1].symbol.empty() && i.sources[1].shared_variable == 0;
}

bool writes(const Instruction& i, std::uint32_t v) {
  return std::any_of(i.destinations.begin(), i.destinations.end(),
                     [v](const Operand& o) { return (o.is_reg() || o.is_predicate()) && o.id == v; });
}

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
      if (i.op == Opcode::bar || i.op == Opcode::warp_sync || ir::reads_carry(i) || ir::writes_carry(i))
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

/// Writes the copies of a body one behind another.
class Copier {
 public:
  Copier(ir::Function& f, const std::vector<Instruction>& body, unsigned copies) : f_(f), body_(body), copies_(copies) {
    for (const Instruction& i : body_)
      for (const Operand& o : i.destinations) {
        if (!o.is_reg() && !o.is_predicate()) continue;
        Variable& v = variables_[o.id];
        // A value that a lane may keep needs its place.
        if (v.definitions++ == 0) v.renamed = !i.guarded;
        v.is_counter = v.definitions == 1 && is_step(i);
      }
  }

  std::vector<Instruction> copies() {
    for (copy_ = 0; copy_ < copies_; ++copy_)
      for (const Instruction& i : body_) add(i);
    return std::move(code_);
  }

 private:
  struct Variable {
    unsigned definitions = 0;
    bool renamed = false;
    bool is_counter = false;
    std::optional<std::uint32_t> name;  ///< the register that has its value now; none: its own
  };

  void add(Instruction i) {
    const bool is_counter = is_step(i) && variables_.at(i.destinations[0].id).is_counter;
    if (is_counter) {
      // From the value at the top, so that the copies do not wait for each other.
      const std::uint64_t sum = i.sources[1].value * (copy_ + 1);
      i.sources[1].value = ir::size_of(i.type) == 4 ? sum & 0xffffffffu : sum;
    } else {
      for (Operand& o : i.sources) read(o);
    }
    if (i.guarded) i.guard = name(i.guard);
    for (Operand& o : i.destinations) {
      if (!o.is_reg() && !o.is_predicate()) continue;
      Variable& v = variables_.at(o.id);
      if (v.renamed && !i.guarded) {
        v.name.reset();
        if (copy_ + 1 < copies_) v.name = fresh(o.id);
      }
      o.id = v.name.value_or(o.id);
    }
    code_.push_back(std::move(i));
  }
  void read(Operand& o) const {
    if (o.is_reg() || o.is_predicate()) o.id = name(o.id);
  }
  std::uint32_t name(std::uint32_t v) const {
    const auto found = variables_.find(v);
    return found == variables_.end() ? v : found->second.name.value_or(v);
  }
  std::uint32_t fresh(std::uint32_t v) {
    const ir::VirtualRegister copy = f_.registers[v];
    f_.registers.push_back(copy);
    return static_cast<std::uint32_t>(f_.registers.size() - 1);
  }

  ir::Function& f_;
  const std::vector<Instruction>& body_;
  unsigned copies_;
  unsigned copy_ = 0;
  std::map<std::uint32_t, Variable> variables_;
  std::vector<Instruction> code_;
};

class Unroller {
 public:
  Unroller(ir::Function& f, const UnrollOptions& options) : f_(f), options_(options) {}

  /// Whether the loop is worth it and was unrolled.
  bool unroll(const CountedLoop& loop) {
    std::vector<Instruction> body = f_.blocks[loop.block].instructions;
    const Instruction branch = body.back();
    body.pop_back();
    if (loop.trips && *loop.trips * body.size() <= options_.longest) {
      f_.blocks[loop.block].instructions = Copier(f_, body, static_cast<unsigned>(*loop.trips)).copies();
      return true;
    }
    const unsigned copies = options_.copies;
    if (copies < 2 || copies * body.size() > options_.longest) return false;
    if (step_size(loop) * (copies - 1) > UINT32_MAX) return false;
    if (loop.trips && *loop.trips % copies == 0) {
      f_.blocks[loop.block].instructions = Copier(f_, body, copies).copies();
      f_.blocks[loop.block].instructions.push_back(branch);
      return true;
    }
    if (loop.trips && *loop.trips < copies) return false;
    // Lanes of which some have enough iterations left for the copies and others have not would part.
    if (!loop.is_uniform && std::any_of(body.begin(), body.end(), is_collective)) return false;
    with_rest(loop, body, branch, copies);
    return true;
  }

 private:
  static std::uint64_t step_size(const CountedLoop& loop) {
    return static_cast<std::uint32_t>(loop.step > 0 ? loop.step : -loop.step);
  }

  /// check; copies; whether anything is left; the loop itself.
  void with_rest(const CountedLoop& loop, const std::vector<Instruction>& body, const Instruction& branch,
                 unsigned copies) {
    const std::uint32_t check = loop.block, unrolled = check + 1, rest = check + 3;
    insert_blocks(check, 3);
    where_ = branch.where;
    std::vector<Instruction> before;
    const Operand enough = is_enough_left(before, loop, copies);
    jump(before, enough.id, true, rest);
    f_.blocks[check].instructions = std::move(before);

    std::vector<Instruction> code = Copier(f_, body, copies).copies();
    const Operand again = is_enough_left(code, loop, copies);
    jump(code, again.id, false, unrolled);
    f_.blocks[unrolled].instructions = std::move(code);
    f_.blocks[unrolled].keeps_loop = true;

    std::vector<Instruction> after;
    jump(after, branch.guard, !branch.guard_negated, rest + 1);
    f_.blocks[unrolled + 1].instructions = std::move(after);
    f_.blocks[rest].instructions.back().target = rest;
    f_.blocks[rest].keeps_loop = true;
  }

  /// Makes room for blocks in front of one: whoever went there goes to the first of them.
  void insert_blocks(std::uint32_t at, std::uint32_t count) {
    for (ir::Block& b : f_.blocks)
      for (Instruction& i : b.instructions)
        if (i.op == Opcode::bra && i.target > at) i.target += count;
    f_.blocks.insert(f_.blocks.begin() + at, count, ir::Block{});
  }

  Instruction& emit(std::vector<Instruction>& code, Opcode op, Type type, Operand to, std::vector<Operand> from) {
    Instruction i;
    i.op = op;
    i.type = type;
    i.destinations = {std::move(to)};
    i.sources = std::move(from);
    i.where = where_;
    code.push_back(std::move(i));
    return code.back();
  }
  std::uint32_t fresh(bool is_predicate) {
    ir::VirtualRegister v;
    v.words = is_predicate ? 0 : 1;
    v.is_predicate = is_predicate;
    v.name = is_predicate ? "%unrolled_p" : "%unrolled";
    f_.registers.push_back(v);
    return static_cast<std::uint32_t>(f_.registers.size() - 1);
  }
  void jump(std::vector<Instruction>& code, std::uint32_t predicate, bool negated, std::uint32_t target) const {
    Instruction i;
    i.op = Opcode::bra;
    i.guarded = true;
    i.guard = predicate;
    i.guard_negated = negated;
    i.target = target;
    i.where = where_;
    code.push_back(i);
  }

  /// A predicate: the loop's condition holds for the counter as it is, and would for `copies - 1` more steps. The
  /// distance to the bound is computed without sign, so that neither overflows.
  Operand is_enough_left(std::vector<Instruction>& code, const CountedLoop& loop, unsigned copies) {
    const std::uint64_t size = step_size(loop) * (copies - 1);
    const Operand counter = Operand::reg(loop.counter, 1), distance = Operand::reg(fresh(false), 1);
    const bool up = loop.step > 0;
    emit(code, Opcode::sub, Type::s32, distance, {up ? loop.bound : counter, up ? counter : loop.bound});
    Operand left = Operand::predicate(fresh(true));
    Instruction& far = emit(code, Opcode::setp, Type::u32, left, {distance, Operand::immediate(size)});
    const bool reaches = loop.stays == Compare::le || loop.stays == Compare::ge;
    far.mod.compare = reaches ? Compare::ge : Compare::gt;
    if (loop.stays == Compare::ne) return left;
    const Operand both = Operand::predicate(fresh(true));
    Instruction& stays = emit(code, Opcode::setp, loop.type, both, {counter, loop.bound, left});
    stays.mod.compare = loop.stays;
    stays.mod.bool_op = ir::BoolOp::and_;
    return both;
  }

  ir::Function& f_;
  const UnrollOptions& options_;
  ir::Location where_;
};

}  // namespace

std::uint32_t unroll_loops(ir::Function& f, const UnrollOptions& options) {
  std::vector<CountedLoop> loops;
  {
    Finder finder(f);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      if (const auto loop = finder.counted(b)) loops.push_back(*loop);
  }
  std::uint32_t unrolled = 0;
  Unroller unroller(f, options);
  // From the last on, so that the numbers of those before stay.
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) unrolled += unroller.unroll(*loop) ? 1 : 0;
  ir::build_edges(f);
  return unrolled;
}

}  // namespace regatta::passes

// SPDX-License-Identifier: Apache-2.0
#include "unroll.h"

#include "code.h"
#include "counted_loop.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace regatta::passes {

namespace {

using ir::Compare;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Type;

/// What lanes execute together: which of them are there is part of the result.
bool is_collective(const Instruction& i) { return ir::is_exchange(i.op) || i.op == Opcode::activemask; }

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

  Instruction& emit(std::vector<Instruction>& code, Opcode op, Type type, const Operand& to,
                    std::vector<Operand> from) {
    code.push_back(operation(op, type, to, std::move(from), where_));
    return code.back();
  }
  Operand fresh(unsigned words) { return fresh_register(f_, words, "%unrolled"); }
  void jump(std::vector<Instruction>& code, std::uint32_t predicate, bool negated, std::uint32_t target) const {
    Instruction i = plain_operation(Opcode::bra, where_);
    i.guarded = true;
    i.guard = predicate;
    i.guard_negated = negated;
    i.target = target;
    code.push_back(i);
  }

  /// A predicate: the loop's condition holds for the counter as it is, and would for `copies - 1` more steps. The
  /// distance to the bound is computed without sign, so that neither overflows.
  Operand is_enough_left(std::vector<Instruction>& code, const CountedLoop& loop, unsigned copies) {
    const std::uint64_t size = step_size(loop) * (copies - 1);
    const Operand counter = Operand::reg(loop.counter, 1), distance = fresh(1);
    const bool up = loop.step > 0;
    emit(code, Opcode::sub, Type::s32, distance, {up ? loop.bound : counter, up ? counter : loop.bound});
    const Operand left = fresh(0);
    Instruction& far = emit(code, Opcode::setp, Type::u32, left, {distance, Operand::immediate(size)});
    const bool reaches = loop.stays == Compare::le || loop.stays == Compare::ge;
    far.mod.compare = reaches ? Compare::ge : Compare::gt;
    if (loop.stays == Compare::ne) return left;
    const Operand both = fresh(0);
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
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    if (const auto loop = counted_loop(f, b)) loops.push_back(*loop);
  std::uint32_t unrolled = 0;
  Unroller unroller(f, options);
  // From the last on, so that the numbers of those before stay.
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) unrolled += unroller.unroll(*loop) ? 1 : 0;
  ir::build_edges(f);
  return unrolled;
}

}  // namespace regatta::passes

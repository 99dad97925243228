// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/sharing.h>

#include <algorithm>
#include <optional>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

/// Loops that iterate more often count as loops without a bound: their counters are followed step by step.
constexpr std::uint64_t most_followed = 1u << 20;

bool is_word(const Operand& o) { return o.is_reg() && o.words == 1; }
bool is_number(const Operand& o) { return o.kind == Operand::Kind::immediate && o.symbol.empty(); }

bool writes(const Instruction& i, std::uint32_t reg) {
  for (const Operand& o : i.destinations)
    if (o.is_reg() && reg >= o.id && reg < o.id + o.words) return true;
  return false;
}

bool writes_predicate(const Instruction& i, std::uint32_t predicate) {
  for (const Operand& o : i.destinations)
    if (o.is_predicate() && o.id == predicate) return true;
  return false;
}

/// Nothing for comparisons of other types than 32-bit integers.
std::optional<bool> compare(const Instruction& setp, std::uint32_t a, std::uint32_t b) {
  using ir::Compare;
  const bool is_signed = setp.type == ir::Type::s32;
  if (!is_signed && setp.type != ir::Type::u32 && setp.type != ir::Type::b32) return std::nullopt;
  const auto x = is_signed ? std::int64_t{static_cast<std::int32_t>(a)} : std::int64_t{a};
  const auto y = is_signed ? std::int64_t{static_cast<std::int32_t>(b)} : std::int64_t{b};
  switch (setp.mod.compare) {
    case Compare::eq:
      return x == y;
    case Compare::ne:
      return x != y;
    case Compare::lt:
      return x < y;
    case Compare::le:
      return x <= y;
    case Compare::gt:
      return x > y;
    case Compare::ge:
      return x >= y;
    case Compare::lo:
      return a < b;
    case Compare::ls:
      return a <= b;
    case Compare::hi:
      return a > b;
    case Compare::hs:
      return a >= b;
    default:
      return std::nullopt;
  }
}

/// A place in the function.
struct At {
  std::uint32_t block = 0;
  std::size_t index = 0;
};

class TripCounter {
 public:
  TripCounter(analysis::FunctionAnalyses& analyses, std::size_t loop)
      : f_(analyses.function()),
        cfg_(analyses.cfg()),
        dominators_(analyses.dominators()),
        loops_(analyses.loops()),
        index_(static_cast<std::int32_t>(loop)),
        loop_(loops_.loops()[loop]) {
    for (const std::uint32_t p : cfg_.predecessors(loop_.header))
      if (loop_.blocks.test(p)) latches_.push_back(p);
  }

  std::optional<std::uint64_t> count() const {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      if (loop_.blocks.test(b) && runs_once(b))
        if (const std::optional<std::uint64_t> found = count_by(b)) return found;
    return std::nullopt;
  }

 private:
  /// Whether the block runs once in each iteration that is completed.
  bool runs_once(std::uint32_t b) const {
    if (loops_.innermost(b) != index_) return false;
    for (const std::uint32_t latch : latches_)
      if (!dominators_.dominates(b, latch)) return false;
    return true;
  }

  /// By the branch at the end of the block, if it leaves the loop.
  std::optional<std::uint64_t> count_by(std::uint32_t b) const {
    const std::vector<Instruction>& code = f_.blocks[b].instructions;
    if (code.empty() || code.back().op != Opcode::bra || !code.back().guarded) return std::nullopt;
    const Instruction& branch = code.back();
    const std::uint32_t behind = b + 1;
    const bool taken_stays = loop_.blocks.test(branch.target);
    const bool falls_stays = behind < f_.blocks.size() && loop_.blocks.test(behind);
    if (taken_stays == falls_stays) return std::nullopt;
    std::size_t n = code.size() - 1;
    while (n-- > 0 && !writes_predicate(code[n], branch.guard)) {
    }
    if (n >= code.size()) return std::nullopt;
    const Instruction& setp = code[n];
    if (setp.op != Opcode::setp || setp.guarded || setp.mod.bool_op != ir::BoolOp::none || setp.sources.size() != 2 ||
        !is_word(setp.sources[0]) || !is_number(setp.sources[1]) || !setp.destinations[0].is_predicate() ||
        setp.destinations[0].id != branch.guard)
      return std::nullopt;
    const bool stays_if = taken_stays != branch.guard_negated;
    return follow(setp, {b, n}, stays_if, std::find(latches_.begin(), latches_.end(), b) != latches_.end());
  }

  /// `stays_if`: the outcome of the comparison with which the loop goes on.
  std::optional<std::uint64_t> follow(const Instruction& setp, At test, bool stays_if, bool is_latch) const {
    const std::uint32_t counter = setp.sources[0].id;
    const std::optional<At> step_at = only_write(counter);
    if (!step_at || !runs_once(step_at->block)) return std::nullopt;
    const Instruction& add = f_.blocks[step_at->block].instructions[step_at->index];
    if (add.op != Opcode::add || ir::size_of(add.type) != 4 || ir::is_float(add.type) || add.guarded ||
        add.mod.saturate || add.sources.size() != 2 || !is_word(add.sources[0]) || add.sources[0].id != counter ||
        !is_number(add.sources[1]))
      return std::nullopt;
    const std::optional<std::uint32_t> start = start_of(counter);
    if (!start) return std::nullopt;
    const auto step = static_cast<std::uint32_t>(add.sources[1].value);
    const bool steps_first =
        step_at->block == test.block ? step_at->index < test.index : dominators_.dominates(step_at->block, test.block);
    std::uint32_t value = *start + (steps_first ? step : 0);
    std::uint64_t stays = 0;
    for (; stays <= most_followed; ++stays, value += step) {
      const std::optional<bool> outcome = compare(setp, value, static_cast<std::uint32_t>(setp.sources[1].value));
      if (!outcome) return std::nullopt;
      if (*outcome != stays_if) return std::max<std::uint64_t>(stays + (is_latch ? 1 : 0), 1);
    }
    return std::nullopt;
  }

  /// The only instruction of the loop that writes the register.
  std::optional<At> only_write(std::uint32_t reg) const {
    std::optional<At> found;
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      if (!loop_.blocks.test(b)) continue;
      for (std::size_t n = 0; n < f_.blocks[b].instructions.size(); ++n) {
        if (!writes(f_.blocks[b].instructions[n], reg)) continue;
        if (found) return std::nullopt;
        found = At{b, n};
      }
    }
    return found;
  }

  /// What the register holds when the loop is entered: the last write on the only way to it.
  std::optional<std::uint32_t> start_of(std::uint32_t reg) const {
    std::uint32_t b = loop_.header;
    for (std::size_t steps = 0; steps <= f_.blocks.size(); ++steps) {
      std::optional<std::uint32_t> way;
      for (const std::uint32_t p : cfg_.predecessors(b)) {
        if (!cfg_.reachable(p) || (b == loop_.header && loop_.blocks.test(p))) continue;
        if (way) return std::nullopt;
        way = p;
      }
      if (!way) return std::nullopt;
      b = *way;
      const std::vector<Instruction>& code = f_.blocks[b].instructions;
      for (std::size_t n = code.size(); n-- > 0;) {
        if (!writes(code[n], reg)) continue;
        const Instruction& mov = code[n];
        if (mov.op != Opcode::mov || mov.guarded || mov.sources.size() != 1 || !is_word(mov.destinations[0]) ||
            !is_number(mov.sources[0]))
          return std::nullopt;
        return static_cast<std::uint32_t>(mov.sources[0].value);
      }
    }
    return std::nullopt;
  }

  const ir::Function& f_;
  const analysis::Cfg& cfg_;
  const analysis::Dominators& dominators_;
  const analysis::Loops& loops_;
  const std::int32_t index_;
  const analysis::Loop& loop_;
  std::vector<std::uint32_t> latches_;  ///< blocks with an edge back to the header
};

}  // namespace

std::vector<std::uint64_t> trip_counts(analysis::FunctionAnalyses& analyses) {
  std::vector<std::uint64_t> trips;
  for (std::size_t l = 0; l < analyses.loops().loops().size(); ++l)
    trips.push_back(TripCounter(analyses, l).count().value_or(assumed_trip_count));
  return trips;
}

}  // namespace regatta::passes

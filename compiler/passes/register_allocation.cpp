// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"
#include "register_limits.h"

#include <regatta/passes/cleanup.h>
#include <regatta/passes/combine.h>
#include <regatta/passes/narrow_addresses.h>
#include <regatta/passes/schedule.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

void check(const ir::Function& f, const AllocationOptions& options) {
  if (options.max_registers < trace::min_register_budget || options.max_registers > trace::max_general_registers)
    throw trace::InputError("--max-registers " + std::to_string(options.max_registers) + ": expected " +
                            std::to_string(trace::min_register_budget) + " to " +
                            std::to_string(trace::max_general_registers));
  if (options.banks < 1 || options.banks > 256)
    throw trace::InputError("register banks " + std::to_string(options.banks) + ": expected 1 to 256");
  if (f.allocated) throw std::logic_error("kernel " + f.name + " is already allocated");
}

void rename(ir::Function& f, const std::vector<std::int32_t>& assignment) {
  const auto place = [&](std::uint32_t v) { return static_cast<std::uint32_t>(assignment[v]); };
  for (ir::Block& block : f.blocks)
    for (Instruction& i : block.instructions) {
      if (i.guarded) i.guard = place(i.guard);
      for (auto* operands : {&i.destinations, &i.sources})
        for (Operand& o : *operands)
          if (o.is_reg() || o.is_predicate()) o.id = place(o.id);
    }
  f.allocated = true;
}

/// Whether the allocated instruction moves a register onto itself; half such packs and unpacks become moves.
bool is_identity(Instruction& i) {
  if (i.op == Opcode::mov && i.destinations.size() == 1 && i.sources.size() == 1) {
    const Operand &d = i.destinations[0], &s = i.sources[0];
    return d.kind == s.kind && (d.is_reg() || (d.is_predicate() && !s.negated)) && d.id == s.id && d.words == s.words;
  }
  const bool is_pack = i.op == Opcode::pack && i.destinations.size() == 1 && i.destinations[0].words == 2;
  const bool is_unpack = i.op == Opcode::unpack && i.destinations.size() == 2 && i.sources[0].words == 2;
  if (!is_pack && !is_unpack) return false;
  std::vector<Operand>& halves = is_pack ? i.sources : i.destinations;
  const std::uint32_t whole = is_pack ? i.destinations[0].id : i.sources[0].id;
  if (halves.size() != 2) return false;
  bool same[2];
  for (unsigned h = 0; h < 2; ++h) same[h] = halves[h].is_reg() && halves[h].words == 1 && halves[h].id == whole + h;
  if (same[0] && same[1]) return true;
  if (!same[0] && !same[1]) return false;
  const unsigned moved = same[0] ? 1 : 0;
  if (halves[moved].kind == Operand::Kind::none) return true;
  const Operand half = halves[moved], part = Operand::reg(whole + moved, 1);
  i.op = Opcode::mov;
  i.type = ir::Type::b32;
  i.destinations = {is_pack ? part : half};
  i.sources = {is_pack ? half : part};
  return false;
}

void remove_identities(ir::Function& f, AllocationResult& result, bool keep_origin) {
  if (keep_origin) result.origin.resize(f.blocks.size());
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    auto& code = f.blocks[b].instructions;
    std::size_t kept = 0;
    for (std::size_t n = 0; n < code.size(); ++n) {
      if (is_identity(code[n])) {
        ++result.removed_copies;
        continue;
      }
      if (keep_origin) result.origin[b].push_back(static_cast<std::uint32_t>(n));
      if (kept != n) code[kept] = std::move(code[n]);
      ++kept;
    }
    code.resize(kept);
  }
}

void count_registers(ir::Function& f) {
  f.registers_used = 0;
  f.predicates_used = 0;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.instructions) {
      if (i.guarded) f.predicates_used = std::max(f.predicates_used, i.guard + 1);
      for (const auto* operands : {&i.destinations, &i.sources})
        for (const Operand& o : *operands) {
          if (o.is_reg()) f.registers_used = std::max(f.registers_used, o.id + o.words);
          if (o.is_predicate()) f.predicates_used = std::max(f.predicates_used, o.id + 1);
        }
    }
}

/// Allocates a function whose instructions are in their final order.
AllocationResult allocate_ordered(ir::Function& f, const AllocationOptions& options) {
  AllocationResult result;
  AllocationState state;
  state.f = &f;
  state.options = options;
  state.original_local_bytes = f.local_bytes;
  legalize(state);

  bool coalesce = options.coalesce;
  // Every round spills at least one register that is not a spill temporary, so this ends by itself; the bound
  // turns a mistake here into a message.
  constexpr std::uint32_t most_rounds = 1000;
  for (;;) {
    if (++result.rounds > most_rounds) throw std::logic_error("register allocation of " + f.name + " does not end");
    const Interference graph(f, state.pinned);
    Nodes nodes(state, graph);
    if (coalesce) nodes.coalesce();
    Colouring colouring = colour(state, graph, nodes);
    if (!colouring.spilled.empty()) {
      insert_spills(state, nodes, colouring.spilled, result);
      continue;
    }
    if (colouring.impossible >= 0) {
      if (coalesce) {  // merged temporaries may be what does not fit
        coalesce = false;
        continue;
      }
      const std::uint32_t vreg = nodes.node[static_cast<std::size_t>(colouring.impossible)].members.front().vreg;
      refuse(f, {},
             "needs more than " + std::to_string(options.max_registers) +
                 " registers even with everything spilled (no place for " + f.registers[vreg].name +
                 "); expected a larger --max-registers");
    }
    result.pressure = graph.pressure();
    result.assignment = std::move(colouring.assignment);
    break;
  }

  bool keep = options.keep_before;
#ifndef NDEBUG
  keep = true;
#endif
  if (keep) {
    result.before = f;
    result.temporaries = state.pinned;
  }
  rename(f, result.assignment);
  remove_identities(f, result, keep);
  count_registers(f);
  ir::build_edges(f);
  verify_limits(f);
  f.spilled_registers = result.spilled_registers;
  f.spill_bytes = f.local_bytes - state.original_local_bytes;
  result.spill_bytes = f.spill_bytes;
  result.registers_used = f.registers_used;
  result.predicates_used = f.predicates_used;
  return result;
}

/// What the allocated code costs: its instructions, ten times as much per loop around them.
double weighted_length(const ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  double sum = 0;
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    sum += loop_weight(analyses.loops().depth(b)) * static_cast<double>(f.blocks[b].instructions.size());
  return sum;
}

/// Registers by which attempted schedules stay below the limit: pairs and vectors leave gaps, so colouring can need a
/// few more registers than are live at once. The last attempt keeps the original order.
constexpr unsigned margins[] = {0, 3, 6};

/// Longest function that is scheduled and allocated more than once.
constexpr std::size_t longest_retried = 4000;

/// A later attempt must cost less than this fraction of the best so far, because it hides less latency.
constexpr double worth_it = 0.99;

/// Schedules and allocates; where that spills, again with tighter schedules, and keeps the cheapest result.
AllocationResult allocate_scheduled(ir::Function& f, const AllocationOptions& options) {
  const ir::Function unscheduled = f;
  AllocationResult best;
  double best_cost = std::numeric_limits<double>::infinity();
  const auto attempt = [&](ir::Function g) {
    AllocationResult result = allocate_ordered(g, options);
    const bool spills = result.spilled_registers > 0;
    if (const double cost = weighted_length(g); cost < worth_it * best_cost) {
      best = std::move(result);
      best_cost = cost;
      f = std::move(g);
    }
    return spills && unscheduled.instruction_count() <= longest_retried;
  };
  for (unsigned margin : margins) {
    ir::Function g = unscheduled;
    ScheduleOptions s = options.target->schedule;
    s.max_registers = options.max_registers - margin;
    s.margin = margin;
    schedule(g, s);
    if (!attempt(std::move(g))) return best;
  }
  attempt(unscheduled);
  return best;
}

}  // namespace

AllocationResult allocate_registers(ir::Function& f, const AllocationOptions& options) {
  check(f, options);
  ir::build_edges(f);
  std::uint32_t merged = 0;
  if (options.cleanup) combine(f);
  if (shape_control_flow(f, *options.target).unrolled > 0 && options.cleanup) combine(f);
  // Base and index have become one instruction by now; what was an extension is a copy, to be combined again.
  if (options.narrow) narrow_addresses(f);
  if (options.cleanup) {
    if (options.narrow) combine(f);
    cleanup(f);
    if (sink_constants(f) > 0) cleanup(f);
  }
  select_instructions(f, *options.target);
  if (options.cleanup) {
    if (options.coalesce) merged = merge_copies(f, options.max_registers);
  }
  AllocationResult result = options.schedule ? allocate_scheduled(f, options) : allocate_ordered(f, options);
  result.removed_copies += merged;
#ifndef NDEBUG
  verify_allocation(result, f);
#endif
  return result;
}

}  // namespace regatta::passes

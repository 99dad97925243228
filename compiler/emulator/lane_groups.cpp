// SPDX-License-Identifier: Apache-2.0
//
// Divergence::barriers: the stack's order is left where the lanes that run wait for others of their warp. Groups of
// lanes are held at barriers and at instructions with member masks until those they wait for have come; a group that
// polls in vain lets the others run, and sends on those that wait to meet it.
#include "cta.h"

#include "diagnostics.h"

#include <algorithm>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

constexpr unsigned member_lanes = 32;  ///< of a member mask
/// Reads of the same values at the same addresses by the same instruction, one after the other, that count as a poll in
/// vain.
constexpr std::uint32_t most_polls = 16;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

/// Whether the two are the same operation but for their registers.
bool same_operation(const Op& a, const Op& b) {
  return a.kind == b.kind && a.op == b.op && a.type == b.type && a.shuffle == b.shuffle && a.vote == b.vote &&
         a.atomic == b.atomic;
}

}  // namespace

/// A group that waits at a .sync instruction.
struct CtaRunner::HeldGroup {
  const Op* op = nullptr;
  LaneMask lanes = 0;   ///< of the group
  LaneMask active = 0;  ///< that execute the instruction
};

LaneMask CtaRunner::awaited(const Warp& w, const Op& op, LaneMask active) const {
  if (op.kind == Kind::barrier) return active == w.live() ? 0 : w.can_reach_barrier(w.live() & ~active);
  if (is_aligned(op.kind)) return w.live() & ~active;
  const std::size_t operand = member_operand(op);
  if (operand == SIZE_MAX) return 0;
  LaneMask missing = 0;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint64_t members = get(w, op.values[operand], lane, false);
    missing |= (members << (lane / member_lanes * member_lanes)) & w.live() & ~active;
  }
  return missing;
}

bool CtaRunner::may_execute(Warp& w, const Op& op, LaneMask active) {
  if (w.polls_in_vain) {
    w.polls_in_vain = false;
    w.spun |= w.running();
    if (bring_up_next(w, w.spun)) return false;
  }
  if (active == 0) return true;
  const LaneMask missing = awaited(w, op, active);
  // Lanes that the guard has left out will not come: that is refused where the instruction is executed.
  if (missing == 0 || (missing & w.running()) != 0) {
    w.held &= ~w.running();
    return true;
  }
  w.held |= w.running();
  if (meet(w) || bring_up_next(w, w.spun)) return false;
  never_met(w, op, active, missing);
}

bool CtaRunner::bring_up_next(Warp& w, LaneMask unless) {
  const auto bring_up = [&](LaneMask not_those) {
    for (std::size_t e = 0; e + 1 < w.stack().size(); ++e) {
      if (!w.is_group(e) || (w.stack()[e].mask & (w.held | not_those)) != 0) continue;
      w.bring_up(e);
      return true;
    }
    return false;
  };
  return bring_up(unless) || w.release_waiting() || bring_up(0);
}

bool CtaRunner::try_others(Warp& w) {
  if (w.tried_epoch != spins_.epoch()) w.tried = 0;
  w.tried_epoch = spins_.epoch();
  w.tried |= w.running();
  for (std::size_t e = 0; e + 1 < w.stack().size(); ++e) {
    if (!w.is_group(e) || (w.stack()[e].mask & (w.held | w.tried)) != 0) continue;
    w.tried |= w.stack()[e].mask;
    w.bring_up(e);
    return true;
  }
  return w.release_waiting();
}

bool CtaRunner::meet(Warp& w) { return meet_for_exchange(w) || meet_at_barrier(w); }

bool CtaRunner::meet_at_barrier(Warp& w) {
  const std::uint32_t at = w.position();
  const bool is_barrier = program_.ops[at].kind == Kind::barrier;
  if (!is_barrier && !is_aligned(program_.ops[at].kind)) return false;
  LaneMask here = 0;
  for (std::size_t e = 0; e < w.stack().size(); ++e) {
    const StackEntry& entry = w.stack()[e];
    if (entry.pc != at || (entry.mask & w.held) == 0 || !w.is_group(e)) continue;
    // Those that a guard has left out make no group that comes as one.
    if (active_lanes(w, program_.ops[at], entry.mask) == entry.mask) here |= entry.mask;
  }
  const LaneMask absent = w.live() & ~here;
  if (here == w.running() || (is_barrier ? w.can_reach_barrier(absent) : absent) != 0) return false;
  w.held &= ~here;
  w.unite(here);
  return true;
}

std::vector<CtaRunner::HeldGroup> CtaRunner::held_groups(Warp& w) {
  std::vector<HeldGroup> groups;
  for (std::size_t e = 0; e < w.stack().size(); ++e) {
    const StackEntry& entry = w.stack()[e];
    if ((entry.mask & w.held) == 0 || !w.is_group(e)) continue;
    const Op& op = program_.ops[entry.pc];
    if (member_operand(op) == SIZE_MAX) continue;
    groups.push_back({&op, entry.mask, active_lanes(w, op, entry.mask)});
  }
  return groups;
}

bool CtaRunner::meet_for_exchange(Warp& w) {
  std::vector<HeldGroup> groups = held_groups(w);
  const auto mask_of = [&](const HeldGroup& g, unsigned lane) {
    return static_cast<std::uint32_t>(get(w, g.op->values[member_operand(*g.op)], lane, false));
  };
  const auto find = [&](unsigned lane) {
    return std::find_if(groups.begin(), groups.end(), [&](const HeldGroup& g) { return (g.active >> lane & 1u) != 0; });
  };
  const auto is_complete = [&](const HeldGroup& g) {
    for (LaneMask rest = g.active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
      const std::uint32_t members = mask_of(g, lane);
      const LaneMask others = (LaneMask{members} << (lane / member_lanes * member_lanes)) & w.live() & ~g.active;
      for (LaneMask more = others; more != 0; more &= more - 1) {
        const auto other = static_cast<unsigned>(__builtin_ctzll(more));
        const auto there = find(other);
        if (there == groups.end() || !same_operation(*g.op, *there->op) || mask_of(*there, other) != members) {
          return false;
        }
      }
    }
    return true;
  };
  // Those that are left all have whom they wait for among them.
  for (bool fewer = true; fewer;) {
    const auto missing =
        std::find_if(groups.begin(), groups.end(), [&](const HeldGroup& g) { return !is_complete(g); });
    fewer = missing != groups.end();
    if (fewer) groups.erase(missing);
  }
  if (groups.empty()) return false;
  exchange(w, groups);
  return true;
}

/// Each group executes its instruction, with the operands that all had before the first one did.
void CtaRunner::exchange(Warp& w, const std::vector<HeldGroup>& groups) {
  Exchange all;
  for (const HeldGroup& g : groups) {
    const Op& op = *g.op;
    all.lanes |= g.active;
    if (op.kind == Kind::vote) all.predicate |= read_predicate(w, op, op.predicates[0], g.active) & g.active;
    if (op.kind == Kind::vote || op.kind == Kind::warp_sync || op.kind == Kind::elect) continue;
    const bool wide = op.kind == Kind::match && ir::size_of(op.type) == 8;
    for (LaneMask rest = g.active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
      all.value[lane] = get(w, op.values[0], lane, wide);
    }
    const WrittenBytes written = written_bytes(w, op.values[0], 0);
    for (unsigned b = 0; b < 4; ++b) all.written[b] |= written[b] & g.active;
  }
  exchange_ = &all;
  for (const HeldGroup& g : groups) {
    w.bring_up(w.entry_of(static_cast<unsigned>(__builtin_ctzll(g.lanes))));
    w.held &= ~g.lanes;
    ++w.executed;
    if (spins_.watching()) spins_.executed(w.number(), w.position());
    counts_.thread_instructions += static_cast<unsigned>(__builtin_popcountll(g.active));
    if (w.encoder) w.encoder->instruction(w.position(), g.lanes, g.active);
    execute(w, *g.op, g.active);
    if (w.encoder) record(w, *g.op, g.active);
    w.advance();
  }
  exchange_ = nullptr;
}

void CtaRunner::never_met(const Warp& w, const Op& op, LaneMask active, LaneMask missing) const {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(missing));
  if (op.kind == Kind::barrier) barrier_under_divergence(w, op, active, lane);
  const std::uint32_t at = w.stack()[w.entry_of(lane)].pc;
  std::string text = "lane " + std::to_string(lane % member_lanes) + std::string(" of ") +
                     (is_aligned(op.kind) ? "the warp" : "its member mask") + " never comes: it waits";
  if (at < program_.ops.size()) {
    const ir::Instruction& there = *program_.ops[at].instruction;
    if ((w.held >> lane & 1u) != 0) text += " at '" + ir::opcode_text(there) + "'";
    text += " on line " + std::to_string(there.where.line);
  }
  fail(w, op, static_cast<unsigned>(__builtin_ctzll(active)), text + " for other lanes of the warp");
}

void CtaRunner::note_poll(Warp& w, const Op& op) {
  if (w.stack().size() == 1 || op.write_count == 0) return;
  if (op.kind == Kind::load && op.instruction->mod.order == ir::MemoryOrder::weak) return;
  std::uint64_t found = w.regs.active;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    found = mixed(found, w.regs.addresses.lane[lane]);
    for (unsigned n = 0; n < op.write_count; ++n) {
      found = mixed(found, w.regs.bank[0][op.writes[n] * program_.lanes + lane]);
    }
  }
  const std::uint32_t at = position(op);
  auto poll = std::find_if(w.polls.begin(), w.polls.end(), [&](const Warp::Poll& p) { return p.position == at; });
  if (poll == w.polls.end()) {
    poll = w.polls.begin() + w.next_poll;
    w.next_poll = (w.next_poll + 1) % w.polls.size();
  } else if (poll->found == found) {
    if (++poll->times < most_polls) return;
    w.polls_in_vain = true;
  }
  *poll = {at, 0, found};
}

}  // namespace regatta::emulator

// SPDX-License-Identifier: Apache-2.0
#include "pipelined_scoreboard.h"

#include <algorithm>

namespace regatta::sm {

namespace {

/// Cycles from the issue of an instruction of fixed latency to its dispatch, without waits: control, allocate, reads.
constexpr unsigned stages_before_window = 3;

void add_writes(protocol::RegisterSet& set, const InstructionTraits& t) {
  for (unsigned i = 0; i < t.write_count; ++i) set.add(t.writes[i]);
  set.predicates |= t.written_predicates;
}

void remove_writes(protocol::RegisterSet& set, const InstructionTraits& t) {
  for (unsigned i = 0; i < t.write_count; ++i) set.remove(t.writes[i]);
  set.predicates &= static_cast<std::uint8_t>(~t.written_predicates);
}

}  // namespace

PipelinedScoreboard::Readers& PipelinedScoreboard::readers(const Warp& w) {
  const std::size_t slot = w.info.warp.value();
  if (readers_.size() <= slot) readers_.resize(slot + 1);
  return readers_[slot];
}

WarpState PipelinedScoreboard::state(const Warp& w, const InstructionTraits& t) const {
  if (w.pending.intersects(t.accessed, t.accessed_predicates)) {
    return w.pending_long.intersects(t.accessed, t.accessed_predicates) ? WarpState::memory : WarpState::scoreboard;
  }
  const Readers* const r = find(w);
  if (r == nullptr) return WarpState::ready;
  for (unsigned i = 0; i < t.write_count; ++i) {
    if (r->registers.contains(t.writes[i])) return WarpState::scoreboard;
  }
  const bool fixed = !t.info->scheme.empty() || core_.fixed_latency[t.index];
  if (counts(t, fixed)) {
    for (unsigned i = 0; i < t.read_count; ++i) {
      if (r->count[t.reads[i].value()] >= core_.config.scoreboard.war_consumers) return WarpState::scoreboard;
    }
  }
  // Predicates are read at issue by all instructions.
  return !fixed && r->settling.intersects(t.accessed, 0) ? WarpState::scoreboard : WarpState::ready;
}

void PipelinedScoreboard::issued(Warp& w, DynamicInstruction& d) {
  const InstructionTraits& t = *d.traits;
  d.forwarded = d.sources_read = false;
  add_writes(w.pending, t);
  if (t.is_long_latency) add_writes(w.pending_long, t);
  if (!counts(t, core_.is_fixed(d))) return;
  Readers& r = readers(w);
  for (unsigned i = 0; i < t.read_count; ++i) {
    r.registers.add(t.reads[i]);
    ++r.count[t.reads[i].value()];
  }
}

void PipelinedScoreboard::allocated(Warp&, DynamicInstruction& d, Cycle dispatch) {
  const InstructionTraits& t = *d.traits;
  if (!forwards_ || (t.write_count == 0 && t.written_predicates == 0)) return;
  // An instruction that issues then is dispatched when the result is there.
  const std::uint64_t ahead = core_.config.sub_core.window + stages_before_window;
  const std::uint64_t there = dispatch.value() + t.latency;
  schedule(Step::forward, Cycle(std::max(core_.now.value() + 1, there - ahead)), d);
}

Warp& PipelinedScoreboard::due(std::uint32_t value) {
  DynamicInstruction& d = core_.pool[value & ((1u << step_shift) - 1)];
  Warp& w = core_.warp(d.warp);
  protocol::RegisterSet& settling = readers(w).settling;
  if (value >> step_shift == Step::settle) {
    remove_writes(settling, *d.traits);
    return w;
  }
  d.forwarded = true;
  remove_writes(w.pending, *d.traits);
  add_writes(settling, *d.traits);
  schedule(Step::settle, core_.now + 1, d);
  return w;
}

void PipelinedScoreboard::sources_read(Warp& w, DynamicInstruction& d) {
  if (d.sources_read) return;
  d.sources_read = true;
  Readers& r = readers(w);
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    if (--r.count[d.traits->reads[i].value()] == 0) r.registers.remove(d.traits->reads[i]);
  }
}

void PipelinedScoreboard::retired(Warp& w, DynamicInstruction& d) {
  const InstructionTraits& t = *d.traits;
  if (!d.forwarded) {
    remove_writes(w.pending, t);
    if (t.is_long_latency) remove_writes(w.pending_long, t);
  }
  // One that a reuse point bypassed has read nothing.
  if (counts(t, core_.is_fixed(d))) sources_read(w, d);
}

}  // namespace regatta::sm

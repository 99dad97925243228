// SPDX-License-Identifier: Apache-2.0
//
// Reports what a program that never ends waits for, and which thread would have to write it.
#include "cta.h"
#include "diagnostics.h"
#include "memory_space.h"

#include <cstring>
#include <map>

namespace regatta::emulator {

using trace::LaneMask;
using trace::MemorySpace;

void CtaRunner::watch_read(const Warp& w, const Op& op) {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(w.regs.active));
  const std::uint64_t address = w.regs.addresses.lane[lane];
  const MemorySpace space = space_of(op, address);
  // No other thread writes to the other memory spaces.
  if (space != MemorySpace::global && space != MemorySpace::shared) return;
  spins_.reads(w.number(), op, position(op), lane, address);
}

bool CtaRunner::changes_memory(Warp& w, const Op& op) {
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const Place at = resolve(w, op, lane, Use::write);
    for (unsigned v = 0; v < op.vector; ++v) {
      const std::uint64_t value = get(w, op.values[v], lane, op.element_bytes == 8);
      if (std::memcmp(at.data + std::size_t{v} * op.element_bytes, &value, op.element_bytes) != 0) return true;
    }
  }
  return false;
}

std::string CtaRunner::polled_text(const Warp& w, const SpinWatch::Poll& poll) const {
  const Op& op = program_.ops[poll.position];
  if (op.kind == Kind::mbarrier_wait) {
    return "it waits for " + mbarrier_text(static_cast<std::uint32_t>(poll.address)) + " (warp " +
           std::to_string(w.number()) + ")";
  }
  const MemorySpace space = space_of(op, poll.address);
  const std::uint64_t offset = offset_in(op, space, poll.address);
  std::string text = op.kind == Kind::atomic ? "its atomic at " : "it reads ";
  std::uint64_t value = 0;
  const std::size_t bytes = op.element_bytes;
  if (space == MemorySpace::shared) {
    text += "shared offset " + std::to_string(offset);
    for (const ir::SharedVariable& v : f_.shared_variables) {
      if (offset < v.offset || (v.bytes != 0 && offset - v.offset >= v.bytes)) continue;
      text += ", " + std::to_string(offset - v.offset) + " bytes into '" + v.name + "',";
    }
    std::memcpy(&value, shared_.data() + offset, bytes);
  } else {
    text += "global address " + hex_text(poll.address) + ", " + memory_.describe(poll.address) + ",";
    std::size_t hint = 0;
    if (const Allocation* a = memory_.find(poll.address, hint))
      std::memcpy(&value, a->data.data() + (offset - a->base), bytes);
  }
  text += op.kind == Kind::atomic ? " finds " : " as ";
  text += std::to_string(value);
  if (op.kind == Kind::atomic) text += " and leaves it";
  return text + " each time (warp " + std::to_string(w.number()) + ")";
}

/// The lanes of a warp that wait for those that run, by the line at which they go on.
std::string CtaRunner::waiting_lanes_text(const Warp& w) const {
  std::map<std::uint32_t, LaneMask> waiting;
  const LaneMask running = w.running();
  for (LaneMask rest = w.live() & ~running; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    waiting[w.resume_position(lane)] |= LaneMask{1} << lane;
  }
  std::string text;
  for (const auto& [at, lanes] : waiting) {
    const auto first = static_cast<unsigned>(__builtin_ctzll(lanes));
    const int count = __builtin_popcountll(lanes);
    text += (text.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? " lane" : " lanes") + " (thread " +
            triple_text(unflatten(w.first_thread() + first, request_.block)) +
            (count == 1 ? ") waits" : " first) wait") + " on line " +
            std::to_string(program_.ops[at].instruction->where.line);
  }
  return text;
}

void CtaRunner::endless(const Launched& launched) {
  // A warp that polls explains the most.
  const Warp* speaker = nullptr;
  unsigned stuck = 0;
  for (const auto& w : warps_) {
    if (w->state == WarpState::done || !spins_.is_stuck(w->number())) continue;
    ++stuck;
    const bool better = speaker == nullptr || (!spins_.poll(speaker->number()).found && spins_.poll(w->number()).found);
    if (better) speaker = w.get();
  }
  const Warp& w = *speaker;
  const SpinWatch::Poll& poll = spins_.poll(w.number());
  std::string text = "endless loop: ";
  if (poll.found) {
    text += polled_text(w, poll) + (program_.ops[poll.position].kind == Kind::mbarrier_wait
                                        ? ", and nobody arrives there any more"
                                        : ", and nobody can write there any more");
  } else {
    text += "warp " + std::to_string(w.number()) +
            " goes round with the same registers and reads nothing that others "
            "could change";
  }
  const std::string lanes = waiting_lanes_text(w);
  if (!lanes.empty()) {
    text += "; of its own warp, " + lanes;
    if (!independent_) {
      text +=
          " until these lanes leave the loop (the lanes of a warp have one program counter here; --divergence barriers "
          "gives them their own)";
    }
  }
  if (stuck > 1) text += "; " + std::to_string(stuck) + " warps of the CTA loop so";
  const std::string others = waiting_text();
  if (!others.empty()) text += "; " + others;
  if (launched.stuck > 1) text += "; " + std::to_string(launched.stuck) + " CTAs loop so";
  const std::uint64_t ctas = std::uint64_t{request_.grid[0]} * request_.grid[1] * request_.grid[2];
  const std::uint64_t later = ctas - launched.started;
  if (poll.found && later != 0) {
    text += "; " + std::to_string(later) + (later == 1 ? " CTA has" : " CTAs have") + " not started, from " +
            triple_text(unflatten(launched.started, request_.grid)) + " on: ";
    text += launched.resident == 1
                ? "CTAs run one after another to their end (--concurrent-ctas fit runs them together)"
                : std::to_string(launched.resident) + " CTAs are resident at a time";
  }
  const Op& op = program_.ops[poll.found ? poll.position : w.position()];
  const auto lane = poll.found ? poll.lane : static_cast<unsigned>(__builtin_ctzll(w.running()));
  fail(w, op, lane, text);
}

}  // namespace regatta::emulator

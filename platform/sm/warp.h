// SPDX-License-Identifier: Apache-2.0
//
// What an SM keeps per resident warp and per resident CTA.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/observer.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace regatta::sm {

using protocol::CtaSlot;
using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::InstructionTraits;
using protocol::LaneMask;
using protocol::WarpMask;
using protocol::WarpSlot;
using protocol::WarpState;

/// A long wait: what a scheduling policy and the stall status of a CTA go by.
inline bool waits_long(WarpState state) { return state == WarpState::memory || state == WarpState::barrier; }

/// An instruction that has been fetched: its static side only, the trace's values are decoded when it is tried first.
struct FetchedInstruction {
  const InstructionTraits* traits = nullptr;
  Cycle fetched;
};

/// Inserted instructions on their way to the decode point, all in front of one instruction.
struct FetchedInsertions {
  std::uint32_t first = 0;  ///< of the front end's list
  std::uint32_t count = 0;
  std::uint64_t sequence = 0;  ///< of the instruction behind them
};

/// What every cycle looks at comes first.
struct Warp {
  static constexpr std::uint8_t nobody = 0xff;
  bool resident = false;
  bool waiting = false;        ///< its CTA is resident, and the residency policy has not admitted it
  bool launching = false;      ///< it is resident, and the launcher has not come to it: it is in no scheduler
  bool active = false;         ///< its CTA is scheduled
  bool fetching = false;       ///< a fetch is on its way
  bool line_pending = false;   ///< waits for a line of the instruction or constant cache
  bool fetch_blocked = false;  ///< behind a branch or exit that has not issued
  bool decode_full = false;    ///< next comes an inserted instruction for which the decode point had no room
  bool at_barrier = false;
  bool closed = false;       ///< gates keep it: not offered to them
  bool paused = false;       ///< a gate refuses it until a known cycle: not offered either
  bool kept_active = false;  ///< it waits for memory, and the scheduling policy was not told
  bool exited = false;       ///< the exit that ends the stream has issued
  WarpState state = WarpState::absent;
  std::uint8_t scheduler = 0;
  std::uint8_t local = 0;                           ///< index inside its scheduler while active
  std::uint8_t refused_by = nobody;                 ///< gate that refused its next instruction when last asked
  protocol::Unit bound_for = protocol::Unit::none;  ///< unit of the next instruction when last ready
  std::uint16_t in_flight = 0;                      ///< issued, not retired
  std::uint16_t memory_in_flight = 0;               ///< memory instructions issued, accesses or results outstanding
  std::uint16_t accesses_made = 0;                  ///< of these, those that have left the address stage
  // Instruction buffer: a ring of fetched instructions; the first `buffered` of `held` have arrived.
  std::uint16_t head = 0;
  std::uint16_t held = 0;
  std::uint16_t buffered = 0;
  std::vector<FetchedInstruction> buffer;
  DynamicInstruction* next = nullptr;  ///< the head of the buffer once decoded, until it issues

  protocol::RegisterSet pending;                    ///< registers with a result on its way
  protocol::RegisterSet pending_long;               ///< of these, results of long-latency memory instructions
  std::uint64_t code_line = ~std::uint64_t{0};      ///< of the instruction cache, fetched from last
  std::uint64_t constant_line = ~std::uint64_t{0};  ///< of the constant cache, used last
  trace::PathCursor path;                           ///< what is fetched next
  trace::WarpCursor cursor;                         ///< what issues next
  std::uint32_t closed_by = 0;                      ///< gates that said they keep the warp closed, a bit each
  std::uint32_t edges_done = 0;        ///< inserted instructions on edges from the path's present one, settled
  std::uint32_t insertions_done = 0;   ///< inserted instructions in front of the path's next one that are fetched
  bool cursor_ahead = false;           ///< the cursor is at an instruction that is not decoded yet
  std::uint64_t fetched_sequence = 0;  ///< of the instruction fetched last
  std::vector<FetchedInsertions> insertions;  ///< of the fetch on its way
  std::uint64_t sequence = 0;                 ///< of the program's instruction decoded last
  std::uint8_t priority_class = 0;            ///< a policy's (SmControl::classify)
  trace::StackCursor stack;                   ///< steps on when a policy looks
  std::uint64_t cluster_phase = 0;            ///< of its cluster's barrier: where it has arrived, until it goes on
  // For the report of a deadlock.
  Cycle last_issued;    ///< the warp issued an instruction of the program, or was launched
  Cycle refused_since;  ///< `refused_by` began to refuse
  Cycle closed_since;   ///< gates began to keep the warp closed
  Cycle fetch_since;    ///< the fetch began to wait for a line or for the decode point
  protocol::WarpInfo info;

  /// Empty again, but for the memory of its lists.
  void reset() {
    std::vector<FetchedInstruction> kept = std::move(buffer);
    std::vector<FetchedInsertions> kept_insertions = std::move(insertions);
    kept_insertions.clear();
    *this = Warp{};
    buffer = std::move(kept);
    insertions = std::move(kept_insertions);
  }
  /// Memory instructions issued that have not left the address stage.
  bool has_accesses_to_make() const { return memory_in_flight != accesses_made; }
  const FetchedInstruction* front() const { return buffered != 0 ? &buffer[head] : nullptr; }
  /// It waits, and its next instruction is a fence.
  bool waits_at_fence() const { return state == WarpState::memory && buffered != 0 && buffer[head].traits->is_fence; }
  void push(const InstructionTraits& traits, Cycle now) {
    std::size_t at = std::size_t{head} + held;
    if (at >= buffer.size()) at -= buffer.size();
    buffer[at] = FetchedInstruction{&traits, now};
    ++held;
  }
  void pop() {
    head = static_cast<std::uint16_t>(head + 1u == buffer.size() ? 0 : head + 1);
    --held;
    --buffered;
    next = nullptr;
  }
};

/// Arrivals at one named barrier of a CTA.
struct Barrier {
  unsigned arrived_warps = 0;
  unsigned arrived_threads = 0;
  unsigned threads_expected = 0;  ///< 0: every running warp of the CTA
  Cycle taken;                    ///< the barrier unit has taken the last arrival then, with sm.barrier_interval
  std::vector<WarpSlot> waiting;
};
inline constexpr unsigned barriers_per_cta = 16;

struct ResidentCta {
  bool resident = false;
  bool active = false;
  bool stalled = false;
  protocol::CtaPhase phase = protocol::CtaPhase::active;
  bool steer_loads = false;  ///< while it drains: loads under way are not waited for
  Cycle context_until;       ///< its context is on the way to or from shared memory until then
  Cycle switched;            ///< it was switched out
  protocol::CtaInfo info;
  std::shared_ptr<const trace::Cta> trace;
  std::vector<WarpSlot> warps;  ///< that have started
  unsigned waiting = 0;         ///< warps that have not started
  unsigned unfinished = 0;      ///< warps that have not ended
  unsigned running = 0;         ///< warps that have instructions left to issue: what a barrier waits for
  std::array<Barrier, barriers_per_cta> barriers;
  std::uint64_t cluster_phase = 1;           ///< of the barrier of its cluster, from 1
  std::vector<WarpSlot> at_cluster_barrier;  ///< warps that wait there
  Cycle launched;
  std::uint64_t age = 0;  ///< launch order

  /// Empty again, but for the memory of its lists. A CTA ends with its barriers open.
  void reset() {
    std::vector<WarpSlot> kept = std::move(warps);
    kept.clear();
    std::array<Barrier, barriers_per_cta> opened = std::move(barriers);
    for (Barrier& b : opened) {
      b.waiting.clear();
      b.arrived_warps = b.arrived_threads = b.threads_expected = 0;
      b.taken = Cycle();
    }
    *this = ResidentCta{};
    warps = std::move(kept);
    barriers = std::move(opened);
  }
};

}  // namespace regatta::sm

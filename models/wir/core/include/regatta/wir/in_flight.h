// SPDX-License-Identifier: Apache-2.0
//
// What travels with a warp instruction through the stages of warp instruction reuse: their pipeline registers.
#pragma once

#include <regatta/wir/references.h>
#include <regatta/wir/static_code.h>

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

/// Positions of an instruction in the register allocation stage, in order.
enum class AllocationPhase : std::uint8_t {
  arriving,
  indexing,
  looking,
  verifying,
  written_elsewhere,
  granting,
  entering,
  moving,
  done
};

/// A warp instruction from issue to retirement. The first cache line holds the fields that every stage uses.
struct alignas(64) InFlight {
  bool live = false;
  bool renamed = false;    ///< the registers of its sources are known
  bool asking = false;     ///< the answer of the reuse buffer is to come
  bool reusable = false;   ///< may look up and update the reuse buffer
  bool keeps = false;      ///< without pending-retry: holds its sources until its entry is created, at retirement
  bool claimed = false;    ///< with pending-retry: an entry was claimed for it
  bool divergent = false;  ///< a lane is switched off
  AllocationPhase phase = AllocationPhase::arriving;
  ReuseKind kind = ReuseKind::none;
  bool wide_immediate = false;  ///< StaticCode's
  protocol::Unit unit = protocol::Unit::none;
  std::uint16_t held = 0;        ///< a bit per source that has not been read yet
  std::uint8_t writes = 0;       ///< a bit per destination that goes to a bank
  std::uint8_t in_place = 0;     ///< a bit per destination that overwrites its present register
  std::uint8_t equal = 0;        ///< a bit per destination whose candidate has the value
  std::uint8_t asked = 0;        ///< a bit per destination whose signature, or cached value, was looked up
  std::uint8_t awaited = 0;      ///< a bit per answer to come
  std::uint8_t open = 0;         ///< a bit per destination that needs a register, of a request that was accepted
  std::uint8_t taken = 0;        ///< registers that came from the pool
  std::uint64_t renamed_at = 0;  ///< the earliest cycle of its lookup
  std::array<PhysicalRegister, trace::max_source_registers> sources;       ///< parallel to traits->reads
  std::array<PhysicalRegister, trace::max_destination_registers> targets;  ///< parallel to info->destinations
  std::array<PhysicalRegister, trace::max_destination_registers> candidates;
  /// Of the registers taken from the pool: cycles until its port gives them out.
  std::array<std::uint16_t, trace::max_destination_registers> port_waits{};
  std::uint64_t asked_at = 0;  ///< the cycle of the verify-read's request
  ReuseTag tag;
  std::uint32_t fold = 0;  ///< of the tag
  std::array<std::uint32_t, trace::max_destination_registers> hashes{};
  const protocol::DynamicInstruction* instruction = nullptr;  ///< whose this is
};

/// The instruction has read its sources, or will not read them.
inline void end_holds(References& references, InFlight& f) {
  for (; f.held != 0; f.held &= static_cast<std::uint16_t>(f.held - 1)) {
    references.end_hold(f.sources[static_cast<unsigned>(__builtin_ctz(f.held))]);
  }
}

/// One per instruction in flight, by its index in the SM's pool.
class InFlightTable {
 public:
  InFlight& of(const protocol::DynamicInstruction& d) { return all_[d.pool_index]; }
  const InFlight& of(const protocol::DynamicInstruction& d) const { return all_[d.pool_index]; }
  InFlight& operator[](std::uint32_t pool_index) { return all_[pool_index]; }
  const InFlight& operator[](std::uint32_t pool_index) const { return all_[pool_index]; }
  /// A new record for an instruction that issues.
  InFlight& enter(const protocol::DynamicInstruction& d) {
    if (__builtin_expect(static_cast<int>(all_.size() <= d.pool_index), 0) != 0) {
      all_.resize(std::size_t{d.pool_index} + 64);
    }
    InFlight& f = all_[d.pool_index];
    f.live = true;
    f.instruction = &d;
    f.renamed = f.asking = f.reusable = f.keeps = f.claimed = f.divergent = false;
    f.phase = AllocationPhase::arriving;
    f.kind = ReuseKind::none;
    f.held = f.writes = f.in_place = f.equal = 0;
    f.asked = f.awaited = f.open = f.taken = 0;
    f.renamed_at = 0;
    f.targets.fill(no_register);
    f.candidates.fill(no_register);
    return f;
  }
  static void leave(InFlight& f) { f.live = false; }
  /// The references of instructions in flight: to a source until it is read, to a candidate until it is verified, to a
  /// target until it is in the rename table.
  void count(ReferenceCounts& counts) const;

 private:
  std::vector<InFlight> all_;
};

}  // namespace regatta::models::wir

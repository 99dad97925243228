// SPDX-License-Identifier: Apache-2.0
//
// A warp instruction on its way through an SM: what every extension point is shown.
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>

namespace regatta::protocol {

/// The kind of pipeline an instruction runs on.
enum class Unit : std::uint8_t { none, sp, sfu, dp, lsu };
inline constexpr unsigned unit_count = 5;
const char* to_string(Unit u);

/// 256 general registers and 8 predicates of a warp as bits; what a scoreboard compares.
struct RegisterSet {
  std::array<std::uint64_t, 4> general{};
  std::uint8_t predicates = 0;

  void add(RegisterId r) { general[r.value() >> 6] |= std::uint64_t{1} << (r.value() & 63); }
  void remove(RegisterId r) { general[r.value() >> 6] &= ~(std::uint64_t{1} << (r.value() & 63)); }
  bool contains(RegisterId r) const { return (general[r.value() >> 6] >> (r.value() & 63)) & 1; }
  bool intersects(const RegisterSet& o) const {
    return ((general[0] & o.general[0]) | (general[1] & o.general[1]) | (general[2] & o.general[2]) |
            (general[3] & o.general[3])) != 0 ||
           (predicates & o.predicates) != 0;
  }
  bool empty() const { return (general[0] | general[1] | general[2] | general[3]) == 0 && predicates == 0; }
};

/// What a machine derives once from a static instruction. One per static instruction of the running kernel.
struct InstructionTraits {
  const trace::StaticInstruction* info = nullptr;
  std::uint32_t index = 0;  ///< static index
  Unit unit = Unit::sp;
  std::uint16_t latency = 1;     ///< cycles from entering the unit to write-back
  std::uint16_t initiation = 1;  ///< cycles before the unit takes another instruction
  std::uint8_t read_count = 0;   ///< distinct general registers read
  std::array<RegisterId, trace::max_source_registers> reads{};
  RegisterSet accessed;  ///< all registers and predicates read or written, the guard included
  RegisterSet written;
  bool is_control = false;  ///< fetch waits behind it: branch or exit
  bool is_barrier = false;
  bool is_fence = false;
  bool is_exit = false;
  bool is_memory = false;        ///< goes through the load-store unit
  bool has_addresses = false;    ///< the trace holds an address per active lane
  bool is_long_latency = false;  ///< its result comes from beyond the SM: global, local, generic, atomic
};

/// Where a delivered operand came from: a literal and an index, "bank" 3. For messages; costs no allocation.
struct Origin {
  const char* place = "nowhere";
  std::uint32_t index = 0;
};

/// One source register of an instruction, as delivered by the operand storage.
struct DeliveredOperand {
  WarpValue value;
  Origin origin;
};

/// One warp instruction in flight. Lives in a pool of the SM from fetch to retirement; pointers to it are
/// valid that long. Results are the ones the program computed (from the trace); operands are what the
/// storage delivered. Models may read all of it and write only what their interface's contract says.
struct DynamicInstruction {
  const InstructionTraits* traits = nullptr;
  const trace::StaticInstruction* info = nullptr;
  std::uint32_t pool_index = 0;  ///< constant per pool entry: a key for side tables
  WarpSlot warp;
  CtaSlot cta;
  std::uint8_t scheduler = 0;
  bool bypassed = false;       ///< a reuse point supplied the results
  LaneMask simt_mask = 0;      ///< lanes on the path
  LaneMask active = 0;         ///< lanes that execute (path and guard)
  std::uint64_t sequence = 0;  ///< position in the warp's program order, from 1
  Cycle fetched, issued, dispatched, completed;

  std::uint8_t operands_pending = 0;                                   ///< reads the storage has not answered
  std::uint16_t accesses_pending = 0;                                  ///< memory accesses not answered
  std::uint8_t writes_pending = 0;                                     ///< destination writes not finished
  std::array<DeliveredOperand, trace::max_source_registers> operands;  ///< parallel to traits->reads
  std::array<WarpValue, trace::max_destination_registers> results;     ///< parallel to info->destinations
  std::array<LaneMask, trace::max_destination_predicates> predicate_results{};
  std::array<std::uint64_t, trace::max_lanes> addresses;  ///< bytes, active lanes of memory instructions
};

}  // namespace regatta::protocol

// SPDX-License-Identifier: Apache-2.0
//
// A warp instruction on its way through an SM, as every extension point sees it.
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/trace/kernel.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::protocol {

/// The kind of pipeline an instruction runs on.
enum class Unit : std::uint8_t { none, sp, sfu, dp, tensor, lsu };
inline constexpr unsigned unit_count = 6;
const char* to_string(Unit u);

/// 256 general registers as bits.
using GeneralRegisters = std::array<std::uint64_t, 4>;

inline void add(GeneralRegisters& set, unsigned r) { set[r >> 6] |= std::uint64_t{1} << (r & 63); }
inline void remove(GeneralRegisters& set, unsigned r) { set[r >> 6] &= ~(std::uint64_t{1} << (r & 63)); }
inline bool contains(const GeneralRegisters& set, unsigned r) { return ((set[r >> 6] >> (r & 63)) & 1) != 0; }
inline void add(GeneralRegisters& set, RegisterId r) { add(set, r.value()); }
inline void remove(GeneralRegisters& set, RegisterId r) { remove(set, r.value()); }
inline bool contains(const GeneralRegisters& set, RegisterId r) { return contains(set, r.value()); }

/// 256 general registers, 7 predicates and the carry (the last bit) of a warp; what a scoreboard compares.
struct RegisterSet {
  GeneralRegisters general{};
  std::uint8_t predicates = 0;

  void add(RegisterId r) { protocol::add(general, r); }
  void remove(RegisterId r) { protocol::remove(general, r); }
  bool contains(RegisterId r) const { return protocol::contains(general, r); }
  bool intersects(const GeneralRegisters& g, std::uint8_t p) const {
    return ((general[0] & g[0]) | (general[1] & g[1]) | (general[2] & g[2]) | (general[3] & g[3]) |
            static_cast<std::uint64_t>(predicates & p)) != 0;
  }
  bool intersects(const RegisterSet& o) const { return intersects(o.general, o.predicates); }
  bool empty() const { return (general[0] | general[1] | general[2] | general[3]) == 0 && predicates == 0; }
};

/// What a machine derives once from a static instruction: everything that the pipeline needs, in one cache line,
/// because every stage reads it in every cycle; only matrix products read registers of the second. One per static
/// instruction of the running kernel.
struct alignas(64) InstructionTraits {
  const trace::StaticInstruction* info = nullptr;
  GeneralRegisters accessed{};   ///< general registers read or written
  std::uint32_t index = 0;       ///< static index
  std::uint16_t latency = 1;     ///< cycles from entering the unit to write-back
  std::uint16_t initiation = 1;  ///< cycles before the unit takes another instruction
  bool is_control : 1;           ///< fetch waits behind it: branch or exit
  bool is_barrier : 1;
  bool is_arrival : 1;  ///< a barrier that counts the warp without making it wait (bar.arrive)
  bool is_fence : 1;
  bool is_exit : 1;
  bool is_memory : 1;                    ///< goes through the load-store unit
  bool has_addresses : 1;                ///< the trace holds an address per active lane
  bool is_long_latency : 1;              ///< its result comes from beyond the SM: global, local, generic, atomic
  Unit unit = Unit::sp;                  ///< none: reads and writes no general register
  std::uint8_t accessed_predicates = 0;  ///< predicates read or written, including the guard; last bit: carry
  std::uint8_t written_predicates = 0;
  std::uint8_t read_count = 0;   ///< distinct general registers read
  std::uint8_t write_count = 0;  ///< general registers written: the destinations of `info`
  std::array<RegisterId, trace::max_destination_registers> writes{};
  std::array<RegisterId, trace::max_source_registers> reads{};

  InstructionTraits()
      : is_control(false),
        is_barrier(false),
        is_arrival(false),
        is_fence(false),
        is_exit(false),
        is_memory(false),
        has_addresses(false),
        is_long_latency(false) {}
};

static_assert(offsetof(InstructionTraits, reads) + trace::max_plain_source_registers <= 64, "one cache line");

/// Where a delivered operand came from: a literal and an index, "bank" 3. For messages; costs no allocation.
struct Origin {
  const char* place = "nowhere";
  std::uint32_t index = 0;
};

/// The owner of the queue in which an instruction waits between two stages.
enum class KeptBy : std::uint8_t { nobody, reuse_point, writeback_point };

/// One warp instruction in flight. It lives in a pool of the SM from its first attempt to issue to its retirement, and
/// pointers to it are valid that long. Results are those of the program (from the trace); operands are those delivered
/// by the storage. Models may read everything and write only what the contract of their interface permits.
/// The first cache line holds the fields that every stage uses.
struct alignas(64) DynamicInstruction {
  const InstructionTraits* traits = nullptr;
  const trace::StaticInstruction* info = nullptr;
  LaneMask active = 0;  ///< lanes that execute (path and guard)
  Cycle completed;
  std::uint32_t pool_index = 0;  ///< constant per pool entry: a key for side tables
  WarpSlot warp;
  CtaSlot cta;
  std::uint8_t scheduler = 0;
  bool bypassed = false;              ///< a reuse point supplied the results
  bool injected = false;              ///< a gate's move or an inserted instruction (`info->scheme` names its scheme),
                                      ///< not part of the program; `traits->index` is that of the instruction behind it
  bool affine_addresses = false;      ///< `addresses` holds all lanes, with one stride
  std::uint8_t operands_pending = 0;  ///< reads not yet answered by the storage
  std::uint8_t writes_pending = 0;    ///< destination writes not finished
  std::uint16_t accesses_pending = 0;  ///< memory accesses not answered
  std::array<LaneMask, trace::max_destination_predicates> predicate_results{};

  LaneMask simt_mask = 0;  ///< lanes on the path
  KeptBy kept_by = KeptBy::nobody;
  bool forwarded = false;      ///< a bypass leads its results to later instructions: these wait for it no more
  bool sources_read = false;   ///< later instructions may write its source registers
  std::uint8_t pipeline = 0;   ///< of those of its scheduler, where the operand path reserves one (sub-cores)
  std::uint64_t sequence = 0;  ///< position in the warp's program order, from 1; of an injected one, that of the next
  Cycle fetched, issued, dispatched;
  std::array<Origin, trace::max_source_registers> origins;          ///< of the operands
  std::array<WarpValue, trace::max_source_registers> operands;      ///< parallel to traits->reads, as delivered
  std::array<WarpValue, trace::max_destination_registers> results;  ///< parallel to info->destinations
  std::array<std::uint64_t, trace::max_lanes> addresses;            ///< bytes, active lanes of memory instructions
  /// What the instruction leaves in shared memory: trace::shared_write_words(*info) words of trace::shared_lanes().
  /// Only if the trace's kernel has shared values and the SM's Core::stored_values is set; the addresses are then
  /// known.
  std::array<WarpValue, trace::max_stored_words> stored;
  /// Of a texture or surface access, whose `addresses` are those of each lane's first texel: how many more each lane
  /// has, and trace::max_lanes addresses for each of them. trace::no_texel: it lies in no memory.
  unsigned further_texels = 0;
  std::vector<std::uint64_t> texels;
  const std::uint64_t* texel(unsigned n) const {
    return n == 0 ? addresses.data() : texels.data() + std::size_t{n - 1} * trace::max_lanes;
  }
};

/// True if it takes part in a barrier. An instruction whose guard switches all lanes off does not.
inline bool reaches_barrier(const DynamicInstruction& d) { return d.traits->is_barrier && d.active != 0; }
/// True if its warp waits there for others, until IssueGate::barrier_opened(). A mere arrival does not wait.
inline bool waits_at_barrier(const DynamicInstruction& d) { return reaches_barrier(d) && !d.traits->is_arrival; }

}  // namespace regatta::protocol

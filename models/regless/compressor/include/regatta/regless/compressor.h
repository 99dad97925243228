// SPDX-License-Identifier: Apache-2.0
//
// The compressor of RegLess (MICRO 2017, section 5.3), between a shard of the operand staging units and the L1. Values
// with certain patterns are stored 15 to a line; the compressor caches lines, which move to and from the L1 as a whole.
#pragma once

#include <regatta/cosim/twin.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/regless/patterns.h>
#include <regatta/regless/register_map.h>
#include <regatta/regless/staging_unit.h>
#include <regatta/regless/units.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/ring.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Sizes and times of the compressor of one shard.
struct CompressorConfig {
  bool enabled = true;          ///< false: the assembly omits it
  unsigned lines = 16;          ///< Table 1, which also says 48 in an SM: of four shards, 12 each
  unsigned lookup_latency = 1;  ///< cycles: bit vector (section 5.3)
  unsigned expand_latency = 2;  ///< cycles after that: tags and expansion
  unsigned match_latency = 2;   ///< cycles to match a value on its way to memory ("similar delay")
  unsigned queue = 8;           ///< requests held at a time
  unsigned fetches = 2;         ///< lines fetched from the L1 at a time
  cosim::TwinOptions units;     ///< of the matcher and the expander (units.h)
  unsigned refuse_answers = 0;  ///< of 1000 cycles, those in which answers of RTL are not taken; a test of the RTL

  /// Knobs compressor.*.
  void declare(support::OptionSet& options);
  void validate(const RegisterSpace& space) const;
};

/// One read or write per cycle. It has a queue of `queue` requests; if the queue is full, requests are answered
/// TLM_ACCEPTED.
///
///   register_read        bit clear: forwarded to the L1. Bit set: the slot is expanded; a missing line is fetched
///                        first. `last_read` clears the bit.
///   register_write       answered when accepted. A value without a pattern is forwarded to the L1 and clears the bit;
///                        others are written to their slot. A missing line is fetched if it holds other compressed
///                        registers, and starts empty otherwise.
///   register_invalidate  answered when accepted. Bit set: cleared; otherwise forwarded to the L1.
///
/// The matcher is asked when a write is accepted, the expander when a read is performed. Both may answer late: a write
/// is performed when its pattern is known, and a read is answered when its lanes are, neither before the latencies of
/// the configuration.
///
/// Lines are replaced in LRU order and written back if dirty, unless none of their registers is still compressed.
/// Requests for one register stay in order; requests for others pass one that waits for its line.
class Compressor final : public sc_core::sc_module,
                         public BackingStore,
                         public support::StatProvider,
                         protocol::LookupClient<CompressedValue>,
                         protocol::LookupClient<WarpValue>,
                         tlm::tlm_fw_transport_if<>,
                         tlm::tlm_bw_transport_if<> {
 public:
  protocol::MemoryTargetSocket upstream;
  protocol::MemoryInitiatorSocket downstream;
  protocol::LookupInitiator<WarpValue, CompressedValue> matcher;
  protocol::LookupInitiator<CompressedValue, WarpValue> expander;

  /// `shard`: which of space.shards.
  Compressor(const sc_core::sc_module_name& name, const CompressorConfig& config, const RegisterSpace& space,
             unsigned shard, support::ClockDomain& clock);

  void warp_started(protocol::WarpSlot warp) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  /// Whether the register is compressed.
  bool is_compressed(protocol::WarpSlot warp, protocol::RegisterId reg) const;
  /// "" or what is wrong with bits, counts and lines. For tests.
  std::string check() const;
  /// Nothing is queued or in flight.
  bool idle() const;

 private:
  using Payload = tlm::tlm_generic_payload;
  enum class Matching : std::uint8_t { unasked, asked, known };
  /// An accepted request. Reads keep the initiator's payload; the others use one of ours, with a copy of the bytes.
  struct Operation {
    Payload* payload = nullptr;
    protocol::MemoryAccess* extension = nullptr;  ///< of the payload
    std::uint64_t ready = 0;
    std::uint32_t reg = 0;  ///< its place in the shard's register order
    protocol::AccessClass access = protocol::AccessClass::register_read;
    protocol::Supplier supplier = protocol::Supplier::compressor;  ///< who had the line
    Matching matching = Matching::unasked;                         ///< of a write
    std::uint32_t tag = 0;                                         ///< of the request to the matcher
    bool late = false;                                             ///< the matcher did not answer at once
    std::uint64_t asked = 0;                                       ///< the cycle of the request to it
    std::uint64_t waits_since = 0;                                 ///< for its line
    CompressedValue value;                                         ///< its answer
  };
  struct Line {
    enum class State : std::uint8_t { empty, fetching, valid };
    State state = State::empty;
    bool dirty = false;
    std::uint32_t number = 0;  ///< among the shard's lines
    std::uint64_t used = 0;    ///< for the order of replacement
    unsigned pins = 0;         ///< operations that waited for it and have not been performed
    std::array<unsigned char, compressed_line_bytes> bytes{};
    std::vector<Operation> waiting;  ///< for the fetch
  };
  struct Timed {
    Payload* payload = nullptr;
    std::uint64_t ready = 0;
  };
  /// An answer to the staging unit.
  struct Answer {
    Payload* payload = nullptr;
    std::uint64_t ready = 0;
    std::uint32_t tag = 0;   ///< of the request to the expander
    bool expanding = false;  ///< the lanes are not known yet
  };
  enum class Done : std::uint8_t { yes, waits_for_line, no_place, no_fetch, no_way_out, next_cycle };

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time&) override;
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  void answered(std::uint32_t tag, const CompressedValue& value) override;
  void answered(std::uint32_t tag, const WarpValue& lanes) override;
  void ask_matcher(Operation& operation);
  void ask_matcher_again();
  void work();
  void take_held(std::uint64_t now);
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;
  bool has_room() const { return inside_ < config_.queue; }
  protocol::AccessClass take(Payload& payload, std::uint64_t ready);
  Done perform(Operation& operation, std::uint64_t now);
  Done perform_read(Operation& operation, std::uint64_t now);
  Done perform_write(Operation& operation, std::uint64_t now);
  Done perform_invalidate(Operation& operation, std::uint64_t now);
  bool waits_behind(Line& line, const Operation& operation) const;
  void wait_for(Line& line, const Operation& operation) {
    line.waiting.push_back(operation);
    line.waiting.back().waits_since = clock_.now();
    ++line.pins;
  }
  static std::uint32_t line_number(std::uint32_t reg) { return reg / line_slots; }
  /// The line of that number; null when it is not inside.
  Line* find(std::uint32_t number) { return inside_at_[number] == no_line ? nullptr : &lines_[inside_at_[number]]; }
  std::uint64_t address_of(std::uint32_t number) const {
    return first_line_ + std::uint64_t{number} * compressed_line_bytes;
  }
  Line* make_place(std::uint64_t now);
  Done need_line(Operation& operation, std::uint64_t now, bool empty_will_do, Line*& line);
  void set_bit(std::uint32_t reg, bool value);
  bool bit(std::uint32_t reg) const { return bits_[reg]; }
  bool has_out_room() const { return out_.size() + 2 <= out_places_; }
  void unblock();
  void send(std::uint64_t now);
  void sent(Payload& payload, std::uint64_t when);
  void fill(Payload& payload);
  void respond(std::uint64_t now);
  void respond_with(Payload& payload, std::uint64_t now, std::uint64_t at);
  std::uint64_t cycles(const sc_core::sc_time& delay) const { return clock_.cycles(delay); }

  const protocol::MemoryRequestRules rules_;
  const protocol::AnswerRules answer_rules_;
  const CompressorConfig config_;
  const RegisterSpace space_;
  support::ClockDomain& clock_;
  RegisterMap map_;
  std::uint64_t first_line_;  ///< where in memory the shard's compressed lines begin
  unsigned shard_warps_;      ///< from a warp's register to its next in the shard's register order
  std::size_t out_places_;
  std::vector<bool> bits_;             ///< "is compressed", by place in the shard's register order
  std::uint32_t highest_ = 0;          ///< no register above it was ever compressed
  std::vector<std::uint8_t> in_line_;  ///< compressed registers of each line
  std::vector<Line> lines_;
  std::vector<std::uint16_t> inside_at_;  ///< where in lines_ a line is, by its number
  static constexpr std::uint16_t no_line = 0xffff;
  std::uint64_t uses_ = 0;
  unsigned fetching_ = 0;
  protocol::MemoryPayloadPool pool_;

  support::Ring<Operation> queue_;    ///< in order of arrival
  support::Ring<Operation> resumed_;  ///< whose line has come
  unsigned inside_ = 0;               ///< operations in it, those that wait for lines included
  bool blocked_ = false;              ///< the next operation waits for a line, a fetch or the way out
  Done blocked_by_ = Done::yes;       ///< the reason, since blocked_at_
  std::uint64_t blocked_at_ = 0;
  Payload* held_ = nullptr;  ///< the request that waits for room
  std::uint64_t held_at_ = 0;
  support::Ring<Timed> out_;       ///< to the L1, in order
  Payload* unanswered_ = nullptr;  ///< sent to the L1, END_REQ to come
  std::uint64_t next_send_ = 0;
  support::Ring<Timed> fills_;     ///< lines that have come
  support::Ring<Answer> answers_;  ///< to the staging unit, ours, in the order in which they are due
  support::Ring<Timed> passing_;   ///< the same, of the L1
  Payload* answering_ = nullptr;   ///< END_RESP to come
  std::uint64_t next_answer_ = 0;
  std::uint32_t next_tag_ = 0;
  unsigned unasked_ = 0;  ///< writes in the queue that the matcher refused
  support::CycleClient wakeup_;

  std::array<std::uint64_t, pattern_count> matched_{};
  std::uint64_t lookups_ = 0, hits_ = 0, misses_ = 0, fetched_ = 0, started_empty_ = 0, written_back_ = 0, dropped_ = 0;
  std::uint64_t place_cycles_ = 0, fetch_cycles_ = 0, way_cycles_ = 0, line_cycles_ = 0;
  std::uint64_t expanded_ = 0, cleared_ = 0, blocked_count_ = 0, held_count_ = 0, filled_ = 0, slot_writes_ = 0,
                matches_ = 0;
};

}  // namespace regatta::models

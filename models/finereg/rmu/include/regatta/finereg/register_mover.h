// SPDX-License-Identifier: Apache-2.0
//
// The access logic of FineReg's register management unit (MICRO 2018, sections V-C and V-E).
#pragma once

#include <regatta/finereg/cta_registers.h>
#include <regatta/finereg/operations.h>
#include <regatta/finereg/pending_entries.h>
#include <regatta/finereg/pending_tables.h>
#include <regatta/finereg/register_counter.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// A move reads the live registers of the CTA that leaves, one per cycle, and writes them to entries of the pending
/// file, chained in that order. The registers of a CTA that comes back are read along its chain, the first after
/// `entry_latency` cycles, then one per cycle, and written to the place in the register file. Both directions go on at
/// the same time, each through a buffer of one register; both yield to operands and results at the banks.
///
/// In an exchange, the two CTAs have the same place. A register that comes back waits until the one in its row has
/// left, which then goes next; so an exchange needs no free entry beyond the one that the returning register frees.
///
/// Loads in flight (specification C5): a result for a CTA whose registers are away, or are on their way, is merged into
/// its entry if the register is live, and dropped otherwise. This is a write-back point.
class RegisterMover final : public sc_core::sc_module,
                            public RegisterTransfer,
                            public protocol::WritebackPoint,
                            public support::StatProvider,
                            tlm::tlm_bw_transport_if<> {
 public:
  sc_core::sc_export<RegisterTransfer> transfer;
  protocol::OperandInitiatorSocket file_reads;
  protocol::OperandInitiatorSocket file_writes;
  sc_core::sc_port<CtaPlaces> places;
  sc_core::sc_port<PendingEntries> pending;
  sc_core::sc_port<FreeEntries> free_space;
  sc_core::sc_port<ChainPointers> pointers;
  sc_core::sc_port<LiveSets> live_sets;

  RegisterMover(const sc_core::sc_module_name& name, unsigned entry_latency, unsigned most_away,
                support::ClockDomain& clock);
  /// A twin of the unit, which gets the operations from now on; null: none.
  void set_twin(RmuTwin* twin) { twin_ = twin; }

  bool keeps_cycle_time() const override { return true; }
  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;
  void kernel_finished(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override { whereabouts_[cta.cta.value()] = Where::scheduled; }
  void cta_switched(const protocol::CtaInfo& cta, bool active) override;
  void cta_finished(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override { alive_[warp.warp.value()] = true; }
  void warp_finished(const protocol::WarpInfo& warp) override { alive_[warp.warp.value()] = false; }

  // RegisterTransfer
  unsigned most_away(const protocol::KernelContext&, const protocol::SmLimits&) override { return most_away_; }
  std::uint64_t registers_wanted(const protocol::KernelContext& context, unsigned pending) const override;
  void set_registers(std::uint64_t registers) override;
  Room room_for(protocol::CtaSlot out, std::optional<protocol::CtaSlot> in) const override;
  void move(std::optional<protocol::CtaSlot> out, std::optional<protocol::CtaSlot> in) override;
  bool moving() const override { return moving_; }
  const sc_core::sc_event& ended() const override { return ended_; }
  // WritebackPoint
  const sc_core::sc_event& changed() const override { return changed_; }
  Decision decide(protocol::DynamicInstruction& d, unsigned destination) override {
    const Where where = whereabouts_[d.cta.value()];
    return __builtin_expect(static_cast<int>(where == Where::scheduled), 1) != 0 ? Decision::write
                                                                                 : steer(d, destination, where);
  }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  /// For the report of a deadlock: the move under way, "" if there is none.
  std::string describe_stuck() const;
  /// The move under way, and all chains: a line for each.
  std::string describe_chains() const;
  /// "", or what is wrong with chains, flags and counts: an entry in two chains or in none, a chain that does not end.
  /// For tests; between moves.
  std::string check() const;
  const std::uint64_t& moved_out() const { return moved_out_; }

 private:
  using CtaSlot = protocol::CtaSlot;
  using WarpSlot = protocol::WarpSlot;
  enum class Where : std::uint8_t {
    scheduled,  ///< the CTA is active, or never was switched out
    in_file,    ///< switched out, its registers are in the register file
    leaving,
    away,
    entering
  };
  /// A warp register on its way.
  struct Moved {
    WarpSlot warp;
    std::uint8_t reg = 0;
    friend bool operator==(const Moved& a, const Moved& b) { return a.warp == b.warp && a.reg == b.reg; }
    friend bool operator!=(const Moved& a, const Moved& b) { return !(a == b); }
  };
  static constexpr std::uint16_t no_entry = 0xffff;
  static constexpr unsigned warp_registers = 64;

  static std::uint64_t bit(unsigned reg) { return std::uint64_t{1} << reg; }
  std::uint16_t& entry_of(WarpSlot warp, unsigned reg) { return entries_[warp.value() * warp_registers + reg]; }
  std::uint16_t entry_of(WarpSlot warp, unsigned reg) const { return entries_[warp.value() * warp_registers + reg]; }
  WarpSlot warp_of(CtaSlot cta, unsigned i) const {
    return WarpSlot(static_cast<std::uint16_t>(cta.value() * warps_per_cta_ + i));
  }
  [[gnu::noinline]] Decision steer(protocol::DynamicInstruction& d, unsigned destination, Where where);
  Decision merge(const protocol::DynamicInstruction& d, unsigned destination, std::uint16_t entry);
  Decision keep_early(const protocol::DynamicInstruction& d, unsigned destination);
  /// What a result waits for.
  enum class For : std::uint8_t { port, move };
  Decision wait(For what);

  void work();
  void restore(std::uint64_t now);
  void write_restored(std::uint64_t now);
  void evict(std::uint64_t now);
  void read_register(const Moved& moved, std::uint64_t now);
  void landed(std::uint64_t when);
  /// The next register of out_ that has to leave; none when none is left.
  std::optional<Moved> next_left();
  unsigned lowest_left(WarpSlot warp, std::uint64_t left);
  void append(WarpSlot warp, unsigned reg, const trace::WarpValue& value);
  void finish(std::uint64_t now);
  void drop_entries(CtaSlot cta);
  PendingChain chain_of(CtaSlot cta) const;
  /// Free entries that are spoken for: of the register that is being read, and of one that has to leave next.
  unsigned reserved_entries() const;
  [[gnu::noinline]] void check_tag(WarpSlot warp, unsigned reg, std::uint16_t entry) const;
  [[gnu::noinline]] void complain(const std::string& what) const;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  const protocol::AnswerRules answer_rules_{file_reads, file_writes};
  support::ClockDomain& clock_;
  support::CycleClient wakeup_;
  support::CycleEvent changed_, ended_;
  CtaPlaces* places_ = nullptr;
  PendingEntries* pending_ = nullptr;
  FreeEntries* free_ = nullptr;
  ChainPointers* pointers_ = nullptr;
  LiveSets* live_ = nullptr;
  const unsigned entry_latency_;
  const unsigned most_away_;
  unsigned in_use_ = 0;  ///< entries of the pending file in this launch
  unsigned warps_per_cta_ = 1;
  unsigned warp_size_ = 32;

  std::vector<Where> whereabouts_;   ///< by CTA slot
  std::vector<bool> alive_;          ///< by warp slot
  std::vector<std::uint64_t> kept_;  ///< by warp slot: registers that are live, of a CTA that leaves or is away
  std::vector<std::uint64_t> left_;  ///< by warp slot: of these, still in the register file
  /// Results that came before their register was read from the file, and the lanes that they have.
  struct Early {
    Moved moved;
    protocol::LaneMask lanes = 0;
  };
  std::vector<Early> early_;
  std::vector<std::uint16_t> entries_;  ///< by warp slot and register: where it is in the pending file

  // The move under way.
  bool moving_ = false;
  std::optional<CtaSlot> out_, in_;
  std::uint64_t begun_ = 0, done_ = 0;
  unsigned left_count_ = 0;                  ///< registers of out_ still in the register file
  unsigned evict_warp_ = 0;                  ///< of out_, where the decoder is
  std::optional<WarpSlot> decoded_;          ///< whose registers the twin's decoder has
  std::optional<Moved> displaced_;           ///< of out_, which has to leave next
  PendingChain chain_;                       ///< of out_, as far as it is made
  std::uint16_t last_entry_ = no_entry;      ///< of that chain
  std::optional<std::uint16_t> next_entry_;  ///< of in_, to be read next
  unsigned to_restore_ = 0;
  std::optional<Moved> buffer_;  ///< the register of in_ that was read and is not written
  trace::WarpValue restored_;
  bool write_held_ = false;
  std::optional<Moved> reading_;  ///< the read that waits for its bank
  trace::WarpValue evicted_;
  protocol::OperandPayload read_, write_;
  bool result_waits_ = false;
  bool port_wanted_ = false;        ///< by the result that waits
  std::uint64_t yields_until_ = 0;  ///< the pending file's port is left to results

  std::uint64_t moves_ = 0, move_cycles_ = 0, moved_out_ = 0, moved_in_ = 0;
  std::uint64_t merged_ = 0, early_results_ = 0, dead_ = 0, waits_ = 0;
  RmuTwin* twin_ = nullptr;
};

}  // namespace regatta::models

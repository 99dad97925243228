// SPDX-License-Identifier: Apache-2.0
//
// Registers of pending CTAs in DRAM: the Reg+DRAM comparator of FineReg (MICRO 2018, section VI-A), after Zorua
// (Vijaykumar et al., MICRO 2016).
#pragma once

#include <regatta/baseline/memory_requester.h>
#include <regatta/finereg/cta_registers.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

struct RegisterSpillConfig {
  unsigned ctas = 4;       ///< D: CTAs of an SM whose registers can be in memory at a time; 0 is Virtual Thread
  unsigned requests = 32;  ///< lines under way at a time
  unsigned results = 16;   ///< results of loads of such CTAs that are kept at a time on their way to memory

  /// Knobs reg_dram.*.
  void declare(support::OptionSet& options);
};

/// A move writes all registers of the CTA that leaves to memory, past the L1, live or not, and reads all of the CTA
/// that comes back. The place of the CTA that leaves can be used when its last register is written.
///
/// The result of a load for a CTA whose registers are away is merged into the line in memory (a read and a write), or
/// into the register on its way back. A bounded number of them is kept meanwhile; others hold write-back.
class RegisterSpill final : public sc_core::sc_module,
                            public RegisterTransfer,
                            public protocol::WritebackPoint,
                            public support::StatProvider,
                            tlm::tlm_bw_transport_if<>,
                            MemoryRequesterClient {
 public:
  sc_core::sc_export<RegisterTransfer> transfer;
  protocol::OperandInitiatorSocket file_reads;
  protocol::OperandInitiatorSocket file_writes;
  sc_core::sc_port<CtaPlaces> places;

  RegisterSpill(const sc_core::sc_module_name& name, const RegisterSpillConfig& config, const LineMemory& memory,
                support::ClockDomain& clock);

  protocol::MemoryInitiatorSocket& memory() { return memory_.socket; }

  bool keeps_cycle_time() const override { return true; }
  void end_of_elaboration() override { places_ = places.operator->(); }
  void attach(protocol::SmControl& control) override { control_ = &control; }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override { whereabouts_[cta.cta.value()] = Where::scheduled; }
  void cta_switched(const protocol::CtaInfo& cta, bool active) override {
    whereabouts_[cta.cta.value()] = active ? Where::scheduled : Where::in_file;
  }
  void cta_finished(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override { alive_[warp.warp.value()] = true; }
  void warp_finished(const protocol::WarpInfo& warp) override { alive_[warp.warp.value()] = false; }

  // RegisterTransfer
  unsigned most_away(const protocol::KernelContext&, const protocol::SmLimits&) override { return config_.ctas; }
  Room room_for(protocol::CtaSlot, std::optional<protocol::CtaSlot> in) const override {
    return away_ < config_.ctas + (in ? 1 : 0) ? Room::yes : Room::no;
  }
  void move(std::optional<protocol::CtaSlot> out, std::optional<protocol::CtaSlot> in) override;
  bool moving() const override { return step_ != Step::none; }
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

 private:
  using CtaSlot = protocol::CtaSlot;
  using WarpSlot = protocol::WarpSlot;
  enum class Where : std::uint8_t { scheduled, in_file, leaving, away, entering };
  enum class Step : std::uint8_t { none, settling, leaving, entering };
  /// A warp register: its slot in the file, or in memory.
  struct Place {
    WarpSlot warp;
    std::uint8_t reg = 0;
    bool operator==(const Place& o) const { return warp == o.warp && reg == o.reg; }
  };
  /// A result on its way to a register in memory, or on its way back from there.
  struct Result {
    enum class State : std::uint8_t { free, queued, reading, writing, held };
    State state = State::free;
    Place place;
    protocol::LaneMask lanes = 0;
    trace::WarpValue value;
  };

  std::uint64_t address(const Place& p) const {
    return base_ + (std::uint64_t{p.warp.value()} * 256 + p.reg) * line_bytes_;
  }
  CtaSlot cta_of(WarpSlot warp) const { return CtaSlot(static_cast<std::uint16_t>(warp.value() / warps_per_cta_)); }
  [[gnu::noinline]] Decision steer(protocol::DynamicInstruction& d, unsigned destination, Where where);
  Decision keep(const protocol::DynamicInstruction& d, unsigned destination, Result::State state);
  /// The order in which the registers of a CTA move: by warp, then by number.
  bool next_of(CtaSlot cta, Place& place) const;
  bool passed(const Place& place, const Place& next) const {
    return place.warp.value() < next.warp.value() || (place.warp == next.warp && place.reg < next.reg);
  }
  void work();
  void leave(std::uint64_t now);
  void enter(std::uint64_t now);
  void serve_results();
  void landed();
  void write_next(std::uint64_t now);
  void finish(std::uint64_t now);
  static void merge(const Result& result, std::uint32_t* lanes);

  void memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  const RegisterSpillConfig config_;
  const unsigned line_bytes_;
  const protocol::AnswerRules answer_rules_{file_reads, file_writes};
  support::ClockDomain& clock_;
  MemoryRequester memory_;
  support::CycleClient wakeup_;
  support::CycleEvent changed_, ended_;
  CtaPlaces* places_ = nullptr;
  protocol::SmControl* control_ = nullptr;
  protocol::WarpContext context_;
  std::uint64_t base_;
  unsigned warps_per_cta_ = 1, registers_ = 0, warp_size_ = 32;

  std::vector<Where> whereabouts_;  ///< by CTA slot
  std::vector<bool> alive_;         ///< by warp slot
  std::vector<bool> moved_;         ///< by warp slot: its registers move, or have moved
  std::vector<unsigned> merging_;   ///< by CTA slot: results on their way to its lines
  std::vector<Result> results_;
  unsigned away_ = 0;  ///< CTAs

  Step step_ = Step::none;
  std::optional<CtaSlot> out_, in_;
  Place next_;  ///< register that leaves, or is asked for, next
  std::uint64_t begun_ = 0, done_ = 0;
  unsigned under_way_ = 0;        ///< lines of the move in memory requests
  std::optional<Place> reading_;  ///< the read of the file that waits
  trace::WarpValue evicted_;      ///< read from the file
  trace::WarpValue returned_;     ///< on its way into the file
  /// Lines that have come, in order of arrival, to be written to the file.
  struct Arrived {
    Place place;
    trace::WarpValue value;
  };
  support::Ring<Arrived> arrived_;
  std::vector<std::uint64_t> restored_;  ///< by warp in the CTA: registers of in_ that are in the file (4 words each)
  bool write_held_ = false;
  bool result_waits_ = false;
  protocol::OperandPayload read_, write_;

  std::uint64_t moves_ = 0, move_cycles_ = 0, written_ = 0, read_back_ = 0;
  std::uint64_t merged_ = 0, held_results_ = 0, waits_ = 0;
};

}  // namespace regatta::models

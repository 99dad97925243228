// SPDX-License-Identifier: Apache-2.0
//
// The operand staging unit (RegLess, MICRO 2017, section 5.2): a small store that replaces the register file and holds
// the registers of the warps whose regions are running. Other registers go to memory through the compressor and the L1
// and return before they are needed.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/regless/osu_bank.h>
#include <regatta/regless/register_map.h>
#include <regatta/regless/staging_unit.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Sizes and times of one SM's staging units.
struct OsuConfig {
  unsigned entries = 512;            ///< warp registers of one SM, over all shards and banks (section 6.2)
  unsigned banks = 8;                ///< banks per shard (section 5.2)
  unsigned latency = 1;              ///< cycles of a bank access
  unsigned arbitration = 1;          ///< cycles from a read's request to the earliest access
  unsigned write_queue = 8;          ///< cycles of work at which a bank accepts no more writes
  unsigned writeback_buffer = 4;     ///< evicted lines of a shard that wait to leave for memory
  unsigned request_queue = 8;        ///< requests of a shard that wait to leave for memory
  unsigned backed_registers = 2048;  ///< warp registers that memory backs for resident warps

  /// Knobs osu.*.
  void declare(support::OptionSet& options);
  void validate(const RegisterSpace& space) const;
  unsigned lines_per_bank(const RegisterSpace& space) const { return entries / space.shards / banks; }
  BankShape bank_shape(const RegisterSpace& space) const { return {lines_per_bank(space), space.warps_per_shard()}; }
  /// Of the units of all shards.
  support::ArrayGeometry geometry(const RegisterSpace& space) const;
};

class OsuShard;

/// Routes the operands of an SM to the shard of their warp: warp slot modulo shards, as warps are assigned to
/// schedulers. A shard is a child module `shard0`, ... with its banks as children `bank0`, ...
///
/// A bank serves one access (a read or a write) per cycle, in order of arrival, and looks up one tag per cycle; the
/// finishing time is known when a request arrives, so it is answered with TLM_COMPLETED and a delay. Preloads,
/// invalidations and evictions use the remaining cycles. A write to a bank with too much queued work is answered
/// TLM_ACCEPTED, and BEGIN_RESP follows; reads are bounded by the collectors' entries and never held.
///
/// A read of a register that is not staged delivers a poison pattern with the origin "not staged": the value checker
/// stops the run. So does a read of a line that was never written.
class Osu final : public sc_core::sc_module,
                  public protocol::OperandStorage,
                  public support::StatProvider,
                  tlm::tlm_fw_transport_if<> {
 public:
  Osu(const sc_core::sc_module_name& name, const OsuConfig& config, const RegisterSpace& space,
      support::ClockDomain& clock);
  ~Osu() override;

  protocol::OperandTargetSocket reads;
  protocol::OperandTargetSocket writes;

  /// Number of shards.
  unsigned shards() const { return space_.shards; }
  /// The control side of a shard, for the capacity manager of its warp scheduler.
  StagingUnit& shard(unsigned s);
  /// Where a shard reads and writes lines that it does not hold: to the compressor or the L1.
  protocol::MemoryInitiatorSocket& memory(unsigned s);
  /// Who stands between a shard and memory and is to be told when a warp slot gets another warp.
  void connect_below(unsigned s, BackingStore& below);
  /// A bank of a shard, which may be given a twin of its tags and lists before anything happens.
  OsuBank& bank(unsigned s, unsigned bank);

  protocol::OperandTargetSocket& read_socket() override { return reads; }
  protocol::OperandTargetSocket& write_socket() override { return writes; }
  bool keeps_cycle_time() const override { return true; }
  std::uint64_t capacity_registers() const override { return config_.backed_registers; }
  void kernel_started(const protocol::KernelContext& context) override;
  /// Registers live in regions here, not in a warp's own rows: a budget is nothing to it.
  std::string budget_obstacle() const override { return {}; }
  bool has_places_for_warps() const override { return false; }
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  /// "" or the first inconsistency in the lists, tags and counts of any shard. For tests: it checks everything.
  std::string check() const;
  /// Nothing is queued or in flight to memory.
  bool idle() const;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  /// The location of a warp's registers, needed in every access.
  struct Home {
    OsuShard* shard;
    std::uint16_t warp;  ///< its number in the shard
  };
  const Home& home_of(protocol::WarpSlot warp) const {
    if (warp.value() >= homes_.size()) refuse(warp);
    return homes_[warp.value()];
  }
  [[noreturn, gnu::noinline, gnu::cold]] void refuse(protocol::WarpSlot warp) const;
  [[gnu::noinline]] void hold(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access, const Home& home,
                              const sc_core::sc_time& delay);
  void release_held();

  protocol::OperandRequestRules rules_;
  OsuConfig config_;
  RegisterSpace space_;
  support::ClockDomain& clock_;
  std::vector<std::unique_ptr<OsuShard>> shards_;
  std::vector<Home> homes_;                   ///< by warp slot
  tlm::tlm_generic_payload* held_ = nullptr;  ///< the write that waits for room
  support::CycleClient room_;                 ///< runs when there is
  std::uint64_t held_writes_ = 0;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// The operand staging unit (RegLess, MICRO 2017, section 5.2): a small store that replaces the register file and holds
// the registers of the warps whose regions are running. Other registers go to memory through the compressor and the L1
// and return before they are needed.
#pragma once

#include <regatta/models/operand_staging/bank_twin.h>
#include <regatta/models/staging/staging_unit.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Sizes and times of one SM's staging units.
struct OperandStagingConfig {
  unsigned entries = 512;            ///< warp registers of one SM, over all shards and banks (section 6.2)
  unsigned banks = 8;                ///< banks per shard (section 5.2)
  unsigned latency = 1;              ///< cycles of a bank access
  unsigned arbitration = 1;          ///< cycles from a read's request to the earliest access
  unsigned write_queue = 8;          ///< cycles of work at which a bank accepts no more writes
  unsigned writeback_buffer = 4;     ///< evicted lines of a shard that wait to leave for memory
  unsigned request_queue = 8;        ///< requests of a shard that wait to leave for memory
  unsigned backed_registers = 2048;  ///< warp registers that memory backs for resident warps

  // Set by the assembly.
  unsigned shards = 4;        ///< one per warp scheduler (sm.schedulers)
  unsigned warps = 64;        ///< warp slots of the SM (sm.warps)
  unsigned sm = 0;            ///< index of the SM: names its register space in memory
  unsigned line_bytes = 128;  ///< of the L1; a warp register is one line

  /// Knobs osu.*.
  void declare(support::OptionSet& options);
  void validate() const;
  unsigned lines_per_bank() const { return entries / shards / banks; }
  BankShape bank_shape() const { return {lines_per_bank(), (warps + shards - 1) / shards}; }
};

class StagingShard;

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
class OperandStaging final : public sc_core::sc_module,
                             public protocol::OperandStorage,
                             public support::StatProvider,
                             tlm::tlm_fw_transport_if<> {
 public:
  OperandStaging(const sc_core::sc_module_name& name, const OperandStagingConfig& config,
                 sc_core::sc_time clock_period);
  ~OperandStaging() override;

  protocol::OperandTargetSocket reads;
  protocol::OperandTargetSocket writes;

  /// Number of shards.
  unsigned shards() const { return config_.shards; }
  /// The control side of a shard, for the capacity manager of its warp scheduler.
  StagingUnit& shard(unsigned s);
  /// Where a shard reads and writes lines that it does not hold: to the compressor or the L1.
  protocol::MemoryInitiatorSocket& memory(unsigned s);
  /// Who stands between a shard and memory and is to be told when a warp slot gets another warp.
  void connect_below(unsigned s, BackingStore& below);
  /// Tags and lists of a shard's bank get a twin, before anything happens. All banks get one, or none does.
  void connect_twin(unsigned s, unsigned bank, BankTwin& twin);
  /// Those tags and lists as text, for the report of a difference.
  std::string describe_bank(unsigned s, unsigned bank) const;

  protocol::OperandTargetSocket& read_socket() override { return reads; }
  protocol::OperandTargetSocket& write_socket() override { return writes; }
  bool keeps_cycle_time() const override { return true; }
  std::uint64_t capacity_registers() const override { return config_.backed_registers; }
  void kernel_started(const protocol::KernelContext& context) override;
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
    StagingShard* shard;
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

  OperandStagingConfig config_;
  support::CycleScheduler& clock_;
  std::vector<std::unique_ptr<StagingShard>> shards_;
  std::vector<Home> homes_;                   ///< by warp slot
  tlm::tlm_generic_payload* held_ = nullptr;  ///< the write that waits for room
  support::CycleClient room_;                 ///< runs when there is
  std::uint64_t held_writes_ = 0;
};

}  // namespace regatta::models

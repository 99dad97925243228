// SPDX-License-Identifier: Apache-2.0
//
// The capacity managers of an SM (RegLess, MICRO 2017, section 5.1): one shard per warp scheduler decides which warps'
// regions have their registers staged. To the pipeline they are a gate, which closes the warps whose region is not
// active, and a decode point, which removes the region words from the instruction stream.
#pragma once

#include <regatta/regless/capacity_shard.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>

#include <memory>
#include <systemc>
#include <vector>

namespace regatta::models {

class CapacityManager final : public sc_core::sc_module,
                              public protocol::IssueGate,
                              public protocol::GateReporter,
                              public protocol::DecodePoint,
                              public support::StatProvider {
 public:
  /// `shards`: one per warp scheduler; a warp belongs to shard slot modulo shards.
  CapacityManager(const sc_core::sc_module_name& name, const CapacityManagerConfig& config, unsigned shards,
                  support::ClockDomain& clock);
  ~CapacityManager() override;

  /// To be bound to the staging unit of the same shard, which must have trace::region_banks banks.
  sc_core::sc_port<StagingUnit>& staging(unsigned shard) { return shards_[shard]->staging; }
  const CapacityShard& shard(unsigned index) const { return *shards_[index]; }
  unsigned shards() const { return static_cast<unsigned>(shards_.size()); }
  /// One line per warp that waits here, for the report of a deadlock.
  std::string describe_stuck() const;
  /// Sums over all shards.
  RegionCounters regions() const;

  bool keeps_cycle_time() const override { return true; }
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  void written_back(const protocol::DynamicInstruction& instruction) override;
  void barrier_opened(const protocol::WarpInfo& warp) override;
  void connect(protocol::GateListener& listener) override;
  /// Throws support::ConfigError for a kernel whose words are missing or malformed, or whose regions need more lines of
  /// a bank than exist or more words at a time than a warp can store.
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  std::string scheme() const override { return trace::region_scheme; }
  unsigned room(protocol::WarpSlot warp) const override { return of(warp).room(warp); }
  void decoded(const protocol::WarpInfo& warp, std::uint32_t inserted, std::uint64_t sequence) override {
    of(warp.warp).decoded(warp.warp, inserted, sequence);
  }
  /// Notified when there is room for more region words. When a staging unit has lines again for refused instructions,
  /// the gate's listener is called instead.
  const sc_core::sc_event& changed() const override { return room_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  CapacityShard& of(protocol::WarpSlot warp) const { return *shards_[by_shards_.remainder(warp.value())]; }
  void count_resident(int change);

  support::ClockDomain& clock_;
  support::SmallDivisor by_shards_;
  RegionTable table_;
  support::CycleEvent room_;
  std::vector<std::unique_ptr<CapacityShard>> shards_;
  unsigned resident_ = 0;
  std::uint64_t resident_since_ = 0;
  std::uint64_t resident_cycles_ = 0;
};

}  // namespace regatta::models

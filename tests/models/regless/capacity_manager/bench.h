// SPDX-License-Identifier: Apache-2.0
//
// A capacity manager between a hand-driven pipeline and staging units that acknowledge on demand.
#pragma once

#include <regatta/regless/capacity_manager.h>
#include <regatta/test/catch.h>

#include "fake_staging.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::test {

/// One region of a kernel made by hand.
struct RegionSpec {
  trace::RegionWords words;                         ///< `uses` decides the number of instructions
  std::vector<std::vector<std::uint8_t>> writes{};  ///< general registers, per instruction (none where it is shorter)
  std::vector<std::vector<std::uint8_t>> reads{};
  enum class End : std::uint8_t { plain, branch, barrier, exit } end = End::plain;
};

/// A region of `instructions` without marks that needs `lines` lines of bank 0 and preloads `preloads`.
RegionSpec region_of(unsigned instructions, unsigned lines, std::vector<std::uint8_t> preloads = {});

class Bench : public protocol::GateListener {
 public:
  struct Told {
    std::uint64_t cycle = 0;
    unsigned warp = 0;
    bool closed = false;
  };
  explicit Bench(
      const std::vector<RegionSpec>& regions, const models::CapacityManagerConfig& config = {},
      unsigned lines_per_bank = 16, unsigned shards = 1, std::function<unsigned()> delay = [] { return 1u; });

  void closed(protocol::WarpSlot warp, bool is_closed) override;
  void pause(protocol::WarpSlot, protocol::Cycle) override { ++pauses; }
  void reconsider(protocol::Cycle at) override { asked_again.push_back(at.value()); }
  ~Bench() override;
  std::uint64_t now() const { return clock_.now(); }
  /// Calls `f` in cycle `cycle`, after the manager's own work of that cycle.
  void at(std::uint64_t cycle, std::function<void()> f);
  /// Until nothing is left to happen.
  void run();
  /// Tells the manager of the kernel; before run().
  void start_kernel() { manager->kernel_started(context); }

  protocol::WarpInfo info(unsigned warp) const;
  void start_warp(unsigned warp);
  void finish_warp(unsigned warp) { manager->warp_finished(info(warp)); }
  /// Hands over all words before static instruction `index`, which comes as `sequence`. False: no room for all.
  bool decode(unsigned warp, std::uint32_t index, std::uint64_t sequence);
  /// The warp's dynamic instruction `sequence` is static instruction `index`. Both sides hear of its issue.
  void issue(unsigned warp, std::uint32_t index, std::uint64_t sequence, bool guarded_off = false);
  bool may_issue(unsigned warp, std::uint32_t index, std::uint64_t sequence);
  void write_back(unsigned warp, std::uint32_t index, std::uint64_t sequence);

  /// The cycles in which the warp was opened.
  std::vector<std::uint64_t> openings(unsigned warp) const;
  bool is_closed(unsigned warp) const { return closed_.at(warp); }
  models::CapacityShard::State state(unsigned warp) const {
    return manager->shard(warp % manager->shards()).state(protocol::WarpSlot(static_cast<std::uint16_t>(warp)));
  }
  /// The stack of shard 0, the top last.
  std::vector<unsigned> stack() const;
  /// First static instruction of a region.
  std::uint32_t first(unsigned region) const { return firsts_[region]; }

  static const sc_core::sc_time period;
  trace::Kernel kernel;
  std::vector<protocol::InstructionTraits> traits;
  protocol::KernelContext context;
  std::vector<std::unique_ptr<FakeStaging>> staging;
  std::unique_ptr<models::CapacityManager> manager;
  std::vector<Told> told;
  unsigned pauses = 0;
  unsigned room_notified = 0;
  std::vector<std::uint64_t> asked_again;  ///< cycles in which the manager wants to be asked

 private:
  protocol::DynamicInstruction instruction(unsigned warp, std::uint32_t index, std::uint64_t sequence) const;
  class Ears;

  support::ClockDomain& clock_;
  std::multimap<std::uint64_t, std::function<void()>> script_;
  std::unique_ptr<support::CycleClient> client_;
  std::unique_ptr<Ears> ears_;
  std::map<unsigned, bool> closed_;
  std::vector<std::uint32_t> firsts_;
};

}  // namespace regatta::test

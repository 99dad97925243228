// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/capacity_manager.h>
#include <regatta/support/energy.h>

#include <cmath>
#include <string>

namespace regatta::models {

using protocol::DynamicInstruction;
using protocol::WarpInfo;

void CapacityManagerConfig::declare(support::OptionSet& o) {
  o.add("capacity_manager.metadata_words", metadata_words, "words",
        "region words stored per warp, decoded and still needed (MICRO 2017 gives no size)", 2, 1024);
  o.add("capacity_manager.fall_through", fall_through, "cycles",
        "cycles the top warp may fail to fit before the next stack entry is tried; 0: never, as in MICRO 2017", 0,
        1000000);
}

RegionCounters& RegionCounters::operator+=(const RegionCounters& o) {
  executed += o.executed;
  instructions += o.instructions;
  active_cycles += o.active_cycles;
  preload_cycles += o.preload_cycles;
  drain_cycles += o.drain_cycles;
  preloads += o.preloads;
  invalidations += o.invalidations;
  lines += o.lines;
  lines_squared += o.lines_squared;
  for (unsigned s = 0; s < preload_source_count; ++s) preloads_from[s] += o.preloads_from[s];
  words += o.words;
  return *this;
}

CapacityManager::CapacityManager(const sc_core::sc_module_name& name, const CapacityManagerConfig& config,
                                 unsigned shards, support::ClockDomain& clock)
    : sc_module(name), clock_(clock), by_shards_(shards), room_("room", &clock) {
  for (unsigned s = 0; s < shards; ++s) {
    shards_.push_back(
        std::make_unique<CapacityShard>(("shard" + std::to_string(s)).c_str(), config, shards, table_, room_, clock));
  }
}

CapacityManager::~CapacityManager() = default;

RegionCounters CapacityManager::regions() const {
  RegionCounters sum;
  for (const auto& shard : shards_) sum += shard->counters();
  return sum;
}

std::string CapacityManager::describe_stuck() const {
  std::string lines;
  for (const auto& shard : shards_) lines += shard->describe_stuck();
  return lines;
}

bool CapacityManager::may_issue(const DynamicInstruction& d) { return of(d.warp).may_issue(d); }
void CapacityManager::issued(const DynamicInstruction& d) { of(d.warp).issued(d); }
void CapacityManager::written_back(const DynamicInstruction& d) { of(d.warp).written_back(d); }
void CapacityManager::barrier_opened(const WarpInfo& warp) { of(warp.warp).barrier_opened(warp.warp); }

void CapacityManager::connect(protocol::GateListener& listener) {
  for (auto& shard : shards_) shard->connect(listener);
}

void CapacityManager::kernel_started(const protocol::KernelContext& context) {
  table_.read(context);
  for (auto& shard : shards_) shard->kernel_started(context);
}

void CapacityManager::count_resident(int change) {
  if (resident_ != 0) resident_cycles_ += clock_.now() - resident_since_;
  resident_since_ = clock_.now();
  resident_ = static_cast<unsigned>(static_cast<int>(resident_) + change);
}

void CapacityManager::warp_started(const WarpInfo& warp) {
  count_resident(1);
  of(warp.warp).warp_started(warp.warp);
}

void CapacityManager::warp_finished(const WarpInfo& warp) {
  count_resident(-1);
  of(warp.warp).warp_finished(warp.warp);
}

void CapacityManager::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("the tables have no number for the stores of metadata, the stacks and the counters");
}

void CapacityManager::register_stats(support::StatGroup& g) {
  g.counter("resident_cycles", resident_cycles_, "cycles", "with at least one resident warp");
  g.derived(
      "warps_active",
      [this] { return resident_cycles_ == 0 ? 0.0 : double(regions().active_cycles) / double(resident_cycles_); },
      "warps", "with an active region, mean over the cycles with a resident warp");
}

void CapacityShard::register_stats(support::StatGroup& g) {
  const RegionCounters& c = counters_;
  g.counter("regions_executed", c.executed, "regions", "started");
  g.counter("instructions", c.instructions, "warp instructions", "issued");
  g.counter("active_cycles", c.active_cycles, "warp-cycles", "with an active region");
  g.counter("preload_cycles", c.preload_cycles, "warp-cycles", "from a region's start to its last acknowledgement");
  g.counter("drain_cycles", c.drain_cycles, "warp-cycles", "from a region's last issue to its last result written");
  g.counter("preloads", c.preloads, "warp registers", "asked of the staging unit");
  g.counter("invalidations", c.invalidations, "warp registers", "asked of the staging unit");
  static constexpr std::array<const char*, preload_source_count> sources{"osu", "compressor", "l1", "l2", "dram"};
  for (unsigned s = 0; s < preload_source_count; ++s) {
    g.counter(std::string("preloads_from_") + sources[s], c.preloads_from[s], "warp registers",
              std::string("preloads answered, found in the ") + sources[s]);
  }
  g.counter("lines_reserved", c.lines, "lines", "for the regions that ran, all banks together");
  g.counter("lines_reserved_squared", c.lines_squared, "lines^2", "sum of the squares, for the standard deviation");
  g.counter("lines_reserved_max", most_lines_, "lines", "most that a region reserved");
  g.counter("deferred_requests", deferred_count_, "warp registers",
            "preloads and invalidations that waited for a place in their bank's queue");
  g.counter("metadata_words", c.words, "words", "taken out of the instruction stream");
  g.counter("late_ends", late_ends_, "regions", "whose end was known only after their last instruction had issued");
  g.counter("wait_lines_cycles", wait_cycles_[static_cast<unsigned>(Wait::lines)], "cycles",
            "in which the top of the warp stack found too few unreserved lines");
  g.counter("wait_words_cycles", wait_cycles_[static_cast<unsigned>(Wait::words)], "cycles",
            "in which no warp on the stack had its next region's words");
  g.counter("fell_through", fell_through_, "regions", "started from under the top of the warp stack");
  g.counter("stacked_warp_cycles", stacked_cycles_, "warp-cycles", "on the warp stack");
  g.counter("reserved_line_cycles", line_cycles_, "line-cycles", "reserved");
}

}  // namespace regatta::models

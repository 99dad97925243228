// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the register hierarchy with a kernel and levels made by hand, told of instructions as the pipeline
// would.
#pragma once

#include <regatta/rfh/hierarchical_register_file.h>
#include <regatta/rfh/strand_gate.h>

#include <set>
#include <string>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>
#include "../../greener/power_gate/made.h"

namespace regatta::test::hierarchy {

using cta_blocks::cta_at;
using cta_blocks::error_of;
using cta_blocks::period;
using cta_blocks::run_for;
using cta_blocks::run_present;
using cta_blocks::run_to;
using cta_blocks::stat_of;
using cta_blocks::warp_at;
using cta_blocks::Watch;
using protocol::LaneMask;
using protocol::WarpInfo;
using protocol::WarpSlot;
using protocol::WarpValue;
using trace::RfhLevels;

constexpr RfhLevels in_main{}, in_last{false, true, -1}, main_and_last{true, true, -1};
/// A bank of a split last-result file, 1 to 3.
constexpr RfhLevels in_bank(int bank) { return {false, true, -1, static_cast<std::uint8_t>(bank)}; }
constexpr RfhLevels in_orf(int entry) { return {false, false, static_cast<std::int8_t>(entry)}; }
constexpr RfhLevels main_and_orf(int entry) { return {true, false, static_cast<std::int8_t>(entry)}; }

struct HierarchyKernel : MadeKernel {
  explicit HierarchyKernel(unsigned entries = 3, unsigned warps_per_cta = 4) {
    kernel.name = "k";
    plan.entries = entries;
    context.launch = &launch;
    context.warps_per_cta = warps_per_cta;
    context.registers_per_warp = 8;
    context.resident_ctas = 2;
  }
  struct Named {
    unsigned reg;
    RfhLevels levels;
  };
  std::uint32_t op(const std::vector<Named>& to, const std::vector<Named>& from, bool begins = false) {
    std::vector<unsigned> destinations, sources;
    trace::RfhInstruction i;
    i.strand_begins = begins;
    for (const Named& n : to) {
      i.destinations[destinations.size()] = n.levels;
      destinations.push_back(n.reg);
    }
    for (const Named& n : from) {
      i.sources[sources.size()] = n.levels;
      sources.push_back(n.reg);
    }
    const std::uint32_t index = add(destinations, sources);
    kernel.instructions[index].op_class = trace::OpClass::int_add;
    plan.instructions.push_back(i);
    return index;
  }
  std::uint32_t load(unsigned to, unsigned address, bool begins = false) {
    const std::uint32_t index = op({{to, in_main}}, {{address, in_main}}, begins);
    trace::StaticInstruction& i = kernel.instructions[index];
    i.op_class = trace::OpClass::load;
    i.space = trace::MemorySpace::global;
    i.reads_memory = true;
    return index;
  }
  void done() {
    finish();
    kernel.annotations = {{trace::rfh_section, trace::rfh_section_version, trace::encode(kernel, plan)}};
  }
  WarpInfo warp(unsigned slot) const {
    WarpInfo info;
    info.warp = warp_at(slot);
    info.cta = cta_at(slot / context.warps_per_cta);
    info.warp_in_cta = slot % context.warps_per_cta;
    info.lanes = 0xffffffff;
    return info;
  }
  protocol::DynamicInstruction made(unsigned warp, std::uint32_t index, LaneMask active = 0xffffffff) const {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp);
    d.traits = &traits[index];
    d.info = d.traits->info;
    d.active = active;
    return d;
  }
  trace::RfhPlan plan;
  trace::Launch launch;
};

inline WarpValue pattern(std::uint32_t seed) {
  WarpValue value{};
  for (unsigned lane = 0; lane < 32; ++lane) value.lane[lane] = seed * 2654435761u + lane;
  return value;
}

/// The small files and the slots of warps.
struct EntriesBench {
  EntriesBench(HierarchyKernel& k, unsigned slots, bool active_set, unsigned orf_cycles = 1)
      : orf("orf", models::EntryFile::Kind::operand, slots, orf_cycles),
        lrf("lrf", models::EntryFile::Kind::last_result, slots, 1),
        active("active_entries", slots, active_set, test::clock(period)),
        kernel(k) {
    active.files.bind(orf.entries);
    active.files.bind(lrf.entries);
  }
  void start() {
    orf.kernel_started(kernel.context);
    lrf.kernel_started(kernel.context);
    active.kernel_started(kernel.context);
  }
  void enter(unsigned warp) { active.active_set_changed(kernel.warp(warp), true); }
  void leave(unsigned warp) { active.active_set_changed(kernel.warp(warp), false); }
  unsigned slot(unsigned warp) { return active.slot(warp_at(warp)); }

  models::EntryFile orf, lrf;
  models::ActiveEntries active;
  HierarchyKernel& kernel;
};

}  // namespace regatta::test::hierarchy

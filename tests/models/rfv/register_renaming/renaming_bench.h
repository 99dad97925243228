// SPDX-License-Identifier: Apache-2.0
//
// The renaming gate with made-up parts at its ports, told of instructions and words as the pipeline would.
#pragma once

#include <regatta/rfv/renaming_gate.h>
#include <regatta/test/clock.h>
#include <regatta/trace/rfv.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <regatta/test/cta_blocks.h>
#include "../../greener/power_gate/made.h"

namespace regatta::test::renaming {

using cta_blocks::cta_at;
using cta_blocks::period;
using cta_blocks::run_for;
using cta_blocks::run_to;
using cta_blocks::stat_of;
using cta_blocks::warp_at;
using cta_blocks::Watch;
using protocol::RegisterId;
using protocol::WarpSlot;
using trace::RfvRegisters;

inline RegisterId reg_of(unsigned n) { return RegisterId(static_cast<RegisterId::rep>(n)); }
constexpr RfvRegisters bit(unsigned reg) { return RfvRegisters{1} << reg; }

/// Instructions in blocks, and what is released where. The words are the format's own.
struct RenamedKernel : MadeKernel {
  explicit RenamedKernel(unsigned warps_per_cta = 1, unsigned resident_ctas = 2) {
    kernel.name = "k";
    kernel.registers_per_thread = 8;
    context.launch = &launch;
    context.warps_per_cta = warps_per_cta;
    context.registers_per_warp = 8;
    context.resident_ctas = resident_ctas;
  }
  /// `flags`: bit s says that operand slot s releases its register.
  std::uint32_t op(const std::vector<unsigned>& to, const std::vector<unsigned>& from, unsigned flags = 0) {
    if (kernel.blocks.empty()) block();
    const std::uint32_t index = add(to, from);
    trace::StaticInstruction& i = kernel.instructions[index];
    const auto name = [&](unsigned reg) {
      trace::Operand o;
      o.value = reg;
      i.operands.push_back(o);
    };
    for (const unsigned r : to) name(r);
    for (const unsigned r : from) name(r);
    i.operand_destinations = static_cast<std::uint8_t>(to.size());
    ++kernel.blocks.back().count;
    releases.flags.push_back(static_cast<std::uint8_t>(flags));
    return index;
  }
  /// The next instruction begins a block, where these registers are released.
  void block(RfvRegisters released = 0) {
    trace::BasicBlock b;
    b.first = static_cast<std::uint32_t>(kernel.instructions.size());
    kernel.blocks.push_back(b);
    releases.at_block.push_back(released);
  }
  void done() {
    finish();
    kernel.inserted = trace::rfv_words(kernel, releases, 100);
    kernel.annotations = {{trace::rfv_section, trace::rfv_section_version, trace::encode(section)}};
  }
  protocol::WarpInfo warp(unsigned slot) const {
    protocol::WarpInfo info;
    info.warp = warp_at(slot);
    info.cta = cta_at(slot / context.warps_per_cta);
    info.lanes = 0xffffffff;
    return info;
  }
  protocol::CtaInfo cta(unsigned slot) const {
    protocol::CtaInfo info;
    info.cta = cta_at(slot);
    info.warps = context.warps_per_cta;
    return info;
  }
  /// In straight code: the position in the program's order is the index, from 1.
  protocol::DynamicInstruction made(unsigned warp, std::uint32_t index) const {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp);
    d.traits = &traits[index];
    d.info = d.traits->info;
    d.sequence = index + 1;
    return d;
  }

  trace::Launch launch;
  trace::RfvSection section;
  trace::RfvReleases releases;
};

/// A table and a pool that hand out rows in order and never reuse one, so that a row tells its allocation.
class Rows : public models::RowEntries, public models::RowPool {
 public:
  using Key = std::pair<unsigned, unsigned>;  ///< warp and register
  void begin(const models::RenamingPlan&, unsigned) override { of.clear(); }
  void enter(WarpSlot warp, unsigned reg, std::uint32_t row) override {
    CHECK(of.emplace(Key{warp.value(), reg}, row).second);
  }
  std::uint32_t remove(WarpSlot warp, unsigned reg) override {
    const auto at = of.find({warp.value(), reg});
    REQUIRE(at != of.end());
    const std::uint32_t row = at->second;
    of.erase(at);
    return row;
  }
  void begin(unsigned) override { taken.clear(); }
  std::uint32_t take(WarpSlot, RegisterId) override {
    taken.insert(next);
    return next++;
  }
  void give_back(std::uint32_t row) override { CHECK(taken.erase(row) == 1); }
  std::uint32_t reserve(WarpSlot, RegisterId) override { return reserved_from + reserved++; }
  void occupy(std::uint32_t row, bool live) override {
    CHECK(row >= reserved_from);
    CHECK((live ? occupied.insert(row).second : occupied.erase(row) == 1));
  }
  bool has(unsigned warp, unsigned reg) const { return of.count({warp, reg}) != 0; }

  static constexpr std::uint32_t reserved_from = 1000;
  std::map<Key, std::uint32_t> of;
  std::set<std::uint32_t> taken, occupied;
  std::uint32_t next = 0, reserved = 0;
};

/// Holds what was filled in.
class Flags : public models::FlagLookup {
 public:
  void begin(std::size_t words) override {
    held.clear();
    count = words;
  }
  bool find(std::uint32_t word) override { return held.count(word) != 0; }
  void fill(std::uint32_t word) override { held.insert(word); }
  std::set<std::uint32_t> held;
  std::size_t count = 0;
};

class WarpsClosed : public protocol::GateListener {
 public:
  void closed(WarpSlot warp, bool is_closed) override {
    CHECK((is_closed ? warps.insert(warp.value()).second : warps.erase(warp.value()) == 1));
  }
  void pause(WarpSlot, protocol::Cycle) override { FAIL("no warp is paused"); }
  void reconsider(protocol::Cycle at) override { again = at.value(); }
  std::set<unsigned> warps;
  std::uint64_t again = 0;
};

/// The gate, with `rows` rows of one part to give.
struct GateBench {
  explicit GateBench(RenamedKernel& kernel, unsigned rows = 64, unsigned words = 4)
      : k(kernel), gate("renaming_gate", config(rows, words), test::clock(period)) {
    gate.entries.bind(parts);
    gate.rows.bind(parts);
    gate.flags.bind(flags);
    watch.on(gate.changed());
    launches.on(gate.launch_changed());
    gate.connect(listener);
    run_to(1);
    gate.kernel_started(k.context);
  }
  static models::RenamingConfig config(unsigned rows, unsigned words) {
    models::RenamingConfig c;
    c.file.banks = 4;
    c.file.registers = rows;
    c.words = words;
    return c;
  }
  /// A CTA of one warp.
  void start(unsigned slot) {
    gate.cta_launched(k.cta(slot));
    gate.warp_started(k.warp(slot));
  }
  void end(unsigned slot) {
    gate.warp_finished(k.warp(slot));
    gate.cta_finished(k.cta(slot));
  }
  /// The words in front of an instruction arrive.
  void decode(unsigned warp, std::uint32_t before) {
    for (std::uint32_t w = 0; w < k.kernel.inserted.size(); ++w)
      if (k.kernel.inserted[w].before == before) gate.decoded(k.warp(warp), w, before + 1);
  }
  bool may_issue(unsigned warp, std::uint32_t index) { return gate.may_issue(k.made(warp, index)); }
  bool issue(unsigned warp, std::uint32_t index) {
    const auto d = k.made(warp, index);
    if (!gate.may_issue(d)) return false;
    gate.issued(d);
    return true;
  }
  void read(unsigned warp, unsigned reg) { gate.reads->served(warp_at(warp), reg_of(reg)); }
  void write(unsigned warp, std::uint32_t index) { gate.written_back(k.made(warp, index)); }
  double stat(const std::string& name) { return stat_of(gate, name); }

  RenamedKernel& k;
  Rows parts;
  Flags flags;
  WarpsClosed listener;
  models::RenamingGate gate;
  Watch watch{"watch"}, launches{"launches"};
};

}  // namespace regatta::test::renaming

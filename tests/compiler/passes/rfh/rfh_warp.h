// SPDX-License-Identifier: Apache-2.0
//
// Obeys the levels of RFH while a warp's path is followed, lane by lane.
#pragma once

#include <regatta/trace/rfh.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test {

/// Every level of one warp holds numbers of values in place of values: each write of a register makes a new one.
class RfhWarp {
 public:
  RfhWarp(const trace::Kernel& kernel, const trace::RfhPlan& plan) : kernel_(kernel), plan_(plan) {}

  void step(std::uint32_t index, trace::LaneMask active) {
    const trace::StaticInstruction& i = kernel_.instructions[index];
    const trace::RfhInstruction& levels = plan_.instructions[index];
    index_ = index;
    if (must_begin_ && !levels.strand_begins) fail("does not begin a strand");
    must_begin_ = false;
    if (i.op_class == trace::OpClass::fence && !levels.strand_begins) fail("is a fence and begins no strand");
    if (levels.strand_begins) {
      for (Entry& e : entries_) e.fill({});
      loaded_.reset();
      ++strands_;
    }
    for (unsigned s = 0; s < i.source_count; ++s) {
      if (loaded_.test(i.sources[s])) fail("reads a long-latency R" + std::to_string(i.sources[s]));
      const trace::RfhLevels& l = levels.sources[s];
      if (l.last && !l.main && l.bank != 0 && l.bank != operand_of(i, s))
        fail("reads R" + std::to_string(i.sources[s]) + " from " + to_string(l) + " in another operand");
      read(i.sources[s], l, active);
    }
    for (unsigned s = 0; s < i.source_count; ++s)
      if (levels.sources[s].copies()) write_entries(i.sources[s], levels.sources[s], active);
    for (unsigned d = 0; d < i.destination_count; ++d) {
      const unsigned r = i.destinations[d];
      if (loaded_.test(r)) fail("writes a long-latency R" + std::to_string(r));
      ++made_;
      for_each_lane(active, [&](unsigned lane) {
        now_[r][lane] = made_;
        if (levels.destinations[d].main) main_[r][lane] = made_;
      });
      write_entries(r, levels.destinations[d], active);
      if (trace::is_long_latency(i)) loaded_.set(r);
    }
    if (i.branch_target >= 0 && i.branch_target <= static_cast<std::int32_t>(index) && active != 0 &&
        !plan_.instructions[static_cast<std::size_t>(i.branch_target)].strand_begins)
      fail("goes back into a strand");
    if (trace::waits_at_barrier(i)) must_begin_ = true;
  }

  std::string replay(const trace::WarpColumns& columns) {
    trace::WarpCursor cursor(kernel_, columns);
    while (wrong_.empty() && cursor.next()) step(cursor.index(), cursor.active_mask());
    return wrong_;
  }

  /// The first wrong, "" if there is none.
  const std::string& wrong() const { return wrong_; }
  std::uint64_t strands() const { return strands_; }
  std::uint64_t main_reads() const { return main_reads_; }
  std::uint64_t entry_reads() const { return entry_reads_; }
  /// Of these, those from a bank of a split LRF.
  std::uint64_t banked_reads() const { return banked_reads_; }

 private:
  struct Held {
    int reg = -1;
    std::uint64_t value = 0;
  };
  using Entry = std::array<Held, 64>;

  template <typename Visit>
  static void for_each_lane(trace::LaneMask lanes, Visit&& visit) {
    for (unsigned lane = 0; lane < 64; ++lane)
      if ((lanes >> lane) & 1) visit(lane);
  }
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = "instruction " + std::to_string(index_) + " " + what;
  }
  /// Of the LRF, or of the ORF.
  Entry& entry(const trace::RfhLevels& l) { return l.last ? last(l) : orf(l); }
  /// Entry 0 if the LRF is not split, else that of the bank.
  Entry& last(const trace::RfhLevels& l) { return entries_[l.bank]; }
  Entry& orf(const trace::RfhLevels& l) { return entries_[4 + static_cast<std::size_t>(l.orf)]; }
  /// The operand, from 1 on, to which a source register belongs; predicates are none.
  static unsigned operand_of(const trace::StaticInstruction& i, unsigned source) {
    unsigned operand = 0, registers = 0;
    for (std::size_t o = i.operand_destinations; o < i.operands.size(); ++o) {
      if (i.operands[o].kind == trace::Operand::Kind::predicate) continue;
      ++operand;
      if (i.operands[o].kind != trace::Operand::Kind::reg) continue;
      registers += i.operands[o].words;
      if (source < registers) return operand;
    }
    return 0;
  }

  void read(unsigned r, const trace::RfhLevels& l, trace::LaneMask active) {
    if (active != 0) ++(l.main ? main_reads_ : entry_reads_);
    if (active != 0 && !l.main && l.bank != 0) ++banked_reads_;
    for_each_lane(active, [&](unsigned lane) {
      if (l.main) {
        if (main_[r][lane] != now_[r][lane]) fail("reads an old R" + std::to_string(r) + " from the MRF");
        return;
      }
      const Held& held = entry(l)[lane];
      if (held.reg != static_cast<int>(r) || held.value != now_[r][lane])
        fail("reads R" + std::to_string(r) + " from " + to_string(l) + ", which does not hold it");
    });
  }

  void write_entries(unsigned r, const trace::RfhLevels& l, trace::LaneMask active) {
    const auto write = [&](Entry& e) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        if ((active >> lane) & 1)
          e[lane] = {static_cast<int>(r), now_[r][lane]};
        else if (active != 0 && e[lane].reg != static_cast<int>(r))
          e[lane] = {};  // an entry stands for one register
      }
    };
    if (l.last) write(last(l));
    if (l.orf >= 0) write(orf(l));
  }

  const trace::Kernel& kernel_;
  const trace::RfhPlan& plan_;
  std::array<std::array<std::uint64_t, 64>, 256> now_{}, main_{};
  std::array<Entry, 4 + trace::max_orf_entries> entries_{};
  std::bitset<256> loaded_;
  bool must_begin_ = false;
  std::uint32_t index_ = 0;
  std::uint64_t made_ = 0, strands_ = 0, main_reads_ = 0, entry_reads_ = 0, banked_reads_ = 0;
  std::string wrong_;
};

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// Obeys RegMutex's acquires and releases while a warp's path is replayed.
#pragma once

#include <regatta/trace/regmutex.h>
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test {

/// The section of one warp. A release loses the values of the extended set in all lanes.
class RegMutexWarp {
 public:
  explicit RegMutexWarp(const trace::Kernel& kernel) : kernel_(kernel), registers_(*trace::find_regmutex(kernel)) {
    edges_.resize(kernel.instructions.size());
    places_.resize(kernel.instructions.size());
    for (const trace::InsertedInstruction& i : kernel.inserted) {
      if (i.instruction.scheme != trace::regmutex_scheme) continue;
      (i.after >= 0 ? edges_[static_cast<std::size_t>(i.after)] : places_[i.before]).push_back(&i);
    }
  }

  void step(std::uint32_t index, trace::LaneMask simt, trace::LaneMask active) {
    if (wrong_.empty()) leave_last();
    for (const trace::InsertedInstruction* i : places_[index]) change(*i);
    last_ = {index, simt, active};
    left_ = false;
    const trace::StaticInstruction& i = kernel_.instructions[index];
    const auto named = [&](unsigned r) {
      if (registers_.is_extended(r) && !held_) fail("names R" + std::to_string(r) + " without a section");
    };
    std::for_each_n(i.sources.begin(), i.source_count, named);
    std::for_each_n(i.destinations.begin(), i.destination_count, named);
    for (unsigned s = 0; s < i.source_count; ++s) {
      const unsigned r = i.sources[s];
      if (registers_.is_extended(r) && (active & ~intact_[r]) != 0) fail("reads a lost R" + std::to_string(r));
    }
    for (unsigned d = 0; d < i.destination_count; ++d) intact_[i.destinations[d]] |= active;
    if (i.op_class == trace::OpClass::barrier && !i.barrier_arrives && held_) fail("is a barrier");
    held_steps_ += held_;
    ++steps_;
  }

  std::string replay(const trace::WarpColumns& columns) {
    trace::WarpCursor cursor(kernel_, columns);
    while (wrong_.empty() && cursor.next()) step(cursor.index(), cursor.simt_mask(), cursor.active_mask());
    return wrong_;
  }

  /// The first wrong, "" if there is none.
  const std::string& wrong() const { return wrong_; }
  bool held() const { return held_; }
  std::uint64_t changes() const { return changes_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t held_steps() const { return held_steps_; }

 private:
  struct Step {
    std::uint32_t index = 0;
    trace::LaneMask simt = 0, active = 0;
  };

  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = "instruction " + std::to_string(last_.index) + " " + what;
  }

  /// The instructions on the edges that lanes of the last instruction take.
  void leave_last() {
    if (left_) return;
    left_ = true;
    for (const trace::InsertedInstruction* i : edges_[last_.index]) {
      if (trace::lanes_to(kernel_.instructions[last_.index], last_.index, i->before, last_.simt, last_.active) != 0)
        change(*i);
    }
  }

  void change(const trace::InsertedInstruction& i) {
    const bool acquires = trace::is_regmutex_acquire(i.instruction);
    if (acquires == held_) fail(acquires ? "precedes a second acquire" : "precedes a release without a section");
    held_ = acquires;
    ++changes_;
    for (unsigned r = 0; r < registers_.registers() && !held_; ++r) {
      if (!registers_.is_extended(r)) continue;
      lost_ += intact_[r] != 0;
      intact_[r] = 0;
    }
  }

  const trace::Kernel& kernel_;
  trace::RegMutexRegisters registers_;
  std::vector<std::vector<const trace::InsertedInstruction*>> edges_, places_;
  std::array<trace::LaneMask, 256> intact_{};
  Step last_;
  bool left_ = true, held_ = false;
  std::uint64_t changes_ = 0, lost_ = 0, steps_ = 0, held_steps_ = 0;
  std::string wrong_;
};

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// Between issue and operand read: asks the reuse point, if there is one, whether the instruction executes, waits
// or is bypassed with a result, and keeps the ones that wait.
#pragma once

#include <regatta/protocol/extension_points.h>

#include "core.h"
#include "ring.h"

#include <cstdint>
#include <vector>

namespace regatta::sm {

class OperandCollectors;

class ReuseStage {
 public:
  ReuseStage(Core& core, OperandCollectors& collectors) : core_(core), collectors_(collectors) {}
  void connect(protocol::ReusePoint* point) {
    point_ = point;
    latency_ = point == nullptr ? 0 : point->latency();
  }

  /// An issued instruction; a collector unit of its scheduler is free.
  void enter(DynamicInstruction& d);
  /// The reuse point's answer may have changed: ask again for the instructions that wait, oldest first.
  void reconsider() { reconsider_ = true; }
  /// Before issue, so that instructions that waited come before new ones.
  void cycle() {
    if (!waiting_.empty() || !delayed_.empty()) serve();
  }
  void written_back(const DynamicInstruction& d) {
    if (point_ != nullptr) point_->written_back(d);
  }

 private:
  struct Delayed {
    DynamicInstruction* instruction = nullptr;
    Cycle due;
  };
  enum class Settled : std::uint8_t {
    yes,       ///< it is gone: bypassed, or in a collector unit
    waits,     ///< the point has it wait
    executes,  ///< decided, but no collector unit is free
  };
  /// Those that wait, linked in order of entry: they leave in any order, and there can be hundreds.
  class WaitingList {
   public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    bool empty() const { return first_ == none; }
    std::uint32_t first() const { return first_; }
    std::uint32_t after(std::uint32_t index) const { return links_[index].after; }
    bool has(std::uint32_t index) const { return index < links_.size() && links_[index].order != 0; }
    /// Rises with entry.
    std::uint64_t order(std::uint32_t index) const { return links_[index].order; }
    bool is_decided(std::uint32_t index) const { return links_[index].decided; }
    void set_decided(std::uint32_t index) { links_[index].decided = true; }
    void push(std::uint32_t index);
    void remove(std::uint32_t index);

   private:
    struct Link {
      std::uint32_t before = none, after = none;
      std::uint64_t order = 0;  ///< 0: not in the list
      bool decided = false;     ///< it executes, and waits for a collector unit
    };
    std::vector<Link> links_;  ///< by pool index
    std::uint32_t first_ = none, last_ = none;
    std::uint64_t pushed_ = 0;
  };
  void serve();
  Settled settle(DynamicInstruction& d);
  bool collect(DynamicInstruction& d);
  bool collect_decided();
  bool ask_all();
  void ask(DynamicInstruction& d);
  void ask_again(unsigned asked);
  void decided(std::uint32_t index);

  Core& core_;
  OperandCollectors& collectors_;
  protocol::ReusePoint* point_ = nullptr;
  unsigned latency_ = 0;
  Ring<Delayed> delayed_;  ///< on their way to the point, in order of issue
  WaitingList waiting_;
  std::vector<std::uint32_t> decided_;  ///< of those, the ones that execute and wait for a collector unit, in order
  bool reconsider_ = false;
};

}  // namespace regatta::sm

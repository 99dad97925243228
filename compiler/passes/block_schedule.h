// SPDX-License-Identifier: Apache-2.0
//
// The scheduler's view of one block: value lifetimes, dependences, latencies; and orders of its instructions.
#pragma once

#include <regatta/analysis/dependences.h>
#include <regatta/analysis/liveness.h>
#include <regatta/passes/latency.h>

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Registers live at once: general (32-bit) and predicates.
struct Pressure {
  int general = 0;
  int predicates = 0;
};

/// Whether a stays within b in both files.
inline bool within(const Pressure& a, const Pressure& b) {
  return a.general <= b.general && a.predicates <= b.predicates;
}

/// A sequence of the block's instructions with what it costs.
struct Order {
  std::vector<std::uint32_t> sequence;
  Pressure peak;
  std::uint64_t cycles = 0;  ///< until the last instruction issues, one per cycle, in order, stalling for operands
};

/// One block prepared for scheduling.
class BlockModel {
 public:
  /// A value: the span of a register from one definition (or the block's entry) to its last use before the next.
  struct Value {
    std::uint8_t words = 0;  ///< 0: a predicate
    bool is_predicate = false;
    bool live_at_start = false;
    bool live_at_end = false;
    std::uint32_t readers = 0;  ///< instructions that read it
  };
  struct Uses {
    std::vector<std::uint32_t> reads;    ///< values, each once
    std::vector<std::uint32_t> defines;  ///< values that begin here
  };

  BlockModel(const ir::Function& f, std::uint32_t block, const analysis::Liveness& liveness,
             const analysis::Dependences& dependences, const LatencyTable& latency);

  std::size_t size() const { return uses_.size(); }
  const std::vector<Value>& values() const { return values_; }
  const Uses& uses(std::size_t n) const { return uses_[n]; }
  const std::vector<analysis::Dependence>& later(std::size_t n) const { return dependences_->later(n); }
  std::uint32_t earlier_count(std::size_t n) const { return dependences_->earlier_count(n); }
  /// Cycles from the issue of n until the end of the block along the slowest dependence chain.
  std::uint64_t height(std::size_t n) const { return height_[n]; }
  /// Cycles that the later end of a dependence waits after n issued.
  unsigned delay(std::size_t n, analysis::DependenceKind kind) const {
    return kind == analysis::DependenceKind::flow ? latency_[n] : kind == analysis::DependenceKind::anti ? 0 : 1;
  }
  const Pressure& at_start() const { return at_start_; }
  const Pressure& at_end() const { return at_end_; }

  /// Fills in what a sequence costs.
  Order measure(std::vector<std::uint32_t> sequence) const;
  /// Bottom-up, always the instruction that leaves the fewest registers live above it.
  Order least_pressure() const;
  /// Top-down, the slowest chain first among instructions that keep the pressure within the limit.
  Order latency_first(const Pressure& limit) const;

 private:
  const analysis::Dependences* dependences_;
  std::vector<Value> values_;
  std::vector<Uses> uses_;
  std::vector<unsigned> latency_;
  std::vector<std::uint64_t> height_;
  Pressure at_start_, at_end_;
};

}  // namespace regatta::passes

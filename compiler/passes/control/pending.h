// SPDX-License-Identifier: Apache-2.0
//
// Instructions of variable latency that may not have completed: the facts that all steps of counter assignment share.
#pragma once

#include <regatta/analysis/bit_set.h>
#include <regatta/trace/control.h>

#include <cstdint>
#include <vector>

#include "warp_order.h"
#include "warp_resources.h"

namespace regatta::passes {

/// Of the variable instructions, by their place in Hazards::variable(): whose results may still be to come, and whose
/// source registers may still be to be read.
struct Pending {
  analysis::BitSet writes, reads;

  explicit Pending(std::size_t size = 0) : writes(size), reads(size) {}
  bool merge(const Pending& other) {
    const bool more = writes.merge(other.writes);
    return reads.merge(other.reads) || more;
  }
  /// What is pending of `writes` is complete, which includes its reads.
  void complete(const analysis::BitSet& done) {
    writes.subtract(done);
    reads.subtract(done);
  }
  friend bool operator==(const Pending& a, const Pending& b) { return a.writes == b.writes && a.reads == b.reads; }
};

/// Which instruction must not issue before which variable instruction has written or read.
class Hazards {
 public:
  explicit Hazards(const trace::Kernel& kernel);

  const trace::Kernel& kernel() const { return kernel_; }
  const WarpOrder& order() const { return order_; }
  /// Static indices, ascending.
  const std::vector<std::uint32_t>& variable() const { return variable_; }
  /// Place in variable() of an instruction; -1: its latency is fixed.
  std::int32_t place_of(std::uint32_t index) const { return place_of_[index]; }
  const WarpAccess& access(std::uint32_t index) const { return access_[index]; }

  /// What instruction `index` must wait for, of what is pending: results that it reads or writes, and source registers
  /// that it writes.
  Pending needed(std::uint32_t index, const Pending& pending) const;
  /// The instruction has issued.
  void issue(std::uint32_t index, Pending& pending) const;

 private:
  const trace::Kernel& kernel_;
  WarpOrder order_;
  std::vector<WarpAccess> access_;
  std::vector<std::uint32_t> variable_;
  std::vector<std::int32_t> place_of_;
  std::vector<analysis::BitSet> writers_, readers_;  ///< per resource
};

}  // namespace regatta::passes

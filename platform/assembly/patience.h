// SPDX-License-Identifier: Apache-2.0
//
// Whether a run in which no SM has made a step for sm.watchdog cycles is slow or stuck.
#pragma once

#include <regatta/support/holds_work.h>

#include "sm_node.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace regatta::assembly {

class Patience {
 public:
  /// To be made when all modules are there. The nodes outlive it.
  Patience(const std::vector<std::unique_ptr<SmNode>>& nodes, const std::vector<sc_core::sc_object*>& modules);
  /// Whether the memory serves requests that come from the SM of this number.
  bool memory_serves(std::size_t sm);
  /// Whether a step of an SM is certain to come: something is due inside it, or the memory serves its requests.
  bool step_is_due();

 private:
  /// Requests that an SM's L1 has accepted before the SM made its last step, as far as this was asked about.
  struct Quiet {
    std::uint64_t steps = ~std::uint64_t{0};
    std::uint64_t requests = 0;
  };
  /// Requests without a step after which the memory no longer counts: a scheme may fetch and evict lines for ever. More
  /// than an SM has registers to fetch and to evict.
  static constexpr std::uint64_t most_requests_ = 1u << 13;

  const std::vector<std::unique_ptr<SmNode>>& nodes_;
  std::vector<const support::HoldsWork*> holders_;
  std::vector<Quiet> quiet_;
};

}  // namespace regatta::assembly

// SPDX-License-Identifier: Apache-2.0
//
// Write-back with the ports of sub-cores: each of the two banks of a sub-core's register file takes one register per
// cycle. Results of fixed latency go first, from the sub-core's result queue, then those of other pipelines, then those
// of memory (Huerta et al., MICRO 2025, section 5.3: a load that meets a fixed result at its bank is a cycle late).
#pragma once

#include "result_queue.h"
#include "writeback.h"

#include <array>
#include <optional>
#include <vector>

namespace regatta::sm {

class SubCorePath;

class SubCoreWriteback final : public Writeback {
 public:
  /// `results`: the result queue of each sub-core. `path`: whose instructions may be bypassed to.
  SubCoreWriteback(const sc_core::sc_module_name& name, Core& core, std::vector<ResultQueue>& results,
                   SubCorePath& path);

  std::optional<Hold> holds(const DynamicInstruction& d) const override;
  Hold blockage() const override;
  void register_stats(support::StatGroup& group) override;

 private:
  using Queue = support::Ring<ResultQueue::Result>;
  /// Results of variable latency that wait for their bank.
  struct Waiting {
    std::array<Queue, ResultQueue::banks> pipelines, memory;
  };

  void queue(DynamicInstruction& d) override;
  void serve() override;
  bool write_first(Queue& queue, unsigned sub_core, bool fixed);

  std::vector<ResultQueue>& results_;
  SubCorePath& path_;
  std::vector<Waiting> waiting_at_;   ///< per sub-core
  std::vector<std::uint8_t> unsent_;  ///< destinations not handed to the storage, by pool index
  std::optional<ResultQueue::Result> held_;
  std::uint64_t delayed_ = 0;
};

}  // namespace regatta::sm

// SPDX-License-Identifier: Apache-2.0
#include "sub_core_writeback.h"

#include "sub_core_path.h"

namespace regatta::sm {

SubCoreWriteback::SubCoreWriteback(const sc_core::sc_module_name& name, Core& core, std::vector<ResultQueue>& results,
                                   SubCorePath& path)
    : Writeback(name, core, false), results_(results), path_(path), waiting_at_(results.size()) {}

void SubCoreWriteback::queue(DynamicInstruction& d) {
  const unsigned count = d.traits->write_count;
  d.completed = core_.now + 1;
  core_.progress = true;
  if (count == 0) {
    core_.released_next.push_back(d.pool_index);
    return;
  }
  d.writes_pending = static_cast<std::uint8_t>(count);
  if (unsent_.size() <= d.pool_index) unsent_.resize(std::size_t{d.pool_index} + 64);
  unsent_[d.pool_index] = static_cast<std::uint8_t>(count);
  waiting_ += count;
  if (core_.is_fixed(d) && !d.bypassed) {
    path_.bypass(d);
    results_[d.scheduler].push(d);
    return;
  }
  Waiting& waiting = waiting_at_[d.scheduler];
  auto& queues = d.traits->is_memory && !d.bypassed ? waiting.memory : waiting.pipelines;
  for (unsigned i = 0; i < count; ++i) {
    queues[ResultQueue::bank_of(d.traits->writes[i])].push(ResultQueue::Result{&d, i});
  }
}

/// Writes the first result of a queue; false: the queue is empty.
bool SubCoreWriteback::write_first(Queue& queue, unsigned sub_core, bool fixed) {
  if (queue.empty()) return false;
  const ResultQueue::Result result = queue.front();
  DynamicInstruction& d = *result.instruction;
  if (write(d, result.destination) == Progress::held) {
    if (!held_) held_since_ = core_.now;
    held_ = result;
    ++held_attempts_;
    return true;
  }
  held_.reset();
  queue.pop();
  --waiting_;
  core_.progress = true;
  if (--unsent_[d.pool_index] == 0 && fixed) results_[sub_core].give_back();
  return true;
}

void SubCoreWriteback::serve() {
  for (unsigned s = 0; s < results_.size(); ++s) {
    for (unsigned bank = 0; bank < ResultQueue::banks; ++bank) {
      Queue& pipelines = waiting_at_[s].pipelines[bank];
      Queue& memory = waiting_at_[s].memory[bank];
      if (write_first(results_[s].of_bank(bank), s, true)) {
        delayed_ += pipelines.empty() && memory.empty() ? 0 : 1;
      } else if (write_first(pipelines, s, false)) {
        delayed_ += memory.empty() ? 0 : 1;
      } else {
        write_first(memory, s, false);
      }
    }
  }
  if (waiting_ != 0) core_.progress = true;
}

std::optional<Hold> SubCoreWriteback::holds(const DynamicInstruction& d) const {
  const auto among = [&d](const Queue& queue) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (queue[i].instruction == &d) return true;
    }
    return false;
  };
  for (unsigned bank = 0; bank < ResultQueue::banks; ++bank) {
    const Waiting& waiting = waiting_at_[d.scheduler];
    if (among(results_[d.scheduler].of_bank(bank)) || among(waiting.pipelines[bank]) || among(waiting.memory[bank])) {
      return blockage();
    }
  }
  return holds_elsewhere(d);
}

Hold SubCoreWriteback::blockage() const {
  if (held_) return held(*held_->instruction, held_->destination);
  return Writeback::blockage();
}

void SubCoreWriteback::register_stats(support::StatGroup& g) {
  Writeback::register_stats(g);
  g.counter("delayed_cycles", delayed_, "bank cycles",
            "in which a result waited because its bank took one with priority");
}

}  // namespace regatta::sm

// SPDX-License-Identifier: Apache-2.0
//
// The pending-retry queue (WIR section VI-B) as a block.
#pragma once

#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>
#include <regatta/wir/retry_fifo.h>
#include <regatta/wir/wir_config.h>

#include <cstdint>
#include <systemc>

namespace regatta::models::wir {

class RetryAccess : public virtual sc_core::sc_interface {
 public:
  /// The instruction waits for a pending result; false if there is no room. `skipped` is increased by the retries of
  /// past cycles, as in head().
  virtual bool push(protocol::DynamicInstruction& d, std::uint64_t& skipped) = 0;
  /// The instruction whose turn it is in the present cycle; null if none waits. In each past cycle since the last call
  /// one retried without success: `skipped` is increased by their number.
  virtual protocol::DynamicInstruction* head(std::uint64_t& skipped) = 0;
  /// The head's result is still pending.
  virtual void to_tail() = 0;
  /// The head leaves. `returns`: it may come back by put_back(), so its place is kept.
  virtual void pop(bool returns) = 0;
  virtual void put_back(protocol::DynamicInstruction& d, std::uint64_t& skipped) = 0;
  /// The instruction whose place was kept does not come back.
  virtual void free_place() = 0;
  /// A result has arrived, or an entry was removed: all that wait have to retry.
  virtual void retry_all() = 0;
  virtual bool must_retry() const = 0;
};

/// A FIFO. Its user repeats the lookup of the head in cycles in which no new instruction arrives from rename.
class RetryQueue : public sc_core::sc_module, public RetryAccess, public support::StatProvider {
 public:
  sc_core::sc_export<RetryAccess> access;

  RetryQueue(const sc_core::sc_module_name& name, const WirConfig& config, support::ClockDomain& clock)
      : sc_module(name),
        access("access"),
        clock_(clock),
        entries_(config.pending() ? config.retry_entries : 0),
        fifo_(entries_) {
    access.bind(*this);
  }

  bool push(protocol::DynamicInstruction& d, std::uint64_t& skipped) override {
    if (fifo_.size() + returning_ >= entries_) {
      ++full_;
      return false;
    }
    ++queued_;
    add(d, skipped);
    return true;
  }
  protocol::DynamicInstruction* head(std::uint64_t& skipped) override { return fifo_.head(clock_.now(), skipped); }
  void to_tail() override { fifo_.to_tail(); }
  void pop(bool returns) override {
    fifo_.pop();
    if (returns) ++returning_;
  }
  void put_back(protocol::DynamicInstruction& d, std::uint64_t& skipped) override {
    --returning_;
    add(d, skipped);
  }
  void free_place() override { --returning_; }
  void retry_all() override { fifo_.retry_all(); }
  bool must_retry() const override { return fifo_.must_retry(); }

  void register_stats(support::StatGroup& g) override {
    g.counter("queued", queued_, "warp instructions", "that waited for a pending result");
    g.counter("full", full_, "warp instructions", "that found no place to wait and were executed");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the paper gives no energy for the queue; each retry reads the reuse buffer");
  }

 private:
  void add(protocol::DynamicInstruction& d, std::uint64_t& skipped) {
    if (fifo_.empty()) {
      fifo_.begin(clock_.now());
    } else {
      fifo_.head(clock_.now(), skipped);  // settles the turns of past cycles before the queue grows
    }
    fifo_.push(d);
  }
  support::ClockDomain& clock_;
  const unsigned entries_;
  RetryFifo fifo_;
  unsigned returning_ = 0;
  std::uint64_t queued_ = 0, full_ = 0;
};

}  // namespace regatta::models::wir

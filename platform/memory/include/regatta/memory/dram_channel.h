// SPDX-License-Identifier: Apache-2.0
//
// One DRAM channel behind one L2 partition: a finite queue in front of banks, or of a fixed access time, and a bus of
// exact bandwidth.
#pragma once

#include <regatta/memory/dram_banks.h>
#include <regatta/memory/memory_config.h>
#include <regatta/memory/transport.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/ring.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace regatta::memory {

/// Writes are posted: TLM_COMPLETED when there is room in the queue. Reads are answered when their last byte has
/// crossed the bus and the way back: announced when their column command is issued, or, with one fixed access time in
/// order, known at once and annotated to TLM_COMPLETED. A full queue refuses (TLM_ACCEPTED, END_REQ later).
class DramChannel : public sc_core::sc_module,
                    public NonBlockingTarget,
                    public support::StatProvider,
                    public support::HoldsWork {
 public:
  protocol::MemoryTargetSocket upstream;

  DramChannel(const sc_core::sc_module_name& name, const MemorySystemConfig& config, support::ClockDomain& clock);

  bool idle() const;
  std::string held_work() const override;
  bool work_is_due() const override { return wakeup_.is_due() && !idle(); }
  std::uint64_t bytes_moved() const { return bytes_read_ + bytes_written_; }

  /// Leaves the row of `address` open, without time and uncounted. Only while the channel is idle.
  void warm(std::uint64_t address) {
    if (banks_) banks_->warm(address);
  }

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const protocol::MemoryRequestRules& rules() const override { return rules_; }

  const protocol::MemoryRequestRules rules_;
  void work();
  bool has_room(std::uint64_t now) const { return banks_->size() + (left_at_ == now ? left_ : 0) < capacity_; }
  bool room_at(std::uint64_t at) { return departures_.occupied(at) < capacity_; }
  std::uint64_t reserve(Payload& payload, std::uint64_t at);
  std::uint64_t move(std::uint64_t first_byte, unsigned bytes);
  void admit_held_in_order(std::uint64_t now);
  void enqueue(Payload& payload, std::uint64_t now, std::uint64_t at);
  void serve(std::uint64_t now);
  void served(const DramBanks::Command& command, std::uint64_t now);
  void count(bool write, unsigned bytes, protocol::TrafficCause cause) {
    write ? ++writes_ : ++reads_;
    (write ? bytes_written_ : bytes_read_) += bytes;
    bytes_by_cause_[static_cast<unsigned>(cause)] += bytes;
  }
  void admit_held(std::uint64_t now);
  void send_responses(std::uint64_t now);
  void count_entries(std::uint64_t now) {
    entry_cycles_ += banks_->size() * (now - counted_until_);
    // Those that were still on the wires; no entry leaves the queue before it has come.
    for (std::size_t i = 0; i < on_wires_.size(); ++i) entry_cycles_ -= std::min(on_wires_[i], now) - counted_until_;
    while (!on_wires_.empty() && on_wires_.front() <= now) on_wires_.pop();
    counted_until_ = now;
  }

  CycleClock clock_;
  support::CycleClient wakeup_{clock_.domain(), [](void* m) { static_cast<DramChannel*>(m)->work(); }, this};
  std::uint8_t all_sectors_;
  std::size_t capacity_;
  Bandwidth bandwidth_;  // per SM cycle
  // With banks.
  ClockRatio ratio_;
  std::uint64_t pipeline_cycles_;
  std::optional<DramBanks> banks_;
  std::uint64_t left_at_ = no_cycle;
  std::size_t left_ = 0;
  std::uint64_t counted_until_ = 0;
  // With a fixed access time.
  std::uint64_t access_cycles_;
  DepartureRing departures_;     // cycles of issue
  std::uint64_t answer_at_ = 0;  // the last answer
  std::uint64_t bus_cycle_ = 0;  // the bus is free from bus_cycle_ + bus_fraction_ / bandwidth_.bytes on
  std::uint64_t bus_fraction_ = 0;

  TransferQueue finished_;   // answers that wait for the requester to take the one before
  Payload* held_ = nullptr;  // request without END_REQ
  std::uint64_t held_at_ = 0;
  ResponseSender responder_;

  std::uint64_t reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0, refusals_ = 0, queue_max_ = 0;
  std::array<std::uint64_t, protocol::traffic_cause_count> bytes_by_cause_{};
  std::uint64_t entry_cycles_ = 0;
  support::Ring<std::uint64_t> on_wires_;  ///< arrivals, ascending, of queued requests that were sent ahead of time
};

}  // namespace regatta::memory

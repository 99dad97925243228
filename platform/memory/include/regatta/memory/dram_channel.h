// SPDX-License-Identifier: Apache-2.0
//
// One DRAM channel behind one L2 partition: a finite queue, a fixed access time, a bus of exact bandwidth.
#pragma once

#include <regatta/memory/memory_config.h>
#include <regatta/memory/transport.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace regatta::memory {

/// What a channel knows about a queued request.
struct DramRequest {
  Payload* payload = nullptr;  ///< reads; null for writes, which are answered when they are queued
  std::uint64_t address = 0;
  std::uint64_t ready = 0;  ///< cycle in which it reached the queue
  unsigned bytes = 0;
  bool write = false;
};

/// Which queued request is issued next, and how long its access takes. A plain policy: rows, banks and their
/// timing belong here, the bus and the sockets belong to the channel.
class DramScheduler {
 public:
  virtual ~DramScheduler() = default;
  /// Index of the request to issue, out of the first `visible` of `queue` (at least one), oldest first.
  virtual std::size_t pick(const std::vector<DramRequest>& queue, std::size_t visible, std::uint64_t now) = 0;
  /// Cycles from issue to the first byte on the bus. Called once for a request, when it is issued.
  virtual std::uint64_t access_cycles(const DramRequest& request, std::uint64_t now) = 0;
  /// The smallest answer access_cycles() can give.
  virtual std::uint64_t minimum_access_cycles() const = 0;
  /// pick() always answers 0 and access_cycles() is constant: all times are then known when a request arrives.
  virtual bool in_order() const { return false; }
};

/// First come, first served, with one access time.
class FcfsScheduler : public DramScheduler {
 public:
  explicit FcfsScheduler(std::uint64_t cycles) : cycles_(cycles) {}
  std::size_t pick(const std::vector<DramRequest>&, std::size_t, std::uint64_t) override { return 0; }
  std::uint64_t access_cycles(const DramRequest&, std::uint64_t) override { return cycles_; }
  std::uint64_t minimum_access_cycles() const override { return cycles_; }
  bool in_order() const override { return true; }

 private:
  std::uint64_t cycles_;
};

/// Writes are posted: TLM_COMPLETED when there is room in the queue. Reads are answered when their last byte has
/// crossed the bus: with an in-order scheduler that is known at once and annotated to TLM_COMPLETED. A request is
/// issued when the bus is free by the time its data is there, so a saturated channel fills its queue and refuses
/// (TLM_ACCEPTED, END_REQ later).
class DramChannel : public sc_core::sc_module, public NonBlockingTarget, public support::StatProvider {
 public:
  protocol::MemoryTargetSocket upstream;

  DramChannel(const sc_core::sc_module_name& name, const MemorySystemConfig& config,
              const sc_core::sc_time& clock_period, std::unique_ptr<DramScheduler> scheduler = nullptr);

  bool idle() const;
  std::uint64_t bytes_moved() const { return bytes_read_ + bytes_written_; }

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void work();
  bool has_room(std::uint64_t now) const { return queue_.size() + (left_at_ == now ? left_ : 0) < capacity_; }
  bool room_at(std::uint64_t at) { return departures_.occupied(at) < capacity_; }
  std::uint64_t reserve(Payload& payload, std::uint64_t at);
  std::uint64_t move(std::uint64_t first_byte, unsigned bytes, bool write);
  void work_in_order(std::uint64_t now);
  void enqueue(Payload& payload, std::uint64_t ready);
  bool issue(std::uint64_t now);
  bool send_response(std::uint64_t now);

  CycleClock clock_;
  support::CycleClient wakeup_{clock_.one(), [](void* m) { static_cast<DramChannel*>(m)->work(); }, this};
  std::uint8_t all_sectors_;
  std::size_t capacity_;
  Bandwidth bandwidth_;
  std::unique_ptr<DramScheduler> scheduler_;
  bool in_order_ = false;
  DepartureRing departures_;     // in order: cycles of issue
  std::uint64_t answer_at_ = 0;  // in order: the last answer
  std::vector<DramRequest> queue_;
  std::uint64_t left_at_ = no_cycle;
  std::size_t left_ = 0;
  std::uint64_t bus_cycle_ = 0;  // the bus is free from bus_cycle_ + bus_fraction_ / bandwidth_.bytes on
  std::uint64_t bus_fraction_ = 0;
  TransferQueue finished_;           // reads, in the order of the bus
  Payload* write_answer_ = nullptr;  // a write that had to wait for the queue
  Payload* held_ = nullptr;
  std::uint64_t held_at_ = 0;
  ResponseSender responder_;

  std::uint64_t reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0, refusals_ = 0, queue_max_ = 0;
};

}  // namespace regatta::memory

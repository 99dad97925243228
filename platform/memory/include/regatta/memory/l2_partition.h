// SPDX-License-Identifier: Apache-2.0
//
// One slice of the L2: banked, sectored, write-back, write-allocate.
#pragma once

#include <regatta/memory/cache_array.h>
#include <regatta/memory/line_store.h>
#include <regatta/memory/memory_config.h>
#include <regatta/memory/mshr_table.h>
#include <regatta/memory/transport.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <vector>

namespace regatta::memory {

/// Requests are served in order, one per cycle; each keeps its bank busy for one cycle per sector.
///
///   loads, register reads   hits are answered after the access time; missing sectors are fetched from DRAM (merged
///                           with a fetch of the same sectors in flight)
///   stores, register writes whole sectors: allocated without a fetch, answered when accepted. With l2.store and
///                           l2.store_miss, stores are forwarded to DRAM always, or on a miss
///   atomics                 performed here: like a load whose sectors become dirty; the bank is busy twice as long
///
/// The bytes of register lines, also of those in DRAM, are in a sparse store beside the tags. A read takes them when it
/// is served, so it returns the last write served before it. Data accesses carry no bytes.
class L2Partition : public sc_core::sc_module,
                    public NonBlockingTarget,
                    public NonBlockingInitiator,
                    public support::StatProvider,
                    public support::HoldsWork {
 public:
  protocol::MemoryTargetSocket upstream;
  protocol::MemoryInitiatorSocket downstream;

  L2Partition(const sc_core::sc_module_name& name, const MemorySystemConfig& config, support::ClockDomain& clock);

  std::size_t outstanding() const { return pool_.outstanding(); }
  bool idle() const;
  std::string held_work() const override;
  bool work_is_due() const override { return wakeup_.is_due() && !idle(); }

  /// Changes the tags as an access of data would (data_load, data_store or atomic), without time and uncounted. Calls
  /// dram(address) for each line that would be fetched or written back. Only while the partition is idle.
  template <class Dram>
  void warm(std::uint64_t address, std::uint8_t sectors, protocol::AccessClass access, Dram&& dram);

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const protocol::MemoryRequestRules& rules() const override { return rules_; }

  const protocol::MemoryRequestRules rules_;
  const protocol::AnswerRules answer_rules_;
  void work();
  bool serve(std::uint64_t now);
  bool serve_read(Payload& payload, const protocol::MemoryAccess& access, std::uint8_t sectors, std::uint64_t now);
  bool serve_write(Payload& payload, const protocol::MemoryAccess& access, std::uint8_t sectors, std::uint64_t now);
  bool take_fills(std::uint64_t now);
  bool fill(Payload& payload, std::uint64_t now);
  std::uint32_t waits_next(Payload& waiter) const;
  void admit_held(std::uint64_t now);
  bool send_request(std::uint64_t now);
  bool send_response(std::uint64_t now);
  void dispatch(TransferQueue& queue, Payload& payload, std::uint64_t now);
  void dispatch_now(Payload& payload, std::uint64_t now, std::uint64_t at);
  void answer(Payload& payload, std::uint64_t now);
  std::size_t allocate(std::uint64_t address, std::uint64_t now);
  bool writeback_reserved(std::size_t wanted = 1) const {
    return writebacks_.size() + mshrs_.in_use() + wanted <= writebacks_.capacity();
  }
  void make_dirty(CacheArray::Line& line, std::uint8_t sectors) {
    bytes_dirtied_ += count_sectors(sectors & static_cast<std::uint8_t>(~line.dirty)) * protocol::sector_bytes;
    line.dirty |= sectors;
  }
  std::uint64_t dirty_bytes() const;
  void write_to_dram(std::uint64_t address, protocol::AccessClass access, std::uint8_t sectors, std::uint64_t now);

  /// The bank of a line, folded so that neither neighbours nor power-of-two strides collect in one.
  std::uint64_t& bank_of(std::uint64_t address) {
    std::uint64_t n = line_.quotient(address);
    n ^= (n >> 3) ^ (n >> 7) ^ (n >> 12) ^ (n >> 19) ^ (n >> 21);
    return bank_free_[banks_.remainder(n)];
  }

  CycleClock clock_;
  support::CycleClient wakeup_{clock_.domain(), [](void* m) { static_cast<L2Partition*>(m)->work(); }, this};
  Divisor line_, banks_;
  std::uint64_t access_cycles_;
  std::uint8_t all_sectors_;
  bool sector_merge_;
  bool write_through_, allocates_;
  std::uint64_t capacity_bytes_;
  CacheArray tags_;
  MshrTable mshrs_;
  LineStore store_;
  protocol::MemoryPayloadPool pool_;
  std::vector<std::uint64_t> bank_free_;

  TransferArrivals requests_;  // from the interconnect
  TransferQueue hits_;         // answers in the access pipeline
  TransferQueue done_;         // answers to fills and writes
  TransferQueue fetches_;      // to DRAM
  TransferQueue writebacks_;   // to DRAM; every MSHR in use has a slot reserved, so that a fill never waits for DRAM
  TransferQueue fills_;        // from DRAM, on the way and arrived; every MSHR in use
                               // has a place for its own
  std::size_t writeback_pressure_;
  Payload* held_ = nullptr;
  std::uint64_t held_at_ = 0, held_fill_at_ = 0;
  Payload* held_fill_ = nullptr;
  // The entry of the fill at the head when it is installed and its waiters are being answered.
  std::uint32_t filling_ = MshrTable::none;
  bool head_counted_ = false;
  std::uint64_t head_since_ = 0;         // the first request has been the first since
  bool head_waits_for_answers_ = false;  // the first request was refused for want of room among the answers
  RequestSender requester_;
  ResponseSender responder_;

  std::uint64_t reads_ = 0, read_hits_ = 0, read_misses_ = 0, merges_ = 0, failures_ = 0, bank_conflicts_ = 0,
                last_reads_ = 0;
  std::uint64_t writes_ = 0, write_hits_ = 0, atomics_ = 0, writebacks_count_ = 0, fetches_count_ = 0, refusals_ = 0;
  std::uint64_t bytes_fetched_ = 0, bytes_written_back_ = 0, bytes_dirtied_ = 0, bytes_passed_ = 0,
                bytes_discarded_ = 0;
  std::uint64_t bytes_read_ = 0, bytes_written_ = 0, busy_cycles_ = 0;
};

template <class Dram>
void L2Partition::warm(std::uint64_t address, std::uint8_t sectors, protocol::AccessClass access, Dram&& dram) {
  sectors &= all_sectors_;
  const bool store = is_store(access);
  std::size_t index = tags_.find(address);
  if (store && (write_through_ || (index == CacheArray::none && !allocates_))) {
    dram(address);
    if (index == CacheArray::none && !allocates_) return;
  }
  const std::uint8_t held = index == CacheArray::none ? 0 : tags_.line(index).valid;
  if (!store && (sectors & static_cast<std::uint8_t>(~held)) != 0) dram(address);
  if (index == CacheArray::none) {
    index = tags_.victim(address);
    CacheArray::Line& victim = tags_.line(index);
    if (victim.valid != 0 && victim.dirty != 0) dram(victim.address);
    victim = CacheArray::Line{};
    victim.address = address;
  }
  CacheArray::Line& line = tags_.line(index);
  line.valid |= sectors;
  if (access == protocol::AccessClass::atomic || (store && !write_through_)) line.dirty |= sectors;
  if (store) line.registers = false;
  tags_.touch(index);
}

}  // namespace regatta::memory

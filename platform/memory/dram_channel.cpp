// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/dram_channel.h>

#include <algorithm>

namespace regatta::memory {

using protocol::memory_access;

DramChannel::DramChannel(const sc_core::sc_module_name& name, const MemorySystemConfig& config,
                         const sc_core::sc_time& clock_period, std::unique_ptr<DramScheduler> scheduler)
    : sc_module(name),
      upstream("upstream"),
      clock_(clock_period),
      all_sectors_(line_sectors(config.l2.line_bytes)),
      capacity_(config.dram.queue),
      bandwidth_(config.channel_bandwidth()),
      scheduler_(std::move(scheduler)),
      // As many reads as the bus can bring within one access time, and a queue of answers beside.
      finished_(config.dram.queue + static_cast<std::size_t>(config.dram_access_cycles()) *
                                        (bandwidth_.bytes / (bandwidth_.cycles * protocol::sector_bytes) + 1)) {
  if (scheduler_ == nullptr) {
    scheduler_ = std::make_unique<FcfsScheduler>(static_cast<std::uint64_t>(config.dram_access_cycles()));
  }
  queue_.reserve(capacity_);
  upstream.bind(*this);
}

tlm::tlm_sync_enum DramChannel::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  if (phase == tlm::END_RESP) {
    if (!responder_.end_response(payload, at)) protocol_error(sc_module::name(), "END_RESP for no response under way");
    wakeup_.request(now, at);
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) protocol_error(sc_module::name(), "unexpected phase on the forward path");
  if (held_ != nullptr) protocol_error(sc_module::name(), "BEGIN_REQ before END_REQ of the previous request");
  if (has_room(now)) {
    const bool write = payload.is_write();
    const std::uint64_t access = scheduler_->minimum_access_cycles();
    enqueue(payload, at);
    wakeup_.request(now, std::max(at, bus_cycle_ > access ? bus_cycle_ - access : 0));
    if (delay < clock_.one()) delay = clock_.one();
    if (write) return tlm::TLM_COMPLETED;
    payload.acquire();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  payload.acquire();
  held_ = &payload;
  ++refusals_;
  if (left_at_ == now) wakeup_.request(now, now + 1);  // room from the next cycle on; otherwise an issue wakes us
  return tlm::TLM_ACCEPTED;
}

void DramChannel::enqueue(Payload& payload, std::uint64_t ready) {
  const protocol::MemoryAccess& access = memory_access(payload);
  DramRequest r;
  r.write = payload.is_write();
  r.payload = r.write ? nullptr : &payload;
  r.address = payload.get_address();
  r.ready = ready;
  r.bytes = count_sectors(access.sectors & all_sectors_) * protocol::sector_bytes;
  queue_.push_back(r);
  queue_max_ = std::max<std::uint64_t>(queue_max_, queue_.size());
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool DramChannel::issue(std::uint64_t now) {
  std::size_t visible = 0;
  while (visible < queue_.size() && queue_[visible].ready <= now) ++visible;
  bool moved = false;
  while (visible != 0 && bus_cycle_ <= now + scheduler_->minimum_access_cycles()) {
    const std::size_t index = scheduler_->pick(queue_, visible, now);
    const DramRequest r = queue_[index];
    if (!r.write && !finished_.has_room(now)) break;
    const std::uint64_t first_byte = now + scheduler_->access_cycles(r, now);
    if (bus_cycle_ < first_byte) {
      bus_cycle_ = first_byte;
      bus_fraction_ = 0;
    }
    bus_fraction_ += r.bytes * bandwidth_.cycles;
    bus_cycle_ += bus_fraction_ / bandwidth_.bytes;
    bus_fraction_ %= bandwidth_.bytes;
    if (r.write) {
      ++writes_;
      bytes_written_ += r.bytes;
    } else {
      ++reads_;
      bytes_read_ += r.bytes;
      finished_.push({r.payload, bus_cycle_ + (bus_fraction_ != 0 ? 1 : 0)});
    }
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
    --visible;
    if (left_at_ != now) {
      left_at_ = now;
      left_ = 0;
    }
    ++left_;
    moved = true;
  }
  return moved;
}

bool DramChannel::send_response(std::uint64_t now) {
  if (!responder_.can_send(now)) return false;
  Payload* p = write_answer_;
  if (p != nullptr) {
    write_answer_ = nullptr;
  } else if (finished_.ready(now)) {
    p = finished_.front().payload;
    finished_.pop(now);
  } else {
    return false;
  }
  if (responder_.send(upstream, *p, clock_, now)) p->release();
  return true;
}

void DramChannel::work() {
  const std::uint64_t now = clock_.now();
  const bool issued = issue(now);
  bool admitted = false;
  if (held_ != nullptr && write_answer_ == nullptr && has_room(now)) {
    Payload& p = *held_;
    held_ = nullptr;
    if (p.is_write()) write_answer_ = &p;
    enqueue(p, now + 1);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = clock_.one();
    upstream->nb_transport_bw(p, phase, delay);
    admitted = true;
  }
  const bool answered = send_response(now);

  NextCycle next(now);
  if (!queue_.empty()) {
    const std::uint64_t access = scheduler_->minimum_access_cycles();
    next.consider(std::max(queue_.front().ready, bus_cycle_ > access ? bus_cycle_ - access : 0), answered || issued);
  }
  if (held_ != nullptr) next.consider(now, issued || answered);
  if (!responder_.blocked()) {
    if (write_answer_ != nullptr) next.consider(responder_.next_at(), admitted || answered);
    if (!finished_.empty()) next.consider(std::max(finished_.next(), responder_.next_at()), answered);
  }
  if (next.next() != no_cycle) wakeup_.request(now, next.next());
}

bool DramChannel::idle() const {
  return queue_.empty() && finished_.empty() && write_answer_ == nullptr && held_ == nullptr && !responder_.blocked();
}

void DramChannel::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "accesses", "reads issued");
  g.counter("writes", writes_, "accesses", "writes issued");
  g.counter("bytes_read", bytes_read_, "bytes", "moved over the bus by reads");
  g.counter("bytes_written", bytes_written_, "bytes", "moved over the bus by writes");
  g.derived(
      "busy_cycles",
      [this] {
        return static_cast<double>(bytes_moved()) * static_cast<double>(bandwidth_.cycles) /
               static_cast<double>(bandwidth_.bytes);
      },
      "cycles", "time the bus moved data");
  g.counter("refusals", refusals_, "accesses", "requests that waited for room in the queue");
  g.counter("queue_max", queue_max_, "entries", "most requests queued at a time");
}

}  // namespace regatta::memory

// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/dram_channel.h>

#include <algorithm>

namespace regatta::memory {

DramChannel::DramChannel(const sc_core::sc_module_name& name, const MemorySystemConfig& config,
                         const sc_core::sc_time& clock_period, std::unique_ptr<DramScheduler> scheduler)
    : sc_module(name),
      upstream("upstream"),
      clock_(clock_period),
      all_sectors_(line_sectors(config.l2.line_bytes)),
      capacity_(config.dram.queue),
      bandwidth_(config.channel_bandwidth()),
      scheduler_(std::move(scheduler)),
      departures_(capacity_),
      // As many reads as the bus can bring within one access time, and a queue of answers beside.
      finished_(config.dram.queue + static_cast<std::size_t>(config.dram_access_cycles()) *
                                        (bandwidth_.bytes / (bandwidth_.cycles * protocol::sector_bytes) + 1)) {
  if (scheduler_ == nullptr) {
    scheduler_ = std::make_unique<FcfsScheduler>(static_cast<std::uint64_t>(config.dram_access_cycles()));
  }
  in_order_ = scheduler_->in_order();
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
  if (in_order_) {
    if (room_at(at)) {
      delay = clock_.time(reserve(payload, at) - now);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    held_ = &payload;
    held_at_ = at;
    ++refusals_;
    wakeup_.request(now, std::max(at, departures_.first() + 1));
    return tlm::TLM_ACCEPTED;
  }
  if (has_room(now)) {
    const bool write = payload.is_write();
    const std::uint64_t access = scheduler_->minimum_access_cycles();
    enqueue(payload, at);
    delay = clock_.time(at - now);
    wakeup_.request(now, std::max(at, bus_cycle_ > access ? bus_cycle_ - access : 0));
    if (write) return tlm::TLM_COMPLETED;
    payload.acquire();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  payload.acquire();
  held_ = &payload;
  held_at_ = at;
  ++refusals_;
  if (left_at_ == now || at > now + 1)
    wakeup_.request(now, at);  // room from the next cycle on; otherwise an issue wakes us
  return tlm::TLM_ACCEPTED;
}

// In order: everything is known. Returns the cycle in which the answer reaches the requester.
std::uint64_t DramChannel::reserve(Payload& payload, std::uint64_t at) {
  const std::uint64_t access = scheduler_->minimum_access_cycles();
  const unsigned bytes = count_sectors(access_of(payload).sectors & all_sectors_) * protocol::sector_bytes;
  const std::uint64_t issued = std::max(at, bus_cycle_ > access ? bus_cycle_ - access : 0);
  departures_.push(issued);
  queue_max_ = std::max<std::uint64_t>(queue_max_, departures_.size());
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  const bool write = payload.is_write();
  const std::uint64_t finished = move(issued + access, bytes, write);
  if (write) return at;
  answer_at_ = std::max(finished, answer_at_) + 1;
  return answer_at_;
}

// Moves the bytes over the bus from `first_byte` or when it is free. Returns the cycle in which the last has passed.
std::uint64_t DramChannel::move(std::uint64_t first_byte, unsigned bytes, bool write) {
  if (bus_cycle_ < first_byte) {
    bus_cycle_ = first_byte;
    bus_fraction_ = 0;
  }
  bus_fraction_ += bytes * bandwidth_.cycles;
  bus_cycle_ += bus_fraction_ / bandwidth_.bytes;
  bus_fraction_ %= bandwidth_.bytes;
  write ? ++writes_ : ++reads_;
  (write ? bytes_written_ : bytes_read_) += bytes;
  return bus_cycle_ + (bus_fraction_ != 0 ? 1 : 0);
}

// A held request is let in as soon as there is room. Its answer is known then, and announced ahead of time unless the
// requester has not yet taken the one before.
void DramChannel::work_in_order(std::uint64_t now) {
  if (held_ != nullptr) {
    if (held_at_ <= now + 1 && room_at(now)) {
      Payload& p = *held_;
      held_ = nullptr;
      const std::uint64_t when = reserve(p, now + 1);
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = clock_.one();
      upstream->nb_transport_bw(p, phase, delay);
      finished_.push({&p, std::max(when, now + 2)});
    } else {
      wakeup_.request(now, std::max(held_at_, departures_.empty() ? 0 : departures_.first() + 1));
    }
  }
  while (!finished_.empty() && !responder_.blocked()) {
    const Transfer next = finished_.front();
    finished_.pop(now);
    if (responder_.send(upstream, *next.payload, clock_, now, std::max(next.ready, now + 1))) next.payload->release();
  }
}

void DramChannel::enqueue(Payload& payload, std::uint64_t ready) {
  const protocol::MemoryAccess& access = access_of(payload);
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
    const std::uint64_t finished = move(first_byte, r.bytes, r.write);
    if (!r.write) finished_.push({r.payload, finished});
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
  if (responder_.blocked() || responder_.next_at() > now + 1) return false;
  Payload* p = write_answer_;
  if (p != nullptr) {
    write_answer_ = nullptr;
  } else if (finished_.ready(now)) {
    p = finished_.front().payload;
    finished_.pop(now);
  } else {
    return false;
  }
  if (responder_.send(upstream, *p, clock_, now, now + 1)) p->release();
  return true;
}

void DramChannel::work() {
  const std::uint64_t now = clock_.now();
  if (in_order_) return work_in_order(now);
  const bool issued = issue(now);
  bool admitted = false;
  if (held_ != nullptr && write_answer_ == nullptr && held_at_ <= now + 1 && has_room(now)) {
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
  if (held_ != nullptr) next.consider(std::max(now, held_at_ - 1), issued || answered);
  if (!responder_.blocked()) {
    if (write_answer_ != nullptr)
      next.consider(std::max<std::uint64_t>(responder_.next_at(), 1) - 1, admitted || answered);
    if (!finished_.empty()) next.consider(std::max(finished_.next() + 1, responder_.next_at()) - 1, answered);
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

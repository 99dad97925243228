// SPDX-License-Identifier: Apache-2.0
// The moving parts of the L1: fills, retries, and what goes out on either side.
#include <regatta/memory/l1_cache.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace regatta::memory {

using protocol::AccessClass;

tlm::tlm_sync_enum L1Cache::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  if (!answer_rules_.answers(payload, phase, delay, clock_)) {  // END_REQ
    requester_.end_request(payload, at);
    if (!misses_.empty()) wakeup_.request(now, at);
    return tlm::TLM_ACCEPTED;
  }
  if (requester_.blocked()) {
    requester_.end_request(payload, at);  // BEGIN_RESP implies END_REQ
    if (!requester_.blocked() && !misses_.empty()) wakeup_.request(now, at);
  }
  if (held_fill_ == nullptr && pass_up(payload, now, at)) return tlm::TLM_COMPLETED;
  wakeup_.request(now, at);
  if (held_fill_ == nullptr && fills_.has_room(now)) {
    fills_.push({&payload, at});
    return tlm::TLM_COMPLETED;
  }
  if (held_fill_ != nullptr) protocol_error(downstream.name(), "BEGIN_RESP before END_RESP of the previous response");
  held_fill_ = &payload;
  held_fill_at_ = at;
  return tlm::TLM_ACCEPTED;
}

// Handles all responses from below that are due, and requests whose translation is. Called by work() and also before
// each request, so that a request sees the same state whichever runs first in a cycle. A second call in a cycle has no
// effect.
void L1Cache::catch_up(std::uint64_t now) {
  if (!translating_.empty() && take_translations(now)) moved_ = true;
  while (fills_.ready(now)) {
    if (!fill(*fills_.front().payload, now)) return;
    fills_.pop(now);
    moved_ = true;
  }
}

// True when the response from below is dealt with; false when it has to wait for a queue.
bool L1Cache::fill(Payload& payload, std::uint64_t now) {
  if (filling_ == MshrTable::none) {
    const protocol::MemoryAccess& access = access_of(payload);
    const AccessClass c = access.access;
    if (access.writeback) {  // a write-back of this L1 is complete
      payload.release();
      return true;
    }
    const bool registers = c == AccessClass::register_read;
    std::uint32_t index = MshrTable::none;
    if (config_.enabled && mshrs_.in_use() != 0 && payload.is_read()) {
      index = mshrs_.find(payload.get_address(), &payload);
    }
    if (index == MshrTable::none) {  // went past the L1
      if (!responses_.has_room(now)) return false;
      responses_.push({&payload, now});
      return true;
    }
    MshrTable::Entry& entry = mshrs_.entry(index);
    if (entry.install) install(payload, entry.sectors, registers, now);
    entry.install = false;  // no request joins it from now on
    // Fills in all waiters before any is answered: the first may be the payload itself, which belongs to its owner
    // again once it is answered.
    mshrs_.for_each_waiter(index, [&](Payload& waiter) {
      if (&waiter == &payload) return;
      access_of(waiter).supplier = access.supplier;
      if (registers && waiter.get_data_ptr() != nullptr && payload.get_data_ptr() != nullptr) {
        std::memcpy(waiter.get_data_ptr(), payload.get_data_ptr(),
                    std::min(waiter.get_data_length(), payload.get_data_length()));
      }
      waiter.set_response_status(payload.get_response_status());
    });
    filling_ = index;
    moved_ = true;
    ++fills_count_;
  }
  while (Payload* waiter = mshrs_.first_waiter(filling_)) {
    if (config_.sector_merge) {
      const std::uint32_t other = waits_next(*waiter);
      if (other != MshrTable::none) {
        mshrs_.move_waiter(filling_, other);
        moved_ = true;
        continue;
      }
    }
    if (!responses_.has_room(now)) return false;
    responses_.push({waiter, now});
    mshrs_.pop_waiter(filling_);
    moved_ = true;
  }
  const bool own = mshrs_.entry(filling_).own;
  mshrs_.release(filling_);
  filling_ = MshrTable::none;
  if (own) payload.release();
  return true;
}

// What the waiter waits for when the entry that is filled has come: an entry with the rest of its sectors, or none.
std::uint32_t L1Cache::waits_next(Payload& waiter) const {
  const protocol::MemoryAccess& access = access_of(waiter);
  if (access.access == AccessClass::register_read) return MshrTable::none;
  const std::size_t index = tags_.find(waiter.get_address());
  const std::uint8_t valid = index == CacheArray::none ? 0 : tags_.line(index).valid;
  return mshrs_.waits_next(filling_, access.sectors & all_sectors_, valid);
}

// If a dirty victim cannot leave, it stays and the line is not installed. The response path must not wait for the
// request path to the L2, because that could deadlock.
void L1Cache::install(Payload& payload, std::uint8_t sectors, bool registers, std::uint64_t now) {
  const std::uint64_t address = payload.get_address();
  std::size_t index = tags_.find(address);
  if (index == CacheArray::none) {
    index = tags_.victim(address);
    if (!make_room(index, now)) {
      ++not_installed_;
      return;
    }
    CacheArray::Line& line = tags_.line(index);
    line.address = address;
    line.registers = registers;
    line.local = access_of(payload).access == AccessClass::local_load;
  } else if (registers) {
    return;
  }
  ++installed_;
  tags_.line(index).valid |= sectors;
  tags_.touch(index);
  if (registers) store_line(index, payload);
}

void L1Cache::retry_held(std::uint64_t now) {
  if (held_ == nullptr || held_at_ > now) return;
  Payload& payload = *held_;
  const std::uint64_t address = payload.get_address();
  const unsigned sectors = count_sectors(access_of(payload).sectors & all_sectors_);
  const bool room = late_hits_.has_room(now);  // a hit is answered through this queue
  const Admission a = room ? admit(payload, access_of(payload), now) : refuse(ReservationFailure::answers);
  if (a == Admission::refused) {
    if (!held_counted_) count_failure(now);
    held_counted_ = true;
    return;
  }
  held_ = nullptr;
  if (held_counted_) waited_[static_cast<unsigned>(refused_for_)] += now - refused_at_;
  // It has waited for a cycle in which nothing else was sent, so that there is a place in this one or the next.
  const std::uint64_t looked_up = ports_.earliest(now, address, sectors);
  ports_.take(now, looked_up, address, sectors);
  if (a == Admission::completed) late_hits_.push({&payload, looked_up + std::max(config_.hit_latency, 2u) - 1});
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = clock_.one();
  upstream->nb_transport_bw(payload, phase, delay);
}

// An answer that does not concern the L1 and meets no other answer goes directly to the SM, one cycle later.
bool L1Cache::pass_up(Payload& payload, std::uint64_t now, std::uint64_t at) {
  if (own_answers_from_ <= now || !fills_.unused(now) || !responses_.unused(now) || !responder_.open(now)) return false;
  if (pool_.outstanding() != 0 &&
      access_of(payload).access == AccessClass::register_write) {  // a write-back is through
    payload.release();
    return true;
  }
  if (responder_.send(upstream, payload, clock_, now, at + 1)) payload.release();
  return true;
}

// Sends towards the L2, with its translation. Instructions, constants, metadata and registers have addresses of their
// own, which need none.
void L1Cache::send_down(Payload& payload, std::uint64_t now) {
  if (tlb_.enabled()) {
    const AccessClass c = access_of(payload).access;
    const bool data = is_store(c) || c == AccessClass::data_load || c == AccessClass::local_load ||
                      c == AccessClass::atomic || c == AccessClass::texture;
    const std::uint64_t ready = data ? tlb_.translate(payload.get_address(), now) : now;
    // Behind those whose translation is known and that still wait for a place, so that requests of a line keep their
    // order.
    const bool behind = !translating_.empty() && translating_.front().ready <= now;
    if (ready > now || behind || !misses_.has_room(now)) {
      translating_.push_back({&payload, ready, translated_++});
      std::push_heap(translating_.begin(), translating_.end(), std::greater<>());
      wakeup_.request(now, std::max(ready, now + 1));
      return;
    }
  }
  send_translated(payload, now);
}

bool L1Cache::take_translations(std::uint64_t now) {
  bool moved = false;
  while (!translating_.empty() && translating_.front().ready <= now && misses_.has_room(now)) {
    Payload& payload = *translating_.front().payload;
    std::pop_heap(translating_.begin(), translating_.end(), std::greater<>());
    translating_.pop_back();
    send_translated(payload, now);
    moved = true;
  }
  return moved;
}

// If the queue is empty, the payload leaves at once, annotated with one cycle for the queue and
// one for the hop.
void L1Cache::send_translated(Payload& payload, std::uint64_t now) {
  if (misses_.unused(now) && requester_.open(now) && requester_.next_at() <= now + 2) {
    send_down_at(payload, now, now + 2);
    return;
  }
  misses_.push({&payload, now + 1});
  if (!requester_.blocked()) wakeup_.request(now, std::max(now + 2, requester_.next_at()) - 1);
}

void L1Cache::send_down_at(Payload& payload, std::uint64_t now, std::uint64_t at) {
  std::uint64_t when = 0;
  const RequestSender::Answer answer = requester_.send(downstream, payload, clock_, now, at, when);
  if (answer == RequestSender::Answer::taken) return;  // otherwise it was answered in the call
  fills_.push({&payload, when});
  wakeup_.request(now, when);
  if (answer == RequestSender::Answer::response) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = clock_.time(when - now);
    downstream->nb_transport_fw(payload, phase, delay);
  }
}

bool L1Cache::send_request(std::uint64_t now) {
  if (!misses_.ready(now) || requester_.blocked() || requester_.next_at() > now + 1) return false;
  Payload& payload = *misses_.front().payload;
  misses_.pop(now);
  send_down_at(payload, now, now + 1);
  return true;
}

bool L1Cache::send_response(std::uint64_t now) {
  if (responder_.blocked() || responder_.next_at() > now + 1) return false;
  TransferQueue* queue = responses_.ready(now) ? &responses_ : late_hits_.ready(now) ? &late_hits_ : nullptr;
  if (queue == nullptr) return false;
  Payload& payload = *queue->front().payload;
  queue->pop(now);
  if (responder_.send(upstream, payload, clock_, now, now + 1)) payload.release();
  return true;
}

void L1Cache::work() {
  const std::uint64_t now = clock_.now();
  catch_up(now);
  const bool filled = moved_;  // in this cycle, here or before a request
  moved_ = false;
  if (held_fill_ != nullptr && held_fill_at_ <= now + 1 && fills_.has_room(now)) {
    Payload& payload = *held_fill_;
    held_fill_ = nullptr;
    fills_.push({&payload, now + 1});
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = clock_.one();
    downstream->nb_transport_fw(payload, phase, delay);
  }
  retry_held(now);
  if (!flushed_.empty()) flush(now);
  const bool sent = send_request(now);
  bool answered = false;
  while (send_response(now)) answered = true;

  NextCycle next(now);
  if (!fills_.empty()) next.consider(fills_.next(), filled || answered);
  if (held_fill_ != nullptr) next.consider(held_fill_at_, filled);
  if (held_ != nullptr) next.consider(held_at_, filled || sent || answered);
  if (!flushed_.empty()) next.consider(now, sent || (filled && tlb_.enabled()));
  if (!translating_.empty()) next.consider(translating_.front().ready, sent);
  if (!misses_.empty() && !requester_.blocked()) {
    next.consider(std::max(misses_.next() + 1, requester_.next_at()) - 1, sent);
  }
  if (!responder_.blocked()) {
    if (!responses_.empty()) next.consider(std::max(responses_.next() + 1, responder_.next_at()) - 1, answered);
    if (!late_hits_.empty()) next.consider(std::max(late_hits_.next() + 1, responder_.next_at()) - 1, answered);
  }
  if (next.next() != no_cycle) wakeup_.request(now, next.next());
}

}  // namespace regatta::memory

// SPDX-License-Identifier: Apache-2.0
// The moving parts of an L2 partition: fills, retries, and what goes out on either side.
#include <regatta/memory/l2_partition.h>

#include <algorithm>

namespace regatta::memory {

using protocol::AccessClass;

bool L2Partition::take_fills(std::uint64_t now) {
  bool moved = false;
  while (fills_.ready(now)) {
    const std::size_t before = done_.size();
    const bool started = filling_ != MshrTable::none;
    if (!fill(*fills_.front().payload, now)) return moved || !started || done_.size() != before;
    fills_.pop(now);
    moved = true;
  }
  return moved;
}

// True when the response from DRAM is dealt with; false when answers have to wait for the queue.
bool L2Partition::fill(Payload& payload, std::uint64_t now) {
  if (filling_ == MshrTable::none) {
    filling_ = mshrs_.find(payload.get_address(), &payload);
    if (filling_ == MshrTable::none) protocol_error(downstream.name(), "a fill that nobody asked for");
    MshrTable::Entry& entry = mshrs_.entry(filling_);
    if (entry.install) {
      entry.install = false;  // no request joins it from now on
      std::size_t index = tags_.find(entry.address);
      if (index == CacheArray::none) index = allocate(entry.address, now);
      CacheArray::Line& line = tags_.line(index);
      line.valid |= entry.sectors;
      tags_.touch(index);
      mshrs_.for_each_waiter(filling_, [&](Payload& waiter) {
        const protocol::MemoryAccess& access = access_of(waiter);
        if (access.access == AccessClass::atomic) make_dirty(line, access.sectors & all_sectors_ & line.valid);
      });
    } else {
      ++last_reads_;  // nobody will read it again
    }
  }
  // The payload may itself be the first waiter; once answered, it belongs to its owner again.
  while (Payload* waiter = mshrs_.first_waiter(filling_)) {
    if (sector_merge_) {
      const std::uint32_t other = waits_next(*waiter);
      if (other != MshrTable::none) {
        mshrs_.move_waiter(filling_, other);
        continue;
      }
    }
    if (!done_.has_room(now)) return false;
    mshrs_.pop_waiter(filling_);
    answer(*waiter, now);
  }
  const bool own = mshrs_.entry(filling_).own;
  mshrs_.release(filling_);
  filling_ = MshrTable::none;
  if (own) payload.release();
  return true;
}

// What the waiter waits for when the entry that is filled has come: an entry with the rest of its sectors, or none.
std::uint32_t L2Partition::waits_next(Payload& waiter) const {
  const protocol::MemoryAccess& access = access_of(waiter);
  const std::size_t index = tags_.find(waiter.get_address());
  const std::uint8_t valid = index == CacheArray::none ? 0 : tags_.line(index).valid;
  return mshrs_.waits_next(filling_, access.sectors & all_sectors_, valid);
}

void L2Partition::admit_held(std::uint64_t now) {
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = clock_.one();
  if (held_ != nullptr && held_at_ <= now + 1 && requests_.has_room(now)) {
    Payload& p = *held_;
    held_ = nullptr;
    requests_.push({&p, now + 1});
    upstream->nb_transport_bw(p, phase, delay);
  }
  if (held_fill_ != nullptr && held_fill_at_ <= now + 1 && fills_.has_room(now)) {
    Payload& p = *held_fill_;
    held_fill_ = nullptr;
    fills_.push({&p, now + 1});
    phase = tlm::END_RESP;
    delay = clock_.one();
    downstream->nb_transport_fw(p, phase, delay);
  }
}

// Sends towards DRAM. If the queue is empty, the payload leaves at once, annotated with one cycle for the queue and one
// for the hop.
void L2Partition::dispatch(TransferQueue& queue, Payload& payload, std::uint64_t now) {
  if (fetches_.empty() && writebacks_.empty() && requester_.open(now) && requester_.next_at() <= now + 2) {
    dispatch_now(payload, now, now + 2);
  } else {
    queue.push({&payload, now + 1});
  }
}

void L2Partition::dispatch_now(Payload& p, std::uint64_t now, std::uint64_t at) {
  std::uint64_t when = 0;
  const bool write = p.is_write();
  const RequestSender::Answer reply = requester_.send(downstream, p, clock_, now, at, when);
  if (reply == RequestSender::Answer::taken) return;
  if (reply == RequestSender::Answer::response) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = clock_.time(when - now);
    downstream->nb_transport_fw(p, phase, delay);
  }
  if (write) {
    p.release();
    return;
  }
  fills_.push({&p, when});
}

bool L2Partition::send_request(std::uint64_t now) {
  if (requester_.blocked() || requester_.next_at() > now + 1) return false;
  TransferQueue* queue = nullptr;
  if (writebacks_.ready(now) && (writebacks_.size() >= writeback_pressure_ || !fetches_.ready(now))) {
    queue = &writebacks_;
  } else if (fetches_.ready(now)) {
    queue = &fetches_;
  } else {
    return false;
  }
  Payload& p = *queue->front().payload;
  queue->pop(now);
  dispatch_now(p, now, now + 1);
  return true;
}

// Sends towards the interconnect, in the same way. A hit that is due by then goes first.
void L2Partition::answer(Payload& p, std::uint64_t now) {
  if (!done_.empty() || !responder_.open(now) || responder_.next_at() > now + 2 || hits_.next() <= now + 1) {
    done_.push({&p, now + 1});
    return;
  }
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  if (responder_.send(upstream, p, clock_, now, now + 2)) p.release();
}

bool L2Partition::send_response(std::uint64_t now) {
  if (responder_.blocked() || responder_.next_at() > now + 1) return false;
  TransferQueue* queue = done_.ready(now) ? &done_ : hits_.ready(now) ? &hits_ : nullptr;
  if (queue == nullptr) return false;
  if (queue == &done_ && hits_.ready(now) && hits_.next() < done_.next()) queue = &hits_;
  Payload& p = *queue->front().payload;
  queue->pop(now);
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  if (responder_.send(upstream, p, clock_, now, now + 1)) p.release();
  return true;
}

void L2Partition::work() {
  const std::uint64_t now = clock_.now();
  const bool filled = fills_.ready(now) && take_fills(now);
  const bool served = requests_.ready(now) && serve(now);
  if (held_ != nullptr || held_fill_ != nullptr) admit_held(now);
  const bool sent = (!fetches_.empty() || !writebacks_.empty()) && send_request(now);
  const bool answered = (!done_.empty() || !hits_.empty()) && send_response(now);

  NextCycle next(now);
  if (!fills_.empty()) next.consider(fills_.next(), filled || answered);
  if (!requests_.empty()) {
    next.consider(std::max(requests_.next(), bank_of(requests_.front().payload->get_address())),
                  served || filled || sent || (answered && head_waits_for_answers_));
  }
  if (held_ != nullptr) next.consider(held_at_, served);
  if (held_fill_ != nullptr) next.consider(held_fill_at_, filled);
  if (!requester_.blocked()) {
    if (!fetches_.empty()) next.consider(std::max(fetches_.next() + 1, requester_.next_at()) - 1, sent);
    if (!writebacks_.empty()) next.consider(std::max(writebacks_.next() + 1, requester_.next_at()) - 1, sent);
  }
  if (!responder_.blocked()) {
    if (!done_.empty()) next.consider(std::max(done_.next() + 1, responder_.next_at()) - 1, answered);
    if (!hits_.empty()) next.consider(std::max(hits_.next() + 1, responder_.next_at()) - 1, answered);
  }
  if (next.next() != no_cycle) wakeup_.request(now, next.next());
}

}  // namespace regatta::memory

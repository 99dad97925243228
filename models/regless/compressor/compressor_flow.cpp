// SPDX-License-Identifier: Apache-2.0
// How requests come, and what goes out on either side.
#include <regatta/regless/compressor.h>

#include <algorithm>
#include <cstring>

namespace regatta::models {

using protocol::AccessClass;

void Compressor::b_transport(Payload& payload, sc_core::sc_time&) { rules_.refuse_blocking(payload); }

void Compressor::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/compressor", (std::string(name()) + ": " + what).c_str());
}

tlm::tlm_sync_enum Compressor::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + std::max<std::uint64_t>(1, cycles(delay));
  protocol::MemoryAccess* const request = rules_.begin(payload, phase, delay, clock_);
  if (request == nullptr) {  // END_RESP
    if (answering_ != &payload) {
      complain("END_RESP for no response under way");
      return tlm::TLM_COMPLETED;
    }
    answering_ = nullptr;
    next_answer_ = std::max(next_answer_, at);
    payload.release();
    wakeup_.request(now, at);
    return tlm::TLM_COMPLETED;
  }
  if (request->access != AccessClass::register_read && request->access != AccessClass::register_write &&
      request->access != AccessClass::register_invalidate) {
    complain(std::string("a request of class ") + protocol::to_string(request->access) +
             "; expected one of a register line");
    return tlm::TLM_ACCEPTED;
  }
  if (held_ != nullptr) {
    complain("BEGIN_REQ before END_REQ of the previous request");
    return tlm::TLM_ACCEPTED;
  }
  if (!has_room()) {
    payload.acquire();
    held_ = &payload;
    held_at_ = at;
    ++held_count_;
    return tlm::TLM_ACCEPTED;  // taken when an operation is done
  }
  const AccessClass access = take(payload, at);
  delay = clock_.time(at - now);
  if (access != AccessClass::register_read) return tlm::TLM_COMPLETED;
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// The caller answers writes and invalidations; their bytes are copied.
AccessClass Compressor::take(Payload& payload, std::uint64_t ready) {
  protocol::MemoryAccess& access = protocol::memory_access(payload);
  Operation o;
  o.reg = map_.shard_order(map_.index_of(payload.get_address()));
  o.ready = ready;
  o.access = access.access;
  if (o.access == AccessClass::register_read) {
    payload.acquire();
    o.payload = &payload;
    o.extension = &access;
  } else {
    const auto [own, extension] = pool_.take_with_access(payload.get_command(), payload.get_address());
    o.payload = own;
    o.extension = extension;
    o.extension->access = access.access;
    o.extension->sm = access.sm;
    if (o.access == AccessClass::register_write) {
      std::memcpy(o.payload->get_data_ptr(), payload.get_data_ptr(), compressed_line_bytes);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (o.access == AccessClass::register_write) ask_matcher(o);
  }
  queue_.push(o);
  ++inside_;
  if (!blocked_) wakeup_.request(clock_.now(), ready);
  return o.access;
}

// ---- the matcher and the expander ----

void Compressor::ask_matcher(Operation& o) {
  const auto& lanes = *reinterpret_cast<const WarpValue*>(o.payload->get_data_ptr());
  o.tag = next_tag_;
  switch (matcher.requests->look_up(lanes, o.tag, o.value)) {
    case protocol::LookupReply::busy:
      unasked_ += o.matching == Matching::unasked;
      return;
    case protocol::LookupReply::later:
      o.matching = Matching::asked;
      o.late = true;
      o.asked = clock_.now();
      break;
    case protocol::LookupReply::answered:
      o.matching = Matching::known;
      break;
  }
  ++next_tag_;
}

// In the order of the queue, until it refuses one.
void Compressor::ask_matcher_again() {
  for (std::size_t i = 0; i < queue_.size() && unasked_ != 0; ++i) {
    Operation& o = queue_[i];
    if (o.access != AccessClass::register_write || o.matching != Matching::unasked) continue;
    const unsigned before = unasked_--;
    ask_matcher(o);
    if (unasked_ == before) return;
  }
}

// A write leaves the queue after its answer only.
void Compressor::answered(std::uint32_t tag, const CompressedValue& value) {
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Operation& o = queue_[i];
    if (o.access != AccessClass::register_write || o.matching != Matching::asked || o.tag != tag) continue;
    o.value = value;
    o.matching = Matching::known;
    if (!blocked_) wakeup_.request(clock_.now(), o.ready);
    return;
  }
  protocol::unexpected_answer(name(), clock_.now(), tag);
}

void Compressor::answered(std::uint32_t tag, const WarpValue& lanes) {
  const std::uint64_t now = clock_.now();
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    Answer& a = answers_[i];
    if (!a.expanding || a.tag != tag) continue;
    std::memcpy(a.payload->get_data_ptr(), lanes.data(), sizeof lanes);
    a.expanding = false;
    a.ready = std::max(a.ready, now + 1);
    wakeup_.request(now, a.ready - 1);
    return;
  }
  protocol::unexpected_answer(name(), now, tag);
}

void Compressor::work() {
  const std::uint64_t now = clock_.now();
  if (unasked_ != 0) ask_matcher_again();
  while (!fills_.empty() && fills_.front().ready <= now) {
    Payload* p = fills_.front().payload;
    fills_.pop();
    fill(*p);
  }
  // One operation per cycle; those whose lines have come go first.
  support::Ring<Operation>* from = !resumed_.empty()                                ? &resumed_
                                   : !queue_.empty() && queue_.front().ready <= now ? &queue_
                                                                                    : nullptr;
  const auto waits_for_pattern = [](const Operation& o) {
    return o.access == AccessClass::register_write && o.matching != Matching::known;
  };
  if (from != nullptr && !blocked_ && !waits_for_pattern(from->front())) {
    Operation o = from->front();
    const Done done = perform(o, now);
    blocked_ = done == Done::no_place || done == Done::no_fetch || done == Done::no_way_out;
    blocked_count_ += blocked_;
    blocked_by_ = done;
    blocked_at_ = now;
    if (!blocked_ && done != Done::next_cycle) {
      if (from == &resumed_) --find(line_number(o.reg))->pins;
      from->pop();
      if (done == Done::yes) --inside_;
    }
  }
  if (held_ != nullptr && held_at_ <= now && has_room()) take_held(now);
  if (!out_.empty()) send(now);
  if (!answers_.empty() || !passing_.empty()) respond(now);

  std::uint64_t next = ~std::uint64_t{0};
  if (!blocked_) {
    if (!resumed_.empty()) next = now + 1;
    if (!queue_.empty()) next = std::min(next, queue_.front().ready);
  }
  if (held_ != nullptr && has_room()) next = std::min(next, held_at_);
  if (!fills_.empty()) next = std::min(next, fills_.front().ready);
  if (!out_.empty() && unanswered_ == nullptr) next = std::min(next, std::max(out_.front().ready, next_send_) - 1);
  if (answering_ == nullptr) {
    if (!answers_.empty()) next = std::min(next, std::max(answers_.front().ready, next_answer_) - 1);
    if (!passing_.empty()) next = std::min(next, std::max(passing_.front().ready, next_answer_) - 1);
  }
  if (next != ~std::uint64_t{0}) wakeup_.request(now, next);
}

void Compressor::take_held(std::uint64_t now) {
  Payload& p = *held_;
  held_ = nullptr;
  const bool answered = take(p, now + 1) != AccessClass::register_read;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = clock_.time(1);
  upstream->nb_transport_bw(p, phase, delay);
  if (answered) {
    answers_.push(Answer{&p, now + 2, 0, false});  // with our hold on it
  } else {
    p.release();
  }
}

// ---- to and from the L1 ----

// One request per cycle, seen in the next one.
void Compressor::send(std::uint64_t now) {
  if (unanswered_ != nullptr || next_send_ > now + 1 || out_.front().ready > now + 1) return;
  Payload& payload = *out_.front().payload;
  out_.pop();
  unblock();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.time(1);
  unanswered_ = &payload;
  next_send_ = now + 2;
  const tlm::tlm_sync_enum sync = downstream->nb_transport_fw(payload, phase, delay);
  if (sync == tlm::TLM_ACCEPTED) return;
  unanswered_ = nullptr;
  const std::uint64_t when = now + std::max<std::uint64_t>(1, cycles(delay));
  if (sync == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    next_send_ = std::max(next_send_, when);
    return;
  }
  if (sync == tlm::TLM_UPDATED) {
    phase = tlm::END_RESP;
    downstream->nb_transport_fw(payload, phase, delay);
  }
  sent(payload, when);
}

// A request was answered. Requests of the compressor itself are complete or bring a line; forwarded reads belong to the
// staging unit.
void Compressor::sent(Payload& payload, std::uint64_t when) {
  if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) {
    complain("the L1 answered " + payload.get_response_string());
  }
  const std::uint64_t now = clock_.now();
  if (protocol::memory_access(payload).access != AccessClass::register_read) {
    payload.release();
    return;
  }
  if (map_.is_compressed_space(payload.get_address())) {
    fills_.push(Timed{&payload, when});
    wakeup_.request(now, when);
    return;
  }
  if (passing_.empty() && answering_ == nullptr && next_answer_ <= when &&
      (answers_.empty() || answers_.front().expanding || answers_.front().ready > when)) {
    respond_with(payload, now, when);
    return;
  }
  passing_.push(Timed{&payload, when});
  wakeup_.request(now, when - 1);
}

void Compressor::fill(Payload& payload) {
  const std::uint64_t number = (payload.get_address() - first_line_) / compressed_line_bytes;
  Line* const fetched = number < inside_at_.size() ? find(static_cast<std::uint32_t>(number)) : nullptr;
  if (fetched == nullptr) return complain("a line came that nobody fetches");
  Line& line = *fetched;
  std::memcpy(line.bytes.data(), payload.get_data_ptr(), compressed_line_bytes);
  line.state = Line::State::valid;
  --fetching_;
  ++filled_;
  const protocol::Supplier supplier = protocol::memory_access(payload).supplier;
  payload.release();
  for (Operation& o : line.waiting) {
    o.supplier = supplier == protocol::Supplier::unknown ? protocol::Supplier::l1 : supplier;
    line_cycles_ += clock_.now() - o.waits_since;
    resumed_.push(o);
  }
  line.waiting.clear();
  unblock();
}

void Compressor::unblock() {
  if (!blocked_) return;
  blocked_ = false;
  std::uint64_t& cycles = blocked_by_ == Done::no_place   ? place_cycles_
                          : blocked_by_ == Done::no_fetch ? fetch_cycles_
                                                          : way_cycles_;
  cycles += clock_.now() - blocked_at_;
}

tlm::tlm_sync_enum Compressor::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + std::max<std::uint64_t>(1, cycles(delay));
  const bool answer = answer_rules_.answers(payload, phase, delay, clock_);
  if (unanswered_ == &payload) {  // END_REQ, or BEGIN_RESP which implies it
    unanswered_ = nullptr;
    next_send_ = std::max(next_send_, at);
    wakeup_.request(now, next_send_ - 1);
  }
  if (!answer) return tlm::TLM_ACCEPTED;
  sent(payload, at);
  return tlm::TLM_COMPLETED;
}

// ---- to the staging unit ----

void Compressor::respond_with(Payload& payload, std::uint64_t now, std::uint64_t at) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = clock_.time(at - now);
  answering_ = &payload;
  next_answer_ = at + 1;
  if (upstream->nb_transport_bw(payload, phase, delay) == tlm::TLM_ACCEPTED) return;
  answering_ = nullptr;
  next_answer_ = std::max(next_answer_, now + cycles(delay));
  payload.release();
}

void Compressor::respond(std::uint64_t now) {
  if (answering_ != nullptr || next_answer_ > now + 1) return;
  Payload* p = nullptr;
  if (!passing_.empty() && passing_.front().ready <= now + 1) {
    p = passing_.front().payload;
    passing_.pop();
  } else if (!answers_.empty() && answers_.front().ready <= now + 1 && !answers_.front().expanding) {
    p = answers_.front().payload;
    answers_.pop();
  } else {
    return;
  }
  respond_with(*p, now, now + 1);
}

}  // namespace regatta::models

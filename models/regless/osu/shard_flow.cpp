// SPDX-License-Identifier: Apache-2.0
// Uses of the bank cycles that instructions leave free, and the path to memory and back.
#include "shard.h"

#include <algorithm>

namespace regatta::models {

using protocol::AccessClass;
using protocol::RegisterId;
using protocol::WarpSlot;

void OsuShard::preload(WarpSlot warp, RegisterId reg, bool last) {
  request(warp, reg, last ? Request::Kind::last_preload : Request::Kind::preload);
}

void OsuShard::invalidate(WarpSlot warp, RegisterId reg) { request(warp, reg, Request::Kind::invalidate); }

void OsuShard::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/osu", (std::string(name()) + ": " + what).c_str());
}

void OsuShard::too_many_requests(unsigned bank) const {
  complain("bank " + std::to_string(bank) + ": more preloads and invalidations than lines");
}

void OsuShard::request(WarpSlot warp, RegisterId reg, Request::Kind kind) {
  const unsigned bank = bank_of(warp, reg);
  ShardBank& b = banks_[bank];
  if (b.requests.full()) return too_many_requests(bank);
  const std::uint64_t now = clock_.now();
  b.requests.push(Request{now, warp, reg, kind});
  activate(bank);
  wakeup_.request(now, now + 2);  // looked at in the next cycle, when that is over
}

// Assigns the bank cycles of the previous cycle, since it is known by now which of them instructions used.
void OsuShard::work() {
  const std::uint64_t now = clock_.now();
  if (look_again_ <= now) {
    look_again_ = never;
    came_free();
  }
  for (std::uint64_t m = active_; m != 0; m &= m - 1) {
    const auto index = static_cast<unsigned>(__builtin_ctzll(m));
    ShardBank& b = banks_[index];
    if (!b.requests.empty() && !is_stalled(index) && b.requests.front().since < now - 1 &&
        b.module.is_spare(SlotPorts::tag, now)) {
      const Served served = serve_request(b, now);
      if (served == Served::done) {
        b.requests.pop();
        b.module.use_spare_tag();
      } else if (served == Served::stalled) {
        stalled_ |= std::uint64_t{1} << index;
        ++stalled_requests_;
        look_again_ = std::min(look_again_, next_line(b, now));
      }
    }
    if (b.module.is_spare(SlotPorts::data, now)) {
      if (!b.fills.empty() && b.fills.front().ready < now) {
        serve_fill(b, now);
      } else if (!b.readouts.empty()) {
        b.module.read_out();
        leave(b, buffer_[b.readouts.front()].line);
      }
    }
    if ((b.requests.empty() || is_stalled(index)) && b.fills.empty() && b.readouts.empty()) {
      active_ &= ~(std::uint64_t{1} << index);
    }
  }
  if (!outgoing_.empty()) send(now);
  if (active_ != 0) wakeup_.request(now + 1);
  if (!outgoing_.empty() && waiting_ == nullptr) wakeup_.request(now, next_send_ - 1);
  if (look_again_ != never) wakeup_.request(now, look_again_);
}

OsuShard::Served OsuShard::serve_request(ShardBank& b, std::uint64_t now) {
  const Request r = b.requests.front();
  return r.kind == Request::Kind::invalidate ? serve_invalidate(b, r, now) : serve_preload(b, r, now);
}

OsuShard::Served OsuShard::serve_invalidate(ShardBank& b, const Request& r, std::uint64_t now) {
  const unsigned w = local(r.warp);
  const unsigned reg = r.reg.value();
  const bool backed = protocol::contains(backed_[w], reg);
  if (backed && !has_request_room()) return Served::stalled;
  const std::uint16_t line = b.module.look_up(w, reg);
  if (line != no_line) {
    drop(b, line, now + 1);
    came_free();
  }
  if (buffered_ != 0) {
    const int place = find_buffered(w, reg);
    if (place >= 0) cancel(static_cast<unsigned>(place));
  }
  if (protocol::contains(backed_[w], reg)) send_invalidation(w, reg, now);
  ++invalidations_;
  if (client_ != nullptr) client_->invalidated(r.warp, r.reg);
  return Served::done;
}

void OsuShard::send_invalidation(unsigned warp, unsigned reg, std::uint64_t now) {
  protocol::remove(backed_[warp], reg);
  push_request(message(warp, reg, AccessClass::register_invalidate).payload, now);
  ++invalidations_sent_;
}

OsuShard::Served OsuShard::serve_preload(ShardBank& b, const Request& r, std::uint64_t now) {
  OsuBank& bank = b.module;
  const unsigned w = local(r.warp);
  const unsigned reg = r.reg.value();
  const bool last = r.kind == Request::Kind::last_preload;
  const bool backed = protocol::contains(backed_[w], reg);
  // The value is fetched from memory, or a copy in memory that is no longer needed is dropped.
  if (backed && !has_request_room()) return Served::stalled;
  std::uint16_t line = bank.look_up(w, reg);
  const int place = line == no_line && buffered_ != 0 ? find_buffered(w, reg) : -1;
  if (line != no_line) {
    claim(b, line);
  } else if (place >= 0) {
    if (!bank.is_spare(SlotPorts::data, now)) return Served::next_cycle;
    line = fill_from_buffer(b, w, reg, static_cast<unsigned>(place), now);
    if (line == no_line) return Served::stalled;
  } else {
    line = allocate(b, w, reg, now);
    if (line == no_line) {
      buffer_full_ += buffer_room(now) == 0;
      return Served::stalled;
    }
    if (backed) {
      b.module.use(line).state = State::filling;
      bank.mark(line, last, false, now);
      if (last) protocol::remove(backed_[w], reg);
      const auto [payload, access] = message(w, reg, AccessClass::register_read);
      access->last_read = last;
      access->tag = b.index * lines_per_bank_ + line;
      push_request(payload, now);
      ++reads_sent_;
      return Served::done;  // acknowledged when it is filled
    }
    ++undefined_preloads_;
  }
  if (last) {
    if (protocol::contains(backed_[w], reg)) send_invalidation(w, reg, now);
    const bool defined = bank.line(line).is_defined;
    bank.mark(line, defined, defined, now);
  }
  ++preloads_;
  ++sources_[static_cast<unsigned>(PreloadSource::staged)];
  if (client_ != nullptr) client_->preloaded(r.warp, r.reg, PreloadSource::staged);
  return Served::done;
}

// The value is in the write-back buffer: it moves back to a line. Returns the line, or no_line if there is none.
std::uint16_t OsuShard::fill_from_buffer(ShardBank& b, unsigned warp, unsigned reg, unsigned place, std::uint64_t now) {
  const bool sent = buffer_[place].state == Buffered::State::sent;
  // The entry that the value leaves may itself make room for a dirty line.
  unsigned room = buffer_room(now) + (sent ? 0 : 1);
  if (!has_line(b, room, now)) return no_line;
  tlm::tlm_generic_payload& value = *buffer_[place].payload;
  value.acquire();
  if (!sent) {
    cancel(place);
    --freed_;  // what its place may be used for happens now
  }
  const unsigned before = buffered_;
  const std::uint16_t line = allocate(b, warp, reg, now);
  if (!sent && buffered_ == before) ++freed_;  // the line needed no place
  b.module.fill(line, value.get_data_ptr(), now);
  if (b.module.use(line).readout != 0) {
    b.module.book_read_out(now, now);
    leave(b, line);
  }
  value.release();
  b.module.mark(line, !sent, true, now);
  ++buffer_hits_;
  return line;
}

void OsuShard::serve_fill(ShardBank& b, std::uint64_t now) {
  OsuBank& bank = b.module;
  const ShardBank::Fill f = b.fills.front();
  LineUse& u = b.module.use(f.line);
  if (u.readout != 0) {  // what was there before goes first, and takes this cycle
    bank.read_out();
    leave(b, f.line);
    return;
  }
  b.fills.pop();
  if (u.state == State::dropped) {
    bank.fill(f.line, nullptr, now);
    u.state = State::listed;
    bank.free(f.line, now + 1);
    listed(b, f.line);
    came_free();
    f.payload->release();
    return;
  }
  bank.fill(f.line, f.payload->get_data_ptr(), now);
  u.state = State::owned;
  const OsuLine& l = bank.line(f.line);
  bank.mark(f.line, l.is_dirty, true, now);
  f.payload->release();
  PreloadSource source = PreloadSource::l1;
  if (f.supplier == protocol::Supplier::compressor) source = PreloadSource::compressor;
  if (f.supplier == protocol::Supplier::l2) source = PreloadSource::l2;
  if (f.supplier == protocol::Supplier::dram) source = PreloadSource::dram;
  ++preloads_;
  ++sources_[static_cast<unsigned>(source)];
  const WarpSlot warp = global(l.warp);
  const RegisterId reg(l.reg);
  settle(b, f.line, now + 1);  // a region that ended without waiting for it
  if (client_ != nullptr) client_->preloaded(warp, reg, source);
}

// ---- the write-back buffer ----

// The value of a dirty line gets a place in the buffer; it is there once it has been read out.
void OsuShard::to_buffer(ShardBank& b, const OsuBankAccess::Allocation& taken, std::uint64_t now) {
  unsigned place = 0;
  while (buffer_[place].state != Buffered::State::free) ++place;
  LineUse& u = b.module.use(taken.line);
  if (u.readout != 0) {
    b.module.read_out();
    leave(b, taken.line);
  }
  Buffered& p = buffer_[place];
  p.state = Buffered::State::in_line;
  p.warp = taken.warp;
  p.reg = taken.reg;
  p.bank = static_cast<std::uint16_t>(b.index);
  p.line = taken.line;
  p.payload = message(taken.warp, taken.reg, AccessClass::register_write).payload;
  trace::copy_value(p.payload->get_data_ptr(), b.module.value(taken.line), bytes_);
  ++buffered_;
  buffer_max_ = std::max<std::uint64_t>(buffer_max_, buffered_);
  u.readout = static_cast<std::uint8_t>(place + 1);
  b.readouts.push(static_cast<std::uint8_t>(place));
  activate(b.index);
  wakeup_.request(now, now + 1);
}

// The bank's cycle was used for the read-out: the value is in the buffer and may leave.
void OsuShard::leave(ShardBank& b, std::uint16_t line) {
  LineUse& u = b.module.use(line);
  const auto place = static_cast<std::uint8_t>(u.readout - 1);
  u.readout = 0;
  b.readouts.remove_if([&](std::uint8_t p) { return p == place; });
  buffer_[place].state = Buffered::State::read_out;
  buffer_[place].line = no_line;
  outgoing_.push(Outgoing{buffer_[place].payload, place});
  wakeup_.request(clock_.now() + 1);
}

int OsuShard::find_buffered(unsigned warp, unsigned reg) const {
  // A value that was sent but not yet taken may be in the buffer beside a younger value of the register.
  int found = -1;
  for (unsigned i = 0; i < buffer_.size(); ++i) {
    const Buffered& p = buffer_[i];
    if (p.state == Buffered::State::free || p.warp != warp || p.reg != reg) continue;
    if (p.state != Buffered::State::sent) return static_cast<int>(i);
    found = static_cast<int>(i);
  }
  return found;
}

void OsuShard::free_place(unsigned place) {
  buffer_[place] = Buffered{};
  --buffered_;
  const std::uint64_t now = clock_.now();
  if (freed_at_ != now) freed_ = 0;
  freed_at_ = now;
  ++freed_;
  ++places_freed_;
  if (refused_) tell(now + 1);
}

// Removes a value from the buffer unless it has left. Returns false if it has.
bool OsuShard::cancel(unsigned place) {
  Buffered& p = buffer_[place];
  if (p.state == Buffered::State::sent) return false;
  if (p.state == Buffered::State::in_line) {
    banks_[p.bank].module.use(p.line).readout = 0;
    banks_[p.bank].readouts.remove_if([&](std::uint8_t q) { return q == place; });
  } else {
    outgoing_.remove_if([&](const Outgoing& o) { return o.place == place; });
  }
  p.payload->release();
  free_place(place);
  ++writes_cancelled_;
  came_free();
  return true;
}

// ---- to memory ----

protocol::MemoryPayloadPool::Taken OsuShard::message(unsigned warp, unsigned reg, AccessClass c) {
  const WarpSlot slot = global(warp);
  const std::uint64_t address = map_.address(map_.index(slot, RegisterId(static_cast<std::uint8_t>(reg))));
  const protocol::MemoryPayloadPool::Taken taken = pool_.take_with_access(
      c == AccessClass::register_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address);
  taken.access->access = c;
  taken.access->sm = static_cast<std::uint16_t>(space_.sm);
  return taken;
}

void OsuShard::push_request(tlm::tlm_generic_payload* payload, std::uint64_t now) {
  outgoing_.push(Outgoing{payload, no_place});
  ++requests_out_;
  wakeup_.request(now, now + 1);
}

// One request per cycle, seen in the next one.
void OsuShard::send(std::uint64_t now) {
  if (waiting_ != nullptr || next_send_ > now + 1) return;
  sent_ = outgoing_.front();
  outgoing_.pop();
  if (sent_.place == no_place) {
    --requests_out_;
    came_free();
  } else {
    Buffered& p = buffer_[sent_.place];
    p.state = Buffered::State::sent;
    protocol::add(backed_[p.warp], p.reg);
    ++writes_sent_;
  }
  tlm::tlm_generic_payload& payload = *sent_.payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.time(1);
  waiting_ = &payload;
  next_send_ = now + 2;
  switch (memory->nb_transport_fw(payload, phase, delay)) {
    case tlm::TLM_ACCEPTED:
      return;  // END_REQ comes, or has come
    case tlm::TLM_UPDATED:
      taken(now, now + std::max<std::uint64_t>(1, cycles(delay)));
      if (phase == tlm::BEGIN_RESP) {
        const std::uint64_t when = now + std::max<std::uint64_t>(1, cycles(delay));
        phase = tlm::END_RESP;
        memory->nb_transport_fw(payload, phase, delay);
        answered(payload, when);
      }
      return;
    case tlm::TLM_COMPLETED:
      taken(now, now + 2);
      answered(payload, now + std::max<std::uint64_t>(1, cycles(delay)));
      return;
  }
}

// The waiting request was taken; the next one may follow at `at`.
void OsuShard::taken(std::uint64_t now, std::uint64_t at) {
  waiting_ = nullptr;
  next_send_ = std::max(next_send_, at);
  if (sent_.place != no_place) free_place(sent_.place);
  came_free();  // a place in the buffer, or among the requests
  if (!outgoing_.empty()) wakeup_.request(now, next_send_ - 1);
}

void OsuShard::failed(const tlm::tlm_generic_payload& payload) const {
  complain("memory answered " + payload.get_response_string());
}

void OsuShard::answered(tlm::tlm_generic_payload& payload, std::uint64_t when) {
  if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) failed(payload);
  const protocol::MemoryAccess& access = protocol::memory_access(payload);
  if (access.access != AccessClass::register_read) {
    payload.release();
    return;
  }
  ShardBank& b = banks_[access.tag / lines_per_bank_];
  const auto line = static_cast<std::uint16_t>(access.tag % lines_per_bank_);
  b.fills.push(ShardBank::Fill{when, &payload, line, access.supplier});
  activate(b.index);
  wakeup_.request(clock_.now(), when + 1);
}

tlm::tlm_sync_enum OsuShard::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + std::max<std::uint64_t>(1, cycles(delay));
  const bool answer = answer_rules_.answers(payload, phase, delay, clock_);
  if (waiting_ == &payload) taken(now, at);  // END_REQ, or BEGIN_RESP which implies it
  if (!answer) return tlm::TLM_ACCEPTED;
  answered(payload, at);
  return tlm::TLM_COMPLETED;
}

// Retries the requests that had to wait, because a line, a buffer entry or room for a request has become free.
void OsuShard::try_stalled() {
  active_ |= stalled_;
  stalled_ = 0;
  wakeup_.request(clock_.now() + 1);
}

}  // namespace regatta::models

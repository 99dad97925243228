// SPDX-License-Identifier: Apache-2.0
// Lines, and the accesses of instructions.
#include "shard.h"

#include <algorithm>

namespace regatta::models {

using protocol::RegisterId;
using protocol::WarpAccess;
using protocol::WarpSlot;

namespace {

bool power_of_two(unsigned n) { return (n & (n - 1)) == 0; }

}  // namespace

OsuShard::OsuShard(const sc_core::sc_module_name& name, unsigned shard, const OsuConfig& config,
                   const RegisterSpace& space, support::ClockDomain& clock)
    : sc_module(name),
      memory("memory"),
      answer_rules_(memory),
      config_(config),
      space_(space),
      shard_(shard),
      clock_(clock),
      by_shards_(space.shards),
      bank_mask_(power_of_two(config.banks) ? config.banks - 1 : 0),
      lines_per_bank_(config.lines_per_bank(space)),
      warps_(space.warps_per_shard()),
      bytes_(space.line_bytes),
      banks_(config.banks),
      owned_(warps_),
      backed_(warps_),
      last_refusal_(warps_),
      map_(space),
      buffer_(config.writeback_buffer),
      outgoing_(std::size_t{config.writeback_buffer} + config.request_queue),
      pool_(space.line_bytes),
      wakeup_(
          clock, [](void* s) { static_cast<OsuShard*>(s)->work(); }, this) {
  OsuBankConfig bank;
  bank.lines = lines_per_bank_;
  bank.warps = warps_;
  bank.banks = config.banks;
  bank.line_bytes = space.line_bytes;
  bank.owner_adds_energy = true;
  for (unsigned b = 0; b < config.banks; ++b) {
    banks_.emplace_back(("bank" + std::to_string(b)).c_str(), b, bank, config.writeback_buffer);
  }
  memory.bind(*this);
}

void OsuShard::kernel_started(unsigned registers_per_warp) {
  // The SM is empty: what is still in the lists belonged to warps that are gone.
  registers_ = std::max(1u, std::min(registers_per_warp, RegisterMap::registers));
  for (ShardBank& b : banks_) {
    for (std::uint16_t line = 0; line < b.module.lines(); ++line) drop(b, line, clock_.now());
    b.module.kernel_started(registers_);
  }
  refused_ = false;
  told_at_ = 0;
}

void OsuShard::warp_started(WarpSlot warp) {
  backed_[local(warp)] = {};
  if (below_ != nullptr) below_->warp_started(warp);
}

void OsuShard::warp_finished(WarpSlot warp) {
  const unsigned w = local(warp);
  const std::uint64_t now = clock_.now();
  for (unsigned r = 0; r < registers_; ++r) {
    ShardBank& b = home_of(w, r);
    const std::uint16_t line = b.module.look_up(w, r);
    if (line != no_line) drop(b, line, now);
  }
  if (buffered_ != 0) {
    for (unsigned place = 0; place < buffer_.size(); ++place) {
      if (buffer_[place].state == Buffered::State::free || buffer_[place].warp != w) continue;
      // A value that was sent still leaves, but not for the next warp in the slot.
      if (!cancel(place)) buffer_[place].warp = no_warp;
    }
  }
  owned_[w] = {};
  backed_[w] = {};
  came_free();
}

// ---- lines ----

// Allocates a line for a register that has none. Returns no_line if there is none.
std::uint16_t OsuShard::allocate(ShardBank& b, unsigned warp, unsigned reg, std::uint64_t now) {
  const OsuBankAccess::Allocation taken = b.module.allocate(warp, reg, now, buffer_room(now) != 0);
  if (taken.line == no_line) return no_line;
  if (taken.from == BankList::free) {
    ++from_free_;
  } else if (taken.from == BankList::clean) {
    ++clean_dropped_;
  } else {
    to_buffer(b, taken, now);
    ++evictions_;
  }
  LineUse& u = b.module.use(taken.line);
  u.reads = u.writes = 0;
  own(b, taken.line);
  return taken.line;
}

// A region takes a line that has its register's value.
void OsuShard::claim(ShardBank& b, std::uint16_t line) {
  b.module.own(line);
  own(b, line);
}

// The bank's line belongs to a region from now on.
void OsuShard::own(ShardBank& b, std::uint16_t line) {
  LineUse& u = b.module.use(line);
  u.state = State::owned;
  u.fate = LastUse::none;
  const OsuLine& l = b.module.line(line);
  protocol::add(owned_[l.warp], l.reg);
}

// Releases an owned line, whose last access is in the cycle before `at`.
void OsuShard::release(ShardBank& b, std::uint16_t line, LastUse fate, std::uint64_t at) {
  const OsuLine& l = b.module.line(line);
  protocol::remove(owned_[l.warp], l.reg);
  LineUse& u = b.module.use(line);
  u.state = State::listed;
  u.fate = LastUse::none;
  if (b.module.release(line, fate == LastUse::erase, at) == BankList::free) ++erased_;
  listed(b, line);
  if (is_stalled(b.index)) try_stalled();
}

// Discards the value in the line.
void OsuShard::drop(ShardBank& b, std::uint16_t line, std::uint64_t at) {
  const OsuLine& l = b.module.line(line);
  LineUse& u = b.module.use(line);
  if (l.list == BankList::free || u.state == State::dropped) return;
  if (u.state != State::listed) protocol::remove(owned_[l.warp], l.reg);
  if (u.state == State::filling) {  // its value will still come
    b.module.forget(line);
    u.state = State::dropped;
    return;
  }
  b.module.free(line, at);
  u.state = State::listed;
  u.reads = u.writes = 0;
  u.fate = LastUse::none;
  listed(b, line);
}

// ---- control ----

void OsuShard::issued(const protocol::DynamicInstruction& d, const UseMarks& marks) {
  const protocol::InstructionTraits& t = *d.traits;
  const unsigned w = local(d.warp);
  const bool writes_come = d.active != 0;
  const std::uint64_t now = clock_.now();
  for (unsigned i = 0; i < t.read_count; ++i) {
    ShardBank& b = home_of(w, t.reads[i].value());
    const std::uint16_t line = b.module.look_up(w, t.reads[i].value());
    if (line == no_line || b.module.use(line).state != State::owned) continue;
    LineUse& u = b.module.use(line);
    ++u.reads;
    b.module.prefetch(line);
    if (marks.reads[i] != LastUse::none) u.fate = marks.reads[i];
  }
  if (t.write_count > 1 && writes_come) {
    // Destinations that have a line keep it, before the others take what there is.
    for (unsigned i = 0; i < t.write_count; ++i) {
      ShardBank& b = home_of(w, t.writes[i].value());
      const std::uint16_t line = b.module.look_up(w, t.writes[i].value());
      if (line != no_line && b.module.use(line).state == State::listed) claim(b, line);
    }
  }
  for (unsigned i = 0; i < t.write_count; ++i) {
    const unsigned r = t.writes[i].value();
    ShardBank& b = home_of(w, r);
    std::uint16_t line = b.module.look_up(w, r);
    if (writes_come) {
      if (line == no_line) {
        if (r >= registers_ || w >= warps_) continue;
        if (buffered_ != 0) {
          // The write overwrites a value that is on its way to memory.
          const int place = find_buffered(w, r);
          if (place >= 0) cancel(static_cast<unsigned>(place));
        }
        line = allocate(b, w, r, now);
        if (line == no_line) continue;
        b.module.book_tag(now, now + config_.arbitration);
      } else if (b.module.use(line).state == State::listed) {
        claim(b, line);
      }
      ++b.module.use(line).writes;
    }
    if (line == no_line || marks.writes[i] == LastUse::none) continue;
    b.module.use(line).fate = marks.writes[i];
    if (!writes_come) settle(b, line, now);
  }
}

void OsuShard::region_ended(WarpSlot warp, const protocol::GeneralRegisters& erase) {
  const unsigned w = local(warp);
  const std::uint64_t now = clock_.now();
  for (unsigned word = 0; word < owned_[w].size(); ++word) {
    for (std::uint64_t m = owned_[w][word]; m != 0; m &= m - 1) {
      const unsigned r = word * 64 + static_cast<unsigned>(__builtin_ctzll(m));
      ShardBank& b = home_of(w, r);
      const std::uint16_t line = b.module.look_up(w, r);
      if (line == no_line) continue;
      LineUse& u = b.module.use(line);
      if (protocol::contains(erase, r)) {
        u.fate = LastUse::erase;
      } else if (u.fate == LastUse::none) {
        u.fate = LastUse::evict;
      }
      settle(b, line, now);
    }
  }
}

// ---- accesses of instructions ----

void OsuShard::read(tlm::tlm_generic_payload& payload, WarpAccess& access, unsigned w, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + cycles(delay) + config_.arbitration;
  ShardBank& b = home_of(w, access.reg.value());
  const std::uint64_t slot = b.module.book_read(now, at);
  delay += clock_.time(slot - at + config_.arbitration + config_.latency);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  access.origin.index = shard_ * config_.banks + b.index;
  const std::uint16_t line = b.module.look_up(w, access.reg.value());
  if (line == no_line) return read_no_line(payload, access);
  const bool defined = b.module.read(line, payload.get_data_ptr());
  access.origin.place = defined ? "staging bank" : "unwritten line of staging bank";
  LineUse& u = b.module.use(line);
  if (u.reads != 0) --u.reads;
  settle(b, line, slot + 1);
}

void OsuShard::read_no_line(tlm::tlm_generic_payload& payload, WarpAccess& access) {
  std::fill_n(reinterpret_cast<std::uint32_t*>(payload.get_data_ptr()), bytes_ / sizeof unwritten_word, unwritten_word);
  access.origin.place = "not staged, bank";
  ++not_staged_;
}

bool OsuShard::write(tlm::tlm_generic_payload& payload, const WarpAccess& access, unsigned w, sc_core::sc_time& delay,
                     std::uint64_t most) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + cycles(delay);
  ShardBank& b = home_of(w, access.reg.value());
  if (b.module.backlog(now, at) > most) return false;
  const std::uint16_t line = b.module.look_up(w, access.reg.value());
  if (line != no_line && b.module.use(line).readout != 0) {
    b.module.book_read_out(now, at);
    leave(b, line);
  }
  const std::uint64_t slot = b.module.book_write(now, at);
  delay += clock_.time(slot - at + config_.latency);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (line == no_line) {
    ++lost_writes_;
    return true;
  }
  if (b.module.write(line, payload.get_data_ptr(), payload.get_byte_enable_ptr(), slot + 1)) {
    listed(b, line);
    came_free();
  }
  LineUse& u = b.module.use(line);
  if (u.writes != 0) --u.writes;
  settle(b, line, slot + 1);
  return true;
}

}  // namespace regatta::models

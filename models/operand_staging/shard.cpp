// SPDX-License-Identifier: Apache-2.0
// Lines, and the accesses of instructions.
#include "shard.h"

#include <algorithm>
#include <cstring>

namespace regatta::models {

using protocol::RegisterId;
using protocol::WarpAccess;
using protocol::WarpSlot;

namespace {

bool power_of_two(unsigned n) { return (n & (n - 1)) == 0; }

/// Value of registers that were never written; programs are unlikely to compute it.
constexpr std::uint32_t poison_word = 0xdeadf00d;

}  // namespace

StagingShard::StagingShard(const sc_core::sc_module_name& name, unsigned shard, const OperandStagingConfig& config,
                           sc_core::sc_time clock_period)
    : sc_module(name),
      memory("memory"),
      config_(config),
      shard_(shard),
      clock_(support::CycleScheduler::of(clock_period)),
      by_shards_(config.shards),
      bank_mask_(power_of_two(config.banks) ? config.banks - 1 : 0),
      lines_per_bank_(config.lines_per_bank()),
      warps_((config.warps + config.shards - 1) / config.shards),
      bytes_(config.line_bytes),
      lines_(std::size_t{lines_per_bank_} * config.banks),
      owned_(warps_),
      backed_(warps_),
      last_refusal_(warps_),
      map_(config.sm, config.warps, config.line_bytes, config.shards),
      buffer_(config.writeback_buffer),
      outgoing_(std::size_t{config.writeback_buffer} + config.request_queue),
      pool_(config.line_bytes),
      wakeup_(
          clock_period, [](void* s) { static_cast<StagingShard*>(s)->work(); }, this) {
  values_.resize(lines_.size(), config.line_bytes / trace::bytes_per_lane);
  banks_.reserve(config.banks);
  for (unsigned b = 0; b < config.banks; ++b) {
    StagingBank& bank = banks_.emplace_back(lines_per_bank_, config.writeback_buffer);
    bank_modules_.push_back(std::make_unique<StagingBankModule>(("bank" + std::to_string(b)).c_str(), bank));
    for (unsigned i = 0; i < lines_per_bank_; ++i) {
      const auto line = static_cast<std::uint16_t>(b * lines_per_bank_ + i);
      lines_[line].bank = static_cast<std::uint16_t>(b);
      banks_[b].free.push(lines_, line);
    }
  }
  memory.bind(*this);
}

void StagingShard::kernel_started(unsigned registers_per_warp) {
  // The SM is empty: what is still in the lists belonged to warps that are gone.
  for (std::size_t i = 0; i < lines_.size(); ++i) drop(static_cast<std::uint16_t>(i), clock_.now());
  registers_ = std::max(1u, std::min(registers_per_warp, RegisterMap::registers));
  table_.assign(std::size_t{warps_} * registers_, no_line);
  refused_ = false;
  told_at_ = 0;
}

void StagingShard::warp_started(WarpSlot warp) {
  backed_[local(warp)] = {};
  if (below_ != nullptr) below_->warp_started(warp);
}

void StagingShard::warp_finished(WarpSlot warp) {
  const unsigned w = local(warp);
  const std::uint64_t now = clock_.now();
  for (unsigned r = 0; r < registers_; ++r) {
    const std::uint16_t line = line_of(w, r);
    if (line != no_line) drop(line, now);
  }
  if (buffered_ != 0) {
    for (unsigned place = 0; place < buffer_.size(); ++place) {
      if (buffer_[place].state != Buffered::State::free && buffer_[place].warp == w) cancel(place);
    }
  }
  owned_[w] = {};
  backed_[w] = {};
  came_free();
}

// ---- lines ----

// Allocates a line for a register that has none: a free one, else a clean one, else a dirty one (section 5.2). Returns
// no_line if there is none.
std::uint16_t StagingShard::allocate(unsigned bank, unsigned warp, unsigned reg, std::uint64_t now) {
  StagingBank& b = banks_[bank];
  State from = State::owned;
  if (is_available(b.free, now)) {
    from = State::free;
  } else if (is_available(b.clean, now)) {
    from = State::clean;
  } else if (is_available(b.dirty, now) && buffer_room(now) != 0) {
    from = State::dirty;
  }
  std::uint16_t line = from == State::owned ? no_line : b.list(from).first();
  if (__builtin_expect(twins_ != nullptr, 0)) line = twin_allocate(bank, warp, reg, now, line, from);
  if (line == no_line) return no_line;
  unlist(line);
  if (from == State::free) {
    ++from_free_;
  } else {
    if (from == State::clean) {
      ++clean_dropped_;
    } else {
      to_buffer(line, now);
      ++evictions_;
    }
    forget(line);
  }
  StagingLine& l = lines_[line];
  l.warp = static_cast<std::uint16_t>(warp);
  l.reg = static_cast<std::uint8_t>(reg);
  l.is_dirty = false;
  l.is_defined = false;
  l.reads = l.writes = 0;
  table_[warp * registers_ + reg] = line;
  own(line);
  return line;
}

// A region takes a line that has its register's value.
void StagingShard::claim(std::uint16_t line) {
  if (__builtin_expect(twins_ != nullptr, 0)) twin_own(line);
  const State state = lines_[line].state;
  if (state == State::clean || state == State::dirty) unlist(line);
  own(line);
}

// The line must be in no list; from now on it belongs to a region.
void StagingShard::own(std::uint16_t line) {
  StagingLine& l = lines_[line];
  l.state = State::owned;
  l.fate = LastUse::none;
  protocol::add(owned_[l.warp], l.reg);
}

// A list is in the order in which its lines may be taken. `last`: the line that was last in it.
void StagingShard::to_list(std::uint16_t line, State list, std::uint64_t at, std::uint16_t last) {
  StagingLine& l = lines_[line];
  StagingBank& b = banks_[l.bank];
  LineList& lines = b.list(list);
  l.state = list;
  ++b.lines_listed;
  l.available_at = last == no_line ? at : std::max(at, lines_[last].available_at);
  lines.push(lines_, line);
  if (refused_) tell(l.available_at);
}

void StagingShard::unlist(std::uint16_t line) {
  banks_[lines_[line].bank].list(lines_[line].state).remove(lines_, line);
}

// The line's tag is no longer its register's.
void StagingShard::forget(std::uint16_t line) {
  const StagingLine& l = lines_[line];
  std::uint16_t& entry = table_[l.warp * registers_ + l.reg];
  if (entry == line) entry = no_line;
}

// Releases an owned line, whose last access is in the cycle before `at`.
void StagingShard::release(std::uint16_t line, LastUse fate, std::uint64_t at) {
  StagingLine& l = lines_[line];
  protocol::remove(owned_[l.warp], l.reg);
  l.fate = LastUse::none;
  const bool erase = fate == LastUse::erase;
  State list = erase || !l.is_defined ? State::free : l.is_dirty ? State::dirty : State::clean;
  std::uint16_t last = last_of(line, list);
  if (__builtin_expect(twins_ != nullptr, 0)) twin_release(line, erase, list, last);
  if (list == State::free) {
    forget(line);
    ++erased_;
  }
  to_list(line, list, at, last);
  if (is_stalled(l.bank)) try_stalled();
}

// Discards the value in the line.
void StagingShard::drop(std::uint16_t line, std::uint64_t at) {
  StagingLine& l = lines_[line];
  if (l.state == State::free || l.state == State::dropped) return;
  if (l.state == State::filling) {  // its value will still come
    if (__builtin_expect(twins_ != nullptr, 0)) twin_forget(line);
    forget(line);
    protocol::remove(owned_[l.warp], l.reg);
    l.state = State::dropped;
    return;
  }
  const std::uint16_t last = last_free(line);
  forget(line);
  if (l.state == State::owned) {
    protocol::remove(owned_[l.warp], l.reg);
  } else {
    unlist(line);
  }
  l.reads = l.writes = 0;
  l.fate = LastUse::none;
  to_list(line, State::free, at, last);
}

// ---- control ----

void StagingShard::issued(const protocol::DynamicInstruction& d, const UseMarks& marks) {
  const protocol::InstructionTraits& t = *d.traits;
  const unsigned w = local(d.warp);
  const bool writes_come = d.active != 0;
  const std::uint64_t now = clock_.now();
  for (unsigned i = 0; i < t.read_count; ++i) {
    const std::uint16_t line = line_of(w, t.reads[i].value());
    if (line == no_line || lines_[line].state != State::owned) continue;
    ++lines_[line].reads;
    values_.prefetch(line);
    if (marks.reads[i] != LastUse::none) lines_[line].fate = marks.reads[i];
  }
  // Destinations that have a line keep it, before the others take what there is.
  for (unsigned i = 0; i < t.write_count && writes_come; ++i) {
    const std::uint16_t line = line_of(w, t.writes[i].value());
    if (line == no_line || (lines_[line].state != State::clean && lines_[line].state != State::dirty)) continue;
    claim(line);
  }
  for (unsigned i = 0; i < t.write_count; ++i) {
    const unsigned r = t.writes[i].value();
    std::uint16_t line = line_of(w, r);
    if (writes_come) {
      if (line == no_line) {
        if (r >= registers_ || w >= warps_) continue;
        const unsigned bank = bank_of(w, r);
        if (buffered_ != 0) {
          // The write overwrites a value that is on its way to memory.
          const int place = find_buffered(w, r);
          if (place >= 0) cancel(static_cast<unsigned>(place));
        }
        line = allocate(bank, w, r, now);
        if (line == no_line) continue;
        StagingBank& b = banks_[bank];
        b.ports.reserve(SlotPorts::tag, now, now + config_.arbitration);
        ++b.tag_lookups;
      }
      ++lines_[line].writes;
    }
    if (line == no_line || marks.writes[i] == LastUse::none) continue;
    lines_[line].fate = marks.writes[i];
    if (!writes_come) settle(line, now);
  }
}

void StagingShard::region_ended(WarpSlot warp, const protocol::GeneralRegisters& erase) {
  const unsigned w = local(warp);
  const std::uint64_t now = clock_.now();
  for (unsigned word = 0; word < owned_[w].size(); ++word) {
    for (std::uint64_t m = owned_[w][word]; m != 0; m &= m - 1) {
      const unsigned r = word * 64 + static_cast<unsigned>(__builtin_ctzll(m));
      const std::uint16_t line = line_of(w, r);
      if (line == no_line) continue;
      StagingLine& l = lines_[line];
      if (protocol::contains(erase, r)) {
        l.fate = LastUse::erase;
      } else if (l.fate == LastUse::none) {
        l.fate = LastUse::evict;
      }
      settle(line, now);
    }
  }
}

// ---- accesses of instructions ----

void StagingShard::read(tlm::tlm_generic_payload& payload, WarpAccess& access, unsigned w, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + cycles(delay) + config_.arbitration;
  const unsigned bank = bank_of(w, access.reg.value());
  StagingBank& b = banks_[bank];
  const std::uint64_t slot = b.ports.reserve_both(now, at);
  ++b.read_count;
  ++b.tag_lookups;
  if (slot != at) {
    ++b.read_conflicts;
    b.read_wait += slot - at;
  }
  delay += clock_.time(slot - at + config_.arbitration + config_.latency);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  access.origin.index = shard_ * config_.banks + bank;
  const std::uint16_t line = line_of(w, access.reg.value());
  if (line == no_line) {
    poison(payload.get_data_ptr());
    access.origin.place = "not staged, bank";
    ++not_staged_;
    return;
  }
  StagingLine& l = lines_[line];
  if (l.is_defined) {
    trace::copy_value(payload.get_data_ptr(), values_[line], bytes_);
    access.origin.place = "staging bank";
  } else {
    poison(payload.get_data_ptr());
    access.origin.place = "unwritten line of staging bank";
  }
  if (l.reads != 0) --l.reads;
  settle(line, slot + 1);
}

bool StagingShard::write(tlm::tlm_generic_payload& payload, const WarpAccess& access, unsigned w,
                         sc_core::sc_time& delay, std::uint64_t most) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + cycles(delay);
  StagingBank& b = banks_[bank_of(w, access.reg.value())];
  if (b.ports.backlog(SlotPorts::data, now, at) > most) return false;
  const std::uint16_t line = line_of(w, access.reg.value());
  if (line != no_line && lines_[line].readout != 0) {
    b.ports.reserve(SlotPorts::data, now, at);
    read_out(line);
  }
  const std::uint64_t slot = b.ports.reserve(SlotPorts::data, now, at);
  ++b.write_count;
  if (slot != at) {
    ++b.write_conflicts;
    b.write_wait += slot - at;
  }
  delay += clock_.time(slot - at + config_.latency);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (line == no_line) {
    ++lost_writes_;
    return true;
  }
  StagingLine& l = lines_[line];
  merge(line, payload);
  l.is_dirty = true;
  bool moves = l.state == State::clean;
  std::uint16_t last = b.dirty.last();
  if (__builtin_expect(twins_ != nullptr, 0)) twin_mark(line, moves, last);
  if (moves) {
    unlist(line);
    to_list(line, State::dirty, slot + 1, last);
    came_free();
  }
  if (l.writes != 0) --l.writes;
  settle(line, slot + 1);
  return true;
}

void StagingShard::poison(void* to) const {
  std::fill_n(static_cast<std::uint32_t*>(to), bytes_ / sizeof poison_word, poison_word);
}

void StagingShard::merge(std::uint16_t line, const tlm::tlm_generic_payload& payload) {
  const unsigned char* enable = payload.get_byte_enable_ptr();
  auto* cell = reinterpret_cast<unsigned char*>(values_[line]);
  const unsigned char* data = payload.get_data_ptr();
  StagingLine& l = lines_[line];
  if (enable == nullptr) {
    trace::copy_value(cell, data, bytes_);
  } else {
    // Lanes that nobody wrote must not look like what the line held before.
    if (!l.is_defined) poison(cell);
    protocol::merge_enabled(cell, data, enable, bytes_);
  }
  l.is_defined = true;
}

}  // namespace regatta::models

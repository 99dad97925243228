// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/register_mover.h>

#include <regatta/trace/live_registers.h>

#include <algorithm>
#include <string>
#include <utility>

namespace regatta::models {

using protocol::LaneMask;
using protocol::RegisterId;

namespace {

RmuResult of_chain(bool ok, const PendingChain& chain) { return RmuResult::of_entry(ok, chain.first, chain.count); }

}  // namespace

RegisterMover::RegisterMover(const sc_core::sc_module_name& name, unsigned entry_latency, unsigned most_away,
                             support::ClockDomain& clock)
    : sc_module(name),
      transfer("transfer"),
      file_reads("file_reads"),
      file_writes("file_writes"),
      places("places"),
      pending("pending"),
      free_space("free_space"),
      pointers("pointers"),
      live_sets("live_sets"),
      clock_(clock),
      wakeup_(
          clock, [](void* m) { static_cast<RegisterMover*>(m)->work(); }, this),
      changed_("changed", &clock),
      ended_("ended", &clock),
      entry_latency_(entry_latency),
      most_away_(most_away) {
  transfer.bind(*this);
  file_reads.bind(*this);
  file_writes.bind(*this);
}

void RegisterMover::end_of_elaboration() {
  places_ = places.operator->();
  pending_ = pending.operator->();
  free_ = free_space.operator->();
  pointers_ = pointers.operator->();
  live_ = live_sets.operator->();
  in_use_ = pending_->entries();
}

// As many as are live at the place where most are, in every warp.
std::uint64_t RegisterMover::registers_wanted(const protocol::KernelContext& context, unsigned ctas) const {
  const std::optional<trace::LiveRegisters> live = trace::find_live_registers(*context.kernel);
  unsigned most = 0;
  for (std::uint32_t i = 0; live && i < live->instructions(); ++i) most = std::max(most, live->count(i));
  return std::uint64_t{ctas} * context.warps_per_cta * most;
}

void RegisterMover::set_registers(std::uint64_t registers) {
  in_use_ = static_cast<unsigned>(std::min<std::uint64_t>(registers, pending_->entries()));
  free_->limit(in_use_);
}

void RegisterMover::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/rmu",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

void RegisterMover::kernel_started(const protocol::KernelContext& context) {
  warps_per_cta_ = context.warps_per_cta;
  warp_size_ = context.warp_size;
  const std::size_t warps = std::size_t{context.resident_ctas} * warps_per_cta_;
  whereabouts_.assign(context.resident_ctas, Where::scheduled);
  alive_.assign(warps, false);
  kept_.assign(warps, 0);
  left_.assign(warps, 0);
  entries_.assign(warps * warp_registers, no_entry);
}

void RegisterMover::kernel_finished(const protocol::KernelContext&) {
  if (free_->free() == in_use_) return;
  complain("the launch has ended with " + std::to_string(in_use_ - free_->free()) +
           " entries of the pending file taken, expected none");
}

void RegisterMover::cta_switched(const protocol::CtaInfo& cta, bool active) {
  whereabouts_[cta.cta.value()] = active ? Where::scheduled : Where::in_file;
}

// A CTA may end while it is away: its last instruction was a load, whose result nobody wants.
void RegisterMover::cta_finished(const protocol::CtaInfo& cta) {
  const CtaSlot slot = cta.cta;
  if (whereabouts_[slot.value()] == Where::scheduled) return;
  drop_entries(slot);
  if (out_ == slot) {
    out_.reset();
    left_count_ = 0;
    displaced_.reset();
    early_.clear();
  }
  if (in_ == slot) {
    in_.reset();
    to_restore_ = 0;
    next_entry_.reset();
    buffer_.reset();
  }
  whereabouts_[slot.value()] = Where::scheduled;
  ended_.notify();  // there is more room
}

void RegisterMover::drop_entries(CtaSlot cta) {
  unsigned dropped = 0;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    const WarpSlot w = warp_of(cta, i);
    for (unsigned r = 0; r < warp_registers; ++r) {
      std::uint16_t& entry = entry_of(w, r);
      if (entry == no_entry) continue;
      pending_->write_tag(entry, PendingTag{});
      free_->give_back(entry);
      entry = no_entry;
      ++dropped;
    }
    kept_[w.value()] = left_[w.value()] = 0;
  }
  pointers_->set(cta, PendingChain{});
  const RmuResult result = with_twin(twin_, RmuOperation::drop(cta), RmuResult::of_entry(dropped != 0, 0, dropped));
  if (result.count == dropped) return;
  complain("CTA slot " + std::to_string(cta.value()) + " ends with " + std::to_string(result.count) +
           " registers in its chain, expected " + std::to_string(dropped));
}

PendingChain RegisterMover::chain_of(CtaSlot cta) const {
  const PendingChain chain = pointers_->get(cta);
  if (!has_twin(twin_)) return chain;
  const RmuResult result = twin_->operate(RmuOperation::pointer(cta), of_chain(chain.count != 0, chain));
  return PendingChain{result.entry, result.count};
}

RegisterTransfer::Room RegisterMover::room_for(CtaSlot out, std::optional<CtaSlot> in) const {
  if (!live_->counted(out)) return Room::not_counted;
  const unsigned coming_free = in ? chain_of(*in).count : 0;
  return live_->count(out) <= free_->free() + coming_free ? Room::yes : Room::no;
}

void RegisterMover::move(std::optional<CtaSlot> out, std::optional<CtaSlot> in) {
  if (moving_ || (!out && !in) || (out && !live_->counted(*out))) {
    complain("asked for a move of registers " + std::string(moving_ ? "during another one" : "that were not counted") +
             ", expected one move at a time, of a CTA whose live registers are known");
  }
  moving_ = true;
  out_ = out;
  in_ = in;
  begun_ = done_ = clock_.now();
  chain_ = PendingChain{};
  last_entry_ = no_entry;
  left_count_ = 0;
  evict_warp_ = 0;
  decoded_.reset();
  early_.clear();
  if (out) {
    with_twin(twin_, RmuOperation::begin(*out), RmuResult::of_entry(true, 0, 0));
    whereabouts_[out->value()] = Where::leaving;
    for (unsigned i = 0; i < warps_per_cta_; ++i) {
      const WarpSlot w = warp_of(*out, i);
      kept_[w.value()] = left_[w.value()] = alive_[w.value()] ? live_->live(w) : 0;
      const std::uint64_t left = left_[w.value()];
      left_count_ += with_twin(twin_, RmuOperation::join(left, 0), RmuResult::of_set(left)).count;
    }
  }
  to_restore_ = 0;
  next_entry_.reset();
  if (in) {
    whereabouts_[in->value()] = Where::entering;
    const RmuResult chain = with_twin(twin_, RmuOperation::walk(*in), of_chain(true, pointers_->get(*in)));
    to_restore_ = chain.count;
    if (chain.count != 0) next_entry_ = chain.entry;
    out ? places_->enter_place_of(*in, *out) : places_->enter(*in);
  }
  ++moves_;
  wakeup_.request(clock_.now() + 1);
}

unsigned RegisterMover::reserved_entries() const {
  const auto needs_one = [this](const std::optional<Moved>& m) { return m && entry_of(m->warp, m->reg) == no_entry; };
  return (needs_one(reading_) ? 1 : 0) + (needs_one(displaced_) && displaced_ != reading_ ? 1 : 0);
}

void RegisterMover::work() {
  const std::uint64_t now = clock_.now();
  if (std::exchange(result_waits_, false)) {
    // Results go first: they hold up those of other CTAs. The SM asks again in this cycle or the next. Not if the
    // result waits for the move itself, which would then go on no more.
    if (std::exchange(port_wanted_, false)) yields_until_ = now + 1;
    changed_.notify();
  }
  if (!moving_) return;
  // A result that the file has not taken yet was meant for the CTA that leaves.
  if (out_ && now == begun_ + 1 && !places_->settled(*out_)) {
    ++begun_;
    wakeup_.request(now + 1);
    return;
  }
  write_restored(now);
  restore(now);
  evict(now);
  if (left_count_ == 0 && to_restore_ == 0 && !buffer_ && !reading_ && !write_held_) {
    if (done_ <= now) return finish(now);
    wakeup_.request(done_);
    return;
  }
  wakeup_.request(now + 1);
}

void RegisterMover::restore(std::uint64_t now) {
  if (!next_entry_ || buffer_ || now < begun_ + entry_latency_ || !pending_->can_read()) return;
  std::uint16_t entry = *next_entry_;
  PendingTag tag;
  if (has_twin(twin_)) {
    const RmuResult step =
        twin_->operate(RmuOperation::step(), RmuResult::of_entry(true, entry, to_restore_ - 1, pending_->tag(entry)));
    entry = step.entry;
    tag = step.tag;
    to_restore_ = step.count + 1;
    pending_->read(entry, restored_);
  } else {
    tag = pending_->read(entry, restored_);
  }
  const WarpSlot warp = warp_of(*in_, tag.warp);
  if (!tag.valid || tag.warp >= warps_per_cta_ || tag.reg >= warp_registers || entry_of(warp, tag.reg) != entry ||
      tag.end != (to_restore_ == 1)) {
    complain("the chain of CTA slot " + std::to_string(in_->value()) + " leads to entry " + std::to_string(entry) +
             " with warp " + std::to_string(tag.warp) + ", R" + std::to_string(tag.reg) +
             (tag.valid ? "" : ", not valid") + (tag.end ? ", at its end" : "") + ", with " +
             std::to_string(to_restore_) + " registers to come; expected a register of this CTA that was put there");
  }
  pending_->write_tag(entry, PendingTag{});
  free_->give_back(entry);
  entry_of(warp, tag.reg) = no_entry;
  --to_restore_;
  next_entry_ = tag.end ? std::nullopt : std::make_optional(tag.next);
  buffer_ = Moved{warp, tag.reg};
  ++moved_in_;
  // In an exchange, the register in the same row has to leave first.
  if (out_) {
    const WarpSlot other = warp_of(*out_, tag.warp);
    if (left_[other.value()] & bit(tag.reg)) displaced_ = Moved{other, tag.reg};
  }
}

void RegisterMover::write_restored(std::uint64_t now) {
  if (!buffer_ || write_held_ || displaced_) return;
  write_.prepare(tlm::TLM_WRITE_COMMAND, buffer_->warp, RegisterId(buffer_->reg), trace::all_lanes(warp_size_),
                 warp_size_, restored_);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum sync = file_writes->nb_transport_fw(write_.payload(), phase, delay);
  if (sync != tlm::TLM_COMPLETED) {
    write_held_ = true;
    return;
  }
  buffer_.reset();
  done_ = std::max(done_, now + clock_.cycles(delay));
}

std::optional<RegisterMover::Moved> RegisterMover::next_left() {
  if (displaced_) return displaced_;
  for (; evict_warp_ < warps_per_cta_; ++evict_warp_) {
    const WarpSlot w = warp_of(*out_, evict_warp_);
    if (left_[w.value()] == 0) continue;
    return Moved{w, static_cast<std::uint8_t>(lowest_left(w, left_[w.value()]))};
  }
  return std::nullopt;
}

// The decoder gets a warp's registers once, and then gives the lowest of those that have not left.
unsigned RegisterMover::lowest_left(WarpSlot warp, std::uint64_t left) {
  if (!has_twin(twin_)) return static_cast<unsigned>(__builtin_ctzll(left));
  const bool loaded = decoded_ == warp;
  decoded_ = warp;
  return twin_->operate(loaded ? RmuOperation::next() : RmuOperation::load(left), RmuResult::of_set(left)).reg;
}

void RegisterMover::evict(std::uint64_t now) {
  if (left_count_ == 0 || reading_ || now <= yields_until_ || !pending_->can_write()) return;
  const std::optional<Moved> next = next_left();
  if (!next) return;
  if (free_->free() == 0 && entry_of(next->warp, next->reg) == no_entry) return;
  read_register(*next, now);
}

void RegisterMover::read_register(const Moved& moved, std::uint64_t now) {
  read_.prepare(tlm::TLM_READ_COMMAND, moved.warp, RegisterId(moved.reg), trace::all_lanes(warp_size_), warp_size_,
                evicted_);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  reading_ = moved;
  const tlm::tlm_sync_enum sync = file_reads->nb_transport_fw(read_.payload(), phase, delay);
  if (sync == tlm::TLM_COMPLETED) landed(now + clock_.cycles(delay));
}

// The register has been read, and reaches the pending file in cycle `when`.
void RegisterMover::landed(std::uint64_t when) {
  const Moved moved = *reading_;
  reading_.reset();
  if (!out_ || moved.warp.value() / warps_per_cta_ != out_->value()) return;  // it has ended
  if (displaced_ == moved) displaced_.reset();
  std::uint64_t& left = left_[moved.warp.value()];
  left &= ~bit(moved.reg);
  if (has_twin(twin_) && decoded_ == moved.warp)
    twin_->operate(RmuOperation::remove(moved.reg), RmuResult::of_set(left));
  --left_count_;
  const std::uint16_t entry = entry_of(moved.warp, moved.reg);
  if (entry == no_entry) {
    append(moved.warp, moved.reg, evicted_);
  } else {
    LaneMask early = 0;
    for (const Early& e : early_) {
      if (e.moved == moved) early |= e.lanes;
    }
    pending_->merge(entry, trace::all_lanes(warp_size_) & ~early, evicted_);
  }
  ++moved_out_;
  done_ = std::max(done_, when);
}

// The next entry of the chain of out_.
void RegisterMover::append(WarpSlot warp, unsigned reg, const trace::WarpValue& value) {
  const std::optional<unsigned> entry = free_->take();
  if (!entry) return complain("no entry of the pending file is free, expected room for the registers that leave");
  const auto index = static_cast<std::uint16_t>(*entry);
  PendingTag tag;
  tag.valid = true;
  tag.warp = static_cast<std::uint8_t>(warp.value() % warps_per_cta_);
  tag.reg = static_cast<std::uint8_t>(reg);
  pending_->write(index, tag, value);
  entry_of(warp, reg) = index;
  if (last_entry_ == no_entry) {
    chain_.first = index;
  } else {
    PendingTag previous = pending_->tag(last_entry_);
    previous.next = index;
    pending_->write_tag(last_entry_, previous);
  }
  last_entry_ = index;
  ++chain_.count;
  if (!has_twin(twin_)) return;
  const RmuResult made = twin_->operate(RmuOperation::append(index, tag.warp, reg), of_chain(true, chain_));
  if (!made.ok) complain("entry " + std::to_string(index) + " is in a chain already, expected one of its own");
}

void RegisterMover::finish(std::uint64_t now) {
  if (in_) {
    // The chain of a CTA that is back is empty. Its live registers are known no more, but for results on their way.
    pointers_->set(*in_, PendingChain{});
    with_twin(twin_, RmuOperation::end_walk(), RmuResult::of_entry(true, 0, 0));
    whereabouts_[in_->value()] = Where::in_file;
    for (unsigned i = 0; i < warps_per_cta_; ++i) kept_[warp_of(*in_, i).value()] = 0;
  }
  if (out_) {
    if (last_entry_ != no_entry) {
      PendingTag tag = pending_->tag(last_entry_);
      tag.end = true;
      pending_->write_tag(last_entry_, tag);
    }
    pointers_->set(*out_, chain_);
    with_twin(twin_, RmuOperation::close(), of_chain(true, chain_));
    whereabouts_[out_->value()] = Where::away;
    places_->leave(*out_);
  }
  move_cycles_ += now - begun_;
  moving_ = false;
  out_.reset();
  in_.reset();
  ended_.notify();
}

tlm::tlm_sync_enum RegisterMover::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (!answer_rules_.answers(payload, phase, delay, clock_)) return tlm::TLM_ACCEPTED;
  const std::uint64_t when = clock_.now() + clock_.cycles(delay);
  if (payload.is_read()) {
    landed(when);
  } else {
    write_held_ = false;
    buffer_.reset();
    done_ = std::max(done_, when);
  }
  wakeup_.request(clock_.now() + 1);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

}  // namespace regatta::models

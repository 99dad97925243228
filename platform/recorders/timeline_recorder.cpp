// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/residency.h>
#include <regatta/recorders/timeline_recorder.h>

#include <algorithm>

namespace regatta::recorders {

using protocol::CtaPhase;
using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::Event;
using protocol::Stall;
using protocol::WarpState;

namespace {

/// "sm0.capacity_manager" -> "capacity_manager"; a class that is no module keeps its name.
std::string within(const std::string& name, const std::string& sm) {
  return name.compare(0, sm.size(), sm) == 0 ? name.substr(sm.size()) : name;
}

}  // namespace

TimelineRecorder::TimelineRecorder(TimelineFile& file, const Shape& shape, Window ctas,
                                   const support::ClockDomain& clock)
    : file_(file), shown_ctas_(ctas), clock_(clock) {
  for (const std::string& gate : shape.gates) {
    const std::string name = within(gate, "sm" + std::to_string(shape.sm) + ".");
    // The viewer shows tracks of one parent and name as one.
    const bool known = std::find(gate_names_.begin(), gate_names_.end(), name) != gate_names_.end();
    gate_names_.push_back(known ? name + " " + std::to_string(gate_names_.size()) : name);
  }
  // Away from the numbers of the run, and of real processes that come first in the viewer.
  const auto process = file.add_process("SM " + std::to_string(shape.sm), 1000 + shape.sm);
  const auto schedulers = file.add_track(process, "schedulers", 0);
  for (unsigned s = 0; s < shape.schedulers; ++s) {
    schedulers_.emplace_back(file, schedulers, "scheduler " + std::to_string(s), s);
  }
  ctas_track_ = file.add_track(process, "CTA slots", 1);
  warps_track_ = file.add_track(process, "warp slots", 2);
  counters_ = file.add_track(process, "counters", 3);
  resident_ = file.add_counter(counters_, "resident warps", "warps", 0);
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    stall_names_[s] = file.intern(s == 0 ? "issued" : protocol::to_string(static_cast<Stall>(s)));
  }
  for (unsigned s = 1; s < protocol::warp_state_count; ++s) {
    state_names_[s] = file.intern(protocol::to_string(static_cast<WarpState>(s)));
  }
  switched_out_ = file.intern("switched out");
  draining_ = file.intern(protocol::to_string(CtaPhase::draining));
  quiesced_ = file.intern(protocol::to_string(CtaPhase::quiesced));
  parked_ = file.intern(protocol::to_string(CtaPhase::parked));
  closed_ = file.intern("closed");
  inside_ = file.intern("inside");
}

std::vector<Event> TimelineRecorder::interests() const {
  return {Event::kernel_started,     Event::cta_launched,  Event::cta_finished, Event::cta_switched,
          Event::warp_started,       Event::warp_finished, Event::issued,       Event::bypassed,
          Event::operands_delivered, Event::warp_state,    Event::gate_closed,  Event::cycles};
}

TimelineRecorder::Warp& TimelineRecorder::warp(unsigned slot) {
  while (warps_.size() <= slot) {
    const auto next = static_cast<unsigned>(warps_.size());
    warps_.emplace_back(TimelineRow(file_, warps_track_, "warp slot " + std::to_string(next), next));
  }
  return warps_[slot];
}

TimelineRecorder::Cta& TimelineRecorder::cta(unsigned slot) {
  while (ctas_.size() <= slot) {
    const auto next = static_cast<unsigned>(ctas_.size());
    ctas_.emplace_back(TimelineRow(file_, ctas_track_, "CTA slot " + std::to_string(next), next));
  }
  return ctas_[slot];
}

void TimelineRecorder::kernel_started(Cycle, const protocol::KernelContext&) {
  for (TimelineRow& row : schedulers_) row.close(accounted_);
}

void TimelineRecorder::cta_launched(Cycle now, const protocol::CtaInfo& info) {
  Cta& c = cta(info.cta.value());
  c.active = false;
  c.warps.clear();
  if (!shown_ctas_.contains(info.cta_index)) return;
  c.row.open(now.value(), "CTA " + std::to_string(info.cta_index));
}

void TimelineRecorder::cta_finished(Cycle now, const protocol::CtaInfo& info) {
  shown_ |= cta(info.cta.value()).row.close(now.value());
}

void TimelineRecorder::cta_switched(Cycle now, protocol::CtaSlot slot, bool active) {
  Cta& c = cta(slot.value());
  c.active = active;
  if (c.row.is_open()) c.row.state(now.value(), active ? 0 : draining_);
  for (const unsigned w : c.warps) show_state(warps_[w], now.value());
}

void TimelineRecorder::show_phase(const protocol::CtaInfo& info, Name phase) {
  TimelineRow& row = cta(info.cta.value()).row;
  if (row.is_open()) row.state(clock_.now(), phase);
}

void TimelineRecorder::show_state(Warp& w, std::uint64_t now) {
  if (!w.row.is_open()) return;
  // A cycle with an issue is a ready one, whatever the warp waits for afterwards.
  w.row.state(std::max(now, w.issued_until),
              ctas_[w.cta].active ? state_names_[static_cast<unsigned>(w.state)] : switched_out_);
}

void TimelineRecorder::count_warps(std::uint64_t now, int change) {
  if (now != warps_since_) write_warps(now);
  warp_count_ += static_cast<std::uint64_t>(change);
}

/// The number that held since the last change.
void TimelineRecorder::write_warps(std::uint64_t until) {
  if (until > warps_since_ && file_.shows(warps_since_, until)) {
    file_.set(resident_, warps_since_, static_cast<std::int64_t>(warp_count_));
  }
  warps_since_ = until;
}

void TimelineRecorder::warp_started(Cycle now, const protocol::WarpInfo& info) {
  count_warps(now.value(), 1);
  Warp& w = warp(info.warp.value());
  w.state = WarpState::absent;
  w.cta = info.cta.value();
  cta(w.cta).warps.push_back(info.warp.value());
  if (!shown_ctas_.contains(info.cta_index)) return;
  w.row.open(now.value(), "CTA " + std::to_string(info.cta_index) + " warp " + std::to_string(info.warp_in_cta));
}

void TimelineRecorder::close_below(Warp& w, std::uint64_t now) {
  for (auto& gate : w.gates) {
    if (gate) gate->close(now);
  }
  if (w.active_set) w.active_set->close(now);
}

void TimelineRecorder::warp_finished(Cycle now, const protocol::WarpInfo& info) {
  count_warps(now.value(), -1);
  Warp& w = warp(info.warp.value());
  auto& others = cta(w.cta).warps;
  others.erase(std::remove(others.begin(), others.end(), unsigned{info.warp.value()}), others.end());
  close_below(w, now.value());
  w.row.close(now.value());
}

void TimelineRecorder::warp_state(Cycle now, const protocol::WarpInfo& info, WarpState state) {
  Warp& w = warp(info.warp.value());
  w.state = state;
  show_state(w, now.value());
}

void TimelineRecorder::gate_closed(Cycle from, const protocol::WarpInfo& info, unsigned gate, bool closed) {
  if (!shown_ctas_.contains(info.cta_index)) return;
  Warp& w = warp(info.warp.value());
  if (w.gates.size() <= gate) w.gates.resize(gate + 1);
  auto& row = w.gates[gate];
  if (!row) {
    if (!closed) return;
    row.emplace(file_, w.row.track(), gate_names_.at(gate), gate);
  }
  row->state(from.value(), closed ? closed_ : 0);
}

void TimelineRecorder::show_active(const protocol::WarpInfo& info, bool inside) {
  if (!shown_ctas_.contains(info.cta_index)) return;
  Warp& w = warp(info.warp.value());
  if (!w.active_set) {
    w.active_set.emplace(file_, w.row.track(), "active set", static_cast<unsigned>(gate_names_.size()));
  }
  w.active_set->state(clock_.now(), inside ? inside_ : 0);
}

/// An instruction enters collection or leaves it.
void TimelineRecorder::collect(std::uint64_t now, int change) {
  collected_ += in_collection_ * (now - collect_since_);
  collect_since_ = now;
  in_collection_ += static_cast<std::uint64_t>(change);
}

void TimelineRecorder::issued(Cycle now, const DynamicInstruction& d) {
  warps_[d.warp.value()].issued_until = now.value() + 1;
  if (d.traits->unit != protocol::Unit::none) collect(now.value(), 1);
}

void TimelineRecorder::bypassed(Cycle now, const DynamicInstruction&) { collect(now.value(), -1); }

void TimelineRecorder::operands_delivered(Cycle now, const DynamicInstruction&) { collect(now.value(), -1); }

void TimelineRecorder::sample(std::uint64_t from, std::uint64_t to) {
  collect(to, 0);
  if ((collected_ != 0 || collection_shown_) && to > from && file_.shows(from, to)) {
    if (collecting_ == 0) {
      collecting_ = file_.add_counter(counters_, "instructions in operand collection", "mean of the interval", 1);
    }
    file_.set(collecting_, from, double(collected_) / double(to - from));
    collection_shown_ = collected_ != 0;
  }
  collected_ = 0;
  file_.flush();
}

void TimelineRecorder::cycles(Cycle from, std::uint64_t count, const std::vector<Stall>& stall) {
  for (std::size_t s = 0; s < stall.size(); ++s) {
    schedulers_[s].state(from.value(), stall_names_[static_cast<unsigned>(stall[s])]);
  }
  accounted_ = from.value() + count;
  file_.flush();
}

void TimelineRecorder::finish(std::uint64_t end) {
  for (TimelineRow& row : schedulers_) row.close(accounted_);
  for (Warp& w : warps_) {
    close_below(w, end);
    w.row.close(end);
  }
  for (Cta& c : ctas_) shown_ |= c.row.close(end);
  write_warps(end);
  if (warp_count_ != 0 && file_.shows(0, end)) file_.set(resident_, end, std::int64_t{0});
  if (collection_shown_) file_.set(collecting_, end, 0.0);
}

}  // namespace regatta::recorders

// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/switch_engine.h>

#include <regatta/baseline/occupancy.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::CtaPhase;
using protocol::CtaSlot;
using protocol::CtaStatus;
using protocol::ResourcePlan;
using protocol::WarpSlot;

SwitchEngine::SwitchEngine(const sc_core::sc_module_name& name, const CtaSwitchingConfig& config,
                           support::ClockDomain& clock)
    : sc_module(name),
      status("status"),
      places("places"),
      transfer("transfer"),
      counts("counts", *this),
      veto("veto"),
      config_(config),
      clock_(clock),
      wakeup_(
          clock, [](void* e) { static_cast<SwitchEngine*>(e)->changed_.notify(); }, this),
      changed_("changed", &clock) {}

void SwitchEngine::end_of_elaboration() {
  status_ = status.operator->();
  if (places.size() != 0) places_ = places.operator->();
  if (veto.size() != 0) veto_ = veto.operator->();
  if (transfer.size() == 0) return;
  transfer_ = transfer.operator->();
  SC_HAS_PROCESS(SwitchEngine);
  SC_METHOD(transfer_ended);
  dont_initialize();
  sensitive << transfer_->ended();
  if (const support::CycleEvent* ended = support::CycleEvent::of(transfer_->ended())) {
    ended->subscribe([this] { transfer_ended(); });
  }
}

ResourcePlan SwitchEngine::plan(const protocol::KernelContext& launch, const protocol::SmLimits& offered) {
  protocol::KernelContext context = launch;
  protocol::SmLimits limits = offered;
  if (footprint_) footprint_(context, limits);
  const Occupancy o = occupancy_of(context, limits);
  const unsigned warps = context.warps_per_cta;
  const std::uint64_t granularity = limits.shared_granularity;
  const auto rounded = [granularity](std::uint64_t bytes) {
    return (bytes + granularity - 1) / granularity * granularity;
  };
  const std::uint64_t in_file = o.by_registers;
  const std::uint64_t away = transfer_ == nullptr ? 0 : transfer_->most_away(context, limits);
  std::uint64_t active = o.ctas();
  std::uint64_t resident =
      std::min({std::uint64_t{config_.max_ctas}, std::uint64_t{config_.max_warps / warps}, in_file + away});
  resident = std::max(resident, active);
  // A pending CTA keeps its shared memory, and has its context there too.
  const std::uint64_t shared = rounded(context.launch->shared_bytes_per_cta);
  const std::uint64_t saved = rounded(std::uint64_t{warps} * config_.context_entries * config_.entry_bytes);
  const auto shared_bytes = [&](std::uint64_t ctas) { return ctas * shared + (ctas - active) * saved; };
  const auto registers = [&](std::uint64_t ctas) {
    return std::min(ctas, in_file) * warps * context.registers_per_warp;
  };
  const std::uint64_t register_bytes = std::uint64_t{limits.warp_size} * trace::bytes_per_lane;
  // Of a unified memory.
  const auto unified_bytes = [&](std::uint64_t ctas) {
    return shared_bytes(ctas) + (unified_file_ ? registers(ctas) * register_bytes : 0);
  };
  const std::uint64_t for_ctas = unified_.bytes == 0 ? ~std::uint64_t{0} : unified_.for_ctas();
  while (active > 1 && unified_bytes(active) > for_ctas) --active;
  resident = std::max(resident, active);
  while (resident > active && (shared_bytes(resident) > limits.shared_bytes || unified_bytes(resident) > for_ctas)) {
    --resident;
  }
  plan_ = ResourcePlan{static_cast<unsigned>(resident), static_cast<unsigned>(active), registers(resident),
                       shared_bytes(resident), 0};
  if (unified_.bytes != 0) {
    std::uint64_t used = unified_bytes(resident);
    if (used > for_ctas) {
      throw support::ConfigError("kernel " + context.kernel->name + ": one CTA takes " + std::to_string(used) +
                                 " bytes of the unified memory, which has " + std::to_string(for_ctas) +
                                 " for CTAs (um.bytes less um.least_l1)");
    }
    // Then the registers of pending CTAs, then the L1.
    if (transfer_ != nullptr) {
      const std::uint64_t rows =
          std::min(transfer_->registers_wanted(context, static_cast<unsigned>(resident - active)),
                   (for_ctas - used) / register_bytes);
      transfer_->set_registers(rows);
      used += rows * register_bytes;
    }
    plan_.l1_bytes = unified_.l1_share(used);
  }
  warps_per_cta_ = warps;
  return plan_;
}

void SwitchEngine::kernel_started(const protocol::KernelContext&) {
  ctas_.assign(plan_.resident_ctas, Cta{});
  alive_.assign(std::size_t{plan_.resident_ctas} * warps_per_cta_, false);
  switch_ = Switch{};
  counting_.reset();
  depleted_ = false;
  active_ = resident_ = 0;
  accounted_ = now();
}

void SwitchEngine::kernel_finished(const protocol::KernelContext&) { account(); }

void SwitchEngine::account() {
  const std::uint64_t cycles = now() - accounted_;
  accounted_ = now();
  if (resident_ == 0) return;
  elapsed_ += cycles;
  counters_.active_cycles += cycles * active_;
  counters_.pending_cycles += cycles * (resident_ - active_);
  if (depleted_) counters_.depleted_cycles += cycles;
}

void SwitchEngine::cta_launched(const protocol::CtaInfo& cta) {
  account();
  Cta& c = ctas_[cta.cta.value()];
  c = Cta{};
  c.launched = now();
  ++counters_.launches;
  counters_.resident_peak = std::max<std::uint64_t>(counters_.resident_peak, ++resident_);
  status_->set(cta.cta, ContextAt::pipeline, RegistersAt::active_file);
}

void SwitchEngine::cta_switched(const protocol::CtaInfo& cta, bool active) {
  account();
  ctas_[cta.cta.value()].active = active;
  active_ += active ? 1 : -1;
  counters_.active_peak = std::max<std::uint64_t>(counters_.active_peak, active_);
}

void SwitchEngine::cta_finished(const protocol::CtaInfo& cta) {
  account();
  Cta& c = ctas_[cta.cta.value()];
  if (c.active) --active_;
  --resident_;
  c = Cta{};
  status_->set(cta.cta, ContextAt::nowhere, RegistersAt::nowhere);
  // Its last instruction may have been a load that was steered. The slot can be another CTA's before the switch ends.
  if (switch_.out == cta.cta) {
    switch_.out.reset();
    switch_.moves_out = false;
  }
  if (switch_.in == cta.cta) {
    switch_.in.reset();
    switch_.moves_in = false;
  }
}

void SwitchEngine::wake(std::uint64_t at) { wakeup_.request(now(), at); }

void SwitchEngine::answered(std::uint32_t tag, const unsigned&) {
  if (!counting_ || counting_->value() != tag) protocol::unexpected_answer(name(), now(), tag);
  counting_.reset();
  wake(now() + 1);
}

void SwitchEngine::look(const View& view) {
  account();
  depleted_ = false;
  for (const CtaStatus& s : *view.ctas) {
    Cta& c = ctas_[s.cta.value()];
    const bool stalled = s.active && s.stalled;
    if (stalled && !c.stalled) {
      c.since = now();
      if (!c.stalled_once) {
        c.stalled_once = true;
        ++counters_.stalls;
        counters_.cycles_to_stall += now() - c.launched;
      }
    }
    c.stalled = stalled;
    const bool ready = s.phase != CtaPhase::active && s.phase != CtaPhase::entering && s.ready;
    if (ready && !c.ready) c.ready_since = now();
    c.ready = ready;
  }
}

protocol::Residency::Action SwitchEngine::next(const View& view) {
  look(view);
  if (switch_.step == Switch::Step::none) return begin(view);
  const Action action = proceed(view);
  return action.kind != Action::Kind::none || switch_.step == Switch::Step::none ? action : fill_meanwhile(view);
}

// A CTA that ends during a switch has a successor that needs no transfer: one that is in the file, or a new one.
protocol::Residency::Action SwitchEngine::fill_meanwhile(const View& view) {
  // The switch under way has a place among the active CTAs, and may have a free place of the file and a slot.
  if (view.active_ctas + 1 >= plan_.active_ctas) return {};
  CtaSet ready;
  for (std::size_t i = 0; i < ctas_.size(); ++i) ready[i] = ctas_[i].ready;
  for (const std::optional<CtaSlot>& taken : {switch_.in, switch_.out}) {
    if (taken) ready.reset(taken->value());
  }
  const std::optional<CtaSlot> pending = status_->candidate(ready);
  if (pending && status_->registers(*pending) == RegistersAt::active_file) return enter(*pending);
  const bool reserves = switch_.launch && !switch_.moves_out;
  if (view.ctas_waiting == 0 || view.ctas->size() + (switch_.launch ? 1 : 0) >= plan_.resident_ctas) return {};
  if (places_ != nullptr && places_->free_places() <= (reserves ? 1U : 0U)) return {};
  return Action{Action::Kind::launch, {}};
}

void SwitchEngine::begin_move() {
  if (!switch_.moves_out && !switch_.moves_in) {
    switch_.step = Switch::Step::entering;
    return;
  }
  switch_.step = Switch::Step::moving;
  transfer_->move(switch_.moves_out ? switch_.out : std::nullopt, switch_.moves_in ? switch_.in : std::nullopt);
}

protocol::Residency::Action SwitchEngine::proceed(const View& view) {
  if (switch_.step == Switch::Step::draining) {
    if (switch_.out) {
      const auto out = std::find_if(view.ctas->begin(), view.ctas->end(),
                                    [this](const CtaStatus& s) { return s.cta == *switch_.out; });
      if (out->phase != CtaPhase::quiesced) return {};
    }
    begin_move();
  }
  if (switch_.step == Switch::Step::moving) {
    if (transfer_->moving()) return {};
    if (std::exchange(switch_.moves_out, false)) {
      status_->set(*switch_.out, ContextAt::shared_memory, RegistersAt::pending_file);
      return Action{Action::Kind::moved, *switch_.out};
    }
    if (std::exchange(switch_.moves_in, false)) {
      status_->set(*switch_.in, ContextAt::shared_memory, RegistersAt::active_file);
    }
    switch_.step = Switch::Step::entering;
  }
  if (switch_.replaces && now() < switch_.begun + config_.latency) {
    wake(switch_.begun + config_.latency);
    return {};
  }
  return finish(view);
}

protocol::Residency::Action SwitchEngine::finish(const View& view) {
  const Switch done = std::exchange(switch_, Switch{});
  if (done.replaces) counters_.switch_cycles += now() - done.begun;
  if (done.in) return enter(*done.in);
  // Not begin(): the CTA that has made room may be ready by now, and would take it back.
  if (done.launch && view.ctas_waiting != 0 && view.ctas->size() < plan_.resident_ctas &&
      view.active_ctas < plan_.active_ctas && has_free_place()) {
    return Action{Action::Kind::launch, {}};
  }
  return begin(view);
}

protocol::Residency::Action SwitchEngine::begin(const View& view) {
  CtaSet ready;
  for (std::size_t i = 0; i < ctas_.size(); ++i) ready[i] = ctas_[i].ready;
  const std::optional<CtaSlot> pending = status_->candidate(ready);
  const bool can_launch = view.ctas_waiting != 0 && view.ctas->size() < plan_.resident_ctas;
  if (!pending && !can_launch) return {};
  // The place of a CTA that has ended goes to a pending one, which holds resources already.
  if (config_.launch_first && can_launch && pending && view.active_ctas >= plan_.active_ctas) {
    const Action action = begin_with(view, std::nullopt);
    if (action.kind != Action::Kind::none || switch_.step != Switch::Step::none) return action;
    depleted_ = false;  // in exchange for the pending one, its registers may find room
  }
  return begin_with(view, pending);
}

// Makes room for this pending CTA, or for one of the grid.
protocol::Residency::Action SwitchEngine::begin_with(const View& view, std::optional<CtaSlot> pending) {
  if (view.active_ctas < plan_.active_ctas) return fill(pending);
  std::uint64_t soonest = support::no_cycle;
  CtaSet tried;
  while (const std::optional<CtaSlot> stalled = longest_stalled(tried)) {
    tried.set(stalled->value());
    const std::uint64_t due = ctas_[stalled->value()].since + config_.stall_cycles;
    if (now() < due) {
      soonest = std::min(soonest, due);
      continue;
    }
    if (veto_ != nullptr && !veto_->may_leave(*stalled)) continue;
    const Action action = replace(*stalled, pending);
    if (action.kind != Action::Kind::none || switch_.step != Switch::Step::none) return action;
  }
  if (soonest != support::no_cycle) wake(soonest);
  return {};
}

std::optional<CtaSlot> SwitchEngine::longest_stalled(const CtaSet& tried) const {
  std::optional<CtaSlot> found;
  for (std::size_t i = 0; i < ctas_.size(); ++i) {
    if (!ctas_[i].stalled || tried[i]) continue;
    if (!found || ctas_[i].since < ctas_[found->value()].since) found = CtaSlot(static_cast<std::uint16_t>(i));
  }
  return found;
}

std::optional<CtaSlot> SwitchEngine::idle_in_file() const {
  for (std::size_t i = 0; i < ctas_.size(); ++i) {
    const CtaSlot cta(static_cast<std::uint16_t>(i));
    if (!ctas_[i].ready && status_->context(cta) == ContextAt::shared_memory &&
        status_->registers(cta) == RegistersAt::active_file) {
      return cta;
    }
  }
  return std::nullopt;
}

protocol::Residency::Action SwitchEngine::fill(std::optional<CtaSlot> pending) {
  if (pending && status_->registers(*pending) == RegistersAt::active_file) return enter(*pending);
  if (has_free_place()) {
    if (!pending) return Action{Action::Kind::launch, {}};
    switch_ = Switch{Switch::Step::moving, {}, pending, false, false, true, false, now()};
    ++counters_.restores;
    begin_move();
    return {};
  }
  const std::optional<CtaSlot> idle = idle_in_file();
  if (!idle || !can_leave(*idle, pending)) return {};
  switch_ = Switch{Switch::Step::draining, idle, pending, !pending, true, pending.has_value(), false, now()};
  ++(pending ? counters_.exchanges : counters_.evictions);
  wake(now() + 1);
  return {};
}

protocol::Residency::Action SwitchEngine::replace(CtaSlot stalled, std::optional<CtaSlot> pending) {
  if (pending && status_->registers(*pending) == RegistersAt::active_file) return leave(stalled, pending, false, false);
  if (has_free_place()) return leave(stalled, pending, false, pending.has_value());
  if (!can_leave(stalled, pending)) return {};
  return leave(stalled, pending, true, pending.has_value());
}

bool SwitchEngine::can_leave(CtaSlot out, std::optional<CtaSlot> in) {
  if (transfer_ == nullptr) return false;
  Room room = transfer_->room_for(out, in);
  if (room == Room::not_counted) {
    if (counting_) return false;
    unsigned registers = 0;
    switch (counts.requests->look_up(out, out.value(), registers)) {
      case protocol::LookupReply::answered:
        room = transfer_->room_for(out, in);
        break;
      case protocol::LookupReply::later:
        counting_ = out;
        return false;
      case protocol::LookupReply::busy:
        wake(now() + 1);
        return false;
    }
  }
  if (room == Room::no) depleted_ = true;
  return room == Room::yes;
}

protocol::Residency::Action SwitchEngine::leave(CtaSlot out, std::optional<CtaSlot> in, bool moves_out, bool moves_in) {
  switch_ = Switch{Switch::Step::draining, out, in, !in, moves_out, moves_in, true, now()};
  ++counters_.switches;
  ++(moves_out  ? (in ? counters_.exchanges : counters_.evictions)
     : moves_in ? counters_.restores
                : counters_.context_switches);
  status_->set(out, ContextAt::shared_memory, RegistersAt::active_file);
  // Only registers that leave have to wait until the CTA has nothing in flight.
  if (!moves_out) begin_move();
  return Action{Action::Kind::switch_out, out, true, context_bytes(out)};
}

protocol::Residency::Action SwitchEngine::enter(CtaSlot in) {
  Cta& c = ctas_[in.value()];
  if (c.ready) {
    const std::uint64_t waited = now() - c.ready_since;
    counters_.wait_peak = std::max(counters_.wait_peak, waited);
    counters_.wait_cycles += waited;
  }
  c.ready = false;
  status_->set(in, ContextAt::pipeline, RegistersAt::active_file);
  return Action{Action::Kind::switch_in, in, false, context_bytes(in)};
}

unsigned SwitchEngine::context_bytes(CtaSlot cta) {
  std::size_t entries = 0;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    const unsigned warp = cta.value() * warps_per_cta_ + i;
    if (!alive_[warp]) continue;
    control_->context(WarpSlot(static_cast<std::uint16_t>(warp)), context_);
    entries += std::max<std::size_t>(1, context_.resume.size());
  }
  return static_cast<unsigned>(entries) * config_.entry_bytes;
}

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// The switch engine with a status monitor and stand-ins for the places, the transfer engine, the counter of live
// registers and the SM. The SM carries out actions as platform/protocol/docs/residency.md says.
#pragma once

#include <regatta/finereg/switch_engine.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

namespace regatta::test::cta_blocks {

using models::CtaSwitchingConfig;
using models::RegisterTransfer;
using protocol::CtaPhase;
using protocol::CtaStatus;
using protocol::Residency;
using Kind = Residency::Action::Kind;

class FakePlaces : public sc_core::sc_module, public models::CtaPlaces {
 public:
  explicit FakePlaces(const sc_core::sc_module_name& name) : sc_module(name) {}
  unsigned free = 0;
  unsigned free_places() const override { return free; }
  bool has_place(CtaSlot) const override { return true; }
  bool settled(CtaSlot) const override { return true; }
  void enter(CtaSlot) override {}
  void enter_place_of(CtaSlot, CtaSlot) override {}
  void leave(CtaSlot) override {}
};

/// Moves take as long as the test lets them.
class FakeTransfer : public sc_core::sc_module, public RegisterTransfer {
 public:
  explicit FakeTransfer(const sc_core::sc_module_name& name) : sc_module(name) {}
  std::map<unsigned, Room> rooms;  ///< of a CTA that is to leave; `alone` or yes where none is given
  Room alone = Room::yes;          ///< of a CTA that leaves without another one coming back
  unsigned away = 128;
  std::vector<std::string> moves;  ///< "out 1 in 2", "out 1", "in 2"
  void end_move() {
    moving_ = false;
    ended_.notify(sc_core::SC_ZERO_TIME);
  }
  unsigned most_away(const protocol::KernelContext&, const protocol::SmLimits&) override { return away; }
  Room room_for(CtaSlot out, std::optional<CtaSlot> in) const override {
    const auto found = rooms.find(out.value());
    return found != rooms.end() ? found->second : in ? Room::yes : alone;
  }
  void move(std::optional<CtaSlot> out, std::optional<CtaSlot> in) override {
    moving_ = true;
    std::string text;
    if (out) text = "out " + std::to_string(out->value());
    if (in) text += std::string(out ? " " : "") + "in " + std::to_string(in->value());
    moves.push_back(text);
  }
  bool moving() const override { return moving_; }
  const sc_core::sc_event& ended() const override { return ended_; }

 private:
  bool moving_ = false;
  sc_core::sc_event ended_;
};

/// Counts live registers when the test says so.
class FakeCounter : public sc_core::sc_module, public models::RegisterCounts {
 public:
  models::RegisterCountTarget target{"target", *this};
  explicit FakeCounter(const sc_core::sc_module_name& name) : sc_module(name) {}
  LookupReply reply = LookupReply::later;
  std::vector<unsigned> asked;
  void answer() { target.answers->answered(asked.back(), 3); }
  LookupReply look_up(const CtaSlot& cta, std::uint32_t tag, unsigned& registers) override {
    if (reply == LookupReply::busy) return reply;
    CHECK(tag == cta.value());
    asked.push_back(cta.value());
    registers = 3;
    return reply;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  sc_core::sc_event changed_;
};

class FakeVeto : public sc_core::sc_module, public models::SwitchVeto {
 public:
  explicit FakeVeto(const sc_core::sc_module_name& name) : sc_module(name) {}
  std::map<unsigned, bool> holds;  ///< CTA slots that may not leave
  bool may_leave(CtaSlot cta) const override {
    const auto found = holds.find(cta.value());
    return found == holds.end() || !found->second;
  }
};

/// Ready pending CTAs come before those of the grid, of which most tests have some left.
inline CtaSwitchingConfig pending_first() {
  CtaSwitchingConfig config;
  config.launch_first = false;
  return config;
}

struct EngineBench {
  /// `moves`: with places and a transfer engine, as FineReg has; otherwise as Virtual Thread.
  explicit EngineBench(bool moves, const CtaSwitchingConfig& config = pending_first(), unsigned slots = 6,
                       unsigned active = 2, unsigned shared_bytes = 0)
      : launch(slots, 2, 8), engine("engine", config, test::clock(period)) {
    engine.status.bind(monitor.access);
    engine.counts.bind(counter.target);
    engine.veto.bind(veto);
    if (moves) {
      engine.places.bind(places);
      engine.transfer.bind(transfer);
    }
    watch = std::make_unique<Watch>("watch");
    watch->on(engine.changed());
    run_to(0);
    engine.attach(control);
    limits.ctas = active;
    limits.registers = std::uint64_t{slots} * 2 * 8;
    launch.launch.shared_bytes_per_cta = shared_bytes;
    plan = engine.plan(launch.context, limits);
    launch.context.resident_ctas = plan.resident_ctas;
    engine.kernel_started(launch.context);
  }

  CtaStatus* find(unsigned slot) {
    for (CtaStatus& s : ctas) {
      if (s.cta == cta_at(slot)) return &s;
    }
    return nullptr;
  }
  CtaStatus& at(unsigned slot) {
    REQUIRE(find(slot) != nullptr);
    return *find(slot);
  }
  /// Calls next() until it answers none, and does what it says. What it said, as text.
  std::string act() {
    std::string all;
    for (unsigned n = 0;; ++n) {
      REQUIRE(n < 20);
      Residency::View view;
      view.ctas = &ctas;
      view.ctas_waiting = waiting;
      for (const CtaStatus& s : ctas) {
        const bool scheduled = s.phase == CtaPhase::active || s.phase == CtaPhase::entering;
        view.active_ctas += scheduled ? 1 : 0;
      }
      const Residency::Action a = engine.next(view);
      if (a.kind == Kind::none) return all;
      if (!all.empty()) all += ", ";
      all += carry_out(a);
    }
  }
  void end(unsigned slot) {
    launch.for_warps(slot, [&](const WarpInfo& w) { engine.warp_finished(w); });
    engine.cta_finished(launch.cta(slot));
    for (std::size_t i = 0; i < ctas.size(); ++i) {
      if (ctas[i].cta == cta_at(slot)) ctas.erase(ctas.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  /// It waits for memory, or goes on.
  void stall(unsigned slot, bool stalled = true) {
    at(slot).stalled = stalled;
    at(slot).ready = !stalled;
  }
  void quiesce(unsigned slot) { at(slot).phase = CtaPhase::quiesced; }
  double stat(const std::string& name) { return stat_of(engine, name); }

  Launch launch;
  protocol::SmLimits limits;
  models::CtaStatusMonitor monitor{"monitor"};
  FakePlaces places{"places"};
  FakeTransfer transfer{"transfer"};
  FakeCounter counter{"counter"};
  FakeVeto veto{"veto"};
  models::SwitchEngine engine;
  std::unique_ptr<Watch> watch;
  FakeControl control;
  protocol::ResourcePlan plan;
  std::vector<CtaStatus> ctas;
  std::uint64_t waiting = 100;  ///< CTAs of the grid

 private:
  std::string carry_out(const Residency::Action& a) {
    const std::string slot = std::to_string(a.cta.value());
    switch (a.kind) {
      case Kind::launch:
        return started();
      case Kind::switch_out:
        CHECK(at(a.cta.value()).active);
        CHECK(a.steer_loads);
        at(a.cta.value()).active = false;
        at(a.cta.value()).phase = CtaPhase::draining;
        engine.cta_switched(launch.cta(a.cta.value()), false);
        return "out " + slot;
      case Kind::moved:
        CHECK(at(a.cta.value()).phase == CtaPhase::quiesced);
        at(a.cta.value()).phase = CtaPhase::parked;
        return "moved " + slot;
      case Kind::switch_in:
        CHECK(!at(a.cta.value()).active);
        at(a.cta.value()).active = true;
        at(a.cta.value()).phase = CtaPhase::active;
        engine.cta_switched(launch.cta(a.cta.value()), true);
        return "in " + slot;
      default:
        return "none";
    }
  }
  std::string started() {
    REQUIRE(waiting != 0);
    --waiting;
    unsigned slot = 0;
    while (find(slot) != nullptr) ++slot;
    REQUIRE(slot < plan.resident_ctas);
    CtaStatus s;
    s.cta = cta_at(slot);
    s.active = s.ready = true;
    std::size_t place = 0;
    while (place < ctas.size() && ctas[place].cta < s.cta) ++place;
    ctas.insert(ctas.begin() + static_cast<std::ptrdiff_t>(place), s);
    engine.cta_launched(launch.cta(slot));
    launch.for_warps(slot, [&](const WarpInfo& w) { engine.warp_started(w); });
    engine.cta_switched(launch.cta(slot), true);
    return "launch " + std::to_string(slot);
  }
};

}  // namespace regatta::test::cta_blocks

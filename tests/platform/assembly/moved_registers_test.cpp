// SPDX-License-Identifier: Apache-2.0
//
// A toy of what FineReg does: CTAs that stall are switched out, their registers leave the register file, whose rows are
// then overwritten, and come back before the CTA goes on. Loads in flight are not waited for: the write-back point
// takes their results while the registers are away.
#include "harness.h"

#include <regatta/protocol/sm_control.h>
#include <regatta/protocol/warp_registers.h>

#include <algorithm>
#include <map>

using namespace regatta;
using protocol::CtaPhase;
using protocol::DynamicInstruction;
using protocol::Residency;

namespace {

using Register = std::pair<unsigned, unsigned>;  ///< warp slot, register

/// A register file whose rows can be looked at and set from outside.
class OpenFile : public models::RegisterFile {
 public:
  using RegisterFile::RegisterFile;
  void access(tlm::tlm_command command, Register at, trace::WarpValue& value) {
    const auto warp = protocol::WarpSlot(static_cast<std::uint16_t>(at.first));
    const auto reg = protocol::RegisterId(static_cast<std::uint8_t>(at.second));
    payload_.prepare(command, warp, reg, trace::all_lanes(32), 32, value);
    transfer_now(payload_.payload(), payload_.access(), bank_of(warp, reg));
  }

 private:
  protocol::OperandPayload payload_;
};

/// Registers of CTAs that are away, shared by the two sides of the toy.
struct Away {
  std::map<Register, trace::WarpValue> registers;
  std::map<unsigned, bool> parked;  ///< by CTA slot
  std::uint64_t steered = 0, moved = 0;
};

/// Occupancy; a CTA that stalls makes way for one that is ready or new.
class Mover : public sc_core::sc_module, public Residency {
 public:
  Mover(const sc_core::sc_module_name& name, OpenFile& file, Away& away, bool steer)
      : sc_module(name), file_(file), away_(away), steer_(steer), changed_("changed") {}
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override {
    warps_ = context.warps_per_cta;
    registers_ = context.registers_per_warp;
    protocol::ResourcePlan plan = protocol::ResourcePlan::conventional(context, limits, 4);
    plan.active_ctas = 2;
    return plan;
  }
  bool switches() const override { return true; }
  const sc_core::sc_event& changed() const override { return changed_; }
  /// A CTA may end while it is parked: its last instruction was a load that was steered.
  void cta_launched(const protocol::CtaInfo& cta) override { away_.parked[cta.cta.value()] = false; }
  Action next(const View& view) override {
    for (const protocol::CtaStatus& cta : *view.ctas) {
      if (cta.phase != CtaPhase::quiesced) continue;
      move(cta.cta.value(), true);
      return {Action::Kind::moved, cta.cta};
    }
    if (view.active_ctas < 2) {
      for (const protocol::CtaStatus& cta : *view.ctas) {
        if (cta.phase != CtaPhase::parked || (!cta.ready && view.active_ctas != 0)) continue;
        move(cta.cta.value(), false);
        return {Action::Kind::switch_in, cta.cta};
      }
      if (view.ctas_waiting != 0 && view.ctas->size() < 4) return {Action::Kind::launch, {}};
    }
    const bool other = (view.ctas_waiting != 0 && view.ctas->size() < 4) ||
                       std::any_of(view.ctas->begin(), view.ctas->end(), [](const protocol::CtaStatus& cta) {
                         return cta.phase == CtaPhase::parked && cta.ready;
                       });
    for (const protocol::CtaStatus& cta : *view.ctas) {
      if (other && cta.active && cta.stalled) return {Action::Kind::switch_out, cta.cta, steer_};
    }
    return {};
  }

 private:
  void move(unsigned cta, bool out) {
    away_.parked[cta] = out;
    away_.moved += out ? 1 : 0;
    for (unsigned w = cta * warps_; w < (cta + 1) * warps_; ++w) {
      for (unsigned r = 0; r < registers_; ++r) {
        if (!file_.mapping().mapped(protocol::WarpSlot(static_cast<std::uint16_t>(w)))) continue;  // it has ended
        trace::WarpValue& kept = away_.registers[{w, r}];
        if (!out) {
          file_.access(tlm::TLM_WRITE_COMMAND, {w, r}, kept);
          continue;
        }
        file_.access(tlm::TLM_READ_COMMAND, {w, r}, kept);
        trace::WarpValue other;
        other.lane.fill(0xdead0000u + w * 256 + r);
        file_.access(tlm::TLM_WRITE_COMMAND, {w, r}, other);
      }
    }
  }

  OpenFile& file_;
  Away& away_;
  bool steer_;
  sc_core::sc_event changed_;
  unsigned warps_ = 0, registers_ = 0;
};

/// Takes results whose registers are away.
class Steering : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  Steering(const sc_core::sc_module_name& name, Away& away, bool loses)
      : sc_module(name), away_(away), loses_(loses), changed_("changed") {}
  Decision decide(DynamicInstruction& d, unsigned destination) override {
    if (!away_.parked[d.cta.value()]) return Decision::write;
    ++away_.steered;
    if (loses_) return Decision::drop;
    trace::WarpValue& kept = away_.registers[{d.warp.value(), d.traits->writes[destination].value()}];
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((d.active >> lane) & 1) kept.lane[lane] = d.results[destination].lane[lane];
    }
    return Decision::drop;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Away& away_;
  bool loses_;
  sc_core::sc_event changed_;
};

assembly::SimulationResult move_registers(const std::string& name, Away& away, bool steer, bool loses = false) {
  return test::simulate_with(test::mixed_trace(name, 24), [&](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.storage.reset();
    auto file = std::make_unique<OpenFile>("register_file", c.machine.register_file, c.clock);
    parts.residency.reset();
    parts.residency = std::make_unique<Mover>("mover", *file, away, steer);
    parts.storage = std::move(file);
    parts.writeback_point = std::make_unique<Steering>("steering", away, loses);
    return parts;
  });
}

}  // namespace

TEST_CASE("switching: registers leave the file and come back, loads are waited for") {
  Away away;
  test::require_clean(move_registers("moved_drained", away, false));
  CHECK(away.moved > 10);
  CHECK(away.steered == 0);
}

TEST_CASE("switching: registers leave the file and come back, loads in flight are steered") {
  Away away;
  test::require_clean(move_registers("moved_steered", away, true));
  CHECK(away.moved > 10);
  CHECK(away.steered > 10);
}

TEST_CASE("switching: a steered load that is lost is found") {
  Away away;
  const auto r = move_registers("moved_lost", away, true, true);
  CHECK(r.mismatches > 0);
  CHECK(r.message.find("value mismatch") != std::string::npos);
}

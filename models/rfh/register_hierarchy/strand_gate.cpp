// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfh/strand_gate.h>

#include <regatta/support/energy.h>

namespace regatta::models {

StrandGate::StrandGate(const sc_core::sc_module_name& name, bool waits, support::ClockDomain& clock)
    : sc_module(name), slots("slots"), clock_(clock), changed_("changed", &clock), waits_(waits) {}

void StrandGate::kernel_started(const protocol::KernelContext& context) {
  const trace::RfhPlan plan = rfh_plan_of(*context.kernel);
  const std::vector<OperandLevels> levels = operand_levels(plan, context);
  entries_ = lrf_entries(plan) + plan.entries;
  refused_ = false;
  warps_.assign(std::size_t{context.resident_ctas} * context.warps_per_cta, Warp{});
  static_.assign(levels.size(), Static{});
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const protocol::InstructionTraits& t = (*context.traits)[i];
    Static& s = static_[i];
    s.begins = plan.instructions[i].strand_begins;
    s.is_long = trace::is_long_latency(context.kernel->instructions[i]);
    for (unsigned w = 0; w < t.write_count; ++w) s.results |= entries_of(levels[i].writes[w]);
    s.writes = s.results;
    for (unsigned r = 0; r < t.read_count; ++r) {
      if ((levels[i].copies >> r & 1) != 0) s.writes |= entries_of(levels[i].reads[r]);
    }
  }
}

void StrandGate::close(protocol::WarpSlot warp, Warp& w) {
  if (w.closed) return;
  w.closed = true;
  w.since = clock_.now();
  ++waits_begun_;
  listener_->closed(warp, true);
  // Another warp may be active in its place from the next cycle on.
  listener_->reconsider(protocol::Cycle(clock_.now() + 1));
}

void StrandGate::open(protocol::WarpSlot warp, Warp& w) {
  w.closed = false;
  wait_cycles_ += clock_.now() - w.since;
  listener_->closed(warp, false);
}

std::uint64_t StrandGate::bits(unsigned warps) const {
  constexpr unsigned counter = 6;  // of loads in flight
  return std::uint64_t{warps} * (entries_ + counter);
}

void StrandGate::register_stats(support::StatGroup& g) {
  g.counter("strands", strands_, "strands", "begun by warps");
  g.counter("waits", waits_begun_, "strands", "at whose begin the warp waited for long-latency results");
  g.counter("wait_cycles", wait_cycles_, "warp-cycles", "of these waits");
  g.counter("entry_waits", entry_waits_, "attempts",
            "to issue an instruction that writes an entry with an older result on its way");
  g.counter("torn_strands", torn_strands_, "strands",
            "in whose middle the warp left the active set and lost its entries: the annotation is wrong");
}

void StrandGate::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a few bits per warp; the strand bit is decoded with the instruction");
}

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
#include <regatta/regmutex/shared_register_pool.h>

#include <regatta/support/config.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <string>
#include <utility>

namespace regatta::models {

using protocol::DynamicInstruction;
using protocol::WarpSlot;

SharedRegisterPool::SharedRegisterPool(const sc_core::sc_module_name& name, std::uint32_t registers,
                                       support::ClockDomain& clock)
    : sc_module(name),
      sections("sections"),
      veto("veto"),
      user("user"),
      clock_(clock),
      changed_("changed", &clock),
      registers_(registers) {
  sections.bind(*this);
  veto.bind(*this);
}

trace::RegMutexRegisters SharedRegisterPool::sets_of(const trace::Kernel& kernel) {
  std::optional<trace::RegMutexRegisters> sets = trace::find_regmutex(kernel);
  if (!sets) {
    throw support::UnfitTrace("kernel " + kernel.name +
                              ": its trace has no register sets (section 'regmutex'), which RegMutex needs: annotate "
                              "it with --for vt_regmutex");
  }
  return *sets;
}

std::uint32_t SharedRegisterPool::sections_for(const trace::Kernel& kernel,
                                               const trace::RegMutexRegisters& sets) const {
  if (sets.extended == 0) return 0;
  if (registers_ < sets.extended) {
    throw support::ConfigError("regmutex.pool_registers = " + std::to_string(registers_) + ", expected at least " +
                               std::to_string(sets.extended) + ": a section of kernel " + kernel.name +
                               " has as many registers");
  }
  return registers_ / sets.extended;
}

void SharedRegisterPool::complain(WarpSlot warp, const char* what) const {
  SC_REPORT_ERROR("regatta/register_pool", (std::string(name()) + " in cycle " + std::to_string(clock_.now()) +
                                            ": warp " + std::to_string(warp.value()) + " " + what)
                                               .c_str());
}

void SharedRegisterPool::kernel_started(const protocol::KernelContext& context) {
  const trace::RegMutexRegisters sets = sets_of(*context.kernel);
  warps_per_cta_ = context.warps_per_cta;
  warps_.assign(std::size_t{context.resident_ctas} * warps_per_cta_, Warp{});
  closed_.clear();
  holders_.assign(context.resident_ctas, 0);
  free_ = sections_for(*context.kernel, sets);
  taken_.assign(free_, false);
  extended_.assign(context.kernel->instructions.size(), false);
  for (std::size_t i = 0; i < extended_.size(); ++i) {
    const protocol::InstructionTraits& t = (*context.traits)[i];
    for (unsigned r = 0; r < t.read_count; ++r) extended_[i] = extended_[i] || sets.is_extended(t.reads[r].value());
    for (unsigned w = 0; w < t.write_count; ++w) extended_[i] = extended_[i] || sets.is_extended(t.writes[w].value());
  }
}

void SharedRegisterPool::warp_started(const protocol::WarpInfo& warp) { warps_[warp.warp.value()] = Warp{}; }

void SharedRegisterPool::warp_finished(const protocol::WarpInfo& warp) {
  if (warps_[warp.warp.value()].section != none) give_back(warp.warp);
}

bool SharedRegisterPool::may_issue(const DynamicInstruction& d) {
  if (!d.injected || !trace::is_regmutex_acquire(*d.info)) return true;
  // Its own section may be on its way back.
  Warp& w = warps_[d.warp.value()];
  if (free_ != 0 && w.section == none) return true;
  ++refusals_;
  if (!std::exchange(w.closed, true)) {
    closed_.push_back(d.warp);
    listener_->closed(d.warp, true);
    // Another warp may be active in its place from the next cycle on.
    listener_->reconsider(protocol::Cycle(clock_.now() + 1));
  }
  return false;
}

void SharedRegisterPool::issued(const DynamicInstruction& d) {
  Warp& w = warps_[d.warp.value()];
  if (!d.injected) {
    if (!names_extended(d)) return;
    if (w.section == none || w.releasing) complain(d.warp, "names an extended register, expected it to hold a section");
    ++w.using_it;
    return;
  }
  if (trace::is_regmutex_acquire(*d.info)) {
    const auto at = std::find(taken_.begin(), taken_.end(), false);
    *at = true;
    w.section = static_cast<std::uint32_t>(at - taken_.begin());
    w.releasing = false;
    w.since = clock_.now();
    --free_;
    ++holders_[cta_of(d.warp)];
    ++acquires_;
    held_max_ = std::max<std::uint64_t>(held_max_, taken_.size() - free_);
    if (user.size() != 0) user->section_taken(d.warp);
  } else if (trace::is_regmutex_release(*d.info)) {
    if (w.section == none) complain(d.warp, "releases a section, expected it to hold one");
    w.releasing = true;
    if (w.using_it == 0) give_back(d.warp);
  }
}

void SharedRegisterPool::written_back(const DynamicInstruction& d) {
  if (d.injected || !names_extended(d)) return;
  Warp& w = warps_[d.warp.value()];
  if (--w.using_it == 0 && w.releasing) give_back(d.warp);
}

void SharedRegisterPool::give_back(WarpSlot warp) {
  Warp& w = warps_[warp.value()];
  if (user.size() != 0) user->section_returns(warp);
  taken_[w.section] = false;
  ++free_;
  --holders_[cta_of(warp)];
  ++releases_;
  held_cycles_ += clock_.now() - w.since;
  w.section = none;
  w.releasing = false;
  for (const WarpSlot waiting : closed_) {
    warps_[waiting.value()].closed = false;
    listener_->closed(waiting, false);
  }
  closed_.clear();
  changed_.notify();
}

void SharedRegisterPool::register_stats(support::StatGroup& g) {
  g.counter("acquires", acquires_, "sections", "taken by warps");
  g.counter("releases", releases_, "sections", "returned, by a release or by the end of a warp");
  g.counter("refusals", refusals_, "attempts", "to acquire a section when none was free");
  g.counter("held_cycles", held_cycles_, "section-cycles", "from taken to returned");
  g.counter("held_max", held_max_, "sections", "held at a time, at most");
}

void SharedRegisterPool::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.section", acquires_);
  g.event("cta_switching", "cta_switching.section", releases_);
}

}  // namespace regatta::models

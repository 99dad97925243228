// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/dynamic_warps.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::DynamicInstruction;
using protocol::WarpSlot;

namespace {

/// A mix of all bits (splitmix64, Steele et al., OOPSLA 2014).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

void DynamicWarpsConfig::declare(const std::string& prefix, support::OptionSet& o) {
  o.add(prefix + "dynamic_period", period, "cycles", "after which SMs compare their stalls with those of SM 0", 1,
        1 << 30);
  o.add(prefix + "dynamic_steps", steps, "steps", "of the probability of a memory instruction, from 0 to 1", 1,
        1 << 20);
  o.add(prefix + "dynamic_seed", seed, "", "of the draws that let non-owner warps issue memory instructions");
}

DynamicWarps::DynamicWarps(const sc_core::sc_module_name& name, const DynamicWarpsConfig& config,
                           support::ClockDomain& clock)
    : sc_module(name),
      pairs("pairs"),
      owners("owners"),
      own_stalls("own_stalls"),
      probe_stalls("probe_stalls"),
      ownership("ownership"),
      config_(config),
      clock_(clock),
      client_(
          clock, [](void* self) { static_cast<DynamicWarps*>(self)->begin_period(); }, this),
      probe_(clock_.add_probe(config.period, [this](std::uint64_t cycle) { compare(cycle); })),
      changed_("changed") {
  ownership.bind(*this);
}

DynamicWarps::~DynamicWarps() { clock_.remove_probe(probe_); }

void DynamicWarps::end_of_elaboration() {
  owners_ = owners.operator->();
  if (!is_probe() && (own_stalls.size() == 0 || probe_stalls.size() == 0)) {
    SC_REPORT_ERROR("regatta/dynamic_warps",
                    (std::string(name()) + ": own_stalls and probe_stalls are not bound; expected both on SM " +
                     std::to_string(config_.sm))
                        .c_str());
  }
}

void DynamicWarps::kernel_started(const protocol::KernelContext& context) {
  running_ = pairs->plan().sharing();
  warps_per_cta_ = context.warps_per_cta;
  warps_.assign(std::size_t{pairs->plan().ctas} * warps_per_cta_, Warp{});
  closed_ = 0;
  level_ = is_probe() ? 0 : config_.steps;
  if (is_probe()) return;
  own_before_ = own_stalls->stalls_through(clock_.now());
  probe_before_ = probe_stalls->stalls_through(clock_.now());
}

void DynamicWarps::kernel_finished(const protocol::KernelContext&) { running_ = false; }

void DynamicWarps::warp_started(const protocol::WarpInfo& warp) { warps_[warp.warp.value()] = Warp{}; }

void DynamicWarps::compare(std::uint64_t cycle) {
  if (!running_ || is_probe()) return;
  const std::uint64_t own = own_stalls->stalls_through(cycle), probe = probe_stalls->stalls_through(cycle);
  const std::uint64_t mine = own - own_before_, others = probe - probe_before_;
  own_before_ = own;
  probe_before_ = probe;
  ++periods_;
  level_sum_ += level_;
  if (mine > others && level_ != 0) {
    --level_;
    ++lowered_;
  } else if (mine < others && level_ != config_.steps) {
    ++level_;
    ++raised_;
  }
}

bool DynamicWarps::draw(std::size_t warp, std::uint64_t period) {
  Warp& w = warps_[warp];
  if (w.drawn == period) return w.may;
  w.drawn = period;
  ++draws_;
  w.may = mix(mix(mix(config_.seed + config_.sm) + period) + warp) % config_.steps < level_;
  return w.may;
}

bool DynamicWarps::may_issue(const DynamicInstruction& d) {
  if (!running_ || !d.traits->is_long_latency || d.injected) return true;
  const auto warp = std::size_t{d.warp.value()};
  const CtaSlot cta(static_cast<CtaSlot::rep>(warp / warps_per_cta_));
  if (owners_->role(cta) != WarpRole::non_owner) return true;
  const std::uint64_t now = clock_.now(), period = period_of(now);
  if (!is_probe() && draw(warp, period)) return true;
  Warp& w = warps_[warp];
  if (w.closed) return false;
  w.closed = true;
  w.since = now;
  ++closed_;
  ++denials_;
  listener_->closed(d.warp, true);
  // On SM 0 the next period brings nothing new.
  if (!is_probe()) client_.request((period + 1) * config_.period + 1);
  return false;
}

void DynamicWarps::begin_period() {
  const std::uint64_t period = period_of(clock_.now());
  for (std::size_t i = 0; i < warps_.size() && closed_ != 0; ++i) {
    if (warps_[i].closed && draw(i, period)) open(i);
  }
  if (closed_ != 0) client_.request((period + 1) * config_.period + 1);
}

void DynamicWarps::open(std::size_t warp) {
  Warp& w = warps_[warp];
  w.closed = false;
  --closed_;
  denied_cycles_ += clock_.now() - w.since;
  listener_->closed(WarpSlot(static_cast<WarpSlot::rep>(warp)), false);
}

void DynamicWarps::became_owner(CtaSlot cta) {
  const std::size_t first = std::size_t{cta.value()} * warps_per_cta_;
  for (std::size_t i = first; i < first + warps_per_cta_; ++i) {
    if (warps_[i].closed) open(i);
  }
  // An event without work would let time go on behind the end of a launch.
  if (closed_ == 0) client_.cancel();
}

void DynamicWarps::register_stats(support::StatGroup& g) {
  g.counter("draws", draws_, "draws", "for memory instructions of non-owner warps, one per period and warp");
  g.counter("denials", denials_, "warps", "of a non-owner that had to wait before a memory instruction");
  g.counter("denied_cycles", denied_cycles_, "warp-cycles", "that they waited");
  g.counter("raised", raised_, "periods", "after which the probability rose by a step");
  g.counter("lowered", lowered_, "periods", "after which the probability fell by a step");
  g.derived(
      "probability_mean",
      [this] { return periods_ == 0 ? 0.0 : double(level_sum_) / double(periods_) / config_.steps; }, "",
      "of a memory instruction of a non-owner warp, mean over the periods");
}

void DynamicWarps::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.draw", draws_);
}

}  // namespace regatta::models

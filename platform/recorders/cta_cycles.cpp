// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/recorders/cta_cycles.h>

namespace regatta::recorders {

using protocol::Cycle;
using protocol::Event;
using protocol::WarpState;

CtaCyclesFile::CtaCyclesFile(const std::string& path) : file_(path) {
  std::string header = "launch,sm,cta,launched,finished,warps,issued";
  for (unsigned s = 1; s < protocol::warp_state_count; ++s) {
    header += std::string(",") + protocol::to_string(static_cast<WarpState>(s));
  }
  file_.write(header + ",inactive,warp_cycles\n");
}

std::vector<Event> CtaCycles::interests() const {
  return {Event::kernel_started, Event::cta_launched,  Event::cta_finished, Event::cta_switched,
          Event::warp_started,   Event::warp_finished, Event::issued,       Event::warp_state};
}

CtaCycles::WarpTime& CtaCycles::warp(protocol::WarpSlot slot) {
  if (warps_.size() <= slot.value()) warps_.resize(slot.value() + 1u);
  return warps_[slot.value()];
}

CtaCycles::CtaTime& CtaCycles::cta(unsigned slot) {
  if (ctas_.size() <= slot) ctas_.resize(slot + 1u);
  return ctas_[slot];
}

void CtaCycles::charge(WarpTime& w, std::uint64_t now) {
  if (now <= w.since) return;
  CtaTime& c = ctas_[w.cta];
  c.cycles[c.active ? static_cast<unsigned>(w.state) : inactive_column] += now - w.since;
  w.since = now;
}

void CtaCycles::kernel_started(Cycle, const protocol::KernelContext& context) {
  launch_ = context.launch_index;
  warps_.clear();
  ctas_.clear();
}

void CtaCycles::cta_launched(Cycle now, const protocol::CtaInfo& info) {
  CtaTime& c = cta(info.cta.value());
  c = CtaTime{};
  c.launched = now.value();
}

void CtaCycles::warp_started(Cycle now, const protocol::WarpInfo& info) {
  warp(info.warp) = WarpTime{now.value(), WarpState::absent, info.cta.value()};
  cta(info.cta.value()).warps.push_back(info.warp.value());
}

void CtaCycles::cta_switched(Cycle now, protocol::CtaSlot slot, bool active) {
  CtaTime& c = cta(slot.value());
  for (const unsigned w : c.warps) {
    if (warps_[w].state != WarpState::absent) charge(warps_[w], now.value());
  }
  c.active = active;
}

void CtaCycles::warp_state(Cycle now, const protocol::WarpInfo& info, WarpState state) {
  WarpTime& w = warp(info.warp);
  charge(w, now.value());
  w.state = state;
}

void CtaCycles::issued(Cycle now, const protocol::DynamicInstruction& d) {
  WarpTime& w = warp(d.warp);
  if (w.since > now.value()) return;  // the second instruction of a dual issue
  charge(w, now.value());
  ++ctas_[w.cta].cycles[issued_column];
  w.since = now.value() + 1;
}

void CtaCycles::warp_finished(Cycle now, const protocol::WarpInfo& info) {
  WarpTime& w = warp(info.warp);
  charge(w, now.value());
  w.state = WarpState::absent;
}

void CtaCycles::cta_finished(Cycle now, const protocol::CtaInfo& info) {
  const CtaTime& c = cta(info.cta.value());
  std::uint64_t sum = 0;
  std::string text =
      fmt::format("{},{},{},{},{},{}", launch_, sm_, info.cta_index, c.launched, now.value(), info.warps);
  for (const std::uint64_t n : c.cycles) {
    text += fmt::format(",{}", n);
    sum += n;
  }
  file_.row(text + fmt::format(",{}\n", sum));
}

}  // namespace regatta::recorders

// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/load_rules.h>

namespace regatta::models::wir {

void LoadRules::warp_started(const protocol::WarpInfo& warp) { at(flags_, warp.warp.value()) = Flags{}; }

void LoadRules::renamed(const protocol::DynamicInstruction& d, const StaticCode& code) {
  switch (code.effect) {
    case MemoryEffect::none:
      return;
    case MemoryEffect::shared_store:
      at(flags_, d.warp.value()).shared = true;
      return;
    case MemoryEffect::global_store:
      at(flags_, d.warp.value()).global = true;
      // A generic store may have gone to shared memory.
      if (d.info->space == trace::MemorySpace::generic) at(flags_, d.warp.value()).shared = true;
      return;
    case MemoryEffect::atomic:
      at(flags_, d.warp.value()) = Flags{true, true};
      return;
    case MemoryEffect::fence:
      count(d.cta);
      return;
  }
}

void LoadRules::barrier_opened(const protocol::WarpInfo& warp, std::uint64_t now) {
  at(flags_, warp.warp.value()) = Flags{};
  std::uint64_t& last = at(opened_at_, warp.cta.value());
  if (last == now + 1) return;
  last = now + 1;
  count(warp.cta);
}

bool LoadRules::tag_load(const protocol::DynamicInstruction& d, ReuseKind kind, ReuseTag& tag) const {
  if (kind == ReuseKind::read_only_load) return true;
  const Flags flags = d.warp.value() < flags_.size() ? flags_[d.warp.value()] : Flags{};
  if (kind == ReuseKind::shared_load ? flags.shared : flags.global) return false;
  const unsigned passed = barriers(d.cta);
  if (passed >= most_) return false;
  tag.barriers = static_cast<std::uint8_t>(passed);
  // A global load's result may serve other CTAs only while neither has passed a barrier: behind one, the CTA's own
  // warps may have stored before it.
  if (kind == ReuseKind::shared_load || passed != 0) tag.block = static_cast<std::uint16_t>(d.cta.value() + 1);
  return true;
}

}  // namespace regatta::models::wir

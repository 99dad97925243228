// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/register_state.h>

#include <algorithm>

namespace regatta::models::wir {

RegisterState::RegisterState(const WirConfig& c, sc_core::sc_time period)
    : config(c),
      parts{c.loads(), c.pending(), c.verify_cache(), c.signatures(), c.capped(), c.affine()},
      allocator(c.physical(), c.release_latency, c.counter_bits, c.allocator_ports),
      reuse(c.reuse_entries, c.reuse_associative),
      signatures(c.signatures() ? c.signature_entries : 0),
      reuse_reads(c.reuse_ports),
      reuse_writes(c.reuse_ports),
      clock_(support::CycleScheduler::of(period)),
      promises_(c.physical()),
      writers_(c.physical()) {}

void RegisterState::kernel_started(const protocol::KernelContext& context) {
  registers_per_warp_ = std::max(1u, context.kernel->registers_per_thread);
  // The most warps that can be resident, as far as the storage knows; shared memory may allow fewer.
  const unsigned cta = std::max(1u, context.warps_per_cta);
  const unsigned by_registers = config.physical() / std::max(1u, context.registers_per_warp) / cta;
  const unsigned warps = std::min({by_registers, config.max_ctas, config.max_warps / cta}) * cta;
  // At least one table for each slot, since tables are laid out by slot.
  rename.reset(std::max(warps, config.max_warps), registers_per_warp_);
  // Registers that no rename entry can need may be held by readers alone.
  credits_ = parts.capped ? 0 : config.physical() - std::min(config.physical(), warps * registers_per_warp_);
  code = static_code(context, config.reuse_pairs);
  warps_ = 0;
  allocator.set_limit(parts.capped ? 0 : config.physical());
  mode_since_ = evicted_until_ = now_ = clock_.now();
  wanted_ = 1;
  was_low_ = is_low_in(now_);
}

void RegisterState::warp_started(const protocol::WarpInfo&) {
  begin();
  ++warps_;
  if (parts.capped) allocator.set_limit(std::min(config.physical(), warps_ * registers_per_warp_));
}

void RegisterState::warp_finished(const protocol::WarpInfo& warp) {
  begin();
  rename.clear(warp.warp, [this](PhysicalRegister reg) { give_up(reg); });
  --warps_;
  if (!parts.capped) return;
  allocator.set_limit(std::min(config.physical(), warps_ * registers_per_warp_));
  // The limit has dropped by the warp's registers: evict entries until the rest fits.
  for (std::size_t i = 0; i < signatures.entries().size() && allocator.referenced() > allocator.limit(); ++i) {
    give_up(signatures.evict_entry(i));
  }
  for (std::size_t i = 0; i < reuse.entries().size() && allocator.referenced() > allocator.limit(); ++i) {
    reuse.evict_entry(i, [this](PhysicalRegister reg) { give_up(reg); });
  }
}

void RegisterState::reopen() {
  refused_ = false;
  on_opened();
}

void RegisterState::account_mode(std::uint64_t at) {
  if (was_low_) counters.low_cycles += at - mode_since_;
  mode_since_ = at;
}

void RegisterState::switch_mode(bool is_low, std::uint64_t at) {
  account_mode(at);
  was_low_ = is_low;
  evicted_until_ = at;
}

void RegisterState::evict_idle() {
  for (std::uint64_t cycle = evicted_until_; cycle < now_; ++cycle) {
    if (!is_low_in(cycle)) {
      switch_mode(false, cycle);
      return;
    }
    const auto drop = [&](PhysicalRegister reg) {
      if (reg != no_register) allocator.release(reg, cycle);
    };
    // xorshift: any fixed sequence that visits every entry is good enough.
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    if (reuse_accessed_ != cycle) {
      reuse.evict_entry(random_ >> 8, drop);
      ++counters.low_evictions;
    }
    if (signatures_accessed_ != cycle) {
      drop(signatures.evict_entry(random_ >> 32));
      ++counters.low_evictions;
    }
  }
  evicted_until_ = now_;
}

bool RegisterState::find_too_few(unsigned need) {
  wanted_ = std::max(wanted_, need);
  low();
  return false;
}

void RegisterState::clear_buffers() {
  reuse.clear([this](const Dropped& dropped) { give_up(dropped); });
  signatures.clear([this](PhysicalRegister reg) { give_up(reg); });
}

std::string RegisterState::recount() const {
  std::vector<std::uint32_t> count(allocator.size());
  const auto add = [&](PhysicalRegister reg) {
    if (reg != no_register) ++count[reg.value()];
  };
  for (const RenameEntry& e : rename.entries()) add(e.reg);
  for (const ReuseBuffer::Entry& e : reuse.entries()) {
    if (!e.valid) continue;
    for (const PhysicalRegister reg : e.tag.sources) add(reg);
    for (const PhysicalRegister reg : e.result) add(reg);
  }
  for (const ValueSignatureBuffer::Entry& e : signatures.entries()) {
    if (e.valid) add(e.reg);
  }
  std::vector<std::uint32_t> holds(allocator.size());
  for (const InFlight& f : in_flight_) {
    if (!f.live) continue;
    for (unsigned i = 0; i < f.sources.size(); ++i) {
      if ((f.held >> i & 1) == 0) continue;
      add(f.sources[i]);
      ++holds[f.sources[i].value()];
    }
    for (unsigned i = 0; i < f.targets.size(); ++i) {
      if ((f.in_place >> i & 1) == 0) add(f.targets[i]);
      add(f.candidates[i]);
    }
  }
  for (unsigned i = 0; i < allocator.size(); ++i) {
    const PhysicalRegister reg(static_cast<std::uint16_t>(i));
    if (allocator.references(reg) != count[i] || allocator.holds(reg) != holds[i]) {
      return "physical register " + std::to_string(i) + " is counted " + std::to_string(allocator.references(reg)) +
             " times (" + std::to_string(allocator.holds(reg)) + " by readers) and referred to " +
             std::to_string(count[i]) + " times (" + std::to_string(holds[i]) + ")";
    }
  }
  return {};
}

std::string RegisterState::leak() {
  begin();
  if (const std::string wrong = recount(); !wrong.empty()) return wrong;
  clear_buffers();
  if (allocator.referenced() != 0) {
    return std::to_string(allocator.referenced()) + " physical registers are still referred to when no warp is left";
  }
  if (over_limit_ != 0) {
    return "up to " + std::to_string(over_limit_) + " physical registers more than the limit were in use";
  }
  return {};
}

void RegisterState::check() {
  const std::string wrong = recount();
  if (!wrong.empty()) SC_REPORT_ERROR("regatta/wir", wrong.c_str());
}

}  // namespace regatta::models::wir

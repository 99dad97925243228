// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/register_allocator.h>

#include <regatta/support/block_name.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace regatta::models::wir {

using protocol::LookupReply;

RegisterAllocator::RegisterAllocator(const sc_core::sc_module_name& name, const WirMachine& config,
                                     support::ClockDomain& clock)
    : sc_module(name),
      references("references"),
      credits("credits"),
      allocation("allocation", *this),
      keepers("keepers"),
      physical_(config.physical()),
      max_warps_(config.max_warps),
      max_ctas_(config.max_ctas),
      capped_(config.capped()),
      clock_(clock),
      pool_(config.physical(), config.release_latency, config.counter_bits, config.allocator_ports),
      ports_(config.allocator_ports),
      promises_(config.physical()),
      opened_(&clock) {
  references.bind(*this);
  credits.bind(*this);
  pool_.set_refuse([this](PhysicalRegister reg, const std::string& what) { refuse(reg, what); });
}

std::vector<ReferenceCounts> RegisterAllocator::counts_by_keeper() const {
  std::vector<ReferenceCounts> all(static_cast<std::size_t>(keepers.size()));
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k].references.resize(pool_.size());
    all[k].holds.resize(pool_.size());
    keepers[static_cast<int>(k)]->count(all[k]);
  }
  return all;
}

/// Who made a faulty call is not known, but who has the register is.
std::string RegisterAllocator::owners(PhysicalRegister reg) const {
  const std::vector<ReferenceCounts> counts = counts_by_keeper();
  std::string text;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::uint32_t times = counts[k].references[reg.value()];
    if (times == 0) continue;
    text += (text.empty() ? "" : ", ") + support::block_name(keepers[static_cast<int>(k)]->block()) + " (" +
            std::to_string(times) + ")";
  }
  return "; referred to by " + (text.empty() ? "nobody" : text);
}

void RegisterAllocator::refuse(PhysicalRegister reg, const std::string& what) const {
  report(what + owners(reg));
  throw std::logic_error(what);
}

std::string RegisterAllocator::held_work() const {
  if (!was_low_) return "";
  std::string text = "low-register mode since cycle " + std::to_string(mode_since_) + ", an instruction needs " +
                     std::to_string(wanted_) + " registers and " + std::to_string(pool_.free()) +
                     " are free; references of ";
  const std::vector<ReferenceCounts> counts = counts_by_keeper();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::uint64_t sum =
        std::accumulate(counts[k].references.begin(), counts[k].references.end(), std::uint64_t{0});
    text +=
        (k == 0 ? "" : ", ") + support::block_name(keepers[static_cast<int>(k)]->block()) + ": " + std::to_string(sum);
  }
  return text;
}

std::string RegisterAllocator::at_present() const {
  return std::string(name()) + " in cycle " + std::to_string(clock_.now());
}

void RegisterAllocator::kernel_started(const protocol::KernelContext& context) {
  registers_per_warp_ = std::max(1u, context.kernel->registers_per_thread);
  // The most warps that can be resident, as far as the registers allow; shared memory may allow fewer.
  const unsigned cta = std::max(1u, context.warps_per_cta);
  const unsigned by_registers = physical_ / std::max(1u, context.registers_per_warp) / cta;
  const unsigned warps = std::min({by_registers, max_ctas_, max_warps_ / cta}) * cta;
  // Registers that no rename entry can need may be held by readers alone.
  credits_ = capped_ ? 0 : physical_ - std::min(physical_, warps * registers_per_warp_);
  warps_ = 0;
  pool_.set_limit(capped_ ? 0 : physical_);
  mode_since_ = evicted_until_ = now_ = clock_.now();
  wanted_ = 1;
  was_low_ = is_low_in(now_);
}

void RegisterAllocator::warp_started(const protocol::WarpInfo&) {
  begin();
  ++warps_;
  if (capped_) pool_.set_limit(std::min(physical_, warps_ * registers_per_warp_));
}

void RegisterAllocator::warp_finished(const protocol::WarpInfo&) {
  begin();
  --warps_;
  if (!capped_) return;
  // The limit drops by the warp's registers: entries are given up until the rest fits.
  pool_.set_limit(std::min(physical_, warps_ * registers_per_warp_));
  const auto more = [this] { return pool_.referenced() > pool_.limit(); };
  for (int i = keepers.size() - 1; i >= 0 && more(); --i) keepers[i]->give_up_while(more);
}

LookupReply RegisterAllocator::look_up(const AllocationRequest& request, std::uint32_t, GrantedRegisters& granted) {
  begin();
  const unsigned need = request.registers;
  if (need != 0) {
    if (pool_.available(now_) < need) {
      wanted_ = std::max(wanted_, need);
      low_now();
      return LookupReply::busy;
    }
    for (unsigned i = 0; i < need; ++i) {
      granted.regs[i] = pool_.take(now_);
      granted.waits[i] = static_cast<std::uint16_t>(ports_.take(now_) - now_);
    }
    allocated_ += need;
    if (need >= wanted_) wanted_ = 1;
    if (pool_.in_use() > pool_.limit()) over_limit_ = std::max(over_limit_, pool_.in_use() - pool_.limit());
    low_now();
  }
  if (request.reduced) {
    wanted_ = 1;
    low_now();
  }
  return LookupReply::answered;
}

void RegisterAllocator::reopen() {
  refused_ = false;
  opened_.notify();
}

void RegisterAllocator::account_mode(std::uint64_t at) {
  if (was_low_) low_cycles_ += at - mode_since_;
  mode_since_ = at;
}

void RegisterAllocator::switch_mode(bool is_low, std::uint64_t at) {
  account_mode(at);
  was_low_ = is_low;
  evicted_until_ = at;
}

void RegisterAllocator::evict_idle() {
  for (std::uint64_t cycle = evicted_until_; cycle < now_; ++cycle) {
    if (!is_low_in(cycle)) {
      switch_mode(false, cycle);
      return;
    }
    for (int k = 0; k < keepers.size(); ++k) {
      PhysicalRegister regs[ReferenceKeeper::most_given_up];
      const unsigned count = keepers[k]->give_up_idle(cycle, regs);
      for (unsigned i = 0; i < count; ++i) pool_.release(regs[i], cycle);
    }
  }
  evicted_until_ = now_;
}

std::string RegisterAllocator::recount() const {
  ReferenceCounts counts;
  counts.references.resize(pool_.size());
  counts.holds.resize(pool_.size());
  for (int i = 0; i < keepers.size(); ++i) keepers[i]->count(counts);
  for (unsigned i = 0; i < pool_.size(); ++i) {
    const PhysicalRegister reg(static_cast<std::uint16_t>(i));
    if (counts.incomplete) break;
    if (pool_.references(reg) != counts.references[i] || pool_.holds(reg) != counts.holds[i]) {
      return "physical register " + std::to_string(i) + " is counted " + std::to_string(pool_.references(reg)) +
             " times (" + std::to_string(pool_.holds(reg)) + " by readers) and referred to " +
             std::to_string(counts.references[i]) + " times (" + std::to_string(counts.holds[i]) + ")" + owners(reg);
    }
  }
  return {};
}

std::string RegisterAllocator::leak() {
  begin();
  if (const std::string wrong = recount(); !wrong.empty()) return wrong;
  for (int i = 0; i < keepers.size(); ++i) keepers[i]->give_up_all();
  if (pool_.referenced() != 0) {
    std::uint16_t first = 0;
    while (pool_.references(PhysicalRegister(first)) == 0) ++first;
    return std::to_string(pool_.referenced()) +
           " physical registers are still referred to when no warp is left, the first is " + std::to_string(first) +
           owners(PhysicalRegister(first));
  }
  if (over_limit_ != 0) {
    return "up to " + std::to_string(over_limit_) + " physical registers more than the limit were in use";
  }
  return {};
}

void RegisterAllocator::report(const std::string& wrong) const {
  if (!wrong.empty()) SC_REPORT_ERROR("regatta/wir", (at_present() + ": " + wrong).c_str());
}

void RegisterAllocator::kernel_finished(const protocol::KernelContext&) { report(leak()); }

void RegisterAllocator::check() const { report(recount()); }

std::uint64_t RegisterAllocator::low_cycles() {
  begin();
  low_now();
  account_mode(now_);
  return low_cycles_;
}

void RegisterAllocator::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  g.counter("allocations", allocated_, regs, "taken from the free pool");
  g.counter("references", counted_, "references", "to physical registers counted; each is given up again");
  g.counter("saturations", pool_.saturations(), "references", "refused because a counter was at its end");
  g.derived(
      "low_register_cycles", [this] { return double(low_cycles()); }, "cycles", "in low-register mode");
  g.derived(
      "registers_peak", [this] { return double(peak()); }, regs, "in use at most");
  g.derived(
      "register_cycles", [this] { return double(register_cycles()); }, "register cycles",
      "registers in use, summed over cycles");
}

void RegisterAllocator::register_energy(support::EnergyGroup& g) {
  const char* const reuse = "reuse_structures";
  g.event(reuse, "wir.register_allocator", allocated_, 2);  // a register leaves the pool, and comes back
  g.event(reuse, "wir.reference_count", counted_, 2);       // and each reference is given up again
}

}  // namespace regatta::models::wir

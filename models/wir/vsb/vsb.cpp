// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/vsb.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models::wir {

Vsb::Vsb(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock)
    : sc_module(name),
      lookups("lookup", *this),
      access("access"),
      keeper("keeper"),
      references("references"),
      hash_bits_(config.hash_bits),
      clock_(clock),
      hash_(trace::max_lanes, config.hash_bits),
      entries_(config.signatures() ? config.vsb_entries : 0),
      hash_ports_(config.schedulers),
      read_ports_(config.signature_ports),
      write_ports_(config.signature_ports) {
  access.bind(*this);
  keeper.bind(*this);
}

void Vsb::kernel_started(const protocol::KernelContext& context) {
  hash_ = H3Hash(context.warp_size, hash_bits_);
  rows_ = context.warp_size / 32.0;
}

void Vsb::enter(std::uint32_t hash, PhysicalRegister reg) {
  const bool low = references_->low();  // settles
  accessed_ = clock_.now();
  if (low) return drop(hash);
  if (!references_->share(&reg, 1)) return;
  ++writes_;
  const PhysicalRegister before =
      twin_ == nullptr ? entries_.insert(hash, reg) : operate(VsbOperation::insert(hash, reg)).reg;
  if (before != no_register) references_->release(before);
}

void Vsb::evict(std::uint32_t hash) {
  if (*low_mode_) references_->settle();
  drop(hash);
}

void Vsb::drop(std::uint32_t hash) {
  references_->release(twin_ == nullptr ? entries_.evict(hash) : operate(VsbOperation::evict(hash)).reg);
  ++low_evictions_;
}

unsigned Vsb::give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) {
  const std::uint64_t random = next_random(random_);
  if (accessed_ == cycle) return 0;
  regs[0] = evict_entry(random >> 32);
  ++low_evictions_;
  return regs[0] == no_register ? 0 : 1;
}

void Vsb::give_up_while(const std::function<bool()>& more) {
  for (std::size_t i = 0; i < entries_.entries().size() && more(); ++i) {
    references_->release(evict_entry(i));
  }
}

void Vsb::give_up_all() {
  if (twin_ == nullptr) return entries_.clear([this](PhysicalRegister reg) { references_->release(reg); });
  // One more than there are: a twin that drops none does not keep the run here.
  for (std::size_t i = 0; i <= entries_.entries().size(); ++i) {
    const PhysicalRegister reg = operate(VsbOperation::drop_first()).reg;
    if (reg == no_register) return;
    references_->release(reg);
  }
}

PhysicalRegister Vsb::evict_entry(std::size_t which) {
  if (twin_ == nullptr) return entries_.evict_entry(which);
  return operate(VsbOperation::evict(static_cast<std::uint32_t>(which % entries_.entries().size()))).reg;
}

VsbResult Vsb::operate(const VsbOperation& operation) {
  const VsbResult result = perform(hash_, entries_, operation);
  last_hash_ = result.hash;
  return twin_->operate(operation, result);
}

std::string Vsb::describe_entries() const {
  const auto& entries = entries_.entries();
  const auto valid = std::count_if(entries.begin(), entries.end(), [](const auto& e) { return e.valid; });
  const std::size_t place = last_hash_ % entries.size();
  VsbResult entry{entries[place].hash, entries[place].reg};
  return std::to_string(valid) + " of " + std::to_string(entries.size()) + " entries are valid; entry " +
         std::to_string(place) + ": " + (entries[place].valid ? describe(entry) : "invalid");
}

void Vsb::count(ReferenceCounts& counts) const {
  for (const VsbEntries::Entry& e : entries_.entries()) {
    if (e.valid) counts.add(e.reg);
  }
}

void Vsb::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  g.counter("hits", hits_, regs, "results whose hash was in the buffer");
  g.counter("misses", misses_, regs, "results whose hash was not in it");
  g.counter("hashes", reads_, regs, "whose hash was computed, each with a lookup");
  g.counter("reads", reads_, "entries", "read");
  g.counter("writes", writes_, "entries", "written");
  g.counter("write_waits", write_waits_, "cycles", "that new registers waited for a write port, summed");
  g.counter("low_evictions", low_evictions_, "entries", "looked at for eviction in low-register mode");
}

void Vsb::register_energy(support::EnergyGroup& g) {
  const char* const reuse = "reuse_structures";
  g.event(reuse, "wir.hash", reads_, rows_);
  g.event(reuse, "wir.vsb", reads_);
  g.event(reuse, "wir.vsb", writes_);
}

}  // namespace regatta::models::wir

// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/register_pool.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace regatta::models::wir {

RegisterPool::RegisterPool(unsigned registers, unsigned release_latency, unsigned counter_bits, unsigned ports)
    : count_(registers),
      release_latency_(release_latency),
      returns_(ports),
      most_(counter_bits >= 32 ? ~0u : (1u << counter_bits) - 1),
      limit_(registers) {
  if (registers == 0 || registers >= no_register.value() || counter_bits == 0 || counter_bits > 32)
    throw std::invalid_argument("a register pool of " + std::to_string(registers) + " registers and counters of " +
                                std::to_string(counter_bits) + " bits");
  reset();
}

void RegisterPool::reset() {
  std::fill(count_.begin(), count_.end(), Count{});
  pool_.reset(count_.size());
  leaving_.reset(count_.size());
  for (unsigned i = 0; i < count_.size(); ++i) pool_.push_back(PhysicalRegister(static_cast<std::uint16_t>(i)));
  in_use_ = peak_ = 0;
}

/// The register has no references any more and is on its way to the pool.
void RegisterPool::leave(PhysicalRegister reg, std::uint64_t now) {
  leaving_.push_back({returns_.take(now + release_latency_), reg});
}

void RegisterPool::take_back(std::uint64_t now) {
  while (!leaving_.empty() && leaving_.front().free_at <= now) {
    account(leaving_.front().free_at);
    pool_.push_back(leaving_.front().reg);
    leaving_.pop_front();
    --in_use_;
  }
}

void RegisterPool::refuse(PhysicalRegister reg, const std::string& what) const {
  if (refuse_) refuse_(reg, what);
  throw std::logic_error(what);
}

void RegisterPool::refuse_free(PhysicalRegister reg) const {
  refuse(reg, "a reference to physical register " + std::to_string(reg.value()) + ", which is free");
}

void RegisterPool::refuse_release(PhysicalRegister reg) const {
  refuse(reg, "a reference too many given up of physical register " + std::to_string(reg.value()));
}

}  // namespace regatta::models::wir

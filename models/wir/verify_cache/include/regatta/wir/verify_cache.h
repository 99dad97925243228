// SPDX-License-Identifier: Apache-2.0
//
// The verify cache (WIR section VI-C) as a block.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>
#include <regatta/wir/ports.h>
#include <regatta/wir/value_cache.h>
#include <regatta/wir/wir_config.h>

#include <cstdint>
#include <systemc>

namespace regatta::models::wir {

/// Has the register this value, as far as the cache knows?
struct VerifyRequest {
  PhysicalRegister reg = no_register;
  const std::uint32_t* value = nullptr;  ///< of all lanes; valid until the answer
};
struct VerifyAnswer {
  bool hit = false;
  bool equal = false;   ///< of a hit
  unsigned cycles = 0;  ///< of a hit, from the request until the outcome is known: the wait for a port, and the access
};

class CachedValues : public virtual sc_core::sc_interface {
 public:
  /// A verify-read that missed has read the register's value from its bank.
  virtual void fill(PhysicalRegister reg, const std::uint32_t* value) = 0;
  /// The register is written: its cached value is stale.
  virtual void written(PhysicalRegister reg) = 0;
};

class VerifyCache : public sc_core::sc_module,
                    public CachedValues,
                    public protocol::Lookup<VerifyRequest, VerifyAnswer>,
                    public protocol::LifecycleListener,
                    public support::StatProvider {
 public:
  protocol::LookupTarget<VerifyRequest, VerifyAnswer> lookups;
  sc_core::sc_export<CachedValues> values;

  VerifyCache(const sc_core::sc_module_name& name, const WirConfig& config, support::ClockDomain& clock);

  protocol::LookupReply look_up(const VerifyRequest& request, std::uint32_t tag, VerifyAnswer& answer) override;
  /// Never notified: the cache is never busy, a lookup takes the next free port.
  const sc_core::sc_event& changed() const override { return changed_; }
  void fill(PhysicalRegister reg, const std::uint32_t* value) override {
    ++fills_;
    cache_.fill(reg, value);
  }
  void written(PhysicalRegister reg) override { cache_.written(reg); }

  void kernel_started(const protocol::KernelContext& context) override;
  const std::uint64_t& hits() const { return hits_; }
  const std::uint64_t& misses() const { return fills_; }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const unsigned entries_;
  support::ClockDomain& clock_;
  ValueCache cache_;
  Ports ports_;
  unsigned lanes_ = 32;
  std::uint64_t hits_ = 0, fills_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::wir

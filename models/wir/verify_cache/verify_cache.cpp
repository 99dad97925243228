// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/verify_cache.h>

#include <regatta/support/energy.h>

#include <cstring>

namespace regatta::models::wir {

VerifyCache::VerifyCache(const sc_core::sc_module_name& name, const WirConfig& config, support::ClockDomain& clock)
    : sc_module(name),
      lookups("lookup", *this),
      values("values"),
      entries_(config.verify_cache() ? config.verify_entries : 0),
      clock_(clock),
      cache_(entries_, 32),
      ports_(config.verify_ports) {
  values.bind(*this);
}

protocol::LookupReply VerifyCache::look_up(const VerifyRequest& request, std::uint32_t, VerifyAnswer& answer) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t slot = ports_.take(now);
  const std::uint32_t* const kept = cache_.find(request.reg);
  answer = VerifyAnswer{};
  answer.hit = kept != nullptr;
  if (kept == nullptr) return protocol::LookupReply::answered;
  ++hits_;
  answer.equal = std::memcmp(kept, request.value, std::size_t{lanes_} * trace::bytes_per_lane) == 0;
  answer.cycles = static_cast<unsigned>(slot + 1 - now);
  return protocol::LookupReply::answered;
}

void VerifyCache::kernel_started(const protocol::KernelContext& context) {
  lanes_ = context.warp_size;
  cache_ = ValueCache(entries_, lanes_);
}

void VerifyCache::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  g.counter("hits", hits_, regs, "candidates compared in the cache");
  g.counter("misses", fills_, regs, "candidates that were not in it and were read from their bank");
  g.counter("fills", fills_, regs, "entered");
}

void VerifyCache::register_energy(support::EnergyGroup& g) {
  const double rows = lanes_ / 32.0;
  const char* const reuse = "reuse_structures";
  g.event(reuse, "wir.verify_cache", hits_, rows);
  g.event(reuse, "wir.verify_cache", fills_, rows);  // the misses
  g.event(reuse, "wir.verify_cache", fills_, rows);
}

}  // namespace regatta::models::wir

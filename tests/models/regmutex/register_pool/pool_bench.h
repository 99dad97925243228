// SPDX-License-Identifier: Apache-2.0
//
// The shared register pool with a kernel made by hand, told of instructions as the pipeline would.
#pragma once

#include <regatta/regmutex/shared_register_pool.h>
#include <regatta/support/config.h>

#include <set>
#include <string>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>
#include "../../greener/power_gate/made.h"

namespace regatta::test::cta_blocks {

using models::PoolSections;
using models::SharedRegisterPool;

/// What the gate says of warps.
class FakeListener : public protocol::GateListener {
 public:
  void closed(WarpSlot warp, bool is_closed) override {
    if (is_closed) {
      CHECK(kept.insert(warp.value()).second);
    } else {
      CHECK(kept.erase(warp.value()) == 1);
    }
  }
  void pause(WarpSlot, protocol::Cycle) override { FAIL("no warp is paused"); }
  void reconsider(protocol::Cycle at) override { again = at.value(); }
  std::set<unsigned> kept;  ///< warp slots
  std::uint64_t again = 0;
};

struct PoolUser : sc_core::sc_module {
  sc_core::sc_port<PoolSections> sections{"sections"};
  sc_core::sc_port<models::SwitchVeto> veto{"veto"};
  explicit PoolUser(const sc_core::sc_module_name& name) : sc_module(name) {}
};

/// R0 to R3 are the base set, R4 and R5 the extended one, unless told otherwise.
struct PoolKernel : MadeKernel {
  explicit PoolKernel(unsigned base = 4, unsigned extended = 2) {
    kernel.name = "k";
    kernel.registers_per_thread = base + extended;
    trace::RegMutexRegisters sets;
    sets.base = base;
    sets.extended = extended;
    for (unsigned r = 0; r < base + extended; ++r) sets.place.push_back(static_cast<std::uint8_t>(r));
    plain = add({1}, {0});
    load = add({4}, {0});
    use = add({0}, {5, 1});
    finish();
    set(sets);
    context.launch = &launch;
    context.warps_per_cta = 2;
    context.registers_per_warp = base + extended;
    context.resident_ctas = 4;
    acquire = trace::regmutex_instruction(trace::regmutex_acquire, 1000);
    release = trace::regmutex_instruction(trace::regmutex_release, 1001);
  }
  void set(const trace::RegMutexRegisters& sets) {
    kernel.annotations = {{trace::regmutex_section, trace::regmutex_section_version, trace::encode(sets)}};
  }
  WarpInfo warp(unsigned slot) const {
    WarpInfo info;
    info.warp = warp_at(slot);
    info.cta = cta_at(slot / context.warps_per_cta);
    info.warp_in_cta = slot % context.warps_per_cta;
    info.lanes = 0xffffffff;
    return info;
  }
  std::uint32_t plain = 0, load = 0, use = 0;
  trace::StaticInstruction acquire, release;
  trace::Launch launch;
};

struct PoolBench {
  static constexpr unsigned warps = 8;
  explicit PoolBench(std::uint32_t registers, unsigned base = 4, unsigned extended = 2)
      : k(base, extended), pool("pool", registers, test::clock(period)) {
    user.sections.bind(pool.sections);
    user.veto.bind(pool.veto);
    watch.on(pool.changed());
    pool.connect(listener);
    run_to(1);
    start_kernel();
  }
  void start_kernel() {
    pool.kernel_started(k.context);
    for (unsigned w = 0; w < warps; ++w) pool.warp_started(k.warp(w));
  }
  protocol::DynamicInstruction made(unsigned warp, std::uint32_t index) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp);
    d.cta = cta_at(warp / k.context.warps_per_cta);
    d.traits = &k.traits[index];
    d.info = d.traits->info;
    return d;
  }
  protocol::DynamicInstruction inserted(unsigned warp, const trace::StaticInstruction& what) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp);
    d.cta = cta_at(warp / k.context.warps_per_cta);
    d.injected = true;
    d.info = &what;
    return d;
  }
  /// False: refused.
  bool acquire(unsigned warp) {
    const auto d = inserted(warp, k.acquire);
    if (!pool.may_issue(d)) return false;
    pool.issued(d);
    return true;
  }
  void release(unsigned warp) {
    const auto d = inserted(warp, k.release);
    REQUIRE(pool.may_issue(d));
    pool.issued(d);
  }
  void issue(unsigned warp, std::uint32_t index) {
    const auto d = made(warp, index);
    REQUIRE(pool.may_issue(d));
    pool.issued(d);
  }
  void complete(unsigned warp, std::uint32_t index) { pool.written_back(made(warp, index)); }
  std::uint32_t section(unsigned warp) { return user.sections->section(warp_at(warp)); }
  bool may_leave(unsigned cta) { return user.veto->may_leave(cta_at(cta)); }
  double stat(const std::string& name) { return stat_of(pool, name); }

  PoolKernel k;
  SharedRegisterPool pool;
  PoolUser user{"user"};
  FakeListener listener;
  Watch watch{"watch"};
};

}  // namespace regatta::test::cta_blocks

// SPDX-License-Identifier: Apache-2.0
//
// For benches in which a block that switches CTAs, or moves their registers, stands alone.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/support/stats.h>
#include <regatta/test/catch.h>
#include <regatta/trace/live_registers.h>

#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::test::cta_blocks {

using protocol::CtaInfo;
using protocol::CtaSlot;
using protocol::LookupReply;
using protocol::WarpInfo;
using protocol::WarpSlot;

inline const sc_core::sc_time period(1, sc_core::SC_NS);
inline std::uint64_t cycle() { return sc_core::sc_time_stamp().value() / period.value(); }
/// Runs the kernel to the beginning of the cycle. The first call ends the elaboration.
inline void run_to(std::uint64_t at) {
  REQUIRE(at >= cycle());
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  const sc_core::sc_time then = static_cast<double>(at) * period;
  sc_core::sc_start(then > sc_core::sc_time_stamp() ? then - sc_core::sc_time_stamp() : sc_core::SC_ZERO_TIME);
}
/// What the blocks do in the present cycle.
inline void run_present() { sc_core::sc_start(period / 10); }
inline void run_for(std::uint64_t cycles) { run_to(cycle() + cycles); }

inline CtaSlot cta_at(unsigned n) { return CtaSlot(static_cast<std::uint16_t>(n)); }
inline WarpSlot warp_at(unsigned n) { return WarpSlot(static_cast<std::uint16_t>(n)); }

inline double stat_of(support::StatProvider& block, const std::string& name) {
  support::StatGroup group("block");
  block.register_stats(group);
  for (const support::Stat& s : group.stats()) {
    if (s.name == name) return s.counter != nullptr ? static_cast<double>(*s.counter) : s.value();
  }
  FAIL("no statistic " << name);
  return 0;
}

/// The text of the SystemC error, or of the exception, that `work` ends with; empty if there is none.
template <class F>
std::string error_of(F&& work) {
  try {
    work();
  } catch (const sc_core::sc_report& report) {
    return report.get_msg();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

/// A launch of one kernel, and what listeners are told of it.
struct Launch {
  explicit Launch(unsigned ctas, unsigned warps_per_cta, unsigned registers) {
    kernel.name = "k";
    kernel.registers_per_thread = registers;
    context.kernel = &kernel;
    context.launch = &launch;
    context.warps_per_cta = warps_per_cta;
    context.registers_per_warp = registers;
    context.resident_ctas = ctas;
    context.active_ctas = ctas;
  }
  CtaInfo cta(unsigned slot) const {
    CtaInfo info;
    info.cta = cta_at(slot);
    info.cta_index = slot;
    info.warps = context.warps_per_cta;
    return info;
  }
  WarpInfo warp(unsigned slot) const {
    WarpInfo info;
    info.warp = warp_at(slot);
    info.cta = cta_at(slot / context.warps_per_cta);
    info.warp_in_cta = slot % context.warps_per_cta;
    info.lanes = 0xffffffff;
    return info;
  }
  /// `start` of the warps of a CTA slot.
  template <class F>
  void for_warps(unsigned slot, F&& start) const {
    for (unsigned i = 0; i < context.warps_per_cta; ++i) start(warp(slot * context.warps_per_cta + i));
  }
  /// Gives the kernel `instructions`, before which the registers of `live` are live.
  void set_live(const std::vector<std::uint64_t>& live) {
    kernel.instructions.resize(live.size());
    trace::LiveRegisters list(kernel.registers_per_thread, live.size());
    list.vectors = live;
    trace::AnnotationSection section;
    section.name = trace::liveness_section;
    section.version = trace::liveness_section_version;
    section.payload = trace::encode(list);
    kernel.annotations = {section};
  }

  trace::Kernel kernel;
  trace::Launch launch;
  protocol::KernelContext context;
};

/// An SM's answers, as the test says.
class FakeControl : public protocol::SmControl {
 public:
  void context(WarpSlot warp, protocol::WarpContext& c) override {
    c = protocol::WarpContext{};
    c.resume = resume[warp.value()];
  }
  std::uint64_t progress(CtaSlot cta) override { return issued[cta.value()]; }
  void classify(WarpSlot, unsigned) override {}

  std::map<unsigned, std::vector<std::uint32_t>> resume;  ///< by warp slot
  std::map<unsigned, std::uint64_t> issued;               ///< by CTA slot
};

/// Notes the cycles in which an event is notified.
class Watch : public sc_core::sc_module {
 public:
  explicit Watch(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Watch);
    SC_METHOD(notice);
  }
  std::vector<std::uint64_t> cycles;
  /// Before the elaboration ends.
  void on(const sc_core::sc_event& event) { event_ = &event; }

 private:
  void notice() {
    if (watching_) cycles.push_back(cycle());
    watching_ = true;
    next_trigger(*event_);
  }
  const sc_core::sc_event* event_ = nullptr;
  bool watching_ = false;
};

}  // namespace regatta::test::cta_blocks

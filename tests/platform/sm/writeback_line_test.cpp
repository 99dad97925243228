// SPDX-License-Identifier: Apache-2.0
//
// Results that stand in line at a write-back point: who is asked, in which order they go on.
#include "recorder.h"

#include <regatta/support/cycle_scheduler.h>

#include <tuple>

using namespace regatta;
using test::TraceBuilder;
using trace::OpClass;

namespace {

const sc_core::sc_time period(1e6 / assembly::MachineConfig{}.clock_mhz, sc_core::SC_PS);

/// What a point saw; outlives it.
struct Log {
  std::uint64_t asked = 0, passed = 0;
  std::vector<std::tuple<std::uint64_t, unsigned, std::uint32_t>> served;  ///< cycle, warp, instruction
};

/// Serves one result every `interval` cycles, whoever asks first; those that come by `detour` wait a cycle elsewhere
/// before.
class Counter : public protocol::WritebackPoint {
 public:
  Counter(unsigned interval, bool lines, bool detours, Log& log)
      : interval_(interval), lines_(lines), detours_(detours), log_(log) {}

  bool keeps_cycle_time() const override { return true; }
  unsigned arrive(protocol::DynamicInstruction& d) override {
    if (d.pool_index >= detoured_.size()) detoured_.resize(d.pool_index + 1u);
    if (detours_ && !detoured_[d.pool_index] && d.traits->index % 3 == 0) {
      detoured_[d.pool_index] = true;
      return 1 + d.traits->index % 2;
    }
    ++log_.asked;
    if (now() < free_) return lines_ ? in_line : 1;
    free_ = now() + interval_;
    detoured_[d.pool_index] = false;
    log_.served.emplace_back(now(), d.warp.value(), d.traits->index);
    return 0;
  }
  bool pass(std::size_t count) override {
    if (now() >= free_) return false;
    log_.passed += count;
    return true;
  }
  Decision decide(protocol::DynamicInstruction&, unsigned) override { return Decision::write; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  static std::uint64_t now() { return support::CycleScheduler::of(period).now(); }
  unsigned interval_;
  bool lines_, detours_;
  Log& log_;
  std::uint64_t free_ = 0;
  std::vector<bool> detoured_;
  sc_core::sc_event changed_{"counter_changed"};
};

/// Two SMs: one asks each result in every cycle, in the other they stand in line.
class TwoWays : public assembly::Scheme {
 public:
  TwoWays(unsigned interval, bool detours) : interval_(interval), detours_(detours) {}
  std::string name() const override { return "two_ways"; }
  std::string help() const override { return "the baseline with a write-back point"; }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    REQUIRE(sms_ < 2);
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.writeback_point = std::make_unique<Counter>(interval_, sms_ == 1, detours_, logs[sms_]);
    ++sms_;
    return parts;
  }
  Log logs[2];

 private:
  unsigned interval_;
  bool detours_;
  unsigned sms_ = 0;
};

void same_as_asking(unsigned interval, bool detours) {
  CAPTURE(interval, detours);
  TraceBuilder b;
  for (unsigned i = 0; i < 40; ++i) b.op(i % 7 == 3 ? OpClass::sfu : OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
  b.launch(2, 256);  // a CTA for each
  b.run_all();
  assembly::MachineConfig m;
  m.sm.max_ctas = 1;
  m.sm.icache.enabled = false;
  const trace::Reader reader(b.write("line_" + std::to_string(interval) + (detours ? "_detours" : "")));
  TwoWays scheme(interval, detours);
  assembly::SimulationOptions options;
  options.sms = 2;
  assembly::Simulation simulation(m, scheme, options, reader);
  const assembly::SimulationResult result = simulation.run();
  INFO(result.message);
  REQUIRE(result.ending == assembly::Ending::completed);
  const Log &each = scheme.logs[0], &line = scheme.logs[1];
  REQUIRE(each.served.size() == 8 * 40);
  CHECK(line.served == each.served);
  // All that would have been asked were asked or passed over; nobody who stood in line was asked in vain.
  CHECK(line.asked + line.passed == each.asked);
  CHECK(each.passed == 0);
  CHECK(line.passed > 8 * 40);
}

}  // namespace

TEST_CASE("write-back line: results go on as if each were asked in every cycle, one every other cycle") {
  same_as_asking(2, false);
}
TEST_CASE("write-back line: results go on as if each were asked in every cycle, one in five") {
  same_as_asking(5, false);
}
TEST_CASE("write-back line: others pass between those in line, one every cycle") { same_as_asking(1, true); }
TEST_CASE("write-back line: others pass between those in line, one in three") { same_as_asking(3, true); }

// SPDX-License-Identifier: Apache-2.0
//
// Sub-cores behind a reuse point: instructions enter the control stage some cycles after their issue.
#include <algorithm>

#include "sub_core_machine.h"

using namespace regatta;
using test::Recording;
using test::sub_core_machine;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// Looks each instruction up for some cycles, and finds nothing.
class FindsNothing : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  FindsNothing(const sc_core::sc_module_name& name, unsigned latency) : sc_module(name), latency_(latency) {}
  unsigned latency() const override { return latency_; }
  Decision decide(protocol::DynamicInstruction&) override { return Decision::execute; }
  unsigned bypass_latency() const override { return 1; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned latency_;
  sc_core::sc_event changed_{"changed"};
};

Recording behind(TraceBuilder& b, const std::string& name, unsigned latency) {
  return test::record(b, name, sub_core_machine(), [=](assembly::SmParts& parts) {
    parts.reuse_point = std::make_unique<FindsNothing>("finds_nothing", latency);
  });
}

TraceBuilder additions(unsigned count) {
  TraceBuilder b;
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {1 + i}, {40});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  return b;
}

}  // namespace

TEST_CASE("sub_core: instructions issue in each cycle behind a slow reuse point") {
  TraceBuilder b = additions(16);
  const Recording r = behind(b, "sub_core_slow_reuse", 4);
  for (unsigned i = 1; i < 16; ++i) CHECK(r.gap(i - 1, i) == 1);
  for (unsigned i = 0; i < 16; ++i) CHECK(r.of(0, i).dispatched - r.of(0, i).issued == 4 + 6);
}

TEST_CASE("sub_core: a reuse point that takes no time changes nothing") {
  TraceBuilder b = additions(16);
  const Recording r = behind(b, "sub_core_fast_reuse", 0);
  for (unsigned i = 1; i < 16; ++i) CHECK(r.gap(i - 1, i) == 1);
  for (unsigned i = 0; i < 16; ++i) CHECK(r.of(0, i).dispatched - r.of(0, i).issued == 6);
}

TEST_CASE("sub_core: ports that are short hold issue ahead of a reuse point") {
  constexpr unsigned count = 60, latency = 4;
  TraceBuilder b;
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::fp32_mad, {1 + 2 * (i % 8)}, {20, 22, 24});  // three cycles each
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = behind(b, "sub_core_reuse_ports", latency);
  std::uint64_t longest = 0;
  for (unsigned i = 0; i < count; ++i) longest = std::max(longest, r.of(0, i).dispatched - r.of(0, i).issued);
  // Those on their way to the point, and one in each stage behind it.
  CHECK(longest <= 3 * (latency + 3) + latency + 6);
  CHECK(r.gap(0, count - 1) >= 3 * (count - 1 - latency - 3));
}

// SPDX-License-Identifier: Apache-2.0
//
// What an instruction waits for and how long: every figure follows from the configuration.
#include "recorder.h"

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

constexpr unsigned chain_length = 20;

/// R1 = f(R1), again and again: each issue waits for the read, the unit and the write of the one before.
void chain(const std::string& name, OpClass c, const assembly::MachineConfig& m) {
  TraceBuilder b;
  for (unsigned i = 0; i < chain_length; ++i) b.op(c, {1}, {1});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, name, m);
  const std::uint64_t expected = test::read_cycles(m) + m.sm.of(c).latency + test::write_cycles(m);
  for (unsigned i = 1; i < chain_length; ++i) {
    CAPTURE(i);
    REQUIRE(r.gap(i - 1, i) == expected);
  }
}

assembly::MachineConfig slow_registers(unsigned arbitration, unsigned latency) {
  assembly::MachineConfig m;
  m.register_file.arbitration = arbitration;
  m.register_file.latency = latency;
  return m;
}

}  // namespace

TEST_CASE("dependence: a chain of adds") { chain("chain_add", OpClass::int_add, {}); }
TEST_CASE("dependence: a chain of divisions") { chain("chain_div", OpClass::int_div, {}); }
TEST_CASE("dependence: a chain of square roots") { chain("chain_sfu", OpClass::sfu, {}); }
TEST_CASE("dependence: a chain of double-precision fused multiply-adds") { chain("chain_dp", OpClass::fp64_mad, {}); }
TEST_CASE("dependence: a chain through a register file with slow arbitration") {
  chain("chain_arbitration", OpClass::int_add, slow_registers(4, 1));
}
TEST_CASE("dependence: a chain through slow banks") { chain("chain_banks", OpClass::int_add, slow_registers(1, 5)); }
TEST_CASE("dependence: a chain of slow adds") {
  assembly::MachineConfig m;
  m.sm.timing[static_cast<unsigned>(OpClass::int_add)].latency = 37;
  chain("chain_slow", OpClass::int_add, m);
}

TEST_CASE("dependence: operands from one bank take turns, a register wanted twice is read once") {
  const assembly::MachineConfig m;
  const unsigned banks = m.register_file.banks;
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {1});                            // 0
  b.op(OpClass::int_add, {1}, {1, 1, 1});                      // 1
  b.op(OpClass::int_add, {1}, {1, 2});                         // 2
  b.op(OpClass::int_add, {1}, {1, 1 + banks});                 // 3
  b.op(OpClass::int_add, {1}, {1, 1 + banks, 1 + 2 * banks});  // 4
  b.op(OpClass::int_add, {1}, {1});                            // 5
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "turns", m);
  const std::uint64_t plain = test::read_cycles(m) + m.sm.of(OpClass::int_add).latency + test::write_cycles(m);
  CHECK(r.gap(0, 1) == plain);
  CHECK(r.gap(1, 2) == plain);
  CHECK(r.gap(2, 3) == plain);
  CHECK(r.gap(3, 4) == plain + 1);
  CHECK(r.gap(4, 5) == plain + 2);
}

TEST_CASE("dependence: what waits for a register and what does not") {
  const assembly::MachineConfig m;
  TraceBuilder b;
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::int_add, {10}, {11});  // 0..2
  b.op(OpClass::sfu, {1}, {2});                                         // 3
  b.op(OpClass::int_add, {3}, {4});                                     // 4: nothing in common
  b.op(OpClass::int_add, {2}, {5});             // 5: writes what 3 reads, which has been asked for already
  b.op(OpClass::int_add, {1}, {6});             // 6: writes what 3 writes
  b.set_predicate(0, {7});                      // 7
  b.guarded_op(OpClass::int_add, 0, {8}, {9});  // 8: guarded by it
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "hazards", m);
  CHECK(r.gap(3, 4) == 1);
  CHECK(r.gap(4, 5) == 1);
  CHECK(r.of(0, 6).issued == r.of(0, 3).retired);
  CHECK(r.gap(3, 6) == test::read_cycles(m) + m.sm.of(OpClass::sfu).latency + test::write_cycles(m));
  // A predicate lives beside the pipeline: a cycle to write it, whatever the banks take.
  CHECK(r.of(0, 8).issued == r.of(0, 7).retired);
  CHECK(r.gap(7, 8) == test::read_cycles(m) + m.sm.of(OpClass::int_add).latency + 1);
}

TEST_CASE("dependence: a reader of the carry waits for its writer, others do not") {
  const assembly::MachineConfig m;
  TraceBuilder b;
  const auto add_cc = b.op(OpClass::int_add, {1}, {2});
  const auto other = b.op(OpClass::int_add, {3}, {4});
  const auto addc = b.op(OpClass::int_add, {5}, {6});
  const auto again = b.op(OpClass::int_add, {7}, {8});  // writes the carry, as addc.cc does
  b.exit();
  b.kernel().instructions[add_cc].writes_carry = true;
  b.kernel().instructions[addc].reads_carry = true;
  b.kernel().instructions[again].reads_carry = b.kernel().instructions[again].writes_carry = true;
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "carry", m);
  const std::uint64_t full = test::read_cycles(m) + m.sm.of(OpClass::int_add).latency + test::write_cycles(m);
  CHECK(r.gap(add_cc, other) < full);
  CHECK(r.gap(add_cc, addc) == full);
  CHECK(r.gap(addc, again) < full);
}

TEST_CASE("dependence: a pipeline takes an instruction per initiation interval") {
  assembly::MachineConfig m;
  m.sm.buffer_entries = 16;
  TraceBuilder b;
  constexpr unsigned count = 12;
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::sfu, {i + 1}, {20 + i});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "initiation", m);
  REQUIRE(m.sm.sfu_units == m.sm.schedulers);  // so a scheduler has one of its own
  for (unsigned i = 1; i < count; ++i) {
    CAPTURE(i);
    REQUIRE(r.of(0, i).dispatched - r.of(0, i - 1).dispatched == m.sm.of(OpClass::sfu).initiation);
  }
}

TEST_CASE("dependence: shared memory takes its latency and a cycle more per conflict") {
  const assembly::MachineConfig m;
  TraceBuilder b;
  const std::uint32_t first = b.load(MemorySpace::shared, 1, 1);
  b.load(MemorySpace::shared, 1, 1);
  b.load(MemorySpace::shared, 1, 1);
  b.load(MemorySpace::shared, 1, 1);
  b.exit();
  b.launch(1, 32, 8192);
  b.begin_cta();
  b.begin_warp();
  const unsigned strides[] = {4, 8, 128, 0};
  for (unsigned i = 0; i < 4; ++i) {
    std::vector<std::uint64_t> a;
    for (unsigned lane = 0; lane < 32; ++lane) a.push_back(std::uint64_t{lane} * strides[i]);
    b.execute(first + i, 0, a);
  }
  b.execute(4);
  b.end_warp();
  b.end_cta();
  const Recording r = test::record(b, "shared", m);
  const std::uint64_t plain = test::read_cycles(m) + m.sm.shared_latency + test::write_cycles(m);
  CHECK(r.gap(0, 1) == plain);
  CHECK(r.gap(1, 2) == plain + 1);
  CHECK(r.gap(2, 3) == plain + 31);
  CHECK(r.of(0, 3).retired - r.of(0, 3).issued == plain);
}

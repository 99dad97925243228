// SPDX-License-Identifier: Apache-2.0
//
// The operand path of sub-cores: every figure is one that Huerta et al. (MICRO 2025) measured, or follows from the
// configuration.
#include <random>

#include "sub_core_machine.h"

using namespace regatta;
using test::Passage;
using test::Recording;
using test::sub_core_machine;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

assembly::MachineConfig test::sub_core_machine() {
  assembly::MachineConfig m;
  m.sm.operand_path = "sub_core";
  m.sm.sub_cores = m.sm.schedulers;
  m.sm.fetch_width = 8;
  m.sm.buffer_entries = 32;
  m.register_file.banks = 2 * m.sm.schedulers;
  m.register_file.mapping = "sub_core_register";
  m.register_file.ports = "1r1w";
  m.sm.predicate_latency = 13;
  return m;
}

namespace {

std::vector<std::uint64_t> words() { return test::strided(0, 4); }

unsigned latency(const assembly::MachineConfig& m, OpClass c) { return m.sm.of(c).latency; }

}  // namespace

TEST_CASE("sub_core: a dependent instruction issues a latency later, by the bypass") {
  const assembly::MachineConfig m = sub_core_machine();
  TraceBuilder b;
  b.op(OpClass::fp32_add, {1}, {2, 3});
  b.op(OpClass::fp32_mad, {4}, {1, 2, 3});
  b.op(OpClass::int_mad, {5}, {4, 4, 1});
  b.op(OpClass::fp32_add, {6}, {5, 4});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "sub_core_bypass", m);
  CHECK(r.gap(0, 1) == 4);  // section 4: FADD and FFMA
  CHECK(r.gap(1, 2) == latency(m, OpClass::fp32_mad));
  CHECK(r.gap(2, 3) == latency(m, OpClass::int_mad));
  CHECK(test::counter(r, "sm0.pipeline.sub_cores", "bypassed_operands") > 0);
}

TEST_CASE("sub_core: no bypass leads to a load, which issues a cycle later") {
  const assembly::MachineConfig m = sub_core_machine();
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {2});
  b.load(MemorySpace::shared, 3, 1);
  b.op(OpClass::int_add, {4}, {5});
  b.op(OpClass::sfu, {6}, {4});
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(words());
  const Recording r = test::record(b, "sub_core_to_load", m);
  CHECK(r.gap(0, 1) == 5);  // section 5.3
  CHECK(r.gap(2, 3) == 5);
}

TEST_CASE("sub_core: a guard waits longer for a comparison than a register's reader") {
  const assembly::MachineConfig m = sub_core_machine();
  TraceBuilder b;
  b.set_predicate(0, {2});
  b.guarded_op(OpClass::int_add, 0, {1}, {3});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "sub_core_predicate", m);
  CHECK(r.gap(0, 1) == 13);
}

namespace {

/// Cycles by which the second of two FFMA is allocated later than right behind the first, whose sources are all in one
/// bank: the listing of section 5.3. `x`, `y`: the second's sources beside one of the same bank.
std::uint64_t bubbles(const std::string& name, const assembly::MachineConfig& m, unsigned x, unsigned y) {
  TraceBuilder b;
  const auto first = b.op(OpClass::fp32_mad, {31}, {10, 12, 14});
  const auto second = b.op(OpClass::fp32_mad, {33}, {16, x, y});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, name, m);
  REQUIRE(r.gap(first, second) == 1);
  return r.of(0, second).dispatched - r.of(0, first).dispatched - 1;
}

}  // namespace

TEST_CASE("sub_core: operands in both banks cost no bubble") {
  CHECK(bubbles("bubbles_0", sub_core_machine(), 19, 21) == 0);
}
TEST_CASE("sub_core: a second operand in the first one's bank costs a bubble") {
  CHECK(bubbles("bubbles_1", sub_core_machine(), 18, 21) == 1);
}
TEST_CASE("sub_core: three operands in one bank cost two bubbles") {
  CHECK(bubbles("bubbles_2", sub_core_machine(), 18, 20) == 2);
}
TEST_CASE("sub_core: two read ports cost none") {
  assembly::MachineConfig m = sub_core_machine();
  m.register_file.planned_read_ports = 2;
  CHECK(bubbles("bubbles_ports", m, 18, 20) == 0);
}
TEST_CASE("sub_core: ideal ports cost none") {
  assembly::MachineConfig m = sub_core_machine();
  m.register_file.planned_read_ports = 0;
  CHECK(bubbles("bubbles_ideal", m, 18, 20) == 0);
}

TEST_CASE("sub_core: a stall of allocation reaches issue") {
  const assembly::MachineConfig m = sub_core_machine();
  TraceBuilder b;
  for (unsigned i = 0; i < 8; ++i) b.op(OpClass::fp32_mad, {41 + 2 * i}, {10, 12, 14});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "sub_core_stream", m);
  // A window serves three reads of a bank, so one of these every three cycles.
  for (unsigned i = 1; i < 8; ++i) CHECK(r.of(0, i).dispatched - r.of(0, i - 1).dispatched == 3);
  CHECK(r.gap(6, 7) == 3);
  CHECK(test::counter(r, "sm0.pipeline", "stall_allocate_cycles") > 0);
}

TEST_CASE("sub_core: a unit of half a warp takes an instruction every other cycle") {
  assembly::MachineConfig m = sub_core_machine();
  m.sm.sp_lanes = 16;
  TraceBuilder b;
  for (unsigned i = 0; i < 8; ++i) b.op(OpClass::fp32_add, {31 + i}, {10, 11});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "sub_core_latch", m);
  for (unsigned i = 1; i < 8; ++i) CHECK(r.gap(i - 1, i) == 2);
}

TEST_CASE("sub_core: 64-bit operands use both banks") {
  const assembly::MachineConfig m = sub_core_machine();
  TraceBuilder b;
  for (unsigned i = 0; i < 4; ++i) b.op(OpClass::int64, {40 + 2 * i, 41 + 2 * i}, {10, 11, 12, 13, 14, 15});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig fast = m;
  fast.sm.timing[static_cast<unsigned>(OpClass::int64)].initiation = 1;
  const Recording r = test::record(b, "sub_core_pairs", fast);
  for (unsigned i = 1; i < 4; ++i) CHECK(r.of(0, i).dispatched - r.of(0, i - 1).dispatched == 3);
}

TEST_CASE("sub_core: an instruction that reads longer is not caught up with") {
  assembly::MachineConfig m = sub_core_machine();
  m.sm.sp_units = 2 * m.sm.schedulers;
  TraceBuilder b;
  const auto longer = b.op(OpClass::int64, {40, 41}, {10, 12, 14, 16});  // four reads of one bank
  const auto next = b.op(OpClass::fp32_add, {33}, {17, 19});
  const auto dependent = b.op(OpClass::fp32_add, {35}, {33});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "sub_core_longer", m);
  CHECK(r.of(0, next).dispatched == r.of(0, longer).dispatched + 1);
  CHECK(r.of(0, dependent).dispatched == r.of(0, next).dispatched + latency(m, OpClass::fp32_add));
}

namespace {

/// Loads from `warps` sub-cores at once, against the law of section 5.4: an instruction leaves its sub-core 11 cycles
/// after its issue or later, 4 after the one before, and 2 after the last one of the SM, in turn; the queue and its
/// latch hold five.
void memory_law(unsigned warps) {
  const assembly::MachineConfig m = sub_core_machine();
  constexpr unsigned loads = 10;
  TraceBuilder b;
  for (unsigned i = 0; i < loads; ++i) b.load(MemorySpace::shared, 10 + i, 1);
  b.exit();
  b.launch(1, 32 * warps, 4096);
  b.run_all(words());
  const Recording r = test::record(b, "memory_law_" + std::to_string(warps), m);
  std::vector<std::vector<std::uint64_t>> issue(warps), leave(warps);
  const std::uint64_t start = r.of(0, 0).issued;
  std::uint64_t sm_next = 0;
  unsigned turn = 0;
  for (std::uint64_t now = start; now < start + 200; ++now) {
    for (unsigned i = 0; i < warps && now >= sm_next; ++i) {
      const unsigned w = (turn + i) % 4 % warps;
      const std::size_t head = leave[w].size();
      if (head == issue[w].size() || now < issue[w][head] + 11) continue;
      if (head != 0 && now < leave[w][head - 1] + 4) continue;
      leave[w].push_back(now);
      sm_next = now + 2;
      turn = w + 1;
    }
    for (unsigned w = 0; w < warps; ++w) {
      if (issue[w].size() < loads && issue[w].size() - leave[w].size() < 5) issue[w].push_back(now);
    }
  }
  for (unsigned w = 0; w < warps; ++w) {
    REQUIRE(r.of(w, 0).issued == start);
    for (unsigned i = 0; i < loads; ++i) {
      CAPTURE(w, i);
      CHECK(r.of(w, i).issued - start == issue[w][i] - start);
    }
  }
  if (warps == 1) {
    // Table 1, one sub-core.
    const std::vector<std::uint64_t> table{0, 1, 2, 3, 4, 11, 15, 19, 23, 27};
    for (unsigned i = 0; i < loads; ++i) CHECK(r.of(0, i).issued - start == table[i]);
  }
}

}  // namespace

TEST_CASE("sub_core: memory instructions of one sub-core issue as in Table 1") { memory_law(1); }
TEST_CASE("sub_core: memory instructions of two sub-cores issue as in Table 1") { memory_law(2); }
TEST_CASE("sub_core: memory instructions of three sub-cores issue as in Table 1") { memory_law(3); }
TEST_CASE("sub_core: memory instructions of four sub-cores issue as in Table 1") { memory_law(4); }

TEST_CASE("sub_core: a source of a load may be written when the load has read it") {
  const assembly::MachineConfig m = sub_core_machine();
  TraceBuilder b;
  b.load(MemorySpace::shared, 3, 1);
  b.op(OpClass::int_add, {1}, {2});
  b.op(OpClass::sfu, {5}, {6});
  b.op(OpClass::int_add, {6}, {2});
  b.op(OpClass::int_add, {7}, {8});
  b.op(OpClass::int_add, {8}, {2});
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(words());
  const Recording r = test::record(b, "sub_core_war", m);
  CHECK(r.gap(0, 1) == 11);  // Table 2
  CHECK(r.of(0, 3).issued == r.of(0, 2).dispatched);
  CHECK(r.gap(4, 5) == 1);  // in order
}

namespace {

/// A load whose result comes while instructions of fixed latency write every other cycle, to registers of its bank or
/// of the other one, which begin `shift` cycles later.
struct Meeting {
  bool meets = false;      ///< a fixed result is written to the load's bank when the load's result comes
  std::uint64_t wait = 0;  ///< cycles from then to its write
};

Meeting load_meets(unsigned bank, unsigned shift) {
  assembly::MachineConfig m = sub_core_machine();
  m.sm.sp_lanes = 16;
  TraceBuilder b;
  const auto load = b.load(MemorySpace::shared, 10, 1);
  for (unsigned i = 0; i < shift; ++i) b.op(OpClass::nop, {}, {});
  const auto first = load + 1 + shift;
  for (unsigned i = 0; i < 24; ++i) b.op(OpClass::int_add, {20 + bank + 2 * i}, {2, 3});
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(words());
  const Recording r = test::record(b, "load_meets_" + std::to_string(bank) + std::to_string(shift), m);
  const std::uint64_t result = r.of(0, load).dispatched + m.sm.shared_latency;
  Meeting meeting;
  for (unsigned i = 0; i < 24; ++i) {
    const std::uint64_t written = r.of(0, first + i).dispatched + latency(m, OpClass::int_add);
    CHECK(r.of(0, first + i).retired == written + 1);  // a fixed result waits for none
    meeting.meets = meeting.meets || (bank == 0 && written == result);
  }
  meeting.wait = r.of(0, load).retired - 1 - result;
  return meeting;
}

void check_meeting(unsigned bank, unsigned shift, bool meets) {
  const Meeting meeting = load_meets(bank, shift);
  CHECK(meeting.meets == meets);
  CHECK(meeting.wait == (meets ? 1 : 0));
}

}  // namespace

// Section 5.3. Fixed results come every other cycle, so that the load meets one, or one cycle later none.
TEST_CASE("sub_core: a load that meets a fixed result at its bank is written a cycle later") {
  check_meeting(0, 0, true);
}
TEST_CASE("sub_core: a load between two fixed results is written at once") { check_meeting(0, 1, false); }
TEST_CASE("sub_core: a load and a fixed result at the other bank are written at once") { check_meeting(1, 0, false); }
TEST_CASE("sub_core: a load and a later fixed result at the other bank are written at once") {
  check_meeting(1, 1, false);
}

namespace {

void random_instructions(const std::string& name, const assembly::MachineConfig& m) {
  std::mt19937 random(11);
  TraceBuilder b;
  const std::vector<OpClass> classes{OpClass::int_add, OpClass::fp32_mad, OpClass::int_mad, OpClass::int64,
                                     OpClass::sfu,     OpClass::fp64_add, OpClass::convert, OpClass::int_max,
                                     OpClass::shuffle, OpClass::int_div};
  const auto reg = [&] { return 1 + static_cast<unsigned>(random() % 24); };
  for (unsigned i = 0; i < 600; ++i) {
    switch (random() % 12) {
      case 0:
        b.load(MemorySpace::shared, reg(), reg());
        break;
      case 1:
        b.store(MemorySpace::shared, reg(), reg());
        break;
      case 2:
        b.set_predicate(random() % 4, {reg()});
        break;
      case 3:
        b.guarded_op(OpClass::int_add, random() % 4, {reg()}, {reg()});
        break;
      default: {
        std::vector<unsigned> sources;
        for (unsigned n = random() % 4; n != 0; --n) sources.push_back(reg());
        b.op(classes[random() % classes.size()], {reg()}, sources);
      }
    }
  }
  b.exit();
  b.launch(8, 128, 4096);
  b.run_all(words());
  const Recording r = test::record(b, name, m);
  CHECK(r.result.operands_checked > 10000);
}

assembly::MachineConfig with_kinds(unsigned sp, unsigned alu, const char* kinds) {
  assembly::MachineConfig m = sub_core_machine();
  m.sm.sp_units = sp * m.sm.schedulers;
  m.sm.alu_units = alu * m.sm.schedulers;
  m.sm.alu_kinds = kinds;
  m.sm.sp_lanes = 16;
  return m;
}

}  // namespace

TEST_CASE("sub_core: random instructions get right values, whatever the ports") {
  random_instructions("sub_core_random", sub_core_machine());
}
TEST_CASE("sub_core: random instructions get right values with pipelines for logic") {
  random_instructions("sub_core_logic", with_kinds(2, 1, "logic"));
}
TEST_CASE("sub_core: random instructions get right values with pipelines for integers") {
  random_instructions("sub_core_integer", with_kinds(1, 1, "integer"));
}
TEST_CASE("sub_core: random instructions get right values with single precision on either pipeline") {
  random_instructions("sub_core_integer_fp32", with_kinds(1, 1, "integer_fp32"));
}

TEST_CASE("sub_core: an instruction waits for its kind of pipeline at issue, and lets another warp's pass") {
  // Two warps of a sub-core, of which the older has integers alone and the other floating point.
  const assembly::MachineConfig m = with_kinds(1, 1, "integer");
  TraceBuilder b;
  constexpr unsigned count = 12;
  std::vector<std::uint32_t> integers, floats;
  for (unsigned i = 0; i < count; ++i) integers.push_back(b.op(OpClass::int_add, {31 + i % 4}, {10}));
  for (unsigned i = 0; i < count; ++i) floats.push_back(b.op(OpClass::fp32_add, {41 + i % 4}, {11}));
  const auto end = b.exit();
  b.launch(1, 5 * 32);
  b.begin_cta();
  for (unsigned w = 0; w < 5; ++w) {
    b.begin_warp();
    if (w == 0) {
      for (const std::uint32_t i : integers) b.execute(i);
    } else if (w == 4) {
      for (const std::uint32_t i : floats) b.execute(i);
    }
    b.execute(end);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, "sub_core_kinds", m);
  REQUIRE(r.of(0, integers[0]).scheduler == r.of(4, floats[0]).scheduler);
  // The two issue in turn; one of them a cycle late once, where both begin in the same cycle.
  const std::uint64_t of_integers = r.of(0, integers[count - 1]).issued - r.of(0, integers[0]).issued;
  const std::uint64_t of_floats = r.of(4, floats[count - 1]).issued - r.of(4, floats[0]).issued;
  CHECK(std::min(of_integers, of_floats) == 2 * (count - 1));
  CHECK(std::max(of_integers, of_floats) <= 2 * (count - 1) + 1);
  CHECK(test::counter(r, "sm0.pipeline.sub_cores", "allocate_waits") == 0);
}

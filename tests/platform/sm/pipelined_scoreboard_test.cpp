// SPDX-License-Identifier: Apache-2.0
//
// Variants of the scoreboard of sub-cores (scoreboard.*): when a register is free, who counts as its reader, and how
// many of them.
#include <random>

#include "sub_core_machine.h"

using namespace regatta;
using test::Recording;
using test::sub_core_machine;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

std::vector<std::uint64_t> shared_words() { return test::strided(0, 4); }

assembly::MachineConfig machine_of(const char* release, const char* readers = "variable", unsigned consumers = 63) {
  assembly::MachineConfig m = sub_core_machine();
  m.sm.scoreboard.release = release;
  m.sm.scoreboard.readers = readers;
  m.sm.scoreboard.war_consumers = consumers;
  return m;
}

/// Cycles from an FADD to an FFMA that uses its result.
void check_dependent(const char* release, std::uint64_t cycles) {
  TraceBuilder b;
  b.op(OpClass::fp32_add, {1}, {2, 3});
  b.op(OpClass::fp32_mad, {4}, {1, 2, 3});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, std::string("scoreboard_") + release, machine_of(release));
  CHECK(r.gap(0, 1) == cycles);
}

/// Loads by one address register on a machine that counts `consumers` readers of it: each issues as soon as the
/// `consumers`-th before it has read, which it does when it leaves its queue.
void check_readers(unsigned consumers) {
  TraceBuilder b;
  constexpr unsigned loads = 8;
  for (unsigned i = 0; i < loads; ++i) b.load(MemorySpace::shared, 10 + i, 1);
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(shared_words());
  const assembly::MachineConfig m = machine_of("bypass", "variable", consumers);
  const Recording r = test::record(b, "war_consumers_" + std::to_string(consumers), m);
  for (unsigned i = 1; i < loads; ++i) {
    CAPTURE(i);
    std::uint64_t expected = r.of(0, i - 1).issued + 1;
    // Its place in the queue is free, and its register, when the load ahead is dispatched.
    const unsigned least = std::min(consumers, m.sm.sub_core.memory_queue + 1);
    if (i >= least) expected = std::max(expected, r.of(0, i - least).dispatched);
    CHECK(r.of(0, i).issued == expected);
  }
}

/// Independent additions with a common source, of fixed latency.
Recording additions(const std::string& name, const char* readers, unsigned consumers) {
  TraceBuilder b;
  for (unsigned i = 0; i < 8; ++i) b.op(OpClass::int_add, {10 + i}, {1});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  return test::record(b, name, machine_of("bypass", readers, consumers));
}

/// The write of a register that an instruction of fixed latency reads.
std::uint64_t overwrite(const char* readers) {
  TraceBuilder b;
  b.op(OpClass::int_add, {10}, {1});
  b.op(OpClass::int_add, {1}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  return test::record(b, std::string("overwrite_") + readers, machine_of("bypass", readers)).gap(0, 1);
}

/// Every operand is checked, and no register is missed by the count.
void check_random(const char* release, const char* readers, unsigned consumers) {
  std::mt19937 random(consumers);
  TraceBuilder b;
  const std::vector<OpClass> classes{OpClass::int_add, OpClass::fp32_mad, OpClass::int64,
                                     OpClass::sfu,     OpClass::fp64_add, OpClass::shuffle};
  const auto reg = [&] { return 1 + static_cast<unsigned>(random() % 12); };
  for (unsigned i = 0; i < 400; ++i) {
    if (random() % 6 == 0) {
      b.load(MemorySpace::shared, reg(), reg());
    } else if (random() % 8 == 0) {
      b.guarded_op(OpClass::int_add, random() % 4, {reg()}, {reg()});
    } else if (random() % 8 == 0) {
      b.set_predicate(random() % 4, {reg()});
    } else {
      b.op(classes[random() % classes.size()], {reg()}, {reg(), reg()});
    }
  }
  b.exit();
  b.launch(4, 128, 4096);
  b.run_all(shared_words());
  const Recording r =
      test::record(b, std::string("scoreboard_random_") + release + readers, machine_of(release, readers, consumers));
  CHECK(r.result.operands_checked > 4000);
}

}  // namespace

TEST_CASE("scoreboard: by the bypass, a dependent FFMA issues the latency of FADD later") {
  check_dependent("bypass", 4);
}
// control, allocate, three reads and the hand-over, four cycles of execution, and the write.
TEST_CASE("scoreboard: without it, when FADD has retired") { check_dependent("retirement", 3 + 3 + 4 + 1); }

TEST_CASE("scoreboard: one reader of a register at once") { check_readers(1); }
TEST_CASE("scoreboard: three readers of a register at once") { check_readers(3); }
TEST_CASE("scoreboard: more readers than the memory queue has places") { check_readers(63); }

TEST_CASE("scoreboard: readers of fixed latency are not counted") {
  const Recording r = additions("fixed_readers_free", "variable", 1);
  for (unsigned i = 1; i < 8; ++i) CHECK(r.gap(i - 1, i) == 1);
}
TEST_CASE("scoreboard: or are, until they are dispatched") {
  const Recording r = additions("fixed_readers_counted", "all", 1);
  for (unsigned i = 1; i < 8; ++i) CHECK(r.of(0, i).issued == r.of(0, i - 1).dispatched);
  CHECK(r.gap(0, 1) == 6);
}
TEST_CASE("scoreboard: three of fixed latency, and the fourth waits") {
  const Recording r = additions("fixed_readers_three", "all", 3);
  for (unsigned i = 1; i < 3; ++i) CHECK(r.gap(i - 1, i) == 1);
  for (unsigned i = 3; i < 8; ++i)
    CHECK(r.of(0, i).issued == std::max(r.of(0, i - 3).dispatched, r.of(0, i - 1).issued + 1));
}
TEST_CASE("scoreboard: a register that a fixed instruction reads may be written at once") {
  CHECK(overwrite("variable") == 1);
}
TEST_CASE("scoreboard: if it is counted, when it is dispatched") { CHECK(overwrite("all") == 6); }

TEST_CASE("scoreboard: right values with release at retirement") { check_random("retirement", "variable", 63); }
TEST_CASE("scoreboard: right values with all readers counted, one at once") { check_random("bypass", "all", 1); }
TEST_CASE("scoreboard: right values with both") { check_random("retirement", "all", 3); }

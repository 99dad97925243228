// SPDX-License-Identifier: Apache-2.0
//
// An SM that obeys control bits (Huerta et al., MICRO 2025, section 4): the cycles that the bits say, and a wrong value
// wherever they are wrong.
#include <regatta/trace/control.h>

#include <string>
#include <vector>

#include "sub_core_machine.h"

using namespace regatta;
using test::Recording;
using test::sub_core_machine;
using test::TraceBuilder;
using trace::ControlBits;
using trace::MemorySpace;
using trace::OpClass;

namespace {

assembly::MachineConfig control_machine() {
  assembly::MachineConfig m = sub_core_machine();
  m.sm.dependences = "control_bits";
  return m;
}

ControlBits stall(unsigned cycles) {
  ControlBits bits;
  bits.stall = static_cast<std::uint8_t>(cycles);
  return bits;
}
ControlBits waiting(ControlBits bits, unsigned counter) {
  bits.wait_mask = static_cast<std::uint8_t>(1u << counter);
  return bits;
}
ControlBits writing(ControlBits bits, unsigned counter) {
  bits.write_counter = static_cast<std::uint8_t>(counter);
  return bits;
}
ControlBits reading(ControlBits bits, unsigned counter) {
  bits.read_counter = static_cast<std::uint8_t>(counter);
  return bits;
}

/// Gives the kernel these bits; the latencies of fixed instructions are `latency`.
void annotate(TraceBuilder& b, std::vector<ControlBits> bits, unsigned latency = 4) {
  trace::ControlSection control;
  bits.resize(b.kernel().instructions.size());
  control.bits = bits;
  for (const trace::StaticInstruction& i : b.kernel().instructions) {
    control.latency.push_back(static_cast<std::uint8_t>(trace::has_fixed_latency(i) ? latency : 0));
  }
  trace::AnnotationSection section;
  section.name = trace::control_section;
  section.version = trace::control_section_version;
  section.payload = trace::encode(b.kernel(), control);
  b.kernel().annotations.push_back(section);
}

assembly::SimulationResult simulate(TraceBuilder& b, const std::string& name, const assembly::MachineConfig& m) {
  const std::string path = b.write(name);
  const trace::Reader reader(path);
  const assembly::SchemeRegistry registry = assembly::SchemeRegistry::with_baseline();
  assembly::SimulationOptions options;
  options.check_protocol = true;
  assembly::Simulation simulation(m, registry.get("baseline"), options, reader);
  return simulation.run();
}

bool finds_mismatch(TraceBuilder& b, const std::string& name, unsigned reg, std::uint64_t pc) {
  const assembly::SimulationResult r = simulate(b, name, control_machine());
  INFO(r.message);
  CHECK(r.ending == assembly::Ending::value_mismatch);
  CHECK(r.message.find("register R" + std::to_string(reg) + " ") != std::string::npos);
  std::string place = "PC 0x";
  place += "0123456789abcdef"[pc / 16];
  place += "0123456789abcdef"[pc % 16];
  if (pc < 16) place = std::string("PC 0x") + "0123456789abcdef"[pc];
  CHECK(r.message.find(place) != std::string::npos);
  return r.ending == assembly::Ending::value_mismatch;
}

TraceBuilder add_and_multiply() {
  TraceBuilder b;
  b.op(OpClass::fp32_add, {1}, {2, 3});
  b.op(OpClass::fp32_mad, {4}, {1, 2, 3});
  b.exit();
  b.launch(1, 32);
  return b;
}

}  // namespace

TEST_CASE("control bits: an instruction issues a stall count after the one before") {
  TraceBuilder b;
  for (const unsigned destination : {1u, 2u, 3u, 4u, 5u}) b.op(OpClass::int_add, {destination}, {10});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  annotate(b, {stall(1), stall(2), stall(7), stall(0), stall(1)});
  const Recording r = test::record(b, "control_stall", control_machine());
  CHECK(r.gap(0, 1) == 1);
  CHECK(r.gap(1, 2) == 2);
  CHECK(r.gap(2, 3) == 7);
  CHECK(r.gap(3, 4) == 1);
  CHECK(test::counter(r, "sm0.pipeline", "stall_stall_count_cycles") >= 7);
}

TEST_CASE("control bits: stall counts of one stand still too while allocation waits") {
  TraceBuilder b;
  b.op(OpClass::fp32_mad, {31}, {10, 12, 14});
  b.op(OpClass::fp32_mad, {33}, {16, 18, 20});  // allocated two cycles late: all operands in one bank
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::nop, {}, {});
  b.op(OpClass::fp32_add, {35}, {33, 1});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  annotate(b, std::vector<ControlBits>(7, stall(1)));
  const Recording r = test::record(b, "control_stands_still", control_machine());
  CHECK(r.of(0, 1).dispatched - r.of(0, 0).dispatched == 3);
  CHECK(r.gap(1, 5) == 4 + 2);
}

TEST_CASE("control bits: a yield leaves a cycle to other warps") {
  TraceBuilder b;
  for (unsigned i = 0; i < 4; ++i) b.op(OpClass::int_add, {1 + i}, {10});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  ControlBits yields = stall(1);
  yields.yield = true;
  annotate(b, {stall(1), yields, stall(1), stall(1)});
  const Recording r = test::record(b, "control_yield", control_machine());
  CHECK(r.gap(0, 1) == 1);
  CHECK(r.gap(1, 2) == 2);  // one bubble
  CHECK(r.gap(2, 3) == 1);
  CHECK(test::counter(r, "sm0.pipeline", "stall_yield_cycles") == 1);
}

TEST_CASE("control bits: FADD and FFMA with stall count 4 get their values") {
  TraceBuilder b = add_and_multiply();
  b.run_all();
  annotate(b, {stall(4), stall(1)});
  const Recording r = test::record(b, "control_right", control_machine());
  CHECK(r.gap(0, 1) == 4);
}

TEST_CASE("control bits: a stall count too small reads the old value") {
  TraceBuilder b = add_and_multiply();
  b.run_all();
  annotate(b, {stall(3), stall(1)});
  CHECK(finds_mismatch(b, "control_small_stall", 1, 8));
}

TEST_CASE("control bits: a load needs a stall count more than the latency") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {2});
  b.load(MemorySpace::shared, 3, 1);
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(test::strided(0, 4));
  annotate(b, {stall(5), writing(stall(1), 0)});
  const Recording r = test::record(b, "control_to_load", control_machine());
  CHECK(r.gap(0, 1) == 5);
}

TEST_CASE("control bits: a load with the latency alone reads the old value") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {2});
  b.load(MemorySpace::shared, 3, 1);
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(test::strided(0, 4));
  annotate(b, {stall(4), writing(stall(1), 0)});
  CHECK(finds_mismatch(b, "control_to_load_early", 1, 8));
}

namespace {

TraceBuilder loads_and_adds() {
  TraceBuilder b;
  b.load(MemorySpace::shared, 3, 1);
  b.op(OpClass::int_add, {4}, {3});
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(test::strided(0, 4));
  return b;
}

}  // namespace

TEST_CASE("control bits: a consumer waits for the write counter of a load") {
  const assembly::MachineConfig m = control_machine();
  TraceBuilder b = loads_and_adds();
  annotate(b, {writing(stall(2), 3), waiting(stall(1), 3)});
  const Recording r = test::record(b, "control_wait", m);
  CHECK(r.gap(0, 1) == 11 + m.sm.shared_latency + 1);
}

TEST_CASE("control bits: a lost wait reads the old value") {
  TraceBuilder b = loads_and_adds();
  annotate(b, {writing(stall(2), 3), stall(1)});
  CHECK(finds_mismatch(b, "control_lost_wait", 3, 8));
}

TEST_CASE("control bits: a wait one cycle behind the instruction that raises the counter does not see it") {
  TraceBuilder b = loads_and_adds();
  annotate(b, {writing(stall(1), 3), waiting(stall(1), 3)});
  CHECK(finds_mismatch(b, "control_early_wait", 3, 8));
}

namespace {

TraceBuilder loads_and_overwrites() {
  TraceBuilder b;
  b.load(MemorySpace::shared, 3, 1);
  b.op(OpClass::int_add, {1}, {2});
  b.exit();
  b.launch(1, 32, 4096);
  b.run_all(test::strided(0, 4));
  return b;
}

}  // namespace

TEST_CASE("control bits: a source of a load is free when its read counter is zero") {
  TraceBuilder b = loads_and_overwrites();
  annotate(b, {reading(writing(stall(2), 0), 1), waiting(stall(1), 1)});
  const Recording r = test::record(b, "control_war", control_machine());
  CHECK(r.gap(0, 1) == 11);  // Table 2
}

TEST_CASE("control bits: a lost wait for a read counter lets a source change too early") {
  // Both instructions of variable latency want bank 1 in the same cycle, and the second is read a cycle later. It is of
  // another unit than the first, so that it does not wait there.
  TraceBuilder b;
  b.op(OpClass::int_add, {11}, {3});  // nobody can tell what a register holds that was never written
  b.op(OpClass::sfu, {21}, {1, 3});
  b.op(OpClass::fp64_add, {22}, {5, 7, 9, 11});
  b.op(OpClass::int_add, {11}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = control_machine();
  m.sm.timing[static_cast<unsigned>(OpClass::int_add)].latency = 1;
  annotate(b, {stall(8), writing(stall(2), 0), writing(stall(1), 1), stall(1)}, 1);
  const assembly::SimulationResult r = simulate(b, "control_war_lost", m);
  CHECK(r.ending == assembly::Ending::value_mismatch);
}

TEST_CASE("control bits: stall counts hold while allocation waits for ports") {
  TraceBuilder b;
  b.op(OpClass::fp32_mad, {31}, {10, 12, 14});  // 0 to 2: three cycles each
  b.op(OpClass::fp32_mad, {33}, {10, 12, 14});
  b.op(OpClass::fp32_mad, {35}, {10, 12, 14});
  b.op(OpClass::int_add, {36}, {35});  // 3: of the last one's result
  b.exit();
  b.launch(1, 32);
  b.run_all();
  annotate(b, {stall(1), stall(1), stall(4), stall(1)});
  const Recording r = test::record(b, "control_conflicts", control_machine());
  CHECK(r.gap(2, 3) >= 4);
  CHECK(r.of(0, 3).dispatched - r.of(0, 2).dispatched == 4);
}

TEST_CASE("control bits: stall counts hold behind instructions that do not pass the allocate stage") {
  TraceBuilder b;
  b.op(OpClass::fp32_mad, {31}, {10, 12, 14});
  b.op(OpClass::fp32_mad, {33}, {10, 12, 14});  // 1: waits for ports two cycles, with nothing behind it
  b.op(OpClass::nop, {}, {});                   // as bssy and bsync
  b.op(OpClass::int_add, {41}, {43});
  b.op(OpClass::int_add, {36}, {33});  // 4: of the waiting one's result
  b.exit();
  b.launch(1, 32);
  b.run_all();
  annotate(b, {stall(1), stall(1), stall(1), stall(2), stall(1)});
  const Recording r = test::record(b, "control_conflict_behind_nop", control_machine());
  CHECK(r.gap(1, 2) == 1);
  CHECK(r.gap(2, 3) == 3);  // one, and the two that do not count
  CHECK(r.gap(3, 4) == 2);
}

TEST_CASE("control bits: a kernel without them is refused") {
  TraceBuilder b = add_and_multiply();
  b.run_all();
  std::string message;
  try {
    simulate(b, "control_none", control_machine());
  } catch (const support::ConfigError& e) {
    message = e.what();
  }
  CHECK(message.find("hand_made") != std::string::npos);
  CHECK(message.find("--control") != std::string::npos);
}

TEST_CASE("control bits: a smaller latency than the machine's is refused") {
  TraceBuilder b = add_and_multiply();
  b.run_all();
  annotate(b, {stall(4), stall(1)}, 3);
  std::string message;
  try {
    simulate(b, "control_latency", control_machine());
  } catch (const support::ConfigError& e) {
    message = e.what();
  }
  CHECK(message.find("kernel hand_made: PC 0x0 fp32_add") != std::string::npos);
  CHECK(message.find("latency of 3 cycles, this machine takes 4") != std::string::npos);
}

namespace {

/// FFMA R4 = R2 R3 R5 and FFMA R6 = R2 R7 R9; the first keeps R2 in position A.
TraceBuilder reusing(bool writes_between) {
  TraceBuilder b;
  b.op(OpClass::fp32_mad, {4}, {2, 3, 5});
  if (writes_between) b.op(OpClass::int_add, {2}, {9});
  b.op(OpClass::fp32_mad, {6}, {2, 7, 9});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  return b;
}

assembly::MachineConfig with_cache() {
  assembly::MachineConfig m = control_machine();
  m.register_file.cache = true;
  return m;
}

}  // namespace

TEST_CASE("control bits: a reuse flag saves the next reader a port") {
  TraceBuilder b = reusing(false);
  ControlBits reuse = stall(1);
  reuse.reuse = 1;
  annotate(b, {reuse, stall(1)});
  const Recording r = test::record(b, "control_reuse", with_cache());
  CHECK(test::counter(r, "sm0.pipeline.sub_cores", "cached_reads") == 1);
  CHECK(test::counter(r, "sm0.pipeline.sub_cores", "reads") == 5);
  CHECK(test::counter(r, "sm0.register_file_cache", "hits") == 1);
}

TEST_CASE("control bits: without the flag nothing is kept") {
  TraceBuilder b = reusing(false);
  annotate(b, {stall(1), stall(1)});
  const Recording r = test::record(b, "control_no_reuse", with_cache());
  CHECK(test::counter(r, "sm0.pipeline.sub_cores", "cached_reads") == 0);
}

TEST_CASE("control bits: reuse of a register that is written in between gives the old value") {
  TraceBuilder b = reusing(true);
  ControlBits reuse = stall(1);
  reuse.reuse = 1;
  annotate(b, {reuse, stall(4), stall(1)});
  const assembly::SimulationResult r = simulate(b, "control_stale_reuse", with_cache());
  CHECK(r.ending == assembly::Ending::value_mismatch);
  CHECK(r.message.find("register file cache") != std::string::npos);
}

TEST_CASE("control bits: three operands that are kept need no port") {
  TraceBuilder b;
  for (unsigned i = 0; i < 6; ++i) b.op(OpClass::fp32_mad, {41 + 2 * i}, {10, 12, 14});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  ControlBits all = stall(1);
  all.reuse = 7;
  annotate(b, {all, all, all, all, all, stall(1)});
  const Recording r = test::record(b, "control_reuse_all", with_cache());
  // Without the cache, each waits two cycles for its ports.
  for (unsigned i = 1; i < 6; ++i) CHECK(r.of(0, i).dispatched - r.of(0, i - 1).dispatched == 1);
  CHECK(test::counter(r, "sm0.pipeline.sub_cores", "reads") == 3);
}

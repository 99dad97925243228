// SPDX-License-Identifier: Apache-2.0
//
// Control bits of small programs, with known answers.
#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/control.h>
#include <regatta/test/catch.h>
#include <regatta/trace/verify_control.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "../hand_code.h"

using namespace regatta;
using test::HandCode;
using trace::ControlSection;

namespace {

/// Code by hand and its bits.
class Code : public HandCode {
 public:
  /// FFMA: fixed, 4 cycles.
  ir::Instruction& fma(std::uint32_t to, const std::vector<std::uint32_t>& from) {
    ir::Instruction& i = op({to}, from);
    i.op = ir::Opcode::fma;
    i.type = ir::Type::f32;
    return i;
  }
  /// From global memory, with the address in a pair of registers.
  ir::Instruction& load(std::uint32_t to, std::uint32_t address) {
    ir::Instruction& i = op({to}, {});
    i.op = ir::Opcode::ld;
    i.type = ir::Type::f32;
    i.sources = {pair(address)};
    i.mod.space = trace::MemorySpace::global;
    return i;
  }
  ir::Instruction& store(std::uint32_t address, std::uint32_t from) {
    ir::Instruction& i = op({}, {from});
    i.op = ir::Opcode::st;
    i.type = ir::Type::f32;
    i.sources.insert(i.sources.begin(), pair(address));
    i.mod.space = trace::MemorySpace::global;
    return i;
  }
  ir::Instruction& wide(std::uint32_t to, std::uint32_t from) {
    ir::Instruction& i = op({to}, {from}, 2);
    i.op = ir::Opcode::not_;
    i.type = ir::Type::b64;
    return i;
  }

  void plan() {
    ir::build_edges(f);
    analysis::FunctionAnalyses analyses(f);
    kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
    control = passes::plan_control(kernel, {});
    REQUIRE(fault() == "");
  }
  std::string at(std::size_t index) const { return trace::to_string(control.bits.at(index)); }
  std::string fault() const { return trace::ControlVerifier(kernel, control).find_fault(); }

  trace::Kernel kernel;
  ControlSection control;

 private:
  ir::Operand pair(std::uint32_t reg) {
    f.registers_used = std::max(f.registers_used, reg + 2);
    return ir::Operand::reg(reg, 2);
  }
};

}  // namespace

TEST_CASE("a fixed result is used after its latency") {
  Code c;
  c.fma(1, {0, 0, 0});
  c.fma(2, {1, 1, 1});
  c.fma(3, {0, 0, 0});
  c.fma(4, {3, 2, 0});
  c.exit();
  c.plan();
  CHECK(c.control.latency == std::vector<std::uint8_t>{4, 4, 4, 4, 3});
  CHECK(c.at(0) == "B------:R-:W-:-:S04");
  // Three cycles for R2, of which one passes at the instruction between; R3 needs all four.
  CHECK(c.at(1) == "B------:R-:W-:-:S01");
  CHECK(c.at(2) == "B------:R-:W-:-:S04");
  CHECK(c.at(3) == "B------:R-:W-:-:S01");
  CHECK(c.at(4) == "B------:R-:W-:-:S05");
}

TEST_CASE("the excess stands on the instruction before the consumer") {
  Code c;
  c.fma(1, {0, 0, 0});
  c.fma(2, {0, 0, 0});
  c.fma(3, {1, 0, 0});
  c.exit();
  c.plan();
  CHECK(c.control.bits[0].stall == 1);
  CHECK(c.control.bits[1].stall == 3);
}

TEST_CASE("a variable instruction finds a fixed result a cycle later") {
  Code c;
  c.wide(2, 0);
  c.load(4, 2);
  c.exit();
  c.plan();
  CHECK(c.control.latency[0] == 6);
  CHECK(c.control.bits[0].stall == 7);

  Code mov;
  mov.fma(2, {0, 0, 0});
  mov.load(4, 2);
  mov.exit();
  mov.plan();
  CHECK(mov.control.bits[0].stall == 5);
}

TEST_CASE("a load raises a counter and its consumer waits") {
  Code c;
  c.load(4, 0);
  c.fma(5, {4, 4, 4});
  c.fma(6, {4, 5, 4});
  c.exit();
  c.plan();
  CHECK(c.at(0) == "B------:R-:W0:-:S02");
  CHECK(c.at(1) == "B0-----:R-:W-:-:S04");
  CHECK(c.control.bits[2].wait_mask == 0);
}

TEST_CASE("a store's registers are overwritten after it has read them") {
  Code c;
  c.store(0, 4);
  c.fma(5, {2, 2, 2});
  c.fma(4, {2, 2, 2});
  c.fma(1, {2, 2, 2});
  c.exit();
  c.plan();
  CHECK(c.at(0) == "B------:R0:W-:-:S01");
  CHECK(c.control.bits[1].wait_mask == 0);
  CHECK(c.control.bits[2].wait_mask == 1);
  CHECK(c.control.bits[3].wait_mask == 0);
}

TEST_CASE("a wait for the result covers the sources") {
  Code c;
  c.load(4, 0);
  c.fma(5, {4, 4, 4});
  c.fma(0, {5, 5, 5});
  c.exit();
  c.plan();
  CHECK(c.at(0) == "B------:R-:W0:-:S02");
  CHECK(c.control.bits[2].wait_mask == 0);
}

TEST_CASE("predicates take longer, and no longer for a variable instruction") {
  Code c;
  c.compare(0);
  HandCode::under(c.load(4, 2));
  c.exit();
  c.plan();
  CHECK(c.control.latency[0] == 13);
  CHECK(c.at(0) == "B------:R-:W-:Y:S13");

  Code branches;
  branches.compare(0);
  branches.fma(1, {0, 0, 0});
  branches.branch(2, true);
  branches.block();
  branches.fma(2, {0, 0, 0});
  branches.block();
  branches.exit();
  branches.plan();
  CHECK(branches.at(1) == "B------:R-:W-:Y:S12");
  CHECK(branches.at(2) == "B------:R-:W-:-:S05");
}

TEST_CASE("each half of a pair depends for itself") {
  Code c;
  c.wide(2, 0);
  c.fma(4, {3, 0, 0});
  c.exit();
  c.plan();
  CHECK(c.control.bits[0].stall == 6);
  Code half;
  half.load(3, 0);
  half.wide(4, 2);
  half.exit();
  half.plan();
  CHECK(half.control.bits[1].wait_mask == 1);
}

TEST_CASE("the later of two writes comes later") {
  Code c;
  c.wide(2, 0);
  c.fma(3, {0, 0, 0});
  c.exit();
  c.plan();
  // 6 - 4 + 1.
  CHECK(c.control.bits[0].stall == 3);
  Code load;
  load.wide(2, 0);
  load.load(3, 0);
  load.exit();
  load.plan();
  CHECK(load.control.bits[0].stall == 6);
  // A load that nobody uses: its register must not be written before.
  Code unused;
  unused.load(2, 0);
  unused.fma(2, {0, 0, 0});
  unused.exit();
  unused.plan();
  CHECK(unused.control.bits[1].wait_mask == 1);
}

TEST_CASE("the carry flag is a result") {
  Code c;
  c.op({2}, {0, 0}).op = ir::Opcode::add_cc;
  c.op({3}, {1, 1}).op = ir::Opcode::addc;
  c.exit();
  c.plan();
  CHECK(c.control.bits[0].stall == 4);
}

TEST_CASE("stalls and waits across edges") {
  Code c;
  c.fma(1, {0, 0, 0});
  c.load(4, 2);
  c.block();
  c.fma(5, {1, 4, 0});
  c.branch(1, true);
  c.block();
  c.fma(6, {5, 5, 5});
  c.exit();
  c.plan();
  CHECK(c.control.bits[0].stall == 1);
  // Three cycles for R1; two would do to see the counter.
  CHECK(c.at(1) == "B------:R-:W0:-:S03");
  CHECK(c.control.bits[2].wait_mask == 1);
  // The branch takes longer than R5 needs.
  CHECK(c.control.bits[2].stall == 1);
  CHECK(c.control.bits[3].stall == 5);
}

TEST_CASE("a loop that raises a counter waits for it") {
  // The store's data changes behind the loop only.
  Code c;
  c.fma(4, {0, 0, 0});
  c.block();
  c.store(2, 4);
  c.branch(1, true);
  c.block();
  c.fma(4, {0, 0, 0});
  c.exit();
  c.plan();
  CHECK(c.at(1) == "B0-----:R0:W-:-:S01");
  CHECK(c.control.bits[3].wait_mask == 1);
  c.control.bits[1].wait_mask = 0;
  CHECK(c.fault() ==
        "instruction 1 (st.global.f32) may raise counter 0 to 64, expected at most 63: no instruction on the path "
        "waits for "
        "it");
}

TEST_CASE("a counter is not raised above 63") {
  Code c;
  c.fma(4, {0, 0, 0});
  for (unsigned n = 0; n < 70; ++n) c.store(2, 4);
  c.fma(4, {0, 0, 0});
  c.exit();
  c.plan();
  // One counter for all, because they have the same waiter; the 64th store waits for those before.
  for (unsigned n = 1; n <= 70; ++n) {
    CAPTURE(n);
    CHECK(c.control.bits[n].read_counter == 0);
    CHECK(c.control.bits[n].wait_mask == (n == 64 ? 1 : 0));
  }
  CHECK(c.control.bits[63].stall == 2);
  CHECK(c.control.bits[71].wait_mask == 1);
}

TEST_CASE("lanes that wait go on with what others have left pending") {
  // B0: @P0 bra B2; B1: R4 = load, bra B3; B2: R4 = R0; B3: R5 = R4.
  Code c;
  c.branch(2, true);
  c.block();
  c.load(4, 2);
  c.branch(3, false);
  c.block();
  c.fma(4, {0, 0, 0});
  c.block();
  c.fma(5, {4, 4, 4});
  c.exit();
  c.plan();
  CHECK(c.at(1) == "B------:R-:W0:-:S01");
  // The taken side runs second: its write must not come before the load's.
  CHECK(c.control.bits[3].wait_mask == 1);
  // Some warps have no lanes there.
  CHECK(c.control.bits[4].wait_mask == 1);
  // The branch's stall does for the sides; the taken side ends with its own write.
  CHECK(c.control.bits[3].stall == 4);
}

TEST_CASE("counters are shared by the same consumer, and by the nearest when there are none left") {
  Code c;
  c.load(10, 0);
  c.load(11, 0);
  c.fma(12, {10, 11, 10});
  for (std::uint32_t n = 0; n < 7; ++n) c.load(20 + n, 0);
  for (std::uint32_t n = 0; n < 7; ++n) c.fma(30 + n, {20 + n, 2, 2});
  c.exit();
  c.plan();
  CHECK(c.control.bits[0].write_counter == 0);
  CHECK(c.control.bits[1].write_counter == 0);
  CHECK(c.control.bits[2].wait_mask == 1);
  for (unsigned n = 0; n < 6; ++n) CHECK(c.control.bits[3 + n].write_counter == n);
  // The seventh load's consumer is next to the sixth's.
  CHECK(c.control.bits[9].write_counter == 5);
  CHECK(c.control.bits[15].wait_mask == 1u << 5);
  CHECK(c.control.bits[16].wait_mask == 0);
}

TEST_CASE("reuse flags") {
  Code c;
  c.fma(4, {0, 1, 2});
  c.fma(5, {0, 2, 3});
  c.fma(6, {0, 2, 1});
  c.exit();
  c.plan();
  // R0 in A; R2 in B from the second on; nothing looks at C again but for other registers.
  CHECK(c.at(0) == "B------:R-:W-:-:S01 reuse A");
  CHECK(c.at(1) == "B------:R-:W-:-:S01 reuse AB");
  CHECK(c.at(2) == "B------:R-:W-:-:S01");

  SECTION("not of a register that is written before") {
    Code w;
    w.fma(0, {0, 1, 1});
    w.fma(5, {2, 1, 1});
    w.fma(1, {2, 3, 3});
    w.fma(6, {2, 1, 3});
    w.exit();
    w.plan();
    CHECK(w.control.bits[0].reuse == 6);  // R1 in B and C; R0 in A is written
    CHECK(w.control.bits[1].reuse == 1);  // R2; R1 is written before position B looks again
  }
  SECTION("not across a long stall, a wait or the block's end") {
    Code s;
    s.fma(4, {0, 1, 1});
    s.fma(5, {0, 4, 1});
    s.load(6, 2);
    s.fma(7, {0, 8, 8});
    s.fma(9, {0, 6, 8});
    s.branch(1, true);
    s.block();
    s.fma(10, {0, 8, 8});
    s.exit();
    s.plan();
    CHECK(s.control.bits[0].reuse == 0);
    CHECK(s.control.bits[1].reuse == 1);  // a load between does not use the cache
    CHECK(s.control.bits[3].reuse == 0);
    CHECK(s.control.bits[4].reuse == 0);
  }
  SECTION("of a pair, both halves or none") {
    Code p;
    p.wide(4, 0);
    p.wide(6, 0);
    p.fma(8, {0, 2, 2});
    p.exit();
    p.plan();
    CHECK(p.control.bits[0].reuse == 1);
    CHECK(p.control.bits[1].reuse == 0);
    p.control.bits[1].reuse = 1;
    CHECK(p.fault() ==
          "instruction 3 (exit) leaves behind R1 that instruction 1 (not.b64) left in the register file cache");
  }
}

TEST_CASE("the verifier's messages for planted faults") {
  Code c;
  c.fma(1, {0, 0, 0});
  c.fma(4, {1, 0, 0});
  c.load(5, 2);
  c.fma(6, {5, 0, 0});
  c.store(2, 6);
  c.fma(6, {0, 0, 0});
  c.exit();
  c.plan();
  const ControlSection good = c.control;
  const auto with = [&](std::size_t index, auto change) {
    c.control = good;
    change(c.control.bits[index]);
    return c.fault();
  };
  using Bits = trace::ControlBits;
  CHECK(with(0, [](Bits& b) { --b.stall; }) ==
        "instruction 1 (fma.f32) reads R1 of instruction 0 (fma.f32) after 3 cycles, expected 4");
  CHECK(with(3, [](Bits& b) { --b.stall; }) ==
        "instruction 4 (st.global.f32) reads R6 of instruction 3 (fma.f32) after 4 cycles, expected 5");
  CHECK(
      with(3, [](Bits& b) { b.wait_mask = 0; }) ==
      "instruction 3 (fma.f32) reads R5 of instruction 2 (ld.global.f32) without waiting, expected a wait for counter "
      "0");
  CHECK(
      with(2, [](Bits& b) { b.write_counter = trace::no_counter; }) ==
      "instruction 3 (fma.f32) reads R5 of instruction 2 (ld.global.f32) without waiting, which raises no counter for "
      "it");
  CHECK(
      with(2, [](Bits& b) { b.stall = 1; }) ==
      "instruction 3 (fma.f32) reads R5 of instruction 2 (ld.global.f32) without waiting, expected a wait for counter "
      "0");
  CHECK(with(5, [](Bits& b) { b.wait_mask = 0; }) ==
        "instruction 5 (fma.f32) overwrites R6 before instruction 4 (st.global.f32) has read it, expected a wait for "
        "counter 0");
  CHECK(with(3, [](Bits& b) { b.reuse = 2; }) == "");
  c.control = good;
  c.control.bits[0].stall = 1;
  CHECK_THROWS_WITH(trace::verify_control(c.kernel, c.control),
                    "control: instruction 1 (fma.f32) reads R1 of instruction 0 (fma.f32) after "
                    "1 cycles, expected 4");
}

TEST_CASE("latencies by name") {
  passes::ControlLatencies latencies;
  latencies.set("int64=8,predicate=11,half=6", "control-latencies");
  CHECK(latencies.op_class[static_cast<std::size_t>(trace::OpClass::int64)] == 8);
  CHECK(latencies.predicate == 11);
  CHECK(latencies.half == 6);
  const auto refused = [&](const std::string& list, const std::string& why) {
    CHECK_THROWS_WITH(latencies.set(list, "control-latencies"), "error: --control-latencies has " + why);
  };
  refused("int64", "'int64', expected NAME=CYCLES");
  refused("", "'', expected NAME=CYCLES");
  refused("int64=8,", "'', expected NAME=CYCLES");
  refused("load=8", "'load=8', expected a class of fixed latency, half, predicate or constant_pair");
  refused("half=15", "'half=15', expected 1 to 14 cycles");
  refused("half=0", "'half=0', expected 1 to 14 cycles");
  refused("half=5x", "'half=5x', expected 1 to 14 cycles");

  trace::StaticInstruction i;
  i.op_class = trace::OpClass::fp32_mad;
  i.opcode = "fma.rn.f16x2";
  CHECK(latencies.of(i) == 6);
  i.opcode = "fma.rn.bf16";
  CHECK(latencies.of(i) == 6);
  i.opcode = "fma.rn.f32";
  CHECK(latencies.of(i) == 4);
  i.op_class = trace::OpClass::sfu;
  CHECK(latencies.of(i) == 0);
}

TEST_CASE("more than three registers of a bank take longer to read") {
  passes::ControlLatencies latencies;
  latencies.set("int64=7", "control-latencies");
  trace::StaticInstruction i;
  i.op_class = trace::OpClass::int64;
  const auto reads = [&](std::initializer_list<unsigned> registers) {
    i.source_count = 0;
    for (const unsigned r : registers) i.sources[i.source_count++] = static_cast<std::uint8_t>(r);
    return latencies.of(i);
  };
  CHECK(reads({0, 1, 2, 3, 4, 5}) == 7);
  CHECK(reads({0, 1, 2, 3, 4, 6}) == 8);
  CHECK(reads({0, 1, 0, 1, 0, 1, 0, 1}) == 7);  // a register is read once
  CHECK(reads({1, 3, 5, 7, 9}) == 9);
}

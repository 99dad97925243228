// SPDX-License-Identifier: Apache-2.0
//
// RFH's levels: known answers, and what every operand finds at its level along random paths of random programs.
#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/rfh.h>
#include <regatta/test/catch.h>
#include <regatta/trace/section_registry.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "../hand_code.h"
#include "../random_kernel.h"
#include "ranges.h"
#include "rfh_warp.h"

using namespace regatta;
using test::HandCode;
using trace::LaneMask;
using trace::RfhPlan;
using Warp = test::RfhWarp;

namespace {

trace::Kernel kernel_of(const ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  return ir::to_trace(f, analyses.reconvergence().immediate(), 32);
}
trace::Kernel kernel_of(HandCode& c) {
  ir::build_edges(c.f);
  return kernel_of(c.f);
}

RfhPlan plan(const trace::Kernel& kernel, unsigned entries, bool split = false) {
  passes::RfhOptions options;
  options.entries = entries;
  options.split = split;
  return passes::plan_rfh(kernel, options);
}

/// A load from global or shared memory; the address is a number.
void load(HandCode& c, std::uint32_t to, trace::MemorySpace space) {
  ir::Instruction& i = c.op({to}, {});
  i.op = ir::Opcode::ld;
  i.type = ir::Type::b32;
  i.sources = {ir::Operand::immediate(0, 2)};
  i.mod.space = space;
}

/// What a listing says of an instruction.
std::string at(const trace::Kernel& kernel, const RfhPlan& p, std::size_t index) {
  return trace::rfh_text(kernel.instructions[index], p.instructions[index]);
}

/// What `regatta-trace verify` says, "" if nothing.
std::string verify(const trace::Kernel& kernel, const RfhPlan& p) {
  static const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  trace::Kernel annotated = kernel;
  try {
    passes::add_rfh(annotated, p);
    for (const auto& format : sections.formats()) {
      format->validate(annotated);
      format->verify(annotated);
    }
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::string run_straight(const trace::Kernel& kernel, const RfhPlan& p) {
  Warp warp(kernel, p);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) warp.step(i, 0xff);
  return warp.wrong();
}

}  // namespace

TEST_CASE("a chain of results lives in the last-result file") {
  HandCode c;
  c.op({1}, {0});
  c.op({2}, {1});
  c.op({3}, {2});
  c.op({}, {3});
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 1);
  CHECK(at(kernel, p, 0) == "strand: R1 LRF <- R0 MRF");
  CHECK(at(kernel, p, 1) == "R2 LRF <- R1 LRF");
  CHECK(at(kernel, p, 2) == "R3 LRF <- R2 LRF");
  CHECK(at(kernel, p, 3) == "<- R3 LRF");
  CHECK(at(kernel, p, 4).empty());
  CHECK(verify(kernel, p) == "");
  const trace::RfhAccesses n = trace::count_accesses(kernel, p);
  CHECK(n.main_reads == 1);
  CHECK(n.last_reads == 3);
  CHECK(n.last_writes == 3);
  CHECK(n.main_writes + n.orf_reads + n.orf_writes == 0);
}

TEST_CASE("what other units read or write is in the operand register file") {
  HandCode c;
  c.op({1}, {0});
  c.op({2}, {1}).op = ir::Opcode::ex2;
  c.op({}, {2});
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 3);
  CHECK(at(kernel, p, 0) == "strand: R1 ORF 0 <- R0 MRF");
  CHECK(at(kernel, p, 1) == "R2 ORF 0 <- R1 ORF 0");
  CHECK(at(kernel, p, 2) == "<- R2 ORF 0");
}

TEST_CASE("a value whose last read does not fit keeps its first read in the ORF") {
  HandCode c;
  const auto special = [&](std::uint32_t to, std::uint32_t from) { c.op({to}, {from}).op = ir::Opcode::ex2; };
  special(1, 0);
  special(2, 1);
  special(3, 2);
  special(4, 3);
  c.op({}, {1, 4}).op = ir::Opcode::ex2;
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan one = plan(kernel, 1);
  CHECK(at(kernel, one, 0) == "strand: R1 MRF+ORF 0 <- R0 MRF");
  CHECK(at(kernel, one, 1) == "R2 ORF 0 <- R1 ORF 0");
  CHECK(at(kernel, one, 4) == "<- R1 MRF, R4 ORF 0");
  CHECK(verify(kernel, one) == "");
  const RfhPlan two = plan(kernel, 2);
  CHECK(at(kernel, two, 0) == "strand: R1 ORF 1 <- R0 MRF");
  CHECK(at(kernel, two, 4) == "<- R1 ORF 1, R4 ORF 0");
}

TEST_CASE("a register that is read several times is copied at its first read") {
  HandCode c;
  c.op({1}, {0});
  c.op({2}, {0});
  c.op({}, {0, 0});
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 1);
  CHECK(at(kernel, p, 0) == "strand: R1 MRF <- R0 MRF+LRF");
  CHECK(at(kernel, p, 1) == "R2 MRF <- R0 LRF");
  CHECK(at(kernel, p, 2) == "<- R0 LRF, R0 LRF");
  CHECK(verify(kernel, p) == "");
}

TEST_CASE("a split last-result file has a bank for each operand slot") {
  HandCode c;
  c.op({1}, {0});        // read in slot A
  c.op({2}, {0});        // in slot C
  c.op({3}, {1, 0, 2});  // in slot B
  c.op({4}, {0, 3});     // in two slots
  c.op({5}, {4, 4}).sources.insert(c.f.blocks.back().instructions.back().sources.begin(), ir::Operand::immediate(7));
  c.op({}, {0, 0, 5});
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 1, true);
  CHECK(p.split);
  CHECK(p.instructions[2].sources[0] == trace::RfhLevels{false, true, -1, 1});
  CHECK(p.instructions[2].sources[2] == trace::RfhLevels{false, true, -1, 3});
  CHECK(p.instructions[3].sources[1] == trace::RfhLevels{false, true, -1, 2});
  // The number is operand A.
  CHECK(at(kernel, p, 4) == "R5 LRF C <- R4 ORF 0, R4 ORF 0");
  CHECK(at(kernel, p, 5).find("R5 LRF C") != std::string::npos);
  CHECK(verify(kernel, p) == "");
  CHECK(run_straight(kernel, p) == "");
  // One entry for all slots does not serve the first two values at a time.
  const RfhPlan unified = plan(kernel, 1);
  CHECK(unified.instructions[2].sources[0].last != unified.instructions[2].sources[2].last);
  CHECK(unified.instructions[4].sources[0] == trace::RfhLevels{false, true, -1});
}

TEST_CASE("a read from the bank of another operand slot is found") {
  HandCode c;
  c.op({1}, {0});
  c.op({}, {2, 1});
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  RfhPlan p = plan(kernel, 1, true);
  REQUIRE(p.instructions[1].sources[1] == trace::RfhLevels{false, true, -1, 2});
  for (const std::uint8_t bank : {std::uint8_t{1}, std::uint8_t{3}}) {
    p.instructions[0].destinations[0].bank = p.instructions[1].sources[1].bank = bank;
    const std::string name = to_string(p.instructions[1].sources[1]);
    CHECK(verify(kernel, p) == "rfh: instruction 1 reads R1 from " + name + " in operand B");
    CHECK(run_straight(kernel, p) == "instruction 1 reads R1 from " + name + " in another operand");
  }
  // Written to one bank, and read from the right one, which holds nothing.
  p.instructions[1].sources[1].bank = 2;
  CHECK(verify(kernel, p) == "rfh: instruction 1 reads R1 from LRF B, which may hold something else");
  CHECK(run_straight(kernel, p) == "instruction 1 reads R1 from LRF B, which does not hold it");

  HandCode four;
  four.op({1}, {0});
  four.op({}, {2, 3, 4, 1});
  four.exit();
  const trace::Kernel fourth = kernel_of(four);
  p = plan(fourth, 1, true);
  CHECK(p.instructions[1].sources[3] == trace::RfhLevels{false, false, 0});
  p.instructions[0].destinations[0] = p.instructions[1].sources[3] = {false, true, -1, 3};
  CHECK(verify(fourth, p) == "rfh: instruction 1 reads R1 from LRF C in a fourth operand");
}

TEST_CASE("a strand ends before a long-latency result is needed, and what crosses is in the main file") {
  HandCode c;
  load(c, 2, trace::MemorySpace::global);
  c.op({3}, {0});
  c.op({4}, {3});
  c.op({}, {2, 3, 4});
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 3);
  CHECK(at(kernel, p, 0) == "strand");
  CHECK(at(kernel, p, 1) == "R3 MRF+LRF <- R0 MRF");
  CHECK(at(kernel, p, 2) == "R4 MRF <- R3 LRF");
  CHECK(at(kernel, p, 3) == "strand");
  CHECK(verify(kernel, p) == "");
  // The same from shared memory: the warp waits within its strand.
  HandCode s;
  load(s, 2, trace::MemorySpace::shared);
  s.op({}, {2});
  s.exit();
  const trace::Kernel shared = kernel_of(s);
  CHECK(at(shared, plan(shared, 3), 0) == "strand: R2 ORF 0");
  CHECK(at(shared, plan(shared, 3), 1) == "<- R2 ORF 0");
}

TEST_CASE("strands begin at backward branches and behind barriers") {
  HandCode c;
  c.op({0}, {});
  c.block();
  c.op({0}, {0});  // 1
  c.barrier();     // 2
  c.op({0}, {0});  // 3
  c.compare(0);    // 4
  c.branch(1, true);
  c.block();
  c.op({}, {0});  // 6
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 3);
  std::string begins;
  for (const trace::RfhInstruction& i : p.instructions) begins += i.strand_begins ? '1' : '0';
  CHECK(begins == "11010010");
  CHECK(at(kernel, p, 3) == "strand: R0 MRF+LRF <- R0 MRF");  // for the comparison
  CHECK(verify(kernel, p) == "");
}

TEST_CASE("a strand begins at a fence") {
  const auto code = [](trace::MemorySpace space, bool fenced) {
    HandCode c;
    c.op({1}, {0});
    if (fenced) {
      ir::Instruction& i = c.op({}, {});
      i.op = ir::Opcode::membar;
      i.mod.space = space;
    }
    c.op({}, {1});
    c.exit();
    return kernel_of(c);
  };
  for (const trace::MemorySpace space : {trace::MemorySpace::none, trace::MemorySpace::shared}) {
    const trace::Kernel kernel = code(space, true);
    REQUIRE(kernel.instructions[1].op_class == trace::OpClass::fence);
    RfhPlan p = plan(kernel, 3);
    CHECK(at(kernel, p, 0) == "strand");
    CHECK(at(kernel, p, 1) == "strand");
    CHECK_FALSE(p.instructions[2].strand_begins);
    CHECK(p.instructions[2].sources[0] == trace::RfhLevels{});
    CHECK(verify(kernel, p) == "");
    // Planted: the value is kept in an entry over the fence, first with the strand's begin, then without.
    p.instructions[0].destinations[0] = p.instructions[2].sources[0] = {false, false, 1};
    CHECK(run_straight(kernel, p) == "instruction 2 reads R1 from ORF 1, which does not hold it");
    CHECK(verify(kernel, p) == "rfh: instruction 2 reads R1 from ORF 1, which may hold something else");
    p.instructions[1].strand_begins = false;
    CHECK(run_straight(kernel, p) == "instruction 1 is a fence and begins no strand");
    CHECK(verify(kernel, p) == "rfh: no strand begins at instruction 1, which is a fence");
  }
  // Without the fence, the value has an entry.
  const trace::Kernel kernel = code(trace::MemorySpace::none, false);
  CHECK(at(kernel, plan(kernel, 3), 1) == "<- R1 LRF");
}

namespace {

/// R2 is written on one side of a branch or on both, and read behind.
HandCode diamond(bool both) {
  HandCode c;
  c.op({1}, {0});
  c.compare(1);       // 1
  c.branch(2, true);  // 2
  c.block();
  c.op({2}, {0});      // 3
  c.branch(3, false);  // 4
  c.block();
  c.op({both ? 2u : 3u}, {0});  // 5
  c.block();
  c.op({}, {2});  // 6
  c.exit();
  return c;
}

/// Lanes 0 to 3 go to the first side, the others to the second one.
std::string go_through_diamond(const trace::Kernel& kernel, const RfhPlan& p) {
  Warp warp(kernel, p);
  for (const std::uint32_t i : {0u, 1u}) warp.step(i, 0xff);
  warp.step(2, 0xf0);
  for (const std::uint32_t i : {3u, 4u}) warp.step(i, 0x0f);
  warp.step(5, 0xf0);
  for (const std::uint32_t i : {6u, 7u}) warp.step(i, 0xff);
  return warp.wrong();
}

}  // namespace

TEST_CASE("behind a forward branch an entry holds what both sides write to it") {
  HandCode c = diamond(true);
  const trace::Kernel kernel = kernel_of(c);
  const RfhPlan p = plan(kernel, 3);
  CHECK(at(kernel, p, 3).find("R2 LRF <- ") == 0);
  CHECK(at(kernel, p, 5).find("R2 LRF <- ") == 0);
  CHECK(at(kernel, p, 6) == "<- R2 LRF");
  CHECK(verify(kernel, p) == "");
  CHECK(go_through_diamond(kernel, p) == "");
}

TEST_CASE("what one side writes is read from the main file behind the branch") {
  HandCode c = diamond(false);
  const trace::Kernel kernel = kernel_of(c);
  RfhPlan p = plan(kernel, 3);
  CHECK(p.instructions[6].sources[0] == trace::RfhLevels{});
  CHECK(verify(kernel, p) == "");
  CHECK(go_through_diamond(kernel, p) == "");

  // Planted: the entry is used nevertheless.
  p.instructions[3].destinations[0].orf = 2;
  p.instructions[6].sources[0] = {false, false, 2};
  CHECK(go_through_diamond(kernel, p) == "instruction 6 reads R2 from ORF 2, which does not hold it");
  CHECK(verify(kernel, p) == "rfh: instruction 6 reads R2 from ORF 2, which may hold something else");
}

TEST_CASE("lanes on the other side leave the entry of waiting lanes alone") {
  HandCode c;
  c.op({1}, {0});
  c.compare(0);
  c.branch(2, true);  // 2
  c.block();
  c.op({2}, {0});      // 3
  c.op({}, {2});       // 4
  c.branch(3, false);  // 5
  c.block();
  c.op({}, {1});  // 6
  c.block();
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  RfhPlan p = plan(kernel, 3);
  const trace::RfhLevels waiting = p.instructions[6].sources[0], other = p.instructions[4].sources[0];
  CHECK_FALSE(waiting.main);
  CHECK_FALSE(other.main);
  CHECK(waiting != other);
  const auto go = [&] {
    Warp warp(kernel, p);
    for (const std::uint32_t i : {0u, 1u}) warp.step(i, 0xff);
    warp.step(2, 0xf0);
    for (const std::uint32_t i : {3u, 4u, 5u}) warp.step(i, 0x0f);
    warp.step(6, 0xf0);
    return warp.wrong();
  };
  CHECK(go() == "");
  CHECK(verify(kernel, p) == "");
  p.instructions[3].destinations[0] = p.instructions[4].sources[0] = waiting;
  CHECK(go() == "instruction 6 reads R1 from " + to_string(waiting) + ", which does not hold it");
  CHECK(verify(kernel, p) ==
        "rfh: instruction 6 reads R1 from " + to_string(waiting) + ", which may hold something else");
}

TEST_CASE("a stale LRF and an ORF kept over the end of a strand are found") {
  HandCode c;
  c.op({1}, {0});
  c.op({1}, {1});
  c.op({2}, {1});
  load(c, 3, trace::MemorySpace::global);
  c.op({}, {2, 3});  // 4
  c.exit();
  const trace::Kernel kernel = kernel_of(c);
  RfhPlan p = plan(kernel, 3);
  CHECK(run_straight(kernel, p) == "");
  CHECK(at(kernel, p, 1) == "R1 LRF <- R1 LRF");
  p.instructions[1].destinations[0] = {};
  CHECK(run_straight(kernel, p) == "instruction 2 reads R1 from LRF, which does not hold it");
  CHECK(verify(kernel, p) == "rfh: instruction 2 reads R1 from LRF, which may hold something else");

  p = plan(kernel, 3);
  CHECK(p.instructions[4].strand_begins);
  p.instructions[2].destinations[0] = p.instructions[4].sources[0] = {false, false, 0};
  CHECK(run_straight(kernel, p) == "instruction 4 reads R2 from ORF 0, which does not hold it");
  CHECK(verify(kernel, p) == "rfh: instruction 4 reads R2 from ORF 0, which may hold something else");
  p.instructions[4].strand_begins = false;
  CHECK(run_straight(kernel, p) == "instruction 4 reads a long-latency R3");
  CHECK(verify(kernel, p) == "rfh: no strand begins at instruction 4, which needs a long-latency result of its strand");
  // The main file lacks the value.
  p = plan(kernel, 3);
  p.instructions[2].destinations[0] = {false, true, -1};
  CHECK(run_straight(kernel, p) == "instruction 4 reads an old R2 from the MRF");
  CHECK(verify(kernel, p) == "rfh: instruction 4 reads R2 from the MRF, which may lack its value");
}

TEST_CASE("an ORF out of range is refused") {
  HandCode c = diamond(true);
  const trace::Kernel kernel = kernel_of(c);
  CHECK_THROWS_WITH(plan(kernel, 0), "error: --rfh is 0, expected 1 to 8");
  CHECK_THROWS_WITH(plan(kernel, 9), "error: --rfh is 9, expected 1 to 8");
}

namespace {

/// Sends lanes along random paths of a kernel: at a branch any of them go either way, and either side is first.
class Walk {
 public:
  Walk(const trace::Kernel& kernel, const RfhPlan& p, std::mt19937& random)
      : kernel_(kernel), random_(random), warp_(kernel, p) {}

  std::string run() {
    go(0, 0xff, -1);
    return warp_.wrong();
  }
  const Warp& warp() const { return warp_; }
  std::uint64_t divergent() const { return divergent_; }

 private:
  LaneMask some(LaneMask of) {
    switch (random_() % 4) {
      case 0:
        return of;
      case 1:
        return 0;
      default:
        return of & random_();
    }
  }

  /// Runs lanes from a block to the block `until`, and returns those that get there.
  LaneMask go(std::int32_t block, LaneMask lanes, std::int32_t until) {
    while (block >= 0 && block != until && lanes != 0) {
      const trace::BasicBlock& b = kernel_.blocks[static_cast<std::size_t>(block)];
      LaneMask taken = 0;
      for (std::uint32_t index = b.first; index < b.first + b.count; ++index) {
        if (fuel_ == 0 || !warp_.wrong().empty()) return 0;
        --fuel_;
        const trace::StaticInstruction& i = kernel_.instructions[index];
        const LaneMask active = i.guard.predicate >= 0 ? some(lanes) : lanes;
        warp_.step(index, active);
        if (i.op_class == trace::OpClass::branch) taken = active;
        if (i.op_class == trace::OpClass::exit) lanes &= ~active;
      }
      if (lanes == 0) return 0;
      const trace::StaticInstruction& end = kernel_.instructions[b.first + b.count - 1];
      const std::int32_t next = block + 1;
      std::int32_t target = next;
      for (const std::uint32_t s : b.successors)
        if (end.branch_target == static_cast<std::int32_t>(kernel_.blocks[s].first))
          target = static_cast<std::int32_t>(s);
      if (taken == lanes || taken == 0) {
        block = taken == 0 ? next : target;
        continue;
      }
      ++divergent_;
      std::array<std::pair<std::int32_t, LaneMask>, 2> sides{{{target, taken}, {next, lanes & ~taken}}};
      if (random_() % 2 == 0) std::swap(sides[0], sides[1]);
      const std::int32_t join = b.reconvergence;
      lanes = 0;
      for (const auto& [side, its] : sides) lanes |= go(side, its, join);
      block = join;
    }
    return lanes;
  }

  const trace::Kernel& kernel_;
  std::mt19937& random_;
  Warp warp_;
  unsigned fuel_ = 400;
  std::uint64_t divergent_ = 0;
};

ir::Function random_function(std::mt19937& random) {
  test::KernelShape shape;
  shape.nodes = 2 + random() % 12;
  shape.instructions = 2 + random() % 20;
  shape.registers = 4 + 2 * (random() % 8);
  shape.structured = random() % 2 == 0;
  shape.guards = random() % 3 != 0;
  shape.wide = shape.registers >= 8;
  shape.barriers = random() % 4 == 0;
  ir::Function f = test::random_kernel(random, shape);
  // Long strands need short memory latencies.
  const unsigned far = random() % 4;
  for (ir::Block& b : f.blocks)
    for (ir::Instruction& i : b.instructions)
      if (i.mod.space == trace::MemorySpace::global && random() % 4 >= far) i.mod.space = trace::MemorySpace::shared;
  return f;
}

}  // namespace

TEST_CASE("every read finds its value at its level, whatever way the lanes go") {
  std::mt19937 random(41);
  std::uint64_t entry_reads = 0, main_reads = 0, divergent = 0, strands = 0, banked_reads = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    const ir::Function f = random_function(random);
    const trace::Kernel kernel = kernel_of(f);
    for (const auto& [entries, split] : {std::pair(1u, false), {3u, false}, {8u, false}, {2u, true}}) {
      CAPTURE(round, entries, split);
      const RfhPlan p = plan(kernel, entries, split);
      REQUIRE(verify(kernel, p) == "");
      for (unsigned n = 0; n < 4; ++n) {
        Walk walk(kernel, p, random);
        REQUIRE(walk.run() == "");
        entry_reads += walk.warp().entry_reads();
        main_reads += walk.warp().main_reads();
        strands += walk.warp().strands();
        banked_reads += walk.warp().banked_reads();
        divergent += walk.divergent();
      }
    }
  }
  // Else nothing was shown.
  CAPTURE(entry_reads, main_reads, divergent, strands, banked_reads);
  CHECK(entry_reads > 100000);
  CHECK(main_reads > 100000);
  CHECK(divergent > 10000);
  CHECK(strands > 10000);
  CHECK(banked_reads > 10000);
}

TEST_CASE("planted faults in random programs are found") {
  std::mt19937 random(42);
  unsigned planted = 0, verified = 0, walked = 0;
  for (unsigned round = 0; round < 300; ++round) {
    CAPTURE(round);
    const trace::Kernel kernel = kernel_of(random_function(random));
    const RfhPlan right = plan(kernel, 3, round % 2 == 1);
    for (std::size_t index = 0; index < kernel.instructions.size(); ++index) {
      const trace::StaticInstruction& i = kernel.instructions[index];
      RfhPlan p = right;
      trace::RfhInstruction& levels = p.instructions[index];
      bool changed = false;
      for (unsigned d = 0; d < i.destination_count && !changed; ++d) {
        if (!levels.destinations[d].uses_entry()) continue;
        changed = true;
        levels.destinations[d] = {};  // the entry is stale
      }
      if (!changed) continue;
      ++planted;
      // Each write to an entry reaches a read; a path to it that lanes can take need not be walked by chance.
      verified += verify(kernel, p) != "";
      bool found = false;
      for (unsigned n = 0; n < 8 && !found; ++n) found = Walk(kernel, p, random).run() != "";
      walked += found;
    }
  }
  CAPTURE(planted, verified, walked);
  CHECK(planted > 1000);
  CHECK(verified == planted);
  CHECK(walked > planted / 4);
}

TEST_CASE("verify accepts no levels that lanes can find wrong") {
  std::mt19937 random(44);
  unsigned accepted = 0, refused = 0, walked = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const trace::Kernel kernel = kernel_of(random_function(random));
    const bool split = round % 2 == 1;
    RfhPlan p = plan(kernel, 3, split);
    // One register operand, or one beginning of a strand, is changed.
    const std::size_t index = random() % kernel.instructions.size();
    const trace::StaticInstruction& i = kernel.instructions[index];
    trace::RfhInstruction& levels = p.instructions[index];
    const auto any = [&]() -> trace::RfhLevels {
      switch (random() % 3) {
        case 0:
          return {};
        case 1:
          return {false, false, static_cast<std::int8_t>(random() % 3)};
        default:
          if (split) return {random() % 2 == 0, true, -1, static_cast<std::uint8_t>(1 + random() % 3)};
          return {true, false, static_cast<std::int8_t>(random() % 3)};
      }
    };
    if (random() % 4 == 0) {
      levels.strand_begins = !levels.strand_begins;
    } else if (i.destination_count != 0 && random() % 2 == 0) {
      levels.destinations[random() % i.destination_count] = any();
    } else if (i.source_count != 0) {
      const unsigned s = random() % i.source_count;
      const trace::RfhLevels changed = any();
      for (unsigned o = 0; o < i.source_count; ++o)
        if (i.sources[o] == i.sources[s]) levels.sources[o] = changed;
    }
    const std::string said = verify(kernel, p);
    ++(said.empty() ? accepted : refused);
    bool found = false;
    for (unsigned n = 0; n < 8 && !found; ++n) {
      Walk walk(kernel, p, random);
      const std::string wrong = walk.run();
      found = !wrong.empty();
      CAPTURE(wrong);
      if (said.empty()) REQUIRE(wrong == "");
    }
    walked += found;
  }
  CAPTURE(accepted, refused, walked);
  CHECK(accepted > 500);
  CHECK(refused > 500);
  CHECK(walked > 300);
}

TEST_CASE("a damaged section is refused, or lanes find every operand") {
  std::mt19937 random(45);
  unsigned undecoded = 0, refused = 0, accepted = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const trace::Kernel kernel = kernel_of(random_function(random));
    std::string payload = trace::encode(kernel, plan(kernel, 3, round % 2 == 1));
    const std::size_t at = random() % payload.size();
    payload[at] = static_cast<char>(static_cast<unsigned char>(payload[at]) ^ (1u << random() % 8));
    RfhPlan p;
    try {
      p = trace::decode_rfh(kernel, payload);
    } catch (const std::invalid_argument&) {
      ++undecoded;
      continue;
    }
    REQUIRE(trace::encode(kernel, p) == payload);
    const bool ok = verify(kernel, p).empty();
    ++(ok ? accepted : refused);
    for (unsigned n = 0; n < 4 && ok; ++n) REQUIRE(Walk(kernel, p, random).run() == "");
  }
  CAPTURE(undecoded, refused, accepted);
  CHECK(undecoded > 500);
  CHECK(refused > 100);
  CHECK(accepted > 100);
}

namespace {

/// A block of a few operations on a few registers.
HandCode small_block(std::mt19937& random) {
  HandCode c;
  const unsigned instructions = 4 + random() % 5;
  for (unsigned n = 0; n < instructions; ++n) {
    const auto any = [&] { return static_cast<std::uint32_t>(random() % 4); };
    ir::Instruction& i = random() % 2 == 0 ? c.op({any()}, {any()}) : c.op({any()}, {any(), any()});
    if (random() % 3 == 0) i.op = ir::Opcode::ex2;
  }
  c.op({}, {static_cast<std::uint32_t>(random() % 4)});
  c.exit();
  return c;
}

/// The cheapest of all ways to give ranges, or their first reads, entries; the checks of the trace decide which fit.
class Search {
 public:
  Search(const trace::Kernel& kernel, unsigned entries, bool split)
      : kernel_(kernel), ranges_(kernel), entries_(entries), banks_(split ? 3 : 0) {
    plan_ = plan(kernel, entries, split);
    for (trace::RfhInstruction& i : plan_.instructions) {
      i.destinations.fill({});
      i.sources.fill({});
    }
    worst = energy(plan_);
    best = worst;
  }

  /// Whether there are few enough to try.
  bool small() const {
    double ways = 1;
    const unsigned entries = entries_ + std::max(banks_, 1u);
    for (const passes::RfhRange& r : ranges_.ranges()) ways *= 1 + static_cast<double>(r.reads.size()) * entries;
    return ways <= 3000;
  }
  void run() { from(0); }
  double energy(const RfhPlan& p) const { return passes::energy_of(trace::count_accesses(kernel_, p), {}); }

  double best = 0;
  double worst = 0;  ///< all from the main file
  std::uint64_t fitting = 0;

 private:
  void from(std::size_t n) {
    if (n == ranges_.ranges().size()) {
      finish();
      return;
    }
    from(n + 1);
    const RfhPlan before = plan_;
    const passes::RfhRange& range = ranges_.ranges()[n];
    for (std::size_t reads = 1; reads <= range.reads.size(); ++reads)
      for (int entry = -std::max(static_cast<int>(banks_), 1); entry < static_cast<int>(entries_); ++entry) {
        // Negative: the LRF, or a bank of it.
        trace::RfhLevels levels{false, entry < 0, static_cast<std::int8_t>(std::max(entry, -1))};
        if (entry < 0 && banks_ != 0) levels.bank = static_cast<std::uint8_t>(-entry);
        trace::RfhLevels written = levels;
        written.main = range.copies;
        for (std::size_t r = 0; r < reads; ++r) {
          set(range.reads[r], range.reg, false, levels);
          for (const std::uint32_t w : ranges_.reaching(range, range.reads[r]))
            set(w, range.reg, !range.copies, written);
        }
        from(n + 1);
        plan_ = before;
      }
  }

  void set(std::uint32_t index, unsigned reg, bool destinations, const trace::RfhLevels& levels) {
    const trace::StaticInstruction& i = kernel_.instructions[index];
    for (unsigned d = 0; destinations && d < i.destination_count; ++d)
      if (i.destinations[d] == reg) plan_.instructions[index].destinations[d] = levels;
    for (unsigned s = 0; !destinations && s < i.source_count; ++s)
      if (i.sources[s] == reg) plan_.instructions[index].sources[s] = levels;
  }

  void finish() {
    RfhPlan p = plan_;
    const auto live = passes::main_live(
        kernel_, [&](std::uint32_t index, unsigned s) { return p.instructions[index].sources[s].main; });
    for (std::size_t index = 0; index < p.instructions.size(); ++index)
      for (unsigned d = 0; d < kernel_.instructions[index].destination_count; ++d)
        if (live[index].test(kernel_.instructions[index].destinations[d]))
          p.instructions[index].destinations[d].main = true;
    const double e = energy(p);
    if (e >= best && fitting > 0) return;
    if (verify(kernel_, p) != "") return;
    ++fitting;
    best = std::min(best, e);
  }

  const trace::Kernel& kernel_;
  passes::RfhRanges ranges_;
  unsigned entries_;
  unsigned banks_;  ///< of a split LRF; 0: it is not split
  RfhPlan plan_;
};

}  // namespace

TEST_CASE("the greedy allocation is near the best of all") {
  std::mt19937 random(43);
  double saved = 0, could = 0, furthest = 1;
  unsigned tried = 0, same = 0;
  for (unsigned round = 0; round < 400; ++round) {
    CAPTURE(round);
    HandCode c = small_block(random);
    const trace::Kernel kernel = kernel_of(c);
    const unsigned entries = 1 + random() % 2;
    const bool split = round % 2 == 1;
    const RfhPlan p = plan(kernel, entries, split);
    REQUIRE(verify(kernel, p) == "");
    REQUIRE(run_straight(kernel, p) == "");
    Search search(kernel, entries, split);
    if (!search.small()) continue;
    search.run();
    REQUIRE(search.fitting > 0);
    const double greedy = search.worst - search.energy(p), best = search.worst - search.best;
    REQUIRE(greedy <= best + 1e-9);
    saved += greedy;
    could += best;
    ++tried;
    same += greedy > best - 1e-9;
    if (best > 0) furthest = std::min(furthest, greedy / best);
  }
  CAPTURE(tried, same, saved, could, furthest);
  CHECK(tried > 100);
  CHECK(saved > 0.9 * could);
}

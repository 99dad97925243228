// SPDX-License-Identifier: Apache-2.0
//
// FineReg's live registers: known answers, a search of all paths, and lanes that lose every register not listed.
#include <regatta/analysis/function_analyses.h>
#include <regatta/emulator/emulator.h>
#include <regatta/passes/live_registers.h>
#include <regatta/test/catch.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "../hand_code.h"
#include "../random_kernel.h"

using namespace regatta;
using test::HandCode;
using trace::LaneMask;

namespace {

struct Found {
  trace::Kernel kernel;
  trace::LiveRegisters live;
};

Found find(const ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  Found found;
  found.kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
  found.live = passes::live_registers_of(found.kernel, analyses);
  return found;
}

/// One text per instruction.
std::vector<std::string> texts(ir::Function& f) {
  ir::build_edges(f);
  const Found found = find(f);
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < found.kernel.instructions.size(); ++i) all.push_back(trace::live_text(found.live, i));
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("figure 7: R0 is live before the first instruction, R1 to R3 are not") {
  // A part of CFD Solver. R2 is defined at 0x20, R1 at 0x28, R3 at 0x38.
  HandCode c;
  c.op({0}, {0});             // 0x00 I2I.U32.U16 R0, R0L
  c.op({0}, {0});             // 0x08 IMAD.U16 R0, g[], R0
  c.compare(0);               // 0x10 ISET.C0 o[0x7f], g[], R0
  HandCode::under(c.exit());  // 0x18 RET C0.NE
  c.block();
  c.op({2}, {0});    // 0x20 IADD R2, g[], R0
  c.op({1}, {2});    // 0x28 GLD R1, global[R2]
  c.op({}, {0});     // 0x30 ISSB.EXT.C0 o[0x7f], R0
  c.op({3}, {0});    // 0x38 IADD R3, g[], R0
  c.op({}, {3, 1});  // 0x40 GST global[R3], R1
  c.exit();
  CHECK(texts(c.f) == Texts{"live R0", "live R0", "live R0", "live R0", "live R0", "live R0 R2", "live R0-R1",
                            "live R0-R1", "live R1 R3", "live none"});
}

TEST_CASE("live registers of straight code, a loop and a diamond") {
  SECTION("straight: a value lives from its definition to its last read") {
    HandCode c;
    c.op({0}, {});
    c.op({1}, {0});
    c.op({0}, {0});  // read, then redefined
    c.op({2}, {1, 0});
    c.op({}, {2});
    c.exit();
    CHECK(texts(c.f) == Texts{"live none", "live R0", "live R0-R1", "live R0-R1", "live R2", "live none"});
  }
  SECTION("loop: what the next iteration reads is live at its end") {
    HandCode c;
    c.op({0}, {});
    c.op({1}, {});
    c.block();
    c.op({2}, {0});
    c.op({1}, {1, 2});
    c.compare(1);
    c.branch(1, true);
    c.block();
    c.op({}, {1});
    c.exit();
    CHECK(texts(c.f) == Texts{"live none", "live R0", "live R0-R1", "live R0-R2", "live R0-R1", "live R0-R1", "live R1",
                              "live none"});
  }
  SECTION("diamond: a side lists what it and the join read, not what lanes on the other side read") {
    HandCode c;
    c.op({0}, {});
    c.op({1}, {});
    c.op({2}, {});
    c.compare(2);
    c.branch(2, true);
    c.block();
    c.op({3}, {0});  // the other side reads R1
    c.branch(3, false);
    c.block();
    c.op({3}, {1});
    c.block();
    c.op({}, {2, 3});
    c.exit();
    CHECK(texts(c.f) == Texts{"live none", "live R0", "live R0-R1", "live R0-R2", "live R0-R2", "live R0 R2",
                              "live R2-R3", "live R1-R2", "live R2-R3", "live none"});
  }
}

TEST_CASE("definitions that do not end the life of the old value") {
  SECTION("a guarded one") {
    HandCode c;
    c.op({0}, {});
    HandCode::under(c.op({0}, {1}));
    c.op({}, {0});
    c.exit();
    CHECK(texts(c.f) == Texts{"live R1", "live R0-R1", "live R0", "live none"});
  }
  SECTION("a guarded one whose reads have the opposite guard") {
    HandCode c;
    HandCode::under(c.op({0}, {}));
    HandCode::under(c.op({}, {0}), true);
    c.exit();
    CHECK(texts(c.f) == Texts{"live R0", "live R0", "live none"});
  }
  SECTION("a guarded one whose reads have the same guard does end it") {
    HandCode c;
    HandCode::under(c.op({0}, {}));
    HandCode::under(c.op({}, {0}));
    c.exit();
    CHECK(texts(c.f) == Texts{"live none", "live R0", "live none"});
  }
  SECTION("one half of a pair leaves the other half live") {
    HandCode c;
    c.op({4}, {}, 2);
    c.op({5}, {});
    c.op({6}, {4}, 2);
    c.op({}, {6}, 2);
    c.exit();
    CHECK(texts(c.f) == Texts{"live none", "live R4", "live R4-R5", "live R6-R7", "live none"});
  }
}

TEST_CASE("registers beyond the first word") {
  HandCode c;
  c.op({63, 64}, {});
  c.op({128}, {63});
  c.op({}, {64, 128});
  c.exit();
  CHECK(texts(c.f) == Texts{"live none", "live R63-R64", "live R64 R128", "live none"});
  const Found found = find(c.f);
  CHECK(found.live.words == 3);
  CHECK(found.live.vector(1) == std::uint64_t{1} << 63);
  CHECK(found.live.vector(1, 1) == 1);
  CHECK(found.live.count(1) == 2);
  const passes::LivenessSummary summary = passes::summarise(found.live);
  CHECK(summary.max == 2);
  CHECK(summary.mean == 1.0);
}

namespace {

/// Whether a path leads from the instruction to a read of the register without an unguarded definition before it.
bool live_by_search(const trace::Kernel& kernel, std::uint32_t from, unsigned reg) {
  std::vector<bool> seen(kernel.instructions.size(), false);
  std::vector<std::uint32_t> work{from};
  const auto visit = [&](std::size_t index) {
    if (index < seen.size() && !seen[index]) work.push_back(static_cast<std::uint32_t>(index));
  };
  while (!work.empty()) {
    const std::uint32_t index = work.back();
    work.pop_back();
    if (seen[index]) continue;
    seen[index] = true;
    const trace::StaticInstruction& i = kernel.instructions[index];
    for (unsigned s = 0; s < i.source_count; ++s)
      if (i.sources[s] == reg) return true;
    bool defined = false;
    for (unsigned d = 0; d < i.destination_count; ++d) defined = defined || i.destinations[d] == reg;
    const bool always = i.guard.predicate < 0;
    if (defined && always) continue;
    if (i.branch_target >= 0) visit(static_cast<std::size_t>(i.branch_target));
    if (!always || (i.op_class != trace::OpClass::branch && i.op_class != trace::OpClass::exit)) visit(index + 1);
  }
  return false;
}

struct KeptCtas : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

/// Replays a warp. Before each instruction, its lanes lose the registers that are not live there. Returns the first
/// read of a lost value; "" if there is none.
std::string replay(const Found& found, const trace::WarpColumns& columns, std::uint64_t& lost) {
  trace::WarpCursor cursor(found.kernel, columns);
  std::array<LaneMask, 256> intact{};
  while (cursor.next()) {
    const std::uint32_t index = cursor.index();
    const trace::StaticInstruction& i = cursor.instruction();
    for (unsigned r = 0; r < found.live.registers; ++r) {
      if (found.live.live(index, r)) continue;
      lost += (intact[r] & cursor.simt_mask()) != 0;
      intact[r] &= ~cursor.simt_mask();
    }
    for (unsigned s = 0; s < i.source_count; ++s)
      if ((cursor.active_mask() & ~intact[i.sources[s]]) != 0)
        return "instruction " + std::to_string(index) + " reads a lost R" + std::to_string(i.sources[s]);
    for (unsigned d = 0; d < i.destination_count; ++d) intact[i.destinations[d]] |= cursor.active_mask();
  }
  return "";
}

ir::Function random_function(std::mt19937& random, std::uint64_t buffer, bool structured, bool guards) {
  test::KernelShape shape;
  shape.nodes = 2 + random() % 12;
  shape.instructions = 2 + random() % 14;
  shape.registers = 4 + 2 * (random() % 40);
  shape.structured = structured;
  shape.guards = guards;
  shape.wide = shape.registers >= 8;
  shape.fuel = 4 + random() % 16;
  shape.buffer = buffer;
  return test::random_kernel(random, shape);
}

}  // namespace

TEST_CASE("live registers agree with a search of all paths") {
  std::mt19937 random(27);
  std::uint64_t live = 0, dead = 0, narrower = 0;
  for (unsigned round = 0; round < 120; ++round) {
    const bool guards = round % 3 == 0;
    const ir::Function f = random_function(random, 0x10000, round % 2 == 0, guards);
    const Found found = find(f);
    const trace::LiveRegisters again =
        trace::decode_live_registers(found.kernel, {trace::liveness_section, 1, trace::encode(found.live)});
    CHECK(again.vectors == found.live.vectors);
    for (std::uint32_t i = 0; i < found.kernel.instructions.size(); ++i) {
      for (unsigned r = 0; r < found.live.registers; ++r) {
        const bool expected = live_by_search(found.kernel, i, r);
        const bool is = found.live.live(i, r);
        if (is != expected) {
          CAPTURE(round, i, r);
          // Only where a definition and its reads have the same guard.
          REQUIRE(guards);
          REQUIRE(expected);
          ++narrower;
        }
        ++(is ? live : dead);
      }
    }
  }
  CHECK(live > 10000);
  CHECK(dead > 10000);
  CHECK(narrower < live / 20);
}

TEST_CASE("no lane reads a register that was not live before its instruction") {
  std::mt19937 random(28);
  emulator::DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate("buffer", 4096, true);
  const ir::Module module;
  const emulator::ModuleImage image(module, memory);
  emulator::EmulatorOptions options;
  options.max_instructions = 1u << 20;
  emulator::LaunchRequest request;
  request.block = {64, 1, 1};
  std::uint64_t lost = 0, divergent = 0, caught = 0;
  for (unsigned round = 0; round < 300; ++round) {
    CAPTURE(round);
    const ir::Function f = random_function(random, buffer, round % 2 == 0, round % 3 != 0);
    Found found = find(f);
    emulator::Emulator emulator(f, analysis::FunctionAnalyses(f).reconvergence().immediate(), memory, image, options);
    KeptCtas keep;
    divergent += emulator.run(request, &found.kernel, &keep).divergent_branches;
    for (const trace::WarpColumns& warp : keep.ctas.at(0).warps) REQUIRE(replay(found, warp, lost) == "");
    // A vector that lacks a register which is read is caught.
    std::uint64_t ignored = 0;
    for (std::uint64_t& word : found.live.vectors) word &= ~std::uint64_t{1};
    caught += !replay(found, keep.ctas.at(0).warps.at(0), ignored).empty();
  }
  CHECK(lost > 10000);
  CHECK(divergent > 500);
  CHECK(caught == 300);
}

// SPDX-License-Identifier: Apache-2.0
//
// Annotations of small control-flow graphs by hand: soft definitions (figure 7), marks (figure 6), and where copies of
// dead registers are dropped.
#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/regions.h>
#include <regatta/test/catch.h>

using namespace regatta;
using Numbers = std::vector<unsigned>;

namespace {

/// Blocks of definitions and uses over R0.., all on P0; edges are by branches, so that the trace form is a real one.
class Code {
 public:
  Code() {
    f_.name = "k";
    f_.allocated = true;
    f_.registers_used = 16;
    f_.predicates_used = 2;
  }
  Code& block() {
    f_.blocks.emplace_back();
    return *this;
  }
  /// to = from + from ...
  Code& op(const Numbers& to, const Numbers& from) {
    ir::Instruction i;
    i.op = ir::Opcode::mad_lo;
    i.type = ir::Type::u32;
    for (const unsigned r : to) i.destinations.push_back(ir::Operand::reg(r, 1));
    for (const unsigned r : from) i.sources.push_back(ir::Operand::reg(r, 1));
    return add(i);
  }
  Code& wide(unsigned to, unsigned from) {
    op({to}, {from});
    last().destinations[0].words = 2;
    return *this;
  }
  Code& load(unsigned to, unsigned pair) {
    op({to}, {pair});
    last().op = ir::Opcode::ld;
    last().sources[0].words = 2;
    last().mod.space = trace::MemorySpace::global;
    return *this;
  }
  Code& barrier() {
    op({}, {});
    last().op = ir::Opcode::bar;
    last().sources = {ir::Operand::immediate(0)};
    return *this;
  }
  Code& guarded() {
    last().guarded = true;
    last().guard = 1;
    return *this;
  }
  Code& jump(std::uint32_t target) {
    op({}, {});
    last().op = ir::Opcode::bra;
    last().target = target;
    return *this;
  }
  Code& branch(std::uint32_t target) {
    jump(target);
    last().guarded = true;
    return *this;
  }
  Code& exit() {
    op({}, {});
    last().op = ir::Opcode::exit;
    return *this;
  }
  passes::RegionPlan plan(passes::RegionOptions options = {}) {
    ir::build_edges(f_);
    analysis::FunctionAnalyses analyses(f_);
    kernel_ = ir::to_trace(f_, analyses.reconvergence().immediate(), 32);
    return passes::plan_regions(kernel_, analyses, options);
  }

 private:
  Code& add(const ir::Instruction& i) {
    f_.blocks.back().instructions.push_back(i);
    return *this;
  }
  ir::Instruction& last() { return f_.blocks.back().instructions.back(); }
  ir::Function f_;
  trace::Kernel kernel_;
};

/// "<p>4 <l>5 <i>6 <e>7": entries of a region, p preload, l last preload, i invalidate, e erase at end.
std::string entries(const passes::Region& region) {
  std::string text;
  for (const trace::RegionEntry& e : region.words.entries)
    text += (text.empty() ? "" : " ") + std::string(1, "plie"[static_cast<unsigned>(e.kind)]) + std::to_string(e.reg);
  return text;
}

/// "-xe": the marks of an instruction, x for erase.
std::string marks(const passes::Region& region, unsigned instruction) {
  std::string text;
  for (const trace::LastUse use : region.words.uses[instruction])
    text += use == trace::LastUse::none ? '-' : use == trace::LastUse::evict ? 'e' : 'x';
  return text;
}

/// Entries of the first region of each block.
std::vector<std::string> block_entries(const passes::RegionPlan& plan) {
  std::vector<std::string> all;
  for (const passes::Region& r : plan.regions)
    if (all.size() == r.block) all.push_back(entries(r));
  return all;
}

}  // namespace

TEST_CASE("a definition on one side of a branch is soft when the other side needs the old value") {
  // 0: R1 =; branch -> 2. 1: R1 =. 2: use R1.
  Code c;
  c.block().op({1}, {}).branch(2).block().op({1}, {}).block().op({2}, {1}).exit();
  CHECK(block_entries(c.plan()) == std::vector<std::string>{"", "p1", "l1"});
}

TEST_CASE("a definition is not soft when nobody needs the old value") {
  // The other side defines for itself and uses before the paths meet; so does this side.
  Code c;
  c.block().op({1}, {}).branch(2).block().op({1}, {}).op({2}, {1}).jump(3);
  c.block().op({1}, {}).op({3}, {1}).block().op({4}, {2, 3}).exit();
  const auto all = block_entries(c.plan());
  // R1's old value is; R2's may be one that lanes of the other side wait with.
  CHECK(all[1] == "p2");
}

TEST_CASE("a definition behind the point where the paths meet is not soft") {
  Code c;
  c.block().op({1}, {}).branch(2).block().op({2}, {1}).block().op({1}, {}).op({3}, {1}).exit();
  const auto all = block_entries(c.plan());
  CHECK(all[1] == "l1");
  CHECK(all[2] == "");
}

TEST_CASE("both sides define: the second to run must leave the first one's lanes alone") {
  Code c;
  c.block().op({2}, {}).branch(2).block().op({1}, {}).jump(3).block().op({1}, {}).block().op({2}, {1}).exit();
  CHECK(block_entries(c.plan()) == std::vector<std::string>{"", "p1", "p1", "l1"});
  passes::RegionOptions options;
  options.lanes = analysis::LaneRule::printed;
  CHECK(block_entries(c.plan(options)) == std::vector<std::string>{"", "", "", "l1"});
}

TEST_CASE("a loop's redefinition on one path is soft, which the printed algorithm misses") {
  // H=1 -> {2, 6}; 2 -> {3, 4}; 3, 4 -> 5 -> 1. R1 defined in 2, redefined in 3, used in 5.
  Code c;
  c.block().op({3}, {}).block().op({4}, {3}).branch(6).block().op({1}, {}).branch(4).block().op({1}, {}).jump(5);
  c.block().op({4}, {3}).block().op({4}, {1}).jump(1).block().exit();
  CHECK(block_entries(c.plan())[3] == "p1");
  passes::RegionOptions options;
  options.lanes = analysis::LaneRule::printed;
  CHECK(block_entries(c.plan(options))[3] == "");
  options.lanes = analysis::LaneRule::printed_mended;
  CHECK(block_entries(c.plan(options))[3] == "p1");
}

TEST_CASE("a guarded definition is soft unless everything that reads it stands under its guard") {
  Code c;
  c.block().op({1}, {}).op({2}, {}).branch(1);
  c.block().op({1}, {}).guarded().op({3}, {1}).op({2}, {}).guarded().op({3}, {2}).guarded().exit();
  // R2's old value is dead: its definition in block 0 too.
  const passes::RegionPlan plan = c.plan();
  CHECK(entries(plan.regions.at(1)) == "l1");
  CHECK(marks(plan.regions.at(0), 0) == "e--");
  CHECK(marks(plan.regions.at(0), 1) == "x--");
}

TEST_CASE("a register that lives on one side only is dropped where the paths meet") {
  // R1 is used in 1 only; 2 is reached without. Lanes that wait for 1 still need it while others might be at 2.
  Code c;
  c.block().op({1}, {}).op({2}, {}).branch(2).block().op({2}, {1}).block().op({3}, {2}).branch(4).block().op({3}, {2});
  c.block().op({4}, {3}).exit();
  const auto all = block_entries(c.plan());
  CHECK(all[1] == "l1 p2");
  CHECK(all[2] == "p2 i1");
  CHECK(all[3].find('i') == std::string::npos);
}

TEST_CASE("a loop's register is dropped behind the loop, not in it") {
  Code c;
  c.block().op({1}, {}).op({2}, {});
  c.block().op({1}, {1, 2}).op({3}, {1}).branch(1);
  c.block().op({4}, {}).branch(4).block().op({4}, {}).block().op({5}, {4}).exit();
  const auto all = block_entries(c.plan());
  CHECK(all[1] == "p1 p2");
  CHECK(all[2] == "i1 i2");
  // Nothing is left to drop, and at a warp's end everything goes anyway.
  CHECK(all[4] == "l4");
}

TEST_CASE("a head that is full leaves copies to the block's later regions") {
  // R1 to R9 die behind the loop, where the block has two regions: the first writes R9 and R2, the second R3.
  Code c;
  c.block();
  for (unsigned r = 1; r < 10; ++r) c.op({r}, {});
  c.block();
  for (unsigned r = 1; r < 10; ++r) c.op({r}, {r});
  c.branch(1);
  c.block().op({9}, {}).op({2}, {}).barrier().op({3}, {}).op({10}, {2}).op({10}, {9, 3, 10}).branch(4);
  c.block().op({10}, {10}).block().op({11}, {10}).exit();
  const auto of_block = [](const passes::RegionPlan& plan) {
    std::vector<std::string> all;
    for (const passes::Region& r : plan.regions)
      if (r.block == 2) all.push_back(entries(r));
    return all;
  };
  passes::RegionOptions options;
  CHECK(of_block(c.plan(options)) == std::vector<std::string>{"i1 i2 i3 i4 i5 i6 i7 i8 i9", "l2 l9"});
  // A first word of three entries and the word of last uses: those come first that the region writes.
  options.head_words = 2;
  CHECK(of_block(c.plan(options)) == std::vector<std::string>{"i2 i9 i1", "l2 l9 i3"});
  // One word of five more.
  options.head_words = 3;
  CHECK(of_block(c.plan(options)) == std::vector<std::string>{"i2 i9 i1 i3 i4 i5 i6 i7", "l2 l9 i8"});
}

TEST_CASE("no copy is dropped that another path of the warp still needs") {
  // 0 -> 1, 2; 1 -> 3 -> 5; 2 -> 4 -> 5. R1 is needed in 4 alone. In 3 it is dead for the lanes that are there.
  Code c;
  c.block().op({1}, {}).branch(2).block().op({2}, {}).block().op({3}, {1}).block().op({3}, {}).branch(5);
  c.block().op({3}, {}).block().op({4}, {}).branch(7).block().op({4}, {}).block().exit();
  const auto all = block_entries(c.plan());
  for (const std::size_t b : {std::size_t{0}, std::size_t{1}}) CHECK(all[b].find("i1") == std::string::npos);
}

TEST_CASE("marks, by figure 6") {
  // R1 comes in and is used up; R2 comes in and lives on; R3 is interior; R4 goes out.
  Code c;
  c.block().op({1}, {}).op({2}, {}).branch(1);
  c.block().op({3}, {1, 2}).op({4}, {3, 3, 2}).op({5}, {}).branch(2);
  c.block().op({6}, {4, 2}).exit();
  const passes::RegionPlan plan = c.plan();
  const passes::Region& r = plan.regions.at(1);
  CHECK(r.inputs == std::vector<std::uint8_t>{1, 2});
  CHECK(r.outputs == std::vector<std::uint8_t>{4});
  CHECK(r.interiors == std::vector<std::uint8_t>{3, 5});
  CHECK(entries(r) == "l1 p2");
  CHECK(marks(r, 0) == "x--");  // R1 dies, R2 goes on, R3 comes
  CHECK(marks(r, 1) == "xee");  // R3 dies at its read, R2 may leave, R4 may once it is written
  CHECK(marks(r, 2) == "x--");  // nobody reads R5
  // R1, R2 and R3 at once, then R2 and R3, R4 from there to the end with R5.
  CHECK(r.live == 3);
  CHECK(r.words.lines == std::array<std::uint8_t, 8>{0, 1, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("what no mark can say is said at the end of the region") {
  // Of the pair R2-R3 one half goes on living; the fourth operand has no slot.
  Code c;
  c.block().wide(2, 1).op({8}, {2, 3}).op({9}, {4, 5, 6}).branch(1).block().op({10}, {2, 9}).exit();
  const passes::RegionPlan plan = c.plan();
  const passes::Region& r = plan.regions.at(0);
  CHECK(marks(r, 1) == "exx");
  CHECK(marks(r, 2) == "xxx");
  Code d;
  d.block().op({3}, {}).wide(2, 1).load(7, 2).branch(1).block().op({10}, {2, 7}).exit();
  const passes::RegionPlan other = d.plan();
  CHECK(marks(other.regions.at(0), 2) == "-e-");  // R2 lives, R3 does not: one slot
  CHECK(entries(other.regions.at(0)) == "l1 e3");
}

TEST_CASE("a load and its first use, a barrier and what follows are in different regions") {
  Code c;
  c.block().wide(2, 1).load(4, 2).op({5}, {1}).op({6}, {4}).op({7}, {6}).barrier().op({8}, {7}).exit();
  const passes::RegionPlan plan = c.plan();
  REQUIRE(plan.regions.size() == 3);
  CHECK(plan.regions[0].end == 3);  // the longest of the cheapest
  CHECK(plan.regions[1].end == 6);
  CHECK(plan.regions[2].end == 8);
  CHECK(entries(plan.regions[1]) == "l4");
}

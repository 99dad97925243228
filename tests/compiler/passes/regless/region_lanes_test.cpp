// SPDX-License-Identifier: Apache-2.0
//
// Follows what a kernel's words do to each lane's registers while the emulator's path through the program is replayed:
// no lane may ever read a value that the words let go.
#include <regatta/analysis/function_analyses.h>
#include <regatta/emulator/emulator.h>
#include <regatta/passes/regions.h>
#include <regatta/test/catch.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <string>

#include "../random_kernel.h"

using namespace regatta;
using trace::LaneMask;
using trace::LastUse;
using Entry = trace::RegionEntry;

namespace {

struct Keep : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

/// Staged lines and their copies in memory, lane by lane, of one warp.
class Oracle {
 public:
  Oracle(const trace::Kernel& kernel, const std::vector<trace::PlacedRegion>& regions)
      : kernel_(kernel), regions_(regions), region_of_(kernel.instructions.size()) {
    for (std::uint32_t r = 0; r < regions.size(); ++r)
      for (std::uint32_t i = regions[r].begin; i < regions[r].end; ++i) region_of_[i] = r;
  }

  /// The first wrong that is done to a lane, "" if none is.
  std::string replay(const trace::WarpColumns& columns) {
    trace::WarpCursor cursor(kernel_, columns);
    staged_ = {};
    backed_ = {};
    while (wrong_.empty() && cursor.next()) {
      const trace::PlacedRegion& region = regions_[region_of_[cursor.index()]];
      index_ = cursor.index();
      if (index_ == region.begin) start(region);
      instruction(region, cursor.instruction(), cursor.active_mask());
      if (index_ + 1 == region.end) finish(region);
    }
    return wrong_;
  }
  std::uint64_t reads() const { return reads_; }

 private:
  struct Line {
    bool owned = false, dirty = false;
    LaneMask intact = 0;  ///< lanes whose value is there
  };

  void fail(const std::string& what, unsigned r) {
    if (wrong_.empty()) wrong_ = "instruction " + std::to_string(index_) + ": R" + std::to_string(r) + " " + what;
  }

  void start(const trace::PlacedRegion& region) {
    for (const Entry& e : region.words.entries) {
      Line& line = staged_[e.reg];
      switch (e.kind) {
        case Entry::Kind::preload:
          line = {true, false, backed_[e.reg]};
          break;
        case Entry::Kind::invalidating_preload:
          line = {true, false, backed_[e.reg]};
          backed_[e.reg] = 0;
          break;
        case Entry::Kind::invalidate:
          backed_[e.reg] = 0;
          break;
        case Entry::Kind::erase_at_end:
          break;
      }
    }
  }

  void let_go(unsigned r, LastUse use) {
    Line& line = staged_[r];
    if (!line.owned) fail("is marked and has no line", r);
    // A clean line is dropped, what memory has stays; a dirty one is written back.
    if (use == LastUse::evict && line.dirty) backed_[r] = line.intact;
    line = {};
  }

  void instruction(const trace::PlacedRegion& region, const trace::StaticInstruction& i, LaneMask active) {
    const trace::SlotUses& uses = region.words.uses[index_ - region.begin];
    std::array<LastUse, 256> mark{};
    const auto slots = trace::use_slots_of(i);
    for (unsigned s = 0; s < trace::use_slots; ++s)
      for (unsigned r = slots[s].first; r < unsigned{slots[s].first} + slots[s].count; ++r) mark[r] = uses[s];
    std::array<bool, 256> written{};
    for (unsigned d = 0; d < i.destination_count; ++d) {
      const unsigned r = i.destinations[d];
      written[r] = true;
      if (!staged_[r].owned) staged_[r] = {true, false, 0};  // a line with nothing in it
    }
    for (unsigned s = 0; s < i.source_count; ++s) {
      const Line& line = staged_[i.sources[s]];
      ++reads_;
      if (!line.owned) fail("is read and has no line", i.sources[s]);
      if ((active & ~line.intact) != 0) fail("is read in lanes whose value was let go", i.sources[s]);
    }
    for (unsigned s = 0; s < i.source_count; ++s) {
      const unsigned r = i.sources[s];
      if (written[r] || mark[r] == LastUse::none) continue;
      let_go(r, mark[r]);
      mark[r] = LastUse::none;
    }
    for (unsigned d = 0; d < i.destination_count; ++d) {
      const unsigned r = i.destinations[d];
      staged_[r].intact |= active;
      staged_[r].dirty = true;
    }
    for (unsigned d = 0; d < i.destination_count; ++d)
      if (mark[i.destinations[d]] != LastUse::none) let_go(i.destinations[d], mark[i.destinations[d]]);
  }

  void finish(const trace::PlacedRegion& region) {
    for (const Entry& e : region.words.entries)
      if (e.kind == Entry::Kind::erase_at_end) let_go(e.reg, LastUse::erase);
    for (unsigned r = 0; r < staged_.size(); ++r)
      if (staged_[r].owned) let_go(r, LastUse::evict);
  }

  const trace::Kernel& kernel_;
  const std::vector<trace::PlacedRegion>& regions_;
  std::vector<std::uint32_t> region_of_;
  std::array<Line, 256> staged_{};
  std::array<LaneMask, 256> backed_{};  ///< lanes that memory has right
  std::uint32_t index_ = 0;
  std::uint64_t reads_ = 0;
  std::string wrong_;
};

struct Followed {
  std::string wrong;
  std::uint64_t reads = 0, divergent = 0, invalidations = 0;
};

/// Runs a function with a CTA of 64 threads and follows its words.
Followed follow(const ir::Function& f, const passes::RegionOptions& options, emulator::DeviceMemory& memory) {
  analysis::FunctionAnalyses analyses(f);
  const auto joins = analyses.reconvergence().immediate();
  trace::Kernel kernel = ir::to_trace(f, joins, 32);
  passes::insert_region_words(kernel, passes::plan_regions(kernel, analyses, options));
  const auto regions = trace::regions_of(kernel);
  const ir::Module module;
  const emulator::ModuleImage image(module, memory);
  emulator::EmulatorOptions run;
  run.max_instructions = 1u << 20;
  emulator::Emulator emulator(f, joins, memory, image, run);
  emulator::LaunchRequest request;
  request.block = {64, 1, 1};
  Keep keep;
  Followed result;
  result.divergent = emulator.run(request, &kernel, &keep).divergent_branches;
  for (const trace::PlacedRegion& region : regions)
    for (const Entry& e : region.words.entries) result.invalidations += e.kind == Entry::Kind::invalidate;
  for (const trace::WarpColumns& warp : keep.ctas.at(0).warps) {
    Oracle oracle(kernel, regions);
    if (result.wrong.empty()) result.wrong = oracle.replay(warp);
    result.reads += oracle.reads();
  }
  return result;
}

test::KernelShape random_shape(std::mt19937& random, bool structured) {
  test::KernelShape shape;
  shape.nodes = 2 + random() % 12;
  shape.instructions = 2 + random() % 14;
  shape.registers = 4 + 2 * (random() % 8);
  shape.structured = structured;
  shape.guards = random() % 3 != 0;
  shape.wide = shape.registers >= 8;
  shape.fuel = 4 + random() % 16;
  return shape;
}

passes::RegionOptions random_limits(std::mt19937& random) {
  passes::RegionOptions options;
  options.max_registers = 3 + random() % 20;
  options.lines_per_bank = 1 + random() % 4;
  options.min_instructions = 1 + random() % 8;
  if (random() % 2 == 0) options.head_words = 2 + random() % 2;
  return options;
}

void follow_random(bool structured, unsigned seed) {
  std::mt19937 random(seed);
  emulator::DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate("buffer", 4096, true);
  Followed total;
  for (unsigned round = 0; round < 1000; ++round) {
    test::KernelShape shape = random_shape(random, structured);
    shape.buffer = buffer;
    const ir::Function f = test::random_kernel(random, shape);
    const Followed one = follow(f, random_limits(random), memory);
    INFO("round " << round);
    REQUIRE(one.wrong == "");
    total.reads += one.reads;
    total.divergent += one.divergent;
    total.invalidations += one.invalidations;
  }
  // Else nothing was shown.
  CHECK(total.reads > 400000);
  CHECK(total.divergent > 5000);
  CHECK(total.invalidations > 1000);
}

}  // namespace

TEST_CASE("no lane reads a register that the words let die, unstructured control flow") { follow_random(false, 1); }

TEST_CASE("no lane reads a register that the words let die, structured control flow") { follow_random(true, 2); }

TEST_CASE("soft definitions as the paper has them let values die that lanes still read") {
  for (const analysis::LaneRule rule : {analysis::LaneRule::printed, analysis::LaneRule::printed_mended}) {
    std::mt19937 random(3);
    emulator::DeviceMemory memory;
    const std::uint64_t buffer = memory.allocate("buffer", 4096, true);
    unsigned lost = 0;
    for (unsigned round = 0; round < 200; ++round) {
      test::KernelShape shape = random_shape(random, round % 2 == 0);
      shape.buffer = buffer;
      const ir::Function f = test::random_kernel(random, shape);
      passes::RegionOptions options = random_limits(random);
      options.lanes = rule;
      lost += !follow(f, options, memory).wrong.empty();
    }
    CHECK(lost > 10);
  }
}

namespace {

/// R0 lane, R1 value, R2 result; P0 lanes below 16.
class ByHand {
 public:
  ByHand() {
    f.name = "by_hand";
    f.allocated = true;
    f.registers_used = 4;
    f.predicates_used = 2;
    block();
    add(ir::Opcode::mov, {0}, {ir::Operand::special(ir::Special::laneid)});
    add(ir::Opcode::mov, {3}, {ir::Operand::immediate(0)});
    less(0, 16);
  }
  void block() { f.blocks.emplace_back(); }
  ir::Instruction& add(ir::Opcode op, const std::vector<std::uint32_t>& to, std::vector<ir::Operand> from) {
    ir::Instruction i;
    i.op = op;
    i.type = ir::Type::u32;
    for (const std::uint32_t r : to) i.destinations.push_back(ir::Operand::reg(r, 1));
    i.sources = std::move(from);
    f.blocks.back().instructions.push_back(i);
    return f.blocks.back().instructions.back();
  }
  void set(std::uint32_t r, std::uint32_t value) { add(ir::Opcode::mov, {r}, {ir::Operand::immediate(value)}); }
  void use(std::uint32_t r) { add(ir::Opcode::add, {2}, {ir::Operand::reg(r, 1), ir::Operand::immediate(1)}); }
  void less(std::uint32_t r, std::uint32_t bound) {
    ir::Instruction& i = add(ir::Opcode::setp, {}, {ir::Operand::reg(r, 1), ir::Operand::immediate(bound)});
    i.destinations = {ir::Operand::predicate(0)};
    i.mod.compare = ir::Compare::lt;
  }
  void jump(std::uint32_t target, bool if_p0 = false) {
    ir::Instruction& i = add(ir::Opcode::bra, {}, {});
    i.type = ir::Type::none;
    i.target = target;
    i.guarded = if_p0;
  }
  void exit() { add(ir::Opcode::exit, {}, {}).type = ir::Type::none; }
  std::string wrong(analysis::LaneRule rule) {
    ir::build_edges(f);
    emulator::DeviceMemory memory;
    passes::RegionOptions options;
    options.lanes = rule;
    return follow(f, options, memory).wrong;
  }
  ir::Function f;
};

}  // namespace

TEST_CASE("a definition in a loop, redefined on one of two paths through its body") {
  ByHand k;  // blocks: 0; header 1 -> body 2, exit 6; 2 -> 3, 4; 3, 4 -> latch 5 -> 1
  k.block();
  k.less(3, 2);
  {
    ir::Instruction& leave = k.add(ir::Opcode::bra, {}, {});
    leave.type = ir::Type::none;
    leave.guarded = true;
    leave.guard_negated = true;
    leave.target = 6;
  }
  k.block();
  k.set(1, 7);
  k.less(0, 16);
  k.jump(4, true);
  k.block();
  k.set(1, 8);
  k.jump(5);
  k.block();
  k.add(ir::Opcode::nop, {}, {});
  k.block();
  k.use(1);
  k.add(ir::Opcode::add, {3}, {ir::Operand::reg(3, 1), ir::Operand::immediate(1)});
  k.jump(1);
  k.block();
  k.exit();
  CHECK(k.wrong(analysis::LaneRule::printed) != "");
  CHECK(k.wrong(analysis::LaneRule::printed_mended) == "");
  CHECK(k.wrong(analysis::LaneRule::every_path) == "");
}

TEST_CASE("both sides of a diamond define") {
  ByHand k;  // 0 -> 1, 2 -> 3
  k.jump(2, true);
  k.block();
  k.set(1, 7);
  k.jump(3);
  k.block();
  k.set(1, 8);
  k.block();
  k.use(1);
  k.exit();
  CHECK(k.wrong(analysis::LaneRule::printed) != "");
  CHECK(k.wrong(analysis::LaneRule::printed_mended) != "");
  CHECK(k.wrong(analysis::LaneRule::every_path) == "");
}

TEST_CASE("lanes wait beyond a branch that does not dominate the definition") {
  ByHand k;  // 0 -> 1, 2; 1 -> 2, 4; 2 -> 3 -> 5; 4 -> 5: blocks 2 and 3 run while lanes that came through 1 wait at 4
  k.jump(2, true);
  k.block();
  k.set(1, 7);
  k.less(0, 24);
  k.jump(4, true);
  k.f.blocks.back().instructions.back().guard_negated = true;
  k.block();
  k.set(1, 8);
  k.block();
  k.use(1);
  k.jump(5);
  k.block();
  k.use(1);
  k.block();
  for (unsigned i = 0; i < 8; ++i) k.use(1);  // an end that is worth meeting for
  k.exit();
  CHECK(k.wrong(analysis::LaneRule::printed_mended) != "");
  CHECK(k.wrong(analysis::LaneRule::every_path) == "");
}

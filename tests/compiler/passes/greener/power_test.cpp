// SPDX-License-Identifier: Apache-2.0
//
// GREENER's power states: the thesis's own example, and what becomes of the lanes' values when the states are obeyed
// while the emulator's path through random programs is replayed.
#include <regatta/analysis/function_analyses.h>
#include <regatta/emulator/emulator.h>
#include <regatta/passes/power.h>
#include <regatta/test/catch.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <string>
#include <vector>

#include "../random_kernel.h"

using namespace regatta;
using trace::LaneMask;
using trace::RegisterPower;

namespace {

/// Figure 4.3 (a): the loop of scalarProd. $r124, the zero register, is R15 here, $ofs1 is R16; $o127 is left out.
class Figure {
 public:
  Figure() {
    f.name = "scalar_prod";
    f.allocated = true;
    f.registers_used = 17;
    f.predicates_used = 3;
    block();  // B4
    set({8, 0});
    add(ir::Opcode::nop, {}, {});  // ssy
    add(ir::Opcode::mov, {1}, {0});
    branch(4);
    block();  // B5
    add(ir::Opcode::shl, {10}, {0});
    add(ir::Opcode::mov, {12}, {15});
    add(ir::Opcode::add, {11}, {10});
    add(ir::Opcode::add, {10}, {10});
    block();  // B6
    load(14, 11);
    load(13, 10);
    add(ir::Opcode::fma, {12}, {14, 13, 12});
    add(ir::Opcode::add, {1}, {1});
    set({8, 1});
    add(ir::Opcode::add, {10}, {10});
    add(ir::Opcode::add, {11}, {11});
    branch(2);
    block();  // B7
    branch(5).guarded = false;
    block();  // B8
    add(ir::Opcode::mov, {12}, {15});
    block();  // B9
    add(ir::Opcode::add, {0}, {0, 5});
    add(ir::Opcode::shl, {16}, {9});
    set({0, 6});
    store(16, 12);
    add(ir::Opcode::add, {9}, {9, 7});
    branch(0);
    block();
    add(ir::Opcode::exit, {}, {});
    ir::build_edges(f);
  }
  ir::Function f;

 private:
  void block() { f.blocks.emplace_back(); }
  ir::Instruction& add(ir::Opcode op, const std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    ir::Instruction i;
    i.op = op;
    i.type = ir::Type::u32;
    for (const std::uint32_t r : to) i.destinations.push_back(ir::Operand::reg(r, 1));
    for (const std::uint32_t r : from) i.sources.push_back(ir::Operand::reg(r, 1));
    f.blocks.back().instructions.push_back(i);
    return f.blocks.back().instructions.back();
  }
  void set(const std::vector<std::uint32_t>& from) {
    ir::Instruction& i = add(ir::Opcode::setp, {}, from);
    i.destinations.push_back(ir::Operand::predicate(2));
  }
  void load(std::uint32_t to, std::uint32_t address) {
    add(ir::Opcode::ld, {to}, {address}).mod.space = trace::MemorySpace::global;
  }
  void store(std::uint32_t address, std::uint32_t value) {
    add(ir::Opcode::st, {}, {address, value}).mod.space = trace::MemorySpace::shared;
  }
  ir::Instruction& branch(std::uint32_t target) {
    ir::Instruction& i = add(ir::Opcode::bra, {}, {});
    i.target = target;
    i.guarded = true;
    i.guard = 2;
    return i;
  }
};

struct Planned {
  trace::Kernel kernel;
  trace::PowerStates states;
  std::string text(std::size_t index) const {
    const trace::StaticInstruction& i = kernel.instructions[index];
    return trace::power_text(i, trace::power_bits(i, states.next[index], states.threshold));
  }
};

Planned plan(const ir::Function& f, unsigned threshold) {
  analysis::FunctionAnalyses analyses(f);
  Planned p;
  p.kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
  passes::PowerOptions options;
  options.threshold = threshold;
  p.states = passes::plan_power_states(p.kernel, analyses, options);
  return p;
}

}  // namespace

TEST_CASE("the listing of figure 4.3") {
  const Figure figure;
  const Planned p = plan(figure.f, 7);
  // As printed there, predicates left out: they have no rows here.
  const std::vector<std::string> expected = {"R8 SLEEP, R0 ON",
                                             "",
                                             "R1 SLEEP, R0 ON",
                                             "",  // B4
                                             "R10 ON, R0 SLEEP",
                                             "R12 ON, R15 SLEEP",
                                             "R11 ON, R10 ON",
                                             "R10 ON, R10 ON",  // B5
                                             "R14 ON",
                                             "R13 ON",
                                             "R12 SLEEP, R14 OFF, R13 OFF",
                                             "R1 ON, R1 ON",  // B6
                                             "R8 SLEEP, R1 SLEEP",
                                             "R10 SLEEP, R10 SLEEP",
                                             "R11 SLEEP, R11 SLEEP",
                                             "",                   // B6
                                             "",                   // B7
                                             "R12 ON, R15 SLEEP",  // B8
                                             "R0 ON, R0 ON, R5 SLEEP",
                                             "R16 ON, R9 ON",
                                             "R0 SLEEP, R6 SLEEP",
                                             "R12 OFF",  // B9
                                             "R9 SLEEP, R9 SLEEP, R7 SLEEP",
                                             "",
                                             ""};
  REQUIRE(p.kernel.instructions.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i, p.kernel.instructions[i].opcode);
    CHECK(p.text(i) == expected[i]);
  }
  const passes::PowerSummary s = passes::summarise(p.kernel, p.states);
  CHECK(s.off == 3);
  CHECK(s.on == 17);
  CHECK(s.sleep == 18);
  CHECK(s.without_field == 3);  // the addresses of lines 9, 10 and 22
}

TEST_CASE("a threshold out of range is refused") {
  const Figure figure;
  CHECK_THROWS_WITH(plan(figure.f, 0), "error: --power-threshold is 0, expected 1 to 31");
  CHECK_THROWS_WITH(plan(figure.f, 32), "error: --power-threshold is 32, expected 1 to 31");
  CHECK_NOTHROW(plan(figure.f, 31));
}

namespace {

struct KeptCtas : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

/// A warp's rows lane by lane: an access of an instruction takes its registers' states, OFF loses the row.
class Rows {
 public:
  explicit Rows(const Planned& plan) : plan_(plan) {}
  /// The first wrong that is done to a lane, "" if none is.
  std::string replay(const trace::WarpColumns& columns, unsigned threshold) {
    trace::WarpCursor cursor(plan_.kernel, columns);
    std::array<LaneMask, 256> intact{};
    while (cursor.next()) {
      const std::uint32_t index = cursor.index();
      const trace::StaticInstruction& i = cursor.instruction();
      for (unsigned s = 0; s < i.source_count; ++s) {
        if ((cursor.active_mask() & ~intact[i.sources[s]]) == 0) continue;
        return "instruction " + std::to_string(index) + " reads R" + std::to_string(i.sources[s]) +
               " in lanes whose value was switched off";
      }
      for (unsigned d = 0; d < i.destination_count; ++d) intact[i.destinations[d]] |= cursor.active_mask();
      const trace::PowerFields fields = trace::power_fields_of(i);
      const std::uint8_t bits = trace::power_bits(i, plan_.states.next[index], threshold);
      const auto apply = [&](unsigned r) {
        if (trace::power_state(fields, bits, r) != RegisterPower::off) return;
        intact[r] = 0;
        ++switched_off_;
      };
      for (unsigned s = 0; s < i.source_count; ++s) apply(i.sources[s]);
      for (unsigned d = 0; d < i.destination_count; ++d) apply(i.destinations[d]);
    }
    return "";
  }
  std::uint64_t switched_off() const { return switched_off_; }

 private:
  const Planned& plan_;
  std::uint64_t switched_off_ = 0;
};

struct Ran {
  Planned plan;
  std::vector<trace::WarpColumns> warps;
  std::uint64_t divergent = 0;
};

Ran run(const ir::Function& f, emulator::DeviceMemory& memory) {
  Ran r;
  r.plan = plan(f, trace::power_bound);
  const auto joins = analysis::FunctionAnalyses(f).reconvergence().immediate();
  const ir::Module module;
  const emulator::ModuleImage image(module, memory);
  emulator::EmulatorOptions options;
  options.max_instructions = 1u << 20;
  emulator::Emulator emulator(f, joins, memory, image, options);
  emulator::LaunchRequest request;
  request.block = {64, 1, 1};
  KeptCtas keep;
  r.divergent = emulator.run(request, &r.plan.kernel, &keep).divergent_branches;
  r.warps = keep.ctas.at(0).warps;
  return r;
}

ir::Function random_function(std::mt19937& random, std::uint64_t buffer, bool structured) {
  test::KernelShape shape;
  shape.nodes = 2 + random() % 12;
  shape.instructions = 2 + random() % 14;
  shape.registers = 4 + 2 * (random() % 8);
  shape.structured = structured;
  shape.guards = random() % 3 != 0;
  shape.wide = shape.registers >= 8;
  shape.fuel = 4 + random() % 16;
  shape.buffer = buffer;
  return test::random_kernel(random, shape);
}

/// The same with liveness of one thread, as the thesis computes it.
void forget_waiting_lanes(const ir::Function& f, Planned& p) {
  analysis::FunctionAnalyses analyses(f);
  analysis::LivenessWalker walker(analyses.liveness());
  for (std::uint32_t b = 0; b < p.kernel.blocks.size(); ++b) {
    for (walker.start(b); walker.more(); walker.step()) {
      const std::size_t index = p.kernel.blocks[b].first + walker.index();
      const trace::StaticInstruction& i = p.kernel.instructions[index];
      for (unsigned k = 0; k < i.destination_count + i.source_count; ++k) {
        const unsigned r = k < i.destination_count ? i.destinations[k] : i.sources[k - i.destination_count];
        p.states.next[index][k].live = walker.live().test(r);
      }
    }
  }
}

}  // namespace

TEST_CASE("no lane reads a register that was switched off") {
  std::mt19937 random(11);
  emulator::DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate("buffer", 4096, true);
  std::uint64_t off = 0, divergent = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    const ir::Function f = random_function(random, buffer, round % 2 == 0);
    const Ran r = run(f, memory);
    divergent += r.divergent;
    Rows rows(r.plan);
    for (const trace::WarpColumns& warp : r.warps) {
      for (const unsigned threshold : {1u, 3u, 7u, 21u}) {
        INFO("round " << round << " threshold " << threshold);
        REQUIRE(rows.replay(warp, threshold) == "");
      }
    }
    off += rows.switched_off();
  }
  // Else nothing was shown.
  CHECK(off > 20000);
  CHECK(divergent > 2000);
}

TEST_CASE("liveness of one thread switches off what lanes on another path still need") {
  std::mt19937 random(12);
  emulator::DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate("buffer", 4096, true);
  unsigned lost = 0;
  for (unsigned round = 0; round < 200; ++round) {
    const ir::Function f = random_function(random, buffer, round % 2 == 0);
    Ran r = run(f, memory);
    forget_waiting_lanes(f, r.plan);
    Rows rows(r.plan);
    bool wrong = false;
    for (const trace::WarpColumns& warp : r.warps) wrong = wrong || !rows.replay(warp, 3).empty();
    lost += wrong;
  }
  CHECK(lost > 10);
}

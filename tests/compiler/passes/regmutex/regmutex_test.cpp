// SPDX-License-Identifier: Apache-2.0
//
// RegMutex's register sets: known answers, and what becomes of the values of the extended set when the acquires and
// releases are obeyed while the emulator's path through random programs is replayed.
#include <regatta/emulator/emulator.h>
#include <regatta/passes/live_registers.h>
#include <regatta/passes/regmutex.h>
#include <regatta/test/catch.h>
#include <regatta/trace/section_registry.h>
#include <regatta/trace/warp_stream.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../hand_code.h"
#include "../random_kernel.h"
#include "min_cut.h"
#include "regmutex_warp.h"

using namespace regatta;
using passes::RegMutexPlan;
using passes::SectionChange;
using test::HandCode;
using Warp = test::RegMutexWarp;

namespace {

struct Planned {
  trace::Kernel kernel;  ///< without annotations
  RegMutexPlan plan;
  trace::LiveRegisters live;

  /// With the sections `regmutex` and `liveness`.
  trace::Kernel annotated() const {
    trace::Kernel k = kernel;
    passes::add_regmutex(k, plan);
    passes::add_liveness_section(k, live);
    return k;
  }
  /// "acquire@3 release@9", "acquire@1-2" on the edge from 1 to 2.
  std::string changes() const {
    std::string text;
    for (const SectionChange& c : plan.changes) {
      text += (text.empty() ? "" : " ") + std::string(c.acquires ? "acquire@" : "release@");
      text += (c.after >= 0 ? std::to_string(c.after) + "-" : "") + std::to_string(c.before);
    }
    return text;
  }
  /// "R3 R5"
  std::string extended() const {
    std::string text;
    for (unsigned r = 0; r < plan.registers.registers(); ++r)
      if (plan.registers.is_extended(r)) text += (text.empty() ? "R" : " R") + std::to_string(r);
    return text;
  }
  /// First and last instruction of each stretch that holds a section.
  std::string held() const {
    std::string text;
    for (std::size_t i = 0; i < plan.held.size(); ++i) {
      if (!plan.held[i]) continue;
      const std::size_t first = i;
      while (i + 1 < plan.held.size() && plan.held[i + 1]) ++i;
      text += (text.empty() ? "" : " ") + std::to_string(first) + "-" + std::to_string(i);
    }
    return text;
  }
};

Planned plan(const ir::Function& f, unsigned base) {
  analysis::FunctionAnalyses analyses(f);
  Planned p;
  p.kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
  p.plan = passes::plan_regmutex(p.kernel, analyses, passes::RegMutexOptions{base});
  p.live = passes::live_registers_of(p.kernel, analyses);
  return p;
}

Planned plan(HandCode& c, unsigned base) {
  ir::build_edges(c.f);
  return plan(c.f, base);
}

/// What `regatta-trace verify` says, "" if nothing.
std::string verify(const trace::Kernel& kernel) {
  const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  const trace::SectionFormat* format = sections.of_scheme(trace::regmutex_scheme);
  REQUIRE(format != nullptr);
  try {
    format->validate(kernel);
    format->verify(kernel);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a register that lives shortly is in the extended set, from its definition to its last read") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {0});
  c.op({2}, {1});
  c.op({1}, {1, 2});
  c.op({}, {0, 1});
  c.exit();
  const Planned p = plan(c, 2);
  CHECK(p.extended() == "R2");
  CHECK(p.held() == "2-3");
  CHECK(p.changes() == "acquire@2 release@4");
  CHECK(p.plan.registers.base == 2);
  CHECK(p.plan.registers.place == std::vector<std::uint8_t>{0, 1, 2});
  CHECK(p.plan.acquires() == 1);
  CHECK(p.plan.held_share == Approx(2.0 / 6));
  CHECK(verify(p.annotated()) == "");

  const Planned all = plan(c, 3);
  CHECK(all.extended() == "");
  CHECK(all.changes() == "");
  CHECK(plan(c, 200).plan.registers.base == 3);
  // Half of the time two of three registers suffice: 2 + 1 x 2/6 is the least.
  CHECK(plan(c, 0).plan.registers.base == 2);
}

TEST_CASE("a section is released within the iterations of a loop") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {});
  c.block();
  for (unsigned n = 0; n < 3; ++n) c.op({1}, {0, 1});  // 2 to 4
  c.op({2}, {1});
  c.op({1}, {1, 2});
  for (unsigned n = 0; n < 3; ++n) c.op({1}, {0, 1});  // 7 to 9
  c.compare(1);
  c.branch(1, true);
  c.block();
  c.op({}, {0, 1});
  c.exit();
  const Planned p = plan(c, 2);
  CHECK(p.extended() == "R2");
  CHECK(p.held() == "5-6");
  CHECK(p.changes() == "acquire@5 release@7");
  CHECK(verify(p.annotated()) == "");
}

TEST_CASE("a section stays held where a release and an acquire would cost more") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {});
  c.block();
  c.op({2}, {1});
  c.op({1}, {1, 2});
  c.compare(1);
  c.branch(1, true);
  c.block();
  c.op({}, {0, 1});
  c.exit();
  const Planned p = plan(c, 2);
  CHECK(p.extended() == "R2");
  CHECK(p.held() == "2-5");
  CHECK(p.changes() == "acquire@1-2 release@6");
  CHECK(verify(p.annotated()) == "");
}

namespace {

/// R3 is written before a branch and read on one side of it.
HandCode diamond() {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {});
  c.op({2}, {0, 1});
  c.op({3}, {0});
  c.compare(2);
  c.branch(2, true);  // 5
  c.block();
  c.op({2}, {0});
  c.branch(3, false);  // 7
  c.block();
  c.op({2}, {3});  // 8
  c.block();
  c.op({}, {0, 1, 2});
  c.exit();
  return c;
}

/// Four lanes go through the diamond, two on each side.
Warp go_through_diamond(const trace::Kernel& kernel) {
  Warp warp(kernel);
  for (std::uint32_t i = 0; i <= 4; ++i) warp.step(i, 0xf, 0xf);
  warp.step(5, 0xf, 0xc);
  for (const std::uint32_t i : {6u, 7u}) warp.step(i, 0x3, 0x3);
  warp.step(8, 0xc, 0xc);
  for (const std::uint32_t i : {9u, 10u}) warp.step(i, 0xf, 0xf);
  return warp;
}

}  // namespace

TEST_CASE("a section is held while lanes wait that need it") {
  HandCode c = diamond();
  Planned p = plan(c, 3);
  CHECK(p.extended() == "R3");
  CHECK(p.held() == "3-8");
  CHECK(p.changes() == "acquire@3 release@9");
  const trace::Kernel kernel = p.annotated();
  CHECK(verify(kernel) == "");
  CHECK(go_through_diamond(kernel).wrong() == "");
  CHECK_FALSE(go_through_diamond(kernel).held());

  // Right for a single lane on either path, wrong for the lanes that wait.
  p.plan.changes = {{true, 3, -1}, {false, 6, -1}, {false, 9, 8}};
  CHECK(verify(p.annotated()) == "");
  CHECK(go_through_diamond(p.annotated()).wrong() == "instruction 8 names R3 without a section");
}

TEST_CASE("each side of a branch acquires for itself") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {});
  c.compare(0);
  c.branch(2, true);  // 3
  c.block();
  for (unsigned n = 0; n < 3; ++n) c.op({1}, {0});  // 4 to 6
  c.op({2}, {1});
  c.op({1}, {2});
  for (unsigned n = 0; n < 3; ++n) c.op({1}, {1});  // 9 to 11
  c.branch(3, false);                               // 12
  c.block();
  for (unsigned n = 0; n < 3; ++n) c.op({1}, {0});  // 13 to 15
  c.op({2}, {1});
  c.op({1}, {2});
  for (unsigned n = 0; n < 3; ++n) c.op({1}, {1});  // 18 to 20
  c.block();
  c.op({}, {0, 1});
  c.exit();
  const Planned p = plan(c, 2);
  CHECK(p.extended() == "R2");
  CHECK(p.held() == "7-8 16-17");
  CHECK(p.changes() == "acquire@7 release@9 acquire@16 release@18");
  CHECK(verify(p.annotated()) == "");
}

TEST_CASE("registers that live across a barrier are in the base set, whatever was asked") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {0});
  c.barrier();
  c.op({2}, {1});
  c.op({}, {0, 1, 2});
  c.exit();
  const Planned p = plan(c, 1);
  CHECK(p.plan.asked == 1);
  CHECK(p.plan.least_base == 2);
  CHECK(p.plan.registers.base == 2);
  CHECK(p.extended() == "R2");
  CHECK(p.changes() == "acquire@3 release@5");
  CHECK(verify(p.annotated()) == "");
  // A barrier that only counts the warp may be passed with a section.
  c.f.blocks[0].instructions[2].mod.barrier = ir::BarrierMode::arrive;
  CHECK(plan(c, 1).plan.least_base == 0);
  CHECK(verify(plan(c, 1).annotated()) == "");
}

TEST_CASE("a kernel whose first block is a loop starts without a section") {
  HandCode c;
  c.op({1}, {0});
  c.op({0}, {1});
  c.op({0}, {0});
  c.op({0}, {0});
  c.op({0}, {0});
  c.compare(0);
  c.branch(0, true);
  c.block();
  c.exit();
  const Planned p = plan(c, 1);
  CHECK(p.plan.least_base == 1);  // R0 is live at the start
  CHECK(p.extended() == "R1");
  CHECK(p.changes() == "acquire@0 release@2");
  CHECK(verify(p.annotated()) == "");
}

TEST_CASE("a base set out of range is refused") {
  HandCode c = diamond();
  CHECK_THROWS_WITH(plan(c, 256), "error: --regmutex-base is 256, expected 0 to 255");
}

TEST_CASE("verify finds what is wrong on a path") {
  HandCode c = diamond();
  Planned p = plan(c, 3);
  const auto with = [&](std::vector<SectionChange> changes) {
    p.plan.changes = std::move(changes);
    return verify(p.annotated());
  };
  CHECK(with({{true, 3, -1}, {false, 9, -1}}) == "");
  CHECK(with({{false, 9, -1}}) == "regmutex: instruction 3 names R3 of the extended set, and no section is held");
  CHECK(with({{true, 4, -1}, {false, 9, -1}}) ==
        "regmutex: instruction 3 names R3 of the extended set, and no section is held");
  CHECK(with({{true, 3, -1}, {false, 4, -1}, {true, 5, -1}, {false, 9, -1}}) ==
        "regmutex: instruction 4 has R3 of the extended set live, and no section is held");
  CHECK(with({{true, 3, -1}, {true, 5, -1}, {false, 9, -1}}) ==
        "regmutex: instruction 5 follows an acquire with a section held");
  CHECK(with({{true, 3, -1}, {false, 9, -1}, {false, 10, -1}}) ==
        "regmutex: instruction 10 follows a release without a section");
  CHECK(with({{true, 3, -1}, {false, 9, 8}}) == "regmutex: instruction 9 is reached with and without a section");

  trace::Kernel kernel = p.annotated();
  kernel.inserted[0].instruction.opcode = "seize";
  CHECK(verify(kernel) == "regmutex: an inserted instruction 'seize', expected acquire or release");
  kernel = p.annotated();
  kernel.inserted[0].disposition = trace::Disposition::decode;
  CHECK(verify(kernel) == "regmutex: an inserted instruction that is removed at decode, expected one that issues");
  kernel.annotations.clear();
  CHECK(verify(kernel) == "regmutex: instructions of the scheme, and no section of version 1");

  HandCode b;
  b.op({0}, {});
  b.barrier();
  b.exit();
  p = plan(b, 1);
  CHECK(with({{true, 1, -1}, {false, 2, -1}}) == "regmutex: instruction 1 is a barrier, and a section is held");
}

TEST_CASE("the minimum cut is the cheapest of all answers") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 500; ++round) {
    const std::size_t nodes = 1 + random() % 8;
    std::vector<std::uint64_t> yes(nodes), no(nodes);
    std::vector<std::array<std::uint64_t, 3>> pairs;
    passes::MinCut cut(nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
      yes[n] = random() % 3 == 0 ? random() % 10 : 0;
      no[n] = random() % 3 == 0 ? random() % 10 : 0;
      cut.cost_of_yes(n, yes[n]);
      cut.cost_of_no(n, no[n]);
    }
    for (unsigned k = random() % 16; k > 0; --k) {
      pairs.push_back({random() % nodes, random() % nodes, random() % 6});
      cut.cost_of_difference(pairs.back()[0], pairs.back()[1], pairs.back()[2]);
    }
    const auto cost = [&](unsigned answer) {
      const auto is_yes = [&](std::size_t n) { return (answer >> n) & 1; };
      std::uint64_t sum = 0;
      for (std::size_t n = 0; n < nodes; ++n) sum += is_yes(n) ? yes[n] : no[n];
      for (const auto& [a, b, difference] : pairs) sum += is_yes(a) != is_yes(b) ? difference : 0;
      return sum;
    };
    std::uint64_t least = UINT64_MAX;
    for (unsigned answer = 0; answer < 1u << nodes; ++answer) least = std::min(least, cost(answer));
    const std::vector<bool> found = cut.solve();
    unsigned answer = 0;
    for (std::size_t n = 0; n < nodes; ++n) answer |= found[n] ? 1u << n : 0;
    REQUIRE(cost(answer) == least);
  }
}

namespace {

struct KeptCtas : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

ir::Function random_function(std::mt19937& random, std::uint64_t buffer, bool structured, bool barriers = false) {
  test::KernelShape shape;
  shape.nodes = 2 + random() % 12;
  shape.instructions = 2 + random() % 20;
  shape.registers = 4 + 2 * (random() % 8);
  shape.structured = structured;
  shape.guards = random() % 3 != 0;
  shape.wide = shape.registers >= 8;
  shape.barriers = barriers;
  shape.fuel = 4 + random() % 16;
  shape.buffer = buffer;
  return test::random_kernel(random, shape);
}

/// Runs random programs of two warps.
class Runs {
 public:
  Runs() : buffer(memory_.allocate("buffer", 4096, true)), image_(module_, memory_) {
    options_.max_instructions = 1u << 20;
    request_.block = {64, 1, 1};
  }
  std::vector<trace::WarpColumns> operator()(const ir::Function& f, const trace::Kernel& kernel) {
    const auto joins = analysis::FunctionAnalyses(f).reconvergence().immediate();
    emulator::Emulator emulator(f, joins, memory_, image_, options_);
    KeptCtas keep;
    divergent += emulator.run(request_, &kernel, &keep).divergent_branches;
    return keep.ctas.at(0).warps;
  }

 private:
  emulator::DeviceMemory memory_;

 public:
  const std::uint64_t buffer;
  std::uint64_t divergent = 0;

 private:
  const ir::Module module_;
  const emulator::ModuleImage image_;
  emulator::EmulatorOptions options_;
  emulator::LaunchRequest request_;
};

}  // namespace

TEST_CASE("no value of the extended set is lost, and acquires and releases alternate") {
  std::mt19937 random(31);
  Runs runs;
  std::uint64_t changes = 0, lost = 0, steps = 0, held = 0, on_edges = 0, ended_held = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    const ir::Function f = random_function(random, runs.buffer, round % 2 == 0);
    std::vector<trace::WarpColumns> warps;
    const unsigned registers = f.registers_used;
    for (const unsigned base : {0u, 1u, registers / 4, registers / 2, registers - 1}) {
      CAPTURE(round, base);
      const Planned p = plan(f, base);
      const trace::Kernel kernel = p.annotated();
      if (warps.empty()) warps = runs(f, p.kernel);
      REQUIRE(verify(kernel) == "");
      if (base != 0) REQUIRE(p.plan.registers.base == std::max(base, p.plan.least_base));
      for (const SectionChange& c : p.plan.changes) on_edges += c.after >= 0;
      for (const trace::WarpColumns& columns : warps) {
        Warp warp(kernel);
        REQUIRE(warp.replay(columns) == "");
        changes += warp.changes();
        lost += warp.lost();
        steps += warp.steps();
        held += warp.held_steps();
        ended_held += warp.held();
      }
    }
  }
  // Else nothing was shown.
  CAPTURE(changes, lost, steps, held, on_edges, ended_held, runs.divergent);
  CHECK(changes > 20000);
  CHECK(lost > 10000);
  CHECK(held < steps * 9 / 10);
  CHECK(on_edges > 100);
  CHECK(ended_held > 10);
  CHECK(runs.divergent > 2000);
}

TEST_CASE("a missing acquire, a missing release and a release that is too early are found") {
  std::mt19937 random(32);
  Runs runs;
  unsigned missing_acquires = 0, missing_releases = 0, early = 0, early_found = 0;
  for (unsigned round = 0; round < 200; ++round) {
    CAPTURE(round);
    const ir::Function f = random_function(random, runs.buffer, round % 2 == 0);
    const Planned p = plan(f, f.registers_used / 2);
    const std::vector<trace::WarpColumns> warps = runs(f, p.kernel);
    const auto found = [&](const Planned& changed) {
      const trace::Kernel kernel = changed.annotated();
      for (const trace::WarpColumns& columns : warps)
        if (!Warp(kernel).replay(columns).empty()) return true;
      return false;
    };
    // Those that a warp comes by.
    std::vector<bool> executed(p.kernel.instructions.size(), false);
    for (const trace::WarpColumns& columns : warps)
      for (trace::WarpCursor cursor(p.kernel, columns); cursor.next();) executed[cursor.index()] = true;
    for (std::size_t n = 0; n < p.plan.changes.size(); ++n) {
      const SectionChange& c = p.plan.changes[n];
      if (c.after >= 0 || !executed[c.before]) continue;
      Planned changed = p;
      changed.plan.changes.erase(changed.plan.changes.begin() + static_cast<std::ptrdiff_t>(n));
      if (c.acquires) {
        REQUIRE(verify(changed.annotated()) != "");
        REQUIRE(found(changed));
        ++missing_acquires;
      } else {
        // A warp may end with a section, so it shows at an acquire or where paths meet, if at all.
        missing_releases += found(changed);
      }
      if (c.acquires || c.before == 0 || !p.plan.held[c.before - 1]) continue;
      changed = p;
      --changed.plan.changes[n].before;
      ++early;
      early_found += found(changed);
    }
  }
  CAPTURE(missing_acquires, missing_releases, early, early_found);
  CHECK(missing_acquires > 200);
  CHECK(missing_releases > 50);
  CHECK(early > 100);
  CHECK(early_found > early * 3 / 4);
}

TEST_CASE("no section is held at a barrier") {
  std::mt19937 random(33);
  unsigned barriers = 0, raised = 0, changes = 0;
  for (unsigned round = 0; round < 500; ++round) {
    CAPTURE(round);
    const ir::Function f = random_function(random, 0x10000, round % 2 == 0, true);
    const Planned p = plan(f, f.registers_used / 2);
    REQUIRE(verify(p.annotated()) == "");
    for (std::size_t i = 0; i < p.kernel.instructions.size(); ++i) {
      if (p.kernel.instructions[i].op_class != trace::OpClass::barrier) continue;
      ++barriers;
      REQUIRE_FALSE(p.plan.held[i]);
    }
    raised += p.plan.registers.base > p.plan.asked;
    changes += static_cast<unsigned>(p.plan.changes.size());
  }
  CHECK(barriers > 500);
  CHECK(raised > 10);
  CHECK(changes > 500);
}

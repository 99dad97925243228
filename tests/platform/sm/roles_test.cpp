// SPDX-License-Identifier: Apache-2.0
//
// CTAs whose warps do different work: the barrier of a cluster in two halves, and warps that give registers to each
// other.
#include "recorder.h"

#include <regatta/checker/value_checker.h>
#include <regatta/sm/decode.h>
#include <regatta/trace/verify.h>

#include <map>
#include <random>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// A kernel of instructions by what they do, made when they are first asked for.
class Roles {
 public:
  explicit Roles(unsigned launch_registers = 0) {
    b.kernel().launch_registers = launch_registers;
    define(0);
    define(1);
  }

  std::uint32_t define(unsigned reg) {
    return known(1000 + reg, [&] { return b.op(OpClass::int_add, {reg}, {}); });
  }
  std::uint32_t use(unsigned reg) {
    return known(2000 + reg, [&] { return b.op(OpClass::int_add, {0}, {0, reg}); });
  }
  std::uint32_t slow() {
    return known(1, [&] { return b.op(OpClass::sfu, {1}, {1}); });
  }
  std::uint32_t barrier() {
    return known(2, [&] { return b.barrier(0, 0); });
  }
  std::uint32_t arrive() { return half(trace::BarrierHalf::arrive); }
  std::uint32_t wait() { return half(trace::BarrierHalf::wait); }
  std::uint32_t budget(unsigned registers, bool raises) {
    return known(3000 + 2 * registers + (raises ? 1 : 0), [&] {
      const std::uint32_t i = b.op(OpClass::nop, {}, {});
      b.kernel().instructions[i].register_budget = static_cast<std::uint16_t>(registers);
      b.kernel().instructions[i].raises_budget = raises;
      return i;
    });
  }
  void program(const std::vector<std::vector<std::uint32_t>>& warps, std::uint64_t ctas = 1) {
    const std::uint32_t done = known(5, [&] { return b.exit(); });
    const std::uint32_t first = define(0), second = define(1);
    b.launch(ctas, static_cast<unsigned>(warps.size()) * 32);
    for (std::uint64_t c = 0; c < ctas; ++c) {
      b.begin_cta();
      for (const auto& warp : warps) {
        b.begin_warp();
        b.execute(first);
        b.execute(second);
        for (const std::uint32_t i : warp) b.execute(i);
        b.execute(done);
        b.end_warp();
      }
      b.end_cta();
    }
  }
  TraceBuilder b;

 private:
  template <class Make>
  std::uint32_t known(unsigned key, Make&& make) {
    const auto found = made_.find(key);
    return found != made_.end() ? found->second : made_.emplace(key, make()).first->second;
  }
  std::uint32_t half(trace::BarrierHalf h) {
    return known(h == trace::BarrierHalf::arrive ? 3 : 4, [&] {
      const std::uint32_t i = b.barrier(0, 0);
      b.kernel().instructions[i].barrier_half = h;
      b.kernel().instructions[i].barrier_arrives = h == trace::BarrierHalf::arrive;
      return i;
    });
  }
  std::map<unsigned, std::uint32_t> made_;
};

/// What ends a run, as a message.
std::string message_of(TraceBuilder& b, const std::string& name, const assembly::MachineConfig& m = {}) {
  const trace::Reader reader(b.write(name));
  const assembly::SchemeRegistry schemes = assembly::SchemeRegistry::with_baseline();
  assembly::Simulation simulation(m, schemes.get("baseline"), {}, reader);
  return simulation.run().message;
}

assembly::MachineConfig with_sub_cores(unsigned parts) {
  assembly::MachineConfig m;
  m.sm.sub_cores = parts;
  m.sm.registers_per_thread = 255;
  return m;
}

}  // namespace

TEST_CASE("the barrier of a cluster: a warp waits for the arrival of others, and not for their waiting") {
  Roles r;
  const std::uint32_t slow = r.slow(), arrive = r.arrive(), wait = r.wait(), after = r.use(0);
  // Warp 1 arrives late, and goes on to work long before it waits.
  std::vector<std::uint32_t> late{slow, slow, slow, arrive};
  late.insert(late.end(), 20, slow);
  late.insert(late.end(), {wait, after});
  r.program({{arrive, wait, after}, late});
  const Recording run = test::record(r.b, "cluster_halves");
  CHECK(run.of(0, after).issued > run.of(1, arrive).issued);
  CHECK(run.of(0, after).issued < run.of(1, wait).issued);
  // Its phase is complete when warp 1 waits.
  CHECK(run.of(1, after).issued - run.of(1, wait).issued <= 4);
  CHECK(trace::Reader("cluster_halves.rgt").version() == trace::roles_format_version);
}

TEST_CASE("the barrier of a cluster: phases do not mix, and warps that have exited are not waited for") {
  Roles r;
  const std::uint32_t arrive = r.arrive(), wait = r.wait(), slow = r.slow(), after = r.use(0);
  const std::vector<std::uint32_t> quick{arrive, wait, arrive, wait, after};
  r.program({quick, {slow, arrive, slow, slow, wait, slow, slow, slow, arrive, wait, after}, {arrive}, {}});
  const Recording run = test::record(r.b, "cluster_phases");
  std::vector<std::uint64_t> arrivals;
  for (const test::Passage& p : run.passages)
    if (p.warp == 1 && p.index == arrive) arrivals.push_back(p.issued);
  REQUIRE(arrivals.size() == 2);
  CHECK(run.of(0, after).issued > arrivals[1]);
}

TEST_CASE("the barrier of a cluster: a wait that never ends is reported, by the platform and by verify") {
  Roles r;
  const std::uint32_t wait = r.wait();
  r.program({{wait}, {wait}});
  const std::string message = message_of(r.b, "cluster_stuck");
  CHECK_THAT(message, Catch::Contains("the barrier of their cluster, where others have not arrived: 2 warps (0, 1)"));
  CHECK_THROWS_WITH(
      trace::verify(trace::Reader("cluster_stuck.rgt"), trace::VerifyDepth::program),
      Catch::Contains(
          "warp 0, instruction 3 (static index 2): waits at the barrier of its cluster, where it has not arrived"));
}

namespace {

void inc_waits(unsigned parts) {
  Roles r(64);
  const std::uint32_t slow = r.slow(), dec = r.budget(24, false), inc = r.budget(96, true);
  const std::uint32_t define = r.define(95), use = r.use(95);
  std::vector<std::uint32_t> producer(10, slow);
  producer.push_back(dec);
  const std::vector<std::uint32_t> consumer{inc, define, use};
  r.program({producer, producer, producer, producer, consumer, consumer, consumer, consumer});
  const Recording run = test::record(r.b, "budgets_wait", with_sub_cores(parts));
  for (unsigned w = 4; w < 8; ++w) {
    CHECK(run.of(w, inc).issued >= run.of(0, dec).issued);
    CHECK(run.of(w, use).issued > run.of(w, inc).issued);
  }
  // A sub-core's warps have the registers of their own file: that of warp 3 is warp 7's.
  if (parts == 4) CHECK(run.of(7, inc).issued >= run.of(3, dec).issued);
}

}  // namespace

TEST_CASE("register budgets: an inc waits until its CTA has the registers") { inc_waits(1); }

TEST_CASE("register budgets: an inc waits for registers of its own sub-core") { inc_waits(4); }

TEST_CASE("register budgets: a setmaxnreg waits for what is in flight") {
  Roles r(64);
  const std::uint32_t slow = r.slow(), dec = r.budget(24, false);
  r.program({{slow, dec}});
  const Recording run = test::record(r.b, "budgets_in_flight");
  CHECK(run.of(0, dec).issued >= run.of(0, slow).retired);
}

TEST_CASE("register budgets: registers that never come are reported") {
  Roles r(64);
  const std::uint32_t inc = r.budget(96, true);
  r.program({{inc}, {r.budget(48, false)}});
  CHECK_THAT(message_of(r.b, "budgets_stuck"),
             Catch::Contains("registers that other warps of their CTA have: 1 warp (0)") &&
                 Catch::Contains("waits for 32 registers more than its 64, its CTA has 16 free"));
}

TEST_CASE("register budgets: a CTA is admitted with what its warps begin with") {
  // Four warps of 64 registers fill a quarter of the file, though one of them has 208 later.
  Roles r(64);
  const std::uint32_t dec = r.budget(24, false), inc = r.budget(168, true), slow = r.slow();
  const std::vector<std::uint32_t> low{dec, slow, slow, slow, slow, slow, slow, slow, slow};
  r.program({low, low, low, {inc, slow, slow, slow}}, 8);
  assembly::MachineConfig m = with_sub_cores(1);
  m.register_file.registers = 1024;
  const Recording run = test::record(r.b, "budgets_admission", m);
  unsigned most = 0;
  for (const test::Passage& p : run.passages) most = std::max(most, p.warp + 1);
  CHECK(most == 16);
}

namespace {

/// Phases in which warps first give registers away, and then take no more than their sub-core has.
std::vector<std::vector<std::uint32_t>> give_and_take(std::mt19937& random, Roles& r, unsigned warps, unsigned parts) {
  const unsigned launch = r.b.kernel().launch_registers;
  std::vector<std::vector<std::uint32_t>> programs(warps);
  std::vector<unsigned> has(warps, launch);
  for (unsigned phase = 0; phase < 4; ++phase) {
    std::vector<unsigned> free(parts, 0);
    for (unsigned w = 0; w < warps; ++w) {
      const unsigned next = 24 + 8 * (random() % 6);
      if (next < has[w] && random() % 2 == 0) {
        programs[w].push_back(r.budget(next, false));
        has[w] = next;
      }
      free[w % parts] += launch;
      programs[w].push_back(r.barrier());
    }
    for (unsigned w = 0; w < warps; ++w) free[w % parts] -= has[w];
    for (unsigned w = 0; w < warps; ++w) {
      const unsigned more = std::min(free[w % parts], 8 * static_cast<unsigned>(random() % 20));
      if (more != 0 && has[w] + more <= 248) {
        free[w % parts] -= more;
        has[w] += more;
        programs[w].push_back(r.budget(has[w], true));
      }
      // The highest registers, and any other, are written before they are read.
      for (unsigned n = 0; n < 6; ++n) {
        const unsigned reg = 2 + random() % (has[w] - 2);
        for (const std::uint32_t i : {r.define(reg), r.define(has[w] - 1), r.use(reg), r.use(has[w] - 1)})
          programs[w].push_back(i);
      }
      programs[w].push_back(r.barrier());
    }
  }
  return programs;
}

void random_budgets(unsigned parts) {
  std::mt19937 random(5 + parts);
  Roles r(64);
  std::vector<std::vector<std::vector<std::uint32_t>>> rounds;
  for (unsigned round = 0; round < 16; ++round) rounds.push_back(give_and_take(random, r, 4 + 4 * (round % 3), parts));
  for (const auto& programs : rounds) r.program(programs, 3);
  const Recording run = test::record(r.b, "budgets_random", with_sub_cores(parts));
  CHECK(run.result.operands_checked > 10000);
}

}  // namespace

TEST_CASE("register budgets: random give and take, every value in its place") { random_budgets(1); }

TEST_CASE("register budgets: random give and take within sub-cores") { random_budgets(4); }

TEST_CASE("register budgets: a register above the budget has no row, and verify finds it") {
  // Planted: the warp reads R50 behind a dec to 24.
  Roles r(64);
  const std::uint32_t define = r.define(50), dec = r.budget(24, false), use = r.use(50);
  r.program({{define, dec, use}});
  CHECK_THROWS_WITH(message_of(r.b, "budgets_planted"), Catch::Contains("warp 0 register R50 has no row"));
  CHECK_THROWS_WITH(trace::verify(trace::Reader("budgets_planted.rgt"), trace::VerifyDepth::program),
                    Catch::Contains("names R50 where a thread has 24 registers"));
}

TEST_CASE("register budgets: a register above the budget has no value for the checker") {
  Roles r(64);
  const std::uint32_t define = r.define(50), dec = r.budget(24, false), use = r.use(50);
  r.program({{define, dec, use}});
  const trace::Reader reader(r.b.write("budgets_checked"));
  const trace::Kernel& kernel = reader.kernels()[0];
  const std::vector<protocol::InstructionTraits> traits = sm::make_traits(kernel, assembly::MachineConfig{}.sm);
  protocol::KernelContext context;
  context.kernel = &kernel;
  std::vector<std::string> found;
  checker::ValueChecker checker([&](const checker::Mismatch& m) { found.push_back(m.message()); });
  checker.kernel_started(protocol::Cycle(0), context);
  protocol::WarpInfo warp;
  checker.warp_started(protocol::Cycle(0), warp);
  protocol::DynamicInstruction d;
  d.active = 0xff;
  std::uint64_t cycle = 0;
  for (const std::uint32_t i : {define, use, dec, use}) {
    CHECK(found.empty());
    d.traits = &traits[i];
    d.info = &kernel.instructions[i];
    checker.issued(protocol::Cycle(++cycle), d);
  }
  REQUIRE(found.size() == 1);
  CHECK(found[0] ==
        "value mismatch: kernel hand_made launch 0 CTA 0 warp 0 (slot 0) PC 0x20 int_add (PTX line 5) register R50 "
        "lanes 0xff: "
        "its threads have 24 registers since their last setmaxnreg, or their start, at cycle 4");
  CHECK(checker.mismatches() == 1);
}

TEST_CASE("register budgets: a part that cannot follow refuses the kernel") {
  class Stubborn : public protocol::LifecycleListener, public sc_core::sc_module {
   public:
    explicit Stubborn(const sc_core::sc_module_name& name) : sc_module(name) {}
    std::string budget_obstacle() const override { return "counts on 64 registers"; }
  };
  Roles r(64);
  r.program({{r.budget(24, false)}});
  CHECK_THROWS_WITH(
      test::record(r.b, "budgets_refused", {},
                   [](assembly::SmParts& parts) {
                     auto part = std::make_unique<Stubborn>("stubborn");
                     parts.listeners.push_back(part.get());
                     parts.modules.push_back(std::move(part));
                   }),
      "kernel hand_made changes the registers of its warps (setmaxnreg), and sm0.stubborn counts on 64 registers");
}

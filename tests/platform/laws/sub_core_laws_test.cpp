// SPDX-License-Identifier: Apache-2.0
//
// What the presets with sub-cores promise: latencies and throughputs of Huerta et al. (MICRO 2025, section 5, Tables 1
// and 2), from issue to a dependent issue. The figures are the paper's, and not taken from the rows of the presets.
#include "laws.h"

#include <algorithm>

using namespace regatta;
using assembly::MachineConfig;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

/// The two machines, whose figures differ in these.
struct Gpu {
  const char* name;
  unsigned ffma_cycles;   ///< of a sub-core, for an FFMA
  unsigned queued;        ///< memory instructions that a sub-core issues back to back
  unsigned first_leaves;  ///< cycles after its issue
  unsigned l1, shared, l2, dram;
};
constexpr Gpu gpus[] = {{"rtx_a6000", 1, 5, 11, 32, 24, 243, 486}, {"rtx_2080ti", 2, 4, 10, 31, 23, 213, 388}};

constexpr std::uint64_t heap = std::uint64_t{1} << 30;

/// The preset, with a front end that never keeps one warp waiting.
MachineConfig preset(const Gpu& gpu) {
  MachineConfig m = test::machine(gpu.name);
  m.sm.fetch_width = 8;
  m.sm.buffer_entries = 32;
  return m;
}

std::string named(const std::string& law, const Gpu& gpu) { return "sub_core_law_" + law + "_" + gpu.name; }

/// The stream's beginning and end are not quite over in the middle half of it.
Approx about(double cycles) { return Approx(cycles).epsilon(0.01); }

/// Cycles that one sub-core takes for each of these instructions, in turn and independent, from many warps.
double cycles_each(const std::string& law, const Gpu& gpu, const std::vector<OpClass>& classes) {
  constexpr unsigned count = 96, warps_per_scheduler = 8;
  MachineConfig m = test::machine(gpu.name);
  m.sm.scheduler = "lrr";
  TraceBuilder b;
  for (unsigned i = 0; i < count; ++i) b.op(classes[i % classes.size()], {1 + i % 8}, {});
  b.exit();
  b.launch(1, warps_per_scheduler * m.sm.schedulers * 32);
  b.run_all();
  const Recording r = test::record(b, named(law, gpu), m);
  std::vector<std::uint64_t> dispatched;
  for (const test::Passage& p : r.passages) {
    if (p.scheduler == 0 && p.index < count) dispatched.push_back(p.dispatched);
  }
  std::sort(dispatched.begin(), dispatched.end());
  const std::size_t quarter = dispatched.size() / 4;
  return static_cast<double>(dispatched[3 * quarter] - dispatched[quarter]) / (2.0 * static_cast<double>(quarter));
}

/// A load's place in a chain of loads: `from` issues, `to` needs it.
struct Loads {
  TraceBuilder b;
  std::vector<std::vector<std::uint64_t>> addresses;
  std::uint32_t add(MemorySpace space, const std::vector<std::uint64_t>& of) {
    addresses.push_back(of);
    return b.load(space, 1, 1);
  }
  /// Each load, and then an addition that needs the last.
  Recording run(const std::string& name, const MachineConfig& m) {
    const std::uint32_t last = b.op(OpClass::int_add, {2}, {1});
    b.exit();
    b.launch(1, 32, 4096);
    b.begin_cta();
    b.begin_warp();
    for (std::uint32_t i = 0; i < last; ++i) b.execute(i, 0, addresses[i]);
    b.execute(last);
    b.execute(last + 1);
    b.end_warp();
    b.end_cta();
    return test::record(b, name, m);
  }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("sub-core law: dependent chains", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  TraceBuilder b;
  struct Chain {
    OpClass op_class;
    std::uint64_t cycles;
    std::uint32_t first;
  };
  // Variable latency: 16 and 46 cycles in the unit, 7 on the way there and back.
  std::vector<Chain> chains{{OpClass::fp32_add, 4, 0}, {OpClass::fp32_mad, 4, 0}, {OpClass::int_add, 4, 0},
                            {OpClass::int_mad, 4, 0},  {OpClass::sfu, 23, 0},     {OpClass::fp64_mad, 53, 0}};
  constexpr unsigned length = 6;
  for (Chain& c : chains) {
    c.first = b.op(c.op_class, {1}, {1});
    for (unsigned i = 1; i < length; ++i) b.op(c.op_class, {1}, {1});
    b.op(OpClass::int_add, {1}, {1});
  }
  const auto compare = b.set_predicate(0, {1});
  const auto guarded = b.guarded_op(OpClass::int_add, 0, {3}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, named("chains", gpu), preset(gpu));
  for (const Chain& c : chains) {
    CAPTURE(trace::to_string(c.op_class));
    for (unsigned i = 0; i < length; ++i) CHECK(r.gap(c.first + i, c.first + i + 1) == c.cycles);
  }
  CHECK(r.gap(compare, guarded) == 13);
}

TEMPLATE_TEST_CASE_SIG("sub-core law: throughput of FFMA", "", ((unsigned N), N), 0, 1) {
  CHECK(cycles_each("ffma", gpus[N], {OpClass::fp32_mad}) == about(gpus[N].ffma_cycles));
}
TEMPLATE_TEST_CASE_SIG("sub-core law: integers have one pipeline of 16 lanes", "", ((unsigned N), N), 0, 1) {
  CHECK(cycles_each("iadd", gpus[N], {OpClass::int_add}) == about(2));
}
TEMPLATE_TEST_CASE_SIG("sub-core law: IMAD goes where FFMA goes, and not to the integers", "", ((unsigned N), N), 0,
                       1) {
  CHECK(cycles_each("imad", gpus[N], {OpClass::int_mad}) == about(2));
}
TEMPLATE_TEST_CASE_SIG("sub-core law: FFMA and integers in turn issue in every cycle", "", ((unsigned N), N), 0, 1) {
  CHECK(cycles_each("ffma_iadd", gpus[N], {OpClass::fp32_mad, OpClass::int_add}) == about(1));
}
TEMPLATE_TEST_CASE_SIG("sub-core law: an SFU has four lanes", "", ((unsigned N), N), 0, 1) {
  CHECK(cycles_each("sfu", gpus[N], {OpClass::sfu}) == about(8));
}
TEMPLATE_TEST_CASE_SIG("sub-core law: the sub-cores share two lanes for FP64", "", ((unsigned N), N), 0, 1) {
  CHECK(cycles_each("fp64", gpus[N], {OpClass::fp64_add}) == about(64));
}

TEMPLATE_TEST_CASE_SIG("sub-core law: hits in the L1 and in shared memory", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  Loads loads;
  const auto words = [](std::uint64_t base) { return test::strided(base, 4); };
  loads.add(MemorySpace::global, words(heap));
  for (unsigned i = 1; i < 4; ++i) loads.add(MemorySpace::global, words(heap));
  for (unsigned i = 4; i < 8; ++i) loads.add(MemorySpace::shared, words(0));
  const Recording r = loads.run(named("hits", gpu), preset(gpu));
  for (unsigned i = 1; i < 4; ++i) CHECK(r.gap(i, i + 1) == gpu.l1);
  for (unsigned i = 4; i < 8; ++i) CHECK(r.gap(i, i + 1) == gpu.shared);
}

TEMPLATE_TEST_CASE_SIG("sub-core law: wide loads take longer", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  TraceBuilder b;
  // Four registers are written to two banks, which takes one cycle more than two. Table 2 has 2 and 6 cycles more for
  // 64 and 128 bits of global memory, and 0 and 2 for shared memory.
  struct Wide {
    MemorySpace space;
    unsigned bytes;
    std::uint64_t cycles;
    std::uint32_t load = 0, use = 0;
  };
  std::vector<Wide> loads{{MemorySpace::global, 4, gpu.l1},          {MemorySpace::global, 8, gpu.l1 + 1U},
                          {MemorySpace::global, 16, gpu.l1 + 4U},    {MemorySpace::shared, 4, gpu.shared},
                          {MemorySpace::shared, 8, gpu.shared + 1U}, {MemorySpace::shared, 16, gpu.shared + 4U}};
  const auto warm = b.load(MemorySpace::global, 10, 1, 16);
  b.op(OpClass::int_add, {2}, {10});
  for (Wide& w : loads) {
    w.load = b.load(w.space, 10, 2, w.bytes);
    w.use = b.op(OpClass::int_add, {2}, {10});
  }
  const auto end = b.exit();
  b.launch(1, 32, 4096);
  b.begin_cta();
  b.begin_warp();
  b.execute(warm, 0, test::strided(heap, 16));
  b.execute(warm + 1);
  for (const Wide& w : loads) {
    b.execute(w.load, 0, test::strided(w.space == MemorySpace::global ? heap : 0, w.bytes));
    b.execute(w.use);
  }
  b.execute(end);
  b.end_warp();
  b.end_cta();
  const Recording r = test::record(b, named("wide", gpu), preset(gpu));
  for (const Wide& w : loads) {
    CAPTURE(trace::to_string(w.space), w.bytes);
    CHECK(r.gap(w.load, w.use) == w.cycles);
  }
}

TEMPLATE_TEST_CASE_SIG("sub-core law: hits in the L2", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  Loads loads;
  for (unsigned i = 0; i < 4; ++i) {
    loads.add(MemorySpace::global, {heap});
    loads.b.kernel().instructions[i].bypasses_l1 = true;
  }
  const Recording r = loads.run(named("l2", gpu), preset(gpu));
  for (unsigned i = 1; i < 4; ++i) CHECK(r.gap(i, i + 1) == gpu.l2);
}

TEMPLATE_TEST_CASE_SIG("sub-core law: DRAM, whose row is open", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  Loads loads;
  for (unsigned i = 0; i < 4; ++i) loads.add(MemorySpace::global, {heap + 32 * i});
  const Recording r = loads.run(named("dram", gpu), preset(gpu));
  for (unsigned i = 1; i < 4; ++i) CHECK(r.gap(i, i + 1) == gpu.dram);
}

TEMPLATE_TEST_CASE_SIG("sub-core law: a load of a constant by register", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  TraceBuilder b;
  for (unsigned i = 0; i < 4; ++i) b.op(OpClass::constant_load, {1}, {1});
  b.op(OpClass::int_add, {2}, {1});
  b.exit();
  b.uniform_values = true;
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, named("constant", gpu), preset(gpu));
  for (unsigned i = 0; i < 4; ++i) CHECK(r.gap(i, i + 1) == 29);
}

TEMPLATE_TEST_CASE_SIG("sub-core law: loads of a sub-core issue as its queue has room", "", ((unsigned N), N), 0, 1) {
  const Gpu& gpu = gpus[N];
  constexpr unsigned count = 12;
  TraceBuilder b;
  for (unsigned i = 0; i < count; ++i) b.load(MemorySpace::global, 10 + i, 1);
  b.exit();
  b.launch(1, 32);
  b.run_all(test::strided(heap, 4));
  const Recording r = test::record(b, named("queue", gpu), preset(gpu));
  for (unsigned i = 0; i < count; ++i) {
    CAPTURE(i);
    // One leaves every 4 cycles; then its place is free.
    CHECK(r.gap(0, i) == (i < gpu.queued ? i : gpu.first_leaves + 4 * (i - gpu.queued)));
  }
}

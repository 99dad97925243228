// SPDX-License-Identifier: Apache-2.0
//
// The library that other emulators write traces with: what it makes is what was recorded and passes the check of a
// program, and every misuse is explained.
#include <regatta/test/catch.h>
#include <regatta/trace/trace_recorder.h>
#include <regatta/trace/verify.h>

#include <functional>
#include <random>
#include <set>

using namespace regatta::trace;

namespace {

constexpr LaneMask all = 0xffffffff;

/// The message of the RecordError that `call` ends in; "" if it returns.
std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const RecordError& e) {
    return e.what();
  }
  return "";
}

/// 0 mov R0; 1 @P0 bra 4; 2 R1 = add R0; 3 bra 5; 4 R1 = ld.shared [R0]; 5 bar.sync; 6 st.global [R0], R1; 7 exit
Kernel two_sides() {
  KernelBuilder code("sides");
  code.op("mov", OpClass::int_add).writes({0}).writes_predicates({0});
  auto split = code.branch("bra").guard(0);
  code.op("add", OpClass::int_add).writes({1}).reads({0}).immediate(3);
  auto join = code.branch("bra");
  split.target(code.next());
  code.load("ld.shared", MemorySpace::shared, 4).writes({1}).reads({0});
  join.target(code.next());
  code.barrier();
  code.store("st.global", MemorySpace::global, 4).reads({0, 1}).offset(16);
  code.exit();
  code.set_shared_bytes(128);
  return code.build();
}

void run_two_sides(WarpRecorder& warp) {
  warp.step(0);
  warp.result([](unsigned lane) { return lane; });
  warp.predicate(0xff);
  warp.step(1, all, 0xff);
  warp.step(2, all & ~LaneMask{0xff});
  warp.result([](unsigned lane) { return lane + 3; });
  warp.step(3);
  warp.step(4, 0xff);
  warp.addresses([](unsigned lane) { return 4 * lane; });
  warp.result([](unsigned lane) { return 1000 + lane; });
  warp.step(5, all);
  warp.step(6);
  warp.addresses([](unsigned lane) { return 4096 + 4 * lane; });
  warp.step(7);
}

std::vector<StackEvent> events_of(const Reader& reader) {
  const auto cta = reader.read(0);
  WarpCursor cursor(reader.kernels()[0], cta->warps[0]);
  std::vector<StackEvent> events;
  while (cursor.next()) {
  }
  cursor.stack_events(events);
  return events;
}

}  // namespace

TEST_CASE("a recorded kernel has its counts, operands and blocks") {
  const Kernel k = two_sides();
  CHECK(k.registers_per_thread == 2);
  CHECK(k.predicates == 1);
  REQUIRE(k.instructions.size() == 8);
  CHECK(k.instructions[1].branch_target == 4);
  CHECK(k.instructions[3].branch_target == 5);
  CHECK(k.instructions[1].opcode_id == k.instructions[3].opcode_id);
  CHECK(k.instructions[2].operands.size() == 3);
  CHECK(k.instructions[2].operand_destinations == 1);
  CHECK(k.instructions[6].address_offset == 16);
  REQUIRE(k.blocks.size() == 4);
  CHECK(k.blocks[0].successors == std::vector<std::uint32_t>{2, 1});
  CHECK(k.blocks[0].reconvergence == 3);
  CHECK(k.blocks[1].successors == std::vector<std::uint32_t>{3});
  CHECK(k.blocks[2].successors == std::vector<std::uint32_t>{3});
  CHECK(k.blocks[3].successors.empty());
  CHECK(k.blocks[3].reconvergence == -1);
}

TEST_CASE("a recorded divergence is two entries of the stack, and passes the check of a program") {
  TraceRecorder trace("recorded_sides.rgt", "a test");
  const std::uint32_t kernel = trace.add(two_sides());
  trace.launch(kernel, {2, 1, 1}, {64, 1, 1});
  for (unsigned c = 0; c < 2; ++c) {
    CHECK(trace.begin_cta() == c);
    REQUIRE(trace.warps() == 2);
    run_two_sides(trace.warp(1));
    run_two_sides(trace.warp(0));
    trace.end_cta();
  }
  trace.finish();

  const Reader reader("recorded_sides.rgt");
  CHECK(reader.producer() == "a test");
  CHECK(reader.version() == plain_format_version);
  const Verified v = verify(reader, VerifyDepth::program);
  CHECK(v.warps == 4);
  CHECK(v.warp_instructions == 32);
  const std::vector<StackEvent> events = events_of(reader);
  // The lanes that branch wait; then the others wait at the barrier, and go on with them.
  const std::vector<StackEvent> expected = {
      {true, 4, 0xff}, {}, {true, 5, all & ~LaneMask{0xff}}, {true, 4, 0xff}, {}, {}, {true, 5, all}, {}};
  REQUIRE(events.size() == expected.size());
  for (std::size_t n = 0; n < events.size(); ++n) {
    INFO(n);
    CHECK(events[n].push == expected[n].push);
    CHECK(events[n].resume_index == expected[n].resume_index);
    CHECK(events[n].mask == expected[n].mask);
  }
}

TEST_CASE("what cannot be in a trace is refused where it is recorded") {
  const auto record = [](const std::function<void(WarpRecorder&)>& warp) {
    return refusal_of([&] {
      TraceRecorder trace("refused.rgt", "a test");
      trace.launch(trace.add(two_sides()), {1, 1, 1}, {40, 1, 1});
      trace.begin_cta();
      warp(trace.warp(0));
      warp(trace.warp(1));
      trace.end_cta();
    });
  };
  const std::string place = "kernel sides, CTA 0, warp 0";
  CHECK(record([](WarpRecorder& w) { w.step(3, all); }) ==
        place +
            ": the warp begins at static index 3 with lanes 0xffffffff, expected static index 0 with lanes 0xffffffff");
  CHECK(record([](WarpRecorder& w) { w.step(0, 0xff); }) ==
        place + ": the warp begins at static index 0 with lanes 0xff, expected static index 0 with lanes 0xffffffff");
  CHECK(record([](WarpRecorder& w) {
          w.step(0);
          w.step(1);
        }) == place + ", instruction 1 (static index 0, mov): 1 of its results were not given");
  const auto begun = [](WarpRecorder& w) {
    w.step(0);
    w.result([](unsigned) { return 1u; });
    w.predicate(0);
  };
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.result([](unsigned) { return 1u; });
        }) == place + ", instruction 1 (static index 0, mov): a result too many: it writes 1 registers");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.predicate(0);
        }) == place + ", instruction 1 (static index 0, mov): a predicate too many: it writes 1");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.addresses([](unsigned) { return 0u; });
        }) ==
        place + ", instruction 1 (static index 0, mov): addresses given twice, or for an instruction that has none");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.step(8, all);
        }) ==
        place + ", instruction 1 (static index 0, mov): followed by static index 8, and the kernel has 8 instructions");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.step(5, all);
        }) ==
        place +
            ", instruction 1 (static index 0, mov): lane 0 is on the path to static index 5, and it goes on at static "
            "index 1");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.step(5);
        }) ==
        place + ", instruction 1 (static index 0, mov): no lane goes on to static index 5 from there: expected a path");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.step(1, all | LaneMask{1} << 40);
        }) ==
        place +
            ", instruction 1 (static index 0, mov): lane 40 is on the path to static index 1, and it does not exist");
  CHECK(
      record([&](WarpRecorder& w) {
        begun(w);
        w.step(1, all, 0);
        w.step(2, all, 1);
      }) ==
      place +
          ", instruction 3 (static index 2, add): lanes 0xfffffffe of the path do not execute it, and it has no guard");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.step(1, 0xff, all);
        }) == place + ", instruction 2 (static index 1, bra): lanes 0xffffff00 execute it and are not on the path");
  const auto loads = [&](std::uint64_t address) {
    return record([&](WarpRecorder& w) {
      begun(w);
      w.step(1, all, all);
      w.step(4, all);
      w.addresses([&](unsigned) { return address; });
    });
  };
  const std::string load =
      place + ", instruction 3 (static index 4, ld.shared): lane 0 accesses 4 bytes of shared memory at ";
  CHECK(loads(126) == load + "0x7e, expected an offset in the 128 bytes of the CTA");
  CHECK(loads(std::uint64_t{5} << 48) == load + "0x5000000000000, expected an offset in the 128 bytes of the CTA");
  CHECK(
      record([&](WarpRecorder& w) {
        begun(w);
        w.goes_to(1, 3);
      }) ==
      place +
          ", instruction 1 (static index 0, mov): lanes 0x1 are sent to static index 3, expected lanes that execute a "
          "branch: 0x0");
  CHECK(record([&](WarpRecorder& w) {
          begun(w);
          w.step(1, all, all);
          w.step(4);
          w.result([](unsigned) { return 1u; });
          w.step(5);
        }) == place + ", instruction 3 (static index 4, ld.shared): its addresses were not given");
  CHECK(record([](WarpRecorder&) {}) == place + ": executes nothing, expected an exit of its lanes");
  CHECK(
      record([&](WarpRecorder& w) {
        if (w.threads() == all) return run_two_sides(w);
        w.step(0);
        w.result([](unsigned) { return 1u; });
        w.predicate(0);
      }) ==
      "kernel sides, CTA 0, warp 1, instruction 1 (static index 0, mov): the CTA ends, and lanes 0xff have not exited");
}

TEST_CASE("kernels and launches that cannot be are refused with their place") {
  KernelBuilder code("k");
  code.op("add", OpClass::int_add);
  const std::string at = "kernel k, static index 0 (add): ";
  CHECK(refusal_of([&] { code.op("", OpClass::int_add); }) == "kernel k, static index 1: an empty opcode");
  CHECK(refusal_of([] { KernelBuilder("k", 16); }) == "kernel k: warp size 16, expected 32 or 64");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).writes({255});
        }) == at + "writes register 255, expected 0 to 254");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).reads({255});
        }) == at + "reads register 255, expected 0 to 254");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).writes({1, 2, 3, 4, 5});
        }) == at + "writes more than 4 registers");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).reads({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
        }) == at + "reads more than 10 registers");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).writes_predicates({7});
        }) == at + "writes predicate 7, expected 0 to 6");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).writes_predicates({1, 2, 3});
        }) == at + "writes more than 2 predicates");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).reads_predicates({7});
        }) == at + "reads predicate 7, expected 0 to 6");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).reads_predicates({0, 1, 2, 3, 4});
        }) == at + "reads more than 4 predicates");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).guard(7);
        }) == at + "guarded by predicate 7, expected 0 to 6");
  CHECK(refusal_of([&] {
          KernelBuilder c("k");
          c.op("add", OpClass::int_add).target(0);
        }) == at + "has a target and is no branch");
  CHECK(refusal_of([] { KernelBuilder("k").load("ld", MemorySpace::global, 33); }) ==
        "kernel k, static index 0 (ld): accesses 33 bytes per lane, expected 1 to 32");
  CHECK(refusal_of([] { KernelBuilder("k").store("st", MemorySpace::none, 4); }) ==
        "kernel k, static index 0 (st): a memory access without a space");
  CHECK(refusal_of([] { KernelBuilder("k").barrier("bar", 16); }) ==
        "kernel k, static index 0 (bar): barrier 16, expected 0 to 15");
  CHECK(refusal_of([] { KernelBuilder("k").set_registers(256); }) ==
        "kernel k: 256 registers per thread, expected at most 255");
  CHECK(refusal_of([] { KernelBuilder("k").build(); }) == "kernel k: no instruction");
  CHECK(refusal_of([] {
          KernelBuilder c("k");
          c.branch("bra");
          c.build();
        }) == "kernel k, static index 0 (bra): a branch without a target");
  CHECK(refusal_of([] {
          KernelBuilder c("k");
          c.branch("bra", 1);
          c.build();
        }) == "kernel k, static index 0 (bra): the target 1, and the kernel has instructions 0 to 0");

  TraceRecorder trace("refused.rgt", "a test");
  CHECK(refusal_of([&] { trace.begin_cta(); }) == "a CTA without a launch");
  CHECK(refusal_of([&] { trace.launch(0, {1, 1, 1}, {32, 1, 1}); }) == "kernel 0, and the trace has 0");
  trace.add(two_sides());
  CHECK(refusal_of([&] {
          trace.launch(0, {1, 1, 1}, {2048, 1, 1});
        }) ==
        "launch 0 of grid (1, 1, 1) and block (2048, 1, 1): trace::Writer: refused.rgt: launch 0: threads per CTA is "
        "2048, "
        "expected at most 1024");
  trace.launch(0, {2, 1, 1}, {32, 1, 1});
  CHECK(refusal_of([&] { trace.warp(0); }) == "warp 0, expected one of a CTA that has begun");
  CHECK(refusal_of([&] { trace.end_cta(); }) == "no CTA has begun that could end");
  CHECK(refusal_of([&] { trace.finish(); }) == "launch 0: 0 CTAs were recorded, expected 2");
  trace.begin_cta();
  CHECK(refusal_of([&] { trace.warp(1); }) == "warp 1, expected one of the 1 of the CTA");
  CHECK(refusal_of([&] { trace.begin_cta(); }) == "CTA 0 has not ended");
  CHECK(refusal_of([&] { trace.finish(); }) == "CTA 0 has not ended");
  run_two_sides(trace.warp(0));
  trace.end_cta();
  trace.begin_cta();
  run_two_sides(trace.warp(0));
  trace.end_cta();
  CHECK(refusal_of([&] { trace.begin_cta(); }) == "launch 0 has 2 CTAs, and one more begins");
}

namespace {

/// A random kernel: straight code, guarded branches forwards and backwards, guarded exits; the last instruction exits.
Kernel random_kernel(std::mt19937& random, ExtraEdges& extra) {
  KernelBuilder code("random");
  const std::uint32_t size = 3 + random() % 20;
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    switch (random() % 6) {
      case 0:
      case 1: {
        auto line = code.branch("bra", random() % size);
        if (random() % 4 != 0) line.guard(random() % 7);
        if (random() % 5 == 0) {
          const std::uint32_t to = random() % size;
          code.add_edge(line, to);
          extra.emplace_back(line, to);
        }
        break;
      }
      case 2:
        code.exit().guard(0);
        break;
      case 3:
        code.op("guarded", OpClass::int_add).writes({1}).guard(1);
        break;
      default:
        code.op("plain", OpClass::int_add).writes({0});
    }
  }
  code.exit();
  return code.build();
}

/// Whether all paths from `block` to the exit lead through `by`, by leaving it out.
bool passes(const std::vector<BasicBlock>& blocks, std::size_t block, std::size_t by) {
  std::set<std::size_t> seen{block};
  std::vector<std::size_t> open{block};
  while (!open.empty()) {
    const std::size_t b = open.back();
    open.pop_back();
    if (blocks[b].successors.empty()) return false;
    for (const std::size_t s : blocks[b].successors) {
      if (s != by && seen.insert(s).second) open.push_back(s);
    }
  }
  return true;
}

bool reaches_exit(const std::vector<BasicBlock>& blocks, std::size_t block) {
  return !passes(blocks, block, blocks.size());
}

}  // namespace

TEST_CASE("reconvergence is the nearest block that all paths to the exit lead through") {
  std::mt19937 random(47);
  unsigned checked = 0;
  for (unsigned round = 0; round < 600; ++round) {
    ExtraEdges extra;
    const Kernel k = random_kernel(random, extra);
    const std::size_t size = k.blocks.size();
    bool endless = false;
    for (std::size_t b = 0; b < size; ++b) endless = endless || !reaches_exit(k.blocks, b);
    if (endless) continue;
    for (std::size_t b = 0; b < size; ++b) {
      std::vector<std::size_t> after;
      for (std::size_t p = 0; p < size; ++p) {
        if (p != b && passes(k.blocks, b, p)) after.push_back(p);
      }
      const std::int32_t found = k.blocks[b].reconvergence;
      INFO("round " << round << ", block " << b);
      if (after.empty()) {
        CHECK(found == -1);
        continue;
      }
      REQUIRE(found >= 0);
      // The nearest: all others come after it.
      for (const std::size_t p : after) {
        CHECK((p == static_cast<std::size_t>(found) || passes(k.blocks, static_cast<std::size_t>(found), p)));
      }
      CHECK(std::count(after.begin(), after.end(), static_cast<std::size_t>(found)) == 1);
      ++checked;
    }
  }
  CHECK(checked > 500);
}

TEST_CASE("lanes that go in any order are recorded as they went, and pass the check of a program") {
  std::mt19937 random(8);
  for (unsigned round = 0; round < 400; ++round) {
    ExtraEdges extra;
    const Kernel k = random_kernel(random, extra);
    const unsigned threads = 1 + random() % 64;
    INFO("round " << round << ", " << threads << " threads");
    TraceRecorder trace("any_order.rgt", "a test");
    trace.launch(trace.add(k), {1, 1, 1}, {threads, 1, 1});
    trace.begin_cta();
    struct Step {
      std::uint32_t index;
      LaneMask path, active;
    };
    std::vector<std::vector<Step>> did(trace.warps());
    for (unsigned w = 0; w < trace.warps(); ++w) {
      WarpRecorder& warp = trace.warp(w);
      std::vector<std::uint32_t> at(32, 0);
      LaneMask live = warp.threads();
      bool first = true;
      while (live != 0) {
        // Those of one place, all or some of them.
        std::vector<unsigned> lanes;
        for (unsigned l = 0; l < 32; ++l) {
          if ((live >> l & 1) != 0) lanes.push_back(l);
        }
        const std::uint32_t index = at[lanes[random() % lanes.size()]];
        LaneMask path = 0;
        for (const unsigned l : lanes) path |= at[l] == index ? LaneMask{1} << l : 0;
        if (!first && random() % 4 == 0) {
          const LaneMask some = path & random();
          if (some != 0) path = some;
        }
        first = false;
        const StaticInstruction& i = k.instructions[index];
        LaneMask active = i.guard.predicate < 0 || did[w].size() > 300 ? path : path & random();
        if (i.guard.predicate >= 0 && did[w].size() > 300 && i.op_class == OpClass::branch) active = 0;
        warp.step(index, path, active);
        if (i.destination_count != 0) warp.result([&](unsigned lane) { return lane * 7 + index; });
        did[w].push_back({index, path, active});
        if (i.op_class == OpClass::exit) live &= ~active;
        for (LaneMask m = path; m != 0; m &= m - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
          const bool taken = i.op_class == OpClass::branch && (active >> lane & 1) != 0;
          at[lane] = taken ? static_cast<std::uint32_t>(i.branch_target) : index + 1;
        }
        for (const auto& [from, to] : extra) {
          const LaneMask some = from == index ? active & random() : 0;
          if (some == 0) continue;
          warp.goes_to(some, to);
          for (LaneMask m = some; m != 0; m &= m - 1) at[static_cast<unsigned>(__builtin_ctzll(m))] = to;
          break;
        }
        // A branch without a guard may go round for ever.
        if (did[w].size() > 2000) break;
      }
      if (live != 0) did[w].clear();
    }
    if (std::any_of(did.begin(), did.end(), [](const auto& d) { return d.empty(); })) continue;
    trace.end_cta();
    trace.finish();
    const Reader reader("any_order.rgt");
    verify(reader, VerifyDepth::program);
    const auto cta = reader.read(0);
    for (unsigned w = 0; w < did.size(); ++w) {
      WarpCursor cursor(reader.kernels()[0], cta->warps[w]);
      for (const Step& s : did[w]) {
        REQUIRE(cursor.next());
        CHECK(cursor.index() == s.index);
        CHECK(cursor.simt_mask() == s.path);
        CHECK(cursor.active_mask() == s.active);
        if (cursor.instruction().destination_count == 0) continue;
        WarpValue value;
        cursor.result(value);
        for (LaneMask m = s.active; m != 0; m &= m - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
          REQUIRE(value.lane[lane] == lane * 7 + s.index);
        }
      }
      CHECK(!cursor.next());
    }
  }
}

TEST_CASE("a long warp is recorded in segments") {
  KernelBuilder code("long");
  code.op("add", OpClass::int_add).writes({0}).reads({0});
  code.branch("bra", 0).guard(0);
  code.exit();
  TraceRecorder trace("long.rgt", "a test");
  trace.launch(trace.add(code.build()), {1, 1, 1}, {32, 1, 1});
  trace.begin_cta();
  constexpr unsigned rounds = 20000;
  for (unsigned n = 0; n < rounds; ++n) {
    WarpRecorder& warp = trace.warp(0);
    warp.step(0);
    warp.result([&](unsigned lane) { return n * 2654435761u * (lane + 1) ^ lane << n % 13; });
    warp.step(1, all, n + 1 == rounds ? 0 : all);
  }
  trace.warp(0).step(2);
  trace.end_cta();
  trace.finish();
  const Reader reader("long.rgt");
  CHECK(reader.version() == 3);
  CHECK(verify(reader, VerifyDepth::program).warp_instructions == 2 * rounds + 1);
}

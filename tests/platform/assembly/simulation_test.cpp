// SPDX-License-Identifier: Apache-2.0
//
// Whole simulations on small hand-made traces: everything finishes, every operand is right, results repeat.
#include "harness.h"

#include <random>

using namespace regatta;
using trace::MemorySpace;
using trace::OpClass;

namespace {

void require_clean(const assembly::SimulationResult& r, std::uint64_t warp_instructions) {
  INFO(r.message);
  REQUIRE(r.ending == assembly::Ending::completed);
  REQUIRE(r.mismatches == 0);
  REQUIRE(r.warp_instructions == warp_instructions);
}

}  // namespace

TEST_CASE("a straight kernel runs to its end with every operand checked") {
  test::TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::int_add, {1}, {0});
  b.op(OpClass::fp32_mad, {2}, {0, 1, 0});
  b.load(MemorySpace::global, 3, 0);
  b.op(OpClass::fp32_mul, {4}, {3, 2});
  b.store(MemorySpace::global, 0, 4);
  b.exit();
  b.launch(10, 100);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(0x1000 + lane * 4);
  b.run_all(addresses);
  const auto r = test::simulate_baseline(b.write("straight"));
  require_clean(r, 10 * 4 * 7);
  // int_add 1, fp32_mad 2 (a duplicate is read once), load 1, fp32_mul 2, store 2
  REQUIRE(r.operands_checked == 10 * 4 * 8);
  REQUIRE(r.thread_instructions == 10 * 100 * 7);
}

TEST_CASE("barriers of partial CTAs open when every running warp has arrived") {
  test::TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.barrier();
  b.op(OpClass::int_add, {1}, {0});
  b.barrier(3);
  b.exit();
  b.launch(70, 192);
  b.run_all();
  require_clean(test::simulate_baseline(b.write("barriers")), 70 * 6 * 5);
}

TEST_CASE("two launches follow each other and their cycles add up") {
  test::TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::sfu, {1}, {0});
  b.exit();
  b.launch(3, 64);
  b.run_all();
  b.launch(5, 32);
  b.run_all();
  const auto r = test::simulate_baseline(b.write("launches"));
  require_clean(r, (3 * 2 + 5) * 3);
  REQUIRE(r.launches.size() == 2);
  REQUIRE(r.launches[0].cycles + r.launches[1].cycles == r.cycles);
  REQUIRE(r.launches[0].ctas == 3);
}

namespace {

void run_random(unsigned seed, unsigned sms) {
  std::mt19937 random(seed);
  test::TraceBuilder b(seed % 2 == 0 ? 32 : 64);
  auto reg = [&] { return static_cast<unsigned>(random() % 20); };
  const OpClass classes[] = {OpClass::int_add, OpClass::fp32_mad, OpClass::sfu,
                             OpClass::int64,   OpClass::fp64_add, OpClass::int_div};
  for (unsigned r = 0; r < 22; ++r) b.op(OpClass::constant_load, {r}, {});
  b.set_predicate(0, {1});
  for (unsigned i = 0; i < 120; ++i) {
    switch (random() % 8) {
      case 0:
        b.load(MemorySpace::global, reg(), reg(), random() % 2 ? 4 : 8);
        break;
      case 1:
        b.store(MemorySpace::global, reg(), reg());
        break;
      case 2:
        b.load(MemorySpace::shared, reg(), reg());
        break;
      case 3:
        b.store(MemorySpace::shared, reg(), reg());
        break;
      case 4:
        b.barrier(random() % 4);
        break;
      case 5:
        b.fence();
        break;
      default:
        b.op(classes[random() % 6], {reg()}, {reg(), reg(), reg()});
    }
  }
  b.exit();
  b.launch(9, 160, 1024);
  for (unsigned cta = 0; cta < 9; ++cta) {
    b.begin_cta();
    for (unsigned w = 0; w < b.kernel().warp_size && w < (160 + b.kernel().warp_size - 1) / b.kernel().warp_size; ++w) {
      b.begin_warp();
      for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
        std::vector<std::uint64_t> addresses;
        for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(4 * (random() % 200));
        const bool all = i < 23 || i + 1 == b.kernel().instructions.size() || random() % 3 != 0;
        b.execute(i, all ? 0 : (std::uint64_t{random()} << 32 | random()) | 1, addresses);
      }
      b.end_warp();
    }
    b.end_cta();
  }
  CAPTURE(seed, sms);
  const std::uint64_t warps = 9 * ((160 + b.kernel().warp_size - 1) / b.kernel().warp_size);
  assembly::MachineConfig machine;
  machine.sm.lanes = b.kernel().warp_size;
  require_clean(test::simulate_baseline(b.write("random" + std::to_string(seed)), machine, sms),
                warps * b.kernel().instructions.size());
}

}  // namespace

TEST_CASE("a random kernel runs clean: seed 1 on 1 SM") { run_random(1, 1); }
TEST_CASE("a random kernel runs clean: seed 2 on 1 SM") { run_random(2, 1); }
TEST_CASE("a random kernel runs clean: seed 3 on 3 SMs") { run_random(3, 3); }
TEST_CASE("a random kernel runs clean: seed 4 on 2 SMs") { run_random(4, 2); }
TEST_CASE("a random kernel runs clean: seed 5 on 1 SM") { run_random(5, 1); }
TEST_CASE("a random kernel runs clean: seed 6 on 4 SMs") { run_random(6, 4); }

// Back-pressure everywhere at once: whatever is refused has to be taken up again.
TEST_CASE("a machine whose queues and banks are all as small as can be finishes") {
  assembly::MachineConfig machine;
  machine.register_file.banks = 1;
  machine.register_file.write_queue = 1;
  machine.register_file.latency = 3;
  machine.sm.collectors = 1;
  machine.sm.writeback_width = 1;
  machine.sm.writeback_queue = 1;
  machine.sm.lsu_queue = 1;
  machine.sm.buffer_entries = 1;
  machine.sm.fetch_width = 1;
  machine.l1.miss_queue = 1;
  machine.l1.fill_queue = 1;
  machine.l1.response_queue = 1;
  machine.l1.mshrs = 1;
  machine.memory.interconnect.queue = 1;
  machine.memory.l2.queue = 1;
  machine.memory.l2.response_queue = 1;
  machine.memory.l2.mshrs = 1;
  machine.memory.dram.queue = 1;
  test::require_clean(test::simulate_baseline(test::mixed_trace("small_machine", 40), machine));
}

TEST_CASE("writes that the register file holds back are taken up again while the SM is busy with others") {
  assembly::MachineConfig machine;
  machine.register_file.banks = 2;
  machine.sm.issue_width = 2;
  test::require_clean(test::simulate_baseline(test::mixed_trace("held_writes", 40), machine));
}

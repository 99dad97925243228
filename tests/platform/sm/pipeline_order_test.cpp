// SPDX-License-Identifier: Apache-2.0
//
// What holds of every run: order, widths, and that every scheduler cycle is accounted for.
#include <map>
#include <random>
#include <set>

#include "recorder.h"

using namespace regatta;
using test::Passage;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

TraceBuilder random_kernel(unsigned seed) {
  std::mt19937 random(seed);
  TraceBuilder b;
  auto reg = [&] { return static_cast<unsigned>(random() % 24); };
  const OpClass classes[] = {OpClass::int_add, OpClass::int_max, OpClass::fp32_mad, OpClass::sfu, OpClass::fp64_add};
  for (unsigned i = 0; i < 150; ++i) {
    switch (random() % 10) {
      case 0:
        b.load(MemorySpace::global, reg(), reg());
        break;
      case 1:
        b.store(MemorySpace::global, reg(), reg());
        break;
      case 2:
        b.load(MemorySpace::shared, reg(), reg());
        break;
      case 3:
        b.barrier();
        break;
      case 4:
        b.branch(static_cast<std::uint32_t>(b.kernel().instructions.size() + 1));
        break;
      case 5:
        b.fence();
        break;
      default:
        b.op(classes[random() % 5], {reg()}, {reg(), reg(), reg()});
    }
  }
  b.exit();
  b.launch(6, 160, 2048);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(4 * (random() % 400));
  b.run_all(addresses);
  return b;
}

void check_order(const std::string& name, unsigned seed, const std::string& scheduler, unsigned issue_width,
                 unsigned schedulers) {
  assembly::MachineConfig m;
  m.sm.scheduler = scheduler;
  m.sm.issue_width = issue_width;
  m.sm.schedulers = schedulers;
  TraceBuilder b = random_kernel(seed);
  const Recording r = test::record(b, name, m);
  REQUIRE(r.passages.size() == 6 * 5 * 151);

  std::map<unsigned, Passage> last;  // by warp slot
  std::map<std::pair<std::uint64_t, unsigned>, std::set<unsigned>> warps_at;
  std::map<std::pair<std::uint64_t, unsigned>, unsigned> issues_at;
  for (const Passage& p : r.passages) {
    CAPTURE(p.warp, p.sequence, p.index, p.issued);
    // In program order, and at most as many a cycle as the scheduler issues.
    const auto before = last.find(p.warp);
    if (p.sequence == 1) {
      if (before != last.end()) REQUIRE(before->second.index == 150);
    } else {
      REQUIRE(before != last.end());
      REQUIRE(p.sequence == before->second.sequence + 1);
      REQUIRE(p.index == before->second.index + 1);
      REQUIRE(p.issued >= before->second.issued + (issue_width == 1 ? 1 : 0));
    }
    last[p.warp] = p;
    warps_at[{p.issued, p.scheduler}].insert(p.warp);
    REQUIRE(++issues_at[{p.issued, p.scheduler}] <= issue_width);
    // Through the stages, never two in one cycle.
    if (p.dispatched != 0) REQUIRE(p.dispatched > p.issued);
    REQUIRE(p.retired > std::max(p.issued, p.dispatched));
  }
  for (const auto& [when, warps] : warps_at) REQUIRE(warps.size() == 1);

  // Every scheduler and cycle is an issue or has one reason why not.
  std::uint64_t slots = 0;
  for (const std::uint64_t s : r.result.stall_cycles) slots += s;
  REQUIRE(slots == r.result.cycles * schedulers);
  REQUIRE(slots >= r.slots);  // what comes after the SM's last activity is counted and told to nobody
  REQUIRE(r.result.stall_cycles[0] == issues_at.size());
  const auto& pipeline = r.result.stats.at("sm0.pipeline");
  const std::uint64_t idle = r.result.stall_cycles[static_cast<unsigned>(protocol::Stall::idle)];
  const std::uint64_t active = pipeline.at("active_cycles").get<std::uint64_t>() * schedulers;
  REQUIRE(slots >= active);
  REQUIRE(idle >= slots - active);  // without a CTA an SM is idle
}

}  // namespace

TEST_CASE("order: gto") { check_order("order_gto", 1, "gto", 1, 4); }
TEST_CASE("order: lrr") { check_order("order_lrr", 2, "lrr", 1, 4); }
TEST_CASE("order: two instructions of a warp a cycle") { check_order("order_dual", 3, "gto", 2, 4); }
TEST_CASE("order: one scheduler") { check_order("order_one", 4, "lrr", 1, 1); }
TEST_CASE("order: an odd number of schedulers") { check_order("order_three", 5, "gto", 1, 3); }

TEST_CASE("dual issue: two independent instructions in a cycle, two dependent ones in turn") {
  assembly::MachineConfig m;
  m.sm.issue_width = 2;
  m.sm.fetch_width = 4;
  m.sm.buffer_entries = 8;
  TraceBuilder b;
  b.op(OpClass::sfu, {1}, {1});      // 0
  b.op(OpClass::int_add, {2}, {1});  // 1: waits, so that what follows is there
  b.op(OpClass::int_add, {3}, {4});  // 2
  b.op(OpClass::int_add, {5}, {6});  // 3
  b.op(OpClass::int_add, {7}, {5});  // 4
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "dual", m);
  CHECK(r.gap(1, 2) == 0);
  CHECK(r.gap(2, 3) == 1);
  CHECK(r.gap(3, 4) > 1);
}

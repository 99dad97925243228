// SPDX-License-Identifier: Apache-2.0
//
// The register file of RFH behind its sockets: which level an operand goes to, and when it is done.
#include <regatta/test/clock.h>
#include <algorithm>

#include "../../../platform/baseline/register_file/driver.h"
#include "hierarchy_bench.h"

using namespace regatta;
using namespace regatta::test::hierarchy;

namespace {

/// Eight warps of eight registers in four banks; four slots.
struct FileBench {
  explicit FileBench(HierarchyKernel& kernel, unsigned orf_cycles = 1)
      : k(kernel),
        entries(k, 8, true, orf_cycles),
        file("file", config(), test::clock(period)),
        driver("driver", test::clock(period)) {
    file.slots.bind(entries.active.slots);
    file.orf.bind(entries.orf.entries);
    file.lrf.bind(entries.lrf.entries);
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    run_to(1);
    file.kernel_started(k.context);
    entries.start();
    for (unsigned w = 0; w < 8; ++w) {
      file.warp_started(k.warp(w));
      if (w < 4) entries.enter(w);
    }
  }
  static models::RegisterFileConfig config() {
    models::RegisterFileConfig c;
    c.registers = 64;
    c.banks = 4;
    return c;
  }
  /// The instruction's operands, in order; cycles until each is there.
  std::vector<std::uint64_t> read(unsigned warp, std::uint32_t index, LaneMask active = 0xffffffff) {
    d = k.made(warp, index, active);
    std::vector<std::uint64_t> delays;
    for (unsigned i = 0; i < d.traits->read_count; ++i) {
      delays.push_back(transfer(driver.reads, tlm::TLM_READ_COMMAND, d.traits->reads[i], 0xffffffff, i, d.operands[i]));
    }
    run_for(20);
    return delays;
  }
  std::uint64_t write(unsigned warp, std::uint32_t index, std::uint32_t seed, LaneMask active = 0xffffffff,
                      unsigned destination = 0) {
    d = k.made(warp, index, active);
    d.results[destination] = pattern(seed);
    const std::uint64_t delay = transfer(driver.writes, tlm::TLM_WRITE_COMMAND, d.traits->writes[destination], active,
                                         destination, d.results[destination]);
    run_for(20);
    return delay;
  }
  bool got(unsigned operand, std::uint32_t seed) const {
    const WarpValue expected = pattern(seed);
    return std::equal(expected.lane.begin(), expected.lane.begin() + 32, d.operands[operand].lane.begin());
  }
  double stat(const std::string& name) { return stat_of(file, name); }

  HierarchyKernel& k;
  EntriesBench entries;
  models::HierarchicalRegisterFile file;
  test::Driver driver;
  protocol::DynamicInstruction d;

 private:
  std::uint64_t transfer(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, protocol::RegisterId reg,
                         LaneMask lanes, unsigned operand, WarpValue& value) {
    protocol::OperandPayload payload;
    payload.prepare(command, d.warp, reg, lanes, 32, value);
    payload.access().instruction = &d;
    payload.access().operand = static_cast<std::uint8_t>(operand);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    REQUIRE(socket->nb_transport_fw(payload.payload(), phase, delay) == tlm::TLM_COMPLETED);
    if (payload.payload().is_read()) CHECK(std::string(payload.access().origin.place) != "nowhere");
    return delay.value() / period.value();
  }
};

}  // namespace

TEST_CASE("hierarchical file: a result is where its levels say, and nowhere else") {
  HierarchyKernel k;
  const auto to_main = k.op({{1, in_main}}, {}, true), to_orf = k.op({{1, in_orf(1)}}, {}),
             to_last = k.op({{1, in_last}}, {}), to_all = k.op({{1, {true, true, 2}}}, {}),
             from_main = k.op({}, {{1, in_main}}), from_orf = k.op({}, {{1, in_orf(1)}}),
             from_last = k.op({}, {{1, in_last}}), from_two = k.op({}, {{1, in_orf(2)}});
  k.done();
  FileBench b(k);
  b.write(2, to_main, 1);
  b.write(2, to_orf, 2);
  b.write(2, to_last, 3);
  const auto reads = [&](std::uint32_t from, std::uint32_t seed) {
    b.read(2, from);
    return b.got(0, seed);
  };
  CHECK(reads(from_main, 1));
  CHECK(reads(from_orf, 2));
  CHECK(reads(from_last, 3));
  b.write(2, to_all, 4);
  CHECK(reads(from_main, 4));
  CHECK(reads(from_orf, 2));
  CHECK(reads(from_last, 4));
  CHECK(reads(from_two, 4));
  CHECK(b.stat("reads") == 7);
  CHECK(b.stat("main_reads") == 2);
  CHECK(b.stat("writes") == 4);
  CHECK(b.stat("main_writes") == 2);
  CHECK(b.stat("further_writes") == 2);
  CHECK(stat_of(b.entries.orf, "reads") == 3);
  CHECK(stat_of(b.entries.lrf, "reads") == 2);
}

TEST_CASE("hierarchical file: a split last-result file has an entry for each operand slot") {
  HierarchyKernel k;
  k.plan.split = true;
  const auto to_a = k.op({{1, in_bank(1)}}, {}, true), to_c = k.op({{1, in_bank(3)}}, {}),
             copy = k.op({}, {{1, {true, true, -1, 2}}}), to_main = k.op({{1, in_main}}, {}),
             all = k.op({}, {{1, in_bank(1)}, {2, in_bank(2)}, {3, in_bank(3)}});
  k.done();
  FileBench b(k);
  b.write(2, to_a, 1);
  b.write(2, to_main, 2);
  b.read(2, copy);
  b.write(2, to_c, 3);
  CHECK(b.read(2, all) == std::vector<std::uint64_t>{1, 1, 1});
  for (unsigned operand = 0; operand < 3; ++operand) CHECK(b.got(operand, operand + 1));
  CHECK(stat_of(b.entries.lrf, "reads") == 3);
  CHECK(stat_of(b.entries.lrf, "writes") == 3);
  CHECK(stat_of(b.entries.lrf, "lost_reads") == 0);
  CHECK(b.entries.lrf.bits() == 8 * 3 * 32 * 32);
  // Another strand: a bank that was not written since holds nothing.
  b.entries.active.strand_begins(warp_at(2));
  b.write(2, to_a, 4);
  b.read(2, all);
  CHECK(b.got(0, 4));
  CHECK_FALSE(b.got(2, 3));
  CHECK(stat_of(b.entries.lrf, "lost_reads") == 2);
}

TEST_CASE("hierarchical file: entries take no bank and a cycle, the main file what the conventional one takes") {
  HierarchyKernel k;
  // R1 and R5 of a warp are in one bank.
  const auto entries = k.op({}, {{1, in_orf(0)}, {5, in_orf(1)}}, true), main = k.op({}, {{1, in_main}, {5, in_main}}),
             one = k.op({{1, in_orf(0)}}, {}), both = k.op({{1, main_and_orf(0)}}, {}),
             other = k.op({{5, in_orf(1)}}, {});
  k.done();
  FileBench b(k);
  CHECK(b.write(0, one, 1) == 1);
  CHECK(b.write(0, other, 1) == 1);
  CHECK(b.write(0, both, 1) == 1);
  CHECK(b.read(0, entries) == std::vector<std::uint64_t>{1, 1});
  CHECK(b.read(0, main) == std::vector<std::uint64_t>{2, 3});
  CHECK(b.stat("read_conflicts") == 1);
}

TEST_CASE("hierarchical file: a slower operand register file delays a result that goes to both") {
  HierarchyKernel k;
  const auto both = k.op({{1, main_and_orf(0)}}, {}, true), main = k.op({{1, in_main}}, {}),
             from = k.op({}, {{1, in_orf(0)}});
  k.done();
  FileBench b(k, 4);
  CHECK(b.write(0, main, 1) == 1);
  CHECK(b.write(0, both, 1) == 4);
  CHECK(b.read(0, from) == std::vector<std::uint64_t>{4});
}

TEST_CASE("hierarchical file: reads come before the copies of their instruction") {
  HierarchyKernel k;
  const auto old = k.op({{2, in_orf(0)}}, {}, true), fresh = k.op({{1, in_main}}, {}),
             swap = k.op({}, {{1, main_and_orf(0)}, {2, in_orf(0)}}), after = k.op({}, {{1, in_orf(0)}});
  k.done();
  FileBench b(k);
  b.write(1, old, 7);
  b.write(1, fresh, 8);
  b.read(1, swap);
  CHECK(b.got(0, 8));
  CHECK(b.got(1, 7));
  b.read(1, after);
  CHECK(b.got(0, 8));
  CHECK(b.stat("copies") == 1);
}

TEST_CASE("hierarchical file: only lanes that execute are copied and written") {
  HierarchyKernel k;
  const auto main = k.op({{1, in_main}}, {}, true), entry = k.op({{1, in_orf(0)}}, {}),
             copy = k.op({}, {{1, main_and_orf(0)}}), from = k.op({}, {{1, in_orf(0)}});
  k.done();
  FileBench b(k);
  b.write(0, main, 1);
  b.write(0, entry, 2);
  b.read(0, copy, 0x0000ffff);
  b.write(0, entry, 3, 0xff000000);
  b.read(0, from);
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(b.d.operands[0].lane[lane] == pattern(lane < 16 ? 1 : lane < 24 ? 2 : 3).lane[lane]);
  }
}

TEST_CASE("hierarchical file: a warp outside of the active set has no entries") {
  HierarchyKernel k;
  const auto both = k.op({{1, main_and_orf(0)}}, {}, true), from = k.op({}, {{1, in_orf(0)}}),
             main = k.op({}, {{1, in_main}});
  k.done();
  FileBench b(k);
  b.write(6, both, 5);
  CHECK(b.stat("dropped") == 1);
  b.read(6, from);
  CHECK_FALSE(b.got(0, 5));
  CHECK(b.stat("homeless_reads") == 1);
  b.read(6, main);
  CHECK(b.got(0, 5));
  // A result that comes when its warp has left.
  b.entries.leave(2);
  b.write(2, both, 6);
  b.entries.enter(2);
  b.read(2, from);
  CHECK_FALSE(b.got(0, 6));
}

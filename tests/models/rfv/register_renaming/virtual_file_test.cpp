// SPDX-License-Identifier: Apache-2.0
//
// The virtual register file alone, behind its sockets: an access goes to the row that the table names.
#include <regatta/rfv/virtual_register_file.h>
#include <regatta/test/clock.h>

#include <algorithm>

#include "../../../platform/baseline/register_file/driver.h"
#include "renaming_bench.h"

using namespace regatta;
using namespace regatta::test::renaming;
using protocol::LaneMask;
using protocol::WarpValue;

namespace {

/// A table that the test fills, and the reads that the file reports.
class Table : public models::RowLookup, public models::ReadsServed {
 public:
  std::uint32_t row(WarpSlot warp, RegisterId reg) const override {
    const auto at = rows.find({warp.value(), reg.value()});
    return at == rows.end() ? none : at->second;
  }
  RfvRegisters direct(const trace::Kernel&) const override { return exempt; }
  double table_bytes() const override { return 64; }
  void served(WarpSlot warp, RegisterId reg) override { reads.emplace_back(warp.value(), reg.value()); }
  std::map<Rows::Key, std::uint32_t> rows;
  RfvRegisters exempt = 0;
  std::vector<Rows::Key> reads;
};

WarpValue value_of(std::uint32_t seed) {
  WarpValue value{};
  for (unsigned lane = 0; lane < 32; ++lane) value.lane[lane] = seed * 2654435761u + lane;
  return value;
}

/// 32 rows in four banks: row i of bank b is 4 i + b.
struct FileBench {
  explicit FileBench(RfvRegisters exempt = 0, unsigned rename_cycles = 1)
      : file("register_file", config(rename_cycles), test::clock(period)), driver("driver", test::clock(period)) {
    k.op({1}, {0, 2});
    k.section.most = 3;
    k.done();
    table.exempt = exempt;
    file.rows.bind(table);
    file.reads_served.bind(table);
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
    run_to(1);
    file.kernel_started(k.context);
  }
  static models::RenamingConfig config(unsigned rename_cycles) {
    models::RenamingConfig c = GateBench::config(32, 4);
    c.rename_cycles = rename_cycles;
    return c;
  }
  std::uint64_t write(unsigned warp, unsigned reg, std::uint32_t seed, LaneMask lanes = 0xffffffff) {
    value = value_of(seed);
    return transfer(driver.writes, tlm::TLM_WRITE_COMMAND, warp, reg, lanes);
  }
  std::uint64_t read(unsigned warp, unsigned reg) {
    return transfer(driver.reads, tlm::TLM_READ_COMMAND, warp, reg, 0xffffffff);
  }
  bool got(std::uint32_t seed) const {
    const WarpValue expected = value_of(seed);
    return std::equal(expected.lane.begin(), expected.lane.begin() + 32, value.lane.begin());
  }
  std::uint64_t transfer(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp,
                         unsigned reg, LaneMask lanes) {
    protocol::OperandPayload payload;
    d = k.made(warp, 0);
    payload.prepare(command, warp_at(warp), reg_of(reg), lanes, 32, value);
    payload.access().instruction = &d;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(payload.payload(), phase, delay);
    REQUIRE(answer == tlm::TLM_COMPLETED);
    origin = payload.access().origin;
    return delay.value() / period.value();
  }

  RenamedKernel k;
  Table table;
  models::VirtualRegisterFile file;
  test::Driver driver;
  protocol::DynamicInstruction d;
  WarpValue value{};
  protocol::Origin origin;
};

}  // namespace

TEST_CASE("virtual file: an access goes to the row of the table") {
  FileBench b;
  b.table.rows = {{{0, 1}, 5}, {{3, 1}, 6}};
  b.write(0, 1, 10);
  b.write(3, 1, 11);
  run_for(10);
  b.read(0, 1);
  CHECK(b.got(10));
  CHECK(std::string(b.origin.place) == "bank");
  CHECK(b.origin.index == 1);
  b.read(3, 1);
  CHECK(b.got(11));
  CHECK(b.origin.index == 2);
  run_for(10);
  // Another register of another warp has the row now, and what is in it.
  b.table.rows = {{{2, 7}, 5}};
  b.read(2, 7);
  CHECK(b.got(10));
  run_for(10);
  // Only the lanes of a write change the row.
  b.write(2, 7, 12, 0x0000ff00);
  b.read(2, 7);
  for (unsigned lane = 0; lane < 32; ++lane)
    CHECK(b.value.lane[lane] == value_of(lane >= 8 && lane < 16 ? 12 : 10).lane[lane]);
}

TEST_CASE("virtual file: the row gives the bank, and renaming delays reads") {
  FileBench b(0, 3);
  b.table.rows = {{{0, 0}, 4}, {{0, 2}, 8}, {{0, 3}, 9}};
  // Rows 4 and 8 are in bank 0, row 9 in bank 1. Arbitration, access, three cycles of renaming.
  CHECK(b.read(0, 0) == 5);
  CHECK(b.read(0, 2) == 6);
  CHECK(b.read(0, 3) == 5);
  CHECK(stat_of(b.file, "read_conflicts") == 1);
  run_for(10);
  CHECK(b.write(0, 0, 1) == 1);
}

TEST_CASE("virtual file: renaming that is hidden costs no cycle") {
  FileBench b(0, 0);
  b.table.rows = {{{0, 0}, 4}};
  CHECK(b.read(0, 0) == 2);
}

TEST_CASE("virtual file: reads are reported when their bank accepts them, writes are not") {
  FileBench b(bit(2));
  b.table.rows = {{{1, 1}, 0}, {{1, 2}, 1}};
  b.write(1, 1, 1);
  CHECK(b.table.reads.empty());
  b.read(1, 1);
  b.read(1, 2);
  CHECK(b.table.reads == std::vector<Rows::Key>{{1, 1}, {1, 2}});
  // R2 is mapped directly.
  CHECK(stat_of(b.file, "table_accesses") == 2);
}

TEST_CASE("virtual file: an access without a row ends the run, with warp and register") {
  FileBench b;
  b.table.rows = {{{1, 0}, 0}};
  CHECK(test::cta_blocks::error_of([&] { b.read(2, 0); }) ==
        "warp 2 register R0 has no row: it was released before this read, or nothing was written to it");
  CHECK(test::cta_blocks::error_of([&] { b.write(1, 1, 5); }) ==
        "warp 1 register R1 has no row: it was released before this access, or nothing was written to it");
  CHECK(b.table.reads.empty());
}

// SPDX-License-Identifier: Apache-2.0
//
// The register file of base registers and a pool, behind its sockets: whose row an access gets.
#include <regatta/regmutex/pooled_register_file.h>
#include <regatta/test/clock.h>

#include <map>

#include "../../../platform/baseline/register_file/driver.h"
#include "pool_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;
using protocol::RegisterId;
using protocol::WarpValue;

namespace {

models::RegisterFileConfig config_of(unsigned rows) {
  models::RegisterFileConfig config;
  config.registers = rows;
  config.banks = 4;
  return config;
}

/// `rows`, of which up to `pool_rows` are the pool; registers are allotted in fours.
struct FileBench {
  FileBench(unsigned rows, unsigned pool_rows, unsigned base = 4, unsigned extended = 2, unsigned slices = 1)
      : pool_user("pool_user"),
        k(base, extended),
        pool("pool", pool_rows, test::clock(period)),
        file("file", config_of(rows), slices, 4, pool, test::clock(period)),
        driver("driver", test::clock(period)) {
    file.sections.bind(pool.sections);
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
    pool_user.sections.bind(pool.sections);
    pool_user.veto.bind(pool.veto);
    pool.connect(listener);
    run_to(1);
    start();
  }
  void start() {
    pool.kernel_started(k.context);
    file.kernel_started(k.context);
    for (unsigned w = 0; w < 8; ++w) pool.warp_started(k.warp(w));
  }
  protocol::DynamicInstruction inserted(unsigned warp, const trace::StaticInstruction& what) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp);
    d.cta = cta_at(warp / 2);
    d.injected = true;
    d.info = &what;
    return d;
  }
  void acquire(unsigned warp) {
    REQUIRE(pool.may_issue(inserted(warp, k.acquire)));
    pool.issued(inserted(warp, k.acquire));
  }
  void release(unsigned warp) { pool.issued(inserted(warp, k.release)); }
  void write(unsigned warp, unsigned reg, std::uint32_t seed, protocol::LaneMask lanes = 0xffffffff) {
    WarpValue value = pattern(seed);
    transfer(driver.writes, tlm::TLM_WRITE_COMMAND, warp, reg, lanes, value);
  }
  WarpValue read(unsigned warp, unsigned reg) {
    WarpValue value{};
    transfer(driver.reads, tlm::TLM_READ_COMMAND, warp, reg, 0xffffffff, value);
    return value;
  }
  static WarpValue pattern(std::uint32_t seed) {
    WarpValue value{};
    for (unsigned lane = 0; lane < 32; ++lane) value.lane[lane] = seed * 2654435761u + lane;
    return value;
  }
  bool holds(unsigned warp, unsigned reg, std::uint32_t seed) { return read(warp, reg).lane == pattern(seed).lane; }

 private:
  void transfer(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp, unsigned reg,
                protocol::LaneMask lanes, WarpValue& value) {
    protocol::OperandPayload payload;
    payload.prepare(command, warp_at(warp), RegisterId(static_cast<std::uint8_t>(reg)), lanes, 32, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(payload.payload(), phase, delay);
    REQUIRE(sync == tlm::TLM_COMPLETED);
    run_for(3);
  }

  PoolUser pool_user;
  FakeListener listener;

 public:
  PoolKernel k;
  SharedRegisterPool pool;
  models::PooledRegisterFile file;
  test::Driver driver;
};

}  // namespace

TEST_CASE("pooled register file alone: base registers are a warp's own, extended ones those of its section") {
  FileBench b(8 * 4 + 6, 6);
  for (unsigned w = 0; w < 8; ++w) {
    for (unsigned r = 0; r < 4; ++r) b.write(w, r, 10 * w + r);
  }
  for (const unsigned w : {2u, 7u, 4u}) {
    b.acquire(w);
    b.write(w, 4, 1000 + w);
    b.write(w, 5, 2000 + w);
  }
  for (unsigned w = 0; w < 8; ++w) {
    for (unsigned r = 0; r < 4; ++r) CHECK(b.holds(w, r, 10 * w + r));
  }
  for (const unsigned w : {2u, 7u, 4u}) {
    CHECK(b.holds(w, 4, 1000 + w));
    CHECK(b.holds(w, 5, 2000 + w));
  }
  // A section has rows, not values: the next holder finds what the last one left.
  b.release(7);
  b.acquire(0);
  CHECK(b.holds(0, 4, 1007));
  CHECK(b.holds(0, 5, 2007));
}

TEST_CASE("pooled register file alone: lanes of an extended register that are not written stay") {
  FileBench b(8 * 4 + 2, 2);
  b.acquire(3);
  b.write(3, 5, 1);
  b.write(3, 5, 2, 0xffff0000);
  const WarpValue value = b.read(3, 5);
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(value.lane[lane] == FileBench::pattern(lane < 16 ? 1 : 2).lane[lane]);
  }
}

TEST_CASE("pooled register file alone: registers are where the section of the trace places them") {
  FileBench b(8 * 4 + 6, 6, 3, 3);
  trace::RegMutexRegisters sets;
  sets.base = 3;
  sets.extended = 3;
  sets.place = {5, 0, 4, 1, 3, 2};  // R1, R3 and R5 are the base set
  b.k.set(sets);
  b.start();
  b.acquire(0);
  b.acquire(1);
  for (unsigned w = 0; w < 2; ++w) {
    for (unsigned r = 0; r < 6; ++r) b.write(w, r, 50 * w + r);
  }
  for (unsigned w = 0; w < 2; ++w) {
    for (unsigned r = 0; r < 6; ++r) CHECK(b.holds(w, r, 50 * w + r));
  }
  // R1 has a row without a section, R0 has none.
  b.write(2, 1, 7);
  CHECK(b.holds(2, 1, 7));
  CHECK_FALSE(error_of([&] { b.read(2, 0); }).empty());
}

TEST_CASE("pooled register file alone: base registers are rounded to the granularity of allocations") {
  FileBench b(80, 6);
  trace::RegMutexRegisters sets;
  const auto rounded = [&](unsigned base) {
    sets.base = base;
    return b.file.base_registers(sets);
  };
  CHECK(rounded(0) == 4);
  CHECK(rounded(1) == 4);
  CHECK(rounded(4) == 4);
  CHECK(rounded(5) == 8);
}

TEST_CASE("pooled register file alone: an extended register without a section is refused") {
  FileBench b(8 * 4 + 4, 4);
  b.acquire(0);
  const std::string refused = "warp 1 register R4 has no row: it is of the extended set, and the warp holds no section";
  CHECK(error_of([&] { b.read(1, 4); }) == refused);
  CHECK(error_of([&] { b.write(1, 4, 1); }) == refused);
  CHECK(error_of([&] { b.read(0, 6); }).find("warp 0 register R6 has no row") == 0);
}

TEST_CASE("pooled register file alone: a warp whose base registers lie beyond the file is refused") {
  FileBench b(7 * 4 + 4, 4);  // of eight warps
  b.write(6, 3, 5);
  CHECK(error_of([&] { b.read(7, 0); }) ==
        "register window of warp slot 7 ends beyond the last of the 28 rows of slice 0");
}

TEST_CASE("pooled register file alone: every slice has windows of its own, and the pool is for all") {
  FileBench b(8 * 4 + 8, 8, 4, 2, 4);
  for (unsigned w = 0; w < 8; ++w) {
    if (w % 2 == 0) b.acquire(w);
    for (unsigned r = 0; r < (w % 2 == 0 ? 6u : 4u); ++r) b.write(w, r, 10 * w + r);
  }
  for (unsigned w = 0; w < 8; ++w) {
    for (unsigned r = 0; r < (w % 2 == 0 ? 6u : 4u); ++r) CHECK(b.holds(w, r, 10 * w + r));
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The register file of register sharing behind its sockets: which rows warps have alone, which they share, and in which
// banks.
#include <regatta/sharing/shared_register_file.h>
#include <regatta/test/clock.h>

#include <algorithm>

#include "../../../platform/baseline/register_file/driver.h"
#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using protocol::RegisterId;
using protocol::WarpValue;

namespace {

models::RegisterFileConfig config_of(unsigned rows, const std::string& mapping) {
  models::RegisterFileConfig config;
  config.registers = rows;
  config.banks = 4;
  config.mapping = mapping;
  config.sub_cores = mapping == "sub_core" ? 2 : 1;
  return config;
}

/// `unshared` CTAs and pairs of CTAs of `warps_per_cta` warps with `registers`, of which the first are private.
struct SharedFileBench {
  SharedFileBench(unsigned unshared, unsigned n_pairs, unsigned registers, unsigned private_registers,
                  unsigned warps_per_cta = 2, unsigned slices = 1, unsigned spare = 0,
                  const std::string& mapping = "warp_interleaved")
      : pairs("pairs", unshared, n_pairs, private_registers),
        file("file",
             config_of(warps_per_cta * (unshared * registers + n_pairs * (registers + private_registers)) + spare,
                       mapping),
             slices, test::clock(period)),
        driver("driver", test::clock(period)),
        launch(unshared + 2 * n_pairs, warps_per_cta, registers) {
    file.pairs.bind(pairs);
    file.boundary.bind(pairs);
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions("regatta/register_windows", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
    file.kernel_started(launch.context);
    for (unsigned cta = 0; cta < unshared + 2 * n_pairs; ++cta) begin(cta);
  }
  void begin(unsigned cta) {
    launch.for_warps(cta, [&](const WarpInfo& w) { file.warp_started(w); });
  }
  void end(unsigned cta) {
    launch.for_warps(cta, [&](const WarpInfo& w) { file.warp_finished(w); });
  }
  unsigned warps() const { return pairs.plan().ctas * launch.context.warps_per_cta; }
  void write(unsigned warp, unsigned reg, std::uint32_t seed, protocol::LaneMask lanes = 0xffffffff) {
    WarpValue value = pattern(seed);
    transfer(driver.writes, tlm::TLM_WRITE_COMMAND, warp, reg, lanes, value);
  }
  bool holds(unsigned warp, unsigned reg, std::uint32_t seed) {
    WarpValue value{};
    transfer(driver.reads, tlm::TLM_READ_COMMAND, warp, reg, 0xffffffff, value);
    return value.lane == pattern(seed).lane;
  }
  /// The bank that a read names as the origin of the value.
  unsigned bank(unsigned warp, unsigned reg) {
    WarpValue value{};
    transfer(driver.reads, tlm::TLM_READ_COMMAND, warp, reg, 0xffffffff, value);
    return origin_.index;
  }
  static WarpValue pattern(std::uint32_t seed) {
    WarpValue value{};
    for (unsigned lane = 0; lane < 32; ++lane) value.lane[lane] = seed * 2654435761u + lane;
    return value;
  }

  FixedPairs pairs;
  models::SharedRegisterFile file;
  test::Driver driver;
  Launch launch;

 private:
  void transfer(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp, unsigned reg,
                protocol::LaneMask lanes, WarpValue& value) {
    protocol::OperandPayload payload;
    payload.prepare(command, warp_at(warp), RegisterId(static_cast<std::uint8_t>(reg)), lanes, 32, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(payload.payload(), phase, delay);
    REQUIRE(sync == tlm::TLM_COMPLETED);
    origin_ = protocol::warp_access(payload.payload()).origin;
    run_for(3);
  }
  protocol::Origin origin_;
};

/// Every register has a value of its own, except that the shared ones of a pair have that of the warp that wrote last.
void check_rows(SharedFileBench& b, unsigned unshared, unsigned registers, unsigned private_registers) {
  const unsigned w = b.launch.context.warps_per_cta, n_pairs = b.pairs.plan().pairs;
  const auto seed = [&](unsigned warp, unsigned reg) { return warp * 256 + reg; };
  for (unsigned warp = 0; warp < b.warps(); ++warp) {
    for (unsigned r = 0; r < registers; ++r) b.write(warp, r, seed(warp, r));
  }
  for (unsigned warp = 0; warp < b.warps(); ++warp) {
    const unsigned cta = warp / w;
    const bool side_0 = cta >= unshared && cta < unshared + n_pairs;
    for (unsigned r = 0; r < registers; ++r) {
      CAPTURE(warp, r);
      CHECK(b.holds(warp, r, seed(side_0 && r >= private_registers ? warp + n_pairs * w : warp, r)));
    }
  }
}

}  // namespace

TEST_CASE("shared register file alone: private rows for each warp of a pair, and one set of rows for both") {
  SharedFileBench b(1, 2, 8, 3);
  check_rows(b, 1, 8, 3);
}

TEST_CASE("shared register file alone: all registers shared") {
  SharedFileBench b(0, 2, 6, 0);
  check_rows(b, 0, 6, 0);
}

TEST_CASE("shared register file alone: sub-cores have slices of the rows") {
  SharedFileBench b(1, 2, 8, 3, 4, 2);
  check_rows(b, 1, 8, 3);
}

TEST_CASE("shared register file alone: sub-cores with banks of their own") {
  SharedFileBench b(1, 1, 8, 3, 4, 2, 0, "sub_core");
  check_rows(b, 1, 8, 3);
  for (unsigned w = 0; w < b.warps(); ++w) {
    for (unsigned r = 0; r < 8; ++r) CHECK(b.bank(w, r) / 2 == w % 2);
  }
}

TEST_CASE("shared register file alone: rows that no window needs") {
  SharedFileBench b(2, 3, 10, 1, 2, 1, 7);
  check_rows(b, 2, 10, 1);
}

TEST_CASE("shared register file alone: no pairs, the conventional windows") {
  SharedFileBench b(3, 0, 8, 3);
  check_rows(b, 3, 8, 3);
  const models::RegisterMapping& mapping = static_cast<const models::SharedRegisterFile&>(b.file).mapping();
  for (unsigned w = 0; w < 6; ++w) {
    for (unsigned r = 0; r < 8; ++r) {
      CHECK(mapping.place(warp_at(w), RegisterId(static_cast<std::uint8_t>(r)))->value() == w * 8 + r);
    }
  }
}

TEST_CASE("shared register file alone: a shared row has one bank, whichever warp asks") {
  SharedFileBench b(1, 1, 8, 3, 3);
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned r = 0; r < 8; ++r) {
      CAPTURE(i, r);
      const unsigned first = b.bank(3 + i, r), second = b.bank(6 + i, r);
      CHECK(first == (r + 3 + i) % 4);
      CHECK(second == (r >= 3 ? first : (r + 6 + i) % 4));
    }
  }
}

TEST_CASE(
    "shared register file alone: a CTA that joins a pair has rows of its own, and finds the shared ones as left") {
  SharedFileBench b(0, 1, 8, 3);
  b.write(2, 1, 21);
  b.write(0, 7, 7);
  b.end(0);
  b.begin(0);
  CHECK(b.holds(2, 1, 21));
  CHECK(b.holds(2, 7, 7));
  b.write(0, 1, 1);
  CHECK(b.holds(2, 1, 21));
}

TEST_CASE("shared register file alone: lanes of a shared register that are not written stay") {
  SharedFileBench b(0, 1, 8, 3);
  b.write(1, 5, 1);
  b.write(3, 5, 2, 0xffff0000);
  CHECK_FALSE(b.holds(1, 5, 1));
  b.write(3, 5, 1, 0xffff0000);
  CHECK(b.holds(1, 5, 1));
}

TEST_CASE("shared register file alone: registers beyond the window are refused") {
  SharedFileBench b(0, 1, 8, 3);
  CHECK(error_of([&] { b.write(1, 8, 1); }).find("warp 1 register R8 has no row") == 0);
  b.end(0);
  CHECK(error_of([&] { b.write(1, 7, 1); }).find("warp 1 register R7 has no row: the warp is not resident") == 0);
}

TEST_CASE("shared register file alone: a file without room for the windows is refused") {
  sc_core::sc_report_handler::set_actions("regatta/register_windows", sc_core::SC_ERROR, sc_core::SC_THROW);
  FixedPairs pairs("pairs", 0, 2, 3);
  models::SharedWindows windows(1);
  windows.connect(pairs, pairs);
  windows.launch(2);
  windows.kernel_started(43, 8);  // a row less than two pairs of two warps need
  CHECK(windows.first_window(warp_at(6)).has_value());
  CHECK_FALSE(windows.first_window(warp_at(7)).has_value());
  CHECK(error_of([&] { windows.assign(warp_at(7)); }) ==
        "register window of warp slot 7 ends beyond the last of the 43 rows of its slice");
  CHECK(windows.partner(warp_at(7)) == warp_at(3));
}

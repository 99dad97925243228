// SPDX-License-Identifier: Apache-2.0
//
// What a file of its own makes of BankedFile: rows that take longer than their banks, and registers that have none.
#include <regatta/models/banks/banked_file.h>

#include "driver.h"

using namespace regatta;
using test::Driver;
using test::pattern;
using test::WarpValue;

namespace {

/// Odd registers take three cycles more than their bank; R30 has no row and reads as 7 in every lane.
class SlowRows : public models::BankedFile<SlowRows> {
 public:
  using BankedFile::BankedFile;
  void register_energy(support::EnergyGroup&) override {}
  unsigned transfers = 0;

 private:
  friend class BankedFile<SlowRows>;
  unsigned bank(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access) const {
    return access.reg.value() == 30 ? models::no_bank : BankedFile::bank(payload, access);
  }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    ++transfers;
    WarpValue none{};
    none.lane.fill(7);
    copy_row(payload, bank == models::no_bank ? none.lane.data() : values_[row(payload, access)].lane.data());
    return done + (access.reg.value() % 2 == 1 ? 3 : 0);
  }
  std::array<WarpValue, 64> values_{};
};

struct Slow {
  explicit Slow(const std::string& priority)
      : config(configuration(priority)), file("file", config, period), driver("driver", period) {
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    protocol::KernelContext context;
    context.registers_per_warp = 32;
    context.warp_size = 32;
    file.kernel_started(context);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static models::RegisterFileConfig configuration(const std::string& priority) {
    models::RegisterFileConfig c;
    c.banks = 4;
    c.registers = 64;
    c.priority = priority;
    return c;
  }
  /// Cycles from the request to its answer.
  std::uint64_t access(bool write, unsigned reg, WarpValue& value) {
    protocol::OperandPayload p;
    p.prepare(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, protocol::WarpSlot(0),
              protocol::RegisterId(static_cast<std::uint8_t>(reg)), trace::all_lanes(32), 32, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const std::uint64_t start = sc_core::sc_time_stamp().value() / period.value();
    driver.responses.clear();
    const tlm::tlm_sync_enum answer =
        (write ? driver.writes : driver.reads)->nb_transport_fw(p.payload(), phase, delay);
    std::uint64_t cycles = delay.value() / period.value();
    if (answer != tlm::TLM_COMPLETED) {
      while (driver.responses.empty()) sc_core::sc_start(period);
      REQUIRE(driver.responses.size() == 1);
      cycles = driver.responses[0].cycle + driver.responses[0].delay - start;
    }
    sc_core::sc_start(20 * period);
    CHECK(p.payload().is_response_ok());
    return cycles;
  }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  const models::RegisterFileConfig config;
  SlowRows file;
  Driver driver;
};

void check(const std::string& priority) {
  Slow s(priority);
  const bool arbitrated = priority != "fcfs";
  const std::uint64_t read = s.config.arbitration + s.config.latency;
  // A write needs a cycle of arbitration where there is an arbiter.
  const std::uint64_t write = s.config.latency + (arbitrated ? 1 : 0);
  WarpValue even = pattern(1), odd = pattern(2), out{};
  CHECK(s.access(true, 4, even) == write);
  CHECK(s.access(true, 5, odd) == write + 3);
  CHECK(s.access(false, 4, out) == read);
  CHECK(std::equal(out.lane.begin(), out.lane.begin() + 32, even.lane.begin()));
  CHECK(s.access(false, 5, out) == read + 3);
  CHECK(std::equal(out.lane.begin(), out.lane.begin() + 32, odd.lane.begin()));
  CHECK(s.access(false, 30, out) == read);
  CHECK(out.lane[0] == 7);
  CHECK(out.lane[31] == 7);
  CHECK(s.file.transfers == 5);
}

}  // namespace

TEST_CASE("banked file: rows may take longer than their bank, and a register need have no bank") { check("fcfs"); }
TEST_CASE("banked file: the same where reads go first") { check("read"); }
TEST_CASE("banked file: the same where writes go first") { check("write"); }

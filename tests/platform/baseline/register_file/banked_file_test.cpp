// SPDX-License-Identifier: Apache-2.0
//
// What a file of its own makes of BankedFile: rows that take longer than their banks, and registers that have none.
#include <regatta/baseline/banked_file.h>
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/test/clock.h>

#include <map>
#include <random>

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
  std::size_t row(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return std::size_t{access.warp.value()} * registers_per_warp_ + access.reg.value();
  }
  static constexpr bool answers_late = false;
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return access.reg.value() == 30 ? models::no_bank : bank_of(access.warp, access.reg);
  }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    ++transfers;
    WarpValue none{};
    none.lane.fill(7);
    copy_row(payload, bank == models::no_bank ? none.lane.data() : values_[row(payload, access)].lane.data());
    return done + (access.reg.value() % 2 == 1 ? 3 : 0);
  }
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    transfer_now(payload, access, bank);
  }
  std::array<WarpValue, 64> values_{};
};

struct Slow {
  explicit Slow(const std::string& priority, unsigned write_queue = 8)
      : config(configuration(priority, write_queue)),
        file("file", config, test::clock(period)),
        driver("driver", test::clock(period)) {
    driver.reads.bind(check_reads.in);
    check_reads.out.bind(file.reads);
    driver.writes.bind(check_writes.in);
    check_writes.out.bind(file.writes);
    protocol::KernelContext context;
    context.registers_per_warp = 32;
    context.warp_size = 32;
    file.kernel_started(context);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static models::RegisterFileConfig configuration(const std::string& priority, unsigned write_queue) {
    models::RegisterFileConfig c;
    c.write_queue = write_queue;
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
    const tlm::tlm_sync_enum answer = socket(write)->nb_transport_fw(p.payload(), phase, delay);
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

  protocol::OperandInitiatorSocket& socket(bool write) { return write ? driver.writes : driver.reads; }
  /// The traffic is over: no rule of the base protocol was broken, no transaction is open.
  void finish() {
    check_reads.finish();
    check_writes.finish();
    CHECK(check_reads.rules().violations() == 0);
    CHECK(check_writes.rules().violations() == 0);
  }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  const models::RegisterFileConfig config;
  SlowRows file;
  Driver driver;
  protocol::BaseProtocolChecker<1024> check_reads{"check_reads"}, check_writes{"check_writes"};
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
  s.finish();
}

/// Fast and slow rows in turn, as many as are taken: every access is answered once, by the rules.
void traffic(const std::string& priority, unsigned write_queue, unsigned seed) {
  CAPTURE(priority, write_queue, seed);
  Slow s(priority, write_queue);
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<protocol::OperandPayload>> payloads;
  std::deque<WarpValue> values;
  std::map<const tlm::tlm_generic_payload*, unsigned> answers;
  const tlm::tlm_generic_payload* held = nullptr;
  std::uint64_t held_writes = 0, apart = 0;
  std::size_t seen = 0;
  for (unsigned cycle = 0; cycle < 3000; ++cycle) {
    for (unsigned n = cycle % 100 > 70 ? 0 : static_cast<unsigned>(random() % 4); n != 0; --n) {
      const bool write = random() % 2 == 0;
      if (write && held != nullptr) continue;
      payloads.push_back(std::make_unique<protocol::OperandPayload>());
      values.push_back(pattern(cycle));
      protocol::OperandPayload& p = *payloads.back();
      p.prepare(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, protocol::WarpSlot(0),
                protocol::RegisterId(static_cast<std::uint8_t>(random() % 30)), trace::all_lanes(32), 32,
                values.back());
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      const tlm::tlm_sync_enum answer = s.socket(write)->nb_transport_fw(p.payload(), phase, delay);
      if (answer == tlm::TLM_COMPLETED) ++answers[&p.payload()];
      if (answer != tlm::TLM_ACCEPTED) continue;
      held = &p.payload();
      ++held_writes;
    }
    sc_core::sc_start(s.period);
    for (; seen < s.driver.responses.size(); ++seen) {
      const Driver::Response& r = s.driver.responses[seen];
      if (r.payload == held) held = nullptr;
      if (r.phase != tlm::BEGIN_RESP) continue;
      ++answers[r.payload];
      ++apart;
    }
  }
  sc_core::sc_start(500 * s.period);
  for (; seen < s.driver.responses.size(); ++seen) {
    if (s.driver.responses[seen].phase == tlm::BEGIN_RESP) ++answers[s.driver.responses[seen].payload];
  }
  std::size_t once = 0;
  for (const auto& [payload, count] : answers) once += count == 1 ? 1 : 0;
  CHECK(once == payloads.size());
  CHECK(payloads.size() > 2000);
  CHECK(held_writes > 50);
  CHECK(apart > 50);
  s.finish();
}

}  // namespace

TEST_CASE("banked file: rows may take longer than their bank, and a register need have no bank") { check("fcfs"); }
TEST_CASE("banked file: the same where reads go first") { check("read"); }
TEST_CASE("banked file: the same where writes go first") { check("write"); }
TEST_CASE("banked file: fast and slow rows keep to the base protocol") { traffic("fcfs", 1, 1); }
TEST_CASE("banked file: fast and slow rows where reads go first") { traffic("read", 2, 2); }
TEST_CASE("banked file: fast and slow rows where writes go first") { traffic("write", 1, 3); }

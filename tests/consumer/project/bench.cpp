// SPDX-License-Identifier: Apache-2.0
//
// The register file on its own: no SM, no trace, no memory. A driver writes and reads warp registers over the TLM-2.0
// sockets and checks the values, the annotated delays and the statistics.
#include <regatta/baseline/register_file.h>
#include <regatta/support/clock_domain.h>

#include <iostream>
#include <string>

using namespace regatta::protocol;

namespace {

constexpr unsigned lanes = 32;
constexpr LaneMask all = regatta::trace::all_lanes(lanes);
int failures = 0;

template <class A, class B>
void expect_equal(const std::string& what, const A& found, const B& expected) {
  if (found == A(expected)) return;
  std::cerr << "FAILED " << what << ": found " << found << ", expected " << expected << "\n";
  ++failures;
}

class Driver : public sc_core::sc_module, tlm::tlm_bw_transport_if<> {
 public:
  OperandInitiatorSocket reads{"reads"}, writes{"writes"};

  Driver(const sc_core::sc_module_name& name, sc_core::sc_time period) : sc_module(name), period_(period) {
    reads.bind(*this);
    writes.bind(*this);
  }
  /// Cycles until the register is written.
  std::uint64_t write(unsigned warp, unsigned reg, WarpValue value, LaneMask mask = all) {
    return transfer(writes, tlm::TLM_WRITE_COMMAND, warp, reg, value, mask);
  }
  /// Cycles until the value is there.
  std::uint64_t read(unsigned warp, unsigned reg, WarpValue& value) {
    return transfer(reads, tlm::TLM_READ_COMMAND, warp, reg, value, all);
  }
  const Origin& origin() { return payload_.access().origin; }

 private:
  std::uint64_t transfer(OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp, unsigned reg,
                         WarpValue& value, LaneMask mask) {
    payload_.prepare(command, WarpSlot(static_cast<std::uint16_t>(warp)), RegisterId(static_cast<std::uint8_t>(reg)),
                     mask, lanes, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(payload_.payload(), phase, delay);
    expect_equal("answer", static_cast<int>(answer), static_cast<int>(tlm::TLM_COMPLETED));
    expect_equal("response", payload_.payload().get_response_string(), std::string("TLM_OK_RESPONSE"));
    return delay.value() / period_.value();
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  sc_core::sc_time period_;
  OperandPayload payload_;
};

std::uint64_t statistic(regatta::models::RegisterFile& file, const std::string& name) {
  regatta::support::StatGroup group;
  file.register_stats(group);
  for (const auto& s : group.stats()) {
    if (s.name == name) return *s.counter;
  }
  std::cerr << "FAILED no statistic " << name << "\n";
  ++failures;
  return 0;
}

}  // namespace

int sc_main(int, char**) {
  const sc_core::sc_time period(1, sc_core::SC_NS);
  regatta::support::ClockDomain clock("clock", period);
  regatta::models::RegisterFileConfig config;
  config.banks = 8;
  regatta::models::RegisterFile file("register_file", config, clock);
  Driver driver("driver", period);
  driver.reads.bind(file.reads);
  driver.writes.bind(file.writes);
  KernelContext context;
  context.registers_per_warp = 32;
  file.kernel_started(context);
  for (const unsigned slot : {3, 4}) {
    regatta::protocol::WarpInfo warp;
    warp.warp = WarpSlot(static_cast<std::uint16_t>(slot));
    file.warp_started(warp);
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  WarpValue rising, zero{}, value{};
  for (unsigned lane = 0; lane < lanes; ++lane) rising.lane[lane] = 1000 + lane;
  expect_equal("delay of a write", driver.write(3, 5, rising), 1);
  expect_equal("delay of a write to another bank", driver.write(3, 6, zero), 1);
  sc_core::sc_start(10 * period);

  // Lanes 4 to 7 only.
  expect_equal("delay of a masked write", driver.write(3, 6, rising, 0xf0), 1);
  sc_core::sc_start(10 * period);

  expect_equal("delay of a read", driver.read(3, 5, value), 2);
  expect_equal("origin", std::string(driver.origin().place), "bank");
  expect_equal("bank", driver.origin().index, file.bank_of(WarpSlot(3), RegisterId(5)));
  for (unsigned lane = 0; lane < lanes; ++lane) expect_equal("R5", value.lane[lane], 1000 + lane);
  expect_equal("delay of a read of another bank", driver.read(3, 6, value), 2);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    expect_equal("R6", value.lane[lane], lane >= 4 && lane < 8 ? 1000 + lane : 0);
  }

  // R5 has been read in this cycle; R13 lies in the same bank of eight and waits for it.
  expect_equal("same bank", file.bank_of(WarpSlot(3), RegisterId(13)), file.bank_of(WarpSlot(3), RegisterId(5)));
  expect_equal("conflicts before", statistic(file, "read_conflicts"), 0);
  expect_equal("delay of a read that conflicts", driver.read(3, 13, value), 3);
  expect_equal("conflicts", statistic(file, "read_conflicts"), 1);
  expect_equal("cycles waited", statistic(file, "read_wait"), 1);
  expect_equal("reads", statistic(file, "reads"), 3);
  expect_equal("writes", statistic(file, "writes"), 3);

  // Another warp's R5 is another register.
  sc_core::sc_start(10 * period);
  driver.read(4, 5, value);
  for (unsigned lane = 0; lane < lanes; ++lane) expect_equal("another warp's R5", value.lane[lane], 0);

  std::cout << (failures == 0 ? "ok" : "failed") << "\n";
  return failures == 0 ? 0 : 1;
}

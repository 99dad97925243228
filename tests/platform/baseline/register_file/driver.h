// SPDX-License-Identifier: Apache-2.0
//
// The register file by itself, with a driver at its sockets that calls from between sc_start()s.
#pragma once

#include <regatta/baseline/register_file.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace regatta::test {

using protocol::LaneMask;
using protocol::WarpValue;

class Driver : public sc_core::sc_module, tlm::tlm_bw_transport_if<> {
 public:
  protocol::OperandInitiatorSocket reads{"reads"}, writes{"writes"};
  /// What nb_transport_bw brought.
  struct Response {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint64_t cycle = 0;  ///< of the call
    std::uint64_t delay = 0;  ///< annotated, cycles
    tlm::tlm_phase phase;
  };
  std::vector<Response> responses;

  Driver(const sc_core::sc_module_name& name, support::ClockDomain& clock) : sc_module(name), period_(clock.period()) {
    reads.bind(*this);
    writes.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    responses.push_back(
        {&payload, sc_core::sc_time_stamp().value() / period_.value(), delay.value() / period_.value(), phase});
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  sc_core::sc_time period_;
};

/// A register file of 8 banks unless told otherwise, laid out for `registers_per_warp`.
class Bench {
 public:
  explicit Bench(const models::RegisterFileConfig& config = eight_banks(), unsigned registers_per_warp = 32,
                 unsigned lanes_of_a_warp = 32)
      : period(1, sc_core::SC_NS),
        lanes(lanes_of_a_warp),
        file("register_file", config, test::clock(period)),
        driver("driver", test::clock(period)) {
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    protocol::KernelContext context;
    context.registers_per_warp = registers_per_warp;
    context.warp_size = lanes;
    file.kernel_started(context);
    // As many warps as the file has rows for.
    for (std::uint16_t w = 0; (w + 1u) * registers_per_warp <= config.registers; ++w) {
      protocol::WarpInfo warp;
      warp.warp = protocol::WarpSlot(w);
      file.warp_started(warp);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static models::RegisterFileConfig eight_banks() {
    models::RegisterFileConfig config;
    config.banks = 8;
    return config;
  }

  struct Answer {
    tlm::tlm_sync_enum sync = tlm::TLM_COMPLETED;
    std::uint64_t delay = 0;  ///< cycles
  };
  Answer read(unsigned warp, unsigned reg, WarpValue& value, std::uint64_t delay = 0) {
    return transfer(driver.reads, tlm::TLM_READ_COMMAND, warp, reg, trace::all_lanes(lanes), value, delay);
  }
  Answer write(unsigned warp, unsigned reg, WarpValue value, LaneMask mask, std::uint64_t delay = 0) {
    values_.push_back(value);
    return transfer(driver.writes, tlm::TLM_WRITE_COMMAND, warp, reg, mask, values_.back(), delay);
  }
  std::uint64_t read_delay(unsigned warp, unsigned reg) {
    WarpValue value{};
    const Answer a = read(warp, reg, value);
    REQUIRE(a.sync == tlm::TLM_COMPLETED);
    return a.delay;
  }
  std::uint64_t write_delay(unsigned warp, unsigned reg) {
    const Answer a = write(warp, reg, WarpValue{}, trace::all_lanes(lanes));
    REQUIRE(a.sync == tlm::TLM_COMPLETED);
    return a.delay;
  }
  void wait(std::uint64_t cycles) {
    if (cycles != 0) sc_core::sc_start(static_cast<double>(cycles) * period);
  }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period.value(); }
  std::uint64_t statistic(const std::string& name) {
    support::StatGroup group;
    file.register_stats(group);
    for (const auto& s : group.stats()) {
      if (s.name == name) return *s.counter;
    }
    FAIL("no statistic " << name);
    return 0;
  }
  protocol::OperandPayload& last() { return *payloads_.back(); }

  const sc_core::sc_time period;
  const unsigned lanes;
  models::RegisterFile file;
  Driver driver;

 private:
  Answer transfer(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp, unsigned reg,
                  LaneMask mask, WarpValue& value, std::uint64_t delay) {
    // A payload of its own: a held one must stay as it is.
    payloads_.push_back(std::make_unique<protocol::OperandPayload>());
    protocol::OperandPayload& p = *payloads_.back();
    p.prepare(command, protocol::WarpSlot(static_cast<std::uint16_t>(warp)),
              protocol::RegisterId(static_cast<std::uint8_t>(reg)), mask, lanes, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time time = static_cast<double>(delay) * period;
    Answer answer;
    answer.sync = socket->nb_transport_fw(p.payload(), phase, time);
    answer.delay = time.value() / period.value() - delay;
    if (answer.sync == tlm::TLM_COMPLETED) REQUIRE(p.payload().is_response_ok());
    return answer;
  }

  std::deque<WarpValue> values_;
  std::vector<std::unique_ptr<protocol::OperandPayload>> payloads_;
};

inline WarpValue pattern(std::uint32_t seed) {
  WarpValue v{};
  for (unsigned lane = 0; lane < trace::max_lanes; ++lane) v.lane[lane] = seed * 2654435761u + lane * 97;
  return v;
}

}  // namespace regatta::test

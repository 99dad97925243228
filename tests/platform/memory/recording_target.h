// SPDX-License-Identifier: Apache-2.0
//
// What stands below a cache in its tests: notes every request that comes down, and answers each after a time of the
// test's choice, in whatever order that gives.
#pragma once

#include "driver.h"

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace regatta::test {

using LineBytes = std::array<unsigned char, 256>;

/// A request as it came down.
struct Sent {
  AccessClass access = AccessClass::data_load;
  std::uint64_t address = 0;
  std::uint8_t sectors = 0;
  bool write = false;
  bool writeback = false;
  LineBytes bytes{};              ///< of registers: what it carries, or what it reads
  std::uint64_t cycle = 0;        ///< in which it came
  std::uint64_t answered_at = 0;  ///< in which its answer reached the cache; 0: not yet
};

class RecordingTarget : public sc_core::sc_module, public memory::NonBlockingTarget {
 public:
  protocol::MemoryTargetSocket upstream{"upstream"};
  /// Cycles from a request to its answer.
  std::function<unsigned(const Sent&)> latency = [](const Sent&) { return 20u; };
  std::uint64_t closed_until = 0;  ///< requests before this cycle get their END_REQ in it
  std::vector<Sent> sent;

  explicit RecordingTarget(const sc_core::sc_module_name& name, unsigned line_bytes = 128)
      : sc_module(name), rules_(upstream, line_bytes), line_bytes_(line_bytes) {
    upstream.bind(*this);
    SC_HAS_PROCESS(RecordingTarget);
    SC_METHOD(answer);
    sensitive << due_;
    dont_initialize();
    SC_METHOD(open);
    sensitive << opened_;
    dont_initialize();
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const std::uint64_t now = now_cycle();
    if (phase == tlm::END_RESP) {
      waiting_ = nullptr;
      p.release();
      plan();
      return tlm::TLM_COMPLETED;
    }
    const std::uint64_t at = now + std::max<std::uint64_t>(1, delay.value() / cycle_time().value());
    p.acquire();
    if (at < closed_until) {
      held_ = &p;
      opened_.notify(cycle_time() * static_cast<double>(closed_until - now - 1));
      return tlm::TLM_ACCEPTED;
    }
    take(p, at);
    phase = tlm::END_REQ;
    delay = cycle_time() * static_cast<double>(at - now);
    return tlm::TLM_UPDATED;
  }

 private:
  const protocol::MemoryRequestRules& rules() const override { return rules_; }

  void take(tlm::tlm_generic_payload& p, std::uint64_t at) {
    protocol::MemoryAccess& a = protocol::memory_access(p);
    Sent s;
    s.access = a.access;
    s.address = p.get_address();
    s.sectors = static_cast<std::uint8_t>(a.sectors & memory::line_sectors(line_bytes_));
    s.write = p.is_write();
    s.writeback = a.writeback;
    s.cycle = at;
    if (a.access == AccessClass::register_write) {
      std::memcpy(s.bytes.data(), p.get_data_ptr(), line_bytes_);
      store_[s.address] = s.bytes;
    }
    if (a.access == AccessClass::register_read) {
      s.bytes = store_[s.address];
      std::memcpy(p.get_data_ptr(), s.bytes.data(), line_bytes_);
    }
    if (!p.is_write()) a.supplier = protocol::Supplier::dram;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    std::uint64_t cycle = std::max(at + latency(s), now_cycle() + 2);
    while (answers_.count(cycle) != 0) ++cycle;  // one a cycle
    answers_[cycle] = {&p, sent.size()};
    sent.push_back(s);
    plan();
  }
  void plan() {
    if (answers_.empty() || waiting_ != nullptr) return;
    const std::uint64_t now = now_cycle(), at = answers_.begin()->first - 1;  // told a cycle ahead
    due_.notify(cycle_time() * static_cast<double>(at > now ? at - now : 1));
  }
  void answer() {
    const std::uint64_t now = now_cycle();
    if (waiting_ != nullptr || answers_.empty()) return;
    const auto [at, what] = *answers_.begin();
    if (at > now + 1) return plan();
    answers_.erase(answers_.begin());
    tlm::tlm_generic_payload& p = *what.first;
    sent[what.second].answered_at = now + 1;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = cycle_time();
    waiting_ = &p;
    if (upstream->nb_transport_bw(p, phase, delay) == tlm::TLM_ACCEPTED) return;
    waiting_ = nullptr;
    p.release();
    plan();
  }
  void open() {
    tlm::tlm_generic_payload& p = *held_;
    held_ = nullptr;
    take(p, now_cycle() + 1);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = cycle_time();
    upstream->nb_transport_bw(p, phase, delay);
  }

  const protocol::MemoryRequestRules rules_;
  unsigned line_bytes_;
  std::map<std::uint64_t, LineBytes> store_;
  std::map<std::uint64_t, std::pair<tlm::tlm_generic_payload*, std::size_t>> answers_;
  tlm::tlm_generic_payload* waiting_ = nullptr;
  tlm::tlm_generic_payload* held_ = nullptr;
  sc_core::sc_event due_, opened_;
};

}  // namespace regatta::test

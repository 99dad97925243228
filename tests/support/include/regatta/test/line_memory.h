// SPDX-License-Identifier: Apache-2.0
//
// A test's stand-in for an L1 and all below it: lines of bytes, with random refusals and delays. A request takes effect
// when it is taken, in order; answers of reads come in any order.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/support/clock_domain.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace regatta::test {

class LineMemory : public sc_core::sc_module, tlm::tlm_fw_transport_if<> {
 public:
  using Payload = tlm::tlm_generic_payload;
  protocol::MemoryTargetSocket socket{"socket"};
  unsigned shortest = 1, longest = 1;  ///< cycles to an answer
  unsigned refusals = 0;               ///< of 100 requests, those that wait for up to 20 cycles
  bool completes = false;              ///< answers with the return of BEGIN_REQ
  protocol::Supplier supplier = protocol::Supplier::l1;
  bool take_nothing = false;  ///< every request is held

  struct Seen {
    std::uint64_t cycle = 0;
    protocol::AccessClass access = protocol::AccessClass::register_read;
    std::uint64_t address = 0;
    bool last = false;
    unsigned sectors = 0xf;
    bool bypass = false;
  };
  std::vector<Seen> seen;                                     ///< requests, in the order in which they were taken
  std::map<std::uint64_t, std::vector<unsigned char>> lines;  ///< what there is
  std::string fault;                                          ///< the first read of a line that there is not

  LineMemory(const sc_core::sc_module_name& name, support::ClockDomain& clock, unsigned seed = 1)
      : sc_module(name),
        clock_(clock),
        period_(clock.period().value()),
        random_(seed),
        wakeup_(
            clock, [](void* m) { static_cast<LineMemory*>(m)->work(); }, this) {
    socket.bind(*this);
  }
  bool idle() const { return held_ == nullptr && answers_.empty(); }
  /// Lets go of the request that take_nothing holds.
  void resume() {
    take_nothing = false;
    if (held_ != nullptr) {
      held_until_ = clock_.now() + 1;
      wakeup_.request(held_until_);
    }
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    const std::uint64_t now = clock_.now();
    const std::uint64_t at = now + delay.value() / period_;
    if (held_ != nullptr) SC_REPORT_ERROR("test", "a request before END_REQ of the one before");
    if (take_nothing || random_() % 100 < refusals) {
      payload.acquire();
      held_ = &payload;
      held_until_ = at + 1 + random_() % 20;
      if (!take_nothing) wakeup_.request(held_until_);
      return tlm::TLM_ACCEPTED;
    }
    perform(payload, at);
    if (completes || !payload.is_read() || access(payload).access == protocol::AccessClass::register_invalidate) {
      delay += clock_.time(latency());
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    answers_.push_back({&payload, at + latency()});
    wakeup_.request(std::max(next_due(), now + 1));
    phase = tlm::END_REQ;
    delay = clock_.time(std::max<std::uint64_t>(1, at - now));
    return tlm::TLM_UPDATED;
  }
  static protocol::MemoryAccess& access(Payload& p) { return protocol::memory_access(p); }
  std::uint64_t latency() { return shortest + random_() % (longest - shortest + 1); }
  std::uint64_t next_due() const {
    std::uint64_t next = ~std::uint64_t{0};
    for (const Answer& a : answers_) next = std::min(next, a.due);
    return next;
  }

  void perform(Payload& p, std::uint64_t at) {
    protocol::MemoryAccess& a = access(p);
    seen.push_back({at, a.access, p.get_address(), a.last_read, a.sectors, a.bypass_l1});
    const std::size_t length = p.get_data_length();
    switch (a.access) {
      case protocol::AccessClass::register_write:
        lines[p.get_address()].assign(p.get_data_ptr(), p.get_data_ptr() + length);
        break;
      case protocol::AccessClass::register_invalidate:
        lines.erase(p.get_address());
        break;
      default: {
        const auto found = lines.find(p.get_address());
        if (found == lines.end()) {
          if (fault.empty()) fault = "read of a line that there is not, at cycle " + std::to_string(at);
          std::memset(p.get_data_ptr(), 0xee, length);
          break;
        }
        std::memcpy(p.get_data_ptr(), found->second.data(), length);
        a.supplier = supplier;
        if (a.last_read) lines.erase(found);
      }
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void work() {
    const std::uint64_t now = clock_.now();
    if (held_ != nullptr && !take_nothing && held_until_ <= now) {
      Payload& p = *held_;
      held_ = nullptr;
      perform(p, now);
      answers_.push_back({&p, now + 1 + latency()});
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = clock_.time(1);
      socket->nb_transport_bw(p, phase, delay);
    }
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      if (answers_[i].due > now) continue;
      Payload& p = *answers_[i].payload;
      answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(i));
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = clock_.time(1);
      socket->nb_transport_bw(p, phase, delay);
      p.release();
      break;  // one per cycle
    }
    std::uint64_t next = next_due();
    if (held_ != nullptr && !take_nothing) next = std::min(next, held_until_);
    if (next != ~std::uint64_t{0}) wakeup_.request(std::max(next, now + 1));
  }
  void b_transport(Payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }

  struct Answer {
    Payload* payload = nullptr;
    std::uint64_t due = 0;
  };
  support::ClockDomain& clock_;
  std::uint64_t period_;
  std::mt19937 random_;
  Payload* held_ = nullptr;
  std::uint64_t held_until_ = 0;
  std::vector<Answer> answers_;
  support::CycleClient wakeup_;
};

}  // namespace regatta::test

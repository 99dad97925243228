// SPDX-License-Identifier: Apache-2.0
//
// The memory side of a block that reads and writes whole lines beside the load-store unit: a socket, a queue, and a
// call when an access is answered. For blocks that move data at their own pace (tables that a compiler pass left in
// memory, registers that leave the SM).
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/ring.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <systemc>

namespace regatta::models {

/// The memory of an SM, as a block beside the load-store unit sees it.
struct LineMemory {
  unsigned line_bytes = 128;  ///< of the L1
  unsigned sm = 0;            ///< number of the SM
};

class MemoryRequesterClient {
 public:
  virtual ~MemoryRequesterClient() = default;
  /// The access with this tag is answered and complete in cycle `when`, the present one or a later one. `data`: the
  /// bytes of the line, of a read that carries some.
  virtual void memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) = 0;
};

/// Sends one request per cycle, in order, and obeys the exclusion rules of the base protocol. Takes any number of
/// requests; its user bounds them. Owned by a module, whose object tree its socket joins.
class MemoryRequester final : tlm::tlm_bw_transport_if<> {
 public:
  protocol::MemoryInitiatorSocket socket;

  MemoryRequester(const char* name, const LineMemory& memory, support::ClockDomain& clock,
                  MemoryRequesterClient& client)
      : socket(name),
        answer_rules_(socket),
        client_(client),
        clock_(clock),
        pool_(memory.line_bytes),
        line_bytes_(memory.line_bytes),
        sm_(static_cast<std::uint16_t>(memory.sm)),
        wakeup_(
            clock, [](void* r) { static_cast<MemoryRequester*>(r)->send(); }, this) {
    socket.bind(*this);
  }

  /// `sectors`: of 32 bytes that are wanted of the line at `address`. `last`: the line is not read again.
  void read(std::uint64_t address, protocol::AccessClass access, std::uint8_t sectors, std::uint32_t tag,
            bool last = false) {
    push(tlm::TLM_READ_COMMAND, address, access, sectors, tag, nullptr, last);
  }
  /// A whole line.
  void write(std::uint64_t address, protocol::AccessClass access, const unsigned char* data, std::uint32_t tag) {
    push(tlm::TLM_WRITE_COMMAND, address, access, 0xf, tag, data, false);
  }
  /// Requests that are not sent yet.
  std::size_t queued() const { return queue_.size(); }
  /// Payloads taken and not yet released.
  std::size_t outstanding() const { return pool_.outstanding(); }

 private:
  using Payload = tlm::tlm_generic_payload;

  void push(tlm::tlm_command command, std::uint64_t address, protocol::AccessClass access, std::uint8_t sectors,
            std::uint32_t tag, const unsigned char* data, bool last) {
    const auto [payload, extension] = pool_.take_with_access(command, address);
    extension->access = access;
    extension->sectors = sectors;
    extension->sm = sm_;
    extension->tag = tag;
    extension->bypass_l1 = true;
    extension->last_read = last;
    if (data != nullptr) std::memcpy(payload->get_data_ptr(), data, line_bytes_);
    queue_.push(payload);
    wakeup_.request(clock_.now(), next_);
  }
  void send() {
    const std::uint64_t now = clock_.now();
    if (waiting_ != nullptr || queue_.empty()) return;
    if (next_ > now) return wakeup_.request(next_);
    Payload& payload = *queue_.front();
    queue_.pop();
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = clock_.time(1);
    waiting_ = &payload;
    next_ = now + 1;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(payload, phase, delay);
    if (sync != tlm::TLM_ACCEPTED) {
      waiting_ = nullptr;
      const std::uint64_t when = now + std::max<std::uint64_t>(1, clock_.cycles(delay));
      if (sync == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
        next_ = std::max(next_, when - 1);
      } else {
        answer(payload, when);
      }
    }
    if (!queue_.empty() && waiting_ == nullptr) wakeup_.request(now, next_);
  }
  void answer(Payload& payload, std::uint64_t when) {
    if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) {
      SC_REPORT_ERROR("regatta/memory_requester",
                      (std::string(socket.name()) + ": an access to memory was answered with " +
                       payload.get_response_string() + ", expected TLM_OK_RESPONSE")
                          .c_str());
    }
    const protocol::MemoryAccess& access = protocol::memory_access(payload);
    client_.memory_answered(access.tag, payload.is_read() ? payload.get_data_ptr() : nullptr, when);
    payload.release();
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const std::uint64_t now = clock_.now();
    const std::uint64_t at = now + std::max<std::uint64_t>(1, clock_.cycles(delay));
    const bool is_answer = answer_rules_.answers(payload, phase, delay, clock_);
    if (waiting_ == &payload) {  // END_REQ, or BEGIN_RESP which implies it
      waiting_ = nullptr;
      next_ = std::max(next_, at);
      if (!queue_.empty()) wakeup_.request(now, next_);
    }
    if (!is_answer) return tlm::TLM_ACCEPTED;
    answer(payload, at);
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  const protocol::AnswerRules answer_rules_;
  MemoryRequesterClient& client_;
  support::ClockDomain& clock_;
  protocol::MemoryPayloadPool pool_;
  unsigned line_bytes_;
  std::uint16_t sm_;
  support::Ring<Payload*> queue_;
  Payload* waiting_ = nullptr;  ///< sent, END_REQ to come
  std::uint64_t next_ = 0;      ///< cycle of the next request
  support::CycleClient wakeup_;
};

}  // namespace regatta::models

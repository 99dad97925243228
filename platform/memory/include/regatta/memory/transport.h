// SPDX-License-Identifier: Apache-2.0
//
// What the memory modules have in common as TLM-2.0 components: only the non-blocking transport is used.
#pragma once

#include <regatta/memory/bounded_queue.h>
#include <regatta/memory/clock.h>
#include <regatta/protocol/payload.h>

#include <cstdint>
#include <tlm>

namespace regatta::memory {

using Payload = tlm::tlm_generic_payload;

/// A payload that may be looked at from cycle `ready` on.
struct Transfer {
  Payload* payload = nullptr;
  std::uint64_t ready = 0;
};
using TransferQueue = BoundedQueue<Transfer>;

/// Target side: blocking transport is refused with a SystemC error, there is no direct memory and no debug access.
class NonBlockingTarget : public tlm::tlm_fw_transport_if<> {
 public:
  void b_transport(Payload& payload, sc_core::sc_time&) override {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    SC_REPORT_ERROR("regatta/memory", "b_transport: the memory system is approximately timed, use nb_transport_fw");
  }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }
};

/// Initiator side: no direct memory to invalidate.
class NonBlockingInitiator : public tlm::tlm_bw_transport_if<> {
 public:
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

/// Sends requests over an initiator socket and obeys the request exclusion rule: after BEGIN_REQ nothing is sent
/// until END_REQ, which may come at once (TLM_UPDATED), later on the backward path, or implied by a response.
class RequestSender {
 public:
  enum class Answer : std::uint8_t { taken, completed, response };

  bool can_send(std::uint64_t now) const { return waiting_ == nullptr && at_ <= now; }
  bool blocked() const { return waiting_ != nullptr; }
  std::uint64_t next_at() const { return at_; }

  /// BEGIN_REQ with a delay of one cycle. completed / response: the answer came with the return, `when` is its cycle.
  template <class Socket>
  Answer send(Socket& socket, Payload& payload, const CycleClock& clock, std::uint64_t now, std::uint64_t& when) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = clock.one();
    waiting_ = &payload;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(payload, phase, delay);
    if (sync == tlm::TLM_ACCEPTED) return Answer::taken;  // END_REQ comes, or has come, on the backward path
    waiting_ = nullptr;
    when = clock.arrival(now, delay);
    at_ = now + 1;
    if (sync == tlm::TLM_COMPLETED) return Answer::completed;
    if (phase == tlm::BEGIN_RESP) return Answer::response;
    at_ = when;
    return Answer::taken;
  }
  /// END_REQ, or BEGIN_RESP which implies it, for the payload that is waiting.
  void end_request(const Payload& payload, std::uint64_t at) {
    if (waiting_ != &payload) return;
    waiting_ = nullptr;
    at_ = at;
  }

 private:
  Payload* waiting_ = nullptr;
  std::uint64_t at_ = 0;
};

/// Sends responses over a target socket and obeys the response exclusion rule.
class ResponseSender {
 public:
  bool can_send(std::uint64_t now) const { return waiting_ == nullptr && at_ <= now; }
  bool blocked() const { return waiting_ != nullptr; }
  std::uint64_t next_at() const { return at_; }

  /// BEGIN_RESP with a delay of one cycle. True when the transaction is over with the return.
  template <class Socket>
  bool send(Socket& socket, Payload& payload, const CycleClock& clock, std::uint64_t now) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = clock.one();
    waiting_ = &payload;
    at_ = now + 1;
    const tlm::tlm_sync_enum sync = socket->nb_transport_bw(payload, phase, delay);
    if (sync == tlm::TLM_ACCEPTED) return false;
    waiting_ = nullptr;
    at_ = clock.arrival(now, delay);
    return true;
  }
  /// END_RESP for the payload that is waiting. False: it was not the one.
  bool end_response(const Payload& payload, std::uint64_t at) {
    if (waiting_ != &payload) return false;
    waiting_ = nullptr;
    at_ = at;
    return true;
  }

 private:
  Payload* waiting_ = nullptr;
  std::uint64_t at_ = 0;
};

/// Sectors that a request really moves: those of `access` that a line of `line_bytes` has.
inline std::uint8_t line_sectors(unsigned line_bytes) {
  return static_cast<std::uint8_t>((1u << (line_bytes / protocol::sector_bytes)) - 1);
}
inline unsigned count_sectors(std::uint8_t mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

/// Does the request (not the answer) carry sectors?
inline bool request_has_data(protocol::AccessClass c) {
  return c == protocol::AccessClass::data_store || c == protocol::AccessClass::atomic ||
         c == protocol::AccessClass::register_write;
}
/// Does the answer carry sectors?
inline bool response_has_data(protocol::AccessClass c) {
  return c != protocol::AccessClass::data_store && c != protocol::AccessClass::register_write &&
         c != protocol::AccessClass::register_invalidate;
}

[[noreturn]] void protocol_error(const char* module, const char* what);

}  // namespace regatta::memory

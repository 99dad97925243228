// SPDX-License-Identifier: Apache-2.0
//
// What the memory modules have in common as TLM-2.0 components: only the non-blocking transport is used.
#pragma once

#include <regatta/memory/bounded_queue.h>
#include <regatta/memory/clock.h>
#include <regatta/memory/divisor.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>

#include <cstdint>
#include <tlm>

namespace regatta::memory {

using Payload = tlm::tlm_generic_payload;

/// The extension of a payload, with one call of the TLM library and no other.
inline protocol::MemoryAccess& access_of(Payload& payload) {
  auto* access = static_cast<protocol::MemoryAccess*>(payload.get_extension(protocol::MemoryAccess::ID));
  if (__builtin_expect(access == nullptr, 0)) return protocol::memory_access(payload);  // reports the error
  return *access;
}

/// A payload that may be looked at from cycle `ready` on.
struct Transfer {
  Payload* payload = nullptr;
  std::uint64_t ready = 0;
};
using TransferQueue = BoundedQueue<Transfer>;
using TransferArrivals = ArrivalQueue<Transfer>;

/// Target side: blocking transport is refused with a SystemC error, there is no direct memory and no debug access.
class NonBlockingTarget : public tlm::tlm_fw_transport_if<> {
 public:
  void b_transport(Payload& payload, sc_core::sc_time&) override { rules().refuse_blocking(payload); }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }

 protected:
  /// Of the socket that the target serves.
  virtual const protocol::MemoryRequestRules& rules() const = 0;
};

/// Initiator side: no direct memory to invalidate.
class NonBlockingInitiator : public tlm::tlm_bw_transport_if<> {
 public:
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

/// Sends requests over an initiator socket and obeys the request exclusion rule: after BEGIN_REQ nothing is sent until
/// END_REQ, which may come at once (TLM_UPDATED), later on the backward path, or implied by a response. Requests may
/// be sent ahead: all times are those with the annotated delay.
class RequestSender {
 public:
  enum class Answer : std::uint8_t { taken, completed, response };

  /// No request waits for END_REQ, nor did one at the beginning of this cycle: the same whichever side runs first.
  bool open(std::uint64_t now) const { return waiting_ == nullptr && reopened_ <= now; }
  bool blocked() const { return waiting_ != nullptr; }
  /// The earliest time of the next request.
  std::uint64_t next_at() const { return at_; }

  /// BEGIN_REQ at cycle `at`, or as soon after it as the exclusion rule allows. completed / response: the answer came
  /// with the return, `when` is its cycle.
  template <class Socket>
  Answer send(Socket& socket, Payload& payload, const CycleClock& clock, std::uint64_t now, std::uint64_t at,
              std::uint64_t& when) {
    if (at < at_) at = at_;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    const sc_core::sc_time& sent = clock.time(at - now);
    const std::uint64_t sent_value = sent.value();
    sc_core::sc_time delay = sent;
    waiting_ = &payload;
    at_ = at + 1;
    const tlm::tlm_sync_enum sync = socket->nb_transport_fw(payload, phase, delay);
    if (sync == tlm::TLM_ACCEPTED) return Answer::taken;  // END_REQ comes, or has come, on the backward path
    waiting_ = nullptr;
    when = delay.value() == sent_value ? at : clock.arrival(now, delay);
    if (sync == tlm::TLM_COMPLETED) return Answer::completed;
    if (at_ < when) at_ = when;
    return phase == tlm::BEGIN_RESP ? Answer::response : Answer::taken;
  }
  /// END_REQ, or BEGIN_RESP which implies it, for the payload that is waiting.
  void end_request(const Payload& payload, std::uint64_t at) {
    if (waiting_ != &payload) return;
    waiting_ = nullptr;
    reopened_ = at;
    if (at_ < at) at_ = at;
  }

 private:
  Payload* waiting_ = nullptr;
  std::uint64_t at_ = 0;
  std::uint64_t reopened_ = 0;
};

/// Sends responses over a target socket and obeys the response exclusion rule. Times are as with RequestSender.
class ResponseSender {
 public:
  bool open(std::uint64_t now) const { return waiting_ == nullptr && reopened_ <= now; }
  bool blocked() const { return waiting_ != nullptr; }
  std::uint64_t next_at() const { return at_; }
  /// Responses in a cycle at most, each of which the other side has to end at once.
  void set_width(unsigned width) { width_ = width; }

  /// BEGIN_RESP at cycle `at`, or as soon after it as the exclusion rule allows. True when the transaction is over
  /// with the return.
  template <class Socket>
  bool send(Socket& socket, Payload& payload, const CycleClock& clock, std::uint64_t now, std::uint64_t at) {
    if (at < at_) at = at_;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    const sc_core::sc_time& sent = clock.time(at - now);
    const std::uint64_t sent_value = sent.value();
    sc_core::sc_time delay = sent;
    waiting_ = &payload;
    sent_ = at == last_ ? sent_ + 1 : 1;
    last_ = at;
    at_ = sent_ < width_ ? at : at + 1;
    const tlm::tlm_sync_enum sync = socket->nb_transport_bw(payload, phase, delay);
    if (sync == tlm::TLM_ACCEPTED) return false;
    waiting_ = nullptr;
    if (delay.value() == sent_value) return true;
    const std::uint64_t ended = clock.arrival(now, delay);
    if (at_ < ended) at_ = ended;
    return true;
  }
  /// END_RESP for the payload that is waiting. False: it was not the one.
  bool end_response(const Payload& payload, std::uint64_t at) {
    if (waiting_ != &payload) return false;
    waiting_ = nullptr;
    reopened_ = at;
    if (at_ < at) at_ = at;
    return true;
  }

 private:
  Payload* waiting_ = nullptr;
  unsigned width_ = 1, sent_ = 0;  ///< responses in a cycle; in cycle last_
  std::uint64_t last_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t reopened_ = 0;
};

/// Sectors that a request really moves: those of `access` that a line of `line_bytes` has.
inline std::uint8_t line_sectors(unsigned line_bytes) {
  return static_cast<std::uint8_t>((1u << (line_bytes / protocol::sector_bytes)) - 1);
}
inline unsigned count_sectors(std::uint8_t mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

inline bool is_store(protocol::AccessClass c) {
  return c == protocol::AccessClass::data_store || c == protocol::AccessClass::local_store;
}
/// Does the request (not the answer) carry sectors?
inline bool request_has_data(protocol::AccessClass c) {
  return is_store(c) || c == protocol::AccessClass::atomic || c == protocol::AccessClass::register_write;
}
/// Does the answer carry sectors?
inline bool response_has_data(protocol::AccessClass c) {
  return !is_store(c) && c != protocol::AccessClass::register_write && c != protocol::AccessClass::register_invalidate;
}

/// Ends the simulation with an error of type "regatta/memory".
[[noreturn, gnu::cold]] void protocol_error(const char* socket, const char* what);

}  // namespace regatta::memory

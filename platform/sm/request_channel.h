// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract.h"

#include <tlm>

namespace regatta::sm {

/// The base protocol's request exclusion on one initiator socket: after a request that was only TLM_ACCEPTED, no
/// other may be sent before its END_REQ (or a BEGIN_RESP, which implies it) takes effect.
class RequestChannel {
 public:
  bool open(protocol::Cycle now) const { return held_ == nullptr && resume_ <= now; }
  /// The target has taken the last request as of a later cycle.
  bool opens_after(protocol::Cycle now) const { return held_ == nullptr && now < resume_; }
  void hold(const tlm::tlm_generic_payload& payload, protocol::Cycle now) {
    held_ = &payload;
    since_ = now;
  }
  bool holds(const tlm::tlm_generic_payload& payload) const { return held_ == &payload; }
  /// The request that the target has not taken, and since when; null when there is none.
  const tlm::tlm_generic_payload* held() const { return held_; }
  protocol::Cycle since() const { return since_; }
  /// END_REQ or BEGIN_RESP for `payload`, in effect at `when`. True when it was the one that held the channel.
  bool answered(const tlm::tlm_generic_payload& payload, protocol::Cycle when) {
    if (held_ != &payload) return false;
    held_ = nullptr;
    resume_ = when;
    return true;
  }

 private:
  const tlm::tlm_generic_payload* held_ = nullptr;
  protocol::Cycle resume_;
  protocol::Cycle since_;
};

constexpr std::uint64_t not_completed = ~std::uint64_t{0};

/// The target did not complete the request in the same call. Its cycles if it answered all the same, else
/// not_completed: the answer comes on the backward path, and the channel is held if the target has not taken the
/// request.
template <class Socket>
[[gnu::noinline, gnu::cold]] std::uint64_t not_at_once(Socket& socket, tlm::tlm_generic_payload& payload,
                                                       tlm::tlm_sync_enum answer, tlm::tlm_phase phase,
                                                       const sc_core::sc_time& delay, const TargetContract& contract,
                                                       RequestChannel& channel, const Core& core) {
  if (answer == tlm::TLM_ACCEPTED) {
    channel.hold(payload, core.now);
    return not_completed;
  }
  contract.updated(payload, phase);
  if (phase != tlm::BEGIN_RESP) return not_completed;
  const std::uint64_t cycles = contract.completed(payload, delay);
  tlm::tlm_phase end = tlm::END_RESP;
  sc_core::sc_time zero = sc_core::SC_ZERO_TIME;
  socket->nb_transport_fw(payload, end, zero);
  return cycles;
}

/// Sends a request over an initiator socket whose channel is open. The cycles until its effect, at least 1, if the
/// target completed it; else not_completed.
template <class Socket>
[[gnu::always_inline]] inline std::uint64_t send_request(Socket& socket, tlm::tlm_generic_payload& payload,
                                                         const TargetContract& contract, RequestChannel& channel,
                                                         const Core& core) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum answer = socket->nb_transport_fw(payload, phase, delay);
  if (__builtin_expect(answer != tlm::TLM_COMPLETED, 0)) {
    return not_at_once(socket, payload, answer, phase, delay, contract, channel, core);
  }
  return contract.completed(core, payload, delay);
}

}  // namespace regatta::sm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>

#include <tlm>

namespace regatta::sm {

/// The base protocol's request exclusion on one initiator socket: after a request that was only TLM_ACCEPTED, no
/// other may be sent before its END_REQ (or a BEGIN_RESP, which implies it) takes effect.
class RequestChannel {
 public:
  bool open(protocol::Cycle now) const { return held_ == nullptr && resume_ <= now; }
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

}  // namespace regatta::sm

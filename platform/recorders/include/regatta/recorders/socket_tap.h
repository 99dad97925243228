// SPDX-License-Identifier: Apache-2.0
//
// An interposer that reports the traffic on a socket and changes nothing. It exists only when needed.
#pragma once

#include <regatta/protocol/interposer.h>

#include <functional>

namespace regatta::recorders {

template <unsigned BUSWIDTH>
class SocketTap : public protocol::Interposer<BUSWIDTH> {
 public:
  /// A request begins; `delay` from the present cycle on.
  std::function<void(tlm::tlm_generic_payload&, const sc_core::sc_time& delay)> requested;
  /// The answer is there (read data delivered, write done).
  std::function<void(tlm::tlm_generic_payload&, const sc_core::sc_time& delay)> answered;

  explicit SocketTap(const sc_core::sc_module_name& name) : protocol::Interposer<BUSWIDTH>(name) {}
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const bool begins = phase == tlm::BEGIN_REQ;
    if (begins && requested) requested(payload, delay);
    const tlm::tlm_sync_enum sync = this->out->nb_transport_fw(payload, phase, delay);
    const bool done = sync == tlm::TLM_COMPLETED || (sync == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
    if (begins && done && answered) answered(payload, delay);
    return sync;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_RESP && answered) answered(payload, delay);
    return this->in->nb_transport_bw(payload, phase, delay);
  }
};

}  // namespace regatta::recorders

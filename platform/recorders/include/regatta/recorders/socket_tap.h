// SPDX-License-Identifier: Apache-2.0
//
// An interposer that reports the traffic on a socket and changes nothing. It exists only when needed.
#pragma once

#include <functional>
#include <tlm>

namespace regatta::recorders {

/// Bind the initiator to `in` and `out` to the target.
template <unsigned BUSWIDTH>
class SocketTap : public sc_core::sc_module, public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<BUSWIDTH> in;
  tlm::tlm_initiator_socket<BUSWIDTH> out;

  /// A request begins; `delay` from the present cycle on.
  std::function<void(tlm::tlm_generic_payload&, const sc_core::sc_time& delay)> requested;
  /// The answer is there (read data delivered, write done).
  std::function<void(tlm::tlm_generic_payload&, const sc_core::sc_time& delay)> answered;

  explicit SocketTap(const sc_core::sc_module_name& name) : sc_module(name), in("in"), out("out") {
    in.bind(*this);
    out.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const bool begins = phase == tlm::BEGIN_REQ;
    if (begins && requested) requested(payload, delay);
    const tlm::tlm_sync_enum sync = out->nb_transport_fw(payload, phase, delay);
    const bool done = sync == tlm::TLM_COMPLETED || (sync == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
    if (begins && done && answered) answered(payload, delay);
    return sync;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_RESP && answered) answered(payload, delay);
    return in->nb_transport_bw(payload, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    out->b_transport(payload, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    return out->get_direct_mem_ptr(payload, dmi);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return out->transport_dbg(payload); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    in->invalidate_direct_mem_ptr(first, last);
  }
};

}  // namespace regatta::recorders

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace regatta::protocol {

/// Stands between two sockets and forwards every call unchanged: bind the initiator to `in` and `out` to the target.
/// What looks at the traffic, or changes it, overrides the calls that it is concerned with.
template <unsigned BUSWIDTH>
class Interposer : public sc_core::sc_module, public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<BUSWIDTH> in;
  tlm::tlm_initiator_socket<BUSWIDTH> out;

  explicit Interposer(const sc_core::sc_module_name& name) : sc_module(name), in("in"), out("out") {
    in.bind(*this);
    out.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return out->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
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
  /// The path of the target socket that `out` is bound to, for messages; "" if it cannot be found. After elaboration.
  std::string target_socket() { return target_among(sc_core::sc_get_top_level_objects()); }

 private:
  std::string target_among(const std::vector<sc_core::sc_object*>& objects) {
    using Target = tlm::tlm_base_target_socket_b<BUSWIDTH, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
    for (sc_core::sc_object* object : objects) {
      // It calls us on the backward path.
      auto* const target = dynamic_cast<Target*>(object);
      if (target != nullptr && target->get_base_port().get_interface() == out.get_base_export().get_interface()) {
        return object->name();
      }
      std::string below = target_among(object->get_child_objects());
      if (!below.empty()) return below;
    }
    return "";
  }
};

}  // namespace regatta::protocol

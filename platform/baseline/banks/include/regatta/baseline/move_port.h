// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/request_rules.h>

#include <cstdint>
#include <systemc>
#include <tlm>

namespace regatta::models {

/// One of the two sockets of a banked file at which an engine moves the registers of whole CTAs (FineReg, section V-D).
/// It only tells apart what comes in here from operands and results.
template <class File>
class MovePort final : public tlm::tlm_fw_transport_if<> {
 public:
  MovePort(File& file, const sc_core::sc_object& socket) : rules(socket, socket), file_(file) {}

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return file_.begin_move(*this, payload, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) override { rules.refuse_blocking(payload); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  protocol::OperandRequestRules rules;
  tlm::tlm_generic_payload* held = nullptr;  ///< waits for its bank
  std::uint64_t held_since = 0;
  std::uint64_t accesses = 0;

 private:
  File& file_;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace regatta::models {

/// One of the two sockets of a banked file at which an engine moves the registers of whole CTAs (FineReg, section V-D).
/// It only tells apart what comes in here from operands and results.
template <class File>
class MovePort final : public tlm::tlm_fw_transport_if<> {
 public:
  explicit MovePort(File& file) : file_(file) {}

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    return file_.begin_move(*this, payload, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    SC_REPORT_ERROR("regatta/register_file", "b_transport: moves are approximately timed, use nb_transport_fw");
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  tlm::tlm_generic_payload* held = nullptr;  ///< waits for its bank
  std::uint64_t held_since = 0;
  std::uint64_t accesses = 0;

 private:
  File& file_;
};

}  // namespace regatta::models

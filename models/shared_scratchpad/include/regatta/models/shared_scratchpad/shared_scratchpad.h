// SPDX-License-Identifier: Apache-2.0
//
// The shared memory of scratchpad sharing (Jatala, thesis, section 2.2.2): a pair of CTAs has bytes in common.
#pragma once

#include <regatta/models/resource_sharing/sharing.h>
#include <regatta/protocol/shared_contents.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

namespace regatta::models {

/// The bytes of one SM:
///
///   CTAs that share nothing | per pair: private part of side 0, of side 1, common part
///
/// The common part is the same bytes for both CTAs. The memory does not know the lock: if both have access, each loses
/// its values to the other. Contents are kept from launch to launch, as undefined as in hardware.
class SharedScratchpad final : public sc_core::sc_module,
                               public protocol::SharedContents,
                               public tlm::tlm_fw_transport_if<>,
                               public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_port<ScratchpadBoundary> boundary;
  protocol::SharedTargetSocket socket;

  /// `bytes` of shared memory.
  SharedScratchpad(const sc_core::sc_module_name& name, unsigned bytes);

  void end_of_elaboration() override;
  bool keeps_cycle_time() const override { return true; }
  protocol::SharedTargetSocket& shared_socket() override { return socket; }
  void kernel_started(const protocol::KernelContext& context) override;

  /// Where byte `offset` of a CTA lies, below its size.
  std::uint32_t place(protocol::CtaSlot cta, std::uint32_t offset) const;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const CtaPairs* pairs_ = nullptr;
  const ScratchpadBoundary* boundary_ = nullptr;
  std::uint64_t cta_bytes_ = 0;  ///< that an access may touch
  unsigned private_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::uint64_t words_read_ = 0, words_written_ = 0, common_words_ = 0;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// Shared memory in which every CTA has bytes of its own, and a common part in turn with others.
#pragma once

#include <regatta/protocol/request_rules.h>
#include <regatta/protocol/shared_contents.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace regatta::models {

/// The bytes of one SM. A derived class says where those of a CTA lie. The memory does not know who may access what: if
/// two CTAs access the same bytes, each loses its values to the other. Contents are kept from launch to launch, as
/// undefined as in hardware.
class DividedScratchpad : public sc_core::sc_module,
                          public protocol::SharedContents,
                          public tlm::tlm_fw_transport_if<>,
                          public support::StatProvider {
 public:
  sc_core::sc_port<ScratchpadBoundary> boundary;
  protocol::SharedTargetSocket socket;

  void end_of_elaboration() override { boundary_ = boundary.operator->(); }
  bool keeps_cycle_time() const override { return true; }
  protocol::SharedTargetSocket& shared_socket() override { return socket; }
  void kernel_started(const protocol::KernelContext& context) override;

  /// Where byte `offset` of a CTA lies, below its size.
  std::uint32_t place(protocol::CtaSlot cta, std::uint32_t offset) const { return parts_of(cta).place(offset); }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 protected:
  /// The parts of a CTA: its first bytes lie at `own`, those from `split` on at `common`.
  struct Parts {
    std::uint32_t own = 0, common = 0, split = 0;
    bool takes_turns = false;  ///< others have the common part too
    std::uint32_t place(std::uint32_t offset) const { return offset < split ? own + offset : common + offset - split; }
  };

  /// `bytes` of shared memory.
  DividedScratchpad(const sc_core::sc_module_name& name, unsigned bytes);

  virtual Parts parts_of(protocol::CtaSlot cta) const = 0;
  /// Bytes that the CTAs of the launch take, and what these CTAs are, for a message.
  virtual std::uint64_t used_bytes() const = 0;
  virtual std::string ctas_text() const = 0;

  unsigned whole_bytes() const { return boundary_->cta_bytes(); }
  unsigned private_bytes() const { return private_; }
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;

 private:
  const protocol::SharedRequestRules rules_;
  const ScratchpadBoundary* boundary_ = nullptr;
  std::uint64_t cta_bytes_ = 0;  ///< that an access may touch
  unsigned private_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::uint64_t words_read_ = 0, words_written_ = 0, common_words_ = 0;
};

}  // namespace regatta::models

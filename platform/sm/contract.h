// SPDX-License-Identifier: Apache-2.0
//
// What a block at an extension point must not do, found out where the pipeline takes its answer. Checks that cost
// next to nothing are always on; the others need SmConfig::check_contracts (--check-protocol, or a debug build).
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/block_name.h>

#include "core.h"

#include <string>
#include <systemc>
#include <tlm>

namespace regatta::sm {

/// Ends the simulation (SC_REPORT_ERROR of type "regatta/<point>"): the block at `point` ("reuse_point") broke the
/// contract of its interface. The message reads "<block> in cycle <n>: <did>; expected <expected>".
[[noreturn, gnu::noinline, gnu::cold]] void broken_contract(const Core& core, const char* point,
                                                            const std::string& block, const std::string& did,
                                                            const std::string& expected);
/// "0x3f8".
std::string hex(std::uint64_t value);
/// The warp as messages name it: "warp 3 (CTA 5)".
std::string describe(const Core& core, WarpSlot warp);
/// The instruction as messages name it: "warp 3 (CTA 5) PC 0x28 int_add".
std::string describe(const Core& core, const DynamicInstruction& d);

/// resume_kept() handed back no instruction, or one that the block does not keep.
[[noreturn, gnu::noinline, gnu::cold]] void not_kept(const Core& core, const DynamicInstruction* d, const char* point,
                                                     const std::string& block);

/// resume_kept() of `block` at `point` hands `d` back: it must be one that the point keeps.
template <class Block>
DynamicInstruction& take_back(const Core& core, DynamicInstruction* d, protocol::KeptBy by, const char* point,
                              const Block& block) {
  if (__builtin_expect(static_cast<int>(d == nullptr || d->kept_by != by), 0) != 0) {
    not_kept(core, d, point, support::block_name(block));
  }
  d->kept_by = protocol::KeptBy::nobody;
  return *d;
}

/// What a target may answer to an access of one initiator socket of the SM.
class TargetContract {
 public:
  /// `point`: where the target stands ("operand_storage"); `access`: what is asked of it ("read").
  TargetContract(const Core& core, const char* point, const char* access)
      : core_(core), point_(point), access_(access) {}
  /// The target's name in messages.
  void set_target(std::string name) { target_ = std::move(name); }
  const std::string& target() const { return target_; }

  /// The access is complete: cycles until its effect, from now, at least 1.
  std::uint64_t completed(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) const {
    return completed(core_, payload, delay);
  }
  /// The same for a caller that has the core at hand, in the hottest loop of the pipeline.
  std::uint64_t completed(const Core& core, const tlm::tlm_generic_payload& payload,
                          const sc_core::sc_time& delay) const {
    const std::uint64_t cycles = core.cycles(delay);
    if (__builtin_expect(
            payload.get_response_status() != tlm::TLM_OK_RESPONSE || cycles == 0 || !core.whole(cycles, delay), 0)) {
      wrong_completion(payload, delay);
    }
    return cycles;
  }
  /// On the forward path TLM_UPDATED came with `phase`.
  void updated(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) const {
    if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) wrong_phase(payload, phase);
  }
  /// The target calls on the backward path: the cycle in which the SM can act on it. `in_flight`: the access has not
  /// been answered; `holds`: its request is the one that holds the socket.
  Cycle arrival(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, const sc_core::sc_time& delay,
                bool in_flight, bool holds) const;

 private:
  [[noreturn, gnu::noinline, gnu::cold]] void wrong_completion(const tlm::tlm_generic_payload& payload,
                                                               const sc_core::sc_time& delay) const;
  [[noreturn, gnu::noinline, gnu::cold]] void wrong_phase(const tlm::tlm_generic_payload& payload,
                                                          tlm::tlm_phase phase) const;
  /// "read of R4 for warp 3 (CTA 5) PC 0x28 int_add".
  std::string describe_access(const tlm::tlm_generic_payload& payload) const;

  const Core& core_;
  const char* point_;
  const char* access_;
  std::string target_ = "the target";
};

/// Finds out whether a block changed of an instruction what it may not.
class InstructionSnapshot {
 public:
  void take(const DynamicInstruction& d);
  /// What has changed since take(); null: nothing. A block that supplies the results may change these.
  const char* changed(const DynamicInstruction& d, bool results_may_change) const;

 private:
  DynamicInstruction before_;
};

}  // namespace regatta::sm

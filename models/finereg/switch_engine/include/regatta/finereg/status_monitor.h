// SPDX-License-Identifier: Apache-2.0
//
// The CTA status monitor of FineReg (MICRO 2018, section V-B, Table IV): where the pipeline context and the registers
// of every resident CTA are, and which pending CTA goes next.
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/support/stats.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <systemc>

namespace regatta::models {

/// Table IV, two bits each.
enum class ContextAt : std::uint8_t { nowhere = 0, shared_memory = 1, pipeline = 2 };
enum class RegistersAt : std::uint8_t { nowhere = 0, pending_file = 1, active_file = 2 };

/// Section V-F: "up to 128 CTAs or 512 warps".
inline constexpr unsigned monitored_ctas = 128;
inline constexpr unsigned monitored_warps = 512;

/// A bit per CTA slot.
using CtaSet = std::bitset<monitored_ctas>;

class CtaStatusAccess : public virtual sc_core::sc_interface {
 public:
  virtual void set(protocol::CtaSlot cta, ContextAt context, RegistersAt registers) = 0;
  virtual ContextAt context(protocol::CtaSlot cta) const = 0;
  virtual RegistersAt registers(protocol::CtaSlot cta) const = 0;
  /// Of the pending CTAs among `ready`: one whose registers are in the active file, or else one whose registers are
  /// elsewhere; in turn within each kind. None: no pending CTA is ready.
  virtual std::optional<protocol::CtaSlot> candidate(const CtaSet& ready) = 0;
};

/// Two arrays of 128 fields of two bits. A CTA is active if both are 2; otherwise it is pending.
class CtaStatusMonitor final : public sc_core::sc_module, public CtaStatusAccess, public support::StatProvider {
 public:
  sc_core::sc_export<CtaStatusAccess> access;

  explicit CtaStatusMonitor(const sc_core::sc_module_name& name);

  void set(protocol::CtaSlot cta, ContextAt context, RegistersAt registers) override;
  ContextAt context(protocol::CtaSlot cta) const override { return static_cast<ContextAt>(contexts_[cta.value()]); }
  RegistersAt registers(protocol::CtaSlot cta) const override {
    return static_cast<RegistersAt>(registers_[cta.value()]);
  }
  std::optional<protocol::CtaSlot> candidate(const CtaSet& ready) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  std::array<std::uint8_t, monitored_ctas> contexts_{};
  std::array<std::uint8_t, monitored_ctas> registers_{};
  unsigned next_ = 0;  ///< where the search begins
  std::uint64_t updates_ = 0, searches_ = 0;
};

}  // namespace regatta::models

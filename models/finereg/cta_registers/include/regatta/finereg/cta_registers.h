// SPDX-License-Identifier: Apache-2.0
//
// Between the block that switches CTAs and the blocks that hold the registers of CTAs that are not active.
#pragma once

#include <regatta/protocol/lookup.h>
#include <regatta/protocol/residency.h>

#include <cstdint>
#include <optional>
#include <systemc>

namespace regatta::models {

/// The register file, divided into places for the registers of one CTA each.
class CtaPlaces : public virtual sc_core::sc_interface {
 public:
  /// Places that no CTA has.
  virtual unsigned free_places() const = 0;
  virtual bool has_place(protocol::CtaSlot cta) const = 0;
  /// No result of the CTA waits to be written: at a bank of the file, or in the file for a unit that answers late.
  virtual bool settled(protocol::CtaSlot cta) const = 0;
  /// The resident CTA, which has none, takes a free place: its warps have rows again, with undefined contents.
  virtual void enter(protocol::CtaSlot cta) = 0;
  /// The same, in the place of `leaving`. Until leave(leaving), both CTAs can access the rows.
  virtual void enter_place_of(protocol::CtaSlot cta, protocol::CtaSlot leaving) = 0;
  /// The warps of the CTA have no rows any more. Its place is free, unless another CTA has entered it.
  virtual void leave(protocol::CtaSlot cta) = 0;
};

/// Keeps CTAs active that hold what others wait for.
class SwitchVeto : public virtual sc_core::sc_interface {
 public:
  /// Whether the active CTA may be switched out now.
  virtual bool may_leave(protocol::CtaSlot cta) const = 0;
};

/// Moves the registers of pending CTAs out of the register file and back. It makes one move at a time.
///
/// How many registers a CTA would take elsewhere is a lookup (protocol/lookup.h): the request names the CTA, the answer
/// is a number of warp registers. It holds until the CTA runs again.
class RegisterTransfer : public virtual sc_core::sc_interface {
 public:
  enum class Room : std::uint8_t {
    yes,
    no,
    not_counted  ///< the CTA has run since its registers were counted: a lookup has to come first
  };
  /// Most CTAs of a launch whose registers can be away at a time, of an SM; throws support::ConfigError for a kernel
  /// that cannot be moved. Asked when a launch is planned.
  virtual unsigned most_away(const protocol::KernelContext& context, const protocol::SmLimits& limits) = 0;
  /// Of a unified memory: warp registers that `pending` CTAs of a launch could use of it, and how many they have.
  virtual std::uint64_t registers_wanted(const protocol::KernelContext&, unsigned /*pending*/) const { return 0; }
  virtual void set_registers(std::uint64_t) {}
  /// Whether the registers of `out` find room elsewhere, once those of `in` (if there is one) are back in the file.
  virtual Room room_for(protocol::CtaSlot out, std::optional<protocol::CtaSlot> in) const = 0;
  /// Begins a move: the registers of `out` leave the file, those of `in` come back, into the place of `out` if there is
  /// one, or a free place. `out` is quiesced, and there is room for it. At least one of them is given.
  virtual void move(std::optional<protocol::CtaSlot> out, std::optional<protocol::CtaSlot> in) = 0;
  /// A move is under way.
  virtual bool moving() const = 0;
  /// Notified when a move has ended, or there may be more room.
  virtual const sc_core::sc_event& ended() const = 0;
};

using RegisterCounts = protocol::Lookup<protocol::CtaSlot, unsigned>;
using RegisterCountTarget = protocol::LookupTarget<protocol::CtaSlot, unsigned>;
using RegisterCountInitiator = protocol::LookupInitiator<protocol::CtaSlot, unsigned>;

}  // namespace regatta::models

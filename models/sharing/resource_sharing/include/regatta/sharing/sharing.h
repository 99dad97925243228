// SPDX-License-Identifier: Apache-2.0
//
// Between the blocks of resource sharing (Jatala, thesis, chapter 2): which CTAs are pairs, which of the two is the
// owner, what of a warp's registers is its own, and who holds the others.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/sharing/effective_ctas.h>

#include <cstdint>
#include <optional>
#include <systemc>

namespace regatta::models {

/// A CTA slot of a pair: pairs are numbered, and have sides 0 and 1.
struct PairMember {
  unsigned pair = 0;
  unsigned side = 0;

  PairMember partner() const { return {pair, 1 - side}; }
};

/// Pairs of CTA slots, fixed for a launch (ShSM and ShTB of section 2.4). Valid from Residency::plan() on.
class CtaPairs : public virtual sc_core::sc_interface {
 public:
  virtual const SharingPlan& plan() const = 0;
  /// None: the CTA of this slot shares nothing.
  virtual std::optional<PairMember> member(protocol::CtaSlot cta) const = 0;
  virtual protocol::CtaSlot slot(PairMember member) const = 0;
};

/// The boundary between a warp's own registers and those of its pair.
class RegisterBoundary : public virtual sc_core::sc_interface {
 public:
  /// Registers R0, R1, ... of every warp of a pair that are its own.
  virtual unsigned private_registers() const = 0;
};

/// The boundary between the shared memory that a CTA of a pair has for itself and the common part.
class ScratchpadBoundary : public virtual sc_core::sc_interface {
 public:
  /// Bytes 0, 1, ... of a CTA's shared memory that are its own, in every CTA of a pair.
  virtual unsigned private_bytes() const = 0;
  /// Shared memory that a CTA takes when it shares nothing, bytes.
  virtual unsigned cta_bytes() const = 0;
};

/// CTAs of a launch whose shared memory is allocated in turn: places for the common part, of which a CTA has one from
/// its first access on (shared memory multiplexing).
struct MultiplexPlan {
  unsigned ctas = 0;
  unsigned places = 0;  ///< fewer than CTAs, or as many: then every CTA has the place of its slot

  bool multiplexes() const { return places < ctas; }
};

/// Valid from Residency::plan() on.
class Multiplex : public virtual sc_core::sc_interface {
 public:
  virtual const MultiplexPlan& plan() const = 0;
};

/// Which CTA has which place.
class ScratchpadPlaces : public virtual sc_core::sc_interface {
 public:
  virtual unsigned free_places() const = 0;
  /// None: the CTA has no place.
  virtual std::optional<unsigned> place(protocol::CtaSlot cta) const = 0;
  /// The CTA has no place, and one is free.
  virtual void take(protocol::CtaSlot cta) = 0;
  /// The CTA has a place.
  virtual void give_back(protocol::CtaSlot cta) = 0;
};

/// What a warp is to the others: its priority class (SmControl::classify), of which lower ones go first under
/// --scheduler owf. Section 2.3.1.
enum class WarpRole : std::uint8_t { owner = 0, unshared = 1, non_owner = 2 };

/// Which CTA of every pair is the owner. A pair with a resident CTA has exactly one.
class CtaOwners : public virtual sc_core::sc_interface {
 public:
  virtual WarpRole role(protocol::CtaSlot cta) const = 0;
  /// The CTA of a pair has taken what the two share: it is the owner from now on, and its partner is not.
  virtual void took(protocol::CtaSlot cta) = 0;
  /// The CTA will not use any more what the two share, and goes on (relssp). Until it ends it stays the owner, and its
  /// partner counts as one that shares nothing.
  virtual void released(protocol::CtaSlot cta) = 0;
};

/// Told of every CTA that becomes the owner while it is resident.
class OwnerListener : public virtual sc_core::sc_interface {
 public:
  virtual void became_owner(protocol::CtaSlot cta) = 0;
};

/// The lock table: who holds the registers that a pair of warps share. Lock i of pair p, of warps number i of both
/// CTAs, is number p x warps of a CTA + i.
class RegisterLocks : public virtual sc_core::sc_interface {
 public:
  virtual std::optional<protocol::WarpSlot> holder(unsigned lock) const = 0;
  /// The lock is free.
  virtual void take(unsigned lock, protocol::WarpSlot warp) = 0;
  /// The warp holds it.
  virtual void give_back(unsigned lock, protocol::WarpSlot warp) = 0;
};

/// The lock table of scratchpad sharing: which CTA of a pair has access to the common part of shared memory.
class ScratchpadLocks : public virtual sc_core::sc_interface {
 public:
  virtual std::optional<protocol::CtaSlot> holder(unsigned pair) const = 0;
  /// The lock is free.
  virtual void take(unsigned pair, protocol::CtaSlot cta) = 0;
  /// The CTA holds it.
  virtual void give_back(unsigned pair, protocol::CtaSlot cta) = 0;
};

/// The release bits of scratchpad sharing (section 3.2.2): which threads of a CTA will not access the common part any
/// more. Reset when a CTA is launched.
class ReleaseBits : public virtual sc_core::sc_interface {
 public:
  /// These lanes of a warp have executed relssp, or have ended.
  virtual void set(protocol::WarpSlot warp, protocol::LaneMask lanes) = 0;
  /// Whether every thread of the CTA has its bit set.
  virtual bool all_set(protocol::CtaSlot cta) const = 0;
};

/// A warp's claim to the free lock of its pair.
struct LockClaim {
  PairMember cta;
  bool is_owner = false;       ///< the CTA is the owner of its pair
  bool partner_ended = false;  ///< the other warp of the pair has ended, or is of no CTA
};

/// The deadlock rule: whether a warp may take a free lock (section 2.2.3).
class LockRule : public virtual sc_core::sc_interface {
 public:
  virtual bool may_take(const LockClaim& claim) const = 0;
  /// Whether the CTA is the owner of its pair from now on. False: it is what it was.
  virtual bool taken(const LockClaim& claim) = 0;
  virtual void returned(PairMember cta) = 0;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// Between the blocks of resource sharing (Jatala, thesis, chapter 2): which CTAs are pairs, which of the two is the
// owner, what of a warp's registers is its own, and who holds the others.
#pragma once

#include <regatta/models/resource_sharing/effective_ctas.h>
#include <regatta/protocol/lifecycle.h>

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

/// What a warp is to the others: its priority class (SmControl::classify), of which lower ones go first under
/// --scheduler owf. Section 2.3.1.
enum class WarpRole : std::uint8_t { owner = 0, unshared = 1, non_owner = 2 };

/// Which CTA of every pair is the owner. A pair with a resident CTA has exactly one.
class CtaOwners : public virtual sc_core::sc_interface {
 public:
  virtual WarpRole role(protocol::CtaSlot cta) const = 0;
  /// The CTA of a pair has taken what the two share: it is the owner from now on, and its partner is not.
  virtual void took(protocol::CtaSlot cta) = 0;
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

/// The deadlock rule: whether a warp of this CTA may take a free lock (section 2.2.3).
class LockRule : public virtual sc_core::sc_interface {
 public:
  virtual bool may_take(PairMember cta) const = 0;
  virtual void taken(PairMember cta) = 0;
  virtual void returned(PairMember cta) = 0;
};

}  // namespace regatta::models

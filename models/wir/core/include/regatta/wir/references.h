// SPDX-License-Identifier: Apache-2.0
//
// Transactions about references to physical registers (WIR section V-E). A reference has one owner: a rename entry, an
// entry of a buffer, or an instruction in flight. Owners say so to the register allocator, which alone counts.
#pragma once

#include <regatta/wir/physical_register.h>
#include <regatta/wir/register_pool.h>
#include <regatta/wir/reuse_entries.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// What owners of references say. Each call takes effect in the present cycle, after what settle() catches up with.
class References : public virtual sc_core::sc_interface {
 public:
  /// An instruction will read the registers, in slots 0 to `count` - 1 of which those with `no_register` are skipped.
  /// No counter limits these references. Throws std::logic_error for a register that is free.
  virtual void hold(const PhysicalRegister* regs, unsigned count) = 0;
  /// An instruction has read the register, or will not read it.
  virtual void end_hold(PhysicalRegister reg) = 0;
  /// A further owner of each of the first registers up to `no_register`, at most `count`. All or none: false, without
  /// effect, if the counter of one is at its maximum.
  virtual bool share(const PhysicalRegister* regs, unsigned count) = 0;
  /// An owner gives the register up; nothing for no_register.
  virtual void release(PhysicalRegister reg) = 0;
  /// An owner that had `before` takes over the reference of an instruction to `after`.
  virtual void replace(PhysicalRegister before, PhysicalRegister after) = 0;
  /// Whether the machine is in low-register mode: fewer registers are free than an instruction needs, at least one.
  virtual bool low() = 0;
  /// Catches up with low-register mode: for each past cycle of it, once and in order, asks every keeper for an entry
  /// (ReferenceKeeper::give_up_idle()) and releases its registers. A keeper calls it before it looks at its entries if
  /// `low_mode()` is set. Since every other call settles too, a keeper's own give_up_idle() may run inside of it.
  virtual void settle() = 0;
  /// Whether low-register mode was on at the last transaction, which low() may find to have changed. Valid from
  /// elaboration on, for the whole run.
  virtual const bool& low_mode() const = 0;
  /// Compares the counts with the references that the keepers have. Reports a SystemC error.
  virtual void check() const = 0;
};

/// How many owners a register has, by register; of these, instructions that have not read it yet. Whoever counts sizes
/// both lists.
struct ReferenceCounts {
  std::vector<std::uint32_t> references, holds;
  /// Some references are on their way to their owner, with an answer that comes late: the counts cannot be compared.
  bool incomplete = false;
  /// If it is set: the tags of loads that name a CTA, of the results that the block has.
  std::vector<ReuseTag>* loads = nullptr;
  void add(PhysicalRegister reg) {
    if (reg != no_register) ++references[reg.value()];
  }
  /// An entry of the reuse buffer, or of a block in front of it, with its result.
  void add(const ReuseTag& tag, const ReuseResult& result) {
    for (const PhysicalRegister reg : tag.sources) add(reg);
    for (const PhysicalRegister reg : result) add(reg);
    if (loads != nullptr && tag.block != 0) loads->push_back(tag);
  }
};

/// A block whose entries own references.
class ReferenceKeeper : public virtual sc_core::sc_interface {
 public:
  static constexpr unsigned most_given_up = 8;  ///< six sources and two results of a reuse buffer entry
  /// A cycle of low-register mode, now past: a buffer that was not accessed in `cycle` has given up one entry, chosen
  /// at random. Writes its registers to `regs`, which has room for `most_given_up`, and returns their number: the
  /// allocator releases them as of that cycle.
  virtual unsigned give_up_idle(std::uint64_t /*cycle*/, PhysicalRegister* /*regs*/) { return 0; }
  /// Fewer registers may be in use: gives up entries, one at a time, while more() is true.
  virtual void give_up_while(const std::function<bool()>& /*more*/) {}
  /// The kernel has ended: gives up everything.
  virtual void give_up_all() {}
  /// Adds the references of its entries.
  virtual void count(ReferenceCounts& counts) const = 0;
  /// For messages: itself, or the block behind a checker.
  virtual const ReferenceKeeper& block() const { return *this; }
};

/// xorshift: any fixed sequence that visits every entry is good enough. The buffers draw the same numbers and use other
/// bits of them.
inline std::uint64_t next_random(std::uint64_t& random) {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random;
}

/// What the issue stage asks before an instruction that remaps registers (README, "Why it cannot deadlock"): a register
/// may be held by readers alone only against a credit, which returns when the last reader has read it.
class ReaderCredits : public virtual sc_core::sc_interface {
 public:
  /// The counters as they are in the present cycle; valid for the whole run. RegisterPool::holds() of a register is not
  /// 0 as long as an instruction has not read it.
  virtual const RegisterPool& view() const = 0;
  /// Whether `wanted` further registers may be held by readers alone.
  virtual bool credits_left(unsigned wanted) const = 0;
  /// Takes a credit for the register.
  virtual void promise(PhysicalRegister reg) = 0;
  /// An instruction was refused: opened() is notified when a register has no more readers.
  virtual void refused() = 0;
  virtual const sc_core::sc_event& opened() const = 0;
};

}  // namespace regatta::models::wir

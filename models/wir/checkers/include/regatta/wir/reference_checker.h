// SPDX-License-Identifier: Apache-2.0
//
// Interposers that balance the references to physical registers per block (--check-protocol).
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/wir/entered_loads.h>
#include <regatta/wir/references.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

class ReferenceChecker;

/// The checkers of one register allocator. It compares them with their blocks at the end of a kernel.
class ReferenceCheckers : public protocol::LifecycleListener {
 public:
  explicit ReferenceCheckers(const EnteredLoads& loads) : loads_(loads) {}
  void add(ReferenceChecker& checker) { all_.push_back(&checker); }
  /// Compares what each block has with what it counts, unless an answer is on its way.
  void compare() const;
  /// No block is in look_up().
  bool idle() const { return visits_.empty(); }
  void kernel_finished(const protocol::KernelContext&) override { compare(); }

 private:
  friend class ReferenceChecker;
  /// A block that is in look_up().
  struct Visit {
    ReferenceChecker* block;
    bool unsettled;  ///< low-register mode, and the block has not called settle() yet
  };
  const EnteredLoads& loads_;
  std::vector<ReferenceChecker*> all_;
  std::vector<Visit> visits_;  ///< innermost last
};

/// Stands between the register allocator and a block that owns references: at its `references` port, and at the port by
/// which the allocator asks it for registers. Keeps a balance for each register: References::share() and the answers
/// that the block is given add to it, release(), give_up_idle() and the answers that it gives take from it. Violations
/// are SystemC errors of type "regatta/wir" that name the block:
///
///   a reference given up or handed over that the block does not have
///   ReferenceKeeper::count() differs from the balance
///   references are left after give_up_all()
///   a result of a load of a CTA that has ended is left
///   low-register mode: look_up() of a block with references does not begin with settle()
class ReferenceChecker : public sc_core::sc_module, public ReferenceKeeper {
 public:
  sc_core::sc_export<ReferenceKeeper> keeper_in;
  sc_core::sc_port<ReferenceKeeper> keeper_out;
  sc_core::sc_port<References> out;

  /// `users`: a name for each port that is to be checked; in(i) is the export for it.
  ReferenceChecker(const sc_core::sc_module_name& name, support::ClockDomain& clock, unsigned registers,
                   const std::vector<std::string>& users, ReferenceCheckers& all);
  ~ReferenceChecker() override;

  /// Binds the block's port to the allocator, through this checker.
  void connect(unsigned user, sc_core::sc_port<References>& port);
  /// The owner from which References::replace() takes a reference.
  void set_giver(ReferenceChecker& giver) { giver_ = &giver; }

  /// The block got a reference with an answer, and a reader's hold.
  void gain(PhysicalRegister reg, bool hold = false);
  /// The block handed a reference over with an answer.
  void hand_over(PhysicalRegister reg) { lose(reg, block_name(), "an answer", false); }
  /// The block's look_up() is called.
  void begin_visit();
  /// It returns; `accepted`: the reply is not busy.
  void end_visit(bool accepted);

  /// Compares what the block has with what it counts. No answer to or from it may be on its way.
  void compare();

  // ReferenceKeeper.
  unsigned give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) override;
  void give_up_while(const std::function<bool()>& more) override { keeper_out->give_up_while(more); }
  void give_up_all() override;
  void count(ReferenceCounts& counts) const override { keeper_out->count(counts); }
  const ReferenceKeeper& block() const override { return keeper_out->block(); }

 private:
  class User;
  friend class ReferenceCheckers;
  /// Of a register.
  struct Balance {
    std::uint32_t gained = 0, lost = 0;  ///< since it was 0
    std::uint32_t holds = 0;
    const char* last = nullptr;  ///< how the last reference was lost
    std::uint64_t last_cycle = 0;
  };
  void lose(PhysicalRegister reg, const std::string& who, const char* how, bool hold);
  /// The block calls the allocator; `settles`: for nothing else, as by settle() or low().
  void called(bool settles, const char* call);
  void unsettled(const std::string& what) const;
  const ReferenceCounts& take_count();
  void compare_count() const;
  std::string block_name() const;
  void violation(const std::string& what) const;

  ReferenceCheckers& all_;
  support::ClockDomain& clock_;
  std::vector<std::unique_ptr<User>> users_;
  ReferenceChecker* giver_ = nullptr;
  std::vector<Balance> balances_;              ///< by register
  std::uint64_t total_ = 0;                    ///< references
  std::uint64_t settled_ = ~std::uint64_t{0};  ///< the last cycle in which the block called settle() or low()
  ReferenceCounts counts_;                     ///< the block's, when it was asked last
  std::vector<ReuseTag> loads_;
};

}  // namespace regatta::models::wir

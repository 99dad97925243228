// SPDX-License-Identifier: Apache-2.0
//
// Faults between the blocks of register sharing: each is found, by the value checker or by a contract.
#include <functional>

#include "put_before.h"
#include "sharing_support.h"

using namespace regatta;
using models::CtaOwners;
using models::LockClaim;
using models::LockRule;
using models::OwnerTable;
using models::PairMember;
using models::RegisterBoundary;
using models::RegisterLocks;
using protocol::LifecycleListener;
using protocol::WarpSlot;
using test::Before;
using test::put_before;

namespace {

/// Every third lock looks free whoever holds it.
class LocksForTwo : public Before<RegisterLocks> {
 public:
  using Before::Before;
  std::optional<WarpSlot> holder(unsigned lock) const override {
    return lock % 3 == 0 ? std::nullopt : inner_.holder(lock);
  }
  void take(unsigned lock, WarpSlot warp) override {
    if (lock % 3 != 0) inner_.take(lock, warp);
  }
  void give_back(unsigned lock, WarpSlot warp) override { inner_.give_back(lock, warp); }
};

/// The same, and the table is told.
class LocksTakenTwice : public Before<RegisterLocks> {
 public:
  using Before::Before;
  std::optional<WarpSlot> holder(unsigned) const override { return std::nullopt; }
  void take(unsigned lock, WarpSlot warp) override { inner_.take(lock, warp); }
  void give_back(unsigned lock, WarpSlot warp) override { inner_.give_back(lock, warp); }
};

/// The last locks that are returned stay taken: those of CTAs in whose slots no other one follows.
class KeepsLock : public Before<RegisterLocks> {
 public:
  using Before::Before;
  std::optional<WarpSlot> holder(unsigned lock) const override { return inner_.holder(lock); }
  void take(unsigned lock, WarpSlot warp) override { inner_.take(lock, warp); }
  void give_back(unsigned lock, WarpSlot warp) override {
    if (++returns_ <= 112) inner_.give_back(lock, warp);
  }

 private:
  unsigned returns_ = 0;
};

class AgreesAlways : public Before<LockRule> {
 public:
  using Before::Before;
  bool may_take(const LockClaim&) const override { return true; }
  bool taken(const LockClaim&) override { return true; }
  void returned(PairMember) override {}
};

/// The same, and the counters are told.
class AgreesAndTells : public Before<LockRule> {
 public:
  using Before::Before;
  bool may_take(const LockClaim&) const override { return true; }
  bool taken(const LockClaim& claim) override { return inner_.taken(claim); }
  void returned(PairMember cta) override { inner_.returned(cta); }
};

template <int offset>
class Boundary : public Before<RegisterBoundary> {
 public:
  using Before::Before;
  unsigned private_registers() const override {
    return static_cast<unsigned>(static_cast<int>(inner_.private_registers()) + offset);
  }
};

/// The end of a CTA is not seen.
class NoTransfers : public sc_core::sc_module, public LifecycleListener {
 public:
  NoTransfers(const sc_core::sc_module_name& name, OwnerTable& table) : sc_module(name), table_(table) {}
  void attach(protocol::SmControl& control) override { table_.attach(control); }
  void kernel_started(const protocol::KernelContext& context) override { table_.kernel_started(context); }
  void cta_launched(const protocol::CtaInfo& cta) override { table_.cta_launched(cta); }
  void warp_started(const protocol::WarpInfo& warp) override { table_.warp_started(warp); }
  void warp_finished(const protocol::WarpInfo& warp) override { table_.warp_finished(warp); }

 private:
  OwnerTable& table_;
};

/// The owner stays who it is, whoever takes locks.
class NoTakeovers : public Before<CtaOwners> {
 public:
  using Before::Before;
  models::WarpRole role(protocol::CtaSlot cta) const override { return inner_.role(cta); }
  void took(protocol::CtaSlot) override {}
  void released(protocol::CtaSlot cta) override { inner_.released(cta); }
};

struct Faults {
  std::function<RegisterLocks&(assembly::SmParts&, RegisterLocks&)> locks;
  std::function<RegisterBoundary&(assembly::SmParts&, RegisterBoundary&)> boundary;
  std::function<LockRule&(assembly::SmParts&, LockRule&)> rule;
  std::function<CtaOwners&(assembly::SmParts&, CtaOwners&)> owners;
  bool transfers = true;
};

class Faulty : public schemes::RegisterSharing {
 public:
  explicit Faulty(Faults faults) : faults_(std::move(faults)) {}

 protected:
  RegisterLocks& locks_for_gate(assembly::SmParts& parts, RegisterLocks& locks) override {
    return faults_.locks ? faults_.locks(parts, locks) : locks;
  }
  RegisterBoundary& boundary_for_gate(assembly::SmParts& parts, RegisterBoundary& boundary) override {
    return faults_.boundary ? faults_.boundary(parts, boundary) : boundary;
  }
  LockRule& rule_for_gate(assembly::SmParts& parts, LockRule& rule) override {
    return faults_.rule ? faults_.rule(parts, rule) : rule;
  }
  CtaOwners& owners_for_gate(assembly::SmParts& parts, CtaOwners& owners) override {
    return faults_.owners ? faults_.owners(parts, owners) : owners;
  }
  LifecycleListener& owner_events(assembly::SmParts& parts, OwnerTable& table) override {
    if (faults_.transfers) return table;
    auto fault = std::make_unique<NoTransfers>("no_transfers", table);
    LifecycleListener& made = *fault;
    parts.interposers.push_back(std::move(fault));
    return made;
  }

 private:
  Faults faults_;
};

/// What the run says, whether it ends with a message or with an exception.
std::string complaint(const std::string& path, Faults faults, const test::Knobs& more = {}) {
  Faulty scheme(std::move(faults));
  test::Knobs knobs{{"register_sharing.t", "0.2"}};
  knobs.insert(knobs.end(), more.begin(), more.end());
  try {
    const assembly::SimulationResult r = test::run_sharing(path, scheme, 200, knobs);
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void tells(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("sharing faults: nothing between the blocks, nothing found") {
  Faulty scheme(Faults{});
  test::require_clean(test::run_sharing(test::sharing_trace("no_fault"), scheme, 200, {{"register_sharing.t", "0.2"}}));
}

TEST_CASE("sharing faults: both warps of a pair have access, and a value is lost") {
  Faults faults;
  faults.locks = put_before<LocksForTwo, RegisterLocks>;
  faults.rule = put_before<AgreesAlways, LockRule>;
  tells(complaint(test::sharing_trace("two_holders"), faults), "value mismatch");
}

TEST_CASE("sharing faults: a lock that is taken twice is refused by the table") {
  Faults faults;
  faults.locks = put_before<LocksTakenTwice, RegisterLocks>;
  faults.rule = put_before<AgreesAlways, LockRule>;
  tells(complaint(test::sharing_trace("taken_twice"), faults), "expected a free lock");
}

TEST_CASE("sharing faults: a rule that agrees always is found by its counters") {
  Faults faults;
  faults.rule = put_before<AgreesAndTells, LockRule>;
  tells(complaint(test::crossing_trace("agrees", 4), faults, {{"register_file.registers", "100"}}),
        "expected none on the other side");
}

TEST_CASE("sharing faults: a boundary that is a register too high for the gate, and a value is lost") {
  Faults faults;
  faults.boundary = put_before<Boundary<1>, RegisterBoundary>;
  const std::string said = complaint(test::sharing_trace("boundary_high"), faults);
  tells(said, "value mismatch");
  tells(said, "register R4");
}

TEST_CASE("sharing faults: a boundary that is a register too low costs locks and no values") {
  Faults faults;
  faults.boundary = put_before<Boundary<-1>, RegisterBoundary>;
  Faulty scheme(faults);
  test::require_clean(
      test::run_sharing(test::sharing_trace("boundary_low"), scheme, 200, {{"register_sharing.t", "0.2"}}));
}

TEST_CASE("sharing faults: an owner that ends and hands nothing on is found when the next CTA joins its partner") {
  Faults faults;
  faults.transfers = false;
  tells(complaint(test::sharing_trace("no_transfer"), faults),
        "is not the owner; expected that ownership has passed to it");
}

TEST_CASE("sharing faults: a lock that makes nobody the owner is found") {
  Faults faults;
  faults.owners = put_before<NoTakeovers, CtaOwners>;
  tells(complaint(test::crossing_trace("no_takeover", 2, false), faults, {{"register_file.registers", "60"}}),
        "is not the owner; expected that it is now");
}

TEST_CASE("sharing faults: locks that stay taken at the end are found by a law") {
  Faults faults;
  faults.locks = put_before<KeepsLock, RegisterLocks>;
  tells(complaint(test::sharing_trace("kept_lock"), faults), "not conserved");
}

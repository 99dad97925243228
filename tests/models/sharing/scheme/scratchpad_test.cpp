// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad sharing on programs made by hand: what it brings, and faults between its blocks, each of which is found.
#include <functional>

#include "put_before.h"
#include "scratchpad_support.h"

using namespace regatta;
using models::CtaPairs;
using models::OwnerTable;
using models::PairMember;
using models::ReleaseBits;
using models::ScratchpadBoundary;
using models::ScratchpadLocks;
using protocol::CtaSlot;
using test::Before;
using test::counter;
using test::put_before;
using test::run_scratchpad;
using test::scratchpad_trace;

namespace {

constexpr unsigned for_one = 4096, for_a_pair = 6144;

/// The lock looks free whoever holds it.
class LockForTwo : public Before<ScratchpadLocks> {
 public:
  using Before::Before;
  std::optional<CtaSlot> holder(unsigned) const override { return std::nullopt; }
  void take(unsigned, CtaSlot) override {}
  void give_back(unsigned, CtaSlot) override {}
};

/// The same, and the table is told.
class LockTakenTwice : public Before<ScratchpadLocks> {
 public:
  using Before::Before;
  std::optional<CtaSlot> holder(unsigned) const override { return std::nullopt; }
  void take(unsigned pair, CtaSlot cta) override { inner_.take(pair, cta); }
  void give_back(unsigned pair, CtaSlot cta) override { inner_.give_back(pair, cta); }
};

/// 400 bytes too high: the accesses of the bytes from 1,024 on look private.
class HighBoundary : public Before<ScratchpadBoundary> {
 public:
  using Before::Before;
  unsigned private_bytes() const override { return inner_.private_bytes() + 400; }
  unsigned cta_bytes() const override { return inner_.cta_bytes(); }
};

/// Side 1 of a pair has the private bytes of side 0: a word of the wrong half.
class OneHalf : public Before<CtaPairs> {
 public:
  using Before::Before;
  const models::SharingPlan& plan() const override { return inner_.plan(); }
  std::optional<PairMember> member(CtaSlot cta) const override {
    std::optional<PairMember> m = inner_.member(cta);
    if (m) m->side = 0;
    return m;
  }
  CtaSlot slot(PairMember m) const override { return inner_.slot(m); }
};

/// The bits of one thread count for all.
class EarlyBits : public Before<ReleaseBits> {
 public:
  using Before::Before;
  void set(protocol::WarpSlot warp, protocol::LaneMask lanes) override { inner_.set(warp, lanes); }
  bool all_set(CtaSlot) const override { return true; }
};

/// Thread 0 of every warp never releases.
class LostBit : public Before<ReleaseBits> {
 public:
  using Before::Before;
  void set(protocol::WarpSlot warp, protocol::LaneMask lanes) override {
    inner_.set(warp, lanes & ~protocol::LaneMask{1});
  }
  bool all_set(CtaSlot cta) const override { return inner_.all_set(cta); }
};

/// The end of a CTA is not seen.
class DeafTable : public sc_core::sc_module, public protocol::LifecycleListener {
 public:
  DeafTable(const sc_core::sc_module_name& name, OwnerTable& table) : sc_module(name), table_(table) {}
  void attach(protocol::SmControl& control) override { table_.attach(control); }
  void kernel_started(const protocol::KernelContext& context) override { table_.kernel_started(context); }
  void cta_launched(const protocol::CtaInfo& cta) override { table_.cta_launched(cta); }
  void warp_started(const protocol::WarpInfo& warp) override { table_.warp_started(warp); }
  void warp_finished(const protocol::WarpInfo& warp) override { table_.warp_finished(warp); }

 private:
  OwnerTable& table_;
};

struct ScratchpadFaults {
  std::function<ScratchpadLocks&(assembly::SmParts&, ScratchpadLocks&)> locks;
  std::function<ScratchpadBoundary&(assembly::SmParts&, ScratchpadBoundary&)> boundary;
  std::function<CtaPairs&(assembly::SmParts&, CtaPairs&)> pairs;
  std::function<ReleaseBits&(assembly::SmParts&, ReleaseBits&)> bits;
  bool transfers = true;
};

class FaultyScratchpad : public schemes::ScratchpadSharing {
 public:
  explicit FaultyScratchpad(ScratchpadFaults faults = {}) : faults_(std::move(faults)) {}

 protected:
  ScratchpadLocks& locks_for_gate(assembly::SmParts& parts, ScratchpadLocks& locks) override {
    return faults_.locks ? faults_.locks(parts, locks) : locks;
  }
  ScratchpadBoundary& boundary_for_gate(assembly::SmParts& parts, ScratchpadBoundary& boundary) override {
    return faults_.boundary ? faults_.boundary(parts, boundary) : boundary;
  }
  CtaPairs& pairs_for_contents(assembly::SmParts& parts, CtaPairs& pairs) override {
    return faults_.pairs ? faults_.pairs(parts, pairs) : pairs;
  }
  ReleaseBits& bits_for_gate(assembly::SmParts& parts, ReleaseBits& bits) override {
    return faults_.bits ? faults_.bits(parts, bits) : bits;
  }
  protocol::LifecycleListener& owner_events(assembly::SmParts& parts, OwnerTable& table) override {
    if (faults_.transfers) return table;
    auto fault = std::make_unique<DeafTable>("deaf_table", table);
    protocol::LifecycleListener& made = *fault;
    parts.interposers.push_back(std::move(fault));
    return made;
  }

 private:
  ScratchpadFaults faults_;
};

const test::Knobs fifth{{"scratchpad_sharing.t", "0.2"}};
test::Knobs fifth_with(const char* relssp) {
  return {{"scratchpad_sharing.t", "0.2"}, {"scratchpad_sharing.relssp", relssp}};
}

/// What the run says, whether it ends with a message or with an exception.
std::string said(const std::string& path, ScratchpadFaults faults, const test::Knobs& knobs = fifth) {
  FaultyScratchpad scheme(std::move(faults));
  try {
    const assembly::SimulationResult r = run_scratchpad(path, scheme, for_a_pair, knobs);
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void contains(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("scratchpad sharing: where it brings no CTA, cycles are the baseline's") {
  const std::string path = scratchpad_trace("pad_alone");
  FaultyScratchpad scheme;
  const auto r = run_scratchpad(path, scheme, for_one, fifth);
  test::require_clean(r);
  CHECK(counter(r, "scratchpad_sharing", "paired_ctas") == 0);
  CHECK(counter(r, "scratchpad_sharing", "unshared_ctas") == 12);
  CHECK(r.shared_words_checked == 12u * 64 * 4);
}

TEST_CASE("scratchpad sharing: where it brings no CTA, there is no relssp") {
  FaultyScratchpad scheme;
  const auto r = run_scratchpad(scratchpad_trace("pad_alone_relssp"), scheme, for_one, fifth_with("optimal"));
  test::require_clean(r);
  CHECK(counter(r, "scratchpad_sharing", "paired_ctas") == 0);
  CHECK(counter(r, "scratchpad_sharing", "relssp") == 0);
  CHECK(r.stats["sm0.pipeline"].at("fetched_instructions") == r.stats["sm0.pipeline"].at("warp_instructions"));
}

namespace {

double shared_cycles(const std::string& name, const char* relssp) {
  FaultyScratchpad scheme;
  const auto r = run_scratchpad(scratchpad_trace(name), scheme, for_a_pair, fifth_with(relssp));
  test::require_clean(r);
  CHECK(counter(r, "scratchpad_sharing", "paired_ctas") == 12);
  CHECK(counter(r, "scratchpad_sharing", "acquires") == 12);
  CHECK(counter(r, "scratchpad_sharing", "waits") > 0);
  CHECK(r.shared_words_checked == 12u * 64 * 4);
  if (std::string(relssp) != "none") {
    CHECK(counter(r, "scratchpad_sharing", "relssp") == 24);
    CHECK(counter(r, "scratchpad_sharing", "releases") == 12);
  }
  return static_cast<double>(r.cycles);
}

}  // namespace

TEST_CASE("scratchpad sharing: pairs of CTAs, one at a time in the common part") { shared_cycles("pad_none", "none"); }
TEST_CASE("scratchpad sharing: relssp behind the last access") { shared_cycles("pad_optimal", "optimal"); }
TEST_CASE("scratchpad sharing: relssp later") { shared_cycles("pad_postdom", "postdom"); }

TEST_CASE("scratchpad sharing: a grid of fewer CTAs than the SM has slots, so that a partner has none") {
  FaultyScratchpad scheme;
  const auto r = run_scratchpad(scratchpad_trace("pad_one", 1), scheme, for_a_pair, fifth_with("optimal"));
  test::require_clean(r);
  CHECK(counter(r, "scratchpad_sharing", "acquires") == 1);
  CHECK(counter(r, "scratchpad_sharing", "releases") == 1);
}

TEST_CASE("scratchpad faults: both CTAs of a pair have access, and a word is lost") {
  ScratchpadFaults faults;
  faults.locks = put_before<LockForTwo, ScratchpadLocks>;
  const std::string message = said(scratchpad_trace("pad_two"), faults);
  contains(message, "value mismatch");
  contains(message, "of the CTA's shared memory: lane 0 expected 0x");
}

TEST_CASE("scratchpad faults: a lock that is taken twice is refused by the table") {
  ScratchpadFaults faults;
  faults.locks = put_before<LockTakenTwice, ScratchpadLocks>;
  contains(said(scratchpad_trace("pad_twice"), faults), "expected a free lock");
}

TEST_CASE("scratchpad faults: a boundary that is too high for the gate, and a word is lost") {
  ScratchpadFaults faults;
  faults.boundary = put_before<HighBoundary, ScratchpadBoundary>;
  const std::string message = said(scratchpad_trace("pad_high"), faults);
  contains(message, "value mismatch");
  contains(message, "byte 1");
}

TEST_CASE("scratchpad faults: words of the wrong half") {
  ScratchpadFaults faults;
  faults.pairs = put_before<OneHalf, CtaPairs>;
  contains(said(scratchpad_trace("pad_half"), faults), "value mismatch");
}

TEST_CASE("scratchpad faults: an owner that is not transferred") {
  ScratchpadFaults faults;
  faults.transfers = false;
  contains(said(scratchpad_trace("pad_deaf"), faults), "expected that ownership has passed to it");
}

TEST_CASE("scratchpad faults: release bits that are set too early") {
  ScratchpadFaults faults;
  faults.bits = put_before<EarlyBits, ReleaseBits>;
  contains(said(scratchpad_trace("pad_bits"), faults, fifth_with("optimal")), "expected no access behind relssp");
}

TEST_CASE("scratchpad faults: a release bit that is lost keeps the law") {
  ScratchpadFaults faults;
  faults.bits = put_before<LostBit, ReleaseBits>;
  contains(said(scratchpad_trace("pad_lost"), faults, fifth_with("optimal")),
           "every CTA of a pair has released the common part when it ends");
}

TEST_CASE("scratchpad faults: a relssp before the last access") {
  contains(said(scratchpad_trace("pad_early", 12, true), {}, fifth_with("optimal")),
           "load, after all threads of its CTA have released it; expected no access behind relssp");
}

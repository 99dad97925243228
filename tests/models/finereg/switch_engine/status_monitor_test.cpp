// SPDX-License-Identifier: Apache-2.0
//
// The CTA status monitor by itself, driven over its port.
#include <regatta/finereg/status_monitor.h>

#include <random>
#include <set>

#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::ContextAt;
using models::CtaSet;
using models::CtaStatusAccess;
using models::CtaStatusMonitor;
using models::RegistersAt;

namespace {

struct StatusUser : sc_core::sc_module {
  sc_core::sc_port<CtaStatusAccess> access;
  explicit StatusUser(const sc_core::sc_module_name& name) : sc_module(name), access("access") {}
};

struct StatusBench {
  StatusBench() {
    user.access.bind(monitor.access);
    run_to(0);
  }
  void set(unsigned cta, ContextAt context, RegistersAt registers) {
    user.access->set(cta_at(cta), context, registers);
  }
  void active(unsigned cta) { set(cta, ContextAt::pipeline, RegistersAt::active_file); }
  void in_file(unsigned cta) { set(cta, ContextAt::shared_memory, RegistersAt::active_file); }
  void away(unsigned cta) { set(cta, ContextAt::shared_memory, RegistersAt::pending_file); }
  /// -1: none.
  int candidate(const CtaSet& ready) {
    const auto found = user.access->candidate(ready);
    return found ? found->value() : -1;
  }

  CtaStatusMonitor monitor{"monitor"};
  StatusUser user{"user"};
};

CtaSet set_of(std::initializer_list<unsigned> ctas) {
  CtaSet set;
  for (const unsigned c : ctas) set.set(c);
  return set;
}

}  // namespace

TEST_CASE("status monitor alone: the fields have the encoding of Table IV") {
  static_assert(int(ContextAt::nowhere) == 0 && int(ContextAt::shared_memory) == 1 && int(ContextAt::pipeline) == 2);
  static_assert(int(RegistersAt::nowhere) == 0 && int(RegistersAt::pending_file) == 1 &&
                int(RegistersAt::active_file) == 2);
  static_assert(models::monitored_ctas == 128 && models::monitored_warps == 512);
  StatusBench b;
  for (unsigned c = 0; c < models::monitored_ctas; ++c) {
    CHECK(b.user.access->context(cta_at(c)) == ContextAt::nowhere);
    CHECK(b.user.access->registers(cta_at(c)) == RegistersAt::nowhere);
  }
  b.active(0);
  b.in_file(64);
  b.away(127);
  CHECK(b.user.access->context(cta_at(0)) == ContextAt::pipeline);
  CHECK(b.user.access->registers(cta_at(0)) == RegistersAt::active_file);
  CHECK(b.user.access->context(cta_at(64)) == ContextAt::shared_memory);
  CHECK(b.user.access->registers(cta_at(64)) == RegistersAt::active_file);
  CHECK(b.user.access->context(cta_at(127)) == ContextAt::shared_memory);
  CHECK(b.user.access->registers(cta_at(127)) == RegistersAt::pending_file);
  b.set(127, ContextAt::nowhere, RegistersAt::nowhere);
  CHECK(b.user.access->context(cta_at(127)) == ContextAt::nowhere);
  CHECK(stat_of(b.monitor, "updates") == 4);
}

TEST_CASE("status monitor alone: registers in the file go before registers elsewhere") {
  StatusBench b;
  CtaSet all;
  all.set();
  CHECK(b.candidate(all) == -1);  // none is resident
  b.active(3);
  CHECK(b.candidate(all) == -1);  // an active one is not pending
  b.away(1);
  CHECK(b.candidate(all) == 1);
  b.in_file(90);
  CHECK(b.candidate(all) == 90);
  b.in_file(7);
  CHECK(b.candidate(all) == 7);
  CHECK(b.candidate(set_of({1, 90})) == 90);
  CHECK(b.candidate(set_of({1, 3, 5})) == 1);
  CHECK(b.candidate(set_of({3, 5})) == -1);
  CHECK(b.candidate(CtaSet{}) == -1);
  b.set(7, ContextAt::nowhere, RegistersAt::nowhere);
  CHECK(b.candidate(all) == 90);
  CHECK(stat_of(b.monitor, "searches") == 10);
}

TEST_CASE("status monitor alone: pending CTAs of a kind have their turn") {
  StatusBench b;
  CtaSet all;
  all.set();
  const std::set<unsigned> pending{2, 5, 6, 31, 127};
  for (const bool in_file : {true, false}) {
    for (const unsigned c : pending) in_file ? b.in_file(c) : b.away(c);
    // Each is activated and goes back to wait, while all are ready: in n switches each comes once.
    for (unsigned round = 0; round < 3; ++round) {
      std::set<unsigned> seen;
      for (std::size_t i = 0; i < pending.size(); ++i) {
        const int c = b.candidate(all);
        REQUIRE(c >= 0);
        b.active(static_cast<unsigned>(c));
        in_file ? b.in_file(static_cast<unsigned>(c)) : b.away(static_cast<unsigned>(c));
        CHECK(seen.insert(static_cast<unsigned>(c)).second);
      }
      CHECK(seen == pending);
    }
  }
}

TEST_CASE("status monitor alone: launches and ends do not disturb the turn") {
  StatusBench b;
  std::mt19937 random(3);
  for (unsigned c = 0; c < 8; ++c) b.away(c);
  std::vector<unsigned> waited(8, 0);
  CtaSet all;
  all.set();
  for (unsigned n = 0; n < 500; ++n) {
    // Another CTA comes and goes.
    const unsigned other = 8 + random() % 100;
    b.active(other);
    b.set(other, ContextAt::nowhere, RegistersAt::nowhere);
    const int c = b.candidate(all);
    REQUIRE(c >= 0);
    b.active(static_cast<unsigned>(c));
    b.away(static_cast<unsigned>(c));
    for (unsigned i = 0; i < 8; ++i) waited[i] = int(i) == c ? 0 : waited[i] + 1;
    for (const unsigned w : waited) REQUIRE(w < 8);
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The reuse buffer in RTL: a million random operations in lockstep with the model's entries, and seeded bugs, which
// must be found.
#include <regatta/wir/wir_pins.h>

#include "reuse_loads_bug.h"
#include "reuse_owner_bug.h"
#include "reuse_pending_bug.h"
#include "rtl_bench.h"

using namespace regatta;
using namespace regatta::models::wir;

namespace {

using ReuseBench = test::RtlBench<ReuseOperation, ReuseOutcome>;
using ReuseKind = ReuseOperation::Kind;

/// Operations that meet what is there: few tags, and those of the entries with a bit changed.
class ReuseTraffic {
 public:
  explicit ReuseTraffic(unsigned seed) : dice_(seed) {
    for (ReuseTag& tag : tags_) {
      tag.opcode = dice_.one_in(2) ? dice_.below(8) : dice_.word();
      const unsigned sources = dice_.below(pair_operands + 1);
      for (unsigned i = 0; i < sources; ++i) tag.sources[i] = any_register();
      if (dice_.one_in(2)) continue;
      tag.block = static_cast<std::uint16_t>(1 + (dice_.one_in(8) ? dice_.below(0xffff) : dice_.below(8)));
      tag.barriers = static_cast<std::uint8_t>(dice_.one_in(2) ? dice_.below(4) : dice_.below(256));
    }
  }
  ReuseOperation next(const ReuseEntries& entries) {
    // Now and then a CTA ends, or the kernel.
    if (dropping_.kind != ReuseKind::find) {
      if (!more_) dropping_.kind = ReuseKind::find;
      more_ = true;
      if (dropping_.kind != ReuseKind::find) return dropping_;
    }
    if (dice_.one_in(1000)) {
      dropping_ = dice_.one_in(4) ? ReuseOperation::drop_first()
                                  : ReuseOperation::drop_load(static_cast<std::uint16_t>(dice_.below(9)));
      return dropping_;
    }
    if (dice_.one_in(10)) return ReuseOperation::evict(dice_.one_in(2) ? dice_.word() : dice_.below(256));
    ReuseOperation o;
    o.tag = tags_[dice_.below(tags_.size())];
    o.fold = o.tag.fold();
    o.owner = 1 + (dice_.one_in(8) ? dice_.word() >> 1 : dice_.below(20));
    const ReuseEntries::Entry& e = entries.entries()[o.fold % rtl_entries];
    if (e.valid && dice_.one_in(2)) {
      o.tag = e.tag;
      if (dice_.one_in(8)) flip(o.tag);
      if (!dice_.one_in(4)) o.owner = e.owner;
      if (dice_.one_in(16)) o.owner ^= 1u << dice_.below(32);
    }
    const unsigned choice = dice_.below(16);
    o.kind = choice < 6    ? ReuseKind::find
             : choice < 9  ? ReuseKind::claim
             : choice < 12 ? ReuseKind::complete
             : choice < 13 ? ReuseKind::abandon
                           : ReuseKind::insert;
    // These compute the fold themselves.
    if (o.kind == ReuseKind::abandon || o.kind == ReuseKind::insert) o.fold = o.tag.fold();
    if (o.kind == ReuseKind::complete || o.kind == ReuseKind::insert) {
      o.result[0] = any_register();
      if (dice_.one_in(3)) o.result[1] = any_register();
    }
    return o;
  }
  /// What the operation found.
  void met(const ReuseOutcome& outcome) { more_ = outcome.found != ReuseEntries::Found::nothing; }

 private:
  PhysicalRegister any_register() {
    return PhysicalRegister(static_cast<std::uint16_t>(dice_.one_in(4) ? dice_.below(0xffff) : dice_.below(1024)));
  }
  void flip(ReuseTag& tag) {
    switch (dice_.below(4)) {
      case 0:
        tag.opcode ^= 1u << dice_.below(32);
        break;
      case 1:
        tag.block = static_cast<std::uint16_t>(tag.block ^ 1u << dice_.below(16));
        break;
      case 2:
        tag.barriers = static_cast<std::uint8_t>(tag.barriers ^ 1u << dice_.below(8));
        break;
      default: {
        PhysicalRegister& reg = tag.sources[dice_.below(pair_operands)];
        reg = PhysicalRegister(static_cast<std::uint16_t>(reg.value() ^ 1u << dice_.below(16)));
      }
    }
  }
  test::Dice dice_;
  std::array<ReuseTag, 600> tags_;
  ReuseOperation dropping_;
  bool more_ = true;
};

/// Operations by what is in their place.
struct ReuseCoverage {
  enum Met { invalid, mine, other_owner, other_pending, same_result, other_result, states };
  std::uint64_t met[8][states] = {};
  std::uint64_t places[256] = {};  ///< drops by place
  void add(const ReuseOperation& o, ReuseEntries& entries) {
    const auto& all = entries.entries();
    std::size_t place = o.fold % all.size();
    if (o.kind >= ReuseKind::drop_load) {
      const auto goes = [&](const ReuseEntries::Entry& e) {
        return e.valid && (o.kind == ReuseKind::drop_first ||
                           (e.tag.block != 0 && (o.tag.block == 0 || o.tag.block == e.tag.block)));
      };
      const auto first = std::find_if(all.begin(), all.end(), goes);
      place = static_cast<std::size_t>(first - all.begin());
      if (first == all.end()) {
        ++met[static_cast<unsigned>(o.kind)][invalid];
        return;
      }
      ++places[place];
    }
    const ReuseEntries::Entry& e = all[place];
    const bool same = o.kind < ReuseKind::evict && e.tag == o.tag;
    ++met[static_cast<unsigned>(o.kind)][!e.valid             ? invalid
                                         : !e.pending         ? same ? same_result : other_result
                                         : !same              ? other_pending
                                         : o.owner == e.owner ? mine
                                                              : other_owner];
  }
  void check() const {
    std::printf(
        "reuse buffer: by kind, what was in the place: invalid; pending, of this tag and owner; of another "
        "owner; of another tag; a result of this tag; of another tag\n");
    const char* const kinds[] = {"find", "claim", "complete", "abandon", "insert", "evict", "drop_load", "drop_first"};
    for (unsigned k = 0; k < 8; ++k) {
      std::printf("  %-10s", kinds[k]);
      for (unsigned s = 0; s < states; ++s) {
        std::printf(" %8llu", static_cast<unsigned long long>(met[k][s]));
        // The last three kinds have no tag.
        if (k < 5 || s == invalid || s == other_pending || s == other_result) CHECK(met[k][s] > 100);
      }
      std::printf("\n");
    }
    for (const std::uint64_t n : places) CHECK(n > 0);
  }
};

void reuse_traffic(const ReusePinsFactory& pins) {
  ReuseBench b(pins, reuse_rtl_edges);
  ReuseTraffic traffic(1);
  ReuseEntries entries(rtl_entries, false);
  ReuseCoverage coverage;
  for (std::uint64_t n = 0; n < test::many_operations; ++n) {
    const ReuseOperation o = traffic.next(entries);
    coverage.add(o, entries);
    const ReuseOutcome outcome = perform(entries, o);
    traffic.met(outcome);
    b.twin.operate(o, outcome);
  }
  CHECK(b.twin.compared() == test::many_operations);
  coverage.check();
}

template <class Top>
void reuse_bug(const char* bug) {
  test::must_differ([] { reuse_traffic(reuse_pins_of<Top>()); }, bug, "req_tag");
}

}  // namespace

TEST_CASE("reuse buffer in RTL: a million operations") { reuse_traffic(models::wir::reuse_rtl()); }

TEST_CASE("reuse buffer in RTL, seeded bug: the owner is not compared") { reuse_bug<reuse_owner_bug>("reuse_owner"); }
TEST_CASE("reuse buffer in RTL, seeded bug: an entry stays pending") { reuse_bug<reuse_pending_bug>("reuse_pending"); }
TEST_CASE("reuse buffer in RTL, seeded bug: loads of other CTAs are dropped") {
  reuse_bug<reuse_loads_bug>("reuse_loads");
}

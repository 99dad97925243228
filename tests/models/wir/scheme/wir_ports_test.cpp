// SPDX-License-Identifier: Apache-2.0
//
// The ports of WIR's tables (Table III), and what waits for them.
#include <regatta/test/clock.h>
#include <algorithm>
#include <deque>

#include "wir_support.h"

using namespace regatta;
using test::bare;
using test::Knobs;
using test::run_each;
using test::TraceBuilder;
using test::Values;
using test::Watched;

namespace {

/// Two warps, one per scheduler, that look up a computation of their own each, issued in one cycle.
Watched two_lookups(const std::string& name, const Knobs& knobs) {
  TraceBuilder b;
  Values v(b);
  v.op("id.0", 0, {});
  v.op("add", 1, {0, 0});
  b.exit();
  run_each(b, v, 2);
  Watched w = test::watch(b, name, knobs);
  test::require_clean(w.result);
  return w;
}

}  // namespace

TEST_CASE("Table III: two instructions look up in a cycle") {
  const Watched w = two_lookups("wir_two_ports", {{"wir.allocator_ports", "2"}});
  REQUIRE(w.of(0, 1).issued == w.of(1, 1).issued);
  CHECK(w.counter("reuse_buffer.read_waits") == 0);
  CHECK(w.counter("reuse_buffer.write_waits") == 0);
  CHECK(w.counter("reuse_buffer.lookups") == 2);
}

TEST_CASE("with one port the second lookup waits a cycle, and its claim too") {
  const Watched w = two_lookups("wir_one_port", {{"reuse_buffer.ports", "1"}, {"wir.allocator_ports", "2"}});
  REQUIRE(w.of(0, 1).issued == w.of(1, 1).issued);
  CHECK(w.counter("reuse_buffer.read_waits") == 1);
  // Behind it the two are a cycle apart all the way.
  const std::uint64_t one = w.of(0, 1).retired, other = w.of(1, 1).retired;
  CHECK(std::max(one, other) - std::min(one, other) == 1);
}

TEST_CASE("with one port the signature buffer takes one result a cycle") {
  const Watched w = two_lookups("wir_one_signature_port", {{"vsb.ports", "1"}, {"wir.allocator_ports", "2"}});
  CHECK(w.counter("allocation.signature_read_waits") >= 1);
  const std::uint64_t one = w.of(0, 1).retired, other = w.of(1, 1).retired;
  CHECK(std::max(one, other) - std::min(one, other) == 1);
}

TEST_CASE("the free pool gives one register a cycle, or as many as it has ports") {
  const Watched w = two_lookups("wir_one_register", {});
  CHECK(w.counter("allocation.allocator_waits") >= 1);
  const std::uint64_t one = w.of(0, 1).retired, other = w.of(1, 1).retired;
  CHECK(std::max(one, other) - std::min(one, other) == 1);
}

TEST_CASE("the free pool gives two registers a cycle with two ports") {
  const Watched w = two_lookups("wir_two_registers", {{"wir.allocator_ports", "2"}});
  CHECK(w.counter("allocation.allocator_waits") == 0);
  CHECK(w.of(0, 1).retired == w.of(1, 1).retired);
}

namespace {

/// `sources` registers and a destination, then an addition that needs the result, then one of the same warp.
Watched long_rename(unsigned sources, const std::string& ports = "4") {
  TraceBuilder b;
  Values v(b);
  for (unsigned r = 0; r < 6; ++r) v.op("id." + std::to_string(r), r, {});
  std::vector<unsigned> all;
  for (unsigned r = 0; r < sources; ++r) all.push_back(r);
  v.op("add", 6, all);
  v.op("add", 7, {6, 6});
  v.op("add", 8, {0, 1});
  b.exit();
  run_each(b, v, 1);
  Watched w = test::watch(b, "wir_rename_" + std::to_string(sources) + "_" + ports,
                          {{"wir.model", "novsb"}, {"wir.rename_ports", ports}});
  test::require_clean(w.result);
  return w;
}

}  // namespace

TEST_CASE("rename reads three sources and a destination in a cycle") {
  const Watched w = long_rename(3);
  CHECK(w.counter("rename_tables.long_renames") == 0);
  CHECK(w.of(0, 7).issued - w.of(0, 6).issued == bare + 4);
}

TEST_CASE("rename takes a further cycle for more than three sources") {
  const Watched few = long_rename(4);
  CHECK(few.counter("rename_tables.long_renames") == 1);
  // The dependent instruction comes a cycle later; bank conflicts of the reads apart, of which four have none.
  CHECK(few.of(0, 7).issued - few.of(0, 6).issued == bare + 4 + 1);
}

TEST_CASE("rename needs one further cycle where two ports serve four registers") {
  const Watched w = long_rename(3, "2");
  CHECK(w.counter("rename_tables.long_renames") == 2);  // and one for three registers
  CHECK(w.of(0, 7).issued - w.of(0, 6).issued == bare + 4 + 1);
}

TEST_CASE("a warp's first instruction waits for the tables as well") {
  TraceBuilder b;
  Values v(b);
  v.op("add", 6, {0, 1, 2, 3});  // of registers that nobody has written
  b.exit();
  run_each(b, v, 3);
  const Watched w = test::watch(b, "wir_rename_first", {{"wir.model", "novsb"}});
  test::require_clean(w.result);
  CHECK(w.counter("rename_tables.long_renames") == 3);
  // Warps 0 and 2 have one scheduler, and with it one half of the tables. The cycle behind warp 0's addition is the
  // tables' own; then comes the end of warp 0, which is older.
  CHECK(w.of(2, 0).issued - w.of(0, 0).issued == 3);
}

namespace {

/// Looks on as registers are given out: to those who stand in line in its order, and to nobody else meanwhile.
class Orderly : public models::wir::AllocationStage {
 public:
  struct Seen {
    std::size_t longest = 0;  ///< line
    unsigned overtaken = 0;   ///< registers given to others while somebody stood in line
    unsigned out_of_turn = 0;
  };
  Orderly(const sc_core::sc_module_name& name, const models::wir::WirConfig& config, support::ClockDomain& clock,
          models::wir::InFlightTable& in_flight, const std::uint64_t* const& allocations, Seen& seen)
      : AllocationStage(name, config, clock, in_flight), allocations_(allocations), seen_(seen) {}
  unsigned arrive(protocol::DynamicInstruction& d) override {
    const std::uint64_t before = *allocations_;
    const unsigned answer = AllocationStage::arrive(d);
    if (!line_.empty() && *allocations_ != before) ++seen_.overtaken;
    if (answer == keep) line_.push_back(&d);
    seen_.longest = std::max(seen_.longest, line_.size());
    return answer;
  }
  std::size_t resume_kept(RecalledList& recalled) override {
    const std::size_t count = AllocationStage::resume_kept(recalled);
    for (std::size_t i = 0; i < count; ++i) {
      if (line_.empty() || line_.front() != recalled[i].instruction) ++seen_.out_of_turn;
      if (!line_.empty()) line_.pop_front();
    }
    return count;
  }

 private:
  const std::uint64_t* const& allocations_;  ///< known once the allocator is there
  Seen& seen_;
  std::deque<protocol::DynamicInstruction*> line_;
};

class OrderlyWir : public schemes::WirScheme {
 public:
  mutable Orderly::Seen seen;
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = WirScheme::build(context);
    allocations_ = &blocks().allocator.allocated();
    return parts;
  }

 protected:
  std::unique_ptr<models::wir::AllocationStage> allocation_stage(const sc_core::sc_module_name& name,
                                                                 const models::wir::WirConfig& config,
                                                                 const assembly::BuildContext& context,
                                                                 models::wir::InFlightTable& in_flight) const override {
    return std::make_unique<Orderly>(name, config, context.clock, in_flight, allocations_, seen);
  }

 private:
  const std::uint64_t* allocations_ = nullptr;
};

}  // namespace

TEST_CASE("registers that come free go to those who asked for one first") {
  TraceBuilder b;
  Values v(b);
  const unsigned registers = 8;
  for (unsigned n = 0; n < 12; ++n) {
    for (unsigned r = 0; r < registers; ++r) v.op("id." + std::to_string(n * registers + r), r, {});
    for (unsigned r = 0; r + 1 < registers; ++r) v.op("mul", r, {r, r + 1});
  }
  b.exit();
  run_each(b, v, 16);
  OrderlyWir scheme;
  const auto result =
      test::simulate_wir(b.write("wir_line"), scheme, {{"wir.physical_registers", "80"}, {"wir.recount", "0"}});
  test::require_clean(result);
  CHECK(scheme.seen.longest > 8);  // more than are recalled at once
  CHECK(scheme.seen.overtaken == 0);
  CHECK(scheme.seen.out_of_turn == 0);
}

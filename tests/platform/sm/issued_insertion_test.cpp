// SPDX-License-Identifier: Apache-2.0
//
// Inserted instructions that issue: their slots, their lanes, the gate of their scheme, and fences among them.
#include "recorder.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace regatta;
using test::Passage;
using test::Recording;
using test::TraceBuilder;
using trace::Disposition;
using trace::InsertedInstruction;
using trace::MemorySpace;
using trace::OpClass;

namespace {

struct Counts {
  unsigned asked = 0, issued = 0, written_back = 0;
};

/// Takes the inserted instructions of a scheme, and refuses the first `refusals` attempts to issue one.
class ToyGate : public protocol::IssueGate, public protocol::InsertedStream {
 public:
  explicit ToyGate(Counts& counts, std::string scheme = "toy", unsigned refusals = 0)
      : counts_(counts), scheme_(std::move(scheme)), refusals_(refusals) {}
  bool keeps_cycle_time() const override { return true; }
  std::string inserted_scheme() const override { return scheme_; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    if (!d.injected) return true;
    ++counts_.asked;
    if (refusals_ == 0) return true;
    --refusals_;
    changed_.notify(sc_core::SC_ZERO_TIME);
    return false;
  }
  void issued(const protocol::DynamicInstruction& d) override { counts_.issued += d.injected ? 1 : 0; }
  void written_back(const protocol::DynamicInstruction& d) override { counts_.written_back += d.injected ? 1 : 0; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Counts& counts_;
  std::string scheme_;
  unsigned refusals_;
  sc_core::sc_event changed_{sc_core::sc_gen_unique_name("toy_changed")};
};

/// Takes the inserted instructions in some launches only.
class SometimesGate : public ToyGate {
 public:
  SometimesGate(Counts& counts, std::vector<bool> takes) : ToyGate(counts), takes_(std::move(takes)) {}
  bool takes_inserted() const override { return takes_.at(launch_); }
  void kernel_finished(const protocol::KernelContext&) override { ++launch_; }

 private:
  std::vector<bool> takes_;
  std::size_t launch_ = 0;
};

InsertedInstruction toy(std::uint32_t before, OpClass op_class = OpClass::metadata, std::int32_t after = -1) {
  InsertedInstruction inserted;
  inserted.before = before;
  inserted.after = after;
  inserted.disposition = Disposition::issue;
  inserted.instruction.opcode = std::string("toy.") + trace::to_string(op_class);
  inserted.instruction.opcode_id = 1000 + static_cast<unsigned>(op_class);
  inserted.instruction.op_class = op_class;
  inserted.instruction.scheme = "toy";
  if (op_class == OpClass::branch) inserted.instruction.branch_target = static_cast<std::int32_t>(before);
  return inserted;
}

void straight(TraceBuilder& b, unsigned instructions) {
  for (unsigned i = 0; i < instructions; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
}

/// One warp goes straight through 20 instructions, with metadata in front of these.
void one_warp(TraceBuilder& b, std::initializer_list<std::uint32_t> before) {
  straight(b, 20);
  for (const std::uint32_t i : before) b.kernel().inserted.push_back(toy(i));
  b.launch(1, 32);
  b.run_all();
}

std::vector<Passage> insertions(const Recording& r) {
  std::vector<Passage> found;
  for (const Passage& p : r.passages) {
    if (p.injected) found.push_back(p);
  }
  return found;
}

Recording run(TraceBuilder& b, const std::string& name, const assembly::MachineConfig& m, Counts& counts,
              unsigned refusals = 0) {
  return test::record(b, name, m, [&counts, refusals](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<ToyGate>(counts, "toy", refusals));
  });
}

}  // namespace

TEST_CASE("issued insertion: takes a fetch slot and an issue slot, and is no instruction of the program") {
  TraceBuilder b;
  one_warp(b, {5, 5, 9});
  Counts counts;
  const Recording r = run(b, "toy_slots", test::one_scheduler(), counts);
  CHECK(counts.asked == 2 * 3);  // a gate that agrees is asked again, in a checked run
  CHECK(counts.issued == 3);
  CHECK(counts.written_back == 3);
  const std::vector<Passage> toys = insertions(r);
  REQUIRE(toys.size() == 3);
  CHECK(toys[0].index == 5);
  CHECK(toys[0].sequence == 6);
  CHECK(toys[0].active == trace::all_lanes(32));
  CHECK(toys[2].index == 9);
  CHECK(toys[0].issued == r.of(0, 4).issued + 1);
  CHECK(toys[1].issued == r.of(0, 4).issued + 2);
  CHECK(r.of(0, 5).issued == r.of(0, 4).issued + 3);
  CHECK(r.of(0, 5).sequence == 6);
  CHECK(test::counter(r, "sm0.pipeline", "issued_insertions") == 3);
  CHECK(test::counter(r, "sm0.pipeline", "warp_instructions") == 21);
  CHECK(test::counter(r, "sm0.pipeline", "fetched_instructions") == 24);
}

TEST_CASE("issued insertion: without a gate of its scheme it is not in the stream") {
  TraceBuilder b;
  one_warp(b, {5});
  Counts counts;
  const Recording r = test::record(b, "toy_nowhere", {}, [&counts](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<ToyGate>(counts, "another"));
    parts.gates.push_back(std::make_unique<ToyGate>(counts, ""));
  });
  CHECK(insertions(r).empty());
  CHECK(counts.asked == 0);
  CHECK(test::counter(r, "sm0.pipeline", "fetched_instructions") == 21);
}

namespace {

void taken_by_launch(const std::string& name, const std::vector<bool>& takes) {
  TraceBuilder b;
  one_warp(b, {5, 9});
  for (unsigned launch = 1; launch < 3; ++launch) {
    b.launch(1, 32);
    b.run_all();
  }
  const auto expected = static_cast<unsigned>(2 * std::count(takes.begin(), takes.end(), true));
  Counts counts;
  const Recording r = test::record(b, name, test::one_scheduler(), [&](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<SometimesGate>(counts, takes));
  });
  CHECK(counts.issued == expected);
  CHECK(insertions(r).size() == expected);
  CHECK(test::counter(r, "sm0.pipeline", "issued_insertions") == expected);
  CHECK(test::counter(r, "sm0.pipeline", "fetched_instructions") == 3 * 21 + expected);
}

}  // namespace

TEST_CASE("issued insertion: a gate takes its scheme's in the first and the third launch") {
  taken_by_launch("toy_first_third", {true, false, true});
}
TEST_CASE("issued insertion: a gate takes its scheme's in the second launch") {
  taken_by_launch("toy_second", {false, true, false});
}

TEST_CASE("issued insertion: no statistic names it when no gate takes a scheme's") {
  TraceBuilder b;
  one_warp(b, {5});
  const Recording r = test::record(b, "toy_unknown");
  CHECK_FALSE(r.result.stats["sm0.pipeline"].contains("issued_insertions"));
}

TEST_CASE("issued insertion: its gate holds the warp at it, and gates of other schemes do not hear of it") {
  TraceBuilder b;
  one_warp(b, {5});
  Counts own, others;
  const Recording r = test::record(b, "toy_gate", test::one_scheduler(), [&](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<ToyGate>(others, "another", 100));
    parts.gates.push_back(std::make_unique<ToyGate>(own, "toy", 7));
    parts.gates.push_back(std::make_unique<ToyGate>(others, "", 100));
  });
  REQUIRE(insertions(r).size() == 1);
  CHECK(insertions(r)[0].issued == r.of(0, 4).issued + 8);
  CHECK(r.of(0, 5).issued == r.of(0, 4).issued + 9);
  CHECK(own.asked == 7 + 2);
  CHECK(own.issued == 1);
  CHECK(others.asked == 0);
  CHECK(others.issued == 0);
  CHECK(others.written_back == 0);
  CHECK(test::counter(r, "sm0.pipeline", "stall_issue_gate_cycles") >= 7);
}

TEST_CASE("issued insertion: lanes of an edge execute it behind the branch, all others pass") {
  // 0 setp; 1 @p0 bra 4; 2 add; 3 add; 4 add; 5 exit: the edges 1 -> 4 and 1 -> 2, and in front of 4 for everybody.
  TraceBuilder b;
  b.set_predicate(0, {100});
  b.branch(4);
  b.kernel().instructions[1].guard = {0, false};
  b.op(OpClass::int_add, {1}, {101});
  b.op(OpClass::int_add, {2}, {102});
  b.op(OpClass::int_add, {3}, {103});
  b.exit();
  b.kernel().inserted = {toy(2, OpClass::metadata, 1), toy(4), toy(4, OpClass::branch, 1),
                         toy(4, OpClass::metadata, 3)};
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  constexpr trace::LaneMask taken = 0x0000ff0f;
  constexpr trace::LaneMask all = 0xffffffff;
  b.execute(0);
  b.execute(1, taken);
  b.execute(2, all & ~taken);
  b.execute(3, all & ~taken);
  b.execute(4);
  b.execute(5);
  b.end_warp();
  b.end_cta();
  Counts counts;
  const Recording r = run(b, "toy_edges", test::one_scheduler(), counts);
  std::vector<std::pair<std::uint32_t, trace::LaneMask>> seen;
  for (const Passage& p : r.passages) seen.emplace_back(p.injected ? 100 + p.index : p.index, p.active);
  const std::vector<std::pair<std::uint32_t, trace::LaneMask>> expected{
      {0, all},          {1, taken},          {102, all & ~taken}, {104, taken}, {2, all & ~taken},
      {3, all & ~taken}, {104, all & ~taken}, {104, all},          {4, all},     {5, all}};
  CHECK(seen == expected);
}

TEST_CASE("issued insertion: an edge that no lane takes costs nothing") {
  TraceBuilder b;
  b.set_predicate(0, {100});
  b.branch(3);
  b.kernel().instructions[1].guard = {0, false};
  b.op(OpClass::int_add, {1}, {101});
  b.op(OpClass::int_add, {2}, {102});
  b.exit();
  b.kernel().inserted = {toy(3, OpClass::metadata, 1)};
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  b.execute(0);
  b.execute(1, 0);
  for (const std::uint32_t i : {2u, 3u, 4u}) b.execute(i);
  b.end_warp();
  b.end_cta();
  Counts counts;
  const Recording r = run(b, "toy_untaken", test::one_scheduler(), counts);
  CHECK(insertions(r).empty());
  CHECK(test::counter(r, "sm0.pipeline", "fetched_instructions") == 5);
}

namespace {

/// Cycles from a shared load of 32 bank conflicts to an insertion of that class and space behind it.
std::uint64_t behind_load(const std::string& name, OpClass op_class, MemorySpace fence, std::uint64_t& load_retires) {
  TraceBuilder b;
  b.load(MemorySpace::shared, 1, 100);
  b.load(MemorySpace::shared, 2, 101);
  b.op(OpClass::int_add, {3}, {102});
  b.exit();
  InsertedInstruction inserted = toy(2, op_class);
  inserted.instruction.space = fence;
  b.kernel().inserted.push_back(inserted);
  b.launch(1, 32, 8192);
  b.begin_cta();
  b.begin_warp();
  b.execute(0, 0, test::strided(0, 128));
  b.execute(1, 0, test::strided(0, 128));
  b.execute(2);
  b.execute(3);
  b.end_warp();
  b.end_cta();
  Counts counts;
  const Recording r = run(b, name, test::one_scheduler(), counts);
  REQUIRE(insertions(r).size() == 1);
  load_retires = r.of(0, 1).retired - r.of(0, 1).issued;
  return insertions(r)[0].issued - r.of(0, 1).issued;
}

}  // namespace

TEST_CASE("issued insertion: metadata does not wait for older accesses") {
  std::uint64_t retires = 0;
  CHECK(behind_load("toy_metadata", OpClass::metadata, MemorySpace::none, retires) == 1);
}

TEST_CASE("issued insertion: a fence of shared memory waits for older accesses to leave the address stage") {
  std::uint64_t retires = 0;
  const std::uint64_t waited = behind_load("toy_shared_fence", OpClass::fence, MemorySpace::shared, retires);
  // The second load leaves when the 32 passes of the first are over; its own passes and its latency follow.
  CHECK(waited > 32);
  CHECK(waited + 32 < retires);
}

TEST_CASE("issued insertion: a fence waits for older accesses to be complete") {
  std::uint64_t retires = 0;
  const std::uint64_t waited = behind_load("toy_fence", OpClass::fence, MemorySpace::none, retires);
  CHECK(waited == retires);
}

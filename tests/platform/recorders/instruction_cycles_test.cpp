// SPDX-License-Identifier: Apache-2.0
//
// Cycles by instruction: they add up to the schedulers', and are charged where the wait is.
#include "recorded.h"

using namespace regatta;
using protocol::Stall;

namespace {

std::uint64_t of(const assembly::CycleStack& stack, Stall s) { return stack[static_cast<unsigned>(s)]; }

std::uint64_t sum(const assembly::CycleStack& stack) {
  std::uint64_t all = 0;
  for (const std::uint64_t n : stack) all += n;
  return all;
}

assembly::SimulationResult charged(const std::string& trace, const assembly::MachineConfig& machine = {},
                                   unsigned sms = 1) {
  assembly::Recording recording;
  recording.cycles_by_instruction = true;
  const auto r = test::record_run(trace, recording, machine, sms);
  test::require_clean(r);
  for (const assembly::LaunchResult& l : r.launches) {
    assembly::CycleStack all{};
    for (const auto& stack : l.by_instruction) {
      for (unsigned s = 0; s < protocol::stall_count; ++s) all[s] += stack[s];
    }
    REQUIRE(all == l.stall_cycles);
  }
  return r;
}

}  // namespace

TEST_CASE("cycles by instruction: one warp's waits are those of the instructions that wait") {
  const auto r = charged(test::one_warp_trace("charged_one_warp"), test::one_scheduler());
  const auto& by = r.launches.at(0).by_instruction;
  REQUIRE(by.size() == 5);
  for (unsigned i = 0; i < 4; ++i) CHECK(of(by[i], Stall::none) == 1);
  // The load waits for its address, the addition behind it for the load.
  CHECK(of(by[1], Stall::scoreboard) > 0);
  CHECK(of(by[1], Stall::memory) == 0);
  CHECK(of(by[2], Stall::memory) == of(r.launches[0].stall_cycles, Stall::memory));
  CHECK(of(by[2], Stall::memory) > 50);
  CHECK(sum(by[3]) < 50);
  // Before the first fetch and behind the end there is no instruction to wait for.
  CHECK(of(by[4], Stall::idle) == of(r.launches[0].stall_cycles, Stall::idle));
  CHECK(of(by[4], Stall::idle) == sum(by[4]));
}

TEST_CASE("cycles by instruction: a mixed program on two SMs") {
  const std::string trace = test::mixed_trace("charged_mixed");
  const auto r = charged(trace, {}, 2);
  const auto& by = r.launches.at(0).by_instruction;
  std::uint64_t barrier = 0, issued = 0;
  for (std::size_t i = 0; i + 1 < by.size(); ++i) {
    barrier += of(by[i], Stall::barrier);
    issued += of(by[i], Stall::none);
    // Only barriers wait for barriers.
    const trace::Reader reader(trace);
    if (of(by[i], Stall::barrier) != 0) CHECK(reader.kernels()[0].instructions[i].op_class == trace::OpClass::barrier);
  }
  CHECK(barrier > 0);
  CHECK(issued > 0);
}

TEST_CASE("cycles by instruction: nothing is recorded without being asked for") {
  const auto r = test::record_run(test::mixed_trace("not_charged"), {});
  test::require_clean(r);
  CHECK(r.launches.at(0).by_instruction.empty());
}

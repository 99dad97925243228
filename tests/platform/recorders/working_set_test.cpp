// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/working_set.h>

#include <map>
#include <set>
#include <utility>

#include "recorded.h"

using namespace regatta;

namespace {

using Register = std::pair<unsigned, unsigned>;  ///< warp slot, register

/// An instruction of a warp that reads and writes what it is told.
struct Access {
  Access(unsigned warp, std::vector<unsigned> reads, std::vector<unsigned> writes) {
    for (const unsigned r : reads) traits.reads[traits.read_count++] = protocol::RegisterId(std::uint8_t(r));
    for (const unsigned w : writes) traits.writes[traits.write_count++] = protocol::RegisterId(std::uint8_t(w));
    d.traits = &traits;
    d.warp = protocol::WarpSlot(std::uint16_t(warp));
  }
  protocol::InstructionTraits traits;
  protocol::DynamicInstruction d;
};

void read(recorders::RegisterWorkingSet& set, std::uint64_t cycle, unsigned warp, std::vector<unsigned> registers) {
  const Access a(warp, std::move(registers), {});
  set.operands_delivered(protocol::Cycle(cycle), a.d);
}

void write(recorders::RegisterWorkingSet& set, std::uint64_t cycle, unsigned warp, unsigned r, bool written = true) {
  const Access a(warp, {}, {r});
  set.register_written(protocol::Cycle(cycle), a.d, 0, written);
}

/// The same by brute force: the set of every window, from a log of all accesses.
class Log : public protocol::Observer {
 public:
  explicit Log(std::map<std::uint64_t, std::set<Register>>& windows, std::uint64_t cycles)
      : windows_(windows), cycles_(cycles) {}
  std::vector<protocol::Event> interests() const override {
    return {protocol::Event::operands_delivered, protocol::Event::register_written};
  }
  bool keeps_cycle_time() const override { return true; }
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    for (unsigned i = 0; i < d.traits->read_count; ++i) add(now, d, d.traits->reads[i].value());
  }
  void register_written(protocol::Cycle now, const protocol::DynamicInstruction& d, unsigned i, bool) override {
    add(now, d, d.info->destinations[i]);
  }

 private:
  void add(protocol::Cycle now, const protocol::DynamicInstruction& d, unsigned r) {
    windows_[now.value() / cycles_].insert({d.warp.value(), r});
  }
  std::map<std::uint64_t, std::set<Register>>& windows_;
  std::uint64_t cycles_;
};

}  // namespace

TEST_CASE("working set: distinct registers of a window, windows without an access, one cut short") {
  recorders::RegisterWorkingSet set(10);
  read(set, 0, 0, {1, 2});
  read(set, 5, 0, {2, 3});
  write(set, 9, 0, 1);    // window 0: R1, R2, R3
  read(set, 10, 0, {1});  // window 1: warp 0's R1, R4 of warps 0 and 1
  write(set, 10, 1, 4);
  write(set, 19, 0, 4);
  write(set, 19, 0, 5, false);  // dropped: nobody stored it
  read(set, 52, 63, {254});     // windows 2 to 4: nothing; 5: one
  set.finish(53);
  CHECK(set.windows() == 6);
  CHECK(set.registers() == 3 + 3 + 1);
  CHECK(set.peak() == 3);
}

TEST_CASE("working set: a run that ends with a window, or never begins, has no window cut short") {
  recorders::RegisterWorkingSet set(10);
  write(set, 3, 0, 0);
  set.finish(20);
  CHECK(set.windows() == 2);
  CHECK(set.registers() == 1);
  recorders::RegisterWorkingSet none(10);
  none.finish(0);
  CHECK(none.windows() == 0);
  CHECK(none.peak() == 0);
}

TEST_CASE("working set: a window longer than the run holds every register that the kernel names") {
  test::TraceBuilder b;
  b.op(trace::OpClass::int_add, {1}, {0});
  b.op(trace::OpClass::int_add, {2}, {1, 0});
  b.op(trace::OpClass::int_add, {1}, {2, 2});
  b.exit();
  b.launch(1, 96);  // three warps
  b.run_all();
  assembly::Recording recording;
  recording.working_set_cycles = 1'000'000;
  const auto r = test::record_run(b.write("three_warps"), recording);
  test::require_clean(r);
  CHECK(r.register_working_set.window == 1'000'000);
  CHECK(r.register_working_set.mean == 9);
  CHECK(r.register_working_set.peak == 9);
}

TEST_CASE("working set: equals a brute force over all accesses, on whatever window") {
  const std::uint64_t window = 37;
  std::map<std::uint64_t, std::set<Register>> windows;
  test::FunctionScheme scheme([&](const assembly::BuildContext& context) {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.observers.push_back(std::make_unique<Log>(windows, window));
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("working_set", 30));
  assembly::SimulationOptions options;
  options.recording.working_set_cycles = window;
  assembly::Simulation simulation({}, scheme, options, reader);
  const auto r = simulation.run();
  test::require_clean(r);
  std::size_t sum = 0, peak = 0;
  for (const auto& [index, registers] : windows) {
    sum += registers.size();
    peak = std::max(peak, registers.size());
  }
  CHECK(r.register_working_set.peak == peak);
  CHECK(r.register_working_set.mean == Approx(double(sum) / double((r.cycles + window - 1) / window)));
  CHECK(peak > 100);
}

TEST_CASE("working set: of two SMs, as stats.json tells it") {
  assembly::Recording recording;
  recording.working_set_cycles = 100;
  const auto ahead = test::record_run(test::mixed_trace("two_sms"), recording, {}, 2, 256);
  CHECK(ahead.register_working_set.mean > 0);
  CHECK(ahead.register_working_set.peak >= ahead.register_working_set.mean);
  const trace::Reader reader("two_sms.rgt");
  const auto document = assembly::stats_document(ahead, reader, "gtx980", "baseline", support::OptionSet());
  CHECK(document.at("register_working_set").at("window") == 100);
  CHECK(document.at("register_working_set").at("mean") == ahead.register_working_set.mean);
}

TEST_CASE("working set: the same when every cycle is SystemC's own") {
  // A process elaborates once: the other half of the comparison is the brute force, which holds for any quantum.
  const std::uint64_t window = 100;
  std::map<std::uint64_t, std::set<Register>> windows;
  test::FunctionScheme scheme([&](const assembly::BuildContext& context) {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.observers.push_back(std::make_unique<Log>(windows, window));
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("exact_time"));
  assembly::SimulationOptions options;
  options.quantum = 1;
  options.recording.working_set_cycles = window;
  assembly::Simulation simulation({}, scheme, options, reader);
  const auto r = simulation.run();
  test::require_clean(r);
  std::size_t sum = 0;
  for (const auto& [index, registers] : windows) sum += registers.size();
  CHECK(r.register_working_set.mean == Approx(double(sum) / double((r.cycles + window - 1) / window)));
}

TEST_CASE("working set: not asked for, not there") {
  const auto r = test::record_run(test::mixed_trace("no_working_set"), {});
  test::require_clean(r);
  CHECK(r.register_working_set.window == 0);
  const trace::Reader reader("no_working_set.rgt");
  CHECK_FALSE(
      assembly::stats_document(r, reader, "gtx980", "baseline", support::OptionSet()).contains("register_working_set"));
}

// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/input_file.h>
#include <regatta/recorders/timeline_file.h>
#include <regatta/support/clock_domain.h>

#include "kanata_check.h"
#include "perfetto_check.h"
#include "recorded.h"

using namespace regatta;

namespace {

test::PerfettoFacts timeline_of(const std::string& file) {
  const test::PerfettoFacts facts = test::check_perfetto(base::read_text(file));
  REQUIRE(facts.error.empty());
  return facts;
}

/// Closes a warp when it has issued its fifth instruction, for `nap` cycles.
class NapGate : public sc_core::sc_module, public protocol::IssueGate, public protocol::GateReporter {
 public:
  static constexpr std::uint64_t nap = 50;
  NapGate(const sc_core::sc_module_name& name, support::ClockDomain& clock)
      : sc_module(name),
        clock_(clock),
        client_(
            clock, [](void* gate) { static_cast<NapGate*>(gate)->wake(); }, this) {}
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
  void issued(const protocol::DynamicInstruction& d) override {
    if (d.sequence != 5) return;
    listener_->closed(d.warp, true);
    asleep_.emplace_back(clock_.now() + nap, d.warp);
    client_.request(asleep_.front().first);
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  void wake() {
    while (!asleep_.empty() && asleep_.front().first <= clock_.now()) {
      listener_->closed(asleep_.front().second, false);
      asleep_.erase(asleep_.begin());
    }
    if (!asleep_.empty()) client_.request(asleep_.front().first);
  }
  support::ClockDomain& clock_;
  support::CycleClient client_;
  protocol::GateListener* listener_ = nullptr;
  std::vector<std::pair<std::uint64_t, protocol::WarpSlot>> asleep_;
  sc_core::sc_event changed_;
};

}  // namespace

TEST_CASE("timeline: one warp, cycle by cycle") {
  assembly::Recording recording;
  recording.timeline_file = "one_warp.pftrace";
  recording.timeline_sample_cycles = 10;
  recording.pipeline_file = "one_warp.kanata";
  const auto r = test::record_run(test::one_warp_trace("timeline_one_warp"), recording, test::one_scheduler());
  test::require_clean(r);
  const auto t = timeline_of("one_warp.pftrace");
  CHECK(t.numbers("SM 0/schedulers/scheduler 0").at("issued") <= 4);
  CHECK(t.lengths("SM 0/schedulers/scheduler 0").at("issued") == 4);
  // The scheduler waits for what its only warp waits for.
  for (const char* reason : {"memory", "scoreboard"}) {
    CHECK(t.lengths("SM 0/schedulers/").at(reason) == t.lengths("SM 0/warp slots/").at(reason));
  }
  CHECK(t.numbers("SM 0/CTA slots/CTA slot 0").at("CTA 0") == 1);
  CHECK(t.numbers("SM 0/warp slots/warp slot 0").at("CTA 0 warp 0") == 1);
  CHECK(t.tracks.at("SM 0/counters/pipeline/warp_instructions").unit == "warp instructions");
  CHECK(t.sum("SM 0/counters/pipeline/warp_instructions") == 4);
  // An instruction is collected in its cycle of issue (I) and in stage O.
  const auto p = test::check_kanata(base::read_text("one_warp.kanata"));
  CHECK(t.integral("SM 0/counters/instructions in operand collection") ==
        Approx(double(p.cycles.at("O") + p.stages.at("O"))));
}

TEST_CASE("timeline: a warp that a gate closes") {
  test::FunctionScheme scheme([&](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.gates.push_back(std::make_unique<NapGate>("nap_gate", c.clock));
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("timeline_gate", 3));
  assembly::SimulationOptions options;
  options.recording.timeline_file = "gate.pftrace";
  assembly::Simulation simulation({}, scheme, options, reader);
  test::require_clean(simulation.run());
  const auto t = timeline_of("gate.pftrace");
  std::size_t closed = 0;
  for (const auto& s : t.slices) {
    if (s.name != "closed") continue;
    ++closed;
    CHECK_THAT(s.track, Catch::Matchers::StartsWith("SM 0/warp slots/warp slot "));
    CHECK_THAT(s.track, Catch::Matchers::EndsWith("/nap_gate"));
    CHECK(s.length() == NapGate::nap + 1);  // it opens for the next cycle
  }
  CHECK(closed == 12);
}

TEST_CASE("timeline: whole, or of some cycles, some CTAs and several SMs") {
  assembly::Recording recording;
  recording.timeline_file = "whole.pftrace";
  const auto r = test::record_run(test::mixed_trace("timeline_whole"), recording, {}, 2);
  test::require_clean(r);
  const auto t = timeline_of("whole.pftrace");
  CHECK(t.outermost("SM 0/CTA slots/") + t.outermost("SM 1/CTA slots/") == 12);
  CHECK(t.outermost("SM 0/warp slots/") + t.outermost("SM 1/warp slots/") == 48);
  std::uint64_t issued = 0, all = 0;
  for (const char* sm : {"SM 0/schedulers/", "SM 1/schedulers/"}) {
    for (const auto& [reason, cycles] : t.lengths(sm)) {
      all += cycles;
      issued += reason == "issued" ? cycles : 0;
    }
  }
  CHECK(issued == r.stall_cycles[0]);
  CHECK(all == r.cycles * r.schedulers);
}

TEST_CASE("timeline: the file's window cuts slices, and drops what lies outside") {
  recorders::TimelineFile file("cut.pftrace", {100, 199});
  const auto process = file.add_process("P", 7);
  recorders::TimelineRow row(file, process, "row", 0);
  const auto a = file.intern("a"), b = file.intern("b"), a_again = file.intern("a");
  CHECK(a == a_again);
  row.open(10, "before");
  row.state(20, a);
  row.close(100);
  row.open(100, "first");
  row.close(100);
  row.open(100, "cut");
  row.state(100, a);
  row.state(100, b);
  row.state(150, a);
  row.state(150, b);
  row.state(220, a);
  row.close(300);
  row.open(200, "behind");
  row.close(300);
  file.finish();
  const auto t = timeline_of("cut.pftrace");
  REQUIRE(t.slices.size() == 4);
  CHECK(t.slices[0].name == "first");
  CHECK(t.slices[0].length() == 0);
  CHECK(t.slices[1].name == "b");
  CHECK(t.slices[1].from == 100);
  CHECK(t.slices[1].to == 150);
  CHECK(t.slices[2].name == "b");
  CHECK(t.slices[2].to == 200);
  CHECK(t.slices[2].within == "cut");
  CHECK(t.slices[3].name == "cut");
  CHECK(t.slices[3].to == 200);
  CHECK(t.tracks.count("P/row") == 1);
}

TEST_CASE("timeline: the reader of these tests finds what is wrong") {
  {
    recorders::TimelineFile file("good.pftrace", {});
    recorders::TimelineRow row(file, file.add_process("P", 7), "row", 0);
    row.open(10, "whole");
    row.state(10, file.intern("part"));
    row.close(20);
    file.finish();
  }
  const std::string good = base::read_text("good.pftrace");
  REQUIRE(test::check_perfetto(good).error == "");
  // Packets are a tag, a length below 128 and so many bytes.
  std::vector<std::string> packets;
  for (std::size_t at = 0; at < good.size();) {
    REQUIRE(good[at] == '\n');
    packets.push_back(good.substr(at, 2u + static_cast<std::uint8_t>(good[at + 1])));
    at += packets.back().size();
  }
  REQUIRE(packets.size() == 7);  // sequence, process, row; begin, begin, end, end
  const auto error = [&](const std::vector<std::size_t>& order) {
    std::string bytes;
    for (const std::size_t i : order) bytes += packets[i];
    return test::check_perfetto(bytes).error;
  };
  CHECK(error({0, 1, 2, 3, 4, 5, 6}) == "");
  CHECK(error({1, 2, 3, 4, 5, 6}) == "packet 1: the sequence does not begin with its state cleared");
  CHECK(error({0, 2, 1}) == "packet 2: the parent of 'row' is not known");
  CHECK(error({0, 1, 2, 2}) == "packet 4: track 2 again");
  CHECK(error({0, 1, 3}) == "packet 3: an event on a track that is not described");
  CHECK(error({0, 1, 2, 3, 4, 5}) == "packet 6: 'whole' on 'P/row' does not end");
  CHECK(error({0, 1, 2, 3, 6, 6}) == "packet 6: an end without a begin on 'P/row'");
  CHECK(error({0, 1, 2, 3, 6, 4}) == "packet 6: time goes back on 'P/row'");
  CHECK(error({}) == "packet 0: no packet");
  CHECK(test::check_perfetto(good.substr(0, good.size() - 1)).error == "packet 6: Trace: is cut off");
  std::string unnamed = packets[4];
  const std::size_t part = unnamed.find("part");
  REQUIRE(part != std::string::npos);
  unnamed[part - 3] = 9;  // the name's number
  CHECK(test::check_perfetto(packets[0] + packets[1] + packets[2] + unnamed).error ==
        "packet 4: name 1 is not known here");
}

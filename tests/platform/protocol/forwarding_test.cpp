// SPDX-License-Identifier: Apache-2.0
//
// A block that wraps another one forwards every call of its extension point: each virtual method that the headers
// declare reaches the wrapped block once, with its arguments, and its answer comes back.
#include <regatta/protocol/forwarding.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace regatta::protocol;

namespace {

using Names = std::vector<std::string>;

/// The virtual methods that a header declares in `type`, but for the destructor.
Names declared(const std::string& header, const std::string& type) {
  std::ifstream file(std::string(REGATTA_SOURCE_DIR) + "/platform/protocol/include/regatta/protocol/" + header);
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  const std::size_t begin = text.find("\nclass " + type + " ");
  INFO("class " << type << " in " << header);
  REQUIRE(begin != std::string::npos);
  text = text.substr(begin, text.find("\n};", begin) - begin);
  Names names;
  const std::regex method("\n  virtual [^;{(~]*?(\\w+)\\(");
  for (std::sregex_iterator i(text.begin(), text.end(), method), end; i != end; ++i) names.push_back((*i)[1]);
  REQUIRE(!names.empty());
  return names;
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// All calls of a point's bases, and of the point, in the order of the headers.
Names expected(const std::string& header, const std::string& type) {
  Names names = declared("time_keeper.h", "TimeKeeper");
  for (const auto& more : {declared("lifecycle.h", "LifecycleListener"), declared(header, type)}) {
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

class NoControl : public SmControl {
 public:
  void context(WarpSlot, WarpContext&) override {}
  std::uint64_t progress(CtaSlot) override { return 0; }
  void classify(WarpSlot, unsigned) override {}
};

/// What the calls pass.
struct Passed {
  NoControl control;
  KernelContext context;
  CtaInfo cta;
  WarpInfo warp;
} passed;

/// Writes down the name of each call that comes with the argument that was passed.
template <class Point>
class Recording : public Point {
 public:
  bool keeps_cycle_time() const override { return note("keeps_cycle_time"); }
  void attach(SmControl& c) override { note("attach", &c == &passed.control); }
  void kernel_started(const KernelContext& c) override { note("kernel_started", &c == &passed.context); }
  void kernel_finished(const KernelContext& c) override { note("kernel_finished", &c == &passed.context); }
  void cta_launched(const CtaInfo& c) override { note("cta_launched", &c == &passed.cta); }
  void cta_switched(const CtaInfo& c, bool active) override { note("cta_switched", &c == &passed.cta && active); }
  void cta_quiesced(const CtaInfo& c) override { note("cta_quiesced", &c == &passed.cta); }
  void cta_moved(const CtaInfo& c) override { note("cta_moved", &c == &passed.cta); }
  void cta_finished(const CtaInfo& c) override { note("cta_finished", &c == &passed.cta); }
  void warp_started(const WarpInfo& w) override { note("warp_started", &w == &passed.warp); }
  void warp_finished(const WarpInfo& w) override { note("warp_finished", &w == &passed.warp); }
  void budget_changed(const WarpInfo& w, unsigned before, unsigned after) override {
    note("budget_changed", &w == &passed.warp && before == 80 && after == 24);
  }
  std::string budget_obstacle() const override { return note("budget_obstacle") ? "stands in the way" : ""; }
  void active_set_changed(const WarpInfo& w, bool inside) override {
    note("active_set_changed", &w == &passed.warp && inside);
  }

  mutable Names calls;

 protected:
  bool note(const char* name, bool right = true) const {
    if (right) calls.emplace_back(name);
    return true;
  }
};

/// Calls what all points have.
void call_bases(LifecycleListener& listener, const TimeKeeper& keeper) {
  CHECK(keeper.keeps_cycle_time());
  listener.attach(passed.control);
  listener.kernel_started(passed.context);
  listener.kernel_finished(passed.context);
  listener.cta_launched(passed.cta);
  listener.cta_switched(passed.cta, true);
  listener.cta_quiesced(passed.cta);
  listener.cta_moved(passed.cta);
  listener.cta_finished(passed.cta);
  listener.warp_started(passed.warp);
  listener.warp_finished(passed.warp);
  listener.budget_changed(passed.warp, 80, 24);
  CHECK(listener.budget_obstacle() == "stands in the way");
  listener.active_set_changed(passed.warp, true);
}

class RecordingStorage : public sc_core::sc_module, public Recording<OperandStorage> {
 public:
  explicit RecordingStorage(const sc_core::sc_module_name& name) : sc_module(name) {}
  OperandTargetSocket& read_socket() override {
    note("read_socket");
    return reads;
  }
  OperandTargetSocket& write_socket() override {
    note("write_socket");
    return writes;
  }
  std::uint64_t capacity_registers() const override { return note("capacity_registers") ? 77 : 0; }
  bool has_places_for_warps() const override { return !note("has_places_for_warps"); }

  OperandTargetSocket reads{"reads"}, writes{"writes"};
};

class RecordingGate : public Recording<IssueGate>, public GateReporter, public InsertedStream {
 public:
  bool may_issue(const DynamicInstruction& d) override { return note("may_issue", &d == &instruction); }
  void issued(const DynamicInstruction& d) override { note("issued", &d == &instruction); }
  void written_back(const DynamicInstruction& d) override { note("written_back", &d == &instruction); }
  void barrier_opened(const WarpInfo& w) override { note("barrier_opened", &w == &passed.warp); }
  const sc_core::sc_event& changed() const override {
    note("changed");
    return event;
  }
  GateRoles roles() override {
    note("roles");
    return Recording::roles();
  }
  void connect(GateListener&) override {}
  std::string inserted_scheme() const override { return "recorded"; }

  DynamicInstruction instruction;
  sc_core::sc_event event{"recorded_gate_event"};
};

class RecordingReuse : public Recording<ReusePoint> {
 public:
  Decision decide(DynamicInstruction& d) override {
    note("decide", &d == &instruction);
    return Decision::keep;
  }
  unsigned latency() const override { return note("latency") ? 3 : 0; }
  std::size_t resume_kept(unsigned asked, DecidedList& list) override {
    note("resume_kept", asked == 5);
    list[0].instruction = &instruction;
    return 1;
  }
  bool needs_cycle() const override { return note("needs_cycle"); }
  unsigned bypass_latency() const override { return note("bypass_latency") ? 4 : 0; }
  std::string result_origin(const DynamicInstruction& d, unsigned destination) const override {
    note("result_origin", &d == &instruction && destination == 2);
    return "origin";
  }
  void written_back(const DynamicInstruction& d) override { note("written_back", &d == &instruction); }
  const sc_core::sc_event& changed() const override {
    note("changed");
    return event;
  }

  DynamicInstruction instruction;
  sc_core::sc_event event{"recorded_reuse_event"};
};

}  // namespace

TEST_CASE("forwarding: a wrapper of a storage forwards every call") {
  RecordingStorage storage("storage");
  ForwardingStorage wrapper(storage);
  call_bases(wrapper, wrapper);
  CHECK(&wrapper.read_socket() == &storage.reads);
  CHECK(&wrapper.write_socket() == &storage.writes);
  CHECK(wrapper.capacity_registers() == 77);
  CHECK(!wrapper.has_places_for_warps());
  // A wrapper stands in the way of reads, so that it cannot promise the time of the storage behind it.
  CHECK(wrapper.plan_reads() == nullptr);
  std::vector<std::string> forwarded = expected("operand_storage.h", "OperandStorage");
  forwarded.erase(std::remove(forwarded.begin(), forwarded.end(), "plan_reads"), forwarded.end());
  CHECK(sorted(storage.calls) == sorted(forwarded));
}

TEST_CASE("forwarding: a wrapper of a gate forwards every call") {
  RecordingGate gate;
  ForwardingGate wrapper(gate);
  call_bases(wrapper, wrapper);
  CHECK(wrapper.may_issue(gate.instruction));
  wrapper.issued(gate.instruction);
  wrapper.written_back(gate.instruction);
  wrapper.barrier_opened(passed.warp);
  CHECK(&wrapper.changed() == &gate.event);
  const GateRoles roles = wrapper.roles();
  CHECK(roles.reporter == &gate);
  CHECK(roles.inserted == &gate);
  CHECK(roles.mover == nullptr);
  CHECK(roles.keeper == nullptr);
  CHECK(sorted(gate.calls) == sorted(expected("issue_gate.h", "IssueGate")));
}

TEST_CASE("forwarding: a wrapper of a reuse point forwards every call") {
  RecordingReuse point;
  ForwardingReusePoint wrapper(point);
  call_bases(wrapper, wrapper);
  CHECK(wrapper.decide(point.instruction) == ReusePoint::Decision::keep);
  CHECK(wrapper.latency() == 3);
  ReusePoint::DecidedList list;
  CHECK(wrapper.resume_kept(5, list) == 1);
  CHECK(list[0].instruction == &point.instruction);
  CHECK(wrapper.needs_cycle());
  CHECK(wrapper.bypass_latency() == 4);
  CHECK(wrapper.result_origin(point.instruction, 2) == "origin");
  wrapper.written_back(point.instruction);
  CHECK(&wrapper.changed() == &point.event);
  CHECK(sorted(point.calls) == sorted(expected("reuse_point.h", "ReusePoint")));
}

TEST_CASE("forwarding: a wrapper's own role stands before the wrapped gate's") {
  class Mover : public ForwardingGate, public MoveRequester, public GateReporter {
   public:
    using ForwardingGate::ForwardingGate;
    void inject_through(Injector&) override {}
    void connect(GateListener&) override {}
  };
  auto gate = std::make_unique<RecordingGate>();
  RecordingGate& inside = *gate;
  Mover wrapper(std::move(gate));
  const GateRoles roles = wrapper.roles();
  CHECK(roles.mover == &wrapper);
  CHECK(roles.reporter == &wrapper);
  CHECK(roles.inserted == &inside);
}

TEST_CASE("a gate has the roles that it derives from") {
  RecordingGate gate;
  const GateRoles roles = gate.roles();
  CHECK(roles.reporter == &gate);
  CHECK(roles.inserted == &gate);
  CHECK(roles.mover == nullptr);
  CHECK(roles.keeper == nullptr);
  CHECK(roles.inserted->takes_inserted());
}

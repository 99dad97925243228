// SPDX-License-Identifier: Apache-2.0
//
// The order in which the parts of an SM are told of launches, CTAs and warps, and what a fetch listener sees.
#include "recorder.h"

#include <algorithm>
#include <utility>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

using Log = std::vector<std::string>;

/// Writes down every lifecycle call with the name of the part that got it.
class Logs : public virtual protocol::LifecycleListener {
 public:
  Logs(std::string part, Log& log) : part_(std::move(part)), log_(log) {}
  void kernel_started(const protocol::KernelContext& c) override { add("kernel_started", c.launch_index); }
  void kernel_finished(const protocol::KernelContext& c) override { add("kernel_finished", c.launch_index); }
  void cta_launched(const protocol::CtaInfo& c) override { add("cta_launched", c.cta_index); }
  void cta_switched(const protocol::CtaInfo& c, bool active) override {
    add(active ? "switched_in" : "switched_out", c.cta_index);
  }
  void cta_finished(const protocol::CtaInfo& c) override { add("cta_finished", c.cta_index); }
  void warp_started(const protocol::WarpInfo& w) override { add("warp_started", w.warp.value()); }
  void warp_finished(const protocol::WarpInfo& w) override { add("warp_finished", w.warp.value()); }

 private:
  void add(const char* what, std::uint64_t which) { log_.push_back(part_ + " " + what + " " + std::to_string(which)); }
  std::string part_;
  Log& log_;
};

class LoggingGate : public Logs, public protocol::IssueGate {
 public:
  using Logs::Logs;
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
  bool keeps_cycle_time() const override { return true; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  sc_core::sc_event changed_;
};

/// A gate, a decode point and a fetch listener in one object.
class ManySides : public Logs,
                  public protocol::IssueGate,
                  public protocol::DecodePoint,
                  public protocol::FetchListener {
 public:
  using Logs::Logs;
  bool keeps_cycle_time() const override { return true; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    // Sequences count from 1: instruction n may be tried when n instructions have arrived.
    early = early || d.sequence > arrived_count[d.warp.value()];
    return true;
  }
  std::string scheme() const override { return "nobody"; }
  unsigned room(protocol::WarpSlot) const override { return 1; }
  void decoded(const protocol::WarpInfo&, std::uint32_t, std::uint64_t) override {}
  void fetched(const protocol::WarpInfo& warp, const protocol::InstructionTraits& traits) override {
    fetched_of[warp.warp.value()].push_back(traits.index);
  }
  void arrived(const protocol::WarpInfo& warp) override {
    arrived_count[warp.warp.value()] = fetched_of[warp.warp.value()].size();
  }
  const sc_core::sc_event& changed() const override { return changed_; }

  std::vector<std::uint32_t> fetched_of[2];
  std::size_t arrived_count[2] = {0, 0};
  bool early = false;  ///< an instruction was tried before it arrived

 private:
  sc_core::sc_event changed_;
};

class LoggingObserver : public protocol::Observer {
 public:
  explicit LoggingObserver(Log& log) : log_(log) {}
  bool keeps_cycle_time() const override { return true; }
  std::vector<protocol::Event> interests() const override {
    using protocol::Event;
    return {Event::kernel_started, Event::kernel_finished, Event::cta_launched, Event::cta_finished,
            Event::cta_switched,   Event::warp_started,    Event::warp_finished};
  }
  void kernel_started(protocol::Cycle, const protocol::KernelContext&) override { add("kernel_started 0"); }
  void kernel_finished(protocol::Cycle, const protocol::KernelContext&) override { add("kernel_finished 0"); }
  void cta_launched(protocol::Cycle, const protocol::CtaInfo&) override { add("cta_launched 0"); }
  void cta_switched(protocol::Cycle, protocol::CtaSlot, bool) override { add("switched_in 0"); }
  void cta_finished(protocol::Cycle, const protocol::CtaInfo&) override { add("cta_finished 0"); }
  void warp_started(protocol::Cycle, const protocol::WarpInfo&) override { add("warp_started 0"); }
  void warp_finished(protocol::Cycle, const protocol::WarpInfo&) override { add("warp_finished 0"); }

 private:
  void add(const std::string& what) { log_.push_back("observer " + what); }
  Log& log_;
};

}  // namespace

TEST_CASE("lifecycle: every part is told once, in one order, observers last") {
  Log log;
  LoggingGate first("gate", log);
  ManySides sides("sides", log);
  Logs further("further", log);
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  test::record(b, "lifecycle_order", {}, [&](assembly::SmParts& parts) {
    // The parts outlive the run: they are the test's own.
    class Borrowed : public protocol::IssueGate {
     public:
      explicit Borrowed(protocol::IssueGate& gate) : gate_(gate) {}
      bool keeps_cycle_time() const override { return true; }
      bool may_issue(const protocol::DynamicInstruction& d) override { return gate_.may_issue(d); }
      const sc_core::sc_event& changed() const override { return gate_.changed(); }

     private:
      protocol::IssueGate& gate_;
    };
    parts.gates.push_back(std::make_unique<Borrowed>(first));
    parts.listeners = {&further, &first, &further};
    parts.decode_point = &sides;
    parts.fetch_listeners = {&sides};
    parts.observers.push_back(std::make_unique<LoggingObserver>(log));
  });
  Log expected;
  for (const char* what : {"kernel_started", "cta_launched", "warp_started", "switched_in", "warp_finished",
                           "cta_finished", "kernel_finished"}) {
    for (const char* part : {"sides", "further", "gate", "observer"}) {
      expected.push_back(std::string(part) + " " + what + " 0");
    }
  }
  CHECK(log == expected);
}

TEST_CASE("lifecycle: a fetch listener sees every instruction in program order before it is tried") {
  Log log;
  auto sides = std::make_unique<ManySides>("sides", log);
  ManySides& seen = *sides;
  std::vector<std::uint32_t> program[2];
  bool early = false;
  class Keep : public protocol::Observer {
   public:
    Keep(const ManySides& sides, std::vector<std::uint32_t>* program, bool& early)
        : sides_(sides), program_(program), early_(early) {}
    bool keeps_cycle_time() const override { return true; }
    std::vector<protocol::Event> interests() const override { return {protocol::Event::kernel_finished}; }
    void kernel_finished(protocol::Cycle, const protocol::KernelContext&) override {
      for (unsigned w = 0; w < 2; ++w) program_[w] = sides_.fetched_of[w];
      early_ = sides_.early;
    }

   private:
    const ManySides& sides_;
    std::vector<std::uint32_t>* program_;
    bool& early_;
  };
  TraceBuilder b;
  for (unsigned i = 0; i < 20; ++i) b.op(OpClass::int_add, {i % 5 + 1}, {i % 7});
  b.exit();
  b.launch(1, 64);
  b.run_all();
  const Recording r = test::record(b, "lifecycle_fetch", {}, [&](assembly::SmParts& parts) {
    parts.fetch_listeners = {sides.get()};
    parts.observers.push_back(std::make_unique<Keep>(seen, program, early));
    parts.gates.push_back(std::move(sides));
  });
  CHECK_FALSE(early);
  for (unsigned w = 0; w < 2; ++w) {
    std::vector<std::uint32_t> issued;
    for (const test::Passage& p : r.passages) {
      if (p.warp == w) issued.push_back(p.index);
    }
    CAPTURE(w);
    CHECK(issued.size() == 21);
    CHECK(program[w] == issued);
  }
}

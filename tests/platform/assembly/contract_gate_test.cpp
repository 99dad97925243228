// SPDX-License-Identifier: Apache-2.0
//
// Issue gates and decode points that break their contract: the message names the block, the warp and instruction, what
// it did and what was expected.
#include "wrong_parts.h"

#include <map>
#include <memory>
#include <utility>

using namespace regatta;
using Catch::Matchers::Contains;
using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::WarpSlot;
using test::FunctionGate;

namespace {

std::string run_gated(const std::string& name, FunctionGate::May may, const std::function<void(FunctionGate&)>& prepare,
                      bool check_protocol) {
  return test::outcome(
      "gate_" + name,
      [&](assembly::SmParts& parts) {
        auto gate = std::make_unique<FunctionGate>("wrong", std::move(may));
        if (prepare) prepare(*gate);
        parts.gates.push_back(std::move(gate));
      },
      check_protocol);
}

/// In a process of its own.
std::string gated(const std::string& name, const FunctionGate::May& may,
                  const std::function<void(FunctionGate&)>& prepare = {}, bool check_protocol = false) {
  return test::in_child([&] { return run_gated(name, may, prepare, check_protocol); });
}

const std::string gate_head = "regatta/issue_gate: sm0.wrong in cycle ";

/// Takes the words of a scheme, and says that it has room for `rooms`, one answer after the other.
class ShrinkingRoom : public protocol::DecodePoint {
 public:
  ShrinkingRoom(std::string scheme, bool shrinks) : scheme_(std::move(scheme)), shrinks_(shrinks) {}
  std::string scheme() const override { return scheme_; }
  unsigned room(WarpSlot) const override { return shrinks_ && asked_++ % 2 != 0 ? 0 : 4; }
  void decoded(const protocol::WarpInfo&, std::uint32_t, std::uint64_t) override {}
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  std::string scheme_;
  bool shrinks_;
  mutable unsigned asked_ = 0;
  sc_core::sc_event changed_{"room_changed"};
};

std::string decoding(const std::string& name, const std::string& scheme, bool shrinks) {
  test::TraceBuilder b;
  b.op(trace::OpClass::constant_load, {0}, {});
  b.op(trace::OpClass::int_add, {1}, {0});
  b.exit();
  trace::InsertedInstruction word;
  word.before = 1;
  word.instruction.scheme = "words";
  word.instruction.opcode = "word";
  b.kernel().inserted.push_back(word);
  b.launch(1, 64);
  b.run_all();
  const std::string path = b.write("contract_decode_" + name);
  ShrinkingRoom point(scheme, shrinks);
  test::FunctionScheme parts([&](const assembly::BuildContext& c) {
    assembly::SmParts p = assembly::baseline_parts(c);
    p.decode_point = &point;
    return p;
  });
  try {
    return test::simulate(path, parts, {}, 1, false).message;
  } catch (const sc_core::sc_report& report) {
    return std::string(report.get_msg_type()) + ": " + report.get_msg();
  }
}

}  // namespace

TEST_CASE("contract: a gate that pauses a warp until now") {
  const std::string said = gated("pause_now", [](FunctionGate& g, const DynamicInstruction& d) {
    g.listener->pause(d.warp, g.now());
    return false;
  });
  CHECK_THAT(said, Contains(gate_head));
  CHECK_THAT(said, Contains("pauses warp 0 (CTA 0) until cycle "));
  CHECK_THAT(said, Contains("; expected a later cycle"));
}

TEST_CASE("contract: a gate that pauses another warp") {
  CHECK_THAT(gated("pause_other",
                   [](FunctionGate& g, const DynamicInstruction& d) {
                     g.listener->pause(WarpSlot(static_cast<std::uint16_t>(d.warp.value() ^ 1)), g.now() + 5);
                     return false;
                   }),
             Contains("pauses warp 1 (CTA 0) outside of may_issue() for that warp; expected the warp that it is being "
                      "asked about"));
}

TEST_CASE("contract: a gate that pauses a warp and agrees") {
  const std::string said = gated("pause_agree", [](FunctionGate& g, const DynamicInstruction& d) {
    g.listener->pause(d.warp, g.now() + 5);
    return true;
  });
  CHECK_THAT(said, Contains("agrees to warp 0 (CTA 0) PC 0x0 constant_load and pauses its warp; expected a gate to "
                            "refuse what it pauses"));
}

TEST_CASE("contract: a gate that closes a warp that is not there") {
  const auto close = [](FunctionGate& g) {
    g.on_warp = [](FunctionGate& gate, const protocol::WarpInfo&) { gate.listener->closed(WarpSlot(60000), true); };
  };
  CHECK_THAT(gated(
                 "close_nobody", [](FunctionGate&, const DynamicInstruction&) { return true; }, close),
             Contains("tells the listener of warp 60000; expected a warp slot below "));
}

TEST_CASE("contract: a gate that asks to be asked again in the past") {
  CHECK_THAT(gated("reconsider",
                   [](FunctionGate& g, const DynamicInstruction&) {
                     g.listener->reconsider(Cycle(0));
                     return false;
                   }),
             Contains("asks to be asked again in cycle 0; expected a later cycle"));
}

TEST_CASE("contract: a gate that moves a register that the kernel has not") {
  const std::string said = gated("move_r200", [](FunctionGate& g, const DynamicInstruction& d) {
    if (d.injected) return true;
    g.injector->move(d.warp, protocol::RegisterId(200));
    return false;
  });
  CHECK_THAT(said, Contains("asked about warp 0 (CTA 0) PC 0x0 constant_load wants a move of R200 of warp 0 (CTA 0); "
                            "expected a register of that warp below R"));
}

TEST_CASE("contract: a gate that moves another warp's register") {
  CHECK_THAT(gated("move_other",
                   [](FunctionGate& g, const DynamicInstruction& d) {
                     if (d.injected) return true;
                     g.injector->move(WarpSlot(static_cast<std::uint16_t>(d.warp.value() ^ 1)),
                                      protocol::RegisterId(0));
                     return false;
                   }),
             Contains("wants a move of R0 of warp 1 (CTA 0); expected a register of that warp"));
}

TEST_CASE("contract: a gate that moves a register with a result on its way") {
  // R0 is written by the first instruction; the second does not touch it.
  CHECK_THAT(gated("move_pending",
                   [](FunctionGate& g, const DynamicInstruction& d) {
                     if (d.injected || d.traits->index == 0) return true;
                     g.injector->move(d.warp, protocol::RegisterId(0));
                     return false;
                   }),
             Contains(", which has a result on its way; expected "));
}

TEST_CASE("contract: a gate that wants a move and agrees") {
  CHECK_THAT(gated("move_agree",
                   [](FunctionGate& g, const DynamicInstruction& d) {
                     if (!d.injected) g.injector->move(d.warp, protocol::RegisterId(0));
                     return true;
                   }),
             Contains("and asks for a move of R0 ahead of it; expected a gate to refuse what it puts a move before"));
}

TEST_CASE("contract: a gate whose agreement holds once, with --check-protocol") {
  CHECK_THAT(gated(
                 "fickle", [](FunctionGate& g, const DynamicInstruction&) { return ++g.seen % 2 != 0; }, {}, true),
             Contains("agrees to warp 0 (CTA 0) PC 0x0 constant_load and refuses it when asked again; expected the "
                      "same answer until issued()"));
}

namespace {

/// Refuses every instruction once, in the cycle in which it is asked first; agrees to it later, after `announce`.
FunctionGate::May once(std::function<void(FunctionGate&, const DynamicInstruction&)> announce) {
  auto refused = std::make_shared<std::map<unsigned, std::pair<std::uint64_t, std::uint64_t>>>();
  return [refused, announce = std::move(announce)](FunctionGate& g, const DynamicInstruction& d) {
    const std::uint64_t now = g.now().value();
    auto& [sequence, cycle] = (*refused)[d.warp.value()];
    if (sequence != d.sequence + 1) {
      sequence = d.sequence + 1;
      cycle = now;
      if (announce) announce(g, d);
    }
    return cycle != now;
  };
}

}  // namespace

TEST_CASE("contract: a gate that agrees to what it refused and notifies nothing, with --check-protocol") {
  const std::string said = gated("silent", once({}), {}, true);
  CHECK_THAT(said, Contains(gate_head));
  CHECK_THAT(said, Contains(": agreed in cycle "));
  CHECK_THAT(said, Contains(" to warp "));
  CHECK_THAT(said, Contains(", which it refused in cycle "));
  CHECK_THAT(said, Contains(", and notified nothing in between; expected changed(), or a cycle given to the listener, "
                            "at the latest when it may agree"));
}

TEST_CASE("contract: a gate that agrees at random is found, even if it keeps to its answer for a cycle") {
  const auto moody = [](FunctionGate& g, const DynamicInstruction& d) {
    // A hash of warp and cycle: no order of questions makes a difference.
    const std::uint64_t mixed = (g.now().value() * 8191 + d.warp.value()) * 0x9e3779b97f4a7c15ull;
    return (mixed >> 60) % 4 != 0;
  };
  CHECK_THAT(gated("moody", moody, {}, true), Contains(", and notified nothing in between; expected "));
  CHECK_THAT(gated(
                 "dice", [](FunctionGate& g, const DynamicInstruction&) { return ++g.seen * 7919 % 5 < 3; }, {}, true),
             Contains(" and refuses it when asked again; expected the same answer until issued()"));
}

TEST_CASE("contract: a gate that announces when it may agree is let be") {
  struct Way {
    const char* name;
    std::function<void(FunctionGate&, const DynamicInstruction&)> announce;
  };
  for (const Way& way :
       {Way{"changed", [](FunctionGate&g, const DynamicInstruction&) { g.notify(); }},
        Way{"reconsider", [](FunctionGate&g, const DynamicInstruction&) { g.listener->reconsider(g.now() + 1); }},
        Way{"pause", [](FunctionGate&g, const DynamicInstruction&d) { g.listener->pause(d.warp, g.now() + 3); }},
        Way{"closed", [](FunctionGate&g, const DynamicInstruction&d) {
              g.listener->closed(d.warp, true);
              g.listener->closed(d.warp, false);
            }}}) {
    CAPTURE(way.name);
    CHECK(gated(std::string("announced_") + way.name, once(way.announce), {}, true).empty());
  }
}

TEST_CASE("contract: a gate that refuses and never notifies is named by the report of the deadlock, checked or not") {
  for (const bool check : {false, true}) {
    CAPTURE(check);
    const std::string said = gated(
        check ? "never_checked" : "never",
        [](FunctionGate&, const DynamicInstruction& d) { return d.traits->index < 2; }, {}, check);
    CHECK_THAT(said, Contains("deadlock: launch 0 (hand_made) stopped at cycle "));
    CHECK_THAT(said, Contains("  sm0.pipeline: issue gate sm0.wrong refuses them: 8 warps (0-7), since cycle "));
    CHECK_THAT(said, Contains("  sm0.pipeline: issue gate sm0.wrong has notified nothing since it refused warp "));
    CHECK_THAT(said, Contains(" (it never has); expected changed(), or a cycle given to the listener, at the latest "
                              "when it may agree\n"));
  }
}

TEST_CASE("contract: a gate that notifies between two cycles") {
  struct Early : FunctionGate {
    Early() : FunctionGate("early", [](FunctionGate&, const DynamicInstruction&) { return true; }), half("half") {
      SC_HAS_PROCESS(Early);
      SC_METHOD(tell);
      sensitive << half;
      dont_initialize();
    }
    void warp_started(const protocol::WarpInfo&) override { half.notify(test::wrong_parts_period * 1.5); }
    void tell() { notify(); }
    sc_core::sc_event half;
  };
  const std::string said =
      test::outcome("gate_early", [](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<Early>()); });
  CHECK_THAT(said, Contains("regatta/issue_gate: sm0.early in cycle "));
  CHECK_THAT(said, Contains(": notifies changed() at "));
  CHECK_THAT(said, Contains("; expected a time that is a whole number of cycles of 888 ps"));
}

TEST_CASE("contract: a gate that notifies itself for ever without time passing") {
  struct Restless : FunctionGate {
    Restless() : FunctionGate("restless", [](FunctionGate&, const DynamicInstruction&) { return true; }) {
      SC_HAS_PROCESS(Restless);
      SC_METHOD(again);
      sensitive << changed();
    }
    void again() { notify(); }
  };
  CHECK_THAT(test::outcome("gate_restless",
                           [](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<Restless>()); }),
             Contains("notifies changed() 1000000 times without time passing; expected "));
}

TEST_CASE("contract: a decode point whose room shrinks") {
  const std::string said = decoding("shrinks", "words", true);
  CHECK_THAT(said, Contains("regatta/decode_point: ShrinkingRoom in cycle "));
  CHECK_THAT(said, Contains(" (CTA 0) is 0 when 1 instructions come that it had room for when they "
                            "were fetched; expected room that only decoded() takes"));
}

TEST_CASE("contract: a decode point of no scheme") {
  CHECK_THAT(decoding("nameless", "", false), Contains("scheme() answers an empty text; expected the name"));
}

TEST_CASE("contract: a decode point that keeps to it is let be") { CHECK(decoding("right", "words", false).empty()); }

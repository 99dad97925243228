// SPDX-License-Identifier: Apache-2.0
//
// Issue gates and decode points that break their contract: the message names the block, the warp and instruction, what
// it did and what was expected.
#include "wrong_parts.h"

using namespace regatta;
using Catch::Matchers::Contains;
using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::WarpSlot;
using test::FunctionGate;

namespace {

std::string gated(const std::string& name, FunctionGate::May may,
                  const std::function<void(FunctionGate&)>& prepare = {}, bool check_protocol = false) {
  return test::outcome(
      "gate_" + name,
      [&](assembly::SmParts& parts) {
        auto gate = std::make_unique<FunctionGate>("wrong", std::move(may));
        if (prepare) prepare(*gate);
        parts.gates.push_back(std::move(gate));
      },
      check_protocol);
}

const std::string gate_head = "regatta/issue_gate: sm0.wrong in cycle ";

void with_moves(FunctionGate& g) { g.injects = true; }

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
  const std::string said = gated(
      "move_r200",
      [](FunctionGate& g, const DynamicInstruction& d) {
        if (d.injected) return true;
        g.injector->move(d.warp, protocol::RegisterId(200));
        return false;
      },
      with_moves);
  CHECK_THAT(said, Contains("asked about warp 0 (CTA 0) PC 0x0 constant_load wants a move of R200 of warp 0 (CTA 0); "
                            "expected a register of that warp below R"));
}

TEST_CASE("contract: a gate that moves another warp's register") {
  CHECK_THAT(gated(
                 "move_other",
                 [](FunctionGate& g, const DynamicInstruction& d) {
                   if (d.injected) return true;
                   g.injector->move(WarpSlot(static_cast<std::uint16_t>(d.warp.value() ^ 1)), protocol::RegisterId(0));
                   return false;
                 },
                 with_moves),
             Contains("wants a move of R0 of warp 1 (CTA 0); expected a register of that warp"));
}

TEST_CASE("contract: a gate that moves a register with a result on its way") {
  // R0 is written by the first instruction; the second does not touch it.
  CHECK_THAT(gated(
                 "move_pending",
                 [](FunctionGate& g, const DynamicInstruction& d) {
                   if (d.injected || d.traits->index == 0) return true;
                   g.injector->move(d.warp, protocol::RegisterId(0));
                   return false;
                 },
                 with_moves),
             Contains(", which has a result on its way; expected "));
}

TEST_CASE("contract: a gate that wants a move and agrees") {
  CHECK_THAT(gated(
                 "move_agree",
                 [](FunctionGate& g, const DynamicInstruction& d) {
                   if (!d.injected) g.injector->move(d.warp, protocol::RegisterId(0));
                   return true;
                 },
                 with_moves),
             Contains("and asks for a move of R0 ahead of it; expected a gate to refuse what it puts a move before"));
}

TEST_CASE("contract: a gate whose agreement holds once, with --check-protocol") {
  CHECK_THAT(gated(
                 "fickle", [](FunctionGate& g, const DynamicInstruction&) { return ++g.seen % 2 != 0; }, {}, true),
             Contains("agrees to warp 0 (CTA 0) PC 0x0 constant_load and refuses it when asked again; expected the "
                      "same answer until issued()"));
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

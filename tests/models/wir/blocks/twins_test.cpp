// SPDX-License-Identifier: Apache-2.0
//
// Twins of the buffers' state: a block with one makes the same calls as without, and the twin's results count.
#include <regatta/test/clock.h>
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;
using Catch::Matchers::Contains;

namespace {

/// Agrees with the model, unless a test sets `result`.
template <class Operation, class Result>
class AgreeingTwin : public regatta::cosim::OperationTwin<Operation, Result> {
 public:
  Result operate(const Operation& operation, const Result& of_model) override {
    ++kinds[static_cast<unsigned>(operation.kind)];
    last = regatta::models::wir::describe(operation);
    return other ? result : of_model;
  }
  std::map<unsigned, unsigned> kinds;
  std::string last;
  bool other = false;
  Result result;
};
using AgreeingSignatureTwin = AgreeingTwin<VsbOperation, VsbResult>;
using AgreeingReuseTwin = AgreeingTwin<ReuseOperation, ReuseOutcome>;

/// A block with the stand-ins at its ports. `number`: of several in a test.
template <class Block>
struct TwinSide {
  TwinSide(unsigned number, const WirMachine& config)
      : references(("references" + std::to_string(number)).c_str()),
        block(("block" + std::to_string(number)).c_str(), config, test::clock(block_period)) {
    block.references.bind(references.in);
  }
  LoggedReferences references;
  Block block;
};

class NotedVictims : public sc_core::sc_module, public ReuseVictims {
 public:
  explicit NotedVictims(const sc_core::sc_module_name& name) : sc_module(name) {}
  void replaced(const ReuseTag& tag, const ReuseResult& result) override {
    text += describe(tag) + " " + std::to_string(result[0].value()) + "\n";
  }
  std::string text;
};

/// What give_up_idle() gives up.
template <class Block>
std::vector<unsigned> idle_registers(Block& block) {
  return given_up(block, block_cycle() + 1000);
}

/// The same random calls to a buffer with a twin and to one without.
void compare_reuse_twins(WirMachine config) {
  config.reuse_entries = 8;
  config.reuse_ports = 4;
  TwinSide<ReuseBuffer> plain(0, config), twinned(1, config);
  NotedVictims plain_victims("plain_victims"), twinned_victims("twinned_victims");
  plain.block.victims.bind(plain_victims);
  twinned.block.victims.bind(twinned_victims);
  AgreeingReuseTwin twin;
  twinned.block.set_twin(&twin);
  block_run_to(0);
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::vector<ReuseUpdate> open;
  std::uint32_t owner = 0;
  unsigned victims = 0;
  for (std::uint64_t cycle = 1; cycle < 4000; ++cycle) {
    block_run_to(cycle);
    const bool low = cycle % 100 >= 80;
    const std::set<unsigned> full = cycle % 50 < 10 ? std::set<unsigned>{2, 9} : std::set<unsigned>{};
    for (auto* const side : {&plain, &twinned}) {
      side->references.set_low(low);
      side->references.full = full;
    }
    ReuseTag tag = reuse_tag(below(4), {below(4), 5});
    if (below(3) == 0) tag.block = static_cast<std::uint16_t>(1 + below(3));
    const ReuseRequest request = reuse_request(tag, ++owner, below(8) == 0);
    ReuseAnswer answers[2];
    const LookupReply a = plain.block.look_up(request, 0, answers[0]);
    REQUIRE(a == twinned.block.look_up(request, 0, answers[1]));
    if (a == LookupReply::answered) {
      REQUIRE(same_answer(answers[0], answers[1]));
      const bool enters = !config.pending() && answers[0].found == ReuseFound::nothing && !answers[0].evicted;
      if (answers[0].claimed || (enters && !request.retry)) {
        ReuseUpdate u = reuse_update(tag, owner, {8 + below(4)}, answers[0].claimed);
        if (below(6) == 0) u.result.fill(no_register);
        open.push_back(u);
      }
    }
    if (!open.empty() && below(3) != 0) {
      const auto at = open.begin() + below(static_cast<unsigned>(open.size()));
      plain.block.update(*at);
      twinned.block.update(*at);
      open.erase(at);
    }
    if (low && below(3) == 0) REQUIRE(idle_registers(plain.block) == idle_registers(twinned.block));
    if (below(20) == 0) {
      CtaInfo cta;
      cta.cta = CtaSlot(static_cast<std::uint16_t>(below(3)));
      plain.block.cta_finished(cta);
      twinned.block.cta_finished(cta);
    }
    if (below(100) == 0) {
      give_up_times(plain.block, 3);
      give_up_times(twinned.block, 3);
    }
    if (below(200) == 0) {
      plain.block.give_up_all();
      twinned.block.give_up_all();
    }
    REQUIRE(plain.references.take() == twinned.references.take());
    REQUIRE(counted_by(plain.block) == counted_by(twinned.block));
    REQUIRE(plain_victims.text == twinned_victims.text);
    victims += plain_victims.text.empty() ? 0 : 1;
    plain_victims.text.clear();
    twinned_victims.text.clear();
  }
  CHECK(victims > 10);
  using Kind = ReuseOperation::Kind;
  const std::set<Kind> unused =
      config.pending() ? std::set<Kind>{Kind::insert} : std::set<Kind>{Kind::claim, Kind::complete, Kind::abandon};
  for (unsigned kind = 0; kind < 8; ++kind) {
    CAPTURE(kind);
    CHECK((twin.kinds[kind] > 10) == (unused.count(static_cast<Kind>(kind)) == 0));
  }
}

}  // namespace

TEST_CASE("reuse buffer with a twin: the same calls as without") { compare_reuse_twins(block_config()); }
TEST_CASE("reuse buffer with a twin: the same calls as without, results entered at retirement") {
  WirMachine config = block_config();
  config.model = "rl";
  compare_reuse_twins(config);
}

TEST_CASE("signature buffer with a twin: the same calls as without") {
  WirMachine config = block_config();
  config.vsb_entries = 8;
  TwinSide<Vsb> plain(0, config), twinned(1, config);
  AgreeingSignatureTwin twin;
  twinned.block.set_twin(&twin);
  const BlockLaunch launch{8};
  block_run_to(0);
  plain.block.kernel_started(launch.context);
  twinned.block.kernel_started(launch.context);
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  unsigned hits = 0;
  for (std::uint64_t cycle = 1; cycle < 4000; ++cycle) {
    block_run_to(cycle);
    const bool low = cycle % 100 >= 80;
    for (auto* const side : {&plain, &twinned}) side->references.set_low(low);
    const LaneValues value = lanes_with(below(20));
    VsbAnswer answers[2];
    plain.block.look_up({value.data()}, 0, answers[0]);
    twinned.block.look_up({value.data()}, 0, answers[1]);
    REQUIRE(answers[0].hash == answers[1].hash);
    REQUIRE(answers[0].candidate == answers[1].candidate);
    hits += answers[0].candidate == no_register ? 0 : 1;
    if (answers[0].candidate == no_register) {
      const PhysicalRegister reg = physical_at(below(64));
      plain.block.enter(answers[0].hash, reg);
      twinned.block.enter(answers[0].hash, reg);
    } else if (below(10) == 0) {
      plain.block.evict(answers[0].hash);
      twinned.block.evict(answers[0].hash);
    }
    if (low && below(3) == 0) REQUIRE(idle_registers(plain.block) == idle_registers(twinned.block));
    if (below(100) == 0) {
      give_up_times(plain.block, 3);
      give_up_times(twinned.block, 3);
    }
    if (below(200) == 0) {
      plain.block.give_up_all();
      twinned.block.give_up_all();
    }
    REQUIRE(plain.references.take() == twinned.references.take());
    REQUIRE(counted_by(plain.block) == counted_by(twinned.block));
  }
  CHECK(hits > 100);
  for (unsigned kind = 0; kind < 4; ++kind) CHECK(twin.kinds[kind] > 10);
}

TEST_CASE("signature buffer with a twin: its results count") {
  TwinSide<Vsb> side(0, block_config());
  AgreeingSignatureTwin twin;
  side.block.set_twin(&twin);
  block_run_to(1);
  twin.other = true;
  twin.result = {0x1234, physical_at(9)};
  VsbAnswer answer;
  const LaneValues value = lanes_with(1);
  side.block.look_up({value.data()}, 0, answer);
  CHECK(answer.hash == 0x1234);
  CHECK(answer.candidate == physical_at(9));
  side.block.enter(0x101, physical_at(3));
  CHECK(side.references.take() == CallLog{"share 9", "share 3", "release 9"});
  CHECK(twin.last == "insert register 3 for hash 00000101");
  CHECK(side.block.describe_entries() == "1 of 256 entries are valid; entry 1: hash 00000101, register 3");
}

TEST_CASE("reuse buffer with a twin: its results count") {
  TwinSide<ReuseBuffer> side(0, block_config());
  AgreeingReuseTwin twin;
  side.block.set_twin(&twin);
  block_run_to(1);
  const ReuseTag tag = reuse_tag(5, {1, 2});
  ReuseAnswer answer;
  side.block.look_up(reuse_request(tag, 7), 0, answer);
  CHECK(answer.claimed);
  const std::string place = std::to_string(tag.fold() % 256);
  CHECK(side.block.describe_entries() == "0 of 256 entries have a result, 1 are pending; entry " + place +
                                             ": pending: tag opcode 5 (registers 1, 2), result none, owner 7");
  side.references.take();
  twin.other = true;
  twin.result.found = ReuseEntries::Found::result;
  twin.result.result[0] = physical_at(9);
  side.block.look_up(reuse_request(tag, 8), 0, answer);
  CHECK(answer.found == ReuseFound::result);
  CHECK(answer.result[0] == physical_at(9));
  CHECK(side.references.take() == CallLog{"share 9"});
  CHECK_THAT(twin.last, Contains("find opcode 5 (registers 1, 2) in place"));
}

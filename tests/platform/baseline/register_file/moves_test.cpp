// SPDX-License-Identifier: Apache-2.0
//
// The sockets at which an engine moves registers of CTAs: they yield to operands and results, but not for ever.
#include <regatta/test/bad_requests.h>
#include <regatta/test/clock.h>

#include "driver.h"

using namespace regatta;
using test::Driver;
using test::LaneMask;
using test::pattern;
using test::WarpValue;

namespace {

/// A file with an engine at its move sockets and a pipeline at the others.
class MovesBench {
 public:
  explicit MovesBench(const models::RegisterFileConfig& config = test::Bench::eight_banks())
      : file("register_file", config, test::clock(period)),
        pipeline("pipeline", test::clock(period)),
        engine("engine", test::clock(period)) {
    pipeline.reads.bind(file.reads);
    pipeline.writes.bind(file.writes);
    engine.reads.bind(file.move_reads);
    engine.writes.bind(file.move_writes);
    protocol::KernelContext context;
    context.registers_per_warp = 32;
    file.kernel_started(context);
    for (std::uint16_t w = 0; w < 8; ++w) {
      protocol::WarpInfo warp;
      warp.warp = protocol::WarpSlot(w);
      file.warp_started(warp);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  struct Answer {
    tlm::tlm_sync_enum sync = tlm::TLM_COMPLETED;
    std::uint64_t delay = 0;  ///< cycles
  };
  Answer send(protocol::OperandInitiatorSocket& socket, tlm::tlm_command command, unsigned warp, unsigned reg,
              WarpValue& value) {
    payloads_.push_back(std::make_unique<protocol::OperandPayload>());
    protocol::OperandPayload& p = *payloads_.back();
    p.prepare(command, protocol::WarpSlot(static_cast<std::uint16_t>(warp)),
              protocol::RegisterId(static_cast<std::uint8_t>(reg)), trace::all_lanes(32), 32, value);
    // Operands and results belong to an instruction, moves do not.
    if (&socket == &pipeline.reads || &socket == &pipeline.writes) p.access().instruction = &instruction_;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time time = sc_core::SC_ZERO_TIME;
    Answer answer;
    answer.sync = socket->nb_transport_fw(p.payload(), phase, time);
    answer.delay = time.value() / period.value();
    return answer;
  }
  Answer operand(unsigned warp, unsigned reg, WarpValue& value) {
    return send(pipeline.reads, tlm::TLM_READ_COMMAND, warp, reg, value);
  }
  Answer result(unsigned warp, unsigned reg, WarpValue& value) {
    return send(pipeline.writes, tlm::TLM_WRITE_COMMAND, warp, reg, value);
  }
  Answer move_out(unsigned warp, unsigned reg, WarpValue& value) {
    return send(engine.reads, tlm::TLM_READ_COMMAND, warp, reg, value);
  }
  Answer move_in(unsigned warp, unsigned reg, WarpValue& value) {
    return send(engine.writes, tlm::TLM_WRITE_COMMAND, warp, reg, value);
  }
  void wait(std::uint64_t cycles = 1) { sc_core::sc_start(static_cast<double>(cycles) * period); }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period.value(); }
  std::uint64_t statistic(const std::string& name) {
    support::StatGroup group;
    file.register_stats(group);
    for (const auto& s : group.stats()) {
      if (s.name == name) return *s.counter;
    }
    FAIL("no statistic " << name);
    return 0;
  }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  models::RegisterFile file;
  Driver pipeline, engine;

 private:
  protocol::DynamicInstruction instruction_;
  std::vector<std::unique_ptr<protocol::OperandPayload>> payloads_;
};

bool same(const WarpValue& a, const WarpValue& b) {
  return std::equal(a.lane.begin(), a.lane.begin() + 32, b.lane.begin());
}

}  // namespace

TEST_CASE("register file: a move at an idle bank takes as long as an operand or a result") {
  MovesBench b;
  WarpValue written = pattern(1), read{}, moved{};
  const auto in = b.move_in(0, 0, written);
  CHECK(in.sync == tlm::TLM_COMPLETED);
  b.wait(5);
  const auto as_operand = b.operand(0, 0, read);
  b.wait(5);
  const auto out = b.move_out(0, 0, moved);
  CHECK(out.sync == tlm::TLM_COMPLETED);
  CHECK(out.delay == as_operand.delay);
  CHECK(in.delay == 1);
  CHECK(same(read, written));
  CHECK(same(moved, written));
  CHECK(b.statistic("move_reads") == 1);
  CHECK(b.statistic("move_writes") == 1);
  CHECK(b.statistic("move_waits") == 0);
  CHECK(b.statistic("reads") == 1);  // moves are counted apart
  CHECK(b.statistic("writes") == 0);
}

TEST_CASE("register file: a move waits for a cycle in which its bank has nothing else to do") {
  MovesBench b;
  WarpValue first{}, second{}, moved{}, value = pattern(3);
  b.move_in(0, 8, value);
  b.wait(10);
  // Two operands of bank 0, then a move from it, in one cycle.
  CHECK(b.operand(0, 0, first).delay == 2);
  CHECK(b.operand(0, 16, second).delay == 3);
  CHECK(b.move_out(0, 8, moved).sync == tlm::TLM_ACCEPTED);
  // Another bank is free meanwhile.
  WarpValue other{};
  CHECK(b.operand(0, 1, other).delay == 2);
  b.wait(6);
  REQUIRE(b.engine.responses.size() == 1);
  CHECK(b.engine.responses[0].phase == tlm::BEGIN_RESP);
  // The slot after the second operand's: the read arrives two cycles later than it would in an idle file.
  CHECK(b.engine.responses[0].cycle + b.engine.responses[0].delay == 10 + 4);
  CHECK(same(moved, value));
  CHECK(b.pipeline.responses.empty());
  CHECK(b.statistic("move_waits") >= 1);
}

TEST_CASE("register file: operands and results that come while a move waits go first") {
  MovesBench b;
  WarpValue moved{}, value = pattern(3), changed = pattern(4);
  b.move_in(0, 8, value);
  b.wait(10);
  WarpValue operand{};
  b.operand(0, 0, operand);
  CHECK(b.move_out(0, 8, moved).sync == tlm::TLM_ACCEPTED);
  for (unsigned n = 0; n < 10; ++n) {
    b.wait();
    CHECK(b.operand(0, 0, operand).delay == 2);
    CHECK(b.engine.responses.empty());
  }
  // What is read is what the row has when it is read.
  b.result(0, 8, changed);
  b.wait(5);
  REQUIRE(b.engine.responses.size() == 1);
  CHECK(same(moved, changed));
}

TEST_CASE("register file: a move has waited long enough after 32 cycles") {
  MovesBench b;
  WarpValue moved{}, operand{};
  b.wait(10);
  b.operand(0, 0, operand);
  CHECK(b.move_out(0, 8, moved).sync == tlm::TLM_ACCEPTED);
  std::uint64_t delayed = 0;
  for (unsigned n = 0; n < 60; ++n) {
    b.wait();
    delayed += b.operand(0, 0, operand).delay - 2;
  }
  REQUIRE(b.engine.responses.size() == 1);
  const std::uint64_t answered = b.engine.responses[0].cycle;
  CHECK(answered >= 10 + models::RegisterFile::move_patience);
  CHECK(answered <= 10 + models::RegisterFile::move_patience + 3);
  CHECK(delayed > 0);  // the bank was the engine's for a cycle
  CHECK(b.statistic("move_waits") == models::RegisterFile::move_patience);
}

TEST_CASE("register file: a move in waits for the write port, each way has one access under way") {
  models::RegisterFileConfig c = test::Bench::eight_banks();
  c.ports = "1rw";
  MovesBench b(c);
  b.wait(10);
  WarpValue operand{}, moved{}, value = pattern(7);
  b.operand(0, 0, operand);
  b.operand(0, 16, operand);
  CHECK(b.move_in(0, 8, value).sync == tlm::TLM_ACCEPTED);
  CHECK(b.move_out(0, 9, moved).sync == tlm::TLM_COMPLETED);
  b.wait(8);
  REQUIRE(b.engine.responses.size() == 1);
  CHECK(b.engine.responses[0].payload->is_write());
  WarpValue read{};
  b.operand(0, 8, read);
  CHECK(same(read, value));
}

TEST_CASE("register file: what a move cannot do") {
  models::RegisterFileConfig c = test::Bench::eight_banks();
  c.ports = "1rw";
  c.priority = "read";
  MovesBench b(c);
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  WarpValue value{};
  CHECK_THROWS_WITH(
      b.move_out(0, 0, value),
      Catch::Contains("a move at an arbitrated bank (register_file.priority) cannot wait for a late answer"));
}

TEST_CASE("register file: without an engine there are no statistics of moves") {
  test::Bench b;
  support::StatGroup group;
  b.file.register_stats(group);
  for (const auto& s : group.stats()) CHECK(s.name.find("move") == std::string::npos);
}

TEST_CASE("register file: bad requests end in an error that names the socket") {
  MovesBench b(test::Bench::eight_banks());
  test::refuses_bad_operand_requests(b.engine.reads, "register_file.move_reads", "register_file.move_reads", 32, false);
  test::refuses_bad_operand_requests(b.engine.writes, "register_file.move_writes", "register_file.move_writes", 32,
                                     false);
  test::refuses_bad_operand_requests(b.pipeline.reads, "register_file.reads", "register_file.writes", 32, true);
  test::refuses_bad_operand_requests(b.pipeline.writes, "register_file.reads", "register_file.writes", 32, true);
}

// SPDX-License-Identifier: Apache-2.0
//
// A register file whose rows are switched: what is lost, what is late, what is refused, and windows that move.
#include <regatta/aging/rotating_windows.h>
#include <regatta/baseline/fixed_windows.h>
#include <regatta/greener/gated_register_file.h>
#include <regatta/greener/sleep_transistors.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <map>
#include <memory>
#include <random>

using namespace regatta;
using models::PowerState;
using models::Row;
using protocol::RegisterId;
using protocol::WarpSlot;
using protocol::WarpValue;

namespace {

class Driver : public sc_core::sc_module, tlm::tlm_bw_transport_if<> {
 public:
  protocol::OperandInitiatorSocket reads{"reads"}, writes{"writes"};
  explicit Driver(const sc_core::sc_module_name& name) : sc_module(name) {
    reads.bind(*this);
    writes.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) override {
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

models::RegisterFileConfig small_file() {
  models::RegisterFileConfig c;
  c.banks = 4;
  c.registers = 64;
  c.write_queue = 4096;
  return c;
}

/// 64 rows, warps of 8 registers.
struct Bench {
  explicit Bench(std::unique_ptr<models::WindowPolicy> windows = std::make_unique<models::FixedWindows>(),
                 const models::SleepTransistors& config = {})
      : period(1, sc_core::SC_NS),
        control("sleep_transistors", config, test::clock(period)),
        file("register_file", small_file(), std::move(windows), test::clock(period)),
        driver("driver") {
    voter = control.add_voter("test");
    file.power.bind(control.votes);
    control.cells.bind(file.cells);
    file.add_listener(control);
    driver.reads.bind(file.reads);
    driver.writes.bind(file.writes);
    protocol::KernelContext context;
    context.registers_per_warp = 8;
    file.kernel_started(context);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static protocol::WarpInfo warp(unsigned slot) {
    protocol::WarpInfo info;
    info.warp = WarpSlot(static_cast<std::uint16_t>(slot));
    return info;
  }
  Row row(unsigned slot, unsigned reg) const {
    const auto place =
        file.mapping().place(WarpSlot(static_cast<std::uint16_t>(slot)), RegisterId(static_cast<std::uint8_t>(reg)));
    REQUIRE(place);
    return *place;
  }
  /// The message of the error that an access is.
  std::string fault(unsigned slot, unsigned reg) {
    WarpValue value{};
    payload.prepare(tlm::TLM_READ_COMMAND, WarpSlot(static_cast<std::uint16_t>(slot)),
                    RegisterId(static_cast<std::uint8_t>(reg)), ~0u, 32, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    try {
      driver.reads->nb_transport_fw(payload.payload(), phase, delay);
    } catch (const sc_core::sc_report& report) {
      return report.get_msg();
    }
    return "";
  }
  std::uint64_t access(tlm::tlm_command command, unsigned slot, unsigned reg, WarpValue& value,
                       protocol::LaneMask lanes = ~0u) {
    payload.prepare(command, WarpSlot(static_cast<std::uint16_t>(slot)), RegisterId(static_cast<std::uint8_t>(reg)),
                    lanes, 32, value);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    auto& socket = command == tlm::TLM_READ_COMMAND ? driver.reads : driver.writes;
    REQUIRE(socket->nb_transport_fw(payload.payload(), phase, delay) == tlm::TLM_COMPLETED);
    return delay.value() / period.value();
  }
  std::uint64_t write(unsigned slot, unsigned reg, WarpValue value, protocol::LaneMask lanes = ~0u) {
    return access(tlm::TLM_WRITE_COMMAND, slot, reg, value, lanes);
  }
  WarpValue read(unsigned slot, unsigned reg) {
    WarpValue value{};
    last_delay = access(tlm::TLM_READ_COMMAND, slot, reg, value);
    return value;
  }
  void wait(std::uint64_t cycles) { sc_core::sc_start(static_cast<double>(cycles) * period); }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period.value(); }

  const sc_core::sc_time period;
  models::SleepTransistorController control;
  models::GatedRegisterFile file;
  Driver driver;
  protocol::OperandPayload payload;
  unsigned voter = 0;
  std::uint64_t last_delay = 0;
};

WarpValue pattern(std::uint32_t seed) {
  WarpValue v{};
  for (unsigned lane = 0; lane < 32; ++lane) v.lane[lane] = seed * 2654435761u + lane * 97;
  return v;
}

bool same(const WarpValue& a, const WarpValue& b) {
  return std::equal(a.lane.begin(), a.lane.begin() + 32, b.lane.begin());
}

}  // namespace

TEST_CASE("gated register file: off loses every lane, sleep loses none") {
  Bench b;
  b.file.warp_started(Bench::warp(1));
  b.write(1, 3, pattern(1));
  b.write(1, 4, pattern(2));
  b.wait(10);
  b.control.vote(b.voter, b.row(1, 3), PowerState::sleep);
  b.control.vote(b.voter, b.row(1, 4), PowerState::off);
  b.wait(10);
  b.control.vote(b.voter, b.row(1, 3), PowerState::on);
  b.control.vote(b.voter, b.row(1, 4), PowerState::on);
  b.wait(10);
  CHECK(same(b.read(1, 3), pattern(1)));
  const WarpValue lost = b.read(1, 4);
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(lost.lane[lane] == ~pattern(2).lane[lane]);
  // A write of some lanes does not bring the others back.
  b.write(1, 4, pattern(3), 0xffff);
  const WarpValue half = b.read(1, 4);
  CHECK(half.lane[15] == pattern(3).lane[15]);
  CHECK(half.lane[16] == ~pattern(2).lane[16]);
}

TEST_CASE("gated register file: an access to a waking row is late, one to a sleeping row is an error") {
  models::SleepTransistors c;
  c.wake_sleep = 20;
  Bench b(std::make_unique<models::FixedWindows>(), c);
  b.file.warp_started(Bench::warp(0));
  b.write(0, 5, pattern(9));
  b.wait(10);
  b.read(0, 5);
  const std::uint64_t usual = b.last_delay;
  b.wait(10);
  b.control.vote(b.voter, b.row(0, 5), PowerState::sleep);
  b.control.vote(b.voter, b.row(0, 5), PowerState::on);
  CHECK(same(b.read(0, 5), pattern(9)));
  CHECK(b.last_delay == 20 + 1);  // awake, and a cycle of the bank
  CHECK(b.last_delay > usual);
  b.wait(30);
  b.control.vote(b.voter, b.row(0, 5), PowerState::sleep);
  CHECK(b.fault(0, 5) == "row 5, register R5 of warp 0, is accessed in cycle 50 while it sleeps");
}

TEST_CASE("gated register file: a row that wakes just in time delays nothing, one cycle later it does by one") {
  models::SleepTransistors c;
  c.wake_sleep = 1;
  c.wake_off = 2;
  Bench b(std::make_unique<models::FixedWindows>(), c);
  b.file.warp_started(Bench::warp(0));
  b.wait(10);
  b.read(0, 5);
  const std::uint64_t usual = b.last_delay;  // a cycle of arbitration, one of the bank
  REQUIRE(usual == 2);
  b.wait(10);
  const auto wake = [&](unsigned reg, PowerState from) {
    b.control.vote(b.voter, b.row(0, reg), from);
    b.control.vote(b.voter, b.row(0, reg), PowerState::on);
  };
  wake(5, PowerState::sleep);  // it can be accessed a cycle from now, when the read comes to its bank
  b.read(0, 5);
  CHECK(b.last_delay == usual);
  wake(6, PowerState::off);
  b.read(0, 6);
  CHECK(b.last_delay == usual + 1);
}

TEST_CASE("gated register file: rows are allocated from a warp's start to its end") {
  Bench b;
  b.wait(5);
  b.file.warp_started(Bench::warp(0));
  b.wait(10);
  b.file.warp_started(Bench::warp(1));
  b.wait(3);
  b.file.warp_finished(Bench::warp(0));
  b.wait(20);
  b.file.warp_finished(Bench::warp(1));
  b.wait(40);
  CHECK(b.file.allocated_row_cycles() == 8 * 13 + 8 * 23);
}

TEST_CASE("gated register file: what a codec needs for a write comes on top of the row's wake-up") {
  struct Codec : models::RowCodec {
    Stored write(const protocol::WarpAccess&, Row, const std::uint32_t*, std::uint32_t*, protocol::Cycle) override {
      return stored;
    }
    Read read(const protocol::WarpAccess&, Row, const std::uint32_t*, std::uint32_t*) override { return Read::row; }
    bool needs_row(Row) const override { return true; }
    Stored stored;
  } codec;
  models::SleepTransistors c;
  c.wake_off = 20;
  Bench b(std::make_unique<models::FixedWindows>(), c);
  b.file.set_codec(codec, 0.25);
  b.file.warp_started(Bench::warp(0));
  b.wait(10);
  const std::uint64_t usual = b.write(0, 1, pattern(1));
  b.wait(10);
  codec.stored.extra_cycles = 5;
  CHECK(b.write(0, 1, pattern(1)) == usual + 5);
  b.wait(30);
  b.control.vote(b.voter, b.row(0, 2), PowerState::off);
  b.control.vote(b.voter, b.row(0, 2), PowerState::on);
  CHECK(b.write(0, 2, pattern(1)) == 20 + 1 + 5);  // awake, a cycle of the bank, the codec's
  b.wait(30);
  // One that stores nothing in the row does not wait for it.
  b.control.vote(b.voter, b.row(0, 3), PowerState::off);
  b.control.vote(b.voter, b.row(0, 3), PowerState::on);
  codec.stored.row_written = false;
  CHECK(b.write(0, 3, pattern(1)) == usual + 5);
  CHECK(b.file.row_writes() == 3);
}

TEST_CASE("gated register file: a write to a row that is off is lost") {
  Bench b;
  b.file.warp_started(Bench::warp(0));
  b.write(0, 1, pattern(1));
  b.wait(5);
  b.control.vote(b.voter, b.row(0, 1), PowerState::off);
  b.write(0, 1, pattern(2));
  b.control.vote(b.voter, b.row(0, 1), PowerState::on);
  b.wait(5);
  CHECK(!same(b.read(0, 1), pattern(2)));
}

TEST_CASE("gated register file: listeners are told the rows that a launch's warps can have at once") {
  struct Listener : models::RowListener {
    void rows_started(std::uint32_t rows, unsigned) override { told.emplace_back(rows); }
    void rows_reserved(const std::vector<Row>& rows) override {
      std::vector<std::uint32_t> numbers;
      for (const Row r : rows) numbers.push_back(r.value());
      reserved.push_back(numbers);
    }
    std::vector<std::uint32_t> told;
    std::vector<std::vector<std::uint32_t>> reserved;
  };
  Bench b(std::make_unique<models::FixedWindows>(2));
  Listener listener;
  b.file.add_listener(listener);
  protocol::KernelContext context;
  context.registers_per_warp = 8;
  b.file.kernel_started(context);  // nobody knows how many CTAs there can be
  CHECK(listener.told == std::vector<std::uint32_t>{64});
  CHECK(listener.reserved.empty());
  context.warps_per_cta = 3;
  context.resident_ctas = 1;
  b.file.kernel_started(context);
  // Slots 0 and 2 in the first half of the file, slot 1 in the second.
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t base : {0u, 32u, 8u}) {
    for (std::uint32_t r = 0; r < 8; ++r) expected.push_back(base + r);
  }
  REQUIRE(listener.reserved.size() == 1);
  CHECK(listener.reserved[0] == expected);
  context.resident_ctas = 4;  // more than there are rows for
  b.file.kernel_started(context);
  CHECK(listener.reserved.back().size() == 64);
}

TEST_CASE("gated register file: windows that overlap are an error") {
  struct Overlapping : models::FixedWindows {
    models::RegisterWindow assign(WarpSlot warp) override { return {warp.value() * 7u, warp.value() * 7u, 256}; }
  };
  Bench b(std::make_unique<Overlapping>());
  b.file.warp_started(Bench::warp(0));
  std::string message;
  try {
    b.file.warp_started(Bench::warp(1));
  } catch (const sc_core::sc_report& report) {
    message = report.get_msg();
  }
  CHECK(message == "the window of warp 1 has row 7 for R0, which is warp 0's");
}

TEST_CASE("gated register file: random traffic of warps that come and go, in windows that rotate") {
  Bench b(std::make_unique<models::RotatingWindows>());
  std::mt19937_64 random(3);
  std::map<unsigned, std::vector<WarpValue>> warps;  // resident ones and what they hold
  unsigned rotated = 0;
  for (unsigned step = 0; step < 20000; ++step) {
    CAPTURE(step);
    const auto slot = static_cast<unsigned>(random() % 8);
    const auto reg = static_cast<unsigned>(random() % 8);
    auto it = warps.find(slot);
    if (it == warps.end()) {
      b.file.warp_started(Bench::warp(slot));
      rotated += b.row(slot, 0).value() != slot * 8;
      std::vector<WarpValue>& held = warps[slot];
      for (unsigned r = 0; r < 8; ++r) {
        held.push_back(pattern(step * 8 + r));
        b.write(slot, r, held.back());
      }
    } else if (random() % 50 == 0) {
      b.file.warp_finished(Bench::warp(slot));
      warps.erase(it);
    } else if (random() % 2 == 0) {
      const auto lanes = static_cast<protocol::LaneMask>(static_cast<std::uint32_t>(random()));
      const WarpValue value = pattern(step);
      b.write(slot, reg, value, lanes);
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((lanes >> lane) & 1) it->second[reg].lane[lane] = value.lane[lane];
      }
    } else {
      REQUIRE(same(b.read(slot, reg), it->second[reg]));
    }
    if (step % 16 == 0) b.wait(100);
  }
  CHECK(rotated > 100);
}

TEST_CASE("gated register file: another block may give the windows") {
  models::WindowUnit other("other", std::make_unique<models::RotatingWindows>());
  models::SleepTransistors c;
  const sc_core::sc_time period(1, sc_core::SC_NS);
  models::SleepTransistorController control("sleep_transistors", c, test::clock(period));
  models::GatedRegisterFile file("register_file", small_file(), std::make_unique<models::FixedWindows>(),
                                 test::clock(period));
  file.power.bind(control.votes);
  control.cells.bind(file.cells);
  file.other_windows.bind(other.policy);
  Driver driver("driver");
  driver.reads.bind(file.reads);
  driver.writes.bind(file.writes);
  control.add_voter("test");
  file.add_listener(control);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  protocol::KernelContext context;
  context.registers_per_warp = 8;
  file.kernel_started(context);
  // The second warp of a slot gets the window that rotates, not the file's own, which would begin at its base again.
  for (unsigned n = 0; n < 2; ++n) {
    file.warp_started(Bench::warp(0));
    const auto place = file.mapping().place(WarpSlot(0), RegisterId(0));
    REQUIRE(place);
    CHECK(place->value() == n);
    file.warp_finished(Bench::warp(0));
  }
}

namespace {

/// Writes down what a file says of windows and moves.
struct Listener : models::RowListener {
  void window_taken(WarpSlot w, const models::RegisterWindow&, unsigned) override { say("taken", w); }
  void window_left(WarpSlot w, const models::RegisterWindow&, unsigned) override { say("left", w); }
  void window_shared(WarpSlot from, WarpSlot to, const models::RegisterWindow&) override {
    say("shared", from);
    said += "," + std::to_string(to.value());
  }
  void window_kept(WarpSlot owner, WarpSlot left, const models::RegisterWindow&, unsigned,
                   const protocol::GeneralRegisters& registers) override {
    say("kept", owner);
    said += "," + std::to_string(left.value());
    held = registers;
  }
  bool moves(const protocol::WarpAccess& access, Row, bool into_file) override {
    say(into_file ? "in" : "out", access.warp);
    return !dead;
  }
  void say(const char* what, WarpSlot warp) { said += std::string(" ") + what + std::to_string(warp.value()); }
  std::string take() { return std::exchange(said, {}); }
  std::string said;
  protocol::GeneralRegisters held{};
  bool dead = false;
};

}  // namespace

TEST_CASE("gated register file: windows change hands between a warp's start and its end") {
  Bench b;
  Listener l;
  b.file.add_listener(l);
  b.file.warp_started(Bench::warp(1));
  b.file.warp_started(Bench::warp(2));
  CHECK(l.take() == " taken1 taken2");
  const models::RegisterWindow window = b.file.mapping().window(WarpSlot(1));
  const auto leave = [&](unsigned w) {
    const WarpSlot slot(static_cast<std::uint16_t>(w));
    b.file.window_leaves(slot);
    static_cast<models::MovableFile&>(b.file).mapping().unmap(slot);
  };
  const auto enter = [&](unsigned w) {
    auto& mapping = static_cast<models::MovableFile&>(b.file).mapping();
    mapping.alias(WarpSlot(1), WarpSlot(static_cast<std::uint16_t>(w)));
    REQUIRE(mapping.map(WarpSlot(static_cast<std::uint16_t>(w)), window).empty());
  };
  leave(2);
  CHECK(l.take() == " left2");
  // Into the rows of one that leaves, and ends before.
  enter(2);
  b.file.window_shared(WarpSlot(1), WarpSlot(2));
  b.file.warp_finished(Bench::warp(2));
  CHECK(l.take() == " shared1,2 kept1,2");
  CHECK(l.held[0] == ~std::uint64_t{0});
  // Into the rows of one that leaves.
  enter(3);
  b.file.window_shared(WarpSlot(1), WarpSlot(3));
  CHECK(l.take() == " shared1,3");
  b.wait(10);
  CHECK(b.file.allocated_row_cycles() == 80);  // the rows are counted once
  b.write(3, 3, pattern(1));
  CHECK(l.take() == " in3");
  leave(1);
  CHECK(l.take() == " kept3,1");
  CHECK(l.held == protocol::GeneralRegisters{1u << 3, 0, 0, 0});
  // It ends while its registers are away.
  b.file.warp_finished(Bench::warp(1));
  CHECK(l.take().empty());
  b.file.warp_finished(Bench::warp(3));
  CHECK(l.take() == " left3");
  b.wait(10);
  CHECK(b.file.allocated_row_cycles() == 80);
}

TEST_CASE("gated register file: a move of a dead register needs no row, and is no error") {
  Bench b;
  Listener l;
  b.file.add_listener(l);
  b.file.warp_started(Bench::warp(0));
  b.write(0, 5, pattern(9));
  b.wait(10);
  b.control.vote(b.voter, b.row(0, 5), PowerState::sleep);
  l.dead = true;
  l.take();
  b.read(0, 5);
  CHECK(l.take() == " out0");
  b.write(0, 5, pattern(1));
  b.control.vote(b.voter, b.row(0, 5), PowerState::on);
  b.wait(10);
  CHECK(same(b.read(0, 5), pattern(9)));  // it was not written
}

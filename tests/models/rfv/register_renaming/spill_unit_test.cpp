// SPDX-License-Identifier: Apache-2.0
//
// The spill unit alone, between a register file that takes its time and a memory of lines: what is sent when, and
// random commands under an oracle of values.
#include <regatta/base/address_map.h>
#include <regatta/rfv/spill_unit.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>
#include <regatta/test/line_memory.h>
#include <regatta/test/slow_file.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::SpillUnit;
using protocol::RegisterId;
using Registers = trace::RfvRegisters;

namespace {

constexpr unsigned bench_registers = 16;  ///< of a warp

/// In place of the gate. Rows are fixed; one that has left is overwritten, as by another register.
class Gate : public sc_core::sc_module, public models::MovedRegisters {
 public:
  sc_core::sc_port<models::RegisterMoves> moves{"moves"};
  sc_core::sc_export<models::MovedRegisters> moved{"moved"};
  std::set<std::pair<unsigned, unsigned>> unneeded;  ///< warp and register
  std::vector<std::pair<unsigned, unsigned>> left_in_order, returned_in_order;

  Gate(const sc_core::sc_module_name& name, SlowFile& file) : sc_module(name), file_(file) { moved.bind(*this); }
  bool left(WarpSlot warp, RegisterId reg) override {
    left_in_order.emplace_back(warp.value(), reg.value());
    file_.row(warp.value(), reg.value()).fill(0xdeadbeef);
    return unneeded.count({warp.value(), reg.value()}) == 0;
  }
  void returned(WarpSlot warp, RegisterId reg) override { returned_in_order.emplace_back(warp.value(), reg.value()); }

 private:
  SlowFile& file_;
};

struct UnitBench {
  explicit UnitBench(unsigned warps = 2, unsigned entries = 4, unsigned line_bytes = 128, unsigned seed = 1)
      : lines(128 / line_bytes),
        file("file", seed),
        memory("memory", test::clock(period), seed),
        gate("gate", file),
        unit("unit", config(entries), models::LineMemory{line_bytes, 3}, test::clock(period)),
        launch(1, warps, bench_registers) {
    unit.file_reads.bind(file.reads);
    unit.file_writes.bind(file.writes);
    unit.memory().bind(memory.socket);
    unit.moved.bind(gate.moved);
    gate.moves.bind(unit.moves);
    run_to(0);
    file.rows.resize(std::size_t{warps} * bench_registers);
    file.mapping.start(warps * bench_registers, bench_registers);
    for (unsigned w = 0; w < warps; ++w) {
      models::RegisterWindow window;
      window.base = window.wrapped_base = w * bench_registers;
      REQUIRE(file.mapping.map(warp_at(w), window).empty());
      for (unsigned r = 0; r < bench_registers; ++r) file.row(w, r) = pattern(100 * w + r);
    }
    unit.kernel_started(launch.context);
    run_to(1);
  }
  static models::RenamingConfig config(unsigned entries) {
    models::RenamingConfig c;
    c.spill_entries = entries;
    return c;
  }
  static Row pattern(std::uint32_t seed) {
    Row row{};
    for (unsigned lane = 0; lane < 32; ++lane) row[lane] = seed * 2654435761u + lane * 97;
    return row;
  }
  std::uint64_t address(unsigned warp, unsigned reg) const {
    return base::first_address(base::Window::registers) + (std::uint64_t{3} << 32) + (warp * 64 + reg) * 128;
  }
  void spill(unsigned warp, Registers registers) { gate.moves->spill(warp_at(warp), registers); }
  void refill(unsigned warp, Registers registers) { gate.moves->refill(warp_at(warp), registers); }
  bool idle() const { return unit.may_spill() && unit.may_refill() && memory.idle() && unit.describe().empty(); }
  std::uint64_t finish(std::uint64_t most = 5000) {
    const std::uint64_t from = cycle();
    do {
      REQUIRE(cycle() - from < most);
      run_for(1);
    } while (!idle());
    return cycle() - from;
  }
  double stat(const std::string& name) { return stat_of(unit, name); }

  const unsigned lines;  ///< of a register
  SlowFile file;
  test::LineMemory memory;
  Gate gate;
  SpillUnit unit;
  Launch launch;
};

using Moved = std::vector<std::pair<unsigned, unsigned>>;

}  // namespace

TEST_CASE("spill unit alone: registers go to their lines past the L1, one per cycle, and come back") {
  UnitBench b;
  b.memory.completes = true;
  b.spill(1, 0x8005);
  CHECK_FALSE(b.unit.may_spill());
  CHECK(b.unit.may_refill());
  const std::uint64_t cycles = b.finish();
  CHECK(cycles < 12);
  CHECK(b.gate.left_in_order == Moved{{1, 0}, {1, 2}, {1, 15}});
  REQUIRE(b.memory.seen.size() == 3);
  for (unsigned i = 0; i < 3; ++i) {
    const auto& request = b.memory.seen[i];
    CAPTURE(i);
    CHECK(request.access == protocol::AccessClass::register_write);
    CHECK(request.bypass);
    CHECK(request.address == b.address(1, b.gate.left_in_order[i].second));
    const Row row = UnitBench::pattern(100 + b.gate.left_in_order[i].second);
    CHECK(std::memcmp(row.data(), b.memory.lines.at(request.address).data(), sizeof row) == 0);
  }
  b.memory.seen.clear();
  b.refill(1, 0x8005);
  CHECK_FALSE(b.unit.may_refill());
  CHECK(b.unit.may_spill());
  b.finish();
  CHECK(b.gate.returned_in_order == Moved{{1, 0}, {1, 2}, {1, 15}});
  for (const unsigned r : {0u, 2u, 15u}) CHECK(b.file.row(1, r) == UnitBench::pattern(100 + r));
  CHECK(b.memory.lines.empty());  // the last read of a line drops it
  CHECK(b.stat("spilled") == 3);
  CHECK(b.stat("refilled") == 3);
  CHECK(b.stat("lines_written") == 3);
  CHECK(b.stat("lines_read") == 3);
}

TEST_CASE("spill unit alone: a register that is not needed any more is not written") {
  UnitBench b;
  b.gate.unneeded = {{0, 1}};
  b.spill(0, 0x7);
  b.finish();
  CHECK(b.gate.left_in_order.size() == 3);
  CHECK(b.memory.lines.count(b.address(0, 1)) == 0);
  CHECK(b.memory.lines.size() == 2);
  CHECK(b.stat("spilled") == 2);
  CHECK(b.stat("dropped") == 1);
}

TEST_CASE("spill unit alone: no more registers are on their way than there are entries, and it says what it does") {
  UnitBench b(2, 2);
  b.memory.take_nothing = true;
  b.spill(1, 0xff);
  run_for(50);
  CHECK(b.gate.left_in_order.size() == 2);
  const std::string text = b.unit.describe();
  CAPTURE(text);
  CHECK(text.find("2 of 2 buffer entries in use") != std::string::npos);
  CHECK(text.find("6 registers of warp 1 still to be spilled") != std::string::npos);
  b.memory.resume();
  b.finish();
  CHECK(b.gate.left_in_order.size() == 8);
  CHECK(b.stat("busy_cycles") >= 50);
  const double busy = b.stat("busy_cycles");
  run_for(100);
  CHECK(b.stat("busy_cycles") == busy);
}

TEST_CASE("spill unit alone: a register is written to its lines, and they are read") {
  UnitBench b(2, 4, 32);
  b.spill(0, 0x3);
  b.finish();
  REQUIRE(b.memory.seen.size() == 8);
  for (unsigned i = 0; i < 8; ++i) CHECK(b.memory.seen[i].address == b.address(0, 0) + 32 * i);
  b.refill(0, 0x3);
  b.finish();
  for (unsigned r = 0; r < 2; ++r) CHECK(b.file.row(0, r) == UnitBench::pattern(r));
  CHECK(b.memory.seen.back().sectors == 1);
}

namespace {

struct UnitShape {
  unsigned warps, entries, line_bytes;
  unsigned held;      ///< of 100 accesses to the file
  unsigned longest;   ///< cycles of memory
  unsigned refusals;  ///< of 100 requests to memory
};

/// Random commands both ways at a time; every register that comes back has the value with which it left.
void check_commands(const UnitShape& s, unsigned seed) {
  UnitBench b(s.warps, s.entries, s.line_bytes, seed);
  b.file.held = s.held;
  b.memory.longest = s.longest;
  b.memory.refusals = s.refusals;
  b.memory.completes = seed % 2 == 0;
  std::mt19937_64 random(seed);
  std::map<std::pair<unsigned, unsigned>, Row> values;
  std::vector<Registers> away(s.warps), leaving(s.warps), coming(s.warps);
  const Registers all = (Registers{1} << bench_registers) - 1;
  unsigned both = 0;
  for (unsigned step = 0; step < 4000; ++step) {
    const unsigned w = static_cast<unsigned>(random() % s.warps);
    if (const Registers out = random() & all & ~away[w] & ~leaving[w] & ~coming[w];
        b.unit.may_spill() && out != 0 && random() % 2 == 0) {
      for (unsigned r = 0; r < bench_registers; ++r) {
        if ((out >> r & 1) == 0) continue;
        values[{w, r}] = b.file.row(w, r) = UnitBench::pattern(static_cast<std::uint32_t>(random()));
        if (random() % 16 == 0) b.gate.unneeded.insert({w, r});
      }
      b.spill(w, out);
      leaving[w] = out;
    } else if (const Registers in = random() & away[w]; b.unit.may_refill() && in != 0 && leaving[w] == 0) {
      b.refill(w, in);
      away[w] &= ~in;
      coming[w] = in;
    }
    both += !b.unit.may_spill() && !b.unit.may_refill() ? 1 : 0;
    run_for(1 + random() % 3);
    for (const auto& [warp, r] : std::exchange(b.gate.left_in_order, {})) {
      REQUIRE((leaving[warp] >> r & 1) == 1);
      leaving[warp] &= ~(Registers{1} << r);
      if (b.gate.unneeded.erase({warp, r}) == 0) away[warp] |= Registers{1} << r;
    }
    for (const auto& [warp, r] : std::exchange(b.gate.returned_in_order, {})) {
      REQUIRE((coming[warp] >> r & 1) == 1);
      coming[warp] &= ~(Registers{1} << r);
      INFO("step " << step << " warp " << warp << " R" << r);
      REQUIRE(b.file.row(warp, r) == values[{warp, r}]);
    }
  }
  b.finish();
  CHECK(b.memory.fault.empty());
  CHECK(both > 50);
  CHECK(b.stat("refilled") > 200);
  CHECK(b.stat("dropped") > 5);
  CHECK(b.stat("lines_written") == b.stat("spilled") * b.lines);
  CHECK(b.stat("lines_read") == b.stat("refilled") * b.lines);
}

}  // namespace

// A SystemC program elaborates once: a test case for each.
#define REGATTA_SPILL_UNIT(SEED, ...) \
  TEST_CASE("spill unit alone: random commands, seed " #SEED) { check_commands(UnitShape{__VA_ARGS__}, SEED); }
REGATTA_SPILL_UNIT(1, 3, 4, 128, 0, 20, 0)
REGATTA_SPILL_UNIT(2, 4, 16, 128, 30, 40, 30)
REGATTA_SPILL_UNIT(3, 3, 1, 128, 30, 10, 20)
REGATTA_SPILL_UNIT(4, 5, 8, 64, 50, 30, 50)
REGATTA_SPILL_UNIT(5, 2, 3, 32, 10, 15, 10)

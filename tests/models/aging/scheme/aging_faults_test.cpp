// SPDX-License-Identifier: Apache-2.0
//
// Compressed registers end to end on hand-made traces, and with a fault put in: each is found, and where.
#include <regatta/aging/rotating_windows.h>
#include <regatta/test/clock.h>

#include "aging_axis.h"
#include "harness.h"

using namespace regatta;
using models::aging::CompressedRows;
using models::aging::MoveInserter;
using models::aging::RegisterCompression;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// R1 is the same in all lanes; some lanes of it are changed; all of it is read. R2 holds noise.
std::string divergent_trace(const std::string& name, std::uint64_t ctas = 4, unsigned rounds = 3) {
  TraceBuilder b;
  std::vector<std::uint32_t> flat;
  std::vector<std::uint32_t> divergent;
  for (unsigned n = 0; n < rounds; ++n) {
    flat.push_back(b.op(OpClass::int_add, {1}, {}));
    b.op(OpClass::int_add, {2}, {});
    divergent.push_back(b.op(OpClass::int_add, {1}, {2}));
    b.op(OpClass::int_add, {3}, {1, 2});
  }
  const std::uint32_t end = b.exit();
  b.set_rule([flat](std::uint32_t index, unsigned lane, const std::vector<std::uint32_t>& sources) {
    if (std::find(flat.begin(), flat.end(), index) != flat.end()) return 100 + index;
    std::uint32_t mix = index * 2654435761u + lane * lane * 40503u;
    for (const std::uint32_t s : sources) mix = mix * 31 + s;
    return mix;
  });
  b.launch(ctas, 64);
  for (std::uint64_t c = 0; c < ctas; ++c) {
    b.begin_cta();
    for (unsigned w = 0; w < 2; ++w) {
      b.begin_warp();
      for (std::uint32_t i = 0; i <= end; ++i) {
        const bool partly = std::find(divergent.begin(), divergent.end(), i) != divergent.end();
        b.execute(i, partly ? 0x0000ff0f : 0);
      }
      b.end_warp();
    }
    b.end_cta();
  }
  return b.write(name);
}

schemes::AgingConfig rc_config(const std::string& windows = "fixed") {
  schemes::AgingConfig config;
  config.windows = windows;
  config.compression = "rc";
  return config;
}

/// RC with other parts.
template <class Axis = schemes::AgingAxis>
class Rc : public schemes::GatedScheme {
 public:
  explicit Rc(const std::string& windows = "fixed", const models::SleepTransistorConfig& transistors = {})
      : GatedScheme("rc_in_test", "RC with other parts", {}, transistors, "always",
                    std::make_unique<Axis>(rc_config(windows))) {}
};

class NoMoves : public MoveInserter {
 public:
  using MoveInserter::MoveInserter;
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
};

class WithoutMoves : public schemes::AgingAxis {
 public:
  using AgingAxis::AgingAxis;

 protected:
  std::unique_ptr<MoveInserter> move_inserter(CompressedRows& rows) const override {
    return std::make_unique<NoMoves>("move_inserter", rows);
  }
};

/// Loses the entry that is written `which`-th.
class Forgetful : public RegisterCompression {
 public:
  Forgetful(const models::aging::FileCompression& config, support::ClockDomain& clock, unsigned which)
      : RegisterCompression("compression", config, clock), left_(which) {}
  Stored write(const protocol::WarpAccess& access, models::Row row, const std::uint32_t* values, std::uint32_t* cells,
               protocol::Cycle done) override {
    const Stored stored = RegisterCompression::write(access, row, values, cells, done);
    if (compressed(row) && --left_ == 0) lose_entry(row);
    return stored;
  }

 private:
  unsigned left_;
};

class LosesAnEntry : public schemes::AgingAxis {
 public:
  using AgingAxis::AgingAxis;

 protected:
  std::unique_ptr<CompressedRows> compressed_rows(const assembly::BuildContext& c) const override {
    models::aging::FileCompression config;
    config.rows = c.machine.register_file.registers;
    config.slices = c.machine.sm.sub_cores;
    return std::make_unique<Forgetful>(config, c.clock, 5);
  }
};

/// Rotates without the second base register: what should come round at the window's end runs on.
class RunsOn : public models::RotatingWindows {
 public:
  using RotatingWindows::RotatingWindows;
  models::RegisterWindow assign(protocol::WarpSlot warp) override {
    models::RegisterWindow w = RotatingWindows::assign(warp);
    w.wrapped_base = w.base;
    return w;
  }
};

class Overlapping : public schemes::AgingAxis {
 public:
  using AgingAxis::AgingAxis;
  std::unique_ptr<models::WindowPolicy> window_policy(unsigned slices) const override {
    return std::make_unique<RunsOn>(slices);
  }
};

double stat(const assembly::SimulationResult& r, const char* group, const char* name) {
  return r.stats.at(group).at(name).get<double>();
}

}  // namespace

TEST_CASE("aging: a divergent write of a compressed register comes behind a move, and its row wakes") {
  const std::string path = divergent_trace("aging_divergent");
  Rc<> scheme;
  const auto r = test::simulate(path, scheme);
  test::require_clean(r);
  // Per warp and round: R1 compressed, moved, changed in part; R2 and R3 are noise.
  CHECK(stat(r, "aging", "writes.constant") == 8 * 3);
  CHECK(stat(r, "aging", "movs_inserted") == 8 * 3);
  CHECK(stat(r, "aging", "divergent_writes") == 8 * 3);
  CHECK(stat(r, "sm0.compression", "moves") == 8 * 3);
  CHECK(stat(r, "sm0.compression", "rows_woken") == 8 * 3);
  CHECK(stat(r, "sm0.pipeline", "injected_moves") == 8 * 3);
}

namespace {

/// A register that was compressed takes noise, once: the cycles that the write waits for its row.
std::uint64_t waited(unsigned wake) {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {});
  b.op(OpClass::int_add, {1}, {1});
  b.op(OpClass::int_add, {2}, {1});
  b.exit();
  b.set_rule([](std::uint32_t index, unsigned lane, const std::vector<std::uint32_t>&) {
    return index == 0 ? 5u : index * 77777u + lane * lane * 999u;
  });
  b.launch(1, 32);
  b.run_all();
  const std::string path = b.write("aging_wake");
  models::SleepTransistorConfig transistors;
  transistors.wake_off = wake;
  Rc<> scheme("fixed", transistors);
  const auto r = test::simulate(path, scheme);
  test::require_clean(r);
  CHECK(stat(r, "sm0.register_file", "late_accesses") == 1);
  return r.stats.at("sm0.register_file").at("late_cycles").get<std::uint64_t>();
}

}  // namespace

TEST_CASE("aging: a write that wakes its row waits for ten cycles") { CHECK(waited(10) == 10); }
TEST_CASE("aging: a write that wakes its row waits for as long as that takes") { CHECK(waited(47) == 47); }

TEST_CASE("aging fault: without the move, the lanes that were not written are found missing") {
  const std::string path = divergent_trace("aging_no_move");
  Rc<WithoutMoves> scheme;
  const auto r = test::simulate(path, scheme);
  CHECK(r.ending == assembly::Ending::value_mismatch);
  CHECK_THAT(r.message,
             Catch::Contains("register R1") && Catch::Contains("lanes 0xffff00f0") && Catch::Contains("PC 0x18"));
}

TEST_CASE("aging fault: a lost entry of the compression table is found by the next to read the register") {
  TraceBuilder b;
  for (unsigned reg = 1; reg <= 6; ++reg) b.op(OpClass::int_add, {reg}, {});
  b.op(OpClass::int_add, {7}, {1, 2, 3});
  b.op(OpClass::int_add, {8}, {4, 5, 6});
  b.exit();
  b.set_rule([](std::uint32_t index, unsigned lane, const std::vector<std::uint32_t>&) {
    return index < 6 ? 50 + index + 4 * lane : index * lane * lane;
  });
  b.launch(1, 32);
  b.run_all();
  const std::string path = b.write("aging_lost_entry");
  Rc<LosesAnEntry> scheme;
  const auto r = test::simulate(path, scheme);
  CHECK(r.ending == assembly::Ending::value_mismatch);
  CHECK_THAT(r.message, Catch::Contains("register R5") && Catch::Contains("PC 0x38"));
}

TEST_CASE("aging fault: a rotated window that runs into the next one is found when it is taken") {
  const std::string path = divergent_trace("aging_overlap", 40, 1);
  Rc<Overlapping> scheme("rotating");
  std::string message;
  try {
    assembly::MachineConfig machine;
    machine.sm.max_warps = 8;
    machine.sm.sub_cores = 1;
    test::simulate(path, scheme, machine);
  } catch (const sc_core::sc_report& report) {
    message = report.get_msg();
  }
  CHECK_THAT(message, Catch::Contains("the window of warp") && Catch::Contains("which is warp"));
}

TEST_CASE("aging: the energy of slices, from events by hand") {
  const schemes::SliceEnergyConfig config;
  schemes::SliceEvents e;
  e.slice_reads = 1000;
  e.slice_writes = 100;
  e.leaking_bytes = 65536.0 * 500;  // a slice for 500 cycles
  e.woken_bytes = 256 * 10;
  e.compressions = 40;
  e.decompressions = 30;
  e.table_reads = 20;
  e.table_writes = 10;
  e.refreshes = 2;
  e.slice_cycles = 500;
  const schemes::SliceEnergy bare = slice_energy(config, nullptr, e, 1);
  CHECK(bare.slice_dynamic == Approx(295.86 + 36.591));
  CHECK(bare.slice_leakage == Approx(37.93));
  CHECK(bare.wakeup == Approx(2.3288));
  CHECK(bare.logic_leakage == 0);
  CHECK(bare.logic_dynamic == 0);
  const schemes::SliceEnergy rc = slice_energy(config, &config.rc, e, 1);
  // About 32 % of what the slice leaks (section 5.1.3).
  CHECK(rc.logic_leakage / rc.slice_leakage == Approx(0.324).epsilon(0.01));
  CHECK(rc.logic_dynamic == Approx((40 * 1.10 + 30 * 0.96 + 22 * 1.25 + 12 * 66.49) / 1000));
  // Half the clock: twice the time to leak.
  CHECK(slice_energy(config, &config.rc, e, 2).logic_leakage == Approx(2 * rc.logic_leakage));
}

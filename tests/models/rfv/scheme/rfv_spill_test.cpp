// SPDX-License-Identifier: Apache-2.0
//
// RFV with rfv.spill on programs made by hand: the registers of one warp are enough, and faults, each of which is
// found.
#include <regatta/test/clock.h>
#include <memory>

#include "../../sharing/scheme/put_before.h"
#include "rfv_support.h"

using namespace regatta;
using models::MovedRegisters;
using models::RegisterMoves;
using models::SpillingGate;
using models::SpillUnit;
using protocol::RegisterId;
using protocol::WarpSlot;
using test::rfv_counter;
using trace::MemorySpace;
using trace::OpClass;

namespace {

constexpr unsigned rows_of_warp = 9;  ///< in barrier_trace

assembly::SimulationResult spilled(const std::string& path, assembly::Scheme& scheme, unsigned rows,
                                   test::RfvKnobs knobs = {}) {
  knobs.emplace_back("rfv.spill", "true");
  return test::run_rfv(path, scheme, rows, knobs);
}

assembly::SimulationResult spilled(const std::string& path, unsigned rows, const test::RfvKnobs& knobs = {}) {
  schemes::RegisterFileVirtualization scheme;
  const assembly::SimulationResult r = spilled(path, scheme, rows, knobs);
  test::require_clean(r);
  return r;
}

/// A run that is planted with a fault: what is said of it.
std::string said_of(assembly::Scheme& scheme, const std::string& path, unsigned rows) {
  sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
  try {
    const assembly::SimulationResult r = spilled(path, scheme, rows);
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void said(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

/// A load in flight at a barrier, eight registers to be kept over it, and the load's result needed last.
std::string load_at_barrier_trace(const std::string& name) {
  test::TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::int_add, {2}, {0, 0});
  for (unsigned r = 3; r < 9; ++r) b.op(OpClass::int_add, {r}, {0, r - 1});
  b.load(MemorySpace::global, 1, 0);
  b.barrier();
  for (unsigned r = 8; r > 0; --r) b.op(OpClass::int_add, {0}, {0, r});
  b.store(MemorySpace::global, 0, 0);
  b.exit();
  test::add_releases(b.kernel(), 9);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(lane * 4);
  b.launch(8, 128);
  b.run_all(addresses);
  return b.write(name);
}

/// Registers that are read before they are written: all warps have them from their start on.
std::string read_first_trace(const std::string& name) {
  test::TraceBuilder b;
  for (unsigned r = 0; r < 4; ++r) b.op(OpClass::int_add, {r}, {r, r + 4});
  b.barrier();
  for (unsigned r = 1; r < 4; ++r) b.op(OpClass::int_add, {0}, {0, r});
  b.store(MemorySpace::global, 0, 0);
  b.exit();
  test::add_releases(b.kernel(), 8);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(lane * 4);
  b.launch(6, 128);
  b.run_all(addresses);
  return b.write(name);
}

template <class Gate>
class SpillsWith : public schemes::RegisterFileVirtualization {
 protected:
  std::unique_ptr<SpillingGate> make_spilling_gate(const char* name, const models::RenamingConfig& config,
                                                   support::ClockDomain& clock) const override {
    return std::make_unique<Gate>(name, config, clock);
  }
};

/// Spills registers that instructions in flight are still to write or read.
class Hasty : public SpillingGate {
 public:
  using SpillingGate::SpillingGate;

 protected:
  Registers movable(WarpSlot warp) const override {
    return warps_[warp.value()].owned & ~warps_[warp.value()].releasing;
  }
};

/// W is one row less.
class OneRowLess : public SpillingGate {
 public:
  using SpillingGate::SpillingGate;

 protected:
  unsigned warp_rows(const models::RenamingPlan& plan) const override { return plan.warp_rows - 1; }
};

/// The tenth register comes back from the line of its neighbour.
class Misdirected : public SpillUnit {
 public:
  using SpillUnit::SpillUnit;

 protected:
  std::uint64_t address(const Place& place, bool is_read) const override {
    if (!is_read || ++reads_ != 10) return SpillUnit::address(place, is_read);
    return SpillUnit::address(Place{place.warp, RegisterId(place.reg.value() ^ 1)}, is_read);
  }

 private:
  mutable unsigned reads_ = 0;
};

class WithMisdirected : public schemes::RegisterFileVirtualization {
 protected:
  std::unique_ptr<SpillUnit> make_spill_unit(const char* name, const models::RenamingConfig& config,
                                             const models::LineMemory& memory,
                                             support::ClockDomain& clock) const override {
    return std::make_unique<Misdirected>(name, config, memory, clock);
  }
};

/// Between gate and unit.
class Between : public test::Before<RegisterMoves> {
 public:
  using Before::Before;
  bool may_spill() const override { return inner_.may_spill(); }
  bool may_refill() const override { return inner_.may_refill(); }
  void spill(WarpSlot warp, trace::RfvRegisters registers) override { inner_.spill(warp, registers); }
  std::string describe() const override { return inner_.describe(); }
  MovedRegisters* gate = nullptr;
};

/// The third refill leaves out a register, and says that it is back.
class LostRow : public Between {
 public:
  using Between::Between;
  void refill(WarpSlot warp, trace::RfvRegisters registers) override {
    if (++refills_ != 3 || (registers & (registers - 1)) == 0) return inner_.refill(warp, registers);
    const auto lost = static_cast<RegisterId::rep>(__builtin_ctzll(registers));
    inner_.refill(warp, registers & (registers - 1));
    gate->returned(warp, RegisterId(lost));
  }

 private:
  unsigned refills_ = 0;
};

/// The third refill is forgotten.
class LostRefill : public Between {
 public:
  using Between::Between;
  void refill(WarpSlot warp, trace::RfvRegisters registers) override {
    if (++refills_ != 3) inner_.refill(warp, registers);
  }

 private:
  unsigned refills_ = 0;
};

template <class Fault>
class WithBetween : public schemes::RegisterFileVirtualization {
 protected:
  RegisterMoves& moves_for_gate(assembly::SmParts& parts, SpillingGate& gate, RegisterMoves& moves) override {
    auto& fault = static_cast<Fault&>(test::put_before<Fault>(parts, moves));
    fault.gate = &gate;
    return fault;
  }
};

}  // namespace

TEST_CASE("rfv spills: rows for one warp are enough") {
  const auto r = spilled(test::barrier_trace("spill_one"), 12);
  CHECK(rfv_counter(r, "rfv", "spilled") > 0);
  CHECK(rfv_counter(r, "rfv", "spilled") == rfv_counter(r, "rfv", "refilled"));
  CHECK(rfv_counter(r, "rfv", "spill_lines_read") == rfv_counter(r, "rfv", "refilled"));
  CHECK(rfv_counter(r, "rfv", "spill_busy_cycles") > 0);
  CHECK(rfv_counter(r, "rfv", "rows_max") <= 12);
  CHECK(rfv_counter(r, "sm0.pipeline", "resident_ctas_mean") <= 1);
  // Of four warps, all at one barrier: the file holds at most 12 of their 36 registers.
  CHECK(rfv_counter(r, "sm0.renaming_gate", "away_max") >= 36 - 12 - rows_of_warp);
  CHECK(rfv_counter(r, "sm0.renaming_gate", "spilled") >= 8 * 15);
}

TEST_CASE("rfv spills: no more registers leave than are missing") {
  // The last of the four warps needs nine rows, of which five are free.
  const auto r = spilled(test::barrier_trace("spill_few"), 32);
  CHECK(rfv_counter(r, "rfv", "spilled") == 8 * 4);
}

TEST_CASE("rfv spills: under a two-level scheduler a warp whose registers are away gives its place to others") {
  const auto r = spilled(test::barrier_trace("spill_two_level"), 12,
                         {{"sm.scheduler", "two_level"}, {"scheduler.active_warps", "2"}});
  CHECK(rfv_counter(r, "rfv", "spilled") > 0);
}

TEST_CASE("rfv spills: nothing changes if the file holds a CTA") {
  const std::string path = test::barrier_trace("spill_none");
  const auto r = spilled(path, test::rows_at_barrier);
  CHECK(rfv_counter(r, "rfv", "spilled") == 0);
  CHECK(rfv_counter(r, "rfv", "refusals") > 0);
}

TEST_CASE("rfv spills: a row less than one warp's is refused, with the numbers") {
  schemes::RegisterFileVirtualization scheme;
  said(said_of(scheme, test::barrier_trace("spill_less"), 8),
       "one warp may have 9 registers at once in the register file, beside 0 that are mapped directly; found 8");
}

TEST_CASE("rfv spills: banks with a priority are refused") {
  schemes::RegisterFileVirtualization scheme;
  try {
    spilled(test::barrier_trace("spill_priority"), scheme, 12, {{"register_file.priority", "read"}});
    FAIL("expected a refusal");
  } catch (const support::ConfigError& e) {
    said(e.what(), "register_file.priority = read, expected fcfs with rfv.spill");
  }
}

TEST_CASE("rfv spills: a register with a load in flight stays") {
  const auto r = spilled(load_at_barrier_trace("spill_load"), 12);
  CHECK(rfv_counter(r, "rfv", "spilled") > 0);
}

TEST_CASE("rfv spills: warps whose first registers do not fit start later") {
  const auto r = spilled(read_first_trace("spill_start"), 12);
  CHECK(rfv_counter(r, "sm0.renaming_gate", "late_starts") > 0);
  CHECK(rfv_counter(r, "sm0.renaming_gate", "at_start") == 6 * 4 * 8);
}

TEST_CASE("rfv spills: with one buffer entry") {
  const auto r = spilled(test::barrier_trace("spill_entry"), 12, {{"rfv.spill_entries", "1"}});
  CHECK(rfv_counter(r, "rfv", "spilled") > 0);
}

TEST_CASE("rfv spills: registers of which a line holds a quarter") {
  const auto r = spilled(test::barrier_trace("spill_lines"), 12,
                         {{"l1.line_bytes", "32"},
                          {"l2.line_bytes", "32"},
                          {"icache.line_bytes", "32"},
                          {"constant_cache.line_bytes", "32"}});
  CHECK(rfv_counter(r, "rfv", "spill_lines_read") == 4 * rfv_counter(r, "rfv", "refilled"));
}

TEST_CASE("rfv spills, faults: a register is spilled while a load is to write it") {
  SpillsWith<Hasty> scheme;
  said(said_of(scheme, load_at_barrier_trace("spill_hasty"), 12), "register R1 has no row");
}

TEST_CASE("rfv spills, faults: a line of another register comes back") {
  WithMisdirected scheme;
  said(said_of(scheme, test::barrier_trace("spill_misdirected"), 12), "mismatch");
}

TEST_CASE("rfv spills, faults: a register is lost when its warp comes back") {
  WithBetween<LostRow> scheme;
  said(said_of(scheme, test::barrier_trace("spill_lost"), 12), "mismatch");
}

TEST_CASE("rfv spills, faults: a warp that does not come back is a deadlock, with what its registers do") {
  WithBetween<LostRefill> scheme;
  const std::string message = said_of(scheme, test::barrier_trace("spill_forgotten"), 12);
  said(message, "deadlock");
  said(message, " return, and 0 registers in memory");
}

TEST_CASE("rfv spills, faults: one row too little for a warp is a deadlock, with the warps that wait") {
  SpillsWith<OneRowLess> scheme;
  const std::string message = said_of(scheme, test::barrier_trace("spill_off"), 12);
  said(message, "deadlock");
  said(message, "rows of part 0, which has");
  said(message, "of at most 8, of which");
}

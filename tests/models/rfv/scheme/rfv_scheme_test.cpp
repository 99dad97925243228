// SPDX-License-Identifier: Apache-2.0
//
// RFV on programs made by hand: what renaming brings, that one CTA's rows are enough, and faults, each of which is
// found.
#include <regatta/test/clock.h>
#include <functional>

#include "../../sharing/scheme/put_before.h"
#include "rfv_support.h"

using namespace regatta;
using models::RenamingGate;
using models::RowPool;
using protocol::RegisterId;
using protocol::WarpSlot;
using test::Before;
using test::put_before;
using test::rfv_counter;
using test::run_rfv;

namespace {

/// Every flag is obeyed one instruction early.
class EarlyFlags : public RenamingGate {
 public:
  using RenamingGate::RenamingGate;

 protected:
  std::uint64_t word_of(const trace::Kernel& kernel, std::uint32_t inserted) const override {
    const std::uint64_t word = RenamingGate::word_of(kernel, inserted);
    return kernel.inserted[inserted].instruction.opcode == trace::rfv_pir ? word >> trace::use_slots : word;
  }
};

/// Releases do not wait.
class Impatient : public RenamingGate {
 public:
  using RenamingGate::RenamingGate;

 protected:
  bool in_use(WarpSlot, unsigned) const override { return false; }
};

/// Releases wait for reads, and not for writes.
class IgnoresWrites : public RenamingGate {
 public:
  using RenamingGate::RenamingGate;

 protected:
  bool in_use(WarpSlot warp, unsigned reg) const override { return to_be_read(warp, reg); }
};

/// C is one row less.
class OffByOne : public RenamingGate {
 public:
  using RenamingGate::RenamingGate;

 protected:
  unsigned cta_rows(const models::RenamingPlan& plan) const override { return plan.cta_rows - 1; }
};

/// The hundredth row that is taken is the one before it, which is live.
class LiveRow : public Before<RowPool> {
 public:
  using Before::Before;
  void begin(unsigned warp_size) override { inner_.begin(warp_size); }
  std::uint32_t take(WarpSlot warp, RegisterId reg) override {
    if (++taken_ == 100) return last_;
    return last_ = inner_.take(warp, reg);
  }
  void give_back(std::uint32_t row) override {
    if (taken_ >= 100 && row == last_ && !once_) {
      once_ = true;
      return;
    }
    inner_.give_back(row);
  }
  std::uint32_t reserve(WarpSlot warp, RegisterId reg) override { return inner_.reserve(warp, reg); }
  void occupy(std::uint32_t row, bool live) override { inner_.occupy(row, live); }

 private:
  unsigned taken_ = 0;
  std::uint32_t last_ = 0;
  bool once_ = false;
};

template <class Gate>
class WithGate : public schemes::RegisterFileVirtualization {
 protected:
  std::unique_ptr<RenamingGate> make_gate(const char* name, const models::RenamingConfig& config,
                                          support::ClockDomain& clock) const override {
    return std::make_unique<Gate>(name, config, clock);
  }
};

class WithLiveRow : public schemes::RegisterFileVirtualization {
 protected:
  RowPool& rows_for_gate(assembly::SmParts& parts, RowPool& rows) override { return put_before<LiveRow>(parts, rows); }
};

using Plain = WithGate<RenamingGate>;

template <class Scheme>
std::string rfv_said(const std::string& path, unsigned rows) {
  Scheme scheme;
  sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
  try {
    const assembly::SimulationResult r = run_rfv(path, scheme, rows);
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void rfv_contains(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

assembly::SimulationResult rfv(const std::string& path, unsigned rows, const test::RfvKnobs& knobs = {}) {
  Plain scheme;
  const assembly::SimulationResult r = run_rfv(path, scheme, rows, knobs);
  test::require_clean(r);
  return r;
}

}  // namespace

TEST_CASE("rfv by hand: rows come back, and more CTAs are resident than their registers fit") {
  const auto r = rfv(test::rounds_trace("rounds"), 256);
  CHECK(rfv_counter(r, "rfv", "allocations") == rfv_counter(r, "rfv", "releases"));
  CHECK(rfv_counter(r, "rfv", "flag_releases") > 0);
  CHECK(rfv_counter(r, "rfv", "rows_max") <= 256);
  // 18 registers of 4 warps: three CTAs by registers.
  CHECK(rfv_counter(r, "sm0.pipeline", "resident_ctas_mean") > 4);
}

TEST_CASE("rfv by hand: as many CTAs as have all their rows, and none waits") {
  const auto r = rfv(test::rounds_trace("by_rows"), 256, {{"rfv.admission", "rows"}});
  CHECK(rfv_counter(r, "rfv", "refusals") == 0);
  CHECK(rfv_counter(r, "sm0.pipeline", "resident_ctas_mean") <= 3);
  CHECK(rfv_counter(r, "sm0.pipeline", "resident_ctas_mean") > 2);
}

TEST_CASE("rfv by hand: rows for one CTA are enough") {
  const auto r = rfv(test::barrier_trace("one"), test::rows_at_barrier);
  CHECK(rfv_counter(r, "rfv", "rows_max") == test::rows_at_barrier);
  CHECK(rfv_counter(r, "rfv", "refusals") > 0);
  CHECK(rfv_counter(r, "rfv", "throttled_cycles") > 0);
}

TEST_CASE("rfv by hand: rows for one CTA are enough under a two-level scheduler") {
  const auto r = rfv(test::barrier_trace("two_level"), test::rows_at_barrier, {{"sm.scheduler", "two_level"}});
  CHECK(rfv_counter(r, "rfv", "refusals") > 0);
}

TEST_CASE("rfv by hand: a row less is refused, with the numbers") {
  rfv_contains(rfv_said<Plain>(test::barrier_trace("less"), test::rows_at_barrier - 4),
               "one CTA may have 36 registers at once in the register file, 9 for each of 4 warps; found 32");
}

TEST_CASE("rfv by hand: a release waits for a write in flight") {
  const auto r = rfv(test::dead_load_trace("dead"), 64);
  CHECK(rfv_counter(r, "rfv", "block_releases") == 16);
  CHECK(rfv_counter(r, "rfv", "delayed_releases") == 16);
}

TEST_CASE("rfv faults: a flag one instruction early") {
  rfv_contains(rfv_said<WithGate<EarlyFlags>>(test::rounds_trace("early"), 1024),
               "has no row: it was released before this read");
}

TEST_CASE("rfv faults: a release that does not wait for the reads of its instruction") {
  rfv_contains(rfv_said<WithGate<Impatient>>(test::rounds_trace("impatient"), 1024),
               "has no row: it was released before this read");
}

TEST_CASE("rfv faults: a release that does not wait for a write in flight") {
  rfv_contains(rfv_said<WithGate<IgnoresWrites>>(test::dead_load_trace("dead_fault"), 64),
               "register R1 has no row: it was released before this");
}

TEST_CASE("rfv faults: a row that is live") {
  rfv_contains(rfv_said<WithLiveRow>(test::rounds_trace("live"), 1024), "mismatch");
}

TEST_CASE("rfv faults: a throttle that keeps one row less is a deadlock, with the warps that wait") {
  const std::string message = rfv_said<WithGate<OffByOne>>(test::barrier_trace("off"), test::rows_at_barrier);
  rfv_contains(message, "deadlock");
  rfv_contains(message, "waits for 1 rows of part 0, which has 0 free");
}

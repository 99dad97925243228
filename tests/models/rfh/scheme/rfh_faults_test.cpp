// SPDX-License-Identifier: Apache-2.0
//
// RFH on a program made by hand, and faults in its levels and between its blocks: each is a wrong value, or is named.
#include <regatta/rfh/operand_levels.h>
#include <regatta/trace/rfh.h>

#include <functional>
#include <utility>
#include <vector>

#include "../../sharing/scheme/put_before.h"
#include "harness.h"
#include "scheme_rfh.h"

using namespace regatta;
using models::EntrySlots;
using models::ThreadEntries;
using protocol::LaneMask;
using protocol::WarpSlot;
using trace::RfhLevels;

namespace {

using Knobs = std::vector<std::pair<std::string, std::string>>;

constexpr RfhLevels main_file{}, last_result{false, true, -1};
constexpr RfhLevels orf(int entry, bool main = false) { return {main, false, static_cast<std::int8_t>(entry)}; }

/// A strand, four rounds of two strands: a load with arithmetic behind it that lives in entries, and the load's use.
struct HandProgram {
  /// With a split last-result file, its values go to the bank of the slot in which they are read.
  explicit HandProgram(bool split = false) {
    plan.split = split;
    using trace::OpClass;
    add(b.op(OpClass::constant_load, {0}, {}), {main_file}, {}, true);
    add(b.op(OpClass::constant_load, {1}, {}), {main_file}, {});
    for (unsigned round = 0; round < 4; ++round) {
      add(b.load(trace::MemorySpace::global, 2, 0), {main_file}, {main_file});
      add(b.op(OpClass::int_add, {3}, {0, 1}), {{true, true, 0}}, {main_file, main_file});
      add(b.op(OpClass::int_add, {4}, {3}), {last_result}, {last_result});
      add(b.op(OpClass::fp32_mad, {5}, {4, 3, 1}), {orf(2, true)}, {last_result, orf(0), orf(1, true)});
      add(b.op(OpClass::sfu, {6}, {5}), {orf(0, true)}, {orf(2)});
      add(b.op(OpClass::int_add, {7}, {6, 1}), {main_file}, {orf(0), orf(1)});
      needs = add(b.op(OpClass::int_add, {1}, {2, 7, 6}), {{true, true, -1}}, {main_file, main_file, main_file}, true);
      add(b.op(OpClass::int_add, {0}, {1}), {main_file}, {last_result});
      add(b.store(trace::MemorySpace::global, 0, 1), {}, {main_file, main_file});
    }
    add(b.exit(), {}, {});
  }
  std::uint32_t add(std::uint32_t index, const std::vector<RfhLevels>& to, const std::vector<RfhLevels>& from,
                    bool begins = false) {
    trace::RfhInstruction i;
    i.strand_begins = begins;
    std::copy(to.begin(), to.end(), i.destinations.begin());
    std::copy(from.begin(), from.end(), i.sources.begin());
    // All values of the last-result file are read in the first slot.
    for (RfhLevels& l : i.destinations) l.bank = plan.split && l.last ? 1 : 0;
    for (RfhLevels& l : i.sources) l.bank = plan.split && l.last ? 1 : 0;
    plan.instructions.push_back(i);
    return index;
  }
  std::string write(const std::string& name, const std::function<void(std::string&)>& change = {}) {
    std::string payload = trace::encode(b.kernel(), plan);
    if (change) change(payload);
    b.kernel().annotations.push_back({trace::rfh_section, trace::rfh_section_version, payload});
    std::vector<std::uint64_t> addresses;
    for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(lane * 4);
    b.launch(20, 128);
    b.run_all(addresses);
    return b.write(name);
  }
  test::TraceBuilder b;
  trace::RfhPlan plan;
  std::uint32_t needs = 0;  ///< the last instruction that needs a load
};

class EntriesBefore : public test::Before<ThreadEntries> {
 public:
  using Before::Before;
  std::uint64_t read(unsigned slot, unsigned entry, LaneMask executing, std::uint32_t* data,
                     std::uint64_t at) override {
    return inner_.read(slot, entry, executing, data, at);
  }
  void write(unsigned slot, unsigned entry, LaneMask lanes, const std::uint32_t* data, std::uint64_t ready) override {
    inner_.write(slot, entry, lanes, data, ready);
  }
  void lose(unsigned slot) override { inner_.lose(slot); }
  unsigned cycles() const override { return inner_.cycles(); }
};

/// Every 50th write is lost: the entry keeps what it had.
class LosesWrites : public EntriesBefore {
 public:
  using EntriesBefore::EntriesBefore;
  void write(unsigned slot, unsigned entry, LaneMask lanes, const std::uint32_t* data, std::uint64_t ready) override {
    if (++writes_ % 50 != 0) inner_.write(slot, entry, lanes, data, ready);
  }

 private:
  unsigned writes_ = 0;
};

/// Every 40th read is of the next entry.
class OtherEntry : public EntriesBefore {
 public:
  using EntriesBefore::EntriesBefore;
  std::uint64_t read(unsigned slot, unsigned entry, LaneMask executing, std::uint32_t* data,
                     std::uint64_t at) override {
    return inner_.read(slot, ++reads_ % 40 == 0 ? (entry + 1) % 3 : entry, executing, data, at);
  }

 private:
  unsigned reads_ = 0;
};

/// Every 40th read is of the next bank of a split last-result file.
class OtherBank : public EntriesBefore {
 public:
  using EntriesBefore::EntriesBefore;
  std::uint64_t read(unsigned slot, unsigned entry, LaneMask executing, std::uint32_t* data,
                     std::uint64_t at) override {
    return inner_.read(slot, ++reads_ % 40 == 0 ? (entry + 1) % trace::lrf_banks : entry, executing, data, at);
  }

 private:
  unsigned reads_ = 0;
};

/// Now and then, the file gets the slot of another warp.
class OtherWarp : public test::Before<EntrySlots> {
 public:
  using Before::Before;
  unsigned slot(WarpSlot warp) const override {
    const unsigned own = inner_.slot(warp);
    return ++asked_ % 100 == 0 && own != none ? own ^ 1u : own;
  }
  void strand_begins(WarpSlot warp) override { inner_.strand_begins(warp); }

 private:
  mutable unsigned asked_ = 0;
};

/// Now and then, the entries are lost in the middle of a strand.
class BeginsAgain : public test::Before<EntrySlots> {
 public:
  using Before::Before;
  unsigned slot(WarpSlot warp) const override {
    if (++asked_ % 100 == 0) inner_.strand_begins(warp);
    return inner_.slot(warp);
  }
  void strand_begins(WarpSlot warp) override { inner_.strand_begins(warp); }

 private:
  mutable unsigned asked_ = 0;
};

struct RfhFaults {
  std::function<EntrySlots&(assembly::SmParts&, EntrySlots&)> slots;
  std::function<ThreadEntries&(assembly::SmParts&, ThreadEntries&)> orf, lrf;
};

class FaultyRfh : public schemes::Rfh {
 public:
  explicit FaultyRfh(RfhFaults faults = {}) : faults_(std::move(faults)) {}

 protected:
  EntrySlots& slots_for_file(assembly::SmParts& parts, EntrySlots& slots) override {
    return faults_.slots ? faults_.slots(parts, slots) : slots;
  }
  ThreadEntries& entries_for_file(assembly::SmParts& parts, const std::string& module,
                                  ThreadEntries& entries) override {
    const auto& fault = module == "orf" ? faults_.orf : faults_.lrf;
    return fault ? fault(parts, entries) : entries;
  }

 private:
  RfhFaults faults_;
};

assembly::SimulationResult run_rfh(const std::string& path, RfhFaults faults = {}, const Knobs& values = {}) {
  FaultyRfh scheme(std::move(faults));
  assembly::MachineConfig machine;
  support::OptionSet knobs;
  machine.declare(knobs);
  scheme.declare(knobs);
  assembly::load_machine(knobs, machine, "gtx980");
  knobs.set("sm.scheduler", "two_level", "test", "test");
  knobs.set("scheduler.active_warps", "2", "test", "test");
  for (const auto& [knob, value] : values) knobs.set(knob, value, "test", "test");
  scheme.validate(machine);
  return test::simulate(path, scheme, machine);
}

std::string rfh_said(const std::string& path, RfhFaults faults, const Knobs& values = {}) {
  try {
    const assembly::SimulationResult r = run_rfh(path, std::move(faults), values);
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void rfh_tells(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

double rfh_stat(const assembly::SimulationResult& r, const std::string& module, const char* name) {
  return r.stats.at(module).at(name).get<double>();
}

}  // namespace

TEST_CASE("rfh by hand: levels, strands and the active set are counted") {
  HandProgram p;
  const auto r = run_rfh(p.write("rfh_clean"));
  test::require_clean(r);
  const double warps = 20 * 4;
  // A strand begins at the start, and with each round's use of the load.
  CHECK(rfh_stat(r, "rfh", "strands") == warps * 5);
  CHECK(rfh_stat(r, "rfh", "lrf_reads") == warps * 4 * 3);
  CHECK(rfh_stat(r, "rfh", "orf_reads") == warps * 4 * 4);
  CHECK(rfh_stat(r, "rfh", "mrf_reads") == warps * 4 * 9);
  CHECK(rfh_stat(r, "rfh", "copies") == warps * 4);
  CHECK(rfh_stat(r, "rfh", "lrf_writes") == warps * 4 * 3);
  CHECK(rfh_stat(r, "rfh", "orf_writes") == warps * 4 * 4 - rfh_stat(r, "sm0.register_file", "dropped"));
  CHECK(rfh_stat(r, "rfh", "activations") > warps);
  CHECK(rfh_stat(r, "sm0.active_entries", "slots_max") <= 8);
  CHECK(rfh_stat(r, "sm0.strand_gate", "torn_strands") == 0);
  CHECK(rfh_stat(r, "rfh", "mrf_read_share") + rfh_stat(r, "rfh", "orf_read_share") +
            rfh_stat(r, "rfh", "lrf_read_share") ==
        Approx(1));
}

TEST_CASE("rfh faults: a write to the last-result file is lost, and its old value is read") {
  HandProgram p;
  rfh_tells(rfh_said(p.write("rfh_stale"), {{}, {}, test::put_before<LosesWrites, ThreadEntries>}),
            "from last-result file, slot");
}

TEST_CASE("rfh faults: another entry of the operand register file is read") {
  HandProgram p;
  rfh_tells(rfh_said(p.write("rfh_other"), {{}, test::put_before<OtherEntry, ThreadEntries>, {}}),
            "from operand register file, slot");
}

TEST_CASE("rfh faults: the bank of another operand slot is read") {
  HandProgram p(true);
  rfh_tells(rfh_said(p.write("rfh_bank"), {{}, {}, test::put_before<OtherBank, ThreadEntries>}),
            "from last-result file, slot");
}

TEST_CASE("rfh faults: a bank of another operand slot in the section is named, and no trace is written with it") {
  HandProgram p(true);
  std::string message;
  try {
    p.write("rfh_slot", [](std::string& payload) {
      const auto at = payload.find(static_cast<char>(models::level_last | 1u << models::level_bank_shift));
      REQUIRE(at != std::string::npos);
      payload[at] = static_cast<char>(models::level_last | 2u << models::level_bank_shift);
      const auto read = payload.find(static_cast<char>(models::level_last | 1u << models::level_bank_shift));
      REQUIRE(read != std::string::npos);
      payload[read] = payload[at];
    });
  } catch (const std::exception& e) {
    message = e.what();
  }
  rfh_tells(message, "reads R3 from LRF B in operand A");
}

TEST_CASE("rfh by hand: a split last-result file") {
  HandProgram p(true);
  const auto r = run_rfh(p.write("rfh_split"));
  test::require_clean(r);
  CHECK(rfh_stat(r, "rfh", "lrf_reads") == 20 * 4 * 4 * 3);
}

TEST_CASE("rfh faults: an entry of another warp is read") {
  HandProgram p;
  const std::string message = rfh_said(p.write("rfh_warp"), {test::put_before<OtherWarp, EntrySlots>, {}, {}});
  rfh_tells(message, "value mismatch: kernel");
  rfh_tells(message, "file, slot");
}

TEST_CASE("rfh faults: entries that are lost in the middle of a strand are missed") {
  HandProgram p;
  rfh_tells(rfh_said(p.write("rfh_again"), {test::put_before<BeginsAgain, EntrySlots>, {}, {}}), "file, slot");
}

namespace {

/// A value is kept in an entry although its warp waits for a load in between.
std::string kept_over_wait(const std::string& name) {
  HandProgram p;
  trace::RfhInstruction& i = p.plan.instructions[p.needs];
  i.strand_begins = false;
  i.sources[2] = orf(0);  // R6
  return p.write(name);
}

}  // namespace

TEST_CASE("rfh faults: a value kept over the end of a strand is lost when the warp leaves the active set") {
  const std::string message = rfh_said(kept_over_wait("rfh_kept"), {});
  rfh_tells(message, "value mismatch: kernel");
  rfh_tells(message, "register R6");
}

TEST_CASE("rfh faults: unchecked, it is a broken law") {
  FaultyRfh scheme;
  assembly::MachineConfig machine = test::named_machine("gtx980");
  machine.sm.scheduler = "two_level";
  machine.scheduler.active_warps = 2;
  const trace::Reader reader(kept_over_wait("rfh_law"));
  assembly::SimulationOptions options;
  options.check_values = false;
  assembly::Simulation simulation(machine, scheme, options, reader);
  const auto r = simulation.run();
  CHECK(r.ending == assembly::Ending::not_conserved);
  rfh_tells(r.message, "no entry is read without its value, and no strand loses its entries");
}

TEST_CASE("rfh faults: without an active set nothing is lost, so the value is there") {
  test::require_clean(run_rfh(kept_over_wait("rfh_gto"), {}, {{"sm.scheduler", "gto"}}));
}

TEST_CASE("rfh faults: a level of the section that was changed is a wrong value") {
  HandProgram p;
  // R5 of the SFU's instruction, from ORF 2 to ORF 0.
  const std::string path = p.write("rfh_level", [](std::string& payload) {
    const auto at = payload.find(static_cast<char>(models::level_orf | 2), 30);
    REQUIRE(at != std::string::npos);
    payload[at] = static_cast<char>(models::level_orf);
  });
  rfh_tells(rfh_said(path, {}), "value mismatch: kernel");
}

TEST_CASE("rfh faults: a level that does not exist is named, and no trace is written with it") {
  HandProgram p;
  std::string message;
  try {
    p.write("rfh_range", [](std::string& payload) {
      const auto at = payload.find(static_cast<char>(models::level_orf | 2), 30);
      REQUIRE(at != std::string::npos);
      payload[at] = static_cast<char>(models::level_orf | 5);
    });
  } catch (const std::exception& e) {
    message = e.what();
  }
  rfh_tells(message, "names ORF 5, and the ORF has 3 entries");
}

// SPDX-License-Identifier: Apache-2.0
//
// Blocks whose answers come 1 to 7 cycles late, at random and out of order: every value is still right, and nothing
// waits for ever.
#include <regatta/protocol/lookup_delay.h>
#include <regatta/test/catch.h>

#include "scheme_runs.h"

using namespace regatta;
using test::SchemeCase;
using test::SchemeRun;

namespace {

SchemeRun run_late(SchemeCase c) {
  c.lookup_delay = 7;
  const SchemeRun run = test::run_scheme(c);
  CHECK(run.result.operands_checked > 10000);
  return run;
}

}  // namespace

TEST_CASE("late answers: GREENER's run-time table") {
  const SchemeRun run = run_late({"greener", "greener", "k20x"});
  CHECK(run.stat("sm*.power_table", "entries") > 1000);
  CHECK(run.stat("sm*.power_gate", "lookup_corrections") > 100);
  CHECK(run.stat("sm*.power_gate", "switched_off") > 100);
}

TEST_CASE("late answers: GREENER's run-time table, younger instructions only, a file that is slow to wake") {
  const SchemeRun run = run_late({"greener",
                                  "greener",
                                  "k20x",
                                  32,
                                  {{"greener.table_search", "younger"},
                                   {"greener.threshold", "1"},
                                   {"sleep_transistors.wake_sleep", "3"},
                                   {"sleep_transistors.wake_off", "9"}}});
  CHECK(run.stat("sm*.power_gate", "put_to_sleep") > 100);
}

namespace {

/// Every block of WIR behind a delay: rename tables, reuse buffer, signature buffer, verify cache, allocator.
SchemeRun wir_late(std::vector<std::pair<std::string, std::string>> knobs) {
  knobs.emplace_back("wir.recount", "50");
  return run_late({"wir", "wir", "gtx480", 32, std::move(knobs)});
}

}  // namespace

TEST_CASE("late answers: WIR's blocks") {
  const SchemeRun run = wir_late({});
  CHECK(run.stat("sm*.wir.reuse", "reused_arithmetic") > 100);
  CHECK(run.stat("sm*.wir.retry_queue", "queued") > 10);
  CHECK(run.stat("sm*.wir.verify_cache", "hits") > 10);
}

#define REGATTA_LATE_WIR(model) \
  TEST_CASE("late answers: WIR's blocks, model " model) { wir_late({{"wir.model", model}}); }
REGATTA_LATE_WIR("r")
REGATTA_LATE_WIR("rl")
REGATTA_LATE_WIR("rlp")
REGATTA_LATE_WIR("rpv")
REGATTA_LATE_WIR("rlpvc")
REGATTA_LATE_WIR("novsb")
REGATTA_LATE_WIR("affine_rlpv")

TEST_CASE("late answers: WIR's blocks with few ports and short queues") {
  wir_late({{"reuse_buffer.ports", "1"},
            {"vsb.ports", "1"},
            {"wir.rename_ports", "2"},
            {"retry_queue.entries", "2"},
            {"reuse_buffer.pairs", "true"}});
}

TEST_CASE("late answers: WIR's reuse buffer whose claims are writes") {
  const SchemeRun run = wir_late({{"reuse_buffer.claim_writes", "true"}});
  CHECK(run.stat("sm*.wir.reuse_buffer", "writes") > run.stat("sm*.wir.reuse_buffer", "lookups") / 2);
}

TEST_CASE("late answers: RC's compression unit, decompression unit and tables") {
  const SchemeRun run = run_late({"rc", "rc", "hd7770", 64});
  CHECK(run.stat("sm*.compression.unit", "registers") > 1000);
  CHECK(run.stat("sm*.compression.decompressor", "registers") > 1000);
  CHECK(run.stat("sm*.compression.table*", "reads") > 1000);
}
TEST_CASE("late answers: RC's blocks with rotating windows, 32 lanes and rows that wake at issue") {
  run_late({"rc_rar", "rc_rar", "gtx480", 32, {{"compression.wake", "issue"}}});
}
TEST_CASE("late answers: RC's blocks with one slice and few entries that stay charged") {
  run_late(
      {"rc",
       "rc",
       "hd7770",
       64,
       {{"compression.retention", "30000"}, {"compression.loads", "false"}, {"sleep_transistors.wake_off", "30"}}});
}

namespace {

/// Both lookups of FineReg behind a delay: live-register vectors, and counts of registers.
SchemeRun finereg_late(std::vector<std::pair<std::string, std::string>> knobs) {
  const SchemeRun run = run_late({"finereg", "finereg", "finereg", 32, std::move(knobs)});
  CHECK(run.stat("sm*.switch_engine", "switches") > 20);
  CHECK(run.stat("sm*.rmu.mover", "moved_in") > 100);
  CHECK(run.stat("sm*.rmu.vectors", "hits") > 10);
  return run;
}

}  // namespace

TEST_CASE("late answers: FineReg's live vectors and register counts") {
  finereg_late({{"finereg.active_registers", "512"}});
}
TEST_CASE("late answers: FineReg with small files and one vector") {
  finereg_late(
      {{"finereg.active_registers", "256"}, {"finereg.pending_registers", "128"}, {"rmu.vector_entries", "1"}});
}

TEST_CASE("late answers: the matcher and the expander of RegLess's compressor") {
  const SchemeRun run = run_late({"regless", "regless", "gtx980", 32, {{"osu.entries", "128"}}});
  CHECK(run.stat("sm*.compressor*", "slot_writes") > 100);
  CHECK(run.stat("sm*.compressor*", "expanded") > 100);
}

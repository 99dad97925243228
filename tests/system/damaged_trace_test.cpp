// SPDX-License-Identifier: Apache-2.0
//
// Damaged traces through the programs that read them, with right checksums so that the damage is met where it is used:
// status 0, or 2 and a message. Whatever a block makes of such a trace, the trace gets the blame.
#include <mutate_trace.h>
#include <regatta/test/catch.h>
#include <regatta/test/trace_builder.h>
#include <trace_container.h>

#include <algorithm>

#include "folder.h"
#include "process.h"

using namespace regatta::test;

namespace {

using Arguments = std::vector<std::string>;

/// The trace of a launch file of this repository.
std::string sample(const Folder& folder, const std::string& launch, const Arguments& options) {
  Arguments command{REGATTA_ANNOTATE, "--launch", std::string(REGATTA_SOURCE_DIR) + "/" + launch, "--out",
                    folder.file("good.rgt")};
  command.insert(command.end(), options.begin(), options.end());
  const ProcessResult r = run_process(command);
  INFO(r.err);
  REQUIRE(r.status == 0);
  return folder.read("good.rgt");
}

/// Runs a program on a file; its exit status.
int status_of(const std::vector<std::string>& command) {
  ProcessOptions options;
  options.timeout_seconds = 60 * regatta::test::patience;
  const ProcessResult r = run_process(command, options);
  INFO(r.err);
  CHECK(r.signal == 0);
  CHECK((r.status == 0 || r.status == 2));
  // A kernel that is too large for the machine, or lacks the annotations of a scheme, is named without the file.
  const auto says = [&](const std::string& text) { return r.err.find(text) != std::string::npos; };
  if (r.status != 0) CHECK((says(command.back() + ":") || says("not one CTA fits") || says("annotate it")));
  return r.status;
}

/// Rounds of damage to the trace of a launch file, each read and simulated with one of the lists of options.
void damage_traces(const std::string& launch, const Arguments& annotate, const std::vector<Arguments>& simulate) {
  const Folder folder;
  const auto good = TraceContainer::take_apart(sample(folder, launch, annotate));
  REQUIRE(good);
  MutationRandom random(21);
  unsigned refused = 0;
  unsigned simulated = 0;
  constexpr unsigned rounds = 100;
  for (unsigned n = 0; n < rounds; ++n) {
    INFO("round " << n);
    TraceContainer damaged = *good;
    mutate_frame(damaged.frames[random() % damaged.frames.size()], random);
    const std::string path = folder.write("damaged.rgt", damaged.assemble(true));
    const char* const reads[] = {"info", "dump", "verify"};
    status_of({REGATTA_TRACE, reads[n % 3], path});
    // A livelock is soon found out.
    Arguments command{REGATTA_SIM, "--sm.watchdog", "20000"};
    const Arguments& chosen = simulate[n % simulate.size()];
    command.insert(command.end(), chosen.begin(), chosen.end());
    command.push_back(path);
    const int ran = status_of(command);
    refused += ran == 2 ? 1 : 0;
    simulated += ran == 0 ? 1 : 0;
  }
  CHECK(refused > rounds / 4);
  CHECK(simulated > rounds / 20);
}

}  // namespace

TEST_CASE("damaged traces: regatta-trace and regatta-sim end with a status and a message") {
  damage_traces("tests/fuzz/seeds/program.toml", {"--rfv", "--rfh", "3"},
                {{},
                 {"--scheme", "regless"},
                 {"--scheme", "wir", "--machine", "gtx980"},
                 {"--scheme", "rfv"},
                 {"--scheme", "rfh", "--scheduler", "two_level"},
                 {"--scheme", "finereg", "--machine", "gtx980"}});
}

TEST_CASE("damaged traces: with a scratchpad layout and the values of shared memory") {
  // Three of its CTAs share what would do for two.
  damage_traces("traces/kernels/backprop/launch.small.toml",
                {"--ctas", "0:4", "--scratchpad-layout", "0.1", "--shared-values"},
                {{"--machine", "fermi_sharing", "--shared.bytes", "2304", "--scheme", "scratchpad_sharing",
                  "--scratchpad_sharing.t", "0.1", "--scratchpad_sharing.relssp", "optimal"}});
}

TEST_CASE("damaged traces: a barrier that never fills is the trace's fault, not a deadlock of the machine") {
  const Folder folder;
  TraceBuilder b;
  b.op(regatta::trace::OpClass::constant_load, {0}, {});
  b.barrier(3, 256);
  b.exit();
  b.launch(1, 128);
  b.run_all();
  const std::string path = b.write(folder.file("barrier"));
  const ProcessResult r = run_process({REGATTA_SIM, path, "--stats", folder.file("s.json")});
  CHECK(r.status == 2);
  CHECK(r.err.rfind("regatta-sim: " + path + ": byte ", 0) == 0);
  CHECK(
      r.err.find(": launch 0: kernel hand_made, CTA 0, warp 0, instruction 2 (static index 1): waits at barrier 3 for "
                 "256 threads, and only 128 ever arrive; the trace is malformed (the run ended with: deadlock: launch "
                 "0 (hand_made) stopped at cycle ") != std::string::npos);
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  CHECK_FALSE(folder.has("s.json"));
}

// SPDX-License-Identifier: Apache-2.0
//
// Damaged traces through the programs that read them, with right checksums so that the damage is met where it is used:
// 0 or 2 and a message, and for a simulation also 3, since a trace that is another program's may well deadlock.
#include <mutate_trace.h>
#include <regatta/test/catch.h>
#include <trace_container.h>

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
  options.timeout_seconds = 60;
  const ProcessResult r = run_process(command, options);
  INFO(r.err);
  CHECK(r.signal == 0);
  CHECK((r.status == 0 || r.status == 2 || r.status == 3));
  if (r.status != 0) CHECK_FALSE(r.err.empty());
  // A kernel that is too large for the machine is the machine's matter as much as the trace's.
  const bool names_file = r.err.find(command.back() + ":") != std::string::npos;
  if (r.status == 2) CHECK((names_file || r.err.find("not one CTA fits on this machine") != std::string::npos));
  return r.status;
}

/// Rounds of damage to the trace of a launch file, each read and simulated with the options `simulate`.
void damage_traces(const std::string& launch, const Arguments& annotate, const Arguments& simulate) {
  const Folder folder;
  const auto good = TraceContainer::take_apart(sample(folder, launch, annotate));
  REQUIRE(good);
  MutationRandom random(21);
  unsigned refused = 0;
  unsigned simulated = 0;
  for (unsigned n = 0; n < 150; ++n) {
    INFO("round " << n);
    TraceContainer damaged = *good;
    mutate_frame(damaged.frames[random() % damaged.frames.size()], random);
    const std::string path = folder.write("damaged.rgt", damaged.assemble(true));
    const int verified = status_of({REGATTA_TRACE, "verify", path});
    CHECK(verified != 3);
    CHECK(status_of({REGATTA_TRACE, n % 2 == 0 ? "info" : "dump", path}) != 3);
    Arguments command{REGATTA_SIM};
    command.insert(command.end(), simulate.begin(), simulate.end());
    command.push_back(path);
    const int ran = status_of(command);
    refused += verified == 2 ? 1 : 0;
    simulated += ran == 0 ? 1 : 0;
  }
  CHECK(refused > 50);
  CHECK(simulated > 10);
}

}  // namespace

TEST_CASE("damaged traces: regatta-trace and regatta-sim end with a status and a message") {
  damage_traces("tests/fuzz/seeds/program.toml", {}, {});
}

TEST_CASE("damaged traces: with a scratchpad layout and the values of shared memory") {
  // Three of its CTAs share what would do for two.
  damage_traces("traces/kernels/backprop/launch.small.toml",
                {"--ctas", "0:4", "--scratchpad-layout", "0.1", "--shared-values"},
                {"--machine", "fermi_sharing", "--shared.bytes", "2304", "--scheme", "scratchpad_sharing",
                 "--scratchpad_sharing.t", "0.1", "--scratchpad_sharing.relssp", "optimal"});
}

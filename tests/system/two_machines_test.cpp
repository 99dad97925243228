// SPDX-License-Identifier: Apache-2.0
//
// Two machines in one program, each with a clock of its own, do what each does alone.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.h"
#include "scheme_runs.h"

using namespace regatta;

namespace {

/// A machine with its scheme, not yet run.
class Machine {
 public:
  Machine(const trace::Reader& reader, const std::string& name, const std::string& scheme, const std::string& machine)
      : registry_(schemes::all()) {
    assembly::Scheme& s = registry_.get(scheme);
    assembly::MachineConfig config;
    support::OptionSet knobs;
    config.declare(knobs);
    s.declare(knobs);
    assembly::load_machine(knobs, config, machine);
    assembly::SimulationOptions options;
    options.name = name;
    options.sms = 2;
    options.check_protocol = true;
    simulation_ = std::make_unique<assembly::Simulation>(config, s, options, reader);
  }
  /// All that is the same in every run of this machine.
  std::string run() {
    const assembly::SimulationResult r = simulation_->run();
    nlohmann::ordered_json all;
    all["message"] = r.message;
    all["mismatches"] = r.mismatches;
    all["operands_checked"] = r.operands_checked;
    all["laws"] = r.laws;
    all["cycles"] = r.cycles;
    for (const assembly::LaunchResult& l : r.launches) all["launches"].push_back({l.cycles, l.warp_instructions});
    all["stats"] = r.stats;
    all["energy"] = assembly::energy_json(r.energy);
    return all.dump(1);
  }

 private:
  assembly::SchemeRegistry registry_;
  std::unique_ptr<assembly::Simulation> simulation_;
};

/// In a process of its own, under no name.
std::string alone(const test::Folder& folder, const trace::Reader& reader, const std::string& scheme,
                  const std::string& machine) {
  const std::string file = folder.file(scheme + ".json");
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(file) << Machine(reader, "", scheme, machine).run();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  std::string text;
  std::getline(std::ifstream(file), text, '\0');
  REQUIRE(text.size() > 1000);
  return text;
}

}  // namespace

TEST_CASE("two machines in one program: each as it is alone, one after the other") {
  const test::Folder folder;
  const trace::Reader reader(test::annotate_events(folder, 32));
  // 1126 and 700 MHz; RegLess's units send to the L1 through an arbiter, WIR's are asked from each stage.
  const std::string regless = alone(folder, reader, "regless", "gtx980");
  const std::string wir = alone(folder, reader, "wir", "gtx480");
  Machine a(reader, "new", "regless", "gtx980");
  Machine b(reader, "old", "wir", "gtx480");
  Machine c(reader, "third", "wir", "gtx480");
  CHECK(a.run() == regless);
  CHECK(b.run() == wir);
  CHECK(c.run() == wir);
}

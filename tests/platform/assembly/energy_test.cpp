// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <fstream>

using namespace regatta;

namespace {

std::uint64_t stat(const assembly::SimulationResult& r, const std::string& module, const std::string& name) {
  return r.stats.at(module).at(name).get<std::uint64_t>();
}

std::string refused(const assembly::EnergyConfig& config) {
  try {
    config.load();
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("energy: the register structures' is what its counters and its time say") {
  assembly::MachineConfig m;
  const auto r = test::simulate_baseline(test::mixed_trace("energy_registers"), m);
  test::require_clean(r);
  const double seconds = double(r.cycles) / (m.clock_mhz * 1e6);
  const double expected = 118e-3 * double(stat(r, "sm0.register_file", "reads")) +
                          131e-3 * double(stat(r, "sm0.register_file", "writes")) +
                          50e-3 * double(stat(r, "sm0.pipeline.collectors", "instructions")) + 250e-3 * seconds * 1e9;
  REQUIRE(r.energy.of("register_structures") == Approx(expected));
  REQUIRE(r.energy.of("pipeline") == Approx(490e-3 * double(r.warp_instructions)));
  // A sixteenth of the card is simulated.
  REQUIRE(r.energy.of("card") == Approx(21.0 / 16 * seconds * 1e9));
  double sum = 0;
  for (const auto& l : r.launches) sum += l.energy.total_nj();
  REQUIRE(r.energy.total_nj() == Approx(sum));
  for (const char* structure : {"front_end", "execution", "load_store", "shared_memory", "l2", "interconnect", "dram",
                                "memory_controller", "sm_static", "constant_cache"}) {
    INFO(structure);
    REQUIRE(r.energy.of(structure) > 0);
  }
}

namespace {

double execution_nj(const std::string& name, bool lane_gating) {
  test::TraceBuilder b;
  b.op(trace::OpClass::fp32_add, {1}, {0});
  b.op(trace::OpClass::sfu, {2}, {0});
  b.exit();
  b.launch(5, 40);  // the second warp has 8 lanes
  b.run_all();
  assembly::MachineConfig m;
  m.energy.lane_gating = lane_gating;
  return test::simulate_baseline(b.write(name), m).energy.of("execution");
}

}  // namespace

TEST_CASE("energy: execution goes by active lanes") {
  REQUIRE(execution_nj("energy_lanes", true) == Approx(5 * 40 / 32.0 * (576 + 864) * 1e-3));
}

TEST_CASE("energy: execution goes by warps without lane gating") {
  REQUIRE(execution_nj("energy_warps", false) == Approx(5 * 2 * (576 + 864) * 1e-3));
}

TEST_CASE("energy: options replace values, node and table") {
  assembly::MachineConfig m;
  support::OptionSet knobs;
  m.declare(knobs);
  knobs.set("energy.pipeline_instruction", "7", "command line", "test");
  knobs.set("energy.node_nm", "14", "command line", "test");
  const support::EnergyTable t = m.energy.load();
  REQUIRE(t.at("pipeline.instruction").value == 7);
  REQUIRE(t.at("pipeline.instruction").basis == support::Basis::given);
  REQUIRE(t.scaled("register_file.read", {}).scaled == Approx(118 * std::pow(0.5, 1.71)));
  // 0 is a value like others: what costs nothing.
  knobs.set("energy.pipeline_instruction", "0", "command line", "test");
  REQUIRE(m.energy.load().at("pipeline.instruction").value == 0);
  REQUIRE(m.energy.load().at("pipeline.instruction").basis == support::Basis::given);
  knobs.set("energy.node_nm", "0", "command line", "test");
  knobs.set("energy.table", "fermi40", "command line", "test");
  REQUIRE(m.energy.load().at("register_file.read").value == 232);
  knobs.set("energy.table", "fermi4", "command line", "test");
  REQUIRE(refused(m.energy).find("energy.table: unknown table 'fermi4'; did you mean 'fermi40'?") != std::string::npos);
  knobs.set("energy.table", "fermi40", "command line", "test");
  knobs.set("energy.dram_read", "-3", "command line", "test");
  REQUIRE(refused(m.energy).find("energy.dram_read must lie between 0 and") != std::string::npos);
  knobs.set("energy.dram_read", "-1", "command line", "test");
  knobs.set("energy.node_nm", "-3", "command line", "test");
  REQUIRE(refused(m.energy).find("energy.node_nm must lie between") != std::string::npos);
}

TEST_CASE("energy: every built-in table has every value, with a source") {
  for (const std::string& name : assembly::energy_table_names()) {
    INFO(name);
    assembly::EnergyConfig config;
    config.table = name;
    const support::EnergyTable t = config.load();
    REQUIRE(t.name() == name);
    for (const auto& v : config.overrides) {
      INFO(v.name);
      REQUIRE(t.at(v.name).value >= 0);
      REQUIRE(t.at(v.name).source.size() > 4);
    }
  }
}

TEST_CASE("energy: a table of the user's own") {
  assembly::EnergyConfig config;
  config.table = "no/such/table.toml";
  REQUIRE(refused(config) ==
          "configuration: energy.table: cannot read 'no/such/table.toml': No such file or directory");
  std::ofstream("half_a_table.toml") << "name = \"half\"\nnode_nm = 28\n";
  config.table = "half_a_table.toml";
  REQUIRE(refused(config) == "half_a_table.toml: the energy table has no value 'register_file.read'");
}

TEST_CASE("energy: a structure that neither the platform nor the scheme has is reported once, with the nearest name") {
  const std::uint64_t reads = 0;
  std::vector<support::EnergyGroup> groups = {support::EnergyGroup("front"), support::EnergyGroup("own")};
  groups[0].event("reuse_structure", "wir.reuse_buffer", reads);
  groups[0].event("reuse_structure", "wir.reuse_buffer", reads);
  groups[0].event("reuse_structures", "wir.reuse_buffer", reads);
  groups[1].leakage("victims", "register_file.leakage");
  const std::string expected =
      "', which is not a line of the breakdown; expected one that platform/energy/README.md lists, or that the scheme "
      "names in energy_structures()";
  const std::string misspelt =
      "front declares energy of the structure 'reuse_structure" + expected + "; did you mean 'reuse_structures'?";
  CHECK(assembly::unknown_structures(groups, {"victims"}) == std::vector<std::string>{misspelt});
  CHECK(assembly::unknown_structures(groups, {}) ==
        std::vector<std::string>{misspelt, "own declares energy of the structure 'victims" + expected});
}

// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/energy.h>
#include <regatta/test/catch.h>

#include <cmath>
#include <functional>
#include <systemc>

#include "thrown.h"

using namespace regatta::support;

namespace {

const std::string text = R"(
name = "toy"
node_nm = 40
[scaling]
access_bank_size_kept = 0.68
access_bank_count_kept = 0.15
access_otherwise = 0.5
leakage_bank_size_kept = 1.0
leakage_bank_count_kept = 0.41
leakage_otherwise = 1.0
node_register_file = 1.71
node_logic = 1.81
[file]
bytes = 1024
banks = 4
node_rule = "register_file"
read = { pj = 100, per = "access", basis = "computed", source = "a model" }
leakage = { mw = 50, per = "SM", basis = "assumed", source = "none" }
[unit]
node_rule = "logic"
use = { pj = 10, per = "use", basis = "quoted", source = "a book" }
[bus]
bit = { pj = 4, per = "bit", basis = "derated", source = "a model" }
)";

EnergyTable toy() { return EnergyTable::parse(text, "toy.toml"); }

std::string with(const std::string& from, const std::string& to) {
  std::string changed = text;
  changed.replace(changed.find(from), from.size(), to);
  return thrown([&] { EnergyTable::parse(changed, "toy.toml"); });
}

}  // namespace

TEST_CASE("energy table: values keep their basis and source") {
  const EnergyTable t = toy();
  CHECK(t.name() == "toy");
  CHECK(t.at("file.read").value == 100);
  CHECK_FALSE(t.at("file.read").is_power);
  CHECK(t.at("file.leakage").is_power);
  CHECK(t.at("unit.use").basis == Basis::quoted);
  CHECK(t.at("bus.bit").source == "a model");
  CHECK(thrown([&] { t.at("file.erase"); }) ==
        "toy.toml: the energy table has no value 'file.erase'; did you mean 'file.read'?");
  CHECK(thrown([&] { t.at("disk.read"); }) ==
        "toy.toml: the energy table has no value 'disk.read'; did you mean 'file.read'?");
}

TEST_CASE("energy table: what is not one is refused with its place") {
  CHECK(with("name = \"toy\"", "") == "toy.toml: an energy table needs name = \"...\"");
  CHECK(with("node_nm = 40", "") == "toy.toml: an energy table needs node_nm, its process node in nm");
  CHECK(with("node_nm = 40", "node_nm = -1") == "toy.toml:3:11: 'node_nm' must lie between 1 and 1000, found -1");
  CHECK(with("pj = 100", "pj = -1").find("'file.read' must lie between 0 and 1e+12, found -1") != std::string::npos);
  CHECK(with("pj = 100", "pj = 1e300").find("'file.read' must lie between 0 and 1e+12, found 1e+300") !=
        std::string::npos);
  CHECK(with("access_otherwise = 0.5", "access_otherwise = 1e300").find("must lie between -4 and 4") !=
        std::string::npos);
  CHECK(with("pj = 100", "mw = 1, pj = 1").find("'file.read' has both pj and mw") != std::string::npos);
  CHECK(with(", source = \"a book\"", "").find("'unit.use' needs pj (or mw), per, basis and source") !=
        std::string::npos);
  CHECK(with("\"quoted\"", "\"guessed\"").find("must be computed, derated, quoted or assumed, found 'guessed'") !=
        std::string::npos);
  CHECK(with("\"quoted\"", "\"given\"").find("found 'given'") != std::string::npos);
  CHECK(with("access_otherwise", "acess_otherwise").find("did you mean 'access_otherwise'?") != std::string::npos);
  CHECK(with("name = \"toy\"", "nmae = \"toy\"") == "toy.toml:2:8: 'nmae' must be a table; did you mean 'name'?");
  CHECK(with("node_rule", "node_ruel").find("'file.node_ruel' must be a table; did you mean 'node_rule'?") !=
        std::string::npos);
  CHECK(with(", source = ", ", sorce = ").find("pj or mw, per, basis, source; did you mean 'source'?") !=
        std::string::npos);
  CHECK(with("\"logic\"", "\"wires\"").find("'unit.node_rule' must be") != std::string::npos);
  CHECK(with("[bus]", "bus = ").find("not valid TOML") != std::string::npos);
}

TEST_CASE("energy table: one of differences takes the rest from its base") {
  const std::string differences = R"(
base = "toy"
name = "more"
node_nm = 40
[file]
banks = 8
read = { pj = 120, per = "access", basis = "assumed", source = "a guess" }
)";
  const EnergyTable t = EnergyTable::parse(differences, "more.toml", [](const std::string& name) {
    CHECK(name == "toy");
    return toy();
  });
  CHECK(t.name() == "more");
  CHECK(t.at("file.read").value == 120);
  CHECK(t.at("file.read").basis == Basis::assumed);
  CHECK(t.at("file.leakage").value == 50);
  CHECK(t.at("unit.use").value == 10);
  CHECK(t.scaled("file.read", {2048, 8}).note == "capacity x2, bank count kept: exponent 0.15");
  CHECK(thrown([&] { t.at("disk.read"); }) ==
        "more.toml: the energy table has no value 'disk.read'; did you mean 'file.read'?");
  CHECK(thrown([&] {
          EnergyTable::parse(differences, "more.toml");
        }).find("'base' names the table 'toy', but there are no other tables") != std::string::npos);
}

TEST_CASE("energy table: one of another node than its base is for its own node") {
  const std::string smaller =
      "base = \"toy\"\nname = \"smaller\"\nnode_nm = 28\n"
      "[file]\nread = { pj = 70, per = \"access\", basis = \"assumed\", source = \"a guess\" }\n";
  EnergyTable t = EnergyTable::parse(smaller, "smaller.toml", [](const std::string&) { return toy(); });
  CHECK(t.scaled("file.read", {}).scaled == 70);
  t.set_node(40);
  CHECK(t.scaled("file.read", {}).scaled == Approx(70 * std::pow(40 / 28.0, 1.71)));
}

TEST_CASE("energy table: a name that is nearly one of the table's base is remarked on") {
  const std::string more =
      "base = \"toy\"\nname = \"mine\"\n"
      "[fil]\nread = {pj = 1, per = \"x\", basis = \"assumed\", source = \"s\"}\n"
      "[file]\nreadd = {pj = 1, per = \"x\", basis = \"assumed\", source = \"s\"}\n"
      "[predictor]\nlookup = {pj = 1, per = \"x\", basis = \"assumed\", source = \"s\"}\n";
  const EnergyTable t = EnergyTable::parse(more, "more.toml", [](const std::string&) { return toy(); });
  REQUIRE(t.remarks().size() == 2);
  CHECK(t.remarks()[0] == "more.toml:3:1: 'fil' is a new structure that no model reads; did you mean 'file'?");
  CHECK(t.remarks()[1] == "more.toml:6:9: 'readd' is a new value of 'file' that no model reads; did you mean 'read'?");
  CHECK(toy().remarks().empty());
}

TEST_CASE("energy table: no node is scaled to without exponents") {
  EnergyTable t = toy();
  t.set_node(28);
  std::string text_without = text;
  text_without.replace(text_without.find("node_logic = 1.81"), std::string("node_logic = 1.81").size(), "");
  EnergyTable fixed = EnergyTable::parse(text_without, "toy.toml");
  fixed.set_node(40);
  CHECK(thrown([&] { fixed.set_node(28); }) ==
        "toy.toml: the energy table cannot be scaled to another node: [scaling] has no node_logic");
}

TEST_CASE("energy table: capacity scales by what became of the banks") {
  const EnergyTable t = toy();
  const auto access = [&](ArrayGeometry g) { return t.scaled("file.read", g).scaled / 100; };
  const auto leakage = [&](ArrayGeometry g) { return t.scaled("file.leakage", g).scaled / 50; };
  CHECK(access({}) == 1);
  CHECK(access({1024, 4}) == 1);
  CHECK(t.scaled("file.read", {1024, 4}).note.empty());
  CHECK(access({256, 1}) == Approx(std::pow(0.25, 0.68)));
  CHECK(access({256, 4}) == Approx(std::pow(0.25, 0.15)));
  CHECK(access({256, 2}) == Approx(0.5));
  CHECK(access({256, 0}) == Approx(0.5));
  CHECK(leakage({256, 1}) == Approx(0.25));
  CHECK(leakage({256, 4}) == Approx(std::pow(0.25, 0.41)));
  CHECK(leakage({256, 2}) == Approx(0.25));
  // No rule holds for the bank count alone; that it differs is said.
  CHECK(access({1024, 16}) == 1);
  CHECK(t.scaled("file.read", {1024, 16}).note == "banks x4, capacity kept: not scaled");
  CHECK(t.scaled("file.read", {256, 4}).note == "capacity x0.25, bank count kept: exponent 0.15");
  CHECK(t.scaled("file.read", {256, 1}).note == "capacity x0.25, bank size kept: exponent 0.68");
  // Without a reference there is nothing to scale by.
  CHECK(t.scaled("unit.use", {64, 2}).scaled == 10);
}

TEST_CASE("energy table: another node scales dynamic energy, each by its own rule") {
  EnergyTable t = toy();
  t.set_node(28);
  CHECK(t.scaled("file.read", {}).scaled == Approx(100 * std::pow(0.7, 1.71)));
  CHECK(t.scaled("unit.use", {}).scaled == Approx(10 * std::pow(0.7, 1.81)));
  CHECK(t.scaled("bus.bit", {}).scaled == 4);
  CHECK(t.scaled("file.leakage", {}).scaled == 50);
  CHECK(t.scaled("file.read", {256, 1}).note ==
        "capacity x0.25, bank size kept: exponent 0.68; 40 nm to 28 nm: exponent 1.71");
}

TEST_CASE("energy meter: arrays that are scaled stand by themselves, with all of their kind") {
  CHECK(module_kind("sm0.osu.shard12") == "osu.shard");
  CHECK(module_kind("sm11.compressor3") == "compressor");
  CHECK(module_kind("memory.l2_0") == "memory.l2");
  CHECK(module_kind("sm0.register_file") == "register_file");
  CHECK(module_kind("smoother") == "smoother");
  const EnergyTable t = toy();
  std::uint64_t reads = 0;
  std::vector<EnergyGroup> groups;
  for (const char* name : {"sm0.small0", "sm0.small1", "sm0.other", "sm0.whole"}) {
    groups.emplace_back(module_kind(name))
        .event("registers", "file.read", reads, 1, {std::string(name) == "sm0.whole" ? 1024.0 : 256.0, 4});
  }
  EnergyMeter meter(t);
  meter.begin(groups);
  reads += 10;
  const EnergyReport r = meter.end(groups, 100, 1000);
  REQUIRE(r.terms().size() == 3);
  CHECK(r.terms()[0].module == "small");
  CHECK(r.terms()[0].count == 20);
  CHECK(r.terms()[1].module == "other");
  CHECK(r.terms()[1].value.scaled == r.terms()[0].value.scaled);
  CHECK(r.terms()[2].module == "");
  CHECK(r.terms()[2].value.scaled == 100);
}

TEST_CASE("energy meter: events and leakage of a launch") {
  EnergyTable t = toy();
  t.override_value("unit.use", 20);
  std::uint64_t reads = 1000, uses = 5, rows_on = 70;
  const auto groups = [&] {
    std::vector<EnergyGroup> all(2);
    all[0].event("registers", "file.read", reads, 2);
    all[0].leakage("registers", "file.leakage");
    // 8 rows; half of them were off half of the time, in a state that leaks a tenth.
    all[0].leakage("gated", "file.leakage", {}, LeakageState{&rows_on, 8, 0.1});
    all[1].event("units", "unit.use", uses);
    all[1].event("registers", "file.read", reads, 2);
    return all;
  };
  EnergyMeter meter(t);
  // What the table lacks is said before the launch.
  std::vector<EnergyGroup> unknown = groups();
  unknown[1].event("units", "unit.misuse", uses);
  CHECK(thrown([&] { meter.begin(unknown); }) ==
        "toy.toml: the energy table has no value 'unit.misuse'; did you mean 'unit.use'?");
  meter.begin(groups());
  reads += 10;
  uses += 3;
  rows_on += 400;
  const EnergyReport r = meter.end(groups(), 100, 1000);  // 100 ns
  CHECK(r.seconds == Approx(100e-9));
  REQUIRE(r.terms().size() == 4);  // the reads of both groups are one term
  CHECK(r.terms()[0].count == 40);
  CHECK(r.terms()[0].nj == Approx(40 * 100e-3));
  CHECK(r.terms()[1].nj == Approx(50e-3 * 100e-9 * 1e9));
  CHECK(r.terms()[2].nj == Approx(50e-3 * 100e-9 * 1e9 * 0.1 * 400 / 8 / 100));
  CHECK(r.terms()[3].nj == Approx(3 * 20e-3));
  CHECK(r.terms()[3].value.value.basis == Basis::given);
  CHECK(r.of("units") == Approx(0.06));
  CHECK(r.of(Basis::computed) == Approx(4));
  CHECK(r.total_nj() == Approx(r.dynamic_nj() + r.static_nj()));
  const auto structures = r.by_structure();
  REQUIRE(structures.size() == 3);
  CHECK(structures[0].first == "registers");
  CHECK(structures[0].second.first == Approx(4));
  CHECK(structures[0].second.second == Approx(5));

  // Nothing was scaled, so no module stands by itself.
  for (const EnergyTerm& term : r.terms()) CHECK(term.module.empty());

  EnergyReport twice = r;
  twice.add(r);
  CHECK(twice.total_nj() == Approx(2 * r.total_nj()));
  CHECK(twice.seconds == Approx(2 * r.seconds));
  CHECK(twice.terms().size() == 4);
}

namespace {

std::string reported(const std::function<void()>& f) {
  try {
    f();
  } catch (const sc_core::sc_report& report) {
    return std::string(report.get_msg_type()) + ": " + report.get_msg();
  }
  return "";
}

}  // namespace

TEST_CASE("energy: what a module declares after a launch is what it declared before, and counters only grow") {
  const EnergyTable t = toy();
  std::uint64_t reads = 100, uses = 7;
  const auto group = [](const char* value, const std::uint64_t& counter) {
    EnergyGroup g("cache");
    g.event("units", value, counter);
    return std::vector<EnergyGroup>{g};
  };
  EnergyMeter meter(t);
  meter.begin(group("file.read", reads));
  CHECK(reported([&] { meter.end(group("unit.use", uses), 10, 1000); }) ==
        "regatta/energy: cache: register_energy() declares 'unit.use' after the launch, and 'file.read' of cache in "
        "its place before; expected the same events in the same order");
  CHECK(reported([&] { meter.end({}, 10, 1000); }) ==
        "regatta/energy: cache: register_energy() declares no 'file.read' after the launch, and did before; expected "
        "the same events in the same order");
  reads = 99;
  CHECK(reported([&] { meter.end(group("file.read", reads), 10, 1000); }) ==
        "regatta/energy: cache: the counter of 'file.read' went back during the launch, from 100 to 99; expected it "
        "to grow");
  reads = 101;
  CHECK(meter.end(group("file.read", reads), 10, 1000).terms().at(0).count == 1);
}

TEST_CASE("energy: a group says that it costs nothing, or has said nothing") {
  EnergyGroup silent;
  CHECK_FALSE(silent.declares());
  EnergyGroup policy;
  policy.costs_nothing("a policy");
  CHECK(policy.declares());
  CHECK(policy.events().empty());
}

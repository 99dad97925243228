// SPDX-License-Identifier: Apache-2.0
//
// Random configurations: a machine with some of its knobs and its scheme's turned, to 1 or to much, runs a kernel with
// every operand right, or is refused by a sentence. Never a crash, a deadlock, a failed check or a hang.
//
// REGATTA_CONFIGURATIONS says how many (the default is few), REGATTA_SEED which.
#include <regatta/assembly/machine.h>
#include <regatta/assembly/scheme.h>
#include <regatta/baseline/schedulers.h>
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "dice.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;

namespace {

/// A rate, not a size: turned far down it makes a run last for ever, which is not what is looked for.
bool is_rate(const support::Option& o) { return o.unit == "MHz" || o.unit == "10^6 bytes/s"; }

std::string value_for(const support::Option& o, test::Dice& dice) {
  if (std::holds_alternative<bool>(o.default_value)) return dice.one_in(2) ? "true" : "false";
  if (std::holds_alternative<std::string>(o.default_value)) {
    return o.choices.empty() ? "" : "\"" + dice.any(o.choices) + "\"";
  }
  if (!std::holds_alternative<std::int64_t>(o.default_value)) return "";
  const std::int64_t usual = std::max<std::int64_t>(1, std::get<std::int64_t>(o.get()));
  const int shift = static_cast<int>(dice.below(9)) - 4;
  std::int64_t value = shift < 0 ? usual >> -shift : usual << shift;
  if (!is_rate(o)) {
    if (dice.one_in(3)) value = static_cast<std::int64_t>(1 + dice.below(4));
    if (dice.one_in(6)) value = std::int64_t{1} << dice.below(12);
    if (dice.one_in(6)) value += static_cast<std::int64_t>(dice.below(7));
  }
  return std::to_string(std::min(std::max(value, o.minimum), o.maximum));
}

/// A configuration file that turns `count` knobs of `machine` or `scheme`.
std::string configuration(const std::string& machine, assembly::Scheme& scheme, unsigned count, test::Dice& dice) {
  assembly::MachineConfig config;
  support::OptionSet knobs;
  config.declare(knobs);
  scheme.declare(knobs);
  std::string file;
  const std::string preset = assembly::machine_text(machine, file);
  knobs.load_toml(preset, file, "machine");
  std::map<std::string, std::map<std::string, std::string>> tables;
  for (unsigned i = 0; i < count; ++i) {
    const support::Option& o = dice.any(knobs.options());
    const std::size_t dot = o.name.find('.');
    const std::string value = value_for(o, dice);
    // A shorter patience makes deadlocks of what is merely slow.
    if (!value.empty() && o.name != "sm.watchdog") tables[o.name.substr(0, dot)][o.name.substr(dot + 1)] = value;
  }
  std::ostringstream text;
  for (const auto& [module, values] : tables) {
    text << "[" << module << "]\n";
    for (const auto& [knob, value] : values) text << knob << " = " << value << "\n";
  }
  return text.str();
}

}  // namespace

TEST_CASE("random configurations run clean or are refused by a sentence") {
  const std::uint64_t count = test::from_environment("REGATTA_CONFIGURATIONS", test::times(15, 40));
  const std::uint64_t seed = test::from_environment("REGATTA_SEED", 1);
  const test::Folder folder;
  const std::vector<std::string> kernels{"bfs", "hotspot", "histogram", "reduction", "spmv", "sgemm"};
  std::map<std::pair<std::string, unsigned>, std::string> traces;
  for (const std::string& kernel : kernels) {
    for (const unsigned warp_size : {32u, 64u}) {
      tool::AnnotateOptions o;
      o.launch = test::launch_path(kernel, test::Size::small);
      o.out = traces[{kernel, warp_size}] = folder.file(kernel + std::to_string(warp_size) + ".rgt");
      o.warp_size = warp_size;
      o.pass_options["regmutex-base"] = "0";
      o.pass_options["rfh"] = "3";
      o.pass_options["rfv"] = "on";
      o.max_registers = 63;  // that RFV can number
      tool::annotate(o);
    }
  }
  const assembly::SchemeRegistry registry = schemes::all();
  std::map<std::string, std::uint64_t> finished_by;
  std::uint64_t finished = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    test::Dice dice(seed * 1000003 + i);
    const std::string machine = dice.any(assembly::machine_names());
    const std::string kernel = dice.any(kernels);
    assembly::Scheme& scheme = *(dice.one_in(2) ? registry.schemes().front() : dice.any(registry.schemes()));
    const std::string text = configuration(machine, scheme, static_cast<unsigned>(1 + dice.below(12)), dice);
    folder.write("c.toml", text);
    std::vector<std::string> command{REGATTA_SIM,   traces.at({kernel, machine == "hd7770" ? 64u : 32u}),
                                     "--machine",   machine,
                                     "--scheme",    scheme.name(),
                                     "--config",    folder.file("c.toml"),
                                     "--sms",       std::to_string(1 + dice.below(3)),
                                     "--scheduler", dice.any(models::scheduler_names()),
                                     "--stats",     folder.file("stats.json")};
    if (dice.one_in(3)) command.emplace_back("--check-protocol");
    const auto run = test::run_process(command);
    std::string line;
    for (const std::string& word : command) line += word + " ";
    INFO("seed " << seed << ", configuration " << i << "\n" << line << "\n" << text << run.err);
    if (run.status == 2) {
      REQUIRE(run.err.rfind("regatta-sim: ", 0) == 0);
      REQUIRE(run.err.size() > 40);
      continue;
    }
    REQUIRE(run.status == 0);
    const auto stats = nlohmann::json::parse(folder.read("stats.json"));
    REQUIRE(stats.at("ending") == "completed");
    REQUIRE(stats.at("checks").at("mismatches") == 0);
    ++finished;
    ++finished_by[scheme.name()];
  }
  std::cout << count << " configurations: " << finished << " ran, " << count - finished << " refused;";
  for (const auto& [name, runs] : finished_by) std::cout << " " << name << " " << runs;
  std::cout << "\n";
  // A test that only met refusals would show nothing.
  REQUIRE(finished * 3 > count);
}

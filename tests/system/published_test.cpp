// SPDX-License-Identifier: Apache-2.0
//
// `--scheme X` alone is the setting of X's paper; a machine that the user names wins over all of it. What the summary
// says of that, of the SMs that are simulated, and of a scheme that did nothing.
#include <regatta/test/catch.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels.h"
#include "process.h"
#include "scheme_names.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;

namespace {

class PublishedBench {
 public:
  explicit PublishedBench(const std::string& kernel = "hotspot") { annotate(kernel); }
  void annotate(const std::string& kernel) const {
    tool::AnnotateOptions o;
    o.launch = test::launch_path(kernel, test::Size::small);
    o.out = folder.file("k.rgt");
    o.max_registers = 63;
    o.pass_options["rfh"] = "3";
    tool::annotate(o);
  }
  ProcessResult sim(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), REGATTA_SIM);
    test::ProcessOptions o;
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  /// The knobs of the configuration that a run would have, as text: "sm.scheduler" -> "\"gto\"".
  std::map<std::string, std::string> config(std::vector<std::string> arguments) const {
    arguments.emplace_back("--dump-config");
    const ProcessResult r = sim(arguments);
    INFO(r.err);
    REQUIRE(r.status == 0);
    std::map<std::string, std::string> knobs;
    std::istringstream lines(r.out);
    std::string table, line;
    while (std::getline(lines, line)) {
      line = line.substr(0, line.find(" #"));
      if (line.rfind('[', 0) == 0) table = line.substr(1, line.find(']') - 1);
      const std::size_t equals = line.find(" = ");
      if (equals == std::string::npos) continue;
      std::string value = line.substr(equals + 3);
      value.erase(value.find_last_not_of(' ') + 1);
      std::string name = line.substr(0, equals);
      name.erase(name.find_last_not_of(' ') + 1);
      knobs[table + "." + name] = value;
    }
    return knobs;
  }
  std::string said(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "k.rgt");
    const ProcessResult r = sim(arguments);
    INFO(r.err);
    REQUIRE(r.status == 0);
    return r.out;
  }
  const Folder folder;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct ExpectedSetting {
  const char* machine;
  std::map<std::string, std::string> knobs;
};

/// Of every scheme but the baseline: the machine of its paper, and what it sets there.
const std::map<std::string, ExpectedSetting>& published() {
  static const ExpectedSetting gated{"k20x", {{"sm.scheduler", "\"lrr\""}}};
  static const ExpectedSetting aging{"hd7770", {{"sm.lanes", "64"}, {"wear.enabled", "true"}}};
  static const ExpectedSetting finereg{"finereg", {{"sm.sub_cores", "1"}, {"sm.registers_per_thread", "63"}}};
  static const ExpectedSetting unified{"finereg_um", {{"l1.ways", "32"}}};
  static const ExpectedSetting rival{"gtx980", {{"sm.scheduler", "\"two_level\""}}};
  static const std::map<std::string, ExpectedSetting> all{
      {"regless", {"regless", {{"sm.scheduler", "\"gto\""}}}},
      {"rfh", rival},
      {"rfv", rival},
      {"wir", {"gtx480", {{"sm.scheduler", "\"gto\""}, {"sm.warps", "48"}}}},
      {"always_on", gated},
      {"greener", gated},
      {"sleep_reg", gated},
      {"rar", aging},
      {"rc", aging},
      {"rc_rar", aging},
      {"wc", aging},
      {"argo", aging},
      {"virtual_thread", finereg},
      {"finereg", finereg},
      {"reg_dram", finereg},
      {"vt_regmutex", finereg},
      {"um", unified},
      {"vt_um", unified},
      {"finereg_um", unified},
      {"register_sharing",
       {"fermi_sharing",
        {{"shared.bytes", "49152"}, {"sm.scheduler", "\"owf\""}, {"register_sharing.dynamic", "true"}}}},
      {"scratchpad_sharing",
       {"fermi_sharing",
        {{"shared.bytes", "16384"}, {"sm.scheduler", "\"owf\""}, {"scratchpad_sharing.relssp", "\"optimal\""}}}},
      {"scratchpad_multiplexing",
       {"fermi_sharing",
        {{"sm.scheduler", "\"lrr\""},
         {"scratchpad_multiplexing.relssp", "\"optimal\""},
         {"scratchpad_multiplexing.t", "\"0.1\""}}}},
      {"warp_level_divergence", {"fermi_sharing", {{"shared.bytes", "49152"}, {"sm.scheduler", "\"lrr\""}}}}};
  return all;
}

}  // namespace

TEST_CASE("every scheme alone has the machine, the scheduler and the options of its paper") {
  const PublishedBench bench;
  std::istringstream names(test::scheme_names());
  std::size_t found = 0;
  for (std::string name; names >> name;) {
    if (name.back() == ',') name.pop_back();
    CAPTURE(name);
    const auto config = bench.config({"--scheme", name});
    if (name == "baseline") {
      CHECK(config.at("run.machine") == "\"gtx980\"");
      continue;
    }
    ++found;
    REQUIRE(published().count(name) == 1);
    const ExpectedSetting& expected = published().at(name);
    CHECK(config.at("run.machine") == "\"" + std::string(expected.machine) + "\"");
    for (const auto& [knob, value] : expected.knobs) {
      CAPTURE(knob);
      CHECK(config.at(knob) == value);
    }
    // The preset and these knobs are all there is to it.
    std::vector<std::string> by_hand{"--scheme", name, "--machine", expected.machine};
    for (const auto& [knob, value] : expected.knobs) {
      const bool quoted = value.front() == '"';
      by_hand.insert(by_hand.end(), {"--" + knob, quoted ? value.substr(1, value.size() - 2) : value});
    }
    CHECK(bench.config(by_hand) == config);
  }
  CHECK(found == published().size());
}

TEST_CASE("a machine that the user names wins over the paper's setting; options win over both") {
  const PublishedBench bench;
  auto config = bench.config({"--scheme", "register_sharing", "--machine", "gtx980"});
  CHECK(config.at("run.machine") == "\"gtx980\"");
  CHECK(config.at("sm.scheduler") == "\"gto\"");
  CHECK(config.at("register_sharing.dynamic") == "false");

  bench.folder.write("c.toml", "[run]\nmachine = \"gtx480\"\nscheme = \"register_sharing\"\n");
  config = bench.config({"--config", "c.toml"});
  CHECK(config.at("run.machine") == "\"gtx480\"");
  CHECK(config.at("sm.scheduler") == "\"gto\"");

  bench.folder.write("s.toml", "[sm]\nscheduler = \"lrr\"\n");
  config = bench.config({"--config", "s.toml", "--scheme", "register_sharing", "--shared.bytes", "16384"});
  CHECK(config.at("run.machine") == "\"fermi_sharing\"");
  CHECK(config.at("sm.scheduler") == "\"lrr\"");
  CHECK(config.at("shared.bytes") == "16384");
  CHECK(config.at("register_sharing.dynamic") == "true");
  CHECK(bench.config({"--scheme", "rfh", "--scheduler", "lrr"}).at("sm.scheduler") == "\"lrr\"");

  // What is written out has it all, and needs no scheme's setting any more.
  const auto written = bench.config({"--scheme", "rfv"});
  REQUIRE(bench.sim({"--scheme", "rfv", "--dump-config=d.toml"}).status == 0);
  CHECK(bench.config({"--config", "d.toml"}) == written);

  const ProcessResult empty = bench.sim({"k.rgt", "--machine", ""});
  CHECK(empty.status == 2);
  CHECK(empty.err == "regatta-sim: --machine: found no name, expected a machine\n");
}

TEST_CASE("several schemes have a paper's setting if all of them have the same machine") {
  const PublishedBench bench;
  CHECK(bench.config({"--scheme", "baseline+wir"}).at("run.machine") == "\"gtx480\"");
  CHECK(bench.config({"--scheme", "finereg+greener"}).at("run.machine") == "\"gtx980\"");
  // The same machine, and other knobs of it.
  CHECK(bench.config({"--scheme", "regless+um"}).at("run.machine") == "\"gtx980\"");
}

TEST_CASE("the summary says what was simulated") {
  const PublishedBench bench;
  std::string said = bench.said({});
  CHECK(has(said,
            "k.rgt on gtx980, scheme baseline\n"
            "1 of 16 SMs of gtx980 runs all CTAs, with its share of the L2 and of DRAM bandwidth (--sms 16: the whole "
            "GPU)\n\n"));
  CHECK_FALSE(has(said, "IPC of an SM"));
  CHECK_FALSE(has(said, "to compare with"));
  said = bench.said({"--scheme", "wir", "--sms", "3"});
  CHECK(has(
      said,
      "k.rgt on gtx480, scheme wir, as published (HPCA 2018)\n"
      "3 of 15 SMs of gtx480 run all CTAs, with their share of the L2 and of DRAM bandwidth (--sms 15: the whole GPU)\n"
      "the baseline to compare with: --machine gtx480\n\n"));
  CHECK(has(said, "IPC of an SM\n"));
  said = bench.said({"--scheme", "rfh", "--machine", "gtx980"});
  CHECK(has(said, "k.rgt on gtx980, scheme rfh\n1 of 16 SMs"));
  said = bench.said({"--scheme", "wir", "--machine", "gtx980", "--machine.sms", "1"});
  CHECK(has(said, "k.rgt on gtx980, scheme wir (wir is published on gtx480)\nthe only SM of gtx980\n\n"));
  said = bench.said({"--scheme", "register_sharing", "--sms", "13"});
  CHECK(has(said,
            "k.rgt on fermi_sharing, scheme register_sharing, as published (Jatala, thesis, chapter 2): "
            "shared.bytes = 49152, sm.scheduler = owf, register_sharing.dynamic = true\n"
            "13 of 14 SMs of fermi_sharing run all CTAs, with their share of the L2 and of DRAM bandwidth (--sms 14: "
            "the whole GPU)\n"
            "the baseline to compare with: --machine fermi_sharing --shared.bytes 49152 --sm.scheduler owf"
            "\n\n"));
}

TEST_CASE("a scheme that did nothing says why") {
  const PublishedBench bench("vector_add");
  const auto why = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--stats", "s.json"});
    const std::string said = bench.said(arguments);
    const auto stats = nlohmann::json::parse(bench.folder.read("s.json"));
    const std::string idle = stats.value("idle", "");
    // One scheme's reason has its name in the summary.
    const std::string name = stats.at("scheme").get<std::string>();
    CHECK(has(said, (has(name, "+") ? "" : name + ": ") + idle + "\n\n") == !idle.empty());
    return idle;
  };
  // One CTA of the grid at a time on the SM, and no room for two.
  const std::vector<std::string> narrow{"--machine", "fermi_sharing", "--sm.threads", "256", "--sm.warps", "8"};
  const auto on = [&](const std::string& scheme, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"--scheme", scheme};
    all.insert(all.end(), narrow.begin(), narrow.end());
    all.insert(all.end(), more.begin(), more.end());
    return why(all);
  };
  CHECK(on("register_sharing") == "no effect: no CTA more fits, limited by warps");
  CHECK(on("warp_level_divergence") == "no effect: no CTA more fits, limited by warps");
  CHECK(on("scratchpad_sharing") == "no effect: no CTA more fits, limited by warps");
  CHECK(on("baseline+register_sharing") == "register_sharing: no effect: no CTA more fits, limited by warps");
  CHECK(why({"--scheme", "wir"}) == "no effect: no instruction took the result of another one");
  CHECK(why({"--scheme", "greener"}).empty());
  CHECK(why({}).empty());
  bench.annotate("hotspot");  // 12 CTAs
  CHECK(why({"--scheme", "register_sharing", "--sms", "14"}) == "no effect: all CTAs are resident without it");
  CHECK(why({"--scheme", "virtual_thread", "--sms", "14"}) == "no CTA was switched out: all CTAs are active at once");
  CHECK(why({"--scheme", "wir"}).empty());
}

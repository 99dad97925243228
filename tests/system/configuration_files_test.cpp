// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim's configuration files: the run's table, several files, and the configuration written out.
#include <regatta/test/catch.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "kernels.h"
#include "process.h"
#include "scheme_names.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;

namespace {

class Bench {
 public:
  Bench() {
    std::filesystem::rename(test::annotate_kernel(folder, "hotspot", test::Size::small), folder.file("k.rgt"));
  }
  ProcessResult sim(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), REGATTA_SIM);
    test::ProcessOptions o;
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  /// The whole result but for what the host does.
  nlohmann::ordered_json stats(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"k.rgt", "--stats", "s.json"});
    const ProcessResult r = sim(arguments);
    INFO(r.err);
    REQUIRE(r.status == 0);
    auto document = nlohmann::ordered_json::parse(folder.read("s.json"));
    document.erase("host");
    return document;
  }
  void refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const ProcessResult r = sim(arguments);
    CHECK(r.err == "regatta-sim: " + message + "\n");
    CHECK(r.out.empty());
    CHECK(r.status == 2);
  }
  const Folder folder;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("configuration files: machine, scheme and SMs; the command line wins") {
  const Bench bench;
  bench.folder.write("c.toml", "[run]\nmachine = \"gtx480\"\nscheme = \"wir\"\nsms = 2\n[wir]\ndelay = 6\n");
  const auto by_file = bench.stats({"--config", "c.toml"});
  CHECK(by_file.at("machine") == "gtx480");
  CHECK(by_file.at("scheme") == "wir");
  CHECK(by_file.at("stats").contains("sm1.register_file"));
  CHECK(by_file.at("config").at("wir.delay") == 6);
  CHECK(by_file == bench.stats({"--machine", "gtx480", "--scheme", "wir", "--sms", "2", "--wir.delay", "6"}));
  const auto by_line = bench.stats({"--config", "c.toml", "--machine", "gtx980", "--sms", "1", "--wir.delay", "4"});
  CHECK(by_line.at("machine") == "gtx980");
  CHECK(by_line.at("scheme") == "wir");
  CHECK_FALSE(by_line.at("stats").contains("sm1.register_file"));
  CHECK(by_line.at("config").at("wir.delay") == 4);
}

TEST_CASE("configuration files: help shows the knobs of the file's scheme, and what the file sets") {
  const Bench bench;
  bench.folder.write("c.toml", "[run]\nscheme = \"wir\"\n[wir]\ndelay = 6\n");
  CHECK_FALSE(contains(bench.sim({"--help"}).out, "--wir.delay"));
  const std::string page = bench.sim({"--config", "c.toml", "--help"}).out;
  CHECK(contains(page, "--wir.delay"));
  CHECK(contains(page, "default 6, of the configuration file"));
}

TEST_CASE("configuration files: of several, later ones win") {
  const Bench bench;
  bench.folder.write("a.toml", "[run]\nscheme = \"regless\"\nsms = 3\n[l1]\nways = 4\nmshrs = 8\n");
  bench.folder.write("b.toml", "[run]\nscheme = \"baseline\"\n[l1]\nways = 2\n");
  const auto stats = bench.stats({"--config", "a.toml", "--config", "b.toml"});
  CHECK(stats.at("scheme") == "baseline");
  CHECK(stats.at("stats").contains("sm2.l1"));
  CHECK(stats.at("config").at("l1.ways") == 2);
  CHECK(stats.at("config").at("l1.mshrs") == 8);
  const auto other = bench.stats({"--config", "b.toml", "--config", "a.toml"});
  CHECK(other.at("scheme") == "regless");
  CHECK(other.at("config").at("l1.ways") == 4);
}

TEST_CASE("configuration files: what the run's table cannot say is refused with its place") {
  const Bench bench;
  bench.folder.write("scheme.toml", "[run]\nscheme = \"regles\"\n");
  bench.refused({"k.rgt", "--config", "scheme.toml"}, "scheme.toml:2:10: run.scheme: expected one of " +
                                                          test::scheme_names() +
                                                          ", found 'regles'; did you mean 'regless'?");
  bench.folder.write("key.toml", "[run]\nscheduler = \"lrr\"\n");
  bench.refused({"k.rgt", "--config", "key.toml"},
                "key.toml:2:1: unknown option 'run.scheduler' (known under [sm] scheduler)");
  bench.folder.write("sms.toml", "[run]\nsms = 0\n");
  bench.refused({"k.rgt", "--config", "sms.toml"},
                "sms.toml:2:7: run.sms: expected an integer from 1 to 1024 (SMs), found 0");
  bench.folder.write("knob.toml", "[wir]\ndelay = 6\n");
  bench.refused({"k.rgt", "--config", "knob.toml"}, "knob.toml:1:2: unknown table 'wir' (known under --scheme wir)");
  bench.refused({"k.rgt", "--config", ""}, "--config: found an empty text, expected the name of a file");
}

TEST_CASE("configuration files: what --dump-config writes gives the same run") {
  const Bench bench;
  bench.folder.write("m.toml", "[machine]\nbase = \"gtx480\"\n[register_file]\nbanks = 8\n");
  const std::vector<std::vector<std::string>> runs{
      {},
      {"--scheme", "regless", "--osu.entries", "256", "--scheduler", "lrr"},
      {"--scheme", "wir", "--machine", "gtx480", "--sms", "2", "--no-check", "--working-set", "100", "--register-use",
       "100"},
      {"--machine", "m.toml", "--energy", "fermi40", "--energy.node_nm", "32.5"},
      {"--scheme", "rc", "--machine", "gtx980", "--wear.enabled", "true"},
  };
  for (const std::vector<std::string>& run : runs) {
    CAPTURE(run);
    std::vector<std::string> dump = run;
    dump.insert(dump.end(), {"k.rgt", "--dump-config=c.toml"});
    const ProcessResult r = bench.sim(dump);
    INFO(r.err);
    REQUIRE(r.status == 0);
    CHECK(r.out.empty());
    CHECK(bench.stats({"--config", "c.toml"}) == bench.stats(run));
    // It neither needs a trace nor a file.
    dump = run;
    dump.emplace_back("--dump-config");
    CHECK(bench.sim(dump).out == bench.folder.read("c.toml"));
  }
  bench.refused({"k.rgt", "--dump-config=c.toml", "--stats", "s.json"},
                "--dump-config runs nothing: nothing can be written to 's.json'");
  bench.refused(
      {"--dump-config", "k.rgt"},
      "command line: '--dump-config k.rgt': write --dump-config=k.rgt for a value of --dump-config, or put an "
      "argument before the option");
  bench.refused({"--config", "c.toml", "--dump-config=c.toml"},
                "--dump-config and --config name the same file 'c.toml'");
}

TEST_CASE("statistics are described without a trace, as after a run") {
  const Bench bench;
  for (const char* scheme : {"baseline", "regless", "wir", "argo"}) {
    CAPTURE(scheme);
    const ProcessResult r = bench.sim({"--describe-stats", "--scheme", scheme, "--machine", "gtx980"});
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    const auto stats = bench.stats({"--scheme", scheme, "--machine", "gtx980"}).at("stats");
    std::size_t named = 0;
    for (const auto& [path, group] : stats.items()) {
      for (const auto& [name, value] : group.items()) {
        CAPTURE(path, name);
        CHECK(contains(r.out, "\n" + path + "." + name + " "));
        ++named;
      }
    }
    // Two lines of head; no statistic that a run would not have.
    CHECK(named + 2 == static_cast<std::size_t>(std::count(r.out.begin(), r.out.end(), '\n')));
  }
  CHECK(contains(bench.sim({"--describe-stats"}).out, "warp instructions"));
  // Waits name the knobs that shorten them, without a run and after one.
  const std::string wait =
      "in which the next request waited, as all fetches were in use; knobs: compressor.lines, "
      "compressor.fetches\n";
  CHECK(contains(bench.sim({"--describe-stats", "--scheme", "regless"}).out, wait));
  CHECK(contains(bench.sim({"k.rgt", "--describe-stats", "--scheme", "regless"}).out, wait));
  bench.refused({"--describe-stats", "--stats", "s.json"},
                "--describe-stats without a TRACE runs nothing: nothing can be written to 's.json'");
}

TEST_CASE("a replay takes no scheme") {
  const Bench bench;
  bench.refused({"k.rgt", "--replay", "--scheme", "wir"},
                "--replay has no operand storage: found the scheme 'wir', expected none (it decodes the trace and "
                "updates registers only)");
  bench.folder.write("c.toml", "[run]\nscheme = \"regless\"\n");
  CHECK(bench.sim({"k.rgt", "--replay", "--config", "c.toml"}).status == 2);
  CHECK(bench.sim({"k.rgt", "--replay"}).status == 0);
}

TEST_CASE("an option after one that takes a file is not the file's name") {
  const Bench bench;
  bench.refused({"k.rgt", "--stats", "--cpi"},
                "command line: option '--stats' needs a value, found '--cpi', which looks like an option; did you mean "
                "--stats=--cpi?");
  CHECK_FALSE(bench.folder.has("--cpi"));
  CHECK(bench.sim({"k.rgt", "--stats=--cpi"}).status == 0);
  CHECK(bench.folder.has("--cpi"));
}

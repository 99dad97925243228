// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim --timeline: what a user gets of runs that end well and of those that do not.
#include <regatta/test/catch.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "kernels.h"
#include "process.h"
#include "timeline_laws.h"

using namespace regatta;
using test::Folder;
using test::PerfettoFacts;
using test::ProcessResult;
using test::Size;

namespace {

using Words = std::vector<std::string>;
const std::string launch_track = "run (1 ns = 1 cycle)/launches";

class TimelineBench {
 public:
  explicit TimelineBench(const std::string& kernel = "hotspot", Size size = Size::small) {
    std::filesystem::rename(test::annotate_kernel(folder, kernel, size), folder.file("k.rgt"));
  }
  ProcessResult sim(Words arguments, test::ProcessOptions o = {}) const {
    arguments.insert(arguments.begin(), {REGATTA_SIM, "k.rgt"});
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  PerfettoFacts timeline(const std::string& name = "t.pftrace") const {
    return test::check_perfetto(folder.read(name));
  }
  nlohmann::json document() const { return nlohmann::json::parse(folder.read("s.json")); }
  const Folder folder;
};

/// The rows of a CSV file by column.
std::map<std::string, std::vector<std::uint64_t>> columns_of(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::getline(lines, line);
  std::vector<std::string> names;
  for (std::istringstream header(line); std::getline(header, cell, ',');) names.push_back(cell);
  std::map<std::string, std::vector<std::uint64_t>> columns;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (const std::string& name : names) {
      std::getline(cells, cell, ',');
      columns[name].push_back(std::stoull(cell));
    }
  }
  return columns;
}

/// What every timeline has that ended early: whole, and up to the run's last cycle.
void check_early_end(const PerfettoFacts& t, const nlohmann::json& document) {
  REQUIRE(t.error == "");
  const std::uint64_t end = document.at("cycles").get<std::uint64_t>() + 1;
  const nlohmann::json& pipeline = document.at("stats").at("sm0.pipeline");
  std::uint64_t last = 0, cycles = 0, counted = pipeline.at("issue_cycles");
  for (const auto& s : t.slices) last = std::max(last, s.to);
  CHECK(last == end);
  for (const auto& [reason, length] : t.lengths("SM 0/schedulers/")) cycles += length;
  for (const auto& [name, value] : pipeline.items()) {
    if (name.compare(0, 6, "stall_") == 0) counted += value.get<std::uint64_t>();
  }
  CHECK(cycles == counted);
  // Of the CTAs that did not end, too.
  CHECK(t.outermost("SM 0/CTA slots/") > pipeline.at("ctas").get<std::uint64_t>());
}

}  // namespace

TEST_CASE("timeline: adds up to the statistics, launch by launch, whatever the quantum") {
  struct Run {
    const char* kernel;
    Words words;
  };
  const std::vector<Run> runs{{"hotspot", {"--sms", "2"}},
                              {"bfs", {"--sms", "3", "--sm.scheduler", "two_level"}},
                              {"reduction", {"--scheme", "regless"}},
                              {"srad", {"--machine", "k20x", "--scheme", "greener", "--timeline-sample", "200"}}};
  for (const Run& run : runs) {
    CAPTURE(run.kernel);
    const TimelineBench bench(run.kernel);
    std::string before;
    for (const char* quantum : {"1", "256"}) {
      Words words = run.words;
      words.insert(words.end(), {"--timeline", "t.pftrace", "--stats", "s.json", "--quantum", quantum});
      const ProcessResult r = bench.sim(words);
      REQUIRE(r.err == "");
      REQUIRE(r.status == 0);
      const std::string bytes = bench.folder.read("t.pftrace");
      CHECK((before.empty() || bytes == before));
      before = bytes;
    }
    const PerfettoFacts t = bench.timeline();
    const nlohmann::json document = bench.document();
    const unsigned sms = run.words.at(0) == "--sms" ? std::stoul(run.words.at(1)) : 1;
    test::check_timeline(t, document.at("stats"), sms);
    // Launches stand one behind the other and hold the scheduler-cycles that are theirs.
    std::uint64_t at = 1;
    std::size_t index = 0;
    const nlohmann::json& launches = document.at("launches");
    std::map<std::uint64_t, std::uint64_t> memory;  // cycles by the launch's begin
    for (const auto& s : t.slices) {
      if (s.track == launch_track) memory[s.from] = 0;
    }
    for (const auto& s : t.slices) {
      if (s.name != "memory" || s.track.find("/schedulers/") == std::string::npos) continue;
      auto launch = memory.upper_bound(s.from);
      REQUIRE(launch != memory.begin());
      (--launch)->second += s.length();
    }
    for (const auto& s : t.slices) {
      if (s.track != launch_track) continue;
      REQUIRE(index < launches.size());
      const nlohmann::json& launch = launches.at(index);
      CHECK(s.from == at);
      CHECK(s.length() == launch.at("cycles"));
      CHECK(s.name == launch.at("kernel"));
      CHECK(s.arguments.at("launch") == index);
      CHECK(s.arguments.at("CTAs") == launch.at("ctas"));
      CHECK(memory.at(s.from) == launch.at("stall_cycles").at("memory"));
      at = s.to;
      ++index;
    }
    CHECK(index == launches.size());
    CHECK(at == document.at("cycles").get<std::uint64_t>() + 1);
  }
}

TEST_CASE("timeline: the other recorders' files say the same") {
  const TimelineBench bench;
  REQUIRE(bench
              .sim({"--machine", "finereg", "--scheme", "finereg", "--finereg.active_registers", "256", "--timeline",
                    "t.pftrace", "--timeline-sample", "500", "--sample", "500", "--sample-file", "s.csv", "--cpi-ctas",
                    "c.csv", "--stats", "s.json"})
              .status == 0);
  const PerfettoFacts t = bench.timeline();
  REQUIRE(t.error == "");
  // Every counter that counted has a track.
  std::size_t counted = 0;
  for (const auto& [column, rows] : columns_of(bench.folder.read("s.csv"))) {
    if (column.compare(0, 4, "sm0.") != 0 || column.find("_max") != std::string::npos) continue;
    const std::size_t dot = column.rfind('.');
    const std::string path = "SM 0/counters/" + column.substr(4, dot - 4) + "/" + column.substr(dot + 1);
    std::uint64_t sum = 0;
    for (const std::uint64_t n : rows) sum += n;
    CAPTURE(column);
    CHECK(t.sum(path) == double(static_cast<std::int64_t>(sum)));
    counted += sum != 0 ? 1 : 0;
  }
  CHECK(counted > 50);
  // Residency, CTA by CTA of each launch, and the states of all warps. A cycle with an issue is a ready one here.
  auto ctas = columns_of(bench.folder.read("c.csv"));
  std::set<std::vector<std::uint64_t>> stays;
  for (std::size_t row = 0; row < ctas.at("cta").size(); ++row) {
    stays.insert({ctas.at("cta")[row], ctas.at("launched")[row], ctas.at("finished")[row]});
  }
  CHECK(stays.size() == ctas.at("cta").size());
  for (const auto& s : t.slices) {
    if (s.track.compare(0, 14, "SM 0/CTA slots") != 0 || !s.within.empty()) continue;
    CAPTURE(s.name, s.from, s.to);
    CHECK(stays.erase({std::stoull(s.name.substr(4)), s.from, s.to}) == 1);
  }
  CHECK(stays.empty());
  const auto sum = [&](const char* column) {
    std::uint64_t all = 0;
    for (const std::uint64_t n : ctas.at(column)) all += n;
    return all;
  };
  auto states = t.lengths("SM 0/warp slots/");
  for (const char* state : {"instruction_fetch", "scoreboard", "memory", "barrier", "drained"}) {
    CAPTURE(state);
    CHECK(states[state] == sum(state));
  }
  CHECK(states["ready"] == sum("ready") + sum("issued"));
  CHECK(states["switched out"] == sum("inactive"));
  CHECK(states["switched out"] > 1000);
  const nlohmann::json pipeline = bench.document().at("stats").at("sm0.pipeline");
  CHECK(t.numbers("SM 0/CTA slots").at("draining") <= pipeline.at("cta_switches_out"));
  CHECK(t.lengths("SM 0/CTA slots").at("draining") == pipeline.at("cta_drain_cycles"));
}

TEST_CASE("timeline: windows of cycles and CTAs") {
  const TimelineBench bench;
  REQUIRE(bench.sim({"--timeline", "t.pftrace", "--timeline-window", "2000:2999", "--timeline-ctas", "1:2"}).status ==
          0);
  const PerfettoFacts t = bench.timeline();
  REQUIRE(t.error == "");
  std::uint64_t cycles = 0;
  for (const auto& [reason, length] : t.lengths("SM 0/schedulers/")) cycles += length;
  CHECK(cycles == 4 * 1000);
  for (const auto& s : t.slices) {
    CHECK(s.from >= 2000);
    CHECK(s.to <= 3000);
    if (s.name.compare(0, 4, "CTA ") == 0) CHECK((s.name[4] == '1' || s.name[4] == '2'));
  }
  CHECK(t.outermost("SM 0/CTA slots/") == 2);
  // Two intervals of 1,000 cycles overlap the window.
  CHECK(t.counters.at("SM 0/counters/pipeline/active_cycles").size() == 3);

  ProcessResult r = bench.sim({"--timeline", "t.pftrace", "--timeline-window", "100000000:"});
  CHECK(r.status == 0);
  CHECK_THAT(r.err, Catch::Matchers::Contains("--timeline-window begins in cycle 100000000, the run ended in cycle "));
  CHECK(bench.timeline().error == "");
  CHECK(bench.timeline().slices.empty());
  r = bench.sim({"--timeline", "t.pftrace", "--timeline-ctas", "5000:", "--timeline-sample", "0"});
  CHECK(r.status == 0);
  CHECK_THAT(r.err,
             Catch::Matchers::Contains("no CTA of --timeline-ctas was resident in the window: 't.pftrace' shows none"));
  CHECK(bench.timeline().counters.size() == 1);  // the warps
  // It was resident, but not then.
  r = bench.sim({"--timeline", "t.pftrace", "--timeline-ctas", "0", "--timeline-window", "0"});
  CHECK(r.status == 0);
  CHECK_THAT(r.err, Catch::Matchers::Contains("no CTA of --timeline-ctas was resident in the window"));
}

TEST_CASE("timeline: a run with a wrong value leaves it, whole") {
  const TimelineBench bench;
  REQUIRE(bench.sim({"--timeline", "t.pftrace", "--stats", "s.json", "--fault.at", "write", "--fault.cycle", "3000"})
              .status == 3);
  check_early_end(bench.timeline(), bench.document());
}

TEST_CASE("timeline: an interrupted run leaves it, whole") {
  const TimelineBench bench("bfs", Size::full);
  for (const int signal : {SIGTERM, SIGINT}) {
    test::ProcessOptions o;
    o.signal = signal;
    o.signal_delay_ms = 100;
    REQUIRE(bench.sim({"--timeline", "t.pftrace", "--stats", "s.json"}, o).status == 128 + signal);
    check_early_end(bench.timeline(), bench.document());
    CHECK(bench.folder.count(".partial") == 0);
  }
}

TEST_CASE("timeline: bad input leaves none") {
  const TimelineBench bench;
  const auto refused = [&](const Words& words, const std::string& message) {
    const ProcessResult r = bench.sim(words);
    CHECK(r.err == "regatta-sim: " + message + "\n");
    CHECK(r.status == 2);
    CHECK_FALSE(bench.folder.has("t.pftrace"));
  };
  refused({"--timeline-window", "1:2"}, "--timeline-window needs --timeline FILE");
  refused({"--timeline-ctas", "1:2"}, "--timeline-ctas needs --timeline FILE");
  refused({"--timeline-sample", "100"}, "--timeline-sample needs --timeline FILE");
  refused({"--timeline", "t.pftrace", "--timeline-window", "9:2"},
          "--timeline-window: found '9:2', expected FIRST:LAST, FIRST: or :LAST with FIRST <= LAST, or one number");
  refused({"--timeline", "t.pftrace", "--timeline-ctas", "x"},
          "--timeline-ctas: found 'x', expected FIRST:LAST, FIRST: or :LAST with FIRST <= LAST, or one number");
  refused({"--timeline", ""}, "--timeline: found an empty text, expected the name of a file");
  refused({"--timeline", "no/such/t.pftrace"}, "cannot write 'no/such/t.pftrace': No such file or directory");
  refused({"--timeline", "k.rgt"}, "--timeline and the trace name the same file 'k.rgt'");
  refused({"--timeline", "t.pftrace", "--replay"}, "--replay has no time: nothing can be written to 't.pftrace'");
  refused({"--timeline", "t.pftrace", "--hierarchy"},
          "--hierarchy runs nothing: nothing can be written to 't.pftrace'");
  // A knob that the run refuses when it is built.
  CHECK(bench.sim({"--timeline", "t.pftrace", "--sms", "1000"}).status == 2);
  CHECK_FALSE(bench.folder.has("t.pftrace"));
  if (std::filesystem::exists("/dev/full")) {
    refused({"--timeline", "/dev/full"}, "cannot write '/dev/full': No space left on device");
  }
  test::ProcessOptions o;
  o.file_bytes = 128 << 10;
  const ProcessResult r = bench.sim({"--timeline", "t.pftrace"}, o);
  CHECK(r.status == 2);
  CHECK_THAT(r.err, Catch::Matchers::Contains("File too large"));
  CHECK_FALSE(bench.folder.has("t.pftrace"));
  CHECK(bench.folder.count(".partial") == 0);
}

TEST_CASE("timeline: it changes no result, and goes through a pipe") {
  const TimelineBench bench;
  REQUIRE(bench.sim({"--timeline", "t.pftrace", "--stats", "s.json"}).status == 0);
  nlohmann::json seen = bench.document();
  REQUIRE(bench.sim({"--stats", "s.json"}).status == 0);
  nlohmann::json unseen = bench.document();
  for (nlohmann::json* d : {&seen, &unseen}) d->erase("host");
  CHECK(seen == unseen);
  const ProcessResult r = bench.sim({"--timeline", "/dev/stdout"});
  REQUIRE(r.status == 0);
  CHECK(r.out == bench.folder.read("t.pftrace"));
}

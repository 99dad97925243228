// SPDX-License-Identifier: Apache-2.0
//
// The files that let a user look into a run, as regatta-sim writes them for a kernel of ours.
#include <regatta/test/catch.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kanata_check.h"
#include "kernels.h"
#include "process.h"
#include "vcd_check.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;
using test::Size;

namespace {

const std::vector<std::string> files{"p.kanata", "v.vcd", "s.csv", "c.csv", "t.pftrace"};
const std::vector<std::string> look{
    "--pipeline", "p.kanata", "--pipeline-window", "1000:2999", "--vcd",      "v.vcd", "--vcd-window", "1000:2999",
    "--sample",   "500",      "--sample-file",     "s.csv",     "--cpi-ctas", "c.csv", "--timeline",   "t.pftrace"};

class Bench {
 public:
  explicit Bench(const std::string& kernel = "hotspot", Size size = Size::small) {
    std::filesystem::rename(test::annotate_kernel(folder, kernel, size), folder.file("k.rgt"));
  }
  ProcessResult sim(std::vector<std::string> arguments, test::ProcessOptions o = {}) const {
    arguments.insert(arguments.begin(), {REGATTA_SIM, "k.rgt"});
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  void refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const ProcessResult r = sim(arguments);
    CHECK(r.err == "regatta-sim: " + message + "\n");
    CHECK(r.status == 2);
  }
  nlohmann::json stats(const std::string& name) const {
    auto all = nlohmann::json::parse(folder.read(name));
    all.erase("host");
    return all;
  }
  const Folder folder;
};

/// Of a CSV file's column.
std::uint64_t column_sum(const std::string& csv, const std::string& column) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::getline(lines, line);
  std::istringstream header(line);
  std::size_t place = 0;
  while (std::getline(header, cell, ',') && cell != column) ++place;
  REQUIRE(cell == column);
  std::uint64_t sum = 0;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (std::size_t i = 0; i <= place; ++i) std::getline(cells, cell, ',');
    sum += std::stoull(cell);
  }
  return sum;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("recorders: 2,000 cycles of hotspot in the pipeline viewer's format") {
  const Bench bench("hotspot", Size::full);
  REQUIRE(bench.sim(look + std::vector<std::string>{"--stats", "seen.json"}).status == 0);
  const auto p = test::check_kanata(bench.folder.read("p.kanata"));
  REQUIRE(p.error == "");
  REQUIRE(p.first_cycle >= 1000);
  REQUIRE(p.instructions > 500);
  REQUIRE(p.retired == p.instructions);
  for (const char* stage : {"F", "D", "I", "O", "X", "M", "W"}) REQUIRE(p.stages.at(stage) > 50);

  const auto v = test::check_vcd(bench.folder.read("v.vcd"), "clock_generator.clock");
  REQUIRE(v.error == "");
  REQUIRE(v.edges == 2000);
  REQUIRE(v.ones("sm0.scheduler", ".issue_valid") > 500);
  if (test::run_process({"/bin/sh", "-c", "command -v vcd2fst"}).status == 0) {
    test::ProcessOptions o;
    o.directory = bench.folder.path();
    const ProcessResult r = test::run_process({"/bin/sh", "-c", "vcd2fst v.vcd v.fst"}, o);
    CHECK(r.status == 0);
    CHECK(r.err == "");
    CHECK(r.out == "");
    CHECK(bench.folder.has("v.fst"));
  } else {
    WARN("vcd2fst (package gtkwave) is not installed");
  }

  // Looking changes nothing of the results.
  REQUIRE(bench.sim({"--stats", "unseen.json"}).status == 0);
  CHECK(bench.stats("seen.json") == bench.stats("unseen.json"));
}

TEST_CASE("recorders: CTAs that leave and come back, in the pipeline view and in the samples") {
  const Bench bench;
  const std::vector<std::string> scheme{
      "--machine", "finereg", "--scheme",      "finereg",    "--finereg.active_registers",
      "256",       "--stats", "s.json",        "--pipeline", "p.kanata",
      "--sample",  "500",     "--sample-file", "s.csv"};
  REQUIRE(bench.sim(scheme).status == 0);
  const auto pipeline = bench.stats("s.json").at("stats").at("sm0.pipeline");
  const std::uint64_t out = pipeline.at("cta_switches_out");
  REQUIRE(out > 20);
  const auto p = test::check_kanata(bench.folder.read("p.kanata"));
  REQUIRE(p.error == "");
  CHECK(p.stages.at("P") == out);
  CHECK(p.flushed == 0);
  // What the intervals count adds up to the run's.
  const std::string samples = bench.folder.read("s.csv");
  CHECK(column_sum(samples, "sm0.pipeline.cta_switches_out") == out);
  CHECK(column_sum(samples, "sm0.pipeline.cta_switches_in") == pipeline.at("cta_switches_in"));
  REQUIRE(bench.sim(scheme + std::vector<std::string>{"--pipeline-ctas", "3:3"}).status == 0);
  const std::string text = bench.folder.read("p.kanata");
  CHECK(text.find("sm0 CTA 3 pending") != std::string::npos);
  CHECK(text.find("sm0 CTA 4 pending") == std::string::npos);
}

TEST_CASE("recorders: the files are the same whatever the quantum") {
  const Bench bench;
  std::vector<std::string> before;
  for (const char* quantum : {"1", "256"}) {
    REQUIRE(bench.sim(look + std::vector<std::string>{"--quantum", quantum, "--sms", "2"}).status == 0);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string text = bench.folder.read(files[i]);
      if (before.size() == files.size()) {
        CHECK(text == before[i]);
      } else {
        before.push_back(text);
      }
    }
  }
}

TEST_CASE(
    "recorders: cycles by instruction add up under schemes that inject, insert and switch, whatever the quantum") {
  const Bench bench;
  const std::vector<std::vector<std::string>> runs{
      {},
      {"--scheme", "greener", "--machine", "k20x"},
      {"--scheme", "wir", "--machine", "gtx480"},
      {"--machine", "finereg", "--scheme", "finereg", "--finereg.active_registers", "256"}};
  for (const auto& words : runs) {
    CAPTURE(words);
    nlohmann::json before;
    for (const char* quantum : {"1", "256"}) {
      const ProcessResult r =
          bench.sim(words + std::vector<std::string>{"--cpi-lines", "--stats", "s.json", "--quantum", quantum});
      REQUIRE(r.status == 0);
      CHECK_THAT(r.out, Catch::Matchers::Contains("scheduler-cycles by source line"));
      const auto lines = nlohmann::json::parse(bench.folder.read("s.json")).at("cpi_lines");
      const auto launches = nlohmann::json::parse(bench.folder.read("s.json")).at("launches");
      REQUIRE(lines.size() == launches.size());
      for (std::size_t l = 0; l < lines.size(); ++l) {
        // By instruction, and by line: reason by reason the launch's.
        for (const char* by : {"instructions", "lines"}) {
          std::map<std::string, std::uint64_t> sum;
          const auto add = [&](const nlohmann::json& reasons) {
            for (const auto& [reason, cycles] : reasons.items()) sum[reason] += cycles.get<std::uint64_t>();
          };
          for (const auto& entry : lines[l].at(by)) add(entry.at("by_reason"));
          add(lines[l].at("no_instruction"));
          CHECK(sum["issued"] == launches[l].at("issue_cycles"));
          for (const char* reason : {"scoreboard", "memory", "barrier", "idle", "issue_gate", "instruction_fetch"}) {
            CHECK(sum[reason] == launches[l].at("stall_cycles").at(reason));
          }
        }
      }
      if (!before.is_null()) CHECK(lines == before);
      before = lines;
    }
  }
}

TEST_CASE("recorders: a window of CTAs that never ran is remarked on") {
  const Bench bench;
  const ProcessResult r = bench.sim({"--pipeline", "p.kanata", "--pipeline-ctas", "5000:5010"});
  CHECK(r.status == 0);
  CHECK(r.err.find("no instruction of a CTA of --pipeline-ctas was fetched in the window: 'p.kanata' shows none") !=
        std::string::npos);
}

TEST_CASE("recorders: a limit on the size of files is an error as a full disk is") {
  const Bench bench;
  test::ProcessOptions o;
  o.file_bytes = 64 << 10;
  const ProcessResult r = bench.sim({"--vcd", "v.vcd"}, o);
  CHECK(r.status == 2);
  CHECK(r.err.find("File too large") != std::string::npos);
  CHECK_FALSE(bench.folder.has("v.vcd"));
}

TEST_CASE("recorders: an interrupted run leaves whole files") {
  const Bench bench("bfs", Size::full);
  test::ProcessOptions o;
  o.signal = SIGINT;
  o.signal_delay_ms = 200;
  const ProcessResult r = bench.sim({"--pipeline", "p.kanata", "--vcd", "v.vcd", "--sample", "500", "--sample-file",
                                     "s.csv", "--cpi-ctas", "c.csv", "--pipeline-ctas", "0:3", "--vcd-window", ":5000"},
                                    o);
  REQUIRE(r.status == 130);
  CHECK(test::check_kanata(bench.folder.read("p.kanata")).error == "");
  CHECK(test::check_vcd(bench.folder.read("v.vcd"), "clock_generator.clock").error == "");
  for (const char* csv : {"s.csv", "c.csv"}) {
    std::istringstream in(bench.folder.read(csv));
    std::string header;
    std::getline(in, header);
    const auto commas = std::count(header.begin(), header.end(), ',');
    for (std::string line; std::getline(in, line);) CHECK(std::count(line.begin(), line.end(), ',') == commas);
  }
}

TEST_CASE("recorders: waiting for what is due is no deadlock, however long it takes") {
  const Bench bench;
  for (const char* slow : {"--latency.int_add", "--initiation.int_add", "--dram.latency"}) {
    CAPTURE(slow);
    CHECK(bench.sim({slow, "9000", "--sm.watchdog", "1000"}).status == 0);
  }
}

TEST_CASE("recorders: what cannot be is refused before the run") {
  const Bench bench;
  bench.refused({"--vcd", "no/such/folder/v.vcd"}, "cannot write 'no/such/folder/v.vcd': No such file or directory");
  bench.refused({"--vcd-window", "1:2"}, "--vcd-window needs --vcd FILE");
  bench.refused({"--pipeline-ctas", "1:2"}, "--pipeline-ctas needs --pipeline FILE");
  bench.refused({"--sample", "100"}, "--sample needs --sample-file FILE");
  bench.refused({"--sample-file", "s.csv"}, "--sample-file needs --sample N");
  bench.refused({"--vcd", "v.vcd", "--vcd-window", "9:2"},
                "--vcd-window: found '9:2', expected FIRST:LAST, FIRST: or :LAST with FIRST <= LAST, or one number");
  bench.refused({"--replay", "--vcd", "v.vcd"}, "--replay has no time: nothing can be written to 'v.vcd'");
  bench.refused({"--replay", "--working-set", "100"}, "--replay has no time: --working-set has no windows to count in");
  bench.refused({"--replay", "--register-use", "100"},
                "--replay has no schedulers: --register-use has no windows to count in");
  bench.refused({"--replay", "--cpi-lines"}, "--replay has no time: nothing for --cpi-lines");
  bench.refused({"--stats", "no/such/s.json"}, "cannot write 'no/such/s.json': No such file or directory");
  bench.refused({"--vcd", "v.vcd", "--pipeline", "./v.vcd"}, "--vcd and --pipeline name the same file 'v.vcd'");
  bench.refused({"--stats", "k.rgt"}, "--stats and the trace name the same file 'k.rgt'");
  const std::vector<std::string> wear{"--scheme", "rc", "--wear.enabled", "true", "--wear.rows_file", "k.rgt"};
  bench.refused(wear, "--wear.rows_file and the trace name the same file 'k.rgt'");
  bench.refused({"--scheme", "rc", "--wear.enabled", "true", "--wear.rows_file", "a", "--wear.bits_file", "a"},
                "--wear.rows_file and --wear.bits_file name the same file 'a'");
  // What a file is based on is read as well; a preset is no file, whatever lies beside it.
  bench.folder.write("base.toml", "[machine]\nbase = \"gtx980\"\n");
  bench.folder.write("m.toml", "[machine]\nbase = \"./base.toml\"\n");
  bench.refused({"--machine", "m.toml", "--stats", "base.toml"},
                "--stats and --machine name the same file 'base.toml'");
  bench.folder.write("e.toml", "base = \"maxwell28\"\nname = \"mine\"\n");
  bench.folder.write("f.toml", "base = \"./e.toml\"\nname = \"yours\"\n");
  bench.refused({"--energy", "f.toml", "--vcd", "e.toml"}, "--vcd and the energy table name the same file 'e.toml'");
  CHECK(bench.sim({"--machine", "gtx980", "--stats", "gtx980"}).status == 0);
  bench.refused({"--machine", ""}, "--machine: found no name, expected a machine");
  bench.refused({"--machine.base", "gtx480"},
                "machine.base = 'gtx480' is read in a machine's own file only; use --machine gtx480");
  bench.refused(
      {"--energy.register_file_read", "1e308"},
      "configuration: energy.register_file_read must lie between 0 and 1e+12, or be -1 for the table's value, "
      "found 1e+308");
  CHECK_FALSE(bench.folder.has("v.vcd"));
  CHECK(bench.sim({}).status == 0);  // the trace is whole
}

TEST_CASE("recorders: a disk that fills up ends the run, and says so") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Bench bench;
  const std::string message = "cannot write '/dev/full': No space left on device";
  bench.refused({"--vcd", "/dev/full"}, message);
  bench.refused({"--pipeline", "/dev/full"}, message);
  bench.refused({"--sample", "10", "--sample-file", "/dev/full"}, message);
  bench.refused({"--cpi-ctas", "/dev/full"}, message);
  bench.refused({"--stats", "/dev/full"}, message);
  // The SMs that still run when the first one has given up; and nothing of the run has its final name.
  bench.refused({"--sms", "3", "--vcd", "/dev/full", "--pipeline", "p.kanata"}, message);
  CHECK_FALSE(bench.folder.has("p.kanata"));
}

TEST_CASE("recorders: who reads the summary may leave, or be full") {
  const Bench bench;
  const auto shell = [&](const std::string& line) {
    test::ProcessOptions o;
    o.directory = bench.folder.path();
    return test::run_process({"/bin/sh", "-c", line}, o);
  };
  const std::string run = std::string(REGATTA_SIM) + " k.rgt --describe-stats --stats s.json ";
  // The status of a pipe is that of its end; the run's own stands in a file.
  REQUIRE(shell("{ " + run + "; echo $? > status; } | :").status == 0);
  const std::string status = bench.folder.read("status");
  CHECK((status == "0\n" || status == "141\n"));  // it may have had the time to write all
  CHECK(bench.stats("s.json").at("ending") == "completed");
  for (const auto& entry : std::filesystem::directory_iterator(bench.folder.path()))
    CHECK(entry.path().string().find(".partial") == std::string::npos);
  if (!std::filesystem::exists("/dev/full")) return;
  const ProcessResult full = shell(run + "> /dev/full");
  CHECK(full.status == 2);
  CHECK(full.err == "regatta-sim: the summary cannot be written to standard output\n");
}

TEST_CASE("recorders: rows of a sample count what came in their interval, and add up") {
  const Bench bench;
  REQUIRE(bench.sim({"--sms", "2", "--sample", "37", "--sample-file", "s.csv", "--stats", "s.json"}).status == 0);
  std::istringstream in(bench.folder.read("s.csv"));
  std::string header;
  std::getline(in, header);
  std::vector<std::uint64_t> sums;
  for (std::string line; std::getline(in, line);) {
    std::istringstream cells(line);
    std::size_t column = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++column) {
      if (sums.size() <= column) sums.push_back(0);
      const std::uint64_t value = std::stoull(cell);
      CHECK(value < std::uint64_t{1} << 60);  // none counts backwards
      sums[column] += value;
    }
  }
  const auto stats = bench.stats("s.json").at("stats");
  std::istringstream names(header);
  std::size_t column = 0, dram = 0;
  for (std::string name; std::getline(names, name, ','); ++column) {
    if (name.rfind("memory.dram_", 0) != 0 || name.find("queue_entry_cycles") == std::string::npos) continue;
    ++dram;
    CHECK(sums.at(column) == stats.at(name.substr(0, name.rfind('.'))).at("queue_entry_cycles").get<std::uint64_t>());
  }
  CHECK(dram == 4);
}

TEST_CASE("recorders: a window that the run does not reach is remarked on") {
  const Bench bench;
  const ProcessResult r = bench.sim({"--vcd", "v.vcd", "--vcd-window", "100000000:"});
  REQUIRE(r.status == 0);
  CHECK(r.err.find("--vcd-window begins in cycle 100000000, the run ended in cycle ") != std::string::npos);
  CHECK(test::check_vcd(bench.folder.read("v.vcd"), "clock_generator.clock").error == "");
}

TEST_CASE("recorders: a dump misses no write and no answer, however many come at once") {
  const Bench bench("vector_add");
  for (const char* width : {"1", "6"}) {
    CAPTURE(width);
    REQUIRE(bench.sim({"--vcd", "v.vcd", "--stats", "s.json", "--writeback.width", width}).status == 0);
    const auto v = test::check_vcd(bench.folder.read("v.vcd"), "clock_generator.clock");
    REQUIRE(v.error == "");
    const auto stats = bench.stats("s.json").at("stats");
    CHECK(v.ones("sm0.operands.write", "_valid") == stats.at("sm0.register_file").at("writes").get<std::uint64_t>());
    CHECK(v.sum("sm0.memory.response_count") == v.ones("sm0.memory.request_valid", ""));
    CHECK(v.ones("sm0.memory.response_valid", "") <= v.sum("sm0.memory.response_count"));
  }
}

TEST_CASE("recorders: recorders under another scheme") {
  const Bench bench("vector_add");
  REQUIRE(bench.sim({"--scheme", "regless", "--vcd", "v.vcd", "--stats", "s.json"}).status == 0);
  const auto v = test::check_vcd(bench.folder.read("v.vcd"), "clock_generator.clock");
  REQUIRE(v.error == "");
  const auto stats = bench.stats("s.json").at("stats");
  // Every bank of every shard has a signal of its own.
  CHECK(v.ones("sm0.operands.read_bank", "_valid") == stats.at("regless").at("osu.reads").get<double>());
  CHECK(v.ones("sm0.operands.write", "_valid") == stats.at("regless").at("osu.writes").get<double>());
  CHECK(v.ones("sm0.memory.request_valid", "") == stats.at("sm0.l1_arbiter").at("port0_requests").get<std::uint64_t>());
}

TEST_CASE("recorders: cycles per instruction and energy as tables") {
  const Bench bench;
  const ProcessResult r = bench.sim({"--cpi", "--energy-table"});
  REQUIRE(r.status == 0);
  for (const char* part :
       {"cycles per warp instruction", "instruction_fetch", "structural, lsu", "energy table maxwell28",
        "register_structures", "register_file.read", "basis of the numbers", "assumed"}) {
    CAPTURE(part);
    CHECK(r.out.find(part) != std::string::npos);
  }
}

TEST_CASE("recorders: energy in the statistics file") {
  const Bench bench;
  REQUIRE(bench.sim({"--stats", "s.json", "--energy", "fermi40", "--energy.dram_read", "1000"}).status == 0);
  const auto energy = bench.stats("s.json").at("energy");
  CHECK(energy.at("table") == "fermi40");
  double events = 0, structures = 0, bases = 0;
  for (const auto& e : energy.at("by_event")) {
    events += e.at("nj").get<double>();
    if (e.at("event") == "dram.read") {
      CHECK(e.at("pj") == 1000.0);
      CHECK(e.at("basis") == "given");
    }
    // 256 KB in 16 banks against the table's 128 KB in 8.
    if (e.at("event") == "register_file.read") {
      CHECK(e.at("scaling") == "capacity x2, bank size kept: exponent 0.68");
      CHECK(e.at("module") == "register_file");
    }
  }
  for (const auto& s : energy.at("by_structure")) structures += s.get<double>();
  for (const auto& b : energy.at("by_basis")) bases += b.get<double>();
  const double total = energy.at("total_nj");
  CHECK(total == Approx(events));
  CHECK(total == Approx(structures));
  CHECK(total == Approx(bases));
  CHECK(total == Approx(energy.at("dynamic_nj").get<double>() + energy.at("static_nj").get<double>()));
  bench.refused({"--energy", "fermi41"},
                "configuration: energy.table: unknown table 'fermi41'; did you mean 'fermi40'? Known: fermi40, "
                "kepler28, maxwell28, or "
                "the path of a .toml file");
}

// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim as a user calls it: what it says and with which status it ends.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels.h"
#include "process.h"
#include "scheme_names.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;
using test::Size;

namespace {

/// A folder with a trace, "k.rgt", and the program run in it.
class Bench {
 public:
  explicit Bench(const std::string& kernel = "hotspot", Size size = Size::small) {
    std::filesystem::rename(test::annotate_kernel(folder, kernel, size), folder.file("k.rgt"));
  }
  ProcessResult sim(std::vector<std::string> arguments, test::ProcessOptions o = {}) const {
    arguments.insert(arguments.begin(), program);
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  /// The program must refuse, with this message and nothing else.
  void refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const ProcessResult r = sim(arguments);
    CHECK(r.err == "regatta-sim: " + message + "\n");
    CHECK(r.out.empty());
    CHECK(r.status == 2);
  }
  const Folder folder;
  std::string program = REGATTA_SIM;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("regatta-sim: a run prints its tables on standard output and nothing on standard error") {
  const Bench bench;
  const ProcessResult r = bench.sim({"k.rgt"});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  for (const char* part : {"k.rgt on gtx980, scheme baseline\n", "hotspot", "total", "issued", "mismatches: 0\n",
                           "operands checked: ", "warp instructions/s\n"}) {
    CAPTURE(part);
    CHECK(contains(r.out, part));
  }
}

TEST_CASE("regatta-sim: switches") {
  const Bench bench;
  ProcessResult r = bench.sim({"k.rgt", "--no-check", "--stats", "s.json"});
  CHECK(r.status == 0);
  CHECK(contains(r.out, "operands not checked (--no-check)\n"));
  auto stats = nlohmann::json::parse(bench.folder.read("s.json"));
  CHECK(stats.at("checks").at("operands_checked") == 0);
  const auto cycles = stats.at("cycles").get<std::uint64_t>();
  const auto instructions = stats.at("warp_instructions").get<std::uint64_t>();

  r = bench.sim({"k.rgt", "--check-protocol", "--stats", "s.json"});
  CHECK(r.status == 0);
  stats = nlohmann::json::parse(bench.folder.read("s.json"));
  CHECK(stats.at("cycles") == cycles);  // checks watch, they do not take part
  CHECK(stats.at("checks").at("operands_checked") > 0);

  r = bench.sim({"k.rgt", "--replay", "--stats", "s.json"});
  CHECK(r.status == 0);
  CHECK(contains(r.out, "k.rgt, replayed\n"));
  stats = nlohmann::json::parse(bench.folder.read("s.json"));
  CHECK(stats.at("replay") == true);
  CHECK(stats.at("warp_instructions") == instructions);

  r = bench.sim({"--version"});
  CHECK(r.status == 0);
  CHECK(contains(r.out, "regatta-sim "));
  r = bench.sim({"--help"});
  CHECK(r.status == 0);
  CHECK(contains(r.out, "--scheduler"));
}

TEST_CASE("regatta-sim: how far the SMs run ahead of SystemC's time changes nothing but the time a run takes") {
  const Bench bench;
  auto stats = [&](const std::string& quantum, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"k.rgt", "--stats", "s.json", "--quantum", quantum});
    const ProcessResult r = bench.sim(arguments);
    INFO(r.err);
    REQUIRE(r.status == 0);
    auto document = nlohmann::json::parse(bench.folder.read("s.json"));
    REQUIRE(document.at("cycles") > 1000);
    document.erase("host");
    return document;
  };
  const std::vector<std::vector<std::string>> machines{
      {}, {"--sms", "3"}, {"--register_file.banks", "1", "--register_file.write_queue", "1"},  // writes wait for room
  };
  for (const std::vector<std::string>& machine : machines) {
    const auto exact = stats("1", machine);
    for (const char* quantum : {"2", "7", "256", "100000"}) {
      CAPTURE(quantum);
      CHECK(stats(quantum, machine) == exact);
    }
  }
}

TEST_CASE("regatta-sim: a knob on the command line, in a file and its short form end in the same place") {
  const Bench bench;
  auto config = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"k.rgt", "--stats", "s.json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProcessResult r = bench.sim(all);
    INFO(r.err);
    REQUIRE(r.status == 0);
    return nlohmann::json::parse(bench.folder.read("s.json")).at("config");
  };
  CHECK(config({}).at("register_file.banks") == 16);
  CHECK(config({"--register_file.banks", "4"}).at("register_file.banks") == 4);
  bench.folder.write("c.toml", "[register_file]\nbanks = 8\n[sm]\nscheduler = \"lrr\"\n");
  CHECK(config({"--config", "c.toml"}).at("register_file.banks") == 8);
  CHECK(config({"--config", "c.toml"}).at("sm.scheduler") == "lrr");
  // The command line has the last word.
  CHECK(config({"--config", "c.toml", "--register_file.banks", "2"}).at("register_file.banks") == 2);
  CHECK(config({"--config", "c.toml", "--scheduler", "gto"}).at("sm.scheduler") == "gto");
}

TEST_CASE("regatta-sim: unknown names are refused with the nearest known one") {
  const Bench bench;
  bench.refused({"k.rgt", "--schemer", "x"}, "command line: unknown option '--schemer'; did you mean '--scheme'?");
  bench.refused({"k.rgt", "--register_file.bank", "8"},
                "command line: unknown option '--register_file.bank'; did you mean '--register_file.banks'?");
  bench.refused({"k.rgt", "--zzzzzzzzzzz", "8"},
                "command line: unknown option '--zzzzzzzzzzz'; regatta list knobs PATTERN finds one");
  // What begins with the text comes before what is near to it.
  bench.refused({"k.rgt", "--l1.size", "8"},
                "command line: unknown option '--l1.size'; did you mean '--l1.size_bytes'?");
  bench.refused({"k.rgt", "--sm", "8"},
                "command line: unknown option '--sm'; did you mean '--sms', '--sm.ctas' or '--sm.warps'?");
  bench.refused({"k.rgt", "--osu.e", "8"},
                "command line: unknown option '--osu.e'; did you mean 'osu.entries' (under --scheme regless)?");
  // Knobs of other schemes and of the energy table, with and without their module.
  bench.refused({"k.rgt", "--osu.entires", "8"},
                "command line: unknown option '--osu.entires'; did you mean 'osu.entries' (under --scheme regless)?");
  bench.refused({"k.rgt", "--vsb_entries", "8"},
                "command line: unknown option '--vsb_entries'; did you mean 'vsb.entries' (under --scheme wir)?");
  bench.refused({"k.rgt", "--energy.l1.raed", "8"},
                "command line: unknown option '--energy.l1.raed'; did you mean '--energy.l1_read'?");
  bench.refused({"k.rgt", "--energy", "maxwel28"},
                "configuration: energy.table: unknown table 'maxwel28'; did you mean 'maxwell28'? Known: fermi40, "
                "kepler28, maxwell28, or the path of a .toml file");
  bench.refused({"k.rgt", "--machine", "gtx98"},
                "--machine: unknown machine 'gtx98'; did you mean 'gtx980'? Known: fermi_sharing, fermi_sharing_ch3, "
                "finereg, finereg_um, gtx480, gtx980, h100, hd7770, k20x, regless, rtx_2080ti, rtx_a6000, or the path "
                "of a .toml file");
  bench.refused({"k.rgt", "--scheme", "baselin"},
                "--scheme: unknown scheme 'baselin'; did you mean 'baseline'? Known: " + test::scheme_names());
  bench.refused(
      {"k.rgt", "--scheduler", "gtoo"},
      "--scheduler: sm.scheduler: expected one of gto, lrr, two_level, owf, cggty, found 'gtoo'; did you mean 'gto'?");
}

TEST_CASE("regatta-sim: --list prints schemes, machines, schedulers and energy tables") {
  Bench bench;
  const auto listed = [&](const std::string& what) {
    const ProcessResult r = bench.sim({"--list", what, "--json"});
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    const ProcessResult table = bench.sim({"--list", what});
    CHECK(table.status == 0);
    const auto entries = nlohmann::json::parse(r.out);
    std::istringstream lines(table.out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 118);
    for (const auto& one : entries) {
      CHECK(contains("\n" + table.out, "\n" + one.at("name").get<std::string>() + " "));
      CHECK(!one.at("help").get<std::string>().empty());
    }
    return entries;
  };
  const auto schemes = listed("schemes");
  std::string names;
  for (const auto& one : schemes) names += (names.empty() ? "" : ", ") + one.at("name").get<std::string>();
  CHECK(names == test::scheme_names());
  CHECK(schemes.at(0).at("published").is_null());
  for (const auto& one : schemes) {
    if (one.at("name") != "rfh") continue;
    CHECK(one.at("published").at("machine") == "gtx980");
    CHECK(one.at("published").at("knobs").at("sm.scheduler") == "two_level");
    // A trace without options has its annotation.
    CHECK(one.at("help") ==
          "register hierarchy managed at compile time (MICRO 2011): results live in a last-result file or an operand "
          "register file of 3 entries (regatta-annotate --rfh N: of N); the paper's scheduler is two_level");
  }
  const auto machines = listed("machines");
  CHECK(machines.size() == 12);
  for (const auto& one : machines) {
    if (one.at("name") != "finereg_um") continue;  // values of its base, and its own
    CHECK(one.at("sms") == 16);
    CHECK(one.at("schedulers") == 4);
    CHECK(one.at("warp_registers") == 3072);
    CHECK(one.at("shared_bytes") == 262144);
    CHECK(one.at("l1_bytes") == 262144);
  }
  CHECK(listed("schedulers").size() == 5);
  CHECK(listed("energy").size() == 3);

  bench.refused({"--list", "scheme"},
                "command line: --list: expected one of schemes, machines, schedulers, energy, knobs, statistics, found "
                "'scheme'; did you mean 'schemes'?");
  bench.refused({"k.rgt", "--json"}, "--json needs --list WHAT");
  bench.refused({"--list", "schemes", "--stats", "s.json"}, "--list runs nothing: nothing can be written to 's.json'");

  // Knobs: of all schemes, or of one; by a part of the name or of the help.
  const auto text = [&](std::vector<std::string> words) {
    const ProcessResult r = bench.sim(words);
    CHECK(r.status == 0);
    return r.out;
  };
  CHECK(text({"--list", "knobs", "--match", "L1.SIZE"}) ==
        "knob           value  range             unit   scheme  what it is\n"
        "-----------------------------------------------------------------------------\n"
        "l1.size_bytes  49152  32 to 1073741824  bytes  -       capacity of an SM's L1\n");
  CHECK(contains(text({"--list", "knobs", "--match", "osu.entries"}),
                 "osu.entries  512    1 to 65536  warp registers  regless  warp registers in the operand staging"));
  CHECK(contains(text({"--list", "knobs", "--match", "capacity of an SM's l1"}), "\nl1.size_bytes "));
  const std::string of_wir = text({"--list", "knobs", "--scheme", "wir", "--l1.ways", "2"});
  CHECK(contains(of_wir, "\nvsb.entries "));
  CHECK(!contains(of_wir, "\nosu.entries "));
  const auto knobs = nlohmann::json::parse(text({"--list", "knobs", "--match", "gated.windows", "--json"}));
  CHECK(knobs.size() == 1);
  CHECK(knobs.at(0).at("schemes").size() > 1);
  CHECK(knobs.at(0).at("schemes").at(0) == "always_on");
  CHECK(contains(text({"--list", "statistics", "--match", "memory.l2_*.reads"}), "\nmemory.l2_*.reads "));
  CHECK(contains(text({"--list", "statistics", "--scheme", "regless"}), "osu"));
  bench.refused({"--list", "knobs", "--match", "qqqq"},
                "--match: found 'qqqq', expected a part of the name or of the help of one of the knobs");
  bench.refused({"--list", "schemes", "--match", "x"}, "--match needs --list knobs or --list statistics");

  // A program with schemes of its own lists them too.
  bench.program = REGATTA_FORGETFUL_SIM;
  const ProcessResult r = bench.sim({"--list", "schemes"});
  CHECK(r.status == 0);
  for (const char* scheme : {"\nbaseline ", "\nforgetful ", "\ncredulous "}) CHECK(contains(r.out, scheme));
}

TEST_CASE("regatta-sim: values that do not fit are refused") {
  const Bench bench;
  bench.refused({},
                "command line: TRACE is missing: annotated trace (.rgt) written by regatta-annotate (--help shows "
                "the usage)");
  bench.refused({"k.rgt", "more.rgt"}, "command line: unexpected argument 'more.rgt'");
  bench.refused({"k.rgt", "--sms", "x"}, "command line: --sms: expected an integer from 1 to 1024, found 'x'");
  bench.refused({"k.rgt", "--register_file.banks", "0"},
                "command line: register_file.banks: expected an integer from 1 to 1024 (banks), found 0");
  bench.refused({"k.rgt", "--config", "none.toml"}, "cannot read 'none.toml': No such file or directory");
  bench.refused({"k.rgt", "--stats", "none/s.json"}, "cannot write 'none/s.json': No such file or directory");
  bench.refused({"k.rgt", "--scheduler", "lrr", "--sm.scheduler", "gto"},
                "--scheduler and --sm.scheduler set the same knob: expected one");
  bench.refused({"k.rgt", "--energy.table", "fermi40", "--energy", "fermi40"},
                "--energy and --energy.table set the same knob: expected one");
  bench.refused({"k.rgt", "--replay", "--scheme", "always_on", "--wear.rows_file", "r.csv"},
                "--replay has no time: nothing can be written to 'r.csv'");
}

TEST_CASE("regatta-sim: a bad configuration file is refused with its line and column") {
  const Bench bench;
  bench.folder.write("key.toml", "[l1]\nways = 4\nmshr = 3\n");
  bench.refused({"k.rgt", "--config", "key.toml"}, "key.toml:3:1: unknown option 'l1.mshr'; did you mean 'l1.mshrs'?");
  bench.folder.write("type.toml", "# a comment\n[l1]\nways = \"x\"\n");
  bench.refused({"k.rgt", "--config", "type.toml"},
                "type.toml:3:8: l1.ways: expected an integer from 1 to 65536 (ways), found 'x'");
  bench.folder.write("scalar.toml", "l1 = 3\n");
  bench.refused({"k.rgt", "--config", "scalar.toml"},
                "scalar.toml:1:6: l1: found 3, expected a table of options: [l1]");
  bench.folder.write("list.toml", "[[l1]]\nways = 4\n");
  bench.refused({"k.rgt", "--config", "list.toml"},
                "list.toml:1:1: l1: found an array, expected a table of options: [l1]");
  bench.folder.write("syntax.toml", "[l1\nways = 4\n");
  const ProcessResult r = bench.sim({"k.rgt", "--config", "syntax.toml"});
  CHECK(r.status == 2);
  CHECK(r.err.rfind("regatta-sim: syntax.toml:1:4: not valid TOML: ", 0) == 0);
}

TEST_CASE("regatta-sim: a trace that is missing, cut or something else is refused") {
  const Bench bench;
  bench.refused({"none.rgt"}, "none.rgt: cannot be opened: No such file or directory");
  const std::string whole = bench.folder.read("k.rgt");
  const std::string half = whole.substr(0, whole.size() / 2);
  bench.folder.write("half.rgt", half);
  bench.refused({"half.rgt"}, "half.rgt: byte " + std::to_string(half.size() - 24) +
                                  ": trailer: the end mark is missing: the file is truncated or was not finished");
  bench.folder.write("start.rgt", whole.substr(0, 10));
  bench.refused({"start.rgt"}, "start.rgt: the file is truncated: it ends after 10 bytes");
  bench.folder.write("text.rgt", std::string(1000, 'x'));
  CHECK(bench.sim({"text.rgt"}).status == 2);
}

TEST_CASE("regatta-sim: a trace that turns out corrupted in the middle of a run is refused") {
  const Bench bench;
  std::string flipped = bench.folder.read("k.rgt");
  const std::size_t at = flipped.size() / 3;
  flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
  bench.folder.write("flipped.rgt", flipped);
  for (const char* mode : {"--check-protocol", "--replay"}) {
    CAPTURE(mode);
    const ProcessResult r = bench.sim({"flipped.rgt", mode});
    CHECK(r.status == 2);
    CHECK(r.err.rfind("regatta-sim: flipped.rgt: byte ", 0) == 0);
    CHECK(contains(r.err, "checksum"));
  }
}

TEST_CASE("regatta-sim: a kernel that does not fit on the machine is refused") {
  const Bench bench;
  const ProcessResult r = bench.sim({"k.rgt", "--sm.threads", "100"});
  CHECK(r.status == 2);
  CHECK(r.err.rfind("regatta-sim: kernel hotspot: not one CTA fits on this machine, bound by threads (a CTA has 8 "
                    "warps of ",
                    0) == 0);
}

TEST_CASE("regatta-sim: a lost value ends the run with status 3 and says where") {
  Bench bench;
  bench.program = REGATTA_FORGETFUL_SIM;
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "forgetful", "--stats", "s.json"});
  CHECK(r.status == 3);
  for (const char* part : {"value mismatch: kernel hotspot launch 0 CTA ", " warp ", " PC 0x", " register R",
                           " lanes 0x", " expected 0x", " got 0x", " from bank ", " at cycle "}) {
    CAPTURE(part, r.err);
    CHECK(contains(r.err, part));
  }
  const auto stats = nlohmann::json::parse(bench.folder.read("s.json"));
  // No load was reused: a race is no explanation.
  CHECK_FALSE(contains(r.err, "race"));
  CHECK(stats.at("ending") == "value_mismatch");
  CHECK(stats.at("partial") == true);
  CHECK(stats.at("checks").at("mismatches") > 0);
  // Unchecked, nobody sees it.
  CHECK(bench.sim({"k.rgt", "--scheme", "forgetful", "--no-check"}).status == 0);
}

TEST_CASE("regatta-sim: of a reused load's wrong value it says whether a race may be the reason") {
  Bench bench("hotspot", Size::small);
  bench.program = REGATTA_FORGETFUL_SIM;
  const ProcessResult unchecked = bench.sim({"k.rgt", "--scheme", "credulous"});
  INFO(unchecked.err);
  CHECK(unchecked.status == 3);
  CHECK(contains(unchecked.err, " from reuse point sm0.credulous at cycle "));
  CHECK(contains(unchecked.err,
                 "the value was reused from another load, and this program may race; annotate with "
                 "--check-races"));
  const ProcessResult annotated =
      test::run_process({REGATTA_ANNOTATE, "--launch", test::launch_path("hotspot", Size::small), "--check-races",
                         "--out", bench.folder.file("checked.rgt")});
  REQUIRE(annotated.status == 0);
  const ProcessResult checked = bench.sim({"checked.rgt", "--scheme", "credulous"});
  INFO(checked.err);
  CHECK(checked.status == 3);
  CHECK(contains(checked.err,
                 "the value was reused from another load; the program was checked for data races and has "
                 "none"));
  CHECK_FALSE(contains(checked.err, "may race"));
  CHECK(bench.sim({"checked.rgt", "--scheme", "baseline"}).status == 0);
}

TEST_CASE("regatta-sim: an interrupt leaves partial statistics marked as such") {
  const Bench bench("bfs", Size::full);
  std::uint64_t whole = 0;
  const trace::Reader trace(bench.folder.file("k.rgt"));
  for (const auto& launch : trace.launches()) whole += launch.warp_instructions;
  test::ProcessOptions o;
  o.signal = SIGINT;
  for (const bool replay : {false, true}) {
    CAPTURE(replay);
    std::vector<std::string> arguments{"k.rgt", "--stats", "s.json"};
    if (replay) arguments.emplace_back("--replay");
    // A replay takes a third of a second, and a busy host may hold this process up for as long: what was over before
    // the signal came shows nothing of interrupts.
    o.signal_delay_ms = replay ? 10 : 100;
    ProcessResult r = bench.sim(arguments, o);
    for (int again = 0; again < 5 && r.status == 0; ++again) {
      o.signal_delay_ms = 0;
      r = bench.sim(arguments, o);
    }
    CHECK(r.status == 130);
    CHECK(r.signal == 0);
    CHECK(contains(r.err, "interrupted"));
    CHECK(contains(r.err, "partial"));
    CHECK(contains(r.out, "total"));
    const auto stats = nlohmann::json::parse(bench.folder.read("s.json"));
    CHECK(stats.at("ending") == "interrupted");
    CHECK(stats.at("partial") == true);
    CHECK(stats.at("warp_instructions").get<std::uint64_t>() < whole);
    CHECK(stats.at("checks").at("mismatches") == 0);
  }
}

TEST_CASE("regatta-sim: names that are not UTF-8 are replaced in the statistics, and empty ones refused") {
  const Bench bench;
  bench.folder.write("b\xff.rgt", bench.folder.read("k.rgt"));
  REQUIRE(bench.sim({"b\xff.rgt", "--stats", "s.json"}).status == 0);
  CHECK(nlohmann::json::parse(bench.folder.read("s.json")).at("ending") == "completed");
  bench.refused({"k.rgt", "--stats", ""}, "--stats: found an empty text, expected the name of a file");
  bench.refused({"k.rgt", "--pipeline", "p.kanata", "--pipeline-ctas", ""},
                "--pipeline-ctas: found an empty text, expected FIRST:LAST, FIRST:, :LAST or one number");
  bench.refused({"k.rgt", "--replay", "--cpi"}, "--replay has no time: nothing for --cpi");
}

TEST_CASE("regatta-sim: help shows what holds on the machine") {
  const Bench bench;
  const auto page = [&](const char* machine) { return bench.sim({"--machine", machine, "--help-module", "sm"}).out; };
  CHECK(contains(page("gtx980"), "default 4, of the machine"));
  CHECK(page("gtx980") != page("gtx480"));
}

TEST_CASE("regatta-sim: the wear of an interrupted run is that of the cycles it had") {
  const Bench bench("bfs", Size::full);
  test::ProcessOptions o;
  o.signal = SIGINT;
  o.signal_delay_ms = 150;
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "rc_rar", "--machine", "gtx980", "--wear.enabled", "true",
                                     "--wear.rows_file", "r.csv", "--stats", "s.json"},
                                    o);
  REQUIRE(r.status == 130);
  const auto aging = nlohmann::json::parse(bench.folder.read("s.json")).at("stats").at("aging");
  for (const char* share : {"zero.longest", "zero.mean", "one.longest", "one.mean", "off.mean"}) {
    CAPTURE(share);
    const double value = aging.at(std::string("duty.") + share).get<double>();
    CHECK(value >= 0);
    CHECK(value <= 1);
  }
  CHECK(aging.at("duty.zero.mean").get<double>() + aging.at("duty.one.mean").get<double>() +
            aging.at("duty.off.mean").get<double>() ==
        Approx(1));
  CHECK(aging.at("vth.t0").is_number());
  std::istringstream rows(bench.folder.read("r.csv"));
  std::string line;
  std::getline(rows, line);
  std::size_t count = 0;
  for (; std::getline(rows, line); ++count) {
    std::istringstream cells(line);
    std::string cell;
    for (unsigned column = 0; std::getline(cells, cell, ','); ++column) {
      if (column < 3) continue;
      CHECK(std::stod(cell) >= 0);
      CHECK(std::stod(cell) <= 1);
    }
  }
  CHECK(count != 0);
}

TEST_CASE("regatta-sim: memory that is slow beyond reason is no deadlock") {
  const Bench bench("needleman_wunsch");
  const ProcessResult r = bench.sim({"k.rgt", "--dram.bandwidth", "1"});
  CHECK(r.err.empty());
  CHECK(r.status == 0);
}

TEST_CASE("regatta-sim: a launch spreads over the SMs") {
  const Bench bench;  // 48 CTAs, of which one SM holds 8
  for (const unsigned sms : {2u, 3u, 4u}) {
    CAPTURE(sms);
    REQUIRE(bench.sim({"k.rgt", "--sms", std::to_string(sms), "--stats", "s.json"}).status == 0);
    const auto stats = nlohmann::json::parse(bench.folder.read("s.json")).at("stats");
    std::uint64_t ctas = 0;
    for (unsigned i = 0; i < sms; ++i) {
      const auto own = stats.at("sm" + std::to_string(i) + ".pipeline").at("ctas").get<std::uint64_t>();
      CHECK(own >= 48 / sms - 1);
      CHECK(own <= 48 / sms + 1);
      ctas += own;
    }
    CHECK(ctas == 48);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/command_line.h>
#include <regatta/test/catch.h>

#include "sample_config.h"
#include "thrown.h"

using namespace regatta::support;

namespace {
struct Tool {
  SampleConfig config;
  OptionSet knobs;
  std::string machine = "gtx980";
  std::string trace;
  std::string second;
  unsigned sms = 1;
  bool check = true;
  std::vector<std::string> files;
  CommandLine line{"regatta-sim", "0.1.0", "Replays an annotated trace."};

  Tool() {
    config.declare(knobs);
    line.positional("TRACE", trace, "annotated trace (.rgt)");
    line.positional("OTHER", second, "another", false);
    line.option("machine", machine, "NAME", "machine preset", {"gtx480", "gtx980"});
    line.option("sms", sms, "N", "SMs simulated", 1, 16);
    line.flag("no-check", check, "do not compare operands", false);
    line.list("config", files, "FILE", "configuration");
  }
  bool parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "regatta-sim");
    if (!line.parse(static_cast<int>(arguments.size()), arguments.data(), knobs)) return false;
    line.apply(knobs);
    return true;
  }
  void prescan(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "regatta-sim");
    line.prescan(static_cast<int>(arguments.size()), arguments.data());
  }
  std::string refusal(const std::vector<const char*>& arguments) {
    return thrown([&] { parse(arguments); });
  }
};
}  // namespace

TEST_CASE("tool options, knobs and arguments in any order") {
  Tool t;
  CHECK(t.parse({"--l1.mshrs", "8", "k.rgt", "--machine=gtx480", "--no-check", "--sms", "4", "--energy.scale", "-2.5",
                 "--config", "a.toml", "--config", "b.toml", "--l1.write_back=true"}));
  CHECK(t.trace == "k.rgt");
  CHECK(t.machine == "gtx480");
  CHECK(t.sms == 4);
  CHECK_FALSE(t.check);
  CHECK(t.files == std::vector<std::string>{"a.toml", "b.toml"});
  CHECK(t.config.mshrs == 8);
  CHECK(t.config.scale == -2.5);
  CHECK(t.config.write_back);
  CHECK(t.knobs.find("l1.mshrs")->origin == "command line");
  CHECK(t.line.given("machine"));
  CHECK_FALSE(t.line.given("l1.mshrs"));
}

TEST_CASE("knobs stay as they are until applied") {
  Tool t;
  const char* arguments[] = {"regatta-sim", "k.rgt", "--l1.mshrs", "8"};
  CHECK(t.line.parse(4, arguments, t.knobs));
  CHECK(t.config.mshrs == 32);
  t.knobs.load_toml("[l1]\nmshrs = 9", "f", "file");
  t.line.apply(t.knobs);
  CHECK(t.config.mshrs == 8);
}

TEST_CASE("a prescan takes the tool's options and minds nothing else") {
  Tool t;
  t.prescan({"--future.knob", "3", "--machine", "gtx480", "--config", "a.toml", "-x"});
  CHECK(t.machine == "gtx480");
  CHECK(t.trace.empty());
  CHECK(t.parse({"--machine", "gtx480", "--config", "b.toml", "k.rgt"}));
  CHECK(t.files == std::vector<std::string>{"b.toml"});
}

TEST_CASE("bad command lines are refused by name") {
  Tool t;
  CHECK(t.refusal({"k.rgt", "--l1.mshr", "3"}) ==
        "command line: unknown option '--l1.mshr'; did you mean '--l1.mshrs'?");
  CHECK(t.refusal({"k.rgt", "--machin=gtx480"}) ==
        "command line: unknown option '--machin'; did you mean '--machine'?");
  CHECK(t.refusal({"k.rgt", "--mach", "gtx480"}) == "command line: unknown option '--mach'; did you mean '--machine'?");
  CHECK(t.refusal({"k.rgt", "--mshrs", "3"}) == "command line: unknown option '--mshrs'; did you mean '--l1.mshrs'?");
  CHECK(t.refusal({"k.rgt", "--zzzzzzzz"}) == "command line: unknown option '--zzzzzzzz'");
  t.line.finder("a list finds one");
  CHECK(t.refusal({"k.rgt", "--zzzzzzzz"}) == "command line: unknown option '--zzzzzzzz'; a list finds one");
  CHECK(t.refusal({"k.rgt", "-x"}) == "command line: unknown option '-x' (options are written --name)");
  CHECK(t.refusal({"k.rgt", "--machine"}) == "command line: option '--machine' needs a value");
  CHECK(t.refusal({"k.rgt", "--no-check=1"}) == "command line: option '--no-check' takes no value");
  CHECK(t.refusal({"k.rgt", "--sms", "1", "--sms", "2"}) == "command line: option '--sms' is given twice");
  CHECK(t.refusal({"k.rgt", "--l1.mshrs", "1", "--l1.mshrs", "2"}) ==
        "command line: option '--l1.mshrs' is given twice");
  CHECK(t.refusal({"k.rgt", "--sms", "17"}) == "command line: --sms: expected an integer from 1 to 16, found 17");
  CHECK(t.refusal({"k.rgt", "--machine", "gtx90"}) ==
        "command line: --machine: expected one of gtx480, gtx980, found 'gtx90'; did you mean 'gtx980'?");
  CHECK(t.refusal({"k.rgt", "--l1.mshrs", "x"}) ==
        "command line: l1.mshrs: expected an integer from 1 to 1024 (entries), found 'x'");
  CHECK(t.refusal({}) == "command line: TRACE is missing: annotated trace (.rgt) (--help shows the usage)");
  CHECK(t.refusal({"a", "b", "c"}) == "command line: unexpected argument 'c'");
}

TEST_CASE("help is grouped by module and complete") {
  Tool t;
  CHECK_FALSE(t.parse({"--help"}));
  const std::string page = t.line.answer();
  INFO(page);
  CHECK(page.find("usage: regatta-sim [options] TRACE [OTHER]\n") == 0);
  CHECK(page.find("\nl1:\n") != std::string::npos);
  CHECK(page.find("\nrecord.pipeline:\n") != std::string::npos);
  CHECK(page.find("--l1.mshrs entries") != std::string::npos);
  CHECK(page.find("misses in flight [1 to 1024; default 32]") != std::string::npos);
  CHECK(page.find("[one of lrr, gto, two_level; default gto]") != std::string::npos);
  CHECK(page.find("--machine NAME") != std::string::npos);
  for (const Option& option : t.knobs.options()) CHECK(page.find("--" + option.name) != std::string::npos);
  CHECK_FALSE(t.parse({"-h", "k.rgt"}));
  CHECK(t.line.answer() == page);
}

TEST_CASE("help names the source of a value that is not the default") {
  Tool t;
  const auto shown = [&](const std::string& origin) {
    t.knobs.set("l1.mshrs", "64", origin, "");
    CHECK_FALSE(t.parse({"--help-module", "l1"}));
    return t.line.answer();
  };
  CHECK(shown("machine").find("default 64, of the machine]") != std::string::npos);
  CHECK(shown("paper").find("default 64, of the paper]") != std::string::npos);
  CHECK(shown("file").find("default 64, of the configuration file]") != std::string::npos);
}

TEST_CASE("help of one module, and the version") {
  Tool t;
  CHECK_FALSE(t.parse({"--help-module", "l1"}));
  CHECK(t.line.answer().find("l1:\n") == 0);
  CHECK(t.line.answer().find("energy.scale") == std::string::npos);
  CHECK(t.refusal({"--help-module", "isue"}) ==
        "command line: --help-module: unknown module 'isue'; did you mean 'issue'? The modules are energy, issue, "
        "l1, record.pipeline");
  CHECK_FALSE(t.parse({"--version"}));
  CHECK(t.line.answer() == "regatta-sim 0.1.0\n");
}

TEST_CASE("a word that looks like an option is no text, unless the equals sign says so") {
  Tool t;
  std::string file = "before";
  t.line.option("stats", file, "FILE", "results");
  CHECK(t.refusal({"k.rgt", "--stats", "--no-check"}) ==
        "command line: option '--stats' needs a value, found '--no-check', which looks like an option; did you mean "
        "--stats=--no-check?");
  CHECK(t.refusal({"k.rgt", "--stats", "-x"}).find("did you mean --stats=-x?") != std::string::npos);
  CHECK(t.refusal({"k.rgt", "--config", "--sms"}).find("did you mean --config=--sms?") != std::string::npos);
  // Knobs that are text likewise; numbers say what they expect.
  CHECK(t.refusal({"k.rgt", "--record.pipeline.file", "--sms"}).find("did you mean --record.pipeline.file=--sms?") !=
        std::string::npos);
  CHECK(t.refusal({"k.rgt", "--sms", "--no-check"}) ==
        "command line: --sms: expected an integer from 1 to 16, found '--no-check'");
  CHECK(file == "before");
  CHECK(t.parse({"k.rgt", "--stats=--no-check", "--record.pipeline.file", "-1"}));
  CHECK(file == "--no-check");
  CHECK(t.check);
  CHECK(t.config.trace_name == "-1");
  CHECK(t.parse({"k.rgt", "--stats", "-"}));
  CHECK(file == "-");
}

TEST_CASE("an option with an optional value takes it by the equals sign only") {
  Tool t;
  std::string file;
  t.line.optional_value("dump", file, "FILE", "the configuration");
  CHECK(t.parse({"k.rgt", "--dump"}));
  CHECK(t.line.given("dump"));
  CHECK(file.empty());
  CHECK(t.parse({"--dump", "--sms", "2", "k.rgt"}));
  CHECK(file.empty());
  CHECK(t.sms == 2);
  CHECK(t.parse({"--dump=c.toml", "k.rgt"}));
  CHECK(file == "c.toml");
  CHECK(t.refusal({"--dump", "k.rgt"}) ==
        "command line: '--dump k.rgt': write --dump=k.rgt for a value of --dump, or put an argument before the option");
  CHECK(t.line.help(t.knobs).find("--dump[=FILE]") != std::string::npos);
}

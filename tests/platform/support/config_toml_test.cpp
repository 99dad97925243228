// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

#include "sample_options.h"

using namespace regatta::support;

TEST_CASE("a TOML document sets knobs by table and key") {
  SampleOptions f;
  f.options.load_toml(
      "energy.scale = 3        # dotted keys and whole numbers for reals are fine\n"
      "[l1]\nmshrs = 1_000\nbytes = 0x4000\nwrite_back = true\n"
      "[issue]\nscheduler = 'two_level'\n"
      "[record.pipeline]\nfile = \"p.json\"\n",
      "my.toml", "machine");
  CHECK(f.config.mshrs == 1000);
  CHECK(f.config.bytes == 0x4000);
  CHECK(f.config.write_back);
  CHECK(f.config.scale == 3.0);
  CHECK(f.config.scheduler == "two_level");
  CHECK(f.config.trace_name == "p.json");
  CHECK(f.options.find("l1.bytes")->origin == "machine");
}

TEST_CASE("an empty document changes nothing") {
  SampleOptions f;
  f.options.load_toml("", "my.toml", "file");
  f.options.load_toml("[l1]\n", "my.toml", "file");
  CHECK(f.options.find("l1.mshrs")->origin == "default");
}

TEST_CASE("unknown tables and keys are refused with line, column and the nearest known name") {
  SampleOptions f;
  CHECK(f.toml_refusal("[l1]\nmshr = 3\n") == "my.toml:2:1: unknown option 'l1.mshr'; did you mean 'l1.mshrs'?");
  CHECK(f.toml_refusal("\n[isue]\nscheduler = 'lrr'\n") == "my.toml:2:2: unknown table 'isue'; did you mean 'issue'?");
  CHECK(f.toml_refusal("[banana]\n") == "my.toml:1:2: unknown table 'banana'");
  CHECK(f.toml_refusal("mshrs = 3\n") == "my.toml:1:1: unknown option 'mshrs'; did you mean 'l1.mshrs'?");
  CHECK(f.toml_refusal("[record.pipe]\nfile = 'x'\n").find("my.toml:1:9: unknown table 'record.pipe'") == 0);
}

TEST_CASE("wrong values are refused with line and column") {
  SampleOptions f;
  CHECK(f.toml_refusal("[l1]\nmshrs = \"3\"\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found '3'");
  CHECK(f.toml_refusal("[l1]\nmshrs = 3.0\n")
            .find("my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found 3") == 0);
  CHECK(f.toml_refusal("[l1]\nmshrs = true\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found true");
  CHECK(f.toml_refusal("[l1]\nmshrs = [1, 2]\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found an array");
  CHECK(f.toml_refusal("[l1.mshrs]\nx = 1\n")
            .find("l1.mshrs: expected an integer from 1 to 1024 (entries), found a table") != std::string::npos);
  CHECK(f.toml_refusal("[l1]\nmshrs = -3\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found -3");
  CHECK(f.toml_refusal("[l1]\nwrite_back = 1\n") == "my.toml:2:14: l1.write_back: expected true or false, found 1");
  CHECK(f.toml_refusal("[energy]\nscale = nan\n") ==
        "my.toml:2:9: energy.scale: expected a finite number (pJ), found nan");
  CHECK(f.toml_refusal("[issue]\nscheduler = 'gt'\n") ==
        "my.toml:2:13: issue.scheduler: expected one of lrr, gto, two_level, found 'gt'; did you mean 'gto'?");
  CHECK(f.toml_refusal("[issue]\nscheduler = 1979-05-27\n") ==
        "my.toml:2:13: issue.scheduler: expected one of lrr, gto, two_level, found 1979-05-27");
}

TEST_CASE("the first mistake of the text is the one reported") {
  SampleOptions f;
  CHECK(f.toml_refusal("[l1]\nwrite_back = 5\nbytes = true\n").find("my.toml:2:14:") == 0);
}

TEST_CASE("malformed TOML is refused with its place") {
  SampleOptions f;
  for (const char* text : {"[l1\nmshrs = 3\n", "[l1]\nmshrs = \n", "[l1]\nmshrs 3\n", "[l1]\nmshrs = 1\nmshrs = 2\n",
                           "x = \"\xff\"\n", "[l1]\nmshrs = 99999999999999999999\n"}) {
    const std::string message = f.toml_refusal(text);
    INFO(message);
    CHECK(message.find("my.toml:") == 0);
    CHECK(message.find(": not valid TOML: ") != std::string::npos);
  }
}

TEST_CASE("tables that are somebody else's are not read") {
  SampleOptions f;
  const auto not_run = [](const std::string& table) { return table != "run"; };
  f.options.load_toml("[run]\nanything = 1\n[l1]\nmshrs = 7\n", "my.toml", "file", not_run);
  CHECK(f.config.mshrs == 7);
  CHECK(f.toml_refusal("[run]\nanything = 1\n") == "my.toml:1:2: unknown table 'run'");
}

TEST_CASE("what is in force is written as TOML and read back") {
  SampleOptions f;
  f.config.trace_name = "a \"b\" \\ \n \x7f \u00e9.json";
  f.config.scale = 0.1;
  f.options.set("l1.mshrs", "9", "command line", "");
  f.options.set("issue.scheduler", "lrr", "file", "");
  const std::string text = to_toml(f.options, "");
  INFO(text);
  CHECK(text.find("[l1]\nmshrs = 9  # entries, of the command line\n") == 0);
  CHECK(text.find("scheduler = \"lrr\"  # of the file\n") != std::string::npos);
  SampleOptions g;
  g.options.load_toml(text, "my.toml", "file");
  for (const Option& option : f.options.options()) {
    CAPTURE(option.name);
    CHECK(g.options.find(option.name)->get() == option.get());
  }
  const std::string without = to_toml(f.options, "", {"l1.mshrs"});
  CHECK(without.find("mshrs") == std::string::npos);
  CHECK(without.find("bytes = 49152") != std::string::npos);
}

TEST_CASE("text that TOML cannot hold is refused") {
  SampleOptions f;
  f.config.trace_name = "\xff";
  CHECK(thrown([&] { to_toml(f.options, ""); }).find("the configuration cannot be written as TOML: line ") == 0);
}

TEST_CASE("a path is written as the file that says it sees it") {
  OptionSet options;
  std::string path = "mine.toml";
  std::string builtin = "gtx980";
  options.add_path("run.machine", path, "a machine");
  options.add_path("run.other", builtin, "a preset");
  CHECK(to_toml(options, "c.toml").find("machine = \"mine.toml\"") != std::string::npos);
  const std::string text = to_toml(options, "sub/c.toml");
  CHECK(text.find("machine = \"../mine.toml\"") != std::string::npos);
  CHECK(text.find("other = \"gtx980\"") != std::string::npos);
  options.load_toml(text, "sub/c.toml", "file");
  CHECK(path == "sub/../mine.toml");
}

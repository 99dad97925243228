// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

#include "sample_config.h"
#include "thrown.h"

using namespace regatta::support;

namespace {
struct Fixture {
  SampleConfig config;
  OptionSet options;
  Fixture() { config.declare(options); }
  std::string refusal(const std::string& text) {
    return thrown([&] { options.load_toml(text, "my.toml", "file"); });
  }
};
}  // namespace

TEST_CASE("a TOML document sets knobs by table and key") {
  Fixture f;
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
  Fixture f;
  f.options.load_toml("", "my.toml", "file");
  f.options.load_toml("[l1]\n", "my.toml", "file");
  CHECK(f.options.find("l1.mshrs")->origin == "default");
}

TEST_CASE("unknown tables and keys are refused with line, column and the nearest known name") {
  Fixture f;
  CHECK(f.refusal("[l1]\nmshr = 3\n") == "my.toml:2:1: unknown option 'l1.mshr' (nearest known: 'l1.mshrs')");
  CHECK(f.refusal("\n[isue]\nscheduler = 'lrr'\n") == "my.toml:2:2: unknown table 'isue' (nearest known: 'issue')");
  CHECK(f.refusal("[banana]\n") == "my.toml:1:2: unknown table 'banana'");
  CHECK(f.refusal("mshrs = 3\n") == "my.toml:1:1: unknown option 'mshrs' (nearest known: 'l1.mshrs')");
  CHECK(f.refusal("[record.pipe]\nfile = 'x'\n").find("my.toml:1:9: unknown table 'record.pipe'") == 0);
}

TEST_CASE("wrong values are refused with line and column") {
  Fixture f;
  CHECK(f.refusal("[l1]\nmshrs = \"3\"\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found '3'");
  CHECK(f.refusal("[l1]\nmshrs = 3.0\n")
            .find("my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found 3") == 0);
  CHECK(f.refusal("[l1]\nmshrs = true\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found true");
  CHECK(f.refusal("[l1]\nmshrs = [1, 2]\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found an array");
  CHECK(
      f.refusal("[l1.mshrs]\nx = 1\n").find("l1.mshrs: expected an integer from 1 to 1024 (entries), found a table") !=
      std::string::npos);
  CHECK(f.refusal("[l1]\nmshrs = -3\n") ==
        "my.toml:2:9: l1.mshrs: expected an integer from 1 to 1024 (entries), found -3");
  CHECK(f.refusal("[l1]\nwrite_back = 1\n") == "my.toml:2:14: l1.write_back: expected true or false, found 1");
  CHECK(f.refusal("[energy]\nscale = nan\n") == "my.toml:2:9: energy.scale: expected a finite number (pJ), found nan");
  CHECK(f.refusal("[issue]\nscheduler = 'gt'\n") ==
        "my.toml:2:13: issue.scheduler: expected one of lrr, gto, two_level, found 'gt' (nearest known: 'gto')");
  CHECK(f.refusal("[issue]\nscheduler = 1979-05-27\n") ==
        "my.toml:2:13: issue.scheduler: expected one of lrr, gto, two_level, found 1979-05-27");
}

TEST_CASE("the first mistake of the text is the one reported") {
  Fixture f;
  CHECK(f.refusal("[l1]\nwrite_back = 5\nbytes = true\n").find("my.toml:2:14:") == 0);
}

TEST_CASE("malformed TOML is refused with its place") {
  Fixture f;
  for (const char* text : {"[l1\nmshrs = 3\n", "[l1]\nmshrs = \n", "[l1]\nmshrs 3\n", "[l1]\nmshrs = 1\nmshrs = 2\n",
                           "x = \"\xff\"\n", "[l1]\nmshrs = 99999999999999999999\n"}) {
    const std::string message = f.refusal(text);
    INFO(message);
    CHECK(message.find("my.toml:") == 0);
    CHECK(message.find(": not valid TOML: ") != std::string::npos);
  }
}

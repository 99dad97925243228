// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

#include "sample_options.h"

using namespace regatta::support;

TEST_CASE("options are set from text and remember where from") {
  SampleOptions f;
  CHECK(f.options.find("l1.mshrs")->origin == "default");
  f.options.set("l1.mshrs", "64", "command line", "");
  f.options.set("l1.bytes", "16384", "file", "");
  f.options.set("l1.write_back", "on", "file", "");
  f.options.set("energy.scale", "2", "file", "");
  f.options.set("issue.scheduler", "lrr", "machine", "");
  f.options.set("record.pipeline.file", "a b", "file", "");
  CHECK(f.config.mshrs == 64);
  CHECK(f.config.bytes == 16384);
  CHECK(f.config.write_back);
  CHECK(f.config.scale == 2.0);
  CHECK(f.config.scheduler == "lrr");
  CHECK(f.config.trace_name == "a b");
  CHECK(f.options.find("l1.mshrs")->origin == "command line");
  CHECK(std::get<std::int64_t>(f.options.find("l1.mshrs")->get()) == 64);
  CHECK(std::get<std::int64_t>(f.options.find("l1.mshrs")->default_value) == 32);
  CHECK(f.options.find("l1.mshr") == nullptr);
}

TEST_CASE("unknown options are refused with the nearest known one") {
  SampleOptions f;
  CHECK(f.refusal("l1.mshr", "1") == "command line: unknown option 'l1.mshr'; did you mean 'l1.mshrs'?");
  CHECK(f.refusal("l1.mhsrs", "1", "") == "unknown option 'l1.mhsrs'; did you mean 'l1.mshrs'?");
  CHECK(f.refusal("mshrs", "1") == "command line: unknown option 'mshrs'; did you mean 'l1.mshrs'?");
  CHECK(f.refusal("zzzzzz", "1") == "command line: unknown option 'zzzzzz'");
  CHECK(f.refusal("", "1") == "command line: unknown option ''");
}

TEST_CASE("an option that exists under other circumstances is refused with where") {
  SampleOptions f;
  unsigned ways = 1, mshrs = 2;
  OptionSet one, two;
  one.add("table.ways", ways, "ways", "of the table");
  one.add("l1.mshrs", mshrs, "entries", "known here as well");
  two.add("table.ways", ways, "ways", "of the table");
  f.options.add_absent(one, "--scheme one");
  f.options.add_absent(two, "--scheme two");
  CHECK(f.refusal("table.ways", "1") ==
        "command line: unknown option 'table.ways' (known under --scheme one, --scheme two)");
  CHECK(f.refusal("table.way", "1") ==
        "command line: unknown option 'table.way'; did you mean 'table.ways' (under --scheme one, --scheme two)?");
  CHECK(f.options.elsewhere("table") == " (known under --scheme one, --scheme two)");
  CHECK(f.options.elsewhere("tab").empty());
  CHECK(f.options.elsewhere("l1").empty());
  CHECK(f.options.elsewhere("").empty());
  CHECK(thrown([&] { f.options.load_toml("[table]\nways = 3\n", "my.toml", "file"); }) ==
        "my.toml:1:2: unknown table 'table' (known under --scheme one, --scheme two)");
}

TEST_CASE("the nearest option may be one of other circumstances, without its table or with a misspelt one") {
  SampleOptions f;
  unsigned first = 1, second = 2;
  OptionSet other;
  other.add("table.lines", first, "lines", "of the table");
  other.add("l1.mshrs_kept", second, "entries", "of a scheme");
  f.options.add_absent(other, "--scheme one");
  const std::string unknown = "command line: unknown option ";
  CHECK(f.refusal("lines", "1") == unknown + "'lines'; did you mean 'table.lines' (under --scheme one)?");
  CHECK(f.refusal("linse", "1") == unknown + "'linse'; did you mean 'table.lines' (under --scheme one)?");
  CHECK(f.refusal("other.lines", "1") == unknown + "'other.lines'; did you mean 'table.lines' (under --scheme one)?");
  // Both kinds have a near name: the nearer one is named.
  CHECK(f.refusal("l1.mshrs_kep", "1") ==
        unknown + "'l1.mshrs_kep'; did you mean 'l1.mshrs_kept' (under --scheme one)?");
  CHECK(f.refusal("l1.mshr", "1") == unknown + "'l1.mshr'; did you mean 'l1.mshrs'?");
  CHECK(f.refusal("mshr", "1") == unknown + "'mshr'; did you mean 'l1.mshrs'?");
  CHECK(thrown([&] { f.options.load_toml("[tabel]\nlines = 3\n", "my.toml", "file"); }) ==
        "my.toml:1:2: unknown table 'tabel'; did you mean 'table' (under --scheme one)?");
}

TEST_CASE("values of the wrong type or out of range are refused and change nothing") {
  SampleOptions f;
  CHECK(f.refusal("l1.mshrs", "many") ==
        "command line: l1.mshrs: expected an integer from 1 to 1024 (entries), found 'many'");
  CHECK(f.refusal("l1.mshrs", "0") == "command line: l1.mshrs: expected an integer from 1 to 1024 (entries), found 0");
  CHECK(f.refusal("l1.mshrs", "-1") ==
        "command line: l1.mshrs: expected an integer from 1 to 1024 (entries), found -1");
  CHECK(f.refusal("l1.mshrs", "1025") ==
        "command line: l1.mshrs: expected an integer from 1 to 1024 (entries), found 1025");
  for (const char* text : {"", " 1", "1 ", "1.5", "0x10", "16K", "+-1", "99999999999999999999"}) {
    CHECK(f.refusal("l1.mshrs", text) ==
          "command line: l1.mshrs: expected an integer from 1 to 1024 (entries), found '" + std::string(text) + "'");
  }
  CHECK(f.refusal("l1.bytes", "0") == "command line: l1.bytes: expected an integer of 1 or more (bytes), found 0");
  CHECK(f.refusal("l1.write_back", "maybe") == "command line: l1.write_back: expected true or false, found 'maybe'");
  CHECK(f.refusal("energy.scale", "x") == "command line: energy.scale: expected a finite number (pJ), found 'x'");
  CHECK(f.refusal("energy.scale", "inf") == "command line: energy.scale: expected a finite number (pJ), found inf");
  CHECK(f.refusal("energy.scale", "nan") == "command line: energy.scale: expected a finite number (pJ), found nan");
  CHECK(f.refusal("issue.scheduler", "gtx") ==
        "command line: issue.scheduler: expected one of lrr, gto, two_level, found 'gtx'; did you mean 'gto'?");
  CHECK(f.refusal("issue.scheduler", "") ==
        "command line: issue.scheduler: expected one of lrr, gto, two_level, found ''");
  CHECK(f.config.mshrs == 32);
  CHECK(f.config.bytes == 49152);
  CHECK(f.config.scheduler == "gto");
  CHECK(f.options.find("l1.mshrs")->origin == "default");
}

TEST_CASE("booleans take the usual words") {
  SampleOptions f;
  for (const char* word : {"true", "on", "yes", "1"}) {
    f.config.write_back = false;
    f.options.set("l1.write_back", word, "file", "");
    CHECK(f.config.write_back);
  }
  for (const char* word : {"false", "off", "no", "0"}) {
    f.config.write_back = true;
    f.options.set("l1.write_back", word, "file", "");
    CHECK_FALSE(f.config.write_back);
  }
}

TEST_CASE("a wrong declaration is a mistake of the program") {
  SampleOptions f;
  unsigned value = 5;
  CHECK_THROWS_AS(f.options.add("l1.mshrs", value, "", ""), std::logic_error);
  CHECK_THROWS_AS(f.options.add("L1.x", value, "", ""), std::logic_error);
  CHECK_THROWS_AS(f.options.add("l1..x", value, "", ""), std::logic_error);
  CHECK_THROWS_AS(f.options.add("", value, "", ""), std::logic_error);
  CHECK_THROWS_AS(f.options.add("l1.x", value, "", "", 6, 7), std::logic_error);
}

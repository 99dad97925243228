// SPDX-License-Identifier: Apache-2.0
// The command that made a trace, from its producer line.
#include <regatta/test/catch.h>
#include <regatta/trace/making.h>

using regatta::trace::Making;

TEST_CASE("a producer line is a command that can be given again, changed") {
  std::optional<Making> making =
      Making::of("regatta-annotate 0.1.0 --launch 'a b.toml' -o k.rgt --rfv --ctas=0:4 --rfh 3");
  REQUIRE(making);
  CHECK(making->text() == "regatta-annotate --launch 'a b.toml' --out k.rgt --rfv --ctas=0:4 --rfh 3");
  CHECK(making->value("launch") == "a b.toml");
  CHECK(making->value("ctas") == "0:4");
  CHECK_FALSE(making->value("rfv"));
  CHECK_FALSE(making->value("for"));
  making->set("out", "it's.rgt");
  making->set("ctas", "0:5");
  making->set("max-registers", "63");
  making->set("shared-values", "");
  making->remove("rfh");
  making->remove("listing");
  making->add_scheme("rc");
  making->add_scheme("rfv");
  making->add_scheme("rc");
  CHECK(making->text() ==
        "regatta-annotate --launch 'a b.toml' --out 'it'\\''s.rgt' --rfv --ctas=0:5 --max-registers 63 "
        "--shared-values --for rc,rfv");
  making->set("for", "all");
  making->add_scheme("wir");
  CHECK(making->value("for") == "all");
  CHECK(making->words().size() == 11);
}

TEST_CASE("what is no command of regatta-annotate gives none") {
  for (const char* line :
       {"", "by hand", "regatta-annotate", "regatta-annotate 0.1.0", "regatta-annotate 0.1.0 --out k.rgt",
        "regatta-annotate 0.1.0 --launch", "regatta-annotate 0.1.0 --launch a b.toml --out k.rgt",
        "regatta-annotate 0.1.0 --launch 'a.toml", "other 1 --launch a.toml",
        "regatta-annotate 0.1.0 -- --launch a.toml"}) {
    INFO(line);
    CHECK_FALSE(Making::of(line));
  }
  CHECK(Making::options_of("--max-registers 63").at(0).value == "63");
  CHECK(Making::options_of("").empty());
  CHECK(Making::options_of("63").empty());
}

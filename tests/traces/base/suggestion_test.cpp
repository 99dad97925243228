// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/suggestion.h>
#include <regatta/test/catch.h>

using namespace regatta;

TEST_CASE("suggestion: the nearest name") {
  const std::vector<std::string> known{"gtx480", "gtx980", "k20x", "hd7770"};
  CHECK(base::nearest("gtx90", known) == "gtx980");
  CHECK(base::nearest("gxt480", known) == "gtx480");
  CHECK(base::nearest("k20", known) == "k20x");
  CHECK(base::nearest("gtx980", known) == "gtx980");
  CHECK(base::nearest("GTX980", known) == "gtx980");
  CHECK(base::nearest("Fermi", {"fermi", "fermi16"}) == "fermi");
  CHECK(base::nearest("volta", known).empty());
  CHECK(base::nearest("", known).empty());
  CHECK(base::nearest("x", {}).empty());
}

TEST_CASE("suggestion: one edit of a short name, a third of a long one") {
  CHECK(base::nearest("b", {"a"}) == "a");
  CHECK(base::nearest("bc", {"a"}).empty());
  CHECK(base::nearest("gird", {"grid", "gold"}) == "grid");
  CHECK(base::nearest("goal", {"grid"}).empty());
  CHECK(base::nearest("lauches", {"lunch", "launches"}) == "launches");
  CHECK(base::suggestion("frist", {"last", "first"}) == "; did you mean 'first'?");
}

TEST_CASE("suggestion: names with the same beginning, the shortest first") {
  const std::vector<std::string> known{"sm.schedulers", "sms", "SM.warps", "l1.ways"};
  CHECK(base::beginning_with("sm", known) == std::vector<std::string>{"sms", "SM.warps", "sm.schedulers"});
  CHECK(base::beginning_with("s", known).empty());
  CHECK(base::beginning_with("smss", known).empty());
  CHECK(base::did_you_mean({}).empty());
  CHECK(base::did_you_mean({"a"}) == "; did you mean 'a'?");
  CHECK(base::did_you_mean({"a", "b"}) == "; did you mean 'a' or 'b'?");
  CHECK(base::did_you_mean({"a", "b", "c", "d"}) == "; did you mean 'a', 'b' or 'c'?");
  CHECK(base::suggestion("frist", {"second"}).empty());
}

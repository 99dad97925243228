// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/arguments.h>
#include <regatta/test/catch.h>

#include "folder.h"

using namespace regatta;

TEST_CASE("an option is not another option's value") {
  const auto needs_value = [](const std::string& option) { return option == "--stats" || option == "-o"; };
  const auto of = [&](const std::vector<std::string>& arguments) {
    return test::input_error([&] { base::refuse_option_as_value(arguments, needs_value); });
  };
  const std::string nothing = "(nothing was thrown)";
  CHECK(of({"--stats", "--cpi"}) ==
        "option '--stats' needs a value, found '--cpi', which looks like an option; did you mean --stats=--cpi?");
  CHECK(of({"-o", "--check"}) ==
        "option '-o' needs a value, found '--check', which looks like an option; did you mean -o./--check?");
  CHECK(of({"--stats", "-x"}) ==
        "option '--stats' needs a value, found '-x', which looks like an option; did you mean --stats=-x?");
  CHECK(of({"--stats", "-.5"}) == nothing);
  CHECK(of({"--stats=--cpi"}) == nothing);
  CHECK(of({"--stats", "s.json", "--cpi"}) == nothing);
  CHECK(of({"--cpi", "--stats", "-1"}) == nothing);
  CHECK(of({"--stats", "-"}) == nothing);
  CHECK(of({"--", "--stats", "--cpi"}) == nothing);
  CHECK(of({"--stats"}) == nothing);
}

// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/clashes.h>
#include <regatta/base/output_file.h>
#include <regatta/test/catch.h>
#include <sys/stat.h>

#include "folder.h"

using namespace regatta;
using test::input_error;
namespace fs = std::filesystem;

TEST_CASE("a file is not written over one that is read, or twice") {
  const test::BaseFolder folder;
  const std::string a = folder.file("a"), b = folder.file("b"), link = folder.file("link"), hard = folder.file("hard");
  base::write_file(a, "1");
  fs::create_symlink("a", link);
  fs::create_hard_link(a, hard);
  fs::create_symlink("b", folder.file("to_b"));
  const auto of = [](const std::string& first, bool first_written, const std::string& second, bool second_written) {
    return input_error([&] {
      base::refuse_clashes({{"--one", first, first_written}, {"--two", second, second_written}});
    });
  };
  const std::string nothing = "(nothing was thrown)";
  CHECK(of(a, false, a, false) == nothing);
  CHECK(of(a, true, b, true) == nothing);
  CHECK(of("", true, "", true) == nothing);
  CHECK(of(a, true, a, false) == "--one and --two name the same file '" + a + "'");
  CHECK(of(a, false, a, true) == "--two and --one name the same file '" + a + "'");
  CHECK(of(link, true, a, false) == "--one and --two name the same file '" + link + "'");
  CHECK(of(hard, true, a, true) == "--one and --two name the same file '" + hard + "'");
  // Files that are not there yet.
  CHECK(of(b, true, folder.file("./x/../b"), true) == "--one and --two name the same file '" + b + "'");
  CHECK(of(b, true, folder.file("to_b"), true) == "--one and --two name the same file '" + b + "'");
}

TEST_CASE("devices and pipes may be written more than once") {
  const test::BaseFolder folder;
  base::refuse_clashes({{"--one", "/dev/null", true}, {"--two", "/dev/null", true}});
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  base::refuse_clashes({{"--one", pipe, true}, {"--two", pipe, true}});
  CHECK(input_error([&] {
          base::refuse_clashes({{"--one", fs::read_symlink("/proc/self/exe").string(), true}});
        }) == "--one and the program itself name the same file '" + fs::read_symlink("/proc/self/exe").string() + "'");
}

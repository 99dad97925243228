// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/input_file.h>
#include <regatta/base/output_file.h>
#include <regatta/test/catch.h>
#include <unistd.h>

#include "folder.h"

using namespace regatta;
using test::input_error;

TEST_CASE("a text file is bounded before it is read") {
  const test::BaseFolder folder;
  const std::string path = folder.file("sparse.toml");
  base::write_file(path, "");
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(base::max_text_bytes)) == 0);
  CHECK(base::read_text(path).size() == base::max_text_bytes);
  REQUIRE(truncate(path.c_str(), off_t{10} << 30) == 0);
  CHECK(input_error([&] { base::read_text(path); }) ==
        "cannot read '" + path + "': it has more than 64 MiB, the limit of a text file");
}

TEST_CASE("devices and folders are no files to read") {
  const test::BaseFolder folder;
  for (const char* device : {"/dev/zero", "/dev/null"}) {
    const std::string message = "cannot read '" + std::string(device) + "': it is a device, expected a file";
    CHECK(input_error([&] { base::read_text(device); }) == message);
    CHECK(input_error([&] { base::read_bytes(device); }) == message);
  }
  const std::string path = folder.path.string();
  CHECK(input_error([&] { base::read_bytes(path); }) == "cannot read '" + path + "': Is a directory");
}

TEST_CASE("data of another size are refused unread") {
  const test::BaseFolder folder;
  const std::string path = folder.file("data");
  base::write_file(path, std::string("\1\2\3", 3));
  CHECK(base::read_bytes(path) == std::vector<std::uint8_t>{1, 2, 3});
  CHECK(base::read_bytes(path, 3).size() == 3);
  CHECK(input_error([&] { base::read_bytes(path, 4); }) == "'" + path + "' has 3 bytes, expected 4");
  // Too much to read by mistake.
  REQUIRE(truncate(path.c_str(), off_t{1} << 40) == 0);
  CHECK(input_error([&] { base::read_bytes(path, 4); }) == "'" + path + "' has 1099511627776 bytes, expected 4");
}

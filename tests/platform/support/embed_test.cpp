// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/input_file.h>
#include <regatta/test/catch.h>
#include <regatta_embedded/sample_text.h>

using namespace regatta;

TEST_CASE("embedded files are found by name and equal to the byte") {
  CHECK(embedded::sample_text_names() == std::vector<std::string_view>{"delimiters", "nothing", "sample.name"});
  CHECK(embedded::sample_text("sample.name") == base::read_text(SAMPLE_DIRECTORY "/sample.name.toml"));
  CHECK(embedded::sample_text("delimiters") == base::read_text(SAMPLE_DIRECTORY "/delimiters.txt"));
  CHECK(embedded::sample_text("nothing") == std::string_view());
  CHECK_FALSE(embedded::sample_text("missing").has_value());
}

// SPDX-License-Identifier: Apache-2.0
//
// Tolerances of expectations, and expectations of variables and arrays.
#include <regatta/test/catch.h>

#include <cmath>

#include "memory_device.h"
#include "temporary_file.h"

using namespace regatta;
using namespace regatta::launch;
using test::launch_error;

namespace {

const std::string kernel_only = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n";
const std::string a_variable = "[[global]]\nname = \"g\"\n";

template <class T>
std::vector<std::uint8_t> bytes_of(const T& value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Whether one element within these tolerances of another is accepted; NAN: no such tolerance.
template <class T>
bool accepts(ir::Type type, T got, T expected, double relative, double absolute) {
  const test::TemporaryFile file(bytes_of(expected));
  LaunchFile f;
  f.file = "l.toml";
  Expectation e;
  e.file = file.path();
  e.type = type;
  if (!std::isnan(relative)) e.relative = relative;
  if (!std::isnan(absolute)) e.absolute = absolute;
  return check_expectation(f, "buffer 'b'", e, {1, 1}, bytes_of(got)).empty();
}

}  // namespace

TEST_CASE("tolerances: relative, absolute, and their sum") {
  const auto f64 = [](double got, double expected, double relative, double absolute) {
    return accepts(ir::Type::f64, got, expected, relative, absolute);
  };
  CHECK(!f64(1e-7, 0, 1e-3, NAN));
  CHECK(f64(1e-7, 0, NAN, 1e-7));
  CHECK(!f64(1.1e-7, 0, NAN, 1e-7));
  CHECK(f64(-1e-7, 0, 0.5, 1e-7));
  // 8 +- (0.25 * 8 + 1)
  CHECK(f64(11, 8, 0.25, 1));
  CHECK(f64(5, 8, 0.25, 1));
  CHECK(!f64(std::nextafter(11.0, 12), 8, 0.25, 1));
  CHECK(!f64(11, 8, 0.25, NAN));
  CHECK(!f64(11, 8, NAN, 1));
  CHECK(f64(-11, -8, 0.25, 1));
  CHECK(f64(NAN, NAN, NAN, 0));
  CHECK(!f64(NAN, 1, 1, 1e300));
  CHECK(!f64(INFINITY, 1, NAN, INFINITY));
  CHECK(!f64(1, INFINITY, 1, 1));
  CHECK(f64(INFINITY, INFINITY, 1, 1));
  CHECK(f64(-0.0, 0.0, NAN, 0));
  CHECK(!f64(-0.0, 0.0, NAN, NAN));
  CHECK(accepts<float>(ir::Type::f32, 1.5f, 1.25f, NAN, 0.25));
  CHECK(accepts<std::uint16_t>(ir::Type::f16, 0x3c01, 0x3c00, NAN, 0x1p-10));
  CHECK(!accepts<std::uint16_t>(ir::Type::f16, 0x3c02, 0x3c00, NAN, 0x1p-10));
}

TEST_CASE("the message of an expectation names its tolerances") {
  const std::array<float, 2> expected{0, 1}, got{0, 2};
  const test::TemporaryFile file(bytes_of(expected));
  LaunchFile f;
  f.file = "l.toml";
  Expectation e;
  e.file = file.path();
  e.type = ir::Type::f32;
  std::vector<std::uint8_t> bytes = bytes_of(got);
  const auto message = [&] { return check_expectation(f, "variable 'g'", e, {3, 1}, bytes); };
  const std::string text = "l.toml:3:1: error: variable 'g' differs from '" + e.file +
                           "' in 1 of 2 elements; the first is element 1 (f32): got 2, expected 1";
  CHECK(message() == text);
  e.absolute = 1e-6;
  CHECK(message() == text + " (absolute tolerance 1e-06)");
  e.relative = 0.5;
  CHECK(message() == text + " (tolerance 0.5, absolute tolerance 1e-06)");
  bytes.resize(12);
  CHECK_THROWS_WITH(message(), "l.toml:3:1: error: '" + e.file + "' has 8 bytes, variable 'g' has 12");
}

TEST_CASE("elements in any order: the message, and groups") {
  const std::array<std::int32_t, 6> expected{1, 2, 2, 3, 5, 6};
  const test::TemporaryFile file(bytes_of(expected));
  LaunchFile f;
  f.file = "l.toml";
  Expectation e;
  e.file = file.path();
  e.type = ir::Type::s32;
  e.unordered = 4;
  const auto message = [&](const std::array<std::int32_t, 6>& got) {
    return check_expectation(f, "buffer 'b'", e, {3, 1}, bytes_of(got));
  };
  CHECK(message({2, 3, 1, 2, 6, 5}).empty());
  CHECK(message({2, 3, 4, 2, 6, 5}) == "l.toml:3:1: error: buffer 'b' differs from '" + e.file +
                                           "' in 1 of 6 elements; the first is element 0 (s32): got 4, expected 1 (in "
                                           "any order within 4 elements)");
  CHECK(!message({2, 3, 1, 5, 6, 2}).empty());
  e.unordered = 1;
  CHECK(!message({2, 1, 2, 3, 5, 6}).empty());
}

TEST_CASE("arranged_like against the largest matching of small images") {
  // All images of four elements of three values, in groups of 2, 3 and 4: as many equal places as values in common.
  for (unsigned code = 0; code < 81 * 81; ++code) {
    std::vector<std::uint8_t> got, expected;
    for (unsigned i = 0, c = code; i < 8; ++i, c /= 3)
      (i < 4 ? got : expected).push_back(static_cast<std::uint8_t>(c % 3));
    for (const std::size_t group : {2, 3, 4, 9}) {
      const std::vector<std::uint8_t> arranged = arranged_like(expected, got, 1, group);
      for (std::size_t first = 0; first < 4; first += group) {
        const std::size_t end = std::min<std::size_t>(first + group, 4);
        std::array<int, 3> in_got{}, in_expected{}, in_arranged{};
        int equal = 0, common = 0;
        for (std::size_t i = first; i < end; ++i) {
          ++in_got[got[i]], ++in_expected[expected[i]], ++in_arranged[arranged[i]];
          equal += arranged[i] == expected[i];
        }
        for (std::size_t v = 0; v < 3; ++v) common += std::min(in_got[v], in_expected[v]);
        REQUIRE(in_arranged == in_got);
        REQUIRE(equal == common);
      }
    }
  }
}

TEST_CASE("expectations of buffers, variables and arrays") {
  const std::string keys = "type = \"f32\"\nexpect = \"e.bin\"\ntolerance = 0.5\nabsolute_tolerance = 1e-6\n";
  const LaunchFile f =
      parse_launch_file(kernel_only + "[[param]]\nbuffer = 8\n" + keys + a_variable + keys +
                            "[[global]]\nname = \"h\"\ninit = \"module\"\n" + keys +
                            "[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 2\nexpect = \"e.bin\"\n"
                            "absolute_tolerance = 2\n",
                        "d/l.toml");
  for (const Expectation* e : {&f.buffers[0].expect, &f.globals[0].expect, &f.globals[1].expect}) {
    CHECK(e->file == "d/e.bin");
    CHECK(e->type == ir::Type::f32);
    CHECK(e->relative == 0.5);
    CHECK(e->absolute == 1e-6);
  }
  CHECK(f.globals[1].contents.fill.init == Init::none);
  CHECK(!f.arrays[0].data.expect.relative);
  CHECK(f.arrays[0].data.expect.absolute == 2.0);
  const LaunchFile g = parse_launch_file(kernel_only + a_variable, "l.toml");
  test::MemoryDevice device;
  CHECK(Program(g, device).variable(0) == std::vector<std::uint8_t>(32));
}

TEST_CASE("errors of expectations, word for word") {
  const std::string buffer = "[[param]]\nbuffer = 8\n";
  CHECK(parse_launch_file(kernel_only + buffer + "unordered = 2\n", "l.toml").buffers[0].expect.unordered == 2);
  CHECK(launch_error(kernel_only + buffer + "type = \"f32\"\nexpect = \"e\"\ntolerance = 1\nunordered = 2\n") ==
        "l.toml:10:13: error: 'unordered' with a tolerance: elements in any order are compared bit for bit");
  CHECK(launch_error(kernel_only + buffer + "unordered = 1\n") ==
        "l.toml:7:13: error: 'unordered' is 1, expected 2 to 9223372036854775807");
  CHECK(launch_error(kernel_only + buffer + "absolute_tolerance = 0.1\n") ==
        "l.toml:7:22: error: 'absolute_tolerance' without 'expect'");
  CHECK(launch_error(kernel_only + buffer + "type = \"s32\"\nexpect = \"e\"\nabsolute_tolerance = 1\n") ==
        "l.toml:9:22: error: 'absolute_tolerance' is for elements of type f16, bf16, f32 or f64");
  CHECK(launch_error(kernel_only + buffer + "type = \"f32\"\nexpect = \"e\"\nabsolute_tolerance = -1\n") ==
        "l.toml:9:22: error: 'absolute_tolerance' is negative");
  CHECK(launch_error(kernel_only + buffer + "type = \"f32\"\nexpect = \"e\"\ntolerance = nan\n") ==
        "l.toml:9:13: error: 'tolerance' is negative");
  CHECK(launch_error(kernel_only + buffer + "type = \"f32\"\nexpect = \"e\"\nabsolute_tolerance = \"1\"\n") ==
        "l.toml:9:22: error: 'absolute_tolerance' is a string, expected a number");
  CHECK(launch_error(kernel_only + buffer + "expect = \"\"\n") == "l.toml:7:10: error: 'expect' is empty");
  CHECK(launch_error(kernel_only + a_variable + "init = \"module\"\ntype = \"f64\"\nexpect = \"e\"\n").empty());
  CHECK(launch_error(kernel_only + a_variable + "tolerance = 0.1\n") ==
        "l.toml:7:13: error: 'tolerance' without 'expect'");
  CHECK(launch_error(kernel_only + a_variable + "init = \"module\"\ntype = \"f32\"\n") ==
        "l.toml:8:1: error: unknown key 'type' in [[global]]");
  CHECK(launch_error(kernel_only + a_variable + "init = \"module\"\ntype = \"f33\"\nexpect = \"e\"\n") ==
        "l.toml:8:8: error: unknown type 'f33', expected s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64");
}

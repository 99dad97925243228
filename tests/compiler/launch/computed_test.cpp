// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a launch file that are expressions: of constants, and of the counters of loops.
#include <regatta/test/catch.h>

#include "memory_device.h"

using namespace regatta;
using namespace regatta::launch;
using test::launch_error;
using test::launched;
using test::MemoryDevice;

namespace {

using Size3 = std::array<std::uint32_t, 3>;

/// A program with constants n = 128 and m = -1, whose launch has this line of its own; `steps` follow.
std::string looped(const std::string& line, const std::string& steps, const std::string& grid = "[1]",
                   const std::string& block = "[32]") {
  return "ptx = \"k.ptx\"\n[constants]\nn = 128\nm = -1\n[[buffer]]\nname = \"a\"\nbytes = 64\n[[launch]]\nname = "
         "\"l\"\nentry = "
         "\"k\"\ngrid = " +
         grid + "\nblock = " + block + "\n" + line + "\n" + steps;
}

std::string repeated(const std::string& times) {
  return "[[step]]\nrepeat = " + times + "\ncounter = \"k\"\nsteps = [{ run = \"l\" }]\n";
}

std::string scalar_param(const std::string& text, const std::string& type) {
  return "params = [{ expression = \"" + text + "\", type = \"" + type + "\" }]";
}

}  // namespace

TEST_CASE("grids, blocks and shared memory follow counters") {
  const MemoryDevice d = launched(looped("dynamic_shared = \"4 * (k + n)\"", repeated("3"),
                                         "[\"(n - 1 - 16 * k) / 16 + 1\", 2, \"k + 1\"]", "[\"n >> k\", \"k + 1\"]"));
  REQUIRE(d.launches.size() == 3);
  for (std::uint32_t k = 0; k < 3; ++k) {
    const Launch& l = d.launches[k].first;
    CHECK(l.grid == Size3{8 - k, 2, k + 1});
    CHECK(l.block == Size3{128u >> k, k + 1, 1});
    CHECK(l.dynamic_shared == 4 * (k + 128));
  }
}

TEST_CASE("expressions of constants are numbers once the file is read") {
  const LaunchFile f = parse_launch_file(looped("dynamic_shared = \"n\"\nparams = [{ expression = \"-n\", type = "
                                                "\"s16\" }, { buffer = \"a\", offset = \"n / 8\" }]",
                                                "[[step]]\nrepeat = \"n / 16\"\nsteps = [{ run = \"l\" }, { fill = "
                                                "\"a\", bytes = \"n / 4\" }]\n",
                                                "[\"n / 2\", \"-m\"]", "[\"n\"]"),
                                         "l.toml");
  const Launch& l = f.launches[0];
  CHECK(l.computed.empty());
  CHECK(l.grid == Size3{64, 1, 1});
  CHECK(l.block == Size3{128, 1, 1});
  CHECK(l.dynamic_shared == 128);
  CHECK(l.parameters[0].kind == Parameter::Kind::scalar);
  CHECK(l.parameters[0].bits == std::vector<std::uint64_t>{0xff80});
  CHECK(l.parameters[1].buffer_offset == 16);
  CHECK(f.steps[0].times == 8);
  CHECK(f.steps[0].steps[1].bytes == 32);
  // In the form of one launch, too.
  const LaunchFile single = parse_launch_file(
      "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [\"n / 4\"]\nblock = [32]\nconstants = { n = 64 }\n"
      "[[param]]\nexpression = \"min(n, 7)\"\ntype = \"f32\"\n",
      "l.toml");
  CHECK(single.launches[0].grid[0] == 16);
  CHECK(single.launches[0].parameters[0].bits == std::vector<std::uint64_t>{0x40e00000});
}

TEST_CASE("scalars, offsets and inner loops follow counters") {
  const MemoryDevice d = launched(looped(
      "params = [{ expression = \"128 - 16 * k\", type = \"s32\" }, { expression = \"k * j\", type = \"f64\" },\n"
      "  { expression = \"k - 2\", type = \"f16\" }, { buffer = \"a\", offset = \"16 * k + 4 * j\" },\n"
      "  { members = [{ expression = \"-k\", type = \"b8\" }, { counter = \"j\", type = \"u32\", scale = 3 }] }]",
      "[[step]]\nrepeat = 3\ncounter = \"k\"\nsteps = [{ repeat = \"k + 1\", counter = \"j\", steps = [{ run = \"l\" "
      "}] }]\n"));
  REQUIRE(d.launches.size() == 1 + 2 + 3);
  std::size_t i = 0;
  const std::uint16_t halves[] = {0xc000, 0xbc00, 0};
  for (unsigned k = 0; k < 3; ++k) {
    for (unsigned j = 0; j <= k; ++j, ++i) {
      CHECK(d.parameter<std::int32_t>(i, 0) == static_cast<int>(128 - 16 * k));
      CHECK(d.parameter<double>(i, 1) == static_cast<double>(k * j));
      CHECK(d.parameter<std::uint16_t>(i, 2) == halves[k]);
      CHECK(d.parameter<std::uint64_t>(i, 3) == MemoryDevice::first_address + 16 * k + 4 * j);
      CHECK(d.parameter<std::uint8_t>(i, 4) == static_cast<std::uint8_t>(-static_cast<int>(k)));
      CHECK(d.parameter<std::uint32_t>(i, 4, 4) == 3 * j);
    }
  }
}

TEST_CASE("errors of expressions name the place in the text and the values") {
  const std::string no_steps = repeated("1");
  CHECK(launch_error(looped("", repeated("9"), "[\"(n - 16 * k) / 16\"]")) ==
        "l.toml:11:9: error: 'grid' has 0 in dimension x, expected 1 to 2147483647 (n = 128, k = 8)");
  CHECK(launch_error(looped("", repeated("9"), "[1, \"65535 + k\"]")) ==
        "l.toml:11:12: error: 'grid' has 65536 in dimension y, expected 1 to 65535 (k = 1)");
  CHECK(launch_error(looped("", no_steps, "[\"n + m * 128\"]")) ==
        "l.toml:11:9: error: 'grid' has 0 in dimension x, expected 1 to 2147483647 (n = 128, m = -1)");
  CHECK(launch_error(looped("", no_steps, "[1, 1, 1]", "[1, 1, \"64 + 1\"]")) ==
        "l.toml:12:16: error: 'block' has 65 in dimension z, expected 1 to 64");
  CHECK(launch_error(looped("", repeated("9"), "[1]", "[\"n\", \"k + 1\"]")) ==
        "l.toml:12:15: error: a block of 128 x 9 x 1 has 1152 threads, expected at most 1024 (k = 8)");
  CHECK(launch_error(looped("", no_steps, "[1]", "[\"8 * n\", 2]")) ==
        "l.toml:12:9: error: a block of 1024 x 2 x 1 has 2048 threads, expected at most 1024");
  CHECK(launch_error(looped("dynamic_shared = \"k - 1\"", no_steps)) ==
        "l.toml:13:18: error: 'dynamic_shared' is -1, expected 0 to 232448 (k = 0)");
  CHECK(launch_error(looped("", no_steps, "[\"n / k\"]")) == "l.toml:11:12: error: division by zero (n = 128, k = 0)");
  CHECK(launch_error(looped("", no_steps, "[\"n + * 2\"]")) ==
        "l.toml:11:14: error: expected a number, a name, '-' or '(', found '*'");
  CHECK(launch_error(looped("", no_steps, "['n +']")) ==
        "l.toml:11:13: error: expected a number, a name, '-' or '(', found the end");
  CHECK(launch_error(looped("", no_steps, "[\"\"]")) == "l.toml:11:10: error: the expression is empty");
  // Where bytes of the text are not columns of the file, the place is the string's.
  CHECK(launch_error(looped("", no_steps, "[\"n\\t+ * 2\"]")) ==
        "l.toml:11:9: error: expected a number, a name, '-' or '(', found '*'");
  CHECK(launch_error(looped("", no_steps, "[\"\"\"\nn\n+ * 2\"\"\"]")) ==
        "l.toml:11:9: error: expected a number, a name, '-' or '(', found '*'");
  CHECK(launch_error(looped("", no_steps, "[1, 2.5]")) ==
        "l.toml:11:12: error: 'grid' holds a floating-point number, expected integers");
  CHECK(launch_error(
            looped("", "[[step]]\nrepeat = 2\ncounter = \"kk\"\nsteps = [{ run = \"l\" }]\n", "[\"n + (kkk + 1)\"]")) ==
        "l.toml:11:15: error: 'kkk' is no constant, and launch 'l' runs outside of a loop that counts it; did you mean "
        "'kk'?");
  CHECK(launch_error(looped(scalar_param("1 + k", "s32"), "")) ==
        "l.toml:13:31: error: 'k' is no constant, and launch 'l' runs outside of a loop that counts it; did you mean "
        "'m'?");
  CHECK(launch_error(looped(scalar_param("100 * k", "s8"), repeated("2")) + "").empty());
  CHECK(launch_error(looped(scalar_param("100 * k", "s8"), repeated("3"))) ==
        "l.toml:13:26: error: the value 200 does not fit type s8, expected -128 to 127 (k = 2)");
  CHECK(launch_error(looped(scalar_param("n - 129", "u64"), "")) ==
        "l.toml:13:26: error: the value -1 does not fit type u64, expected 0 to 9223372036854775807 (n = 128)");
  CHECK(launch_error(looped(scalar_param("65520 - 1 + k", "f16"), repeated("2"))) ==
        "l.toml:13:26: error: the value 65520 is too large for type f16 (k = 1)");
  CHECK(launch_error(looped("params = [{ expression = 3, type = \"s32\" }]", "")) ==
        "l.toml:13:26: error: 'expression' is an integer, expected a string");
  CHECK(
      launch_error(looped("params = [{ expression = \"3\" }]", "")) ==
      "l.toml:13:11: error: [[launch.params]] has no 'type' (s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64)");
  CHECK(launch_error(looped("params = [{ buffer = \"a\", offset = \"32 * k\" }]", repeated("4"))) ==
        "l.toml:13:36: error: 'offset' is 96, expected 0 to 64 (k = 3)");
  CHECK(launch_error(looped("params = [{ buffer = \"a\", offset = \"n\" }]", repeated("4"))) ==
        "l.toml:13:36: error: 'offset' is 128, buffer 'a' has 64 bytes");
  CHECK(launch_error(looped("",
                            "[[step]]\nrepeat = 3\ncounter = \"k\"\nsteps = [{ repeat = \"1 - k\", steps = [{ run "
                            "= \"l\" }] }]\n")) ==
        "l.toml:17:21: error: 'repeat' is -1, expected 0 to 9223372036854775807 (k = 2)");
  CHECK(
      launch_error(looped("", repeated("\"n - j\""))) ==
      "l.toml:15:15: error: 'j' is no constant, and the loop runs outside of a loop that counts it; did you mean 'm'?");
  CHECK(launch_error(looped("", repeated("\"m\""))) ==
        "l.toml:15:10: error: 'repeat' is -1, expected 0 to 9223372036854775807 (m = -1)");
  CHECK(launch_error(looped("", "[[step]]\nfill = \"a\"\nbytes = \"nn\"\n")) ==
        "l.toml:16:10: error: no constant is called 'nn'; did you mean 'n'?");
}

TEST_CASE("errors of constants, word for word") {
  const std::string head = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n";
  CHECK(launch_error(head + "constants = 3\n") ==
        "l.toml:5:13: error: 'constants' is an integer, expected a [constants] table");
  CHECK(launch_error(head + "[constants]\n\"2n\" = 3\n") ==
        "l.toml:6:8: error: a constant is called '2n', expected letters, digits, '_' and '.', no digit first");
  CHECK(launch_error(head + "[constants]\nn = 3.0\n") ==
        "l.toml:6:5: error: constant 'n' is a floating-point number, expected an integer");
  CHECK(launch_error(looped("", "[[step]]\nrepeat = 2\ncounter = \"n\"\nsteps = [{ run = \"l\" }]\n")) ==
        "l.toml:16:11: error: 'n' is a constant: count by another name");
  CHECK(launch_error("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [\"k\"]\nblock = [1]\n[constants]\nkk = 1\n") ==
        "l.toml:3:10: error: no constant is called 'k'; did you mean 'kk'?");
  CHECK(launch_error(head + "[[param]]\nexpression = \"k\"\ntype = \"s32\"\n") ==
        "l.toml:6:15: error: no constant is called 'k'");
}

// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/launch_file.h>
#include <regatta/launch/program.h>
#include <regatta/test/catch.h>

#include <cstring>

#include "temporary_file.h"

using namespace regatta;
using namespace regatta::launch;
using test::TemporaryFile;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_launch_file(text, "l.toml");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

const std::string single = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [4, 2]\nblock = [64]\n";
const std::string program =
    "ptx = \"k.ptx\"\n[[buffer]]\nname = \"a\"\nbytes = 64\n[[buffer]]\nname = \"flag\"\nbytes = 4\n"
    "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\n";

}  // namespace

TEST_CASE("the single-launch form") {
  const LaunchFile f = parse_launch_file(
      "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [4, 2]\nblock = [64]\ndynamic_shared = 512\n"
      "[[param]]\nscalar = -3\ntype = \"s32\"\n"
      "[[param]]\nscalar = 1.5\ntype = \"f32\"\n"
      "[[param]]\nscalar = [1, 2]\ntype = \"u16\"\n"
      "[[param]]\nbuffer = 256\ninit = \"uniform\"\ntype = \"f32\"\nlow = 2.0\nhigh = 3.0\nseed = 7\n"
      "[[global]]\nname = \"g\"\ninit = \"constant\"\ntype = \"u8\"\nvalue = 4\n",
      "some/where/l.toml");
  CHECK(f.ptx == std::vector<std::string>{"some/where/k.ptx"});
  REQUIRE(f.launches.size() == 1);
  const Launch& l = f.launches[0];
  CHECK(l.grid == std::array<std::uint32_t, 3>{4, 2, 1});
  CHECK(l.block == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(l.dynamic_shared == 512);
  REQUIRE(l.parameters.size() == 4);
  CHECK(l.parameters[0].bits == std::vector<std::uint64_t>{0xfffffffd});
  CHECK(l.parameters[1].bits == std::vector<std::uint64_t>{0x3fc00000});
  CHECK(l.parameters[2].bits == std::vector<std::uint64_t>{1, 2});
  REQUIRE(f.buffers.size() == 1);
  CHECK(f.buffers[0].name == "param3");
  CHECK(f.buffers[0].contents.fill.seed == 7);
  REQUIRE(f.globals.size() == 1);
  CHECK(make_contents(f, Contents{f.globals[0].contents.fill, "", 3}, {}) == std::vector<std::uint8_t>{4, 4, 4});
  REQUIRE(f.steps.size() == 1);
}

TEST_CASE("the program form") {
  const LaunchFile f = parse_launch_file(program +
                                             "name = \"first\"\nparams = [{ buffer = \"a\", offset = 16 }, { counter = "
                                             "\"t\", type = \"s32\", scale = 5, offset = 2 }]\n"
                                             "[[step]]\nrepeat = 3\ncounter = \"t\"\nsteps = [{ run = \"first\" }, { "
                                             "while = \"flag\", max = 9, steps = [{ run = \"first\" }] }]\n"
                                             "[[step]]\nswap = [\"a\", \"a\"]\n",
                                         "l.toml");
  REQUIRE(f.steps.size() == 2);
  CHECK(f.steps[0].kind == Step::Kind::repeat);
  CHECK(f.steps[0].times == 3);
  REQUIRE(f.steps[0].steps.size() == 2);
  CHECK(f.steps[0].steps[1].kind == Step::Kind::loop_while);
  CHECK(f.steps[0].steps[1].flag.index == 1);
  CHECK(f.steps[0].steps[1].max == 9);
  CHECK(f.steps[1].kind == Step::Kind::swap);
  CHECK(f.launches[0].parameters[0].buffer_offset == 16);
  CHECK(f.launches[0].parameters[1].scale == 5);
  // Without steps every launch runs once, in order.
  CHECK(parse_launch_file(program, "l.toml").steps.size() == 1);
}

TEST_CASE("errors of a launch file, word for word") {
  CHECK(error_of("entry = \"k\"\n") == "l.toml:1:1: error: the launch file has no 'ptx'");
  CHECK(error_of(single + "cluster = [1, 1, 1]\n").empty());
  CHECK_THAT(
      error_of(single + "cluster = [1, 2]\n"),
      Catch::EndsWith("'cluster' has 2 CTAs in a dimension: clusters of several CTAs, and distributed shared memory, "
                      "are not supported"));
  CHECK_THAT(error_of(single + "cluster = 2\n"),
             Catch::EndsWith("'cluster' is an integer, expected an array of 1 to 3 integers"));
  CHECK_THAT(error_of(single + "cluster = [0]\n"),
             Catch::EndsWith("'cluster' holds 0, expected integers of at least 1"));
  CHECK(error_of("ptx = 3\n") == "l.toml:1:7: error: 'ptx' is an integer, expected a string");
  CHECK(error_of(single + "gird = [1]\n") ==
        "l.toml:5:1: error: unknown key 'gird' in the launch file; did you mean 'grid'?");
  CHECK(error_of("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [0]\nblock = [1]\n") ==
        "l.toml:3:9: error: 'grid' has 0 in dimension x, expected 1 to 2147483647");
  CHECK(error_of("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1, 65536]\nblock = [1]\n") ==
        "l.toml:3:12: error: 'grid' has 65536 in dimension y, expected 1 to 65535");
  CHECK(error_of("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32, 33]\n") ==
        "l.toml:4:9: error: a block of 32 x 33 x 1 has 1056 threads, expected at most 1024");
  CHECK(error_of("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1, 1, 1, 1]\nblock = [1]\n") ==
        "l.toml:3:8: error: 'grid' is an array of 4, expected an array of one to three integers");
  CHECK(error_of(single + "dynamic_shared = 999999\n") ==
        "l.toml:5:18: error: 'dynamic_shared' is 999999, expected 0 to 232448");
  CHECK(error_of(single + "[[param]]\nscalar = 1\n") ==
        "l.toml:5:1: error: [[param]] has no 'type' (s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64)");
  CHECK(error_of(single + "[[param]]\nscalar = 300\ntype = \"u8\"\n") ==
        "l.toml:6:10: error: the value 300 does not fit type u8, expected 0 to 255");
  CHECK(error_of(single + "[[param]]\nscalar = -1\ntype = \"u32\"\n") ==
        "l.toml:6:10: error: the value -1 does not fit type u32, expected 0 to 4294967295");
  CHECK(error_of(single + "[[param]]\nscalar = 1.5\ntype = \"s32\"\n") ==
        "l.toml:6:10: error: a scalar of type s32 is a floating-point number, expected an integer");
  CHECK(error_of(single + "[[param]]\nscalar = 1\ntype = \"i32\"\n") ==
        "l.toml:7:8: error: unknown type 'i32', expected s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64");
  CHECK(error_of(single + "[[param]]\ntype = \"s32\"\n") ==
        "l.toml:5:1: error: [[param]] has none of 'scalar', 'expression', 'buffer', 'texture', 'surface', "
        "'tensor_map', 'struct' and "
        "'members'");
  CHECK(error_of(single + "[[param]]\nbuffer = 10\ninit = \"iota\"\ntype = \"s32\"\n") ==
        "l.toml:6:10: error: 10 bytes are no whole number of s32 elements of 4 bytes");
  CHECK(error_of(single + "[[param]]\nbuffer = 8\ninit = \"unifrom\"\n") ==
        "l.toml:7:8: error: unknown init 'unifrom', expected zero, iota, constant, uniform, normal, image, power_law, "
        "offsets, text, sorted, points, file or none; did you mean 'uniform'?");
  CHECK(error_of(single + "[[param]]\nbuffer = 8\ninit = \"uniform\"\ntype = \"f32\"\nlow = 1\n") ==
        "l.toml:5:1: error: init = \"uniform\" needs 'high'");
  CHECK(error_of(single + "[[param]]\nbuffer = 8\ninit = \"uniform\"\ntype = \"f32\"\nlow = 2\nhigh = 1\n") ==
        "l.toml:10:8: error: 'high' is below 'low'");
  CHECK(error_of(single + "[[param]]\nbuffer = 8\nseed = 1\n") == "l.toml:7:1: error: unknown key 'seed' in [[param]]");
  CHECK(error_of(single + "[[param]]\nbuffer = 8\ntolerance = 0.1\n") ==
        "l.toml:7:13: error: 'tolerance' without 'expect'");
  CHECK(error_of("ptx = \n").rfind("l.toml:1:", 0) == 0);
}

TEST_CASE("errors of structured contents, word for word") {
  const auto error = [](const std::string& type, const std::string& keys) {
    return error_of(single + "[[param]]\nbuffer = 8\ntype = \"" + type + "\"\n" + keys);
  };
  const std::string range = "low = 0\nhigh = 9\n";
  CHECK(error("u8", "init = \"image\"\n" + range) == "l.toml:5:1: error: init = \"image\" needs 'width'");
  CHECK(error("u8", "init = \"image\"\nwidth = 0\n" + range) ==
        "l.toml:9:9: error: 'width' is 0, expected 1 to 2147483647");
  CHECK(error("u8", "init = \"image\"\nwidth = 2\nlow = 3\nhigh = 2\n") == "l.toml:11:8: error: 'high' is below 'low'");
  CHECK(error("f32", "init = \"offsets\"\n" + range) ==
        "l.toml:7:8: error: init = \"offsets\" has integers, found type f32");
  CHECK(error("s32", "init = \"power_law\"\nlow = -1\nhigh = 9\n") ==
        "l.toml:10:8: error: 'low' to 'high' is -1 to 9, expected at most 1048576 numbers from 0 on");
  CHECK(error("s32", "init = \"power_law\"\nexponent = 9\n" + range) ==
        "l.toml:9:12: error: 'exponent' is 9, expected 1 to 8");
  CHECK(error("u32", "init = \"text\"\n") ==
        "l.toml:7:8: error: init = \"text\" has symbols of a byte, found type u32");
  CHECK(error("u8", "init = \"text\"\nalphabet = \"\"\n") == "l.toml:9:12: error: 'alphabet' is empty");
  CHECK(error("u8", "init = \"text\"\nlow = 1\n") == "l.toml:9:1: error: unknown key 'low' in [[param]]");
  CHECK(error("u32", "init = \"sorted\"\nswaps = 1.5\n" + range) ==
        "l.toml:9:9: error: 'swaps' is no fraction from 0 to 1");
  CHECK(error("f32", "init = \"points\"\ndeviation = -1.0\n" + range) == "l.toml:9:13: error: 'deviation' is negative");
}

TEST_CASE("errors of programs, word for word") {
  CHECK(error_of("grid = [1]\n" + program) ==
        "l.toml:1:8: error: 'grid' belongs into a [[launch]] table, since there are such");
  CHECK(error_of(program + "params = [{ buffer = \"b\" }]\n") ==
        "l.toml:12:22: error: no [[buffer]] is called 'b'; did you mean 'a'?");
  CHECK(error_of(program + "params = [{ buffer = \"a\", offset = 65 }]\n") ==
        "l.toml:12:36: error: 'offset' is 65, buffer 'a' has 64 bytes");
  CHECK(error_of(program + "[[step]]\nrun = \"kk\"\n") ==
        "l.toml:13:7: error: no [[launch]] is called 'kk'; did you mean 'k'?");
  CHECK(error_of(program + "[[step]]\nswap = [\"a\", \"flag\"]\n") ==
        "l.toml:13:8: error: 'a' and 'flag' differ in size");
  CHECK(error_of(program + "[[step]]\nrepeat = 2\n") ==
        "l.toml:12:1: error: a loop without steps: give it 'steps = [...]'");
  CHECK(error_of(program + "[[step]]\nrepeat = 2\nrun = \"k\"\n") ==
        "l.toml:12:1: error: [[step]] has more than one of 'run', 'repeat', 'while', 'swap', 'fill', 'copy', "
        "'load', 'allocate', 'free', 'create' and 'destroy'");
  CHECK(error_of(program + "params = [{ counter = \"t\", type = \"s32\" }]\n[[step]]\nrun = \"k\"\n") ==
        "l.toml:12:11: error: the parameter follows counter 't', but launch 'k' runs outside of a loop that counts it");
  CHECK(error_of(single + "[[step]]\nrun = \"k\"\n") ==
        "l.toml:5:1: error: [[step]] tables need at least one [[launch]] table");
  CHECK(error_of(program + "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\n") ==
        "l.toml:12:1: error: there are two launches called 'k'; give one a 'name'");
}

TEST_CASE("a flag is its buffer, or the first word of a larger one, or as many bytes as the step says") {
  const auto flag = [](const std::string& bytes, const std::string& step) {
    const LaunchFile f = parse_launch_file(program + "[[buffer]]\nname = \"f\"\nbytes = " + bytes +
                                               "\n[[step]]\nwhile = \"f\"\n" + step + "steps = [{ run = \"k\" }]\n",
                                           "l.toml");
    return f.steps[0].bytes;
  };
  for (const char* bytes : {"1", "2", "4", "8"}) CHECK(flag(bytes, "") == std::stoul(bytes));
  CHECK(flag("16", "") == 4);
  CHECK(flag("5", "") == 4);
  for (const char* bytes : {"1", "2", "4", "8"})
    CHECK(flag("8", std::string("bytes = ") + bytes + "\n") == std::stoul(bytes));
  CHECK_THROWS_WITH(flag("3", ""),
                    "l.toml:16:9: error: the flag buffer 'f' has 3 bytes; give the flag's as bytes = 1 or 2");
  CHECK(flag("3", "bytes = 2\n") == 2);
  CHECK_THROWS_WITH(flag("8", "bytes = 3\n"), "l.toml:17:9: error: a flag of 3 bytes, expected 1, 2, 4 or 8");
  CHECK_THROWS_WITH(flag("8", "bytes = 9\n"), "l.toml:17:9: error: 'bytes' is 9, expected 1 to 8");
  CHECK_THROWS_WITH(flag("4", "bytes = 8\n"), "l.toml:17:9: error: 8 bytes from byte 0 on, buffer 'f' has 4");
}

TEST_CASE("steps that fill, load and copy") {
  const TemporaryFile file({1, 2, 3, 4, 5, 6, 7, 8});
  const auto step = [](const std::string& text) {
    return parse_launch_file(program + "[[step]]\n" + text + "\n", "l.toml").steps.at(0);
  };
  const auto error = [](const std::string& text) { return error_of(program + "[[step]]\n" + text + "\n"); };
  const std::string load = "load = \"a\"\nfile = \"" + file.path() + "\"\n";
  Step s = step("fill = \"a\"\ninit = \"constant\"\ntype = \"u16\"\nvalue = 7\noffset = 2\nbytes = 6");
  CHECK(s.kind == Step::Kind::fill);
  CHECK(!s.to.is_variable());
  CHECK(s.to.index == 0);
  CHECK(s.to.offset == 2);
  CHECK(s.bytes == 6);
  CHECK(s.contents.bytes == 6);
  CHECK(s.contents.fill.integer_value == 7);
  CHECK(step("fill = \"a\"\noffset = 60").bytes == 4);
  s = step(load + "offset = 8");
  CHECK(s.kind == Step::Kind::fill);
  CHECK(s.contents.file == file.path());
  CHECK(s.bytes == 8);
  CHECK(s.to.offset == 8);
  CHECK(step(load + "bytes = 8").bytes == 8);
  s = step("copy = \"a\"\nto = \"flag\"\noffset = 56\nto_offset = 1\nbytes = 3");
  CHECK(s.kind == Step::Kind::copy);
  CHECK(s.from.index == 0);
  CHECK(s.to.index == 1);
  CHECK(s.from.offset == 56);
  CHECK(s.to.offset == 1);
  CHECK(s.bytes == 3);
  CHECK(step("copy = \"flag\"\nto = \"a\"").bytes == 4);

  CHECK(error("fill = \"b\"") == "l.toml:13:8: error: no [[buffer]] is called 'b'; did you mean 'a'?");
  CHECK(error("fill = \"a\"\noffset = 64") == "l.toml:14:10: error: 'offset' is 64, buffer 'a' has 64 bytes");
  CHECK(error("fill = \"a\"\noffset = 60\nbytes = 5") ==
        "l.toml:15:9: error: 5 bytes from byte 60 on, buffer 'a' has 64");
  CHECK(error("fill = \"a\"\ninit = \"iota\"\ntype = \"f32\"\noffset = 2") ==
        "l.toml:15:8: error: the 62 bytes of buffer 'a' are no whole number of f32 elements of 4 bytes");
  CHECK(error("fill = \"a\"\ninit = \"none\"") ==
        "l.toml:14:8: error: init = \"none\" is no contents to fill memory with");
  CHECK(error("fill = \"a\"\nvalue = 3") == "l.toml:14:1: error: unknown key 'value' in [[step]]");
  CHECK(error("load = \"a\"") == "l.toml:12:1: error: [[step]] has no 'file'");
  CHECK(error("load = \"a\"\nfile = \"none.bin\"") == "l.toml:14:8: error: cannot read 'none.bin'");
  CHECK(error("load = \"flag\"\nfile = \"" + file.path() + "\"") ==
        "l.toml:14:8: error: 8 bytes from byte 0 on, buffer 'flag' has 4");
  CHECK(error("copy = \"a\"") == "l.toml:12:1: error: [[step]] has no 'to'");
  CHECK(error("copy = \"a\"\nto = \"flag\"") == "l.toml:13:8: error: 64 bytes from byte 0 on, buffer 'flag' has 4");
  CHECK(error("copy = \"a\"\nto = \"flag\"\nbytes = 4\nto_offset = 1") ==
        "l.toml:15:9: error: 4 bytes from byte 1 on, buffer 'flag' has 4");
  CHECK(error("copy = \"a\"\nload = \"a\"") ==
        "l.toml:12:1: error: [[step]] has more than one of 'run', 'repeat', 'while', 'swap', 'fill', 'copy', 'load', "
        "'allocate', 'free', 'create' and 'destroy'");
  CHECK(
      error("max = 3") ==
      "l.toml:12:1: error: [[step]] has none of 'run', 'repeat', 'while', 'swap', 'fill', 'copy', 'load', 'allocate', "
      "'free', 'create' and 'destroy'");
}

TEST_CASE("steps on variables") {
  const std::string globals = "[[global]]\nname = \"g\"\ninit = \"module\"\n[[global]]\nname = \"a\"\n";
  const LaunchFile f = parse_launch_file(
      program + globals +
          "[[step]]\nfill = \"g\"\noffset = 4\n[[step]]\ncopy = \"g\"\nto = \"a\"\n[[step]]\nwhile = \"g\"\nsteps = [{ "
          "copy = \"a\", to = \"g\", to_offset = 12 }]\n",
      "l.toml");
  CHECK(f.globals[0].contents.fill.init == Init::none);
  CHECK(f.globals[1].contents.fill.init == Init::zero);
  CHECK(f.steps[0].to.is_variable());
  CHECK(f.steps[0].to.index == 0);
  CHECK(f.steps[0].to.offset == 4);
  CHECK(f.steps[0].bytes == 0);
  CHECK(f.steps[1].from.is_variable());
  CHECK(!f.steps[1].to.is_variable());  // a buffer of the same name goes before
  CHECK(f.steps[2].flag.is_variable());
  CHECK(f.steps[2].bytes == 0);
  CHECK(f.steps[2].steps[0].bytes == 64);
  CHECK(f.steps[2].steps[0].to.offset == 12);
  CHECK(error_of(program + "[[global]]\nname = \"g\"\ninit = \"module\"\nbytes = 4\n") ==
        "l.toml:15:1: error: unknown key 'bytes' in [[global]]");
  CHECK(error_of(program + globals + "[[step]]\nfill = \"h\"\n").find("no [[buffer]] is called 'h'") !=
        std::string::npos);
}

TEST_CASE("the PTX files of a launch file") {
  const std::string rest = "entry = \"k\"\ngrid = [1]\nblock = [32]\n";
  const auto files = [](const std::string& text) { return parse_launch_file(text, "d/l.toml"); };
  using Names = std::vector<std::string>;
  CHECK(files("ptx = [\"a.ptx\", \"b.ptx\", \"a.ptx\"]\n" + rest).ptx == Names{"d/a.ptx", "d/b.ptx"});
  const LaunchFile own =
      files("[[launch]]\nptx = \"a.ptx\"\n" + rest + "[[launch]]\nname = \"second\"\nptx = \"b.ptx\"\n" + rest +
            "[[global]]\nname = \"g\"\nptx = \"b.ptx\"\n[[global]]\nname = \"h\"\n");
  CHECK(own.ptx == Names{"d/a.ptx", "d/b.ptx"});
  CHECK(own.launches[0].module == 0);
  CHECK(own.launches[1].module == 1);
  CHECK(own.globals[0].module == 1);
  CHECK(!own.globals[1].module);
  const LaunchFile mixed =
      files("ptx = \"a.ptx\"\n[[launch]]\n" + rest + "[[launch]]\nname = \"l\"\nptx = \"b.ptx\"\n" + rest);
  CHECK(mixed.ptx == Names{"d/a.ptx", "d/b.ptx"});
  CHECK(!mixed.launches[0].module);
  CHECK(error_of("ptx = []\n" + rest) == "l.toml:1:7: error: 'ptx' is an empty array");
  CHECK(error_of("ptx = [\"a.ptx\", 3]\n" + rest) ==
        "l.toml:1:17: error: 'ptx' holds an integer, expected names of files");
  CHECK(error_of("ptx = [\"\"]\n" + rest) == "l.toml:1:8: error: 'ptx' holds an empty name");
  CHECK(error_of("[[launch]]\nptx = \"a.ptx\"\n" + rest + "[[launch]]\nname = \"l\"\n" + rest) ==
        "l.toml:1:1: error: the launch file has no 'ptx'");
}

TEST_CASE("expectations: bit for bit, or within a tolerance") {
  const float expected[4] = {1.0f, 2.0f, -4.0f, 0.0f};
  std::vector<std::uint8_t> bytes(16);
  std::memcpy(bytes.data(), expected, 16);
  const TemporaryFile file(bytes);
  LaunchFile f;
  f.file = "l.toml";
  Buffer b;
  b.name = "c";
  b.expect.file = file.path();
  b.contents.bytes = 16;
  b.expect.type = ir::Type::f32;
  b.where = {3, 1};
  CHECK(check_expectation(f, "buffer 'c'", b.expect, b.where, bytes).empty());
  const float got[4] = {1.0f, 2.0001f, -4.5f, 0.0f};
  std::memcpy(bytes.data(), got, 16);
  CHECK(check_expectation(f, "buffer 'c'", b.expect, b.where, bytes) ==
        "l.toml:3:1: error: buffer 'c' differs from '" + file.path() +
            "' in 2 of 4 elements; the first is element 1 (f32): got 2.0000999, expected 2");
  b.expect.relative = 1e-3;
  CHECK(check_expectation(f, "buffer 'c'", b.expect, b.where, bytes) ==
        "l.toml:3:1: error: buffer 'c' differs from '" + file.path() +
            "' in 1 of 4 elements; the first is element 2 (f32): got -4.5, expected -4 (tolerance 0.001)");
  bytes.resize(12);
  CHECK_THROWS_AS(check_expectation(f, "buffer 'c'", b.expect, b.where, bytes), trace::InputError);
}

TEST_CASE("contents from a file") {
  const TemporaryFile file({1, 2, 3, 4, 5, 6, 7, 8});
  const LaunchFile f =
      parse_launch_file(single + "[[param]]\nbuffer = 8\ninit = \"file\"\nfile = \"" + file.path() + "\"\n", "l.toml");
  CHECK(make_contents(f, f.buffers[0].contents, f.buffers[0].where) ==
        std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  const LaunchFile sized = parse_launch_file(
      single + "[[param]]\nname = \"x\"\ninit = \"file\"\nfile = \"" + file.path() + "\"\n", "l.toml");
  CHECK(sized.buffers[0].name == "x");
  CHECK(sized.buffers[0].contents.bytes == 8);
  CHECK(error_of(single + "[[param]]\nfile = \"" + file.path() + "\"\n") ==
        "l.toml:5:1: error: [[param]] has none of 'scalar', 'expression', 'buffer', 'texture', 'surface', "
        "'tensor_map', 'struct' and "
        "'members'");
  const LaunchFile g =
      parse_launch_file(single + "[[param]]\nbuffer = 16\ninit = \"file\"\nfile = \"" + file.path() + "\"\n", "l.toml");
  try {
    make_contents(g, g.buffers[0].contents, g.buffers[0].where);
    FAIL("a short file was accepted");
  } catch (const trace::InputError& e) {
    CHECK(std::string(e.what()) == "l.toml:5:1: error: '" + file.path() + "' has 8 bytes, expected 16");
  }
  CHECK_THROWS_WITH(read_launch_file("/nonexistent/l.toml"),
                    "cannot read '/nonexistent/l.toml': No such file or directory");
}

TEST_CASE("a file without an end is refused") {
  CHECK_THROWS_WITH(read_launch_file("/dev/zero"), "cannot read '/dev/zero': it is a device, expected a file");
  const LaunchFile f =
      parse_launch_file(single + "[[param]]\nbuffer = 8\ninit = \"file\"\nfile = \"/dev/zero\"\n", "l.toml");
  CHECK_THROWS_WITH(make_contents(f, f.buffers[0].contents, f.buffers[0].where),
                    "l.toml:5:1: error: cannot read '/dev/zero': it is a device, expected a file");
}

namespace {

/// What a program does to a device, in words.
struct Told : Device {
  std::vector<std::string> calls;
  std::uint64_t allocate(const Buffer& b) override {
    calls.push_back("allocate " + b.name + " at " + std::to_string(b.address.value_or(0)));
    return b.address.value_or(0x1000);
  }
  void release(std::uint64_t address) override { calls.push_back("release " + std::to_string(address)); }
  void write(std::uint64_t address, const void* from, std::size_t bytes) override {
    std::string text = "write " + std::to_string(address) + ":";
    for (std::size_t i = 0; i < bytes; ++i)
      text += " " + std::to_string(unsigned{static_cast<const std::uint8_t*>(from)[i]});
    calls.push_back(text);
  }
  void read(std::uint64_t, void*, std::size_t) const override {}
  std::uint64_t variable_bytes(const Global&) const override { return 8; }
  void write_variable(const Global& g, std::uint64_t offset, const void*, std::size_t bytes) override {
    calls.push_back("variable " + g.symbol + " " + std::to_string(offset) + " " + std::to_string(bytes));
  }
  void read_variable(const Global&, std::uint64_t, void*, std::size_t) const override {}
  void launch(const Launch& l, const ParameterBytes&) override {
    calls.push_back(l.name + (l.traced ? "" : ", not traced"));
  }
};

const std::string captured =
    "ptx = \"p.ptx\"\n[[global]]\nname = \"m.x\"\nsymbol = \"x\"\ninit = \"module\"\n"
    "[[buffer]]\nname = \"b\"\nbytes = 4\naddress = 4096\n"
    "[[launch]]\nname = \"l\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\ntrace = false\nparams = [{ buffer = \"b\" }]\n";

std::vector<std::string> told(const std::string& steps) {
  const LaunchFile f = parse_launch_file(captured + steps, "l.toml");
  Told device;
  Program(f, device).run();
  return device.calls;
}

std::string error_of_run(const std::string& steps) {
  try {
    told(steps);
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("buffers live from a step to a step, at their addresses, and loads take parts of files") {
  const TemporaryFile file({1, 2, 3, 4, 5, 6, 7, 8});
  const std::string load = "file = \"" + file.path() + "\"\nfile_offset = 3\nbytes = 2\n";
  const std::string make = "[[step]]\nallocate = \"b\"\n", end = "[[step]]\nfree = \"b\"\n";
  CHECK(told(make + "[[step]]\nload = \"b\"\noffset = 1\n" + load + "[[step]]\nload = \"m.x\"\n" + load +
             "[[step]]\nrun = \"l\"\n" + end + make) ==
        std::vector<std::string>{"allocate b at 4096", "write 4097: 4 5", "variable x 0 2", "l, not traced",
                                 "release 4096", "allocate b at 4096"});
  const auto gone = [](unsigned line) {
    return "l.toml:" + std::to_string(line) +
           ":1: error: buffer 'b' does not exist here: a step allocates it later, or has freed it";
  };
  CHECK(error_of_run("[[step]]\nfill = \"b\"\n" + make) == gone(17));
  CHECK(error_of_run(make + end + "[[step]]\nfill = \"b\"\n") == gone(21));
  CHECK(error_of_run(make + end + end) == gone(21));
  CHECK(error_of_run(make + end + "[[step]]\nrun = \"l\"\n").find("error: buffer 'b' does not exist here") !=
        std::string::npos);
  CHECK(error_of_run(make + make) == "l.toml:19:1: error: buffer 'b' exists already");
  CHECK(error_of_run(make + "[[step]]\nload = \"b\"\nfile = \"" + file.path() + "\"\nfile_offset = 7\nbytes = 2\n") ==
        "l.toml:19:1: error: cannot read '" + file.path() + "': it has no 2 bytes from byte 7 on, but 8");
  CHECK(error_of_run("[[step]]\nallocate = \"c\"\n") ==
        "l.toml:18:12: error: no [[buffer]] is called 'c'; did you mean 'b'?");
  CHECK(error_of(program + "[[step]]\nload = \"a\"\nfile = \"" + file.path() + "\"\nfile_offset = 1\n") ==
        "l.toml:15:15: error: 'file_offset' needs 'bytes'");
}

// SPDX-License-Identifier: Apache-2.0
//
// [[pointers]] and [[elements]]: addresses of buffers, and values, in other buffers and in variables.
#include <regatta/test/catch.h>

#include "memory_device.h"

using namespace regatta;
using namespace regatta::launch;
using test::launch_error;
using test::launched;
using test::MemoryDevice;

namespace {

/// Buffers a, b and t of 256 bytes follow each other.
const std::string three_buffers =
    "ptx = \"k.ptx\"\n[[struct]]\nname = \"Node\"\nfields = [{ name = \"x\", type = \"f32\" }, { name = \"next\", type "
    "= \"pointer\" }]\n"
    "[[buffer]]\nname = \"a\"\nbytes = 256\n[[buffer]]\nname = \"b\"\nbytes = 256\n"
    "[[buffer]]\nname = \"t\"\nbytes = 256\ninit = \"constant\"\ntype = \"u8\"\nvalue = 9\n"
    "[[global]]\nname = \"g\"\n"
    "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\nparams = []\n";
constexpr std::uint64_t a = MemoryDevice::first_address, b = a + 256, t = b + 256;
constexpr std::uint64_t nines = 0x0909090909090909u;

/// From line 24 on.
std::string table_error(const std::string& table, const std::string& lines) {
  return launch_error(three_buffers + "[[" + table + "]]\n" + lines);
}

}  // namespace

TEST_CASE("pointers in buffers and variables") {
  const MemoryDevice d = launched(three_buffers +
                                  "[[pointers]]\nin = \"t\"\nto = [\"a\", 0, { buffer = \"b\", offset = 16 }]\n"
                                  "[[pointers]]\nin = \"t\"\nat = 32\nto = \"a\"\noffset = 4\ncount = 3\nstep = 64\n"
                                  "[[pointers]]\nin = \"t\"\nat = 64\nto = \"b\"\ncount = 2\nstride = 24\n"
                                  "[[pointers]]\nin = \"g\"\nat = 8\nto = [\"t\", \"b\"]\n"
                                  "[[pointers]]\nin = \"t\"\nat = 120\nstride = 16\nto = [\"t\", \"a\"]\n");
  CHECK(d.at<std::uint64_t>(t) == a);
  CHECK(d.at<std::uint64_t>(t + 8) == 0);
  CHECK(d.at<std::uint64_t>(t + 16) == b + 16);
  CHECK(d.at<std::uint64_t>(t + 24) == nines);
  for (unsigned i = 0; i < 3; ++i) CHECK(d.at<std::uint64_t>(t + 32 + 8 * i) == a + 4 + 64 * i);
  CHECK(d.at<std::uint64_t>(t + 56) == nines);
  CHECK(d.at<std::uint64_t>(t + 64) == b);
  CHECK(d.at<std::uint64_t>(t + 72) == nines);
  CHECK(d.at<std::uint64_t>(t + 80) == nines);
  CHECK(d.at<std::uint64_t>(t + 88) == b);
  CHECK(d.at<std::uint64_t>(t + 120) == t);
  CHECK(d.at<std::uint64_t>(t + 128) == nines);
  CHECK(d.at<std::uint64_t>(t + 136) == a);
  const auto g = [&](std::size_t offset) {
    std::uint64_t v = 0;
    std::memcpy(&v, &d.variables.at("g")[offset], sizeof v);
    return v;
  };
  CHECK(g(0) == 0);
  CHECK(g(8) == t);
  CHECK(g(16) == b);
  CHECK(g(24) == 0);
}

TEST_CASE("pointers in fields, and elements by the names of fields") {
  const MemoryDevice d = launched(three_buffers +
                                  "[[elements]]\nin = \"t\"\nstruct = \"Node\"\nvalues = [{ x = 1.5, next = { buffer = "
                                  "\"t\", offset = 16 } }, { x = 2.5 }]\n"
                                  "[[elements]]\nin = \"t\"\nstruct = \"Node\"\nfirst = 3\nvalues = [{ x = -1 }]\n"
                                  "[[pointers]]\nin = \"t\"\nat = 16\nstruct = \"Node\"\nfield = \"next\"\nto = \"b\"\n"
                                  "count = 2\nstep = 8\n"
                                  "[[elements]]\nin = \"a\"\nat = 4\ntype = \"s16\"\nvalues = [1, -2, \"0xffff\"]\n"
                                  "[[elements]]\nin = \"g\"\ntype = \"f32\"\nfirst = 7\nvalues = [0.5]\n");
  CHECK(d.at<float>(t) == 1.5f);
  CHECK(d.at<std::uint32_t>(t + 4) == 0);  // padding
  CHECK(d.at<std::uint64_t>(t + 8) == t + 16);
  CHECK(d.at<float>(t + 16) == 2.5f);
  CHECK(d.at<std::uint64_t>(t + 24) == b);
  CHECK(d.at<std::uint64_t>(t + 32) == nines);
  CHECK(d.at<std::uint64_t>(t + 40) == b + 8);
  CHECK(d.at<float>(t + 48) == -1.0f);
  CHECK(d.at<std::uint64_t>(t + 56) == 0);
  CHECK(d.at<std::uint32_t>(a) == 0);
  CHECK(d.at<std::int16_t>(a + 4) == 1);
  CHECK(d.at<std::int16_t>(a + 6) == -2);
  CHECK(d.at<std::int16_t>(a + 8) == -1);
  CHECK(d.at<std::int16_t>(a + 10) == 0);
  float last = 0;
  std::memcpy(&last, &d.variables.at("g")[28], sizeof last);
  CHECK(last == 0.5f);
}

TEST_CASE("a swap exchanges names, and pointers stay with the memory") {
  const MemoryDevice d = launched(three_buffers +
                                  "[[pointers]]\nin = \"t\"\nto = [\"a\"]\n"
                                  "[[step]]\nswap = [\"a\", \"b\"]\n"
                                  "[[step]]\nfill = \"a\"\ninit = \"constant\"\ntype = \"u8\"\nvalue = 5\nbytes = 1\n");
  CHECK(d.at<std::uint64_t>(t) == a);
  CHECK(d.at<std::uint8_t>(a) == 0);
  CHECK(d.at<std::uint8_t>(b) == 5);
}

TEST_CASE("pointers in the form of one launch") {
  const MemoryDevice d = launched(
      "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nname = \"rows\"\nbuffer = 16\n"
      "[[param]]\nname = \"matrix\"\nbuffer = 64\n[[pointers]]\nin = \"rows\"\nto = \"matrix\"\ncount = 2\nstep = "
      "32\n");
  CHECK(d.at<std::uint64_t>(a) == b);
  CHECK(d.at<std::uint64_t>(a + 8) == b + 32);
}

TEST_CASE("errors of pointers, word for word") {
  const std::string in = "in = \"t\"\n";
  CHECK(table_error("pointers", "to = \"a\"\n") == "l.toml:24:1: error: [[pointers]] has no 'in'");
  CHECK(table_error("pointers", in) == "l.toml:24:1: error: [[pointers]] has no 'to'");
  CHECK(table_error("pointers", "in = \"c\"\n") ==
        "l.toml:25:6: error: no [[buffer]] is called 'c'; did you mean 'a'?");
  CHECK(table_error("pointers", in + "to = 3\n") ==
        "l.toml:26:6: error: 'to' is an integer, expected a buffer's name or an array");
  CHECK(table_error("pointers", in + "to = []\n") == "l.toml:26:6: error: 'to' is an empty array");
  CHECK(
      table_error("pointers", in + "to = [3]\n") ==
      "l.toml:26:7: error: 'to' holds an integer, expected names of buffers, { buffer = \"...\", offset = ... }, or 0 "
      "for a null pointer");
  CHECK(table_error("pointers", in + "to = [\"a\", \"tt\"]\n") ==
        "l.toml:26:12: error: no [[buffer]] is called 'tt'; did you mean 't'?");
  CHECK(table_error("pointers", in + "to = [{ buffer = \"a\", offset = 257 }]\n") ==
        "l.toml:26:32: error: 'offset' is 257, buffer 'a' has 256 bytes");
  CHECK(table_error("pointers", in + "to = [\"a\"]\ncount = 3\n") ==
        "l.toml:27:1: error: unknown key 'count' in [[pointers]]");
  CHECK(table_error("pointers", in + "to = \"a\"\nstride = 4\n") ==
        "l.toml:27:10: error: 'stride' is 4, expected 8 to 2147483648");
  CHECK(table_error("pointers", in + "to = \"a\"\ncount = 33\n") ==
        "l.toml:25:6: error: 264 bytes from byte 0 on, buffer 't' has 256");
  CHECK(table_error("pointers", in + "at = 8\nto = \"a\"\ncount = 2\nstride = 248\n") ==
        "l.toml:25:6: error: 256 bytes from byte 8 on, buffer 't' has 256");
  CHECK(table_error("pointers", in + "at = 240\nto = [\"a\", \"a\", \"a\"]\n") ==
        "l.toml:25:6: error: 8 bytes from byte 256 on, buffer 't' has 256");
  CHECK(table_error("pointers", in + "at = 256\nto = \"a\"\n") ==
        "l.toml:26:6: error: 'at' is 256, buffer 't' has 256 bytes");
  CHECK(table_error("pointers", in + "to = \"a\"\noffset = 8\ncount = 9\nstep = 32\n") ==
        "l.toml:26:6: error: address 8 is 8 + 256 bytes from the start of buffer 'a', which has 256");
  CHECK(table_error("pointers", in + "to = \"a\"\nstruct = \"Node\"\n") ==
        "l.toml:24:1: error: [[pointers]] has no 'field'");
  CHECK(table_error("pointers", in + "to = \"a\"\nstruct = \"Node\"\nfield = \"x\"\n") ==
        "l.toml:28:9: error: field 'x' is no pointer");
  CHECK(table_error("pointers", in + "to = \"a\"\nstruct = \"Node\"\nfield = \"text\"\n") ==
        "l.toml:28:9: error: struct 'Node' has no field 'text'; did you mean 'next'?");
  CHECK(table_error("pointers", "in = \"g\"\nat = 8\nto = \"a\"\ncount = 4\n") ==
        "l.toml:24:1: error: 32 bytes from byte 8 on, 'g' has 32");
  const std::string later = "[[step]]\nallocate = \"b\"\n";
  CHECK(table_error("pointers", in + "to = [\"b\"]\n" + later) ==
        "l.toml:26:7: error: buffer 'b' does not exist here: a step allocates it later, or has freed it");
  CHECK(table_error("pointers", "in = \"b\"\nto = \"a\"\n" + later) ==
        "l.toml:24:1: error: buffer 'b' does not exist here: a step allocates it later, or has freed it");
}

TEST_CASE("errors of elements, word for word") {
  const std::string in = "in = \"t\"\n", node = in + "struct = \"Node\"\n", halves = in + "type = \"f16\"\n";
  CHECK(table_error("elements", in + "values = [1]\n") ==
        "l.toml:24:1: error: [[elements]] has none of 'struct' and 'type'");
  CHECK(table_error("elements", node + "type = \"f32\"\n") ==
        "l.toml:24:1: error: [[elements]] has both of 'struct' and 'type'");
  CHECK(table_error("elements", node) == "l.toml:24:1: error: [[elements]] has no 'values'");
  CHECK(table_error("elements", node + "values = []\n") ==
        "l.toml:27:10: error: 'values' is an empty array, expected an array of elements");
  CHECK(table_error("elements", node + "values = 2\n") ==
        "l.toml:27:10: error: 'values' is an integer, expected an array of elements");
  CHECK(table_error("elements", node + "values = [2]\n") ==
        "l.toml:27:11: error: 'values' holds an integer, expected tables of fields of struct 'Node'");
  CHECK(table_error("elements", node + "values = [{ y = 2 }]\n") ==
        "l.toml:27:13: error: struct 'Node' has no field 'y'; did "
        "you mean 'x'?");
  CHECK(table_error("elements", node + "first = 15\nvalues = [{}, {}]\n") ==
        "l.toml:25:6: error: 16 bytes from byte 256 on, buffer 't' has 256");
  CHECK(table_error("elements", halves + "values = [1, true]\n") ==
        "l.toml:27:14: error: a scalar of type f16 is a boolean, expected a number");
  CHECK(table_error("elements", halves + "first = 127\nvalues = [1, 2]\n") ==
        "l.toml:25:6: error: 4 bytes from byte 254 on, buffer 't' has 256");
  CHECK(table_error("elements", node + "values = [{ x = { counter = \"k\" } }]\n") ==
        "l.toml:27:17: error: counter 'k' does not count here: no loop is around");
  CHECK(table_error("elements", node + "values = [{ x = { expression = \"k\" } }]\n") ==
        "l.toml:27:33: error: no constant is called 'k'");
}

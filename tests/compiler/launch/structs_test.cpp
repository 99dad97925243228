// SPDX-License-Identifier: Apache-2.0
//
// [[struct]] tables, against the same structures in C++.
#include <regatta/test/catch.h>

#include <cstddef>

#include "memory_device.h"

using namespace regatta;
using namespace regatta::launch;
using test::launch_error;
using test::launched;
using test::MemoryDevice;

namespace {

struct Box {
  std::int8_t tag;
  double low, high;
};
struct Node {
  float x;
  std::int16_t ids[3];
  Node* next;
  std::uint8_t flag;
  Box boxes[2];
  Node* children[2];
};

const std::string struct_tables =
    "[[struct]]\nname = \"Box\"\nfields = [{ name = \"tag\", type = \"s8\" }, { name = \"low\", type = \"f64\" },\n"
    "  { name = \"high\", type = \"f64\" }]\n"
    "[[struct]]\nname = \"Node\"\nfields = [{ name = \"x\", type = \"f32\" }, { name = \"ids\", type = \"s16\", count "
    "= 3 },\n  { name = \"next\", type = \"pointer\" }, { name = \"flag\", type = \"u8\" },\n"
    "  { name = \"boxes\", type = \"Box\", count = 2 }, { name = \"children\", type = \"pointer\", count = 2 }]\n";
const std::string one_kernel = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n";
const std::string b_param = "[[param]]\nname = \"b\"\nbuffer = 64\n";

/// The error of a [[struct]] with these lines, from line 5 on.
std::string struct_error(const std::string& lines) { return launch_error(one_kernel + "[[struct]]\n" + lines); }
std::string field_error(const std::string& fields) { return struct_error("name = \"S\"\nfields = [" + fields + "]\n"); }
/// Of a parameter of a Node, at line 16.
std::string value_error(const std::string& fields) {
  return launch_error(one_kernel + struct_tables + "[[param]]\nstruct = \"Node\"\nfields = { " + fields + " }\n");
}

template <class T>
T node_field(const MemoryDevice& d, std::size_t offset) {
  return d.parameter<T>(0, 1, offset);
}

}  // namespace

TEST_CASE("structures have the layout of C, and values by the names of their fields") {
  const MemoryDevice d = launched(
      one_kernel + struct_tables + b_param +
      "[[param]]\nstruct = \"Node\"\n[param.fields]\nx = 1.5\nids = [-1, 2]\nnext = { buffer = \"b\", offset = 8 }\n"
      "boxes = [{ high = 3.5 }, { tag = -4, low = 0.25 }]\nchildren = [0, { buffer = \"b\" }]\n"
      "[[param]]\nstruct = \"Box\"\n");
  REQUIRE(d.launches.size() == 1);
  CHECK(d.launches[0].second[1].size() == sizeof(Node));
  CHECK(node_field<float>(d, offsetof(Node, x)) == 1.5f);
  CHECK(node_field<std::int16_t>(d, offsetof(Node, ids)) == -1);
  CHECK(node_field<std::int16_t>(d, offsetof(Node, ids) + 2) == 2);
  CHECK(node_field<std::int16_t>(d, offsetof(Node, ids) + 4) == 0);
  CHECK(node_field<std::uint64_t>(d, offsetof(Node, next)) == MemoryDevice::first_address + 8);
  CHECK(node_field<std::uint8_t>(d, offsetof(Node, flag)) == 0);
  const std::size_t boxes = offsetof(Node, boxes), children = offsetof(Node, children);
  CHECK(node_field<double>(d, boxes + offsetof(Box, high)) == 3.5);
  CHECK(node_field<double>(d, boxes + offsetof(Box, low)) == 0);
  CHECK(node_field<std::int8_t>(d, boxes + sizeof(Box) + offsetof(Box, tag)) == -4);
  CHECK(node_field<double>(d, boxes + sizeof(Box) + offsetof(Box, low)) == 0.25);
  CHECK(node_field<std::uint64_t>(d, children) == 0);
  CHECK(node_field<std::uint64_t>(d, children + 8) == MemoryDevice::first_address);
  CHECK(d.launches[0].second[2] == std::vector<std::uint8_t>(sizeof(Box)));
}

TEST_CASE("fields follow counters, and places, sizes and alignments may be given") {
  const MemoryDevice d = launched(
      "ptx = \"k.ptx\"\n[constants]\nn = 10\n"
      "[[struct]]\nname = \"S\"\nalignment = 16\nfields = [{ name = \"a\", type = \"u8\" }, { name = \"b\", type = "
      "\"s32\", at = 20 },\n  { name = \"c\", type = \"u64\" }]\n"
      "[[struct]]\nname = \"T\"\nbytes = 100\nfields = [{ name = \"s\", type = \"S\" }, { name = \"f\", type = \"f32\" "
      "}]\n"
      "[[launch]]\nname = \"l\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\nparams = [\n"
      "  { struct = \"T\", fields = { s = { a = 3, b = { expression = \"n - k\" } }, f = { counter = \"k\", scale = 4 "
      "} "
      "} },\n"
      "  { members = [{ scalar = 1, type = \"u8\" }, { struct = \"S\", fields = { c = \"0xff00000000000000\" } }] }]\n"
      "[[step]]\nrepeat = 2\ncounter = \"k\"\nsteps = [{ run = \"l\" }]\n");
  REQUIRE(d.launches.size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(d.launches[k].second[0].size() == 100);
    CHECK(d.parameter<std::uint8_t>(k, 0) == 3);
    CHECK(d.parameter<std::int32_t>(k, 0, 20) == 10 - static_cast<int>(k));
    CHECK(d.parameter<float>(k, 0, 32) == 4 * static_cast<float>(k));
    CHECK(d.launches[k].second[1].size() == 48);
    CHECK(d.parameter<std::uint64_t>(k, 1, 16 + 24) == 0xff00000000000000u);
  }
}

TEST_CASE("errors of structures, word for word") {
  CHECK(struct_error("fields = []\n") == "l.toml:5:1: error: [[struct]] has no 'name'");
  CHECK(struct_error("name = \"f32\"\n") == "l.toml:6:8: error: a struct is called 'f32', which is a type already");
  CHECK(struct_error("name = \"pointer\"\n") ==
        "l.toml:6:8: error: a struct is called 'pointer', which is a type already");
  CHECK(struct_error("name = \"S\"\n") == "l.toml:6:8: error: struct 'S' has no 'fields'");
  CHECK(field_error("") == "l.toml:7:10: error: struct 'S' has no 'fields'");
  CHECK(field_error("{ name = \"x\" }") == "l.toml:7:11: error: a field has no 'type'");
  CHECK(field_error("{ type = \"f32\" }") == "l.toml:7:11: error: a field has no 'name'");
  CHECK(field_error("{ name = \"x\", type = \"f32\", cuont = 3 }") ==
        "l.toml:7:39: error: unknown key 'cuont' in a field; did you mean 'count'?");
  CHECK(field_error("{ name = \"x\", type = \"S\" }") ==
        "l.toml:7:32: error: unknown type 'S', expected s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64, "
        "pointer, or a [[struct]] above");
  CHECK(field_error("{ name = \"x\", type = \"pionter\" }") ==
        "l.toml:7:32: error: unknown type 'pionter', expected s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64, "
        "pointer, or a [[struct]] above; did you mean 'pointer'?");
  CHECK(field_error("{ name = \"x\", type = \"f32\" }, { name = \"x\", type = \"f32\" }") ==
        "l.toml:7:41: error: struct 'S' has two fields called 'x'");
  CHECK(field_error("{ name = \"x\", type = \"f32\" }, { name = \"y\", type = \"f32\", at = 2 }") ==
        "l.toml:7:74: error: field 'y' is at byte 2, the one before it ends at 4");
  CHECK(field_error("{ name = \"x\", type = \"f32\", count = 0 }") ==
        "l.toml:7:47: error: 'count' is 0, expected 1 to 1048576");
  CHECK(field_error("{ name = \"x\", type = \"u8\", at = 1073741824 }") ==
        "l.toml:7:11: error: struct 'S' has more than 1073741824 bytes");
  CHECK(struct_error("name = \"S\"\nbytes = 3\nfields = [{ name = \"x\", type = \"f32\" }]\n") ==
        "l.toml:7:9: error: 'bytes' is 3, the fields take 4");
  CHECK(struct_error("name = \"S\"\nalignment = 2\nfields = [{ name = \"x\", type = \"f32\" }]\n") ==
        "l.toml:7:13: error: 'alignment' is 2, expected a power of two from 4 on, which the fields need");
  CHECK(struct_error("name = \"S\"\nalignment = 12\nfields = [{ name = \"x\", type = \"f32\" }]\n") ==
        "l.toml:7:13: error: 'alignment' is 12, expected a power of two from 4 on, which the fields need");
  CHECK(struct_error("name = \"S\"\nfields = [{ name = \"x\", type = \"f32\" }]\n[[struct]]\nname = \"S\"\n") ==
        "l.toml:9:8: error: there are two structs called 'S'");
}

TEST_CASE("errors of values of structures, word for word") {
  CHECK(launch_error(one_kernel + struct_tables + "[[param]]\nstruct = \"Mode\"\n") ==
        "l.toml:15:10: error: no [[struct]] is called 'Mode'; did you mean 'Node'?");
  CHECK(launch_error(one_kernel + struct_tables + "[[param]]\nstruct = \"Node\"\nfields = 3\n") ==
        "l.toml:16:10: error: 'fields' is an integer, expected a table of fields of struct 'Node'");
  CHECK(launch_error(one_kernel + struct_tables + "[[param]]\nstruct = \"Node\"\nscalar = 3\n") ==
        "l.toml:14:1: error: [[param]] has more than one of 'scalar', 'expression', 'buffer', 'texture', 'surface', "
        "'tensor_map', "
        "'struct' and 'members'");
  CHECK(value_error("nxt = 0") == "l.toml:16:12: error: struct 'Node' has no field 'nxt'; did you mean 'next'?");
  CHECK(value_error("x = \"one\"") ==
        "l.toml:16:16: error: a scalar of type f32 is the string 'one', expected a number, or its bits as \"0x...\"");
  CHECK(value_error("flag = 256") == "l.toml:16:19: error: the value 256 does not fit type u8, expected 0 to 255");
  CHECK(value_error("ids = 3") == "l.toml:16:18: error: field 'ids' is an integer, expected an array of at most 3");
  CHECK(value_error("ids = [1, 2, 3, 4]") == "l.toml:16:18: error: field 'ids' has 4 elements, expected at most 3");
  CHECK(value_error("next = 16") ==
        "l.toml:16:19: error: field 'next' is an integer, expected { buffer = \"...\" }, or 0 for a null pointer");
  CHECK(value_error("next = { buffer = \"c\" }") == "l.toml:16:30: error: no buffer before this one is called 'c'");
  CHECK(value_error("next = { offset = 3 }") ==
        "l.toml:16:19: error: field 'next' has none of 'buffer', 'texture' and 'surface'");
  CHECK(value_error("x = { buffer = \"b\" }") ==
        "l.toml:16:16: error: field 'x' has none of 'counter' and 'expression'");
  CHECK(launch_error(one_kernel + "[[struct]]\nname = \"S\"\nfields = [{ name = \"t\", type = \"u64\" }]\n[[param]]\n"
                                  "struct = \"S\"\nfields = { t = {} }\n") ==
        "l.toml:10:16: error: field 't' has none of 'counter', 'expression', 'buffer', 'texture' and 'surface'");
  CHECK(value_error("x = { expression = \"k\" }") == "l.toml:16:32: error: no constant is called 'k'");
  CHECK(value_error("x = { counter = \"k\" }") ==
        "l.toml:16:16: error: counter 'k' does not count here: no loop is around");
  CHECK(value_error("boxes = [3]") ==
        "l.toml:16:21: error: field 'boxes' is an integer, expected a table of fields of struct 'Box'");
  CHECK(value_error("boxes = [{ law = 3 }]") ==
        "l.toml:16:23: error: struct 'Box' has no field 'law'; did you mean 'low'?");
}

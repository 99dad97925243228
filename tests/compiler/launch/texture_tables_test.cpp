// SPDX-License-Identifier: Apache-2.0
//
// [[array]], [[texture]] and [[surface]] tables: what they become, and each error.
#include <regatta/launch/program.h>
#include <regatta/test/catch.h>

#include <cstring>

using namespace regatta;
using namespace regatta::launch;

namespace {

const std::string one_launch = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n";
const std::string an_array = "[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 8\nheight = 4\n";
const std::string a_buffer = "[[param]]\nname = \"b\"\nbuffer = 256\n";

std::string message_of(const std::string& text) {
  try {
    parse_launch_file(text, "l.toml");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

/// Notes what a program asks for.
struct Recorder : Device {
  std::vector<std::string> calls;
  std::vector<std::uint8_t> texels;
  ParameterBytes parameters;
  std::uint64_t allocate(const Buffer&) override { return 0x1000; }
  void release(std::uint64_t) override {}
  void write(std::uint64_t, const void*, std::size_t) override {}
  void read(std::uint64_t, void*, std::size_t) const override {}
  std::uint64_t variable_bytes(const Global&) const override { return 0; }
  void write_variable(const Global&, std::uint64_t, const void*, std::size_t) override {}
  void read_variable(const Global&, std::uint64_t, void*, std::size_t) const override {}
  void launch(const Launch&, const ParameterBytes& p) override { parameters = p; }
  std::uint64_t create_array(const Array& a) override {
    calls.push_back("array " + a.data.name);
    texels.resize(a.data.contents.bytes);
    return 7;
  }
  void write_array(std::uint64_t id, const ArrayPart& part, const void* from) override {
    CHECK(part.texels() != 0);
    calls.push_back("write " + std::to_string(id));
    std::memcpy(texels.data(), from, texels.size());
  }
  void read_array(std::uint64_t, const ArrayPart&, void* to) const override {
    std::memcpy(to, texels.data(), texels.size());
  }
  std::uint64_t create_texture(const Texture& t, std::uint64_t memory) override {
    calls.push_back("texture " + t.name + " of " + std::to_string(memory));
    return 21;
  }
  std::uint64_t create_surface(const Surface& s, std::uint64_t a) override {
    calls.push_back("surface " + s.name + " of " + std::to_string(a));
    return 22;
  }
};

}  // namespace

TEST_CASE("arrays, textures and surfaces of a launch file") {
  const LaunchFile f = parse_launch_file(
      one_launch +
          "[[array]]\nname = \"a\"\nformat = \"u8 x 4\"\nwidth = 8\nheight = 4\nlayers = 3\ninit = \"uniform\"\nlow = "
          "1\n"
          "high = 9\nexpect = \"a.bin\"\n"
          "[[array]]\nname = \"line\"\nformat = \"f16\"\nwidth = 100\n"
          "[[texture]]\nname = \"t\"\narray = \"a\"\nfilter = \"linear\"\nread = \"normalized_float\"\nnormalized = "
          "true\n"
          "address = [\"wrap\", \"mirror\"]\nborder = [1, 2.5, 3, 4]\n"
          "[[texture]]\nreference = \"table\"\nbuffer = \"b\"\noffset = 16\nformat = \"s32 x 2\"\n"
          "[[texture]]\nname = \"plane\"\nbuffer = \"b\"\nformat = \"f32\"\nwidth = 7\nheight = 8\npitch = 32\n"
          "address = \"border\"\n"
          "[[surface]]\nname = \"s\"\narray = \"line\"\n"
          "[[param]]\ntexture = \"plane\"\n[[param]]\nsurface = \"s\"\n" +
          a_buffer,
      "l.toml");
  REQUIRE(f.arrays.size() == 2);
  CHECK(f.arrays[0].size.layers == 3);
  CHECK(f.arrays[0].format.channels == 4);
  CHECK(f.arrays[0].data.contents.bytes == 8 * 4 * 3 * 4);
  CHECK(f.arrays[0].data.contents.fill.type == ir::Type::u8);
  CHECK(f.arrays[0].data.expect.file == "a.bin");
  CHECK(f.arrays[1].data.contents.bytes == 200);
  REQUIRE(f.textures.size() == 3);
  const Texture& t = f.textures[0];
  CHECK(t.of_array);
  CHECK(t.linear_filter);
  CHECK(t.reads_normalized);
  CHECK(t.normalized_coordinates);
  CHECK(t.address ==
        std::array<TextureAddress, 3>{TextureAddress::wrap, TextureAddress::mirror, TextureAddress::mirror});
  CHECK(t.border == std::array<float, 4>{1, 2.5, 3, 4});
  CHECK(f.textures[1].name == "table");
  CHECK(f.textures[1].reference.name == "table");
  CHECK(f.textures[1].offset == 16);
  CHECK(f.textures[2].pitch == 32);
  CHECK(f.textures[2].address[2] == TextureAddress::border);
  REQUIRE(f.launches[0].parameters.size() == 3);
  CHECK(f.launches[0].parameters[0].kind == Parameter::Kind::texture);
  CHECK(f.launches[0].parameters[0].object == 2);
  CHECK(f.launches[0].parameters[1].bytes == 8);

  Recorder device;
  Program program(f, device);
  CHECK(device.calls == std::vector<std::string>{"array a", "write 7", "array line", "write 7", "texture t of 7",
                                                 "texture table of 4112", "texture plane of 4096", "surface s of 7"});
  program.run();
  CHECK(device.parameters[0] == std::vector<std::uint8_t>{21, 0, 0, 0, 0, 0, 0, 0});
  CHECK(device.parameters[1] == std::vector<std::uint8_t>{22, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a device without textures says so") {
  struct Plain : Recorder {
    std::uint64_t create_array(const Array& a) override { return Device::create_array(a); }
  } device;
  const LaunchFile f = parse_launch_file(one_launch + an_array, "l.toml");
  CHECK_THROWS_WITH(Program(f, device), "error: this device has no textures and surfaces");
}

TEST_CASE("errors of textures, word for word") {
  struct Bad {
    std::string text, message;
  };
  const Bad rows[] = {
      {"[[array]]\nname = \"a\"\nwidth = 8\nformat = \"f64\"\n",
       "8:10: error: 'format' is 'f64', expected s8, u8, s16, u16, s32, u32, f16 or f32, or several of them: \"u8 x "
       "4\""},
      {"[[array]]\nname = \"a\"\nwidth = 8\nformat = \"u8 x 3\"\n",
       "8:10: error: 'format' is 'u8 x 3', expected s8, u8, s16, u16, s32, u32, f16 or f32, or several of them: \"u8 x "
       "4\""},
      {"[[array]]\nname = \"a\"\nformat = \"f32\"\n", "5:1: error: [[array]] has no 'width'"},
      {"[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 4\ndepth = 4\n", "9:9: error: 'depth' without 'height'"},
      {"[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 4\nheight = 4\ndepth = 4\nlayers = 2\n",
       "11:10: error: an array has a 'depth' or 'layers', not both"},
      {"[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 100000\nheight = 100000\n",
       "5:1: error: array 'a' has 10000000000 texels, expected at most 268435456"},
      {"[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 4\nheight = 4\nlayers = 5\ncubes = true\n",
       "11:9: error: 'cubes' needs as many rows as texels in a row, and 6 'layers' a cube"},
      {"[[array]]\nname = \"a\"\nformat = \"f32\"\nwidth = 4\nbytes = 20\n",
       "9:9: error: 'bytes' is 20, the texels of array 'a' take 16"},
      {an_array + an_array, "11:8: error: there are two arrays called 'a'"},
      {an_array + "[[texture]]\nname = \"t\"\n", "10:1: error: [[texture]] has none of 'array' and 'buffer'"},
      {an_array + a_buffer + "[[texture]]\nname = \"t\"\narray = \"a\"\nbuffer = \"b\"\n",
       "13:1: error: [[texture]] has both of 'array' and 'buffer'"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"A\"\n",
       "12:9: error: no [[array]] is called 'A'; did you mean 'a'?"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\nfilter = \"cubic\"\n",
       "13:10: error: 'filter' is 'cubic', expected point or linear"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\naddress = \"repeat\"\n",
       "13:11: error: 'address' is 'repeat', expected wrap, clamp, mirror or border"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\naddress = 3\n",
       "13:11: error: 'address' is an integer, expected wrap, clamp, mirror or border"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\naddress = []\n",
       "13:11: error: 'address' needs one to three words"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\nread = \"float\"\n",
       "13:8: error: 'read' is 'float', expected element or normalized_float"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\nnormalized = 1\n",
       "13:14: error: 'normalized' is an integer, expected true or false"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\nborder = [1, 2]\n",
       "13:10: error: 'border' needs four numbers"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\nfiltr = \"point\"\n",
       "13:1: error: unknown key 'filtr' in [[texture]]; did you mean 'filter'?"},
      {a_buffer + "[[texture]]\nname = \"t\"\nbuffer = \"c\"\nformat = \"f32\"\n",
       "10:10: error: no buffer before this one is called 'c'; did you mean 'b'?"},
      {a_buffer + "[[texture]]\nname = \"t\"\nbuffer = \"b\"\nformat = \"f32\"\noffset = 256\n",
       "12:10: error: 'offset' is 256, buffer 'b' has 256 bytes"},
      {a_buffer + "[[texture]]\nname = \"t\"\nbuffer = \"b\"\nformat = \"f32\"\nheight = 4\n",
       "12:10: error: 'height' without 'width'"},
      {a_buffer + "[[texture]]\nname = \"t\"\nbuffer = \"b\"\nformat = \"f32\"\nwidth = 4\npitch = 64\n",
       "13:9: error: 'pitch' without 'height'"},
      {an_array + "[[texture]]\nname = \"t\"\narray = \"a\"\n[[texture]]\nname = \"t\"\narray = \"a\"\n",
       "13:1: error: there are two textures called 't'"},
      {"[[param]]\ntexture = \"t\"\n", "6:11: error: no [[texture]] is called 't'"},
      {an_array + "[[texture]]\nreference = \"t\"\narray = \"a\"\n[[param]]\ntexture = \"t\"\n",
       "14:11: error: 't' is bound to a reference, and no object to pass"},
      {an_array + "[[surface]]\nname = \"s\"\n[[param]]\nsurface = \"s\"\n", "10:1: error: [[surface]] has no 'array'"},
      {"[[param]]\nsurface = \"s\"\ntexture = \"t\"\n",
       "5:1: error: [[param]] has more than one of 'scalar', 'expression', 'buffer', 'texture', 'surface', "
       "'tensor_map', 'struct' "
       "and 'members'"},
  };
  for (const Bad& row : rows) {
    INFO(row.text);
    CHECK(message_of(one_launch + row.text) == "l.toml:" + row.message);
  }
}

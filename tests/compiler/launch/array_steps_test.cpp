// SPDX-License-Identifier: Apache-2.0
//
// Steps about arrays, textures and surfaces: what they do, against a device of plain vectors, and each error.
#include <regatta/launch/program.h>
#include <regatta/test/catch.h>

#include <cstring>
#include <map>

using namespace regatta;
using namespace regatta::launch;

namespace {

/// Six lines.
const std::string launch_head = "ptx = \"k.ptx\"\n[[launch]]\nname = \"go\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n";
const std::string some_memory =
    "[[buffer]]\nname = \"b\"\nbytes = 64\ninit = \"iota\"\ntype = \"u8\"\n"
    "[[array]]\nname = \"a\"\nformat = \"u8\"\nwidth = 4\nheight = 3\ninit = \"constant\"\nvalue = 7\n"
    "[[array]]\nname = \"c\"\nformat = \"u8\"\nwidth = 5\nheight = 2\ndepth = 2\n"
    "[[array]]\nname = \"w\"\nformat = \"f32\"\nwidth = 4\n";

std::string refusal_of(const std::string& text) {
  try {
    parse_launch_file(text, "l.toml");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

/// Memory from 4096 on, arrays as packed bytes.
struct PlainDevice : Device {
  struct Made {
    std::array<std::uint32_t, 3> size;
    std::size_t texel;
    std::vector<std::uint8_t> bytes;
  };
  static constexpr std::uint64_t base = 4096;
  std::vector<std::uint8_t> memory;
  std::map<std::uint64_t, Made> arrays;
  std::vector<std::string> calls;
  std::vector<ParameterBytes> launches;

  std::uint64_t allocate(const Buffer& b) override {
    memory.resize(memory.size() + b.contents.bytes);
    return base + memory.size() - b.contents.bytes;
  }
  void release(std::uint64_t) override {}
  void write(std::uint64_t at, const void* from, std::size_t n) override {
    std::memcpy(&memory.at(at - base), from, n);
  }
  void read(std::uint64_t at, void* to, std::size_t n) const override { std::memcpy(to, &memory.at(at - base), n); }
  std::uint64_t variable_bytes(const Global&) const override { return variable.size(); }
  void write_variable(const Global&, std::uint64_t offset, const void* from, std::size_t n) override {
    std::memcpy(variable.data() + offset, from, n);
  }
  void read_variable(const Global&, std::uint64_t offset, void* to, std::size_t n) const override {
    std::memcpy(to, variable.data() + offset, n);
  }
  std::vector<std::uint8_t> variable = std::vector<std::uint8_t>(16);
  void launch(const Launch&, const ParameterBytes& p) override { launches.push_back(p); }

  std::uint64_t create_array(const Array& a) override {
    const std::uint64_t id = 100 + calls.size();
    calls.push_back("array " + a.data.name);
    arrays[id] = {a.size.whole(), a.format.bytes(), std::vector<std::uint8_t>(a.data.contents.bytes)};
    return id;
  }
  void destroy_array(std::uint64_t id) override {
    calls.push_back("no array " + std::to_string(id));
    arrays.erase(id);
  }
  template <class Row>
  void rows(std::uint64_t id, const ArrayPart& p, const Row& row) const {
    const Made& m = arrays.at(id);
    for (std::size_t z = 0, n = 0; z < p.size[2]; ++z)
      for (std::size_t y = 0; y < p.size[1]; ++y, ++n)
        row((((p.at[2] + z) * m.size[1] + p.at[1] + y) * m.size[0] + p.at[0]) * m.texel, n, p.size[0] * m.texel);
  }
  void write_array(std::uint64_t id, const ArrayPart& p, const void* from) override {
    rows(id, p, [&](std::size_t at, std::size_t n, std::size_t bytes) {
      std::memcpy(&arrays.at(id).bytes.at(at), static_cast<const std::uint8_t*>(from) + n * bytes, bytes);
    });
  }
  void read_array(std::uint64_t id, const ArrayPart& p, void* to) const override {
    rows(id, p, [&](std::size_t at, std::size_t n, std::size_t bytes) {
      std::memcpy(static_cast<std::uint8_t*>(to) + n * bytes, &arrays.at(id).bytes.at(at), bytes);
    });
  }
  void copy_to_array(std::uint64_t id, const ArrayPart& p, std::uint64_t from, std::uint64_t pitch) override {
    rows(id, p, [&](std::size_t at, std::size_t n, std::size_t bytes) {
      std::memcpy(&arrays.at(id).bytes.at(at), &memory.at(from - base + n * pitch), bytes);
    });
  }
  void copy_from_array(std::uint64_t id, const ArrayPart& p, std::uint64_t to, std::uint64_t pitch) override {
    rows(id, p, [&](std::size_t at, std::size_t n, std::size_t bytes) {
      std::memcpy(&memory.at(to - base + n * pitch), &arrays.at(id).bytes.at(at), bytes);
    });
  }
  void copy_array(std::uint64_t to, const std::array<std::uint32_t, 3>& at, std::uint64_t from,
                  const ArrayPart& p) override {
    std::vector<std::uint8_t> moved(p.texels() * arrays.at(from).texel);
    read_array(from, p, moved.data());
    write_array(to, {at, p.size}, moved.data());
  }
  std::uint64_t create_texture(const Texture& t, std::uint64_t) override {
    calls.push_back("texture " + t.name + " as " + std::to_string(t.handle));
    return t.handle;
  }
  std::uint64_t create_surface(const Surface& s, std::uint64_t) override {
    calls.push_back("surface " + s.name + " as " + std::to_string(s.handle));
    return s.handle;
  }
  void destroy_texture(const Texture& t, std::uint64_t handle) override {
    calls.push_back("no texture " + t.name + " " + std::to_string(handle));
  }
  void destroy_surface(const Surface& s, std::uint64_t handle) override {
    calls.push_back("no surface " + s.name + " " + std::to_string(handle));
  }
};

/// The texels of arrays and the bytes of buffers after steps.
struct Outcome {
  std::string text;
  PlainDevice device;
  LaunchFile file;
  std::unique_ptr<Program> program;

  explicit Outcome(const std::string& steps, const std::string& before = "")
      : text(launch_head + some_memory + before + steps), file(parse_launch_file(text, "l.toml")) {
    program = std::make_unique<Program>(file, device);
    program->run();
  }
  std::vector<std::uint8_t> array(std::size_t index) const { return program->array(index); }
};

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("steps fill parts of arrays and copy between arrays, buffers and variables") {
  CHECK(Outcome("[[step]]\nfill = \"a\"\nat = [1, 1]\nsize = [2]\ninit = \"iota\"\nlow = 1\n").array(0) ==
        Bytes{7, 7, 7, 7, 7, 1, 2, 7, 7, 7, 7, 7});
  CHECK(Outcome("[[step]]\nfill = \"a\"\nat = [2, 1]\n").array(0) == Bytes{7, 7, 7, 7, 7, 7, 0, 0, 7, 7, 0, 0});
  // Rows of a buffer 10 bytes apart, from byte 3 on.
  CHECK(Outcome("[[step]]\ncopy = \"b\"\noffset = 3\npitch = 10\nto = \"a\"\nto_at = [1]\nsize = [3, 2]\n").array(0) ==
        Bytes{7, 3, 4, 5, 7, 13, 14, 15, 7, 7, 7, 7});
  // Without a size, what the array has from there on; without a pitch, packed.
  CHECK(Outcome("[[step]]\ncopy = \"b\"\nto = \"c\"\nto_at = [3, 0, 1]\n").array(1) ==
        Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 3});
  CHECK(Outcome("[[step]]\ncopy = \"a\"\nsize = [2, 2]\nto = \"c\"\nto_at = [1, 0, 1]\n").array(1) ==
        Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 0, 0, 0, 7, 7, 0, 0});
  const Outcome out("[[step]]\ncopy = \"a\"\nat = [3]\nto = \"b\"\nto_offset = 2\nto_pitch = 4\n");
  CHECK(out.program->buffer(0)[2] == 7);
  CHECK(out.program->buffer(0)[3] == 3);
  CHECK(out.program->buffer(0)[6] == 7);
  CHECK(out.program->buffer(0)[10] == 7);
  CHECK(out.program->buffer(0)[14] == 14);
  const Outcome variable(
      "[[step]]\ncopy = \"a\"\nsize = [2, 2]\nto = \"v\"\nto_offset = 1\nto_pitch = 3\n"
      "[[step]]\ncopy = \"v\"\noffset = 1\npitch = 3\nto = \"c\"\nto_at = [0, 0, 0]\nsize = [3, 2]\n",
      "[[global]]\nname = \"v\"\n");
  CHECK(variable.device.variable == Bytes{0, 7, 7, 0, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(variable.array(1) == Bytes{7, 7, 0, 0, 0, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("arrays, textures and surfaces begin and end with steps, with the handles that they are given") {
  const std::string tables =
      "[[array]]\nname = \"late\"\nformat = \"f32\"\nwidth = 4\naddress = 0x40000000\n"
      "[[texture]]\nname = \"t\"\nhandle = 77\narray = \"late\"\n"
      "[[texture]]\nname = \"u\"\nreference = \"ref\"\narray = \"late\"\n"
      "[[surface]]\nname = \"s\"\nhandle = 78\narray = \"late\"\n";
  std::string launches = launch_head;
  launches += "params = [{ texture = \"t\" }, { surface = \"s\" }]\n";
  const LaunchFile f = parse_launch_file(
      launches + tables +
          "[[step]]\nrepeat = 2\nsteps = [{ allocate = \"late\" }, { create = \"t\" }, { create = \"s\" }, { create = "
          "\"u\" }, { run = \"go\" }, { destroy = \"u\" }, { destroy = \"s\" }, { destroy = \"t\" }, { free = \"late\" "
          "}]\n",
      "l.toml");
  CHECK(f.arrays[0].data.address == 0x40000000u);
  PlainDevice device;
  Program program(f, device);
  CHECK(device.calls.empty());
  program.run();
  CHECK(device.calls == std::vector<std::string>{"array late", "texture t as 77", "surface s as 78", "texture u as 0",
                                                 "no texture u 0", "no surface s 78", "no texture t 77", "no array 100",
                                                 "array late", "texture t as 77", "surface s as 78", "texture u as 0",
                                                 "no texture u 0", "no surface s 78", "no texture t 77",
                                                 "no array 108"});
  REQUIRE(device.launches.size() == 2);
  CHECK(device.launches[1][0][0] == 77);
  CHECK(device.launches[1][1][0] == 78);
}

TEST_CASE("errors of steps with arrays, word for word") {
  struct Bad {
    std::string text, message;
  };
  const std::string start = launch_head + some_memory;  // 28 lines
  const Bad rows[] = {
      {"[[step]]\nfill = \"a\"\nat = [3, 1]\nsize = [2, 1]\n",
       "31:6: error: 2 x 1 x 1 texels at [3, 1, 0], array 'a' has 4 x 3 x 1"},
      {"[[step]]\nfill = \"a\"\nsize = [4, 4]\n",
       "31:8: error: 4 x 4 x 1 texels at [0, 0, 0], array 'a' has 4 x 3 x 1"},
      {"[[step]]\nfill = \"a\"\nat = [4]\n", "31:6: error: 1 x 3 x 1 texels at [4, 0, 0], array 'a' has 4 x 3 x 1"},
      {"[[step]]\nfill = \"a\"\nat = [-1]\n", "31:6: error: 'at' needs one to three whole numbers of 0 to 268435456"},
      {"[[step]]\nfill = \"a\"\nat = 1\n", "31:6: error: 'at' needs one to three whole numbers of 0 to 268435456"},
      {"[[step]]\nfill = \"a\"\nsize = [1, 0]\n",
       "31:8: error: 'size' needs one to three whole numbers of 1 to 268435456"},
      {"[[step]]\nfill = \"a\"\nsize = [1, 1, 1, 1]\n",
       "31:8: error: 'size' needs one to three whole numbers of 1 to 268435456"},
      {"[[step]]\nfill = \"a\"\nsize = [1.5]\n",
       "31:8: error: 'size' needs one to three whole numbers of 1 to 268435456"},
      {"[[step]]\nfill = \"a\"\nbytes = 11\n",
       "31:9: error: 11 bytes for 4 x 3 x 1 texels of array 'a', which take 12"},
      {"[[step]]\nload = \"a\"\nfile = \"f\"\nfile_offset = 0\nbytes = 13\n",
       "33:9: error: 13 bytes for 4 x 3 x 1 texels of array 'a', which take 12"},
      {"[[step]]\nfill = \"a\"\ninit = \"none\"\n", "31:8: error: init = \"none\" is no contents to fill memory with"},
      {"[[step]]\nfill = \"a\"\noffset = 3\n", "31:1: error: unknown key 'offset' in [[step]]"},
      {"[[step]]\nfill = \"a\"\nsize = [3, 1]\ntype = \"u16\"\n",
       "32:8: error: the 3 bytes of array 'a' are no whole number of u16 elements"},
      {"[[step]]\ncopy = \"b\"\nto = \"a\"\npitch = 3\n", "32:9: error: 'pitch' is 3, a row of 4 texels has 4 bytes"},
      {"[[step]]\ncopy = \"a\"\nto = \"b\"\nto_pitch = 40\n",
       "31:6: error: 84 bytes from byte 0 on, buffer 'b' has 64"},
      {"[[step]]\ncopy = \"b\"\noffset = 60\nto = \"a\"\n", "30:8: error: 12 bytes from byte 60 on, buffer 'b' has 64"},
      {"[[step]]\ncopy = \"a\"\nto = \"c\"\n", "29:1: error: 4 x 3 x 1 texels at [0, 0, 0], array 'c' has 5 x 2 x 2"},
      {"[[step]]\ncopy = \"a\"\nsize = [1]\nto = \"w\"\n",
       "32:6: error: a texel of array 'w' has 4 bytes, one of 'a' 1"},
      {"[[step]]\ncopy = \"a\"\nto = \"d\"\n", "31:6: error: no [[buffer]] is called 'd'; did you mean 'b'?"},
      {"[[step]]\ncreate = \"t\"\n", "30:10: error: no [[texture]] or [[surface]] is called 't'"},
      {"[[texture]]\nname = \"x\"\narray = \"a\"\n[[surface]]\nname = \"x\"\narray = \"a\"\n[[step]]\ndestroy = "
       "\"x\"\n",
       "36:11: error: 'x' is a texture and a surface: give one another name"},
      {"[[texture]]\nname = \"x\"\narray = \"a\"\nhandle = 0\n",
       "32:10: error: 'handle' is 0, expected 1 to 9223372036854775807"},
      {"[[texture]]\nname = \"x\"\nreference = \"r\"\narray = \"a\"\nhandle = 4\n",
       "33:10: error: a reference has no 'handle' to choose"},
      {"[[step]]\ncreate = \"t\"\nfree = \"a\"\n",
       "29:1: error: [[step]] has more than one of 'run', 'repeat', 'while', 'swap', 'fill', 'copy', 'load', "
       "'allocate', 'free', 'create' and 'destroy'"},
  };
  for (const Bad& row : rows) {
    INFO(row.text);
    const std::string got = refusal_of(start + row.text);
    CHECK(got == "l.toml:" + row.message);
  }
}

TEST_CASE("what does not exist when a step or a table needs it is an error with its place") {
  const std::string objects =
      "[[texture]]\nname = \"t\"\narray = \"a\"\n[[surface]]\nname = \"s\"\narray = \"a\"\n";  // 34 lines
  const auto run = [&](const std::string& more) {
    try {
      const LaunchFile f = parse_launch_file(launch_head + some_memory + objects + more, "l.toml");
      PlainDevice device;
      Program(f, device).run();
    } catch (const trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(run("[[step]]\nallocate = \"a\"\n") ==
        "l.toml:29:1: error: array 'a' does not exist here: a step allocates it later, or has freed it");
  CHECK(run("[[step]]\nfree = \"a\"\n[[step]]\nfill = \"a\"\n") ==
        "l.toml:37:1: error: array 'a' does not exist here: a step allocates it later, or has freed it");
  CHECK(run("[[step]]\nfree = \"a\"\n[[step]]\nfree = \"a\"\n") ==
        "l.toml:37:1: error: array 'a' does not exist here: a step allocates it later, or has freed it");
  CHECK(run("[[step]]\ncreate = \"t\"\n[[step]]\ncreate = \"t\"\n") ==
        "l.toml:37:1: error: texture 't' exists already");
  CHECK(run("[[step]]\ndestroy = \"s\"\n[[step]]\ndestroy = \"s\"\n") ==
        "l.toml:37:1: error: surface 's' does not exist here: a step creates it later, or has destroyed it");
  CHECK(run("[[step]]\nfree = \"a\"\n[[step]]\nallocate = \"a\"\n[[step]]\nallocate = \"a\"\n[[step]]\ncreate = \"t\"\n"
            "[[step]]\ncreate = \"s\"\n") ==
        "l.toml:35:1: error: array 'a' does not exist here: a step allocates it later, or has freed it");
  CHECK(run("[[global]]\nname = \"v\"\n[[step]]\ncopy = \"a\"\nto = \"v\"\nto_offset = 8\n") ==
        "l.toml:37:1: error: 12 bytes from byte 8 on, 'v' has 16");
}

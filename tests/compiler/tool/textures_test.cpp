// SPDX-License-Identifier: Apache-2.0
//
// Programs with textures from launch file to trace: results, references by name, versions, errors with their place.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <cstring>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// out[i] = t(i + 0.5) + table[i]; plane[i] = out[i]. With the PTX that nvcc makes of texture objects.
const std::string textured_kernel =
    ".version 9.0\n.target sm_75\n.address_size 64\n.global .texref table;\n"
    ".visible .entry k(.param .u64 t, .param .u64 s, .param .u64 out)\n{\n"
    ".reg .b32 %r<3>; .reg .f32 %f<16>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [t]; ld.param.u64 %d2, [s]; ld.param.u64 %d3, [out]; mov.u32 %r1, %tid.x;\n"
    "cvt.rn.f32.s32 %f1, %r1; add.f32 %f1, %f1, 0f3F000000;\n"
    "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f1}];\n"
    "tex.1d.v4.f32.s32 {%f6, %f7, %f8, %f9}, [table, {%r1}];\n"
    "add.f32 %f2, %f2, %f6; shl.b32 %r2, %r1, 2; sust.b.1d.b32.trap [%d2, {%r2}], {%f2};\n"
    "mul.wide.u32 %d4, %r1, 4; add.s64 %d3, %d3, %d4; st.global.f32 [%d3], %f2; ret;\n}\n";

const std::string launch_text =
    "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n"
    "[[array]]\nname = \"image\"\nformat = \"f32\"\nwidth = 32\ninit = \"iota\"\nlow = 1.0\n"
    "[[array]]\nname = \"plane\"\nformat = \"f32\"\nwidth = 32\nexpect = \"expected.bin\"\n"
    "[[texture]]\nname = \"t\"\narray = \"image\"\nfilter = \"linear\"\n"
    "[[texture]]\nreference = \"table\"\nbuffer = \"numbers\"\nformat = \"f32\"\n"
    "[[surface]]\nname = \"s\"\narray = \"plane\"\n"
    "[[param]]\ntexture = \"t\"\n[[param]]\nsurface = \"s\"\n[[param]]\nname = \"numbers\"\nbuffer = 128\n"
    "init = \"constant\"\ntype = \"f32\"\nvalue = 100.0\n";

tool::AnnotateOptions texture_options(const Folder& folder) {
  tool::AnnotateOptions o;
  o.launch = folder.file("l.toml");
  o.out = folder.file("k.rgt");
  return o;
}

std::string numbers_from(float from) {
  std::string bytes;
  for (unsigned i = 0; i < 32; ++i) {
    const float v = from + static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  return bytes;
}

}  // namespace

TEST_CASE("textures: a program runs, its arrays are compared and dumped, and its trace has version 4") {
  const Folder folder;
  folder.write("k.ptx", textured_kernel);
  folder.write("l.toml", launch_text);
  folder.write("expected.bin", numbers_from(101));
  for (const char* const target : {"generic", "sm_90"}) {
    tool::AnnotateOptions o = texture_options(folder);
    o.target = target;
    o.dumps = {{"plane", folder.file("plane.bin")}};
    const tool::AnnotateResult result = tool::annotate(o);
    CHECK(result.failed_expectations.empty());
    CHECK(folder.read("plane.bin") == numbers_from(101));
    const trace::Reader reader(folder.file("k.rgt"));
    CHECK(reader.version() == 4);
    CHECK(trace::accesses_textures(reader.kernels()[0]));
  }
  folder.write("expected.bin", numbers_from(102));
  CHECK(tool::annotate(texture_options(folder)).failed_expectations.size() == 1);
}

TEST_CASE("textures: errors name the place in the launch file") {
  const Folder folder;
  folder.write("k.ptx", textured_kernel);
  folder.write("expected.bin", numbers_from(101));
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = launch_text;
    text.replace(text.find(from), from.size(), to);
    folder.write("l.toml", text);
    const std::string e = error_of(texture_options(folder));
    const std::string prefix = folder.file("l.toml") + ":";
    CHECK(e.substr(0, prefix.size()) == prefix);
    return e.substr(std::min(prefix.size(), e.size()));
  };
  CHECK(error("reference = \"table\"", "reference = \"tables\"") ==
        "20:1: error: '" + folder.file("k.ptx") + "' has no .texref or .surfref called 'tables'");
  CHECK(
      error("buffer = \"numbers\"\nformat = \"f32\"", "buffer = \"numbers\"\nformat = \"f32\"\nfilter = \"linear\"") ==
      "20:1: error: a texture of linear memory cannot be filtered, expected filter mode point");
  CHECK(error("width = 32\ninit", "width = 200000\ninit") ==
        "5:1: error: array 'image' of 200000 texels is too large, expected at most 131072");
  CHECK(error("format = \"f32\"\nwidth = 32\ninit = \"iota\"\nlow = 1.0", "format = \"s32\"\nwidth = 32") ==
        "14:1: error: linear filtering of texels of s32 needs floats, expected a float format or read mode normalized "
        "float");
}

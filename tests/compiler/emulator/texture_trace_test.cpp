// SPDX-License-Identifier: Apache-2.0
//
// What a trace says of textures and surfaces: the static form, and the addresses of the texels.
#include "textures.h"

#include <regatta/test/catch.h>
#include <regatta/trace/touched_lines.h>

#include <algorithm>

using namespace regatta;
using namespace regatta::emulator;
using regatta::test::Machine;

namespace {

/// Runs `form` with a linear filter over an array, x = lane + 0.75 and the others 2.25, and returns the cursor at it.
struct Traced {
  Machine m;
  ArrayId array;
  test::KeepCtas sink;
  trace::WarpCursor cursor;
  std::uint64_t address[64] = {};

  Traced(const std::string& form, const ArrayShape& shape, const Sampler& s)
      : m(test::fetch_kernel(form)), array(m.textures.create_array("a", shape)) {
    m.parameter(m.textures.create_texture(TextureResource::of_array(array), s));
    std::vector<float> x(32), y(32, 2.25f);
    for (unsigned i = 0; i < 32; ++i) x[i] = static_cast<float>(i) + 0.75f;
    m.parameter(m.buffer("x", x));
    m.parameter(m.buffer("y", y));
    m.parameter(m.buffer("z", y));
    m.parameter(m.buffer("out", 512));
    m.request.block = {32, 1, 1};
    m.run(&sink);
    cursor = trace::WarpCursor(m.kernel, sink.ctas.at(0).warps.at(0));
    while (cursor.next()) {
      if (!trace::has_addresses(cursor.instruction())) continue;
      cursor.addresses(address);
      if (cursor.instruction().space == trace::MemorySpace::texture) break;
    }
  }
  std::uint64_t texel(unsigned n, unsigned lane) const {
    return n == 0 ? address[lane] : cursor.further_texel(n - 1)[lane];
  }
};

Sampler linear() {
  Sampler s;
  s.filter = FilterMode::linear;
  return s;
}

std::uint64_t place(const Machine& m, ArrayId array, std::uint32_t pitch_blocks, std::uint32_t x, std::uint32_t y) {
  TexelLayout l;
  l.base = m.textures.array_address(array);
  l.pitch = pitch_blocks * 512u;
  l.blocks = true;
  return l.address(std::uint64_t{x} * 4, y, 0);
}

}  // namespace

TEST_CASE("a fetch is a load of texture space with an address for each texel of a lane") {
  Traced t("tex.2d.v4.f32.f32", {40, 8, 0, 0, {}}, linear());
  const trace::StaticInstruction& i = t.cursor.instruction();
  CHECK(i.opcode == "tex.2d.rgba.f32.f32");
  CHECK(i.op_class == trace::OpClass::load);
  CHECK(i.destination_count == 4);
  CHECK(i.source_count == 2);  // the handle is a parameter
  CHECK(i.access_bytes == 16);
  CHECK(i.reads_memory);
  CHECK(!i.writes_memory);
  REQUIRE(t.cursor.further_texels() == 3);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned n = 0; n < 4; ++n) CHECK(t.texel(n, lane) == place(t.m, t.array, 3, lane + n % 2, 1 + n / 2));
  }
  // Neighbours share lines: 33 by 2 texels of blocks are few.
  trace::WarpCursor again(t.m.kernel, t.sink.ctas[0].warps[0]);
  trace::TouchedLines lines(128);
  while (again.next()) {
    if (trace::has_addresses(again.instruction())) {
      lines.take(again);
      if (again.instruction().space == trace::MemorySpace::texture) break;
    }
  }
  CHECK(lines.count() == 5);
  CHECK(lines.lanes() == 32);
}

TEST_CASE("the texels of one, three dimensions, of points and of gathers") {
  CHECK(Traced("tex.1d.v4.f32.f32", {40, 0, 0, 0, {}}, linear()).cursor.further_texels() == 1);
  CHECK(Traced("tex.3d.v4.f32.f32", {40, 8, 8, 0, {}}, linear()).cursor.further_texels() == 7);
  CHECK(Traced("tex.3d.v4.f32.f32", {40, 8, 8, 0, {}}, {}).cursor.further_texels() == 0);
  CHECK(Traced("tld4.r.2d.v4.f32.f32", {40, 8, 0, 0, {}}, {}).cursor.further_texels() == 3);
}

TEST_CASE("a texel of the border has no address") {
  Sampler s = linear();
  s.address.fill(AddressMode::border);
  Traced t("tex.2d.v4.f32.f32", {20, 8, 0, 0, {}}, s);
  CHECK(t.texel(0, 19) != trace::no_texel);
  CHECK(t.texel(1, 19) == trace::no_texel);
  CHECK(t.texel(0, 25) == trace::no_texel);
}

TEST_CASE("elements that nobody reads take no registers") {
  const std::string body =
      ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; ld.param.u64 %d1, [t]; ld.param.u64 %d2, [out];\n"
      "mov.u32 %r1, %tid.x; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}];\n"
      "st.global.f32 [%d2], %f2; st.global.f32 [%d2+4], %f4; ret;\n";
  Machine m(test::module_text(".param .u64 t, .param .u64 out", body));
  const auto& code = m.kernel.instructions;
  const auto i = std::find_if(code.begin(), code.end(), [](const auto& x) { return trace::has_texels(x); });
  REQUIRE(i != code.end());
  CHECK(i->opcode == "tex.1d.ga.f32.s32");
  CHECK(i->destination_count == 2);
  CHECK(i->access_bytes == 8);
  CHECK(trace::accesses_textures(m.kernel));
}

TEST_CASE("a store of four words to a plane takes two instructions, whose halves are apart") {
  const std::string body =
      ".reg .b64 %d<9>; .reg .b32 %r<9>; ld.param.u64 %d1, [t]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 16;\n"
      "sust.b.2d.v4.b32.clamp [%d1, {%r2, %r1}], {%r1, %r2, %r2, %r1}; ret;\n";
  Machine m(test::module_text(".param .u64 t", body));
  std::vector<const trace::StaticInstruction*> stores;
  for (const auto& i : m.kernel.instructions) {
    if (i.space == trace::MemorySpace::surface) stores.push_back(&i);
  }
  REQUIRE(stores.size() == 2);
  CHECK(stores[0]->opcode == "sust.b.2d.v2.b32.clamp");
  CHECK(stores[0]->op_class == trace::OpClass::store);
  CHECK(stores[0]->access_bytes == 8);
  CHECK(stores[0]->writes_memory);
  CHECK(std::abs(stores[0]->address_offset - stores[1]->address_offset) == 8);
}

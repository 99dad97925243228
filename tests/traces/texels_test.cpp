// SPDX-License-Identifier: Apache-2.0
//
// Several addresses a lane: what the encoder gets, the cursor and a file give back; what is refused.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/touched_lines.h>

#include <algorithm>
#include <set>

#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace texels {
namespace {

StaticInstruction instruction(const std::string& opcode, std::uint32_t id, OpClass op_class, MemorySpace space) {
  StaticInstruction i;
  i.opcode = opcode;
  i.opcode_id = id;
  i.op_class = op_class;
  i.space = space;
  if (space == MemorySpace::none) return i;
  i.access_bytes = 4;
  i.reads_memory = op_class == OpClass::load;
  i.writes_memory = op_class == OpClass::store;
  return i;
}

Kernel make_kernel(unsigned warp_size) {
  Kernel k;
  k.name = "k";
  k.warp_size = warp_size;
  k.instructions = {instruction("tex.2d.r.f32.f32", 0, OpClass::load, MemorySpace::texture),
                    instruction("ld.global.f32", 1, OpClass::load, MemorySpace::global),
                    instruction("sust.b.2d.b32.zero", 2, OpClass::store, MemorySpace::surface),
                    instruction("exit", 3, OpClass::exit, MemorySpace::none)};
  k.blocks = {{0, 4, {}, -1}};
  return k;
}

/// What one instruction did: as many addresses as it has texels, each for all lanes.
struct Access {
  LaneMask active = 0;
  std::vector<std::vector<std::uint64_t>> texels;
};

/// Rounds of the first three instructions, then the exit.
std::vector<Access> random_accesses(Random& random, unsigned warp_size, unsigned rounds) {
  std::vector<Access> all;
  for (unsigned n = 0; n < 3 * rounds; ++n) {
    Access a;
    a.active = random_mask(random, warp_size);
    const unsigned count = n % 3 == 0 ? 1 + random() % 8 : 1;
    for (unsigned t = 0; t < count; ++t) {
      std::vector<std::uint64_t> lanes(max_lanes);
      for (unsigned l = 0; l < max_lanes; ++l)
        lanes[l] = random() % 5 == 0 ? no_texel : 0x10'0000'0000 + random() % 4096 * 4;
      a.texels.push_back(lanes);
    }
    all.push_back(a);
  }
  return all;
}

WarpColumns encode(const Kernel& kernel, const std::vector<Access>& accesses) {
  WarpEncoder encoder(kernel);
  for (std::size_t n = 0; n < accesses.size(); ++n) {
    const Access& a = accesses[n];
    encoder.instruction(static_cast<std::uint32_t>(n % 3), a.active, a.active);
    std::vector<std::uint64_t> flat;
    for (const auto& lanes : a.texels) flat.insert(flat.end(), lanes.begin(), lanes.end());
    if (n % 3 == 1) {
      encoder.addresses(flat.data());
    } else {
      encoder.texels(flat.data(), static_cast<unsigned>(a.texels.size()));
    }
  }
  encoder.instruction(3, all_lanes(kernel.warp_size), all_lanes(kernel.warp_size));
  return encoder.finish();
}

void check(const Kernel& kernel, const WarpColumns& columns, const std::vector<Access>& accesses) {
  WarpCursor cursor(kernel, columns);
  for (const Access& a : accesses) {
    REQUIRE(cursor.next());
    std::uint64_t first[max_lanes] = {};
    cursor.addresses(first);
    REQUIRE(cursor.further_texels() == (a.active != 0 ? a.texels.size() - 1 : 0));
    for (std::size_t t = 0; a.active != 0 && t < a.texels.size(); ++t) {
      const std::uint64_t* const got = t == 0 ? first : cursor.further_texel(static_cast<unsigned>(t - 1));
      for (unsigned l = 0; l < kernel.warp_size; ++l) {
        if ((a.active >> l & 1) != 0) REQUIRE(got[l] == a.texels[t][l]);
      }
    }
  }
  REQUIRE(cursor.next());
  CHECK_FALSE(cursor.next());
  CHECK(cursor.leftover() == nullptr);
}

void write(Writer& writer, const Kernel& kernel, const WarpColumns& columns) {
  Launch launch;
  launch.kernel = writer.add_kernel(kernel);
  launch.block = {kernel.warp_size, 1, 1};
  Cta cta;
  cta.launch = writer.begin_launch(launch);
  cta.warps.push_back(columns);
  writer.add_cta(std::move(cta));
}

std::string message(const std::string& path) {
  try {
    Reader reader(path);
    const auto stream = reader.stream(0, 1000);
    while (stream->next()) {
    }
  } catch (const InputError& e) {
    return std::string(e.what()).substr(path.size() + 2);
  }
  return "";
}

}  // namespace

TEST_CASE("texels: a cursor gives back what the encoder got") {
  Random random(3);
  for (const unsigned warp_size : {32u, 64u}) {
    const Kernel kernel = make_kernel(warp_size);
    for (unsigned n = 0; n < 200; ++n) {
      const std::vector<Access> accesses = random_accesses(random, warp_size, 1 + n % 17);
      check(kernel, encode(kernel, accesses), accesses);
    }
  }
}

TEST_CASE("texels: a file with them has version 4, and gives them back") {
  const TemporaryDirectory directory;
  const std::string path = directory / "t.rgt";
  Random random(4);
  const Kernel kernel = make_kernel(32);
  const std::vector<Access> accesses = random_accesses(random, 32, 40);
  {
    Writer writer(path);
    write(writer, kernel, encode(kernel, accesses));
    writer.finish();
  }
  const Reader reader(path);
  CHECK(reader.version() == 4);
  CHECK(reader.launches()[0].signature->lines != 0);
  const auto cta = reader.stream(0, 1)->next();
  REQUIRE(cta != nullptr);
  check(reader.kernels()[0], cta->warps[0], accesses);

  // A kernel without textures before it: the version is put right at the end.
  Kernel plain = kernel;
  plain.name = "plain";
  for (StaticInstruction& i : plain.instructions) {
    if (has_texels(i)) i.space = MemorySpace::global;
  }
  const std::string second = directory / "u.rgt";
  {
    Writer writer(second);
    writer.add_kernel(plain);
    write(writer, kernel, encode(kernel, accesses));
    writer.finish();
  }
  CHECK(Reader(second).version() == 4);
  {
    Writer pipe("/dev/null");
    pipe.add_kernel(plain);
    CHECK_THROWS_WITH(pipe.add_kernel(kernel), "trace::Writer: /dev/null: version 4 was not announced");
    CHECK_THROWS_WITH(pipe.announce_version(textures_format_version),
                      "trace::Writer: /dev/null: version 4 is announced too late");
  }
  Writer announced("/dev/null");
  announced.announce_version(textures_format_version);
  announced.add_kernel(plain);
  CHECK(announced.add_kernel(kernel) == 1);
}

TEST_CASE("texels: damage") {
  Random random(5);
  const Kernel kernel = make_kernel(32);
  std::vector<Access> accesses = random_accesses(random, 32, 4);
  for (Access& a : accesses) a.active = 0xffffffff;
  const WarpColumns good = encode(kernel, accesses);
  const auto walk = [&](const WarpColumns& columns) -> std::string {
    try {
      WarpCursor cursor(kernel, columns);
      std::uint64_t address[max_lanes];
      while (cursor.next()) {
        if (has_addresses(cursor.instruction())) cursor.addresses(address);
      }
      return cursor.leftover() != nullptr ? cursor.leftover() : "";
    } catch (const InputError& e) {
      return e.what();
    }
  };
  CHECK(walk(good).empty());
  WarpColumns bad = good;
  bad.texel_count[0] = 9;
  CHECK(walk(bad).find("texel count 9 is not 1 to 8") != std::string::npos);
  bad.texel_count[0] = 0;
  CHECK(walk(bad).find("texel count 0 is not 1 to 8") != std::string::npos);
  bad = good;
  bad.texel_count.pop_back();
  CHECK(walk(bad).find("texel_count") != std::string::npos);
  bad = good;
  bad.texel_count.push_back(1);
  CHECK(walk(bad) == "texel_count");
  bad = good;
  bad.address_kind.pop_back();
  CHECK(walk(bad).find("address_kind") != std::string::npos);

  WarpEncoder encoder(kernel);
  encoder.instruction(1, 1, 1);
  std::vector<std::uint64_t> address(std::size_t{max_texels + 1} * max_lanes);
  CHECK_THROWS_AS(encoder.texels(address.data(), 1), std::logic_error);
  encoder.addresses(address.data());
  encoder.instruction(0, 1, 1);
  CHECK_THROWS_AS(encoder.texels(address.data(), 9), std::logic_error);
  CHECK_THROWS_AS(encoder.texels(address.data(), 0), std::logic_error);
  encoder.texels(address.data(), 8);
  CHECK_THROWS_AS(encoder.texels(address.data(), 8), std::logic_error);
}

TEST_CASE("texels: a file of an older version cannot have them") {
  const TemporaryDirectory directory;
  const std::string path = directory / "t.rgt";
  Random random(6);
  const Kernel kernel = make_kernel(32);
  {
    Writer writer(path);
    write(writer, kernel, encode(kernel, random_accesses(random, 32, 2)));
    writer.finish();
  }
  CHECK(message(path).empty());
  std::string bytes = read_bytes(path);
  bytes[8] = 3;
  write_bytes(path, bytes);
  // The trailer's checksum covers the version.
  CHECK(message(path).find("checksum of the trailer is wrong") != std::string::npos);
}

TEST_CASE("texels: the lines that an access touches are those of all its texels") {
  Random random(8);
  const Kernel kernel = make_kernel(32);
  for (unsigned n = 0; n < 100; ++n) {
    const std::vector<Access> accesses = random_accesses(random, 32, 1);
    const WarpColumns columns = encode(kernel, accesses);
    WarpCursor cursor(kernel, columns);
    TouchedLines touched(128);
    for (const Access& a : accesses) {
      cursor.next();
      touched.take(cursor);
      std::set<std::uint64_t> sectors, got;
      for (const auto& lanes : a.texels) {
        for (unsigned l = 0; l < 32; ++l) {
          if ((a.active >> l & 1) != 0 && (lanes[l] != no_texel || !has_texels(cursor.instruction())))
            sectors.insert(lanes[l] / 32);
        }
      }
      for (const TouchedLines::Line& line : touched) {
        for (unsigned s = 0; s < 4; ++s) {
          if ((line.sectors >> s & 1) != 0) got.insert(line.address / 32 + s);
        }
      }
      CHECK(got == sectors);
    }
  }
}

}  // namespace texels

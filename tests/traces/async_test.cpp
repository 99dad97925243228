// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations: the lists of each, as encoder, cursor and file have them; what is refused.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/touched_lines.h>

#include <fstream>

#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace async_trace {
namespace {

StaticInstruction instruction(AsyncKind kind, std::uint32_t id) {
  StaticInstruction i;
  i.opcode = std::string("async.") + to_string(kind);
  i.opcode_id = id;
  i.op_class = OpClass::async;
  i.async = kind;
  i.async_value = id;
  if (async_lists(kind) == 0) return i;
  i.space = MemorySpace::asynchronous;
  i.access_bytes = 16;
  i.reads_memory = i.writes_memory = true;
  return i;
}

/// One instruction of each kind, then the exit.
Kernel make_kernel(unsigned warp_size) {
  Kernel k;
  k.name = "k";
  k.warp_size = warp_size;
  for (unsigned n = 1; n < async_kind_count; ++n) k.instructions.push_back(instruction(static_cast<AsyncKind>(n), n));
  StaticInstruction exit;
  exit.opcode = "exit";
  exit.opcode_id = async_kind_count;
  exit.op_class = OpClass::exit;
  k.instructions.push_back(exit);
  k.blocks = {{0, async_kind_count, {}, -1}};
  return k;
}

std::uint64_t number(unsigned index, unsigned list, unsigned lane) {
  return std::uint64_t{index} << 32 | (list << 16) | (lane * lane);
}

WarpColumns encode(const Kernel& kernel, Random& random, std::vector<LaneMask>& lanes) {
  WarpEncoder encoder(kernel);
  for (unsigned n = 0; n < kernel.instructions.size(); ++n) {
    const bool last = n + 1 == kernel.instructions.size();
    lanes.push_back(last ? all_lanes(kernel.warp_size) : random_mask(random, kernel.warp_size));
    encoder.instruction(n, lanes.back(), lanes.back());
    const unsigned count = async_lists(kernel.instructions[n].async);
    std::vector<std::uint64_t> lists(std::size_t{max_async_lists} * max_lanes);
    for (unsigned l = 0; l < count; ++l)
      for (unsigned lane = 0; lane < max_lanes; ++lane) lists[l * max_lanes + lane] = number(n, l, lane);
    if (count != 0) encoder.texels(lists.data(), count);
  }
  return encoder.finish();
}

void check(const Kernel& kernel, const WarpColumns& columns, const std::vector<LaneMask>& lanes) {
  WarpCursor cursor(kernel, columns);
  for (unsigned n = 0; n < kernel.instructions.size(); ++n) {
    REQUIRE(cursor.next());
    const unsigned count = async_lists(kernel.instructions[n].async);
    if (count == 0) continue;
    std::uint64_t first[max_lanes] = {};
    cursor.addresses(first);
    if (lanes[n] == 0) continue;
    REQUIRE(cursor.further_texels() == count - 1);
    for (unsigned l = 0; l < count; ++l) {
      const std::uint64_t* const got = l == 0 ? first : cursor.further_texel(l - 1);
      for (unsigned lane = 0; lane < kernel.warp_size; ++lane)
        if ((lanes[n] >> lane & 1) != 0) REQUIRE(got[lane] == number(n, l, lane));
    }
  }
  CHECK_FALSE(cursor.next());
  CHECK(cursor.leftover() == nullptr);
}

std::string refusal(const std::string& path) {
  try {
    Reader reader(path);
  } catch (const InputError& e) {
    return std::string(e.what()).substr(path.size() + 2);
  }
  return "";
}

}  // namespace

TEST_CASE("asynchronous operations: a cursor gives back the lists of each kind") {
  Random random(8);
  for (const unsigned warp_size : {32u, 64u}) {
    const Kernel kernel = make_kernel(warp_size);
    for (unsigned n = 0; n < 50; ++n) {
      std::vector<LaneMask> lanes;
      const WarpColumns columns = encode(kernel, random, lanes);
      check(kernel, columns, lanes);
    }
  }
  // A number of lists that the kind does not have.
  const Kernel kernel = make_kernel(32);
  WarpEncoder encoder(kernel);
  encoder.instruction(0, 1, 1);
  const std::vector<std::uint64_t> lists(std::size_t{max_async_lists} * max_lanes);
  CHECK_THROWS(encoder.texels(lists.data(), 2));
}

TEST_CASE("asynchronous operations: a file with them has version 6, and older readers refuse it") {
  const TemporaryDirectory directory;
  const std::string path = directory / "t.rgt";
  Random random(9);
  const Kernel kernel = make_kernel(32);
  std::vector<LaneMask> lanes;
  const WarpColumns columns = encode(kernel, random, lanes);
  {
    Writer writer(path);
    Launch launch;
    launch.kernel = writer.add_kernel(kernel);
    launch.block = {32, 1, 1};
    Cta cta;
    cta.launch = writer.begin_launch(launch);
    cta.warps.push_back(columns);
    writer.add_cta(std::move(cta));
    writer.finish();
  }
  {
    const Reader reader(path);
    CHECK(reader.version() == async_format_version);
    const auto cta = reader.stream(0, 1)->next();
    REQUIRE(cta != nullptr);
    for (unsigned n = 0; n < kernel.instructions.size(); ++n) {
      CHECK(reader.kernels()[0].instructions[n].async == kernel.instructions[n].async);
      CHECK(reader.kernels()[0].instructions[n].async_value == kernel.instructions[n].async_value);
    }
    check(reader.kernels()[0], cta->warps[0], lanes);
  }
  CHECK(version_needed(kernel) == 6);
  // Kinds and classes that do not fit.
  const auto wrong = [&](StaticInstruction changed) {
    Kernel k = kernel;
    k.instructions[0] = changed;
    Writer writer(directory / "u.rgt");
    try {
      writer.add_kernel(k);
    } catch (const std::logic_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  StaticInstruction i = kernel.instructions[0];
  i.op_class = OpClass::load;
  CHECK(wrong(i).find("is an asynchronous operation and not of class async") != std::string::npos);
  i = kernel.instructions[0];
  i.async = AsyncKind::none;
  CHECK(wrong(i).find("is of class async and no asynchronous operation") != std::string::npos);
  i = kernel.instructions[0];
  i.space = MemorySpace::global;
  CHECK(wrong(i).find("of kind copy has space global") != std::string::npos);
  // The version in the file's head says that it is older.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8);
  file.put(7);
  file.close();
  CHECK(refusal(path).find("format version 7 is too new: this reads up to version 6") != std::string::npos);
}

}  // namespace async_trace

// SPDX-License-Identifier: Apache-2.0
//
// cp.async.bulk.tensor: boxes, swizzles and places outside of the tensor, against loops over all elements.
#include "harness.h"

#include <regatta/ir/tensor_map.h>
#include <regatta/test/catch.h>

#include <random>

using namespace regatta;
using namespace regatta::test;
using ir::TensorMap;
using ir::TensorSwizzle;

namespace tensor_copy_test {
namespace {

std::string kernel(unsigned dimensions, std::uint32_t bytes, bool back) {
  std::string c;
  for (unsigned d = 0; d < dimensions; ++d) c += (d != 0 ? ", %c" : "%c") + std::to_string(d);
  std::string loads;
  for (unsigned d = 0; d < dimensions; ++d)
    loads += "ld.param.u32 %c" + std::to_string(d) + ", [at+" + std::to_string(4 * d) + "];";
  const std::string n = std::to_string(dimensions) + "d";
  const std::string size = std::to_string(bytes);
  std::string body =
      ".reg .b64 %d<8>; .reg .b32 %c<5>, %r<8>; .reg .pred %q; .shared .align 1024 .b8 s[32768]; .shared .align 8 .b64 "
      "m;"
      "mov.u64 %d1, map; cvta.param.u64 %d1, %d1; ld.param.u64 %d2, [out];" +
      loads;
  if (!back) {
    body += "mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 _, [m], " + size +
            "; cp.async.bulk.tensor." + n + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%d1, {" +
            c +
            "}], [m]; W: mbarrier.try_wait.parity.shared.b64 %q, [m], 0; @!%q bra W;"
            "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%d2], [s], " +
            size + "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  } else {
    // What the shared memory holds comes from `out`.
    body += "mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 _, [m], " + size +
            "; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d2], " + size +
            ", [m]; W: mbarrier.try_wait.parity.shared.b64 %q, [m], 0; @!%q bra W; cp.async.bulk.tensor." + n +
            ".global.shared::cta.tile.bulk_group [%d1, {" + c +
            "}], [s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  }
  return module_text(".param .align 64 .b8 map[128], .param .u64 out, .param .align 4 .b8 at[20]", body + "ret;", "",
                     "sm_90");
}

/// The 16-byte chunk of a row changes places by bits of the row (CUDA C++ Programming Guide, tensor maps): the period
/// in rows of 128 bytes is 8, 4 and 2.
std::uint32_t place(TensorSwizzle s, std::uint32_t offset) {
  const std::uint32_t chunk = offset / 16 % 8, line = offset / 128 % 8, rest = offset % 16;
  std::uint32_t to = chunk;
  if (s == TensorSwizzle::b128) to = chunk ^ line;
  if (s == TensorSwizzle::b64) to = chunk ^ (line % 4);
  if (s == TensorSwizzle::b32) to = chunk ^ (line % 2);
  return offset / 128 * 128 + to * 16 + rest;
}

struct Case {
  TensorMap map;
  std::array<std::int32_t, 5> at{};
};

Case random_case(std::mt19937& random) {
  Case c;
  TensorMap& m = c.map;
  static constexpr ir::TensorType types[] = {ir::TensorType::u8, ir::TensorType::f16, ir::TensorType::f32,
                                             ir::TensorType::f64, ir::TensorType::bf16};
  m.type = types[random() % 5];
  m.dimensions = static_cast<unsigned>(random() % 5 + 1);
  const unsigned element = ir::size_of(m.type);
  m.swizzle = static_cast<TensorSwizzle>(random() % 4);
  m.fills_nan = ir::is_float(m.type) && random() % 2 == 0;
  const unsigned widest = m.swizzle == TensorSwizzle::none ? 128 : 16u << static_cast<unsigned>(m.swizzle);
  const unsigned row = 16 * static_cast<unsigned>(random() % (widest / 16) + 1);
  m.element_stride[0] = random() % 4 == 0 ? 2 : 1;
  m.box[0] = std::min(256u, row / element * m.element_stride[0]);
  if (m.copied(0) * element % 16 != 0) m.box[0] = row / element, m.element_stride[0] = 1;
  m.stride[0] = element;
  std::uint64_t stride = 0;
  for (unsigned d = 0; d < m.dimensions; ++d) {
    m.size[d] = random() % 12 + 1 + (d == 0 ? m.box[0] / 2 : 0);
    if (d != 0) {
      m.box[d] = static_cast<std::uint32_t>(random() % 4 + 1);
      m.element_stride[d] = random() % 4 == 0 ? 2 : 1;
      m.stride[d] = stride;
    }
    stride = d == 0 ? (m.size[0] * element + 15) / 16 * 16 + 16 * (random() % 2) : stride * m.size[d];
    c.at[d] = static_cast<std::int32_t>(random() % (m.size[d] + 6)) - 3;
  }
  return c;
}

}  // namespace

TEST_CASE("boxes of tensors are copied element by element") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 150; ++round) {
    const Case c = random_case(random);
    const TensorMap& m = c.map;
    CAPTURE(round, m.dimensions, static_cast<int>(m.swizzle));
    TensorMap placed = m;
    REQUIRE(m.refusal().empty());
    std::uint64_t bytes = m.stride[0];
    for (unsigned d = 0; d < m.dimensions; ++d) bytes += (m.size[d] - 1) * m.stride[d];
    std::vector<std::uint8_t> tensor(bytes), tile(m.box_bytes());
    for (auto& b : tensor) b = static_cast<std::uint8_t>(random());
    for (auto& b : tile) b = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> expected(m.box_bytes()), written = tensor;
    const unsigned element = ir::size_of(m.type);
    // Every element of the box by its number.
    std::uint32_t elements = m.box_bytes() / element;
    bool whole = true;
    for (std::uint32_t n = 0; n < elements; ++n) {
      std::uint32_t rest = n;
      bool inside = true;
      std::uint64_t from = 0;
      for (unsigned d = 0; d < m.dimensions; ++d) {
        const std::int64_t x = c.at[d] + std::int64_t{rest % m.copied(d)} * m.element_stride[d];
        rest /= m.copied(d);
        inside = inside && x >= 0 && x < static_cast<std::int64_t>(m.size[d]);
        from += static_cast<std::uint64_t>(x) * m.stride[d];
      }
      whole = whole && inside;
      for (unsigned b = 0; b < element; ++b) {
        const std::uint32_t to = place(m.swizzle, n * element + b);
        if (to >= expected.size()) continue;
        const std::uint8_t nan = b == element - 1 ? 0x7f : 0xff;
        expected[to] = inside ? tensor[from + b] : m.fills_nan ? nan : std::uint8_t{0};
        if (inside) written[from + b] = tile[to];
      }
    }
    for (const bool back : {false, true}) {
      // A swizzled box whose last row pair is not whole reaches beyond its bytes.
      if (m.swizzle != TensorSwizzle::none && m.box_bytes() % 1024 != 0) continue;
      Machine machine(kernel(m.dimensions, m.box_bytes(), back));
      placed.address = machine.buffer("tensor", tensor);
      machine.parameter(placed.encode());
      const std::uint64_t out = machine.buffer("out", tile);
      machine.parameter(out);
      machine.parameter(c.at);
      machine.run();
      if (back) {
        CHECK(machine.read<std::uint8_t>(placed.address, bytes) == written);
      } else {
        CHECK(machine.read<std::uint8_t>(out, tile.size()) == expected);
      }
    }
  }
}

TEST_CASE("swizzles of whole tiles") {
  for (const TensorSwizzle s : {TensorSwizzle::b32, TensorSwizzle::b64, TensorSwizzle::b128}) {
    TensorMap m;
    m.type = ir::TensorType::f16;
    m.dimensions = 2;
    const std::uint32_t row = 16u << static_cast<unsigned>(s);
    m.size = {128, 64, 1, 1, 1};
    m.stride = {2, 256, 0, 0, 0};
    m.box = {row / 2, 2048 / row, 1, 1, 1};
    m.swizzle = s;
    REQUIRE(m.refusal().empty());
    Machine machine(kernel(2, m.box_bytes(), false));
    std::vector<std::uint16_t> values(128 * 64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i);
    m.address = machine.buffer("tensor", values);
    machine.parameter(m.encode());
    const std::uint64_t out = machine.buffer("out", 2048);
    machine.parameter(out);
    machine.parameter(std::array<std::int32_t, 5>{8, 0});
    machine.run();
    const auto got = machine.read<std::uint16_t>(out, 1024);
    for (std::uint32_t y = 0; y < m.box[1]; ++y)
      for (std::uint32_t x = 0; x < m.box[0]; ++x)
        CHECK(got[place(s, y * row + 2 * x) / 2] == std::uint64_t{y} * 128 + x + 8);
  }
}

TEST_CASE("tensor maps: what is refused") {
  TensorMap m;
  m.dimensions = 2;
  m.size = {64, 64, 1, 1, 1};
  m.stride = {4, 256, 0, 0, 0};
  m.box = {32, 8, 1, 1, 1};
  CHECK(m.refusal().empty());
  const auto refused = [&](const std::function<void(TensorMap&)>& change) {
    TensorMap other = m;
    change(other);
    return other.refusal();
  };
  CHECK(refused([](TensorMap& t) { t.dimensions = 6; }) == "a tensor of 6 dimensions, expected 1 to 5");
  CHECK(refused([](TensorMap& t) { t.address = 8; }) == "a tensor at an address that is no multiple of 16");
  CHECK(refused([](TensorMap& t) { t.stride[1] = 250; }) ==
        "a stride of 250 bytes in dimension 1, expected a multiple of 16 below 2^40");
  CHECK(refused([](TensorMap& t) { t.box[1] = 257; }) == "a box of 257 in dimension 1, expected 1 to 256");
  CHECK(refused([](TensorMap& t) { t.element_stride[1] = 9; }) ==
        "an element stride of 9 in dimension 1, expected 1 to 8");
  CHECK(refused([](TensorMap& t) { t.box[0] = 3; }) == "a box of 12 bytes in dimension 0, expected a multiple of 16");
  CHECK(refused([](TensorMap& t) { t.swizzle = TensorSwizzle::b64; }) ==
        "a box of 128 bytes in dimension 0, expected at most the 64 of the swizzle");
  CHECK(refused([](TensorMap& t) {
          t.type = ir::TensorType::u32;
          t.fills_nan = true;
        }) == "a fill with NaN of type u32");
  // Encoded and back.
  const auto bytes = m.encode();
  const auto back = TensorMap::decode(bytes.data());
  REQUIRE(back);
  CHECK(back->encode() == bytes);
  for (std::size_t n = 0; n < 120; n += 7) {
    auto broken = bytes;
    broken[n] ^= 1;
    CHECK(!TensorMap::decode(broken.data()));
  }
}

TEST_CASE("a tensor copy through what is no map") {
  Machine machine(kernel(2, 1024, false));
  machine.parameter(TensorMap::Encoded{});
  machine.parameter(machine.buffer("out", 1024));
  machine.parameter(std::array<std::int32_t, 5>{});
  CHECK(
      machine.error().find("no tensor map at generic address 0x7000000000000 (a launch file makes one: tensor_map)") !=
      std::string::npos);
  Machine other(kernel(2, 1024, false));
  TensorMap line;
  line.size = {64, 1, 1, 1, 1};
  line.box = {32, 1, 1, 1, 1};
  other.parameter(line.encode());
  other.parameter(other.buffer("out", 1024));
  other.parameter(std::array<std::int32_t, 5>{});
  CHECK(other.error().find("has 1 dimensions, the copy has 2") != std::string::npos);
}

}  // namespace tensor_copy_test

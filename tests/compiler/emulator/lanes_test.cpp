// SPDX-License-Identifier: Apache-2.0
//
// Every build of the lane functions gives the same bits, on both warp sizes and under any mask.
#include "lanes.h"

#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace regatta;
using namespace regatta::emulator;

#if defined(REGATTA_LANES_AVX2)

namespace {

using Select = LaneFunction (*)(const LaneKey&, unsigned);

struct State {
  alignas(64) std::uint32_t registers[10 * 64];
  WarpRegs regs;
};

void fill(State& s, std::uint64_t seed, unsigned lanes) {
  for (unsigned i = 0; i < 10 * 64; ++i) {
    const std::uint64_t word = launch::random_word(seed, i);
    // A third of the values are small or special, so that shifts, zero divisors and NaNs occur.
    constexpr std::uint32_t special[] = {0,          1,          2,          31,         32,         33,
                                         0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000, 0x7fc00000, 0x00000001,
                                         0x3f800000, 0xbf800000, 0x7ff00000, 0x3ff00000};
    s.registers[i] = word % 3 == 0 ? special[(word >> 8) % 16] : static_cast<std::uint32_t>(word >> 32);
  }
  s.regs.bank[0] = s.registers;
  s.regs.active = launch::random_word(seed, 1000) & trace::all_lanes(lanes);
  for (unsigned i = 0; i < lanes; ++i) {
    s.regs.mask[i] = ((s.regs.active >> i) & 1) != 0 ? ~0u : 0u;
    s.regs.select[i] = (launch::random_word(seed, 2000 + i) & 1) != 0 ? ~0u : 0u;
    s.regs.carry[i] = launch::random_word(seed, 3000 + i) & 1;
  }
}

std::size_t compare_builds(Select first, Select second, const LaneKey& key) {
  std::size_t compared = 0;
  for (const unsigned lanes : {32u, 64u}) {
    LaneOp op;
    op.type = key.type;
    op.source_type = key.source_type;
    op.rounding = key.rounding;
    op.ftz = key.ftz;
    op.saturate = key.saturate;
    op.relu = key.relu;
    op.satfinite = key.satfinite;
    op.carry_out = true;
    for (unsigned n = 0; n < 4; ++n) op.source[n] = {Bank::registers, 2 * n * lanes};
    op.destination = 8 * lanes;
    const LaneFunction a = first(key, lanes), b = second(key, lanes);
    REQUIRE((a == nullptr) == (b == nullptr));
    if (a == nullptr) return 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      State x, y;
      fill(x, seed, lanes);
      fill(y, seed, lanes);
      a(op, x.regs);
      b(op, y.regs);
      INFO(ir::to_string(key.op) << "." << ir::to_string(key.type) << "." << ir::to_string(key.source_type) << " lanes "
                                 << lanes);
      CHECK(std::memcmp(x.registers, y.registers, sizeof x.registers) == 0);
      CHECK(x.regs.compare == y.regs.compare);
      CHECK(std::memcmp(x.regs.carry, y.regs.carry, sizeof x.regs.carry) == 0);
      // Lanes outside the mask keep what they had.
      State before;
      fill(before, seed, lanes);
      for (unsigned i = 0; i < lanes; ++i) {
        if (x.regs.mask[i] == 0) CHECK(x.registers[8 * lanes + i] == before.registers[8 * lanes + i]);
      }
      ++compared;
    }
  }
  return compared;
}

/// Addresses of some kind in register pair 0, and what is in common according to a plain loop.
void compare_addresses(unsigned lanes, std::uint64_t seed) {
  State x;
  fill(x, seed, lanes);
  if (seed % 3 == 0) {
    x.regs.active = trace::all_lanes(lanes);
    for (unsigned i = 0; i < lanes; ++i) x.regs.mask[i] = ~0u;
  }
  if (x.regs.active == 0) return;
  const std::uint32_t bytes = 1u << (seed % 5);
  const bool wide = seed % 2 == 0;
  for (unsigned i = 0; i < lanes; ++i) {
    const std::uint64_t words[] = {i * std::uint64_t{bytes}, 0, launch::random_word(seed, i) % 512 * 4, i * 64u,
                                   launch::random_word(seed, i)};
    const std::uint64_t base = seed % 11 == 0 ? 0xffffffe0u : seed % 7 == 0 ? 0x10'0000'0000u : 0x8000'0000u;
    const std::uint64_t at = base + words[seed / 6 % 5];
    x.registers[i] = static_cast<std::uint32_t>(at);
    x.registers[lanes + i] = static_cast<std::uint32_t>(at >> 32);
  }
  State y = x;
  y.regs.bank[0] = y.registers;
  LaneOp op;
  op.source[0] = {Bank::registers, 0};
  const std::int64_t offset = seed % 4 == 0 ? 0 : static_cast<std::int64_t>(seed % 64) - 32;
  avx2::helpers(lanes).addresses(op, x.regs, wide, offset, bytes);
  baseline::helpers(lanes).addresses(op, y.regs, wide, offset, bytes);
  INFO("seed " << seed << " lanes " << lanes);
  std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
  std::uint64_t bits = 0;
  bool consecutive = x.regs.active == trace::all_lanes(lanes);
  for (unsigned i = 0; i < lanes; ++i) {
    std::uint64_t at = x.registers[i] + static_cast<std::uint64_t>(offset);
    at = wide ? at + (std::uint64_t{x.registers[lanes + i]} << 32) : at & 0xffffffffu;
    REQUIRE(x.regs.addresses.lane[i] == at);
    REQUIRE(y.regs.addresses.lane[i] == at);
    consecutive = consecutive && at == x.regs.addresses.lane[0] + std::uint64_t{i} * bytes;
    if (x.regs.mask[i] == 0) continue;
    lowest = std::min(lowest, static_cast<std::int64_t>(at));
    highest = std::max(highest, static_cast<std::int64_t>(at));
    bits |= at;
  }
  for (const AddressSummary* a : {&x.regs.addresses, &y.regs.addresses}) {
    REQUIRE(a->lowest == static_cast<std::uint64_t>(lowest));
    REQUIRE(a->highest == static_cast<std::uint64_t>(highest));
    REQUIRE(a->low_bits == bits);
    REQUIRE(a->consecutive == consecutive);
  }
}

}  // namespace

TEST_CASE("both builds find the same addresses, and those of a plain loop") {
  if (!__builtin_cpu_supports("avx2")) return;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    for (const unsigned lanes : {32u, 64u}) compare_addresses(lanes, seed);
  }
}

TEST_CASE("the AVX2 and the baseline lane functions agree bit for bit") {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  const std::pair<Select, Select> families[] = {{baseline::select_integer, avx2::select_integer},
                                                {baseline::select_bits, avx2::select_bits},
                                                {baseline::select_float, avx2::select_float},
                                                {baseline::select_convert, avx2::select_convert},
                                                {baseline::select_packed, avx2::select_packed}};
  std::size_t compared = 0;
  for (int family = 0; family < 5; ++family) {
    for (int op = 0; op <= static_cast<int>(ir::Opcode::vabsdiff4); ++op) {
      for (int type = static_cast<int>(ir::Type::b8); type <= static_cast<int>(ir::Type::tf32); ++type) {
        const bool is_convert = static_cast<ir::Opcode>(op) == ir::Opcode::cvt;
        if (is_convert ? family < 3 : family == 3) continue;
        // The conversions of one family are of all types but those of the other.
        if (family == 3 && !ir::is_storable(static_cast<ir::Type>(type))) continue;
        const ir::Type last = family == 3 ? ir::Type::f64 : ir::Type::tf32;
        for (int source = 1; source <= (is_convert ? static_cast<int>(last) : 1); ++source) {
          for (const ir::Compare compare :
               {ir::Compare::eq, ir::Compare::ne, ir::Compare::lt, ir::Compare::le, ir::Compare::num}) {
            const bool is_compare = static_cast<ir::Opcode>(op) == ir::Opcode::setp;
            if (!is_compare && compare != ir::Compare::eq) continue;
            for (int flags = 0; flags < 8; ++flags) {
              LaneKey key;
              key.op = static_cast<ir::Opcode>(op);
              key.type = static_cast<ir::Type>(type);
              key.source_type = static_cast<ir::Type>(source);
              key.compare = compare;
              key.ftz = (flags & 1) != 0;
              key.saturate = (flags & 2) != 0;
              key.wrap = key.left = key.shift_amount = (flags & 4) != 0;
              if (family == 4) {
                key.sources = 2 + (flags & 1);
                key.relu = key.nan = (flags & 2) != 0;
                key.satfinite = key.xorsign = (flags & 4) != 0;
              }
              compared += compare_builds(families[family].first, families[family].second, key);
            }
          }
        }
      }
    }
  }
  CHECK(compared > 5000);
}

#else

TEST_CASE("there is one build of the lane functions on this processor") { SUCCEED(); }

#endif

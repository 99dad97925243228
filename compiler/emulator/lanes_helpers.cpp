// SPDX-License-Identifier: Apache-2.0
//
// Mask expansion and address generation on all lanes.
#include "lanes_common.h"

namespace regatta::emulator {
namespace REGATTA_LANES_ISA {
namespace {

template <unsigned W>
void expand(std::uint64_t bits, std::uint32_t* out) {
  for (unsigned base = 0; base < W; base += 32) {
    const auto half = static_cast<std::uint32_t>(bits >> base);
    REGATTA_LANE_LOOP
    for (unsigned i = 0; i < 32; ++i) out[base + i] = (half & (1u << i)) != 0 ? ~0u : 0u;
  }
}

template <unsigned W, class T>
void addresses_of(const LaneOp& op, WarpRegs& w, std::int64_t offset, std::uint32_t bytes) {
  const std::uint32_t* a = source(op, w, 0);
  AddressSummary& s = w.addresses;
  std::uint64_t* lane = s.lane;
  // A 32-bit address wraps at 32 bits.
  const auto add = static_cast<T>(offset);
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) lane[i] = static_cast<T>(load_lane<W, T>(a, i) + add);
  const auto first = static_cast<unsigned>(__builtin_ctzll(w.active));
  const std::uint64_t base = lane[first];
  const std::uint32_t* m = w.mask;
  // Signed, since vector units compare so; addresses of the device are far below 2^63 and wilder ones fail either way.
  auto lowest = static_cast<std::int64_t>(base), highest = lowest;
  std::uint64_t low_bits = base, apart = 0;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) {
    const auto at = static_cast<std::int64_t>(m[i] != 0 ? lane[i] : base);
    lowest = at < lowest ? at : lowest;
    highest = at > highest ? at : highest;
    low_bits |= static_cast<std::uint64_t>(at);
    apart |= lane[i] ^ (lane[0] + static_cast<std::uint64_t>(i) * bytes);
  }
  s.lowest = static_cast<std::uint64_t>(lowest);
  s.highest = static_cast<std::uint64_t>(highest);
  s.low_bits = low_bits;
  s.consecutive = apart == 0 && w.active == trace::all_lanes(W);
}

template <unsigned W>
void addresses(const LaneOp& op, WarpRegs& w, bool wide, std::int64_t offset, std::uint32_t bytes) {
  if (wide) {
    addresses_of<W, std::uint64_t>(op, w, offset, bytes);
  } else {
    addresses_of<W, std::uint32_t>(op, w, offset, bytes);
  }
}

constexpr LaneHelpers helpers32{&expand<32>, &addresses<32>};
constexpr LaneHelpers helpers64{&expand<64>, &addresses<64>};

}  // namespace

const LaneHelpers& helpers(unsigned lanes) { return lanes == 32 ? helpers32 : helpers64; }

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator

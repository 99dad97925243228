// SPDX-License-Identifier: Apache-2.0
#include "coalescer.h"

#include <regatta/protocol/payload.h>

#include <algorithm>

namespace regatta::sm {

void coalesce(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
              LineList& out) {
  out.count = 0;
  const std::uint64_t line_mask = ~std::uint64_t{line_bytes - 1};
  auto touch = [&](std::uint64_t first, std::uint64_t last) {
    const std::uint64_t line = first & line_mask;
    const auto low = static_cast<unsigned>((first - line) / protocol::sector_bytes);
    const auto high = static_cast<unsigned>((last - line) / protocol::sector_bytes);
    const auto sectors = static_cast<std::uint8_t>((2u << high) - (1u << low));
    // The newest lines first: neighbouring lanes mostly share one.
    for (unsigned i = out.count; i-- > 0;) {
      if (out.lines[i].address == line) {
        out.lines[i].sectors |= sectors;
        return;
      }
    }
    out.lines[out.count++] = LineList::Line{line, sectors};
  };
  for (trace::LaneMask m = active; m != 0; m &= m - 1) {
    const std::uint64_t first = address[__builtin_ctzll(m)];
    const std::uint64_t last = first + bytes - 1;
    if ((first & line_mask) == (last & line_mask)) {
      touch(first, last);
    } else {
      touch(first, (first & line_mask) + line_bytes - 1);
      touch(last & line_mask, last);
    }
  }
}

void coalesce_affine(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                     LineList& out) {
  const auto first_lane = static_cast<unsigned>(__builtin_ctzll(active));
  const auto last_lane = 63 - static_cast<unsigned>(__builtin_clzll(active));
  const std::uint64_t stride = address[1] - address[0];
  const std::uint64_t first = address[first_lane];
  const std::uint64_t last = address[last_lane] + bytes - 1;
  const bool no_gap = active >> first_lane == trace::all_lanes(last_lane - first_lane + 1);
  if (!no_gap || stride == 0 || stride > protocol::sector_bytes || last < first) {
    coalesce(address, active, bytes, line_bytes, out);
    return;
  }
  const std::uint64_t line_mask = ~std::uint64_t{line_bytes - 1};
  const auto all_sectors = (1u << (line_bytes / protocol::sector_bytes)) - 1;
  auto sector_in_line = [&](std::uint64_t a) {
    return static_cast<unsigned>((a & ~line_mask) / protocol::sector_bytes);
  };
  out.count = 0;
  for (std::uint64_t line = first & line_mask; line <= (last & line_mask); line += line_bytes) {
    out.lines[out.count++] = LineList::Line{line, static_cast<std::uint8_t>(all_sectors)};
  }
  out.lines[0].sectors &= static_cast<std::uint8_t>(all_sectors << sector_in_line(first));
  out.lines[out.count - 1].sectors &= static_cast<std::uint8_t>((2u << sector_in_line(last)) - 1);
}

void coalesce_texels(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                     unsigned lanes, unsigned first_pass, LineList& lines) {
  const std::uint64_t line_mask = ~std::uint64_t{line_bytes - 1};
  for (trace::LaneMask m = active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
    const std::uint64_t first = address[lane];
    if (first == trace::no_texel) continue;
    const std::uint64_t line = first & line_mask;
    const auto low = static_cast<unsigned>((first - line) / protocol::sector_bytes);
    const auto high =
        static_cast<unsigned>((std::min(first + bytes - 1, first | ~line_mask) - line) / protocol::sector_bytes);
    const auto sectors = static_cast<std::uint8_t>((2u << high) - (1u << low));
    const auto pass = static_cast<std::uint8_t>(first_pass + lane / lanes);
    unsigned i = lines.count;
    while (i > 0 && lines.lines[i - 1].address != line) --i;
    if (i == 0) {
      lines.lines[lines.count++] = LineList::Line{line, sectors, pass};
      continue;
    }
    lines.lines[i - 1].sectors |= sectors;
    lines.lines[i - 1].pass = std::max(lines.lines[i - 1].pass, pass);
  }
}

void address_passes(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                    unsigned lanes, LineList& lines) {
  const std::uint64_t line_mask = ~std::uint64_t{line_bytes - 1};
  for (unsigned i = 0; i < lines.count; ++i) {
    LineList::Line& line = lines.lines[i];
    line.pass = 0;
    for (trace::LaneMask m = active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      const std::uint64_t first = address[lane] & line_mask;
      const std::uint64_t last = (address[lane] + bytes - 1) & line_mask;
      if (first == line.address || last == line.address) line.pass = static_cast<std::uint8_t>(lane / lanes);
    }
  }
}

bool leaves_bytes(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                  const LineList::Line& line) {
  std::array<std::uint64_t, 4> written{};  // a bit per byte of the line
  for (trace::LaneMask m = active; m != 0; m &= m - 1) {
    const std::uint64_t first = address[__builtin_ctzll(m)] - line.address;
    for (std::uint64_t byte = first; byte != first + bytes; ++byte) {
      if (byte < line_bytes) written[byte / 64] |= std::uint64_t{1} << (byte % 64);
    }
  }
  for (unsigned s = 0; s < line_bytes / protocol::sector_bytes; ++s) {
    if ((line.sectors >> s & 1) == 0) continue;
    constexpr std::uint64_t whole = 0xffffffffu;
    if ((written[s / 2] >> (s % 2 * 32) & whole) != whole) return true;
  }
  return false;
}

namespace {

/// Passes for the lanes that are served together: the largest number of different words (atomics: lanes) in one bank.
/// Each pass serves the first remaining word of every bank and all lanes that access it.
unsigned passes_of(const std::uint64_t* address, trace::LaneMask lanes, unsigned banks, bool atomic) {
  std::array<std::uint64_t, 64> served;  // by bank; those in `busy` are set
  unsigned passes = 0;
  for (trace::LaneMask left = lanes; left != 0; ++passes) {
    std::uint64_t busy = 0;
    trace::LaneMask turned_away = 0;
    for (trace::LaneMask m = left; m != 0; m &= m - 1) {
      const std::uint64_t word = address[__builtin_ctzll(m)] / 4;
      const unsigned bank = word & (banks - 1);
      if (((busy >> bank) & 1) == 0) {
        busy |= std::uint64_t{1} << bank;
        served[bank] = word;
      } else if (atomic || served[bank] != word) {
        turned_away |= m & -m;
      }
    }
    left = turned_away;
  }
  return passes;
}

/// A lane may access more words than there are banks; it then takes several turns.
unsigned turns(unsigned words, unsigned banks) { return (words + banks - 1) / banks; }

}  // namespace

unsigned shared_passes(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned warp_size,
                       unsigned banks, bool atomic) {
  const unsigned words = std::max(1u, bytes / 4);
  const unsigned group = std::max(1u, banks / words);  // lanes that can be served at once
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_size; first += group) {
    const trace::LaneMask lanes = active & (trace::all_lanes(std::min(group, 64u)) << first);
    if (lanes != 0) passes += passes_of(address, lanes, banks, atomic);
  }
  return std::max(passes, 1u) * turns(words, banks);
}

unsigned shared_passes_affine(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned warp_size,
                              unsigned banks) {
  const std::uint64_t stride = address[1] - address[0];
  // Lanes that are an odd number of accesses apart use all banks before they use one again. Adjacent lanes with less
  // than a word each use adjacent words.
  const bool aligned =
      bytes >= 4 && (bytes & (bytes - 1)) == 0 && (address[0] & (bytes - 1)) == 0 && (stride & (bytes - 1)) == 0;
  const bool apart = aligned && (stride == 0 || (stride & bytes) != 0);
  const bool dense = bytes < 4 && stride == bytes;
  if (!apart && !dense) return shared_passes(address, active, bytes, warp_size, banks, false);
  const unsigned words = std::max(1u, bytes / 4);
  const unsigned group = std::max(1u, banks / words);
  if (group >= 64) return 1;
  unsigned passes = 0;
  for (trace::LaneMask rest = active; rest != 0; rest >>= group) passes += (rest & trace::all_lanes(group)) != 0;
  return std::max(passes, 1u) * turns(words, banks);
}

}  // namespace regatta::sm

// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix and stmatrix. Lane 8 m + r has the address of row r of matrix m, 16 bytes. The access is that of the bytes,
// each by one lane, in the order of the lanes: with n matrices, lane i moves n words from word n * (i % (4 / n)) of row
// i / (4 / n). That is what races, the trace and bank conflicts go by; the words are then exchanged between lanes.
#include "cta.h"

#include <algorithm>
#include <array>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

constexpr unsigned row_bytes = 16, row_words = 4, word_bytes = 4;

}  // namespace

void CtaRunner::spread_rows(Warp& w, const Op& op) {
  AddressSummary& a = w.regs.addresses;
  const unsigned matrices = op.vector, lanes_of_row = row_words / matrices;
  std::array<std::uint64_t, trace::max_lanes> rows{};
  std::copy_n(a.lane, program_.lanes, rows.begin());
  a.lowest = ~std::uint64_t{0};
  a.highest = 0;
  a.low_bits = 0;
  a.consecutive = false;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const unsigned half = i / warp_lanes * warp_lanes, row = half + i % warp_lanes / lanes_of_row;
    if (rows[row] % row_bytes != 0) {
      fail(w, op, row,
           "misaligned row of a matrix at address " + std::to_string(rows[row]) + ", expected a multiple of 16",
           FaultKind::misaligned);
    }
    a.lane[i] = rows[row] + word_bytes * matrices * (i % lanes_of_row);
    a.lowest = std::min(a.lowest, a.lane[i]);
    a.highest = std::max(a.highest, a.lane[i]);
    a.low_bits |= a.lane[i];
  }
}

void CtaRunner::rearrange(Warp& w, const Op& op, const std::uint32_t* registers, bool to_fragments) {
  const unsigned matrices = op.vector, lanes = program_.lanes, lanes_of_row = row_words / matrices;
  const bool transposed = op.instruction->mod.tensor.transposed;
  std::array<std::array<std::uint32_t, trace::max_lanes>, 4> from{}, to{};
  std::array<WrittenBytes, 4> known{}, kept{};
  for (unsigned m = 0; m < matrices; ++m) {
    std::copy_n(w.regs.bank[0] + registers[m], lanes, from[m].begin());
    known[m] = w.written_bytes(registers[m] / lanes);
  }
  const LaneMask active = w.regs.active;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const unsigned half = i / warp_lanes * warp_lanes, group = i % warp_lanes / 4, pair = i % 4;
    for (unsigned m = 0; m < matrices; ++m) {
      for (unsigned e = 0; e < 2; ++e) {
        // Element e of the fragment's register m, and where it stands in memory.
        const unsigned row = transposed ? 2 * pair + e : group, column = transposed ? group : 2 * pair + e;
        const unsigned word = column / 2, shift = 16 * (column % 2);
        const unsigned there = half + (8 * m + row) * lanes_of_row + word / matrices, reg = word % matrices;
        if (to_fragments) {
          to[m][i] |= (from[reg][there] >> shift & 0xffffu) << (16 * e);
          for (unsigned b = 0; b < 2; ++b) kept[m][2 * e + b] |= (known[reg][2 * (column % 2) + b] >> there & 1u) << i;
        } else {
          to[reg][there] |= (from[m][i] >> (16 * e) & 0xffffu) << shift;
        }
      }
    }
  }
  for (unsigned m = 0; m < matrices; ++m) {
    for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
      w.regs.bank[0][registers[m] + i] = to[m][i];
    }
    if (to_fragments && tracks_) w.set_written(registers[m] / lanes, active, kept[m]);
  }
}

void CtaRunner::matrix_access(Warp& w, const Op& op, LaneMask active) {
  require_warp(w, op, active);
  find_addresses(w, op);
  spread_rows(w, op);
  if (op.kind == Kind::matrix_load) {
    load_from(w, op);
    if (spins_.watching()) watch_read(w, op);
    rearrange(w, op, op.destinations, true);
    return;
  }
  // The registers hold what goes to memory until it is there.
  std::array<std::uint32_t, 4> registers{};
  std::array<std::array<std::uint32_t, trace::max_lanes>, 4> saved{};
  for (unsigned v = 0; v < op.value_count; ++v) {
    registers[v] = op.values[v].offset;
    std::copy_n(w.regs.bank[0] + registers[v], program_.lanes, saved[v].begin());
  }
  rearrange(w, op, registers.data(), false);
  store_to(w, op);
  for (unsigned v = 0; v < op.value_count; ++v)
    std::copy_n(saved[v].begin(), program_.lanes, w.regs.bank[0] + registers[v]);
}

}  // namespace regatta::emulator

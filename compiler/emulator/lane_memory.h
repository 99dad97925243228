// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of all active lanes within one region, whose bounds have been checked.
#pragma once

#include "decode.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace regatta::emulator {

inline bool all_written(const std::uint8_t* written, std::size_t bytes) {
  std::uint8_t all = 1;
  for (std::size_t i = 0; i < bytes; ++i) all &= written[i];
  return all != 0;
}

/// Bytes between the members of a structure are never written, and copied with them.
inline bool some_written(const std::uint8_t* written, std::size_t bytes) {
  return std::memchr(written, 1, bytes) != nullptr;
}

inline bool sign_extends(ir::Type t) { return t == ir::Type::s8 || t == ir::Type::s16 || t == ir::Type::s32; }

/// One region of memory as seen by a warp: lane i's address a lies at data + (a - base) + i * stride.
struct Region {
  std::uint8_t* data = nullptr;
  std::uint8_t* written = nullptr;
  std::uint64_t base = 0;
  std::size_t stride = 0;
};

/// Calls each(lane) for the active lanes.
template <class Each>
void for_lanes(trace::LaneMask active, unsigned lanes, const Each& each) {
  if (active == trace::all_lanes(lanes)) {
    for (unsigned i = 0; i < lanes; ++i) each(i);
    return;
  }
  for (trace::LaneMask rest = active; rest != 0; rest &= rest - 1) each(static_cast<unsigned>(__builtin_ctzll(rest)));
}

/// The words of a register pair that a loaded value makes.
template <class T>
std::uint64_t extended(T value, bool is_signed) {
  if constexpr (sizeof(T) == 8) return value;
  if (!is_signed) return value;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<T>>(value)));
}

/// Loads on the active lanes; false when one of them reads bytes that were never written.
template <class T, bool Checked>
bool load_each(const Region& r, const Op& op, WarpRegs& w, unsigned lanes) {
  const std::uint64_t* address = w.addresses.lane;
  const bool is_signed = sign_extends(op.type);
  bool good = true;
  for (unsigned v = 0; v < op.vector; ++v) {
    std::uint32_t* low = w.bank[0] + op.destinations[v];
    std::uint32_t* high = op.destination_words[v] == 2 ? low + lanes : nullptr;
    const std::uint8_t* const data = r.data + v * sizeof(T);
    const auto place = [&](unsigned i) { return address[i] - r.base + i * r.stride; };
    const auto value_at = [&](std::uint64_t at) {
      T value;
      std::memcpy(&value, data + at, sizeof value);
      if constexpr (Checked) good &= all_written(r.written + v * sizeof(T) + at, sizeof(T));
      return extended(value, is_signed);
    };
    if (w.addresses.lowest == w.addresses.highest && r.stride == 0) {
      // All lanes read the same.
      const std::uint64_t value = value_at(w.addresses.lowest - r.base);
      const auto lower = static_cast<std::uint32_t>(value), upper = static_cast<std::uint32_t>(value >> 32);
      for (unsigned i = 0; i < lanes; ++i) low[i] = (lower & w.mask[i]) | (low[i] & ~w.mask[i]);
      if (high == nullptr) continue;
      for (unsigned i = 0; i < lanes; ++i) high[i] = (upper & w.mask[i]) | (high[i] & ~w.mask[i]);
    } else if (high == nullptr) {
      for_lanes(w.active, lanes, [&](unsigned i) { low[i] = static_cast<std::uint32_t>(value_at(place(i))); });
    } else {
      for_lanes(w.active, lanes, [&](unsigned i) {
        const std::uint64_t value = value_at(place(i));
        low[i] = static_cast<std::uint32_t>(value);
        high[i] = static_cast<std::uint32_t>(value >> 32);
      });
    }
  }
  return good;
}

template <class T>
bool load_lanes(const Region& r, const Op& op, WarpRegs& w, unsigned lanes) {
  return r.written != nullptr ? load_each<T, true>(r, op, w, lanes) : load_each<T, false>(r, op, w, lanes);
}

template <class T>
void store_lanes(const Region& r, const Op& op, WarpRegs& w, unsigned lanes) {
  const std::uint64_t* address = w.addresses.lane;
  for (unsigned v = 0; v < op.vector; ++v) {
    const LaneSource& s = op.values[v];
    const std::uint32_t* low = w.bank[static_cast<unsigned>(s.bank)] + s.offset;
    for_lanes(w.active, lanes, [&](unsigned i) {
      const std::size_t at = address[i] - r.base + i * r.stride + v * sizeof(T);
      T value;
      if constexpr (sizeof(T) == 8) {
        value = low[i] | (static_cast<std::uint64_t>(low[lanes + i]) << 32);
      } else {
        value = static_cast<T>(low[i]);
      }
      std::memcpy(r.data + at, &value, sizeof value);
      if (r.written != nullptr) std::memset(r.written + at, 1, sizeof value);
    });
  }
}

}  // namespace regatta::emulator

// SPDX-License-Identifier: Apache-2.0
//
// The simulated address space, from the compiler's generic addresses to the lines in the L2: the one place where a part
// of it is given away. Bits 48 and up choose the window; every other generic address is one of global memory, so global
// allocations stay below the first window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace regatta::base {

/// Bits above this one choose the window.
inline constexpr unsigned window_shift = 48;
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << window_shift;
/// Mask of the offset inside a window.
inline constexpr std::uint64_t window_offset_mask = window_bytes - 1;

enum class Window : std::uint16_t {
  global = 0,          ///< buffers and module variables
  shared = 1,          ///< generic addresses of the CTA's shared memory
  local = 2,           ///< generic addresses of local memory: the compiler's per thread, the SM's interleaved
  constant = 3,        ///< generic addresses of the module's constant space
  code = 4,            ///< instruction lines in the L2 (front end)
  constant_lines = 5,  ///< lines of constant loads in the L2 (front end)
  registers = 6,       ///< registers that a staging unit backs up in L1, L2 and DRAM
  parameters = 7,      ///< generic addresses of the kernel's parameters
  annotations = 8,     ///< tables that a compiler pass leaves in memory for the hardware
};

/// Programs with addresses of 32 bits see everything below 4 GB: global memory from `narrow_first` to below
/// `narrow_windows`, then a window of 16 MB each for the generic addresses of shared, local, constant and parameter
/// space. The emulator turns these into the addresses above, so that traces have one form.
inline constexpr std::uint64_t narrow_first = 0x1000'0000;
inline constexpr std::uint64_t narrow_windows = 0xf000'0000;
inline constexpr unsigned narrow_window_shift = 24;

constexpr std::uint64_t first_address(Window w) { return static_cast<std::uint64_t>(w) << window_shift; }
constexpr std::uint64_t narrow_first_address(Window w) {
  return narrow_windows + (static_cast<std::uint64_t>(w) << narrow_window_shift);
}
/// Of an address of a program with 32-bit addresses.
constexpr std::uint64_t widened(std::uint64_t narrow) {
  if (narrow < narrow_windows) return narrow;
  const std::uint64_t window = (narrow - narrow_windows) >> narrow_window_shift;
  return (window << window_shift) | (narrow & ((std::uint64_t{1} << narrow_window_shift) - 1));
}
/// The number of the window that `address` lies in. It need not be one that somebody uses.
constexpr std::uint64_t window_number(std::uint64_t address) { return address >> window_shift; }

struct MappedWindow {
  const char* name;
  Window window;
};

/// All windows, each once.
inline constexpr std::array<MappedWindow, 9> address_map{{{"global", Window::global},
                                                          {"shared", Window::shared},
                                                          {"local", Window::local},
                                                          {"constant", Window::constant},
                                                          {"code", Window::code},
                                                          {"constant lines", Window::constant_lines},
                                                          {"registers", Window::registers},
                                                          {"parameters", Window::parameters},
                                                          {"annotations", Window::annotations}}};

constexpr bool windows_are_disjoint() {
  for (std::size_t a = 0; a < address_map.size(); ++a) {
    for (std::size_t b = a + 1; b < address_map.size(); ++b) {
      if (address_map[a].window == address_map[b].window) return false;
    }
  }
  return true;
}
static_assert(windows_are_disjoint(), "two windows of the address map overlap");

}  // namespace regatta::base

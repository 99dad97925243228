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
};

constexpr std::uint64_t first_address(Window w) { return static_cast<std::uint64_t>(w) << window_shift; }
/// The number of the window that `address` lies in. It need not be one that somebody uses.
constexpr std::uint64_t window_number(std::uint64_t address) { return address >> window_shift; }

struct MappedWindow {
  const char* name;
  Window window;
};

/// All windows, each once.
inline constexpr std::array<MappedWindow, 8> address_map{{{"global", Window::global},
                                                          {"shared", Window::shared},
                                                          {"local", Window::local},
                                                          {"constant", Window::constant},
                                                          {"code", Window::code},
                                                          {"constant lines", Window::constant_lines},
                                                          {"registers", Window::registers},
                                                          {"parameters", Window::parameters}}};

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

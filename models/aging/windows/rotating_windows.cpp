// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/rotating_windows.h>

namespace regatta::models {

void RotatingWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  windows_.kernel_started(rows, registers);
  registers_ = registers;
  shift_.assign(rows / registers, 0);
}

std::optional<RegisterWindow> RotatingWindows::first_window(protocol::WarpSlot warp) const {
  return windows_.first_window(warp);  // no window has rotated yet
}

RegisterWindow RotatingWindows::assign(protocol::WarpSlot warp) {
  const std::uint32_t first = windows_.base(warp);
  std::uint16_t& shift = shift_[warp.value()];
  const unsigned s = shift;
  shift = static_cast<std::uint16_t>(s + 1 == registers_ ? 0 : s + 1);
  const std::uint32_t base = first + s;
  return RegisterWindow{base, base - registers_, static_cast<std::uint16_t>(registers_ - s)};
}

}  // namespace regatta::models

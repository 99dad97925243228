// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_windows/rotating_windows.h>

#include <stdexcept>

namespace regatta::models {

void RotatingWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  rows_ = rows;
  registers_ = registers;
  shift_.assign(rows / registers, 0);
}

protocol::RegisterWindow RotatingWindows::assign(protocol::WarpSlot warp) {
  const std::size_t window = warp.value();
  if (window >= shift_.size()) {
    throw std::logic_error("register window of warp slot " + std::to_string(window) + " ends beyond row " +
                           std::to_string(rows_));
  }
  const unsigned s = shift_[window];
  shift_[window] = static_cast<std::uint16_t>(s + 1 == registers_ ? 0 : s + 1);
  const std::uint32_t base = static_cast<std::uint32_t>(window) * registers_ + s;
  return protocol::RegisterWindow{base, base - registers_, static_cast<std::uint16_t>(registers_ - s)};
}

}  // namespace regatta::models

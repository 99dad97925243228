// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_windows/fixed_windows.h>

#include <stdexcept>

namespace regatta::models {

void FixedWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  rows_ = rows;
  registers_ = registers;
}

protocol::RegisterWindow FixedWindows::assign(protocol::WarpSlot warp) {
  const std::uint32_t base = warp.value() * registers_;
  if (base + registers_ > rows_) {
    throw std::logic_error("register window of warp slot " + std::to_string(warp.value()) + " ends beyond row " +
                           std::to_string(rows_));
  }
  return protocol::RegisterWindow{base, base, 256};
}

}  // namespace regatta::models

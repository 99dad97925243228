// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/fixed_windows.h>

#include <stdexcept>

namespace regatta::models {

void FixedWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  slice_rows_ = rows / slices_;
  registers_ = registers;
}

std::uint32_t FixedWindows::base(protocol::WarpSlot warp) const {
  const std::uint32_t slice = warp.value() % slices_;
  const std::uint32_t within = warp.value() / slices_ * registers_;
  if (within + registers_ > slice_rows_) {
    throw std::logic_error("register window of warp slot " + std::to_string(warp.value()) +
                           " ends beyond the last of the " + std::to_string(slice_rows_) + " rows of slice " +
                           std::to_string(slice));
  }
  return slice * slice_rows_ + within;
}

std::optional<RegisterWindow> FixedWindows::first_window(protocol::WarpSlot warp) const {
  if ((warp.value() / slices_ + 1) * registers_ > slice_rows_) return std::nullopt;
  const std::uint32_t first = base(warp);
  return RegisterWindow{first, first, 256};
}

RegisterWindow FixedWindows::assign(protocol::WarpSlot warp) {
  const std::uint32_t first = base(warp);
  return RegisterWindow{first, first, 256};
}

}  // namespace regatta::models

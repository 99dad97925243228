// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/round_robin_windows.h>

#include <stdexcept>

namespace regatta::models {

RoundRobinWindows::RoundRobinWindows(unsigned slices) : slices_(slices) {}

void RoundRobinWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  registers_ = registers;
  slice_rows_ = rows / static_cast<std::uint32_t>(slices_.size());
  const unsigned windows = slice_rows_ / registers;
  for (Slice& s : slices_) {
    // The pointer keeps its position, so that repeated runs of a kernel do not wear the first windows more than others.
    if (s.next >= windows) s.next = 0;
    s.taken.assign(windows, false);
  }
  windows_ = windows;
  window_of_.clear();
}

std::optional<RegisterWindow> RoundRobinWindows::first_window(protocol::WarpSlot warp) const {
  const auto slices = static_cast<unsigned>(slices_.size());
  const unsigned part = warp.value() % slices;
  const unsigned turn = warp.value() / slices;
  if (turn >= windows_) return std::nullopt;
  const std::uint32_t base = part * slice_rows_ + (slices_[part].next + turn) % windows_ * registers_;
  return RegisterWindow{base, base, 256};
}

RegisterWindow RoundRobinWindows::assign(protocol::WarpSlot warp) {
  const auto part = warp.value() % static_cast<unsigned>(slices_.size());
  Slice& s = slices_[part];
  for (unsigned looked = 0; looked < windows_; ++looked) {
    const unsigned window = s.next;
    s.next = window + 1 == windows_ ? 0 : window + 1;
    if (s.taken[window]) continue;
    s.taken[window] = true;
    if (window_of_.size() <= warp.value()) window_of_.resize(warp.value() + 1u);
    window_of_[warp.value()] = window;
    const std::uint32_t base = part * slice_rows_ + window * registers_;
    return RegisterWindow{base, base, 256};
  }
  throw std::logic_error("no register window is free for warp slot " + std::to_string(warp.value()) + ": all " +
                         std::to_string(windows_) + " of slice " + std::to_string(part) + " are taken");
}

void RoundRobinWindows::release(protocol::WarpSlot warp) {
  slices_[warp.value() % slices_.size()].taken[window_of_[warp.value()]] = false;
}

}  // namespace regatta::models

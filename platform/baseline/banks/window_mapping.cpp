// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/window_mapping.h>

#include <algorithm>

namespace regatta::models {

using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

std::uint32_t row_of(const RegisterWindow& window, unsigned reg) {
  return window.row(RegisterId(static_cast<std::uint8_t>(reg))).value();
}

}  // namespace

void WindowMapping::start(std::uint32_t rows, unsigned registers) {
  rows_ = rows;
  registers_ = registers;
  windows_.clear();
  owners_.assign(rows, Owners{});
  aliases_.clear();
}

void WindowMapping::alias(WarpSlot a, WarpSlot b) {
  if (!may_alias(a.value(), b.value())) aliases_.emplace_back(a.value(), b.value());
}

void WindowMapping::unalias(WarpSlot a, WarpSlot b) {
  aliases_.erase(std::remove_if(aliases_.begin(), aliases_.end(),
                                [&](const auto& pair) {
                                  return (pair.first == a.value() && pair.second == b.value()) ||
                                         (pair.first == b.value() && pair.second == a.value());
                                }),
                 aliases_.end());
}

bool WindowMapping::may_alias(std::uint16_t a, std::uint16_t b) const {
  return std::any_of(aliases_.begin(), aliases_.end(), [&](const auto& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

std::string WindowMapping::clash(WarpSlot warp, const RegisterWindow& window) const {
  for (unsigned r = 0; r < registers_; ++r) {
    const std::uint32_t row = row_of(window, r);
    const auto wrong = [&](const std::string& why) {
      return "the window of warp " + std::to_string(warp.value()) + " has row " + std::to_string(row) + " for R" +
             std::to_string(r) + ", which " + why;
    };
    if (row >= rows_) return wrong("the file has not");
    for (const std::uint16_t owner : {owners_[row].first, owners_[row].second}) {
      if (owner == nobody || owner == warp.value()) continue;
      if (!may_alias(warp.value(), owner)) return wrong("is warp " + std::to_string(owner) + "'s");
    }
    const Owners& o = owners_[row];
    if (o.first != nobody && o.second != nobody && o.first != warp.value() && o.second != warp.value()) {
      return wrong("is shared by warps " + std::to_string(o.first) + " and " + std::to_string(o.second) + " already");
    }
  }
  return "";
}

void WindowMapping::claim(WarpSlot warp, const RegisterWindow& window) {
  for (unsigned r = 0; r < registers_; ++r) {
    Owners& o = owners_[row_of(window, r)];
    (o.first == nobody ? o.first : o.second) = warp.value();
  }
}

void WindowMapping::give_up(WarpSlot warp, const RegisterWindow& window) {
  for (unsigned r = 0; r < registers_; ++r) {
    Owners& o = owners_[row_of(window, r)];
    (o.first == warp.value() ? o.first : o.second) = nobody;
  }
}

std::string WindowMapping::map(WarpSlot warp, const RegisterWindow& window) {
  if (mapped(warp)) return "warp " + std::to_string(warp.value()) + " has a window already";
  std::string wrong = clash(warp, window);
  if (!wrong.empty()) return wrong;
  if (windows_.size() <= warp.value()) {
    windows_.resize(std::size_t{warp.value()} + 1, RegisterWindow{nowhere, nowhere, 256});
  }
  windows_[warp.value()] = window;
  claim(warp, window);
  return "";
}

std::string WindowMapping::rebase(WarpSlot warp, const RegisterWindow& window) {
  if (!mapped(warp)) return "warp " + std::to_string(warp.value()) + " has no window to move";
  std::string wrong = clash(warp, window);
  if (!wrong.empty()) return wrong;
  give_up(warp, windows_[warp.value()]);
  windows_[warp.value()] = window;
  claim(warp, window);
  return "";
}

void WindowMapping::unmap(WarpSlot warp) {
  give_up(warp, windows_[warp.value()]);
  windows_[warp.value()] = RegisterWindow{nowhere, nowhere, 256};
}

}  // namespace regatta::models

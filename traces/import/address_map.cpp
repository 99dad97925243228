// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/types.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "code.h"

namespace regatta::import {
namespace {

using trace::MemorySpace;

/// The windows of shared and local memory among the generic addresses.
constexpr std::uint64_t window = std::uint64_t{1} << 24;

bool lies_in(std::uint64_t address, std::uint64_t base) {
  return base != 0 && address >= base && address - base < window;
}

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

void Extent::add(std::uint64_t at, std::uint64_t bytes) {
  first = std::min(first, at);
  end = std::max(end, at + bytes);
}

void Extent::add(const Extent& other) {
  first = std::min(first, other.first);
  end = std::max(end, other.end);
}

std::pair<MemorySpace, std::uint64_t> place_of(const Header& header, MemorySpace space, std::uint64_t address) {
  const bool shared = lies_in(address, header.shared_base), local = lies_in(address, header.local_base);
  if (space == MemorySpace::generic && shared) return {MemorySpace::shared, address - header.shared_base};
  if (space == MemorySpace::generic && local) return {MemorySpace::local, address - header.local_base};
  if (space == MemorySpace::generic) return {MemorySpace::global, address};
  if (space == MemorySpace::shared && shared) return {space, address - header.shared_base};
  if (space == MemorySpace::local && local) return {space, address - header.local_base};
  return {space, address};
}

AddressMap::AddressMap(const Header& header, const Extent& local) : header_(header) {
  if (local.empty()) return;
  constexpr std::uint64_t alignment = 16;
  local_first_ = local.first / alignment * alignment;
  local_bytes_ = static_cast<std::uint32_t>((local.end - local_first_ + alignment - 1) / alignment * alignment);
}

std::uint64_t AddressMap::map(MemorySpace space, std::uint64_t address, std::uint64_t thread) const {
  const auto [real, offset] = place_of(header_, space, address);
  if (real == MemorySpace::local) return trace::local_window + thread * local_bytes_ + (offset - local_first_);
  if (real == MemorySpace::shared) return space == MemorySpace::generic ? trace::shared_window + offset : offset;
  if (address >= base::window_bytes) {
    throw std::invalid_argument("the address " + hexadecimal(address) + " of global memory, expected less than " +
                                hexadecimal(base::window_bytes));
  }
  return address;
}

}  // namespace regatta::import

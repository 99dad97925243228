// SPDX-License-Identifier: Apache-2.0
#include <regatta/emulator/device_memory.h>

#include <regatta/base/tool.h>
#include <regatta/trace/types.h>

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace regatta::emulator {

std::uint64_t physical_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

Allocation DeviceMemory::make(const std::string& name, std::uint64_t bytes, bool initialised) const {
  Allocation a;
  a.name = name;
  a.bytes = bytes;
  std::uint64_t held = 0;
  for (const Allocation& other : allocations_) held += other.bytes;
  try {
    if (bytes > physical_bytes() || held > physical_bytes() - bytes) throw std::bad_alloc();
    const base::ExpectAllocationFailure expect;
    a.data.resize(bytes);
    if (!initialised) a.written.resize(bytes);
  } catch (const std::bad_alloc&) {
    throw base::OutOfMemory("buffer '" + name + "' of " + std::to_string(bytes) + " bytes does not fit");
  } catch (const std::length_error&) {
    throw trace::InputError("error: buffer '" + name + "': " + std::to_string(bytes) + " bytes are too many");
  }
  return a;
}

std::uint64_t DeviceMemory::allocate(const std::string& name, std::uint64_t bytes, bool initialised) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (next_ + guard_bytes + alignment >= end_ || bytes >= end_ - next_ - guard_bytes - alignment) {
    throw trace::InputError("error: buffer '" + name + "' of " + std::to_string(bytes) +
                            " bytes does not fit into the device's address space");
  }
  const std::uint64_t address = next_;
  allocate_at(name, address, bytes, initialised);
  next_ = (address + bytes + guard_bytes + alignment - 1) / alignment * alignment;
  return address;
}

void DeviceMemory::allocate_at(const std::string& name, std::uint64_t address, std::uint64_t bytes, bool initialised) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (address >= base::window_bytes || bytes > base::window_bytes - address) {
    throw trace::InputError("error: buffer '" + name + "' of " + std::to_string(bytes) + " bytes at address " +
                            std::to_string(address) + " does not fit into the device's address space");
  }
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](std::uint64_t at, const Allocation& a) { return at < a.base; });
  const Allocation* const below = after == allocations_.begin() ? nullptr : &*(after - 1);
  const Allocation* const above = after == allocations_.end() ? nullptr : &*after;
  const Allocation* const other = below != nullptr && below->end() > address          ? below
                                  : above != nullptr && address + bytes > above->base ? above
                                                                                      : nullptr;
  if (other != nullptr) {
    throw trace::InputError("error: buffer '" + name + "' of " + std::to_string(bytes) + " bytes at address " +
                            std::to_string(address) + " lies over '" + other->name + "'");
  }
  const auto place = after - allocations_.begin();
  Allocation a = make(name, bytes, initialised);
  a.base = address;
  allocations_.insert(allocations_.begin() + place, std::move(a));
}

void DeviceMemory::release(std::uint64_t address) {
  const auto found =
      std::find_if(allocations_.begin(), allocations_.end(), [&](const Allocation& a) { return a.base == address; });
  if (found == allocations_.end()) throw std::out_of_range("no buffer begins at address " + std::to_string(address));
  allocations_.erase(found);
  last_hit_ = 0;
}

void DeviceMemory::set_heap(std::uint64_t bytes, bool initialised) {
  if (heap_ != 0) throw std::logic_error("the heap is there already");
  heap_bytes_ = std::max(bytes, least_heap_bytes);
  heap_initialised_ = initialised;
}

std::uint64_t DeviceMemory::heap() {
  if (heap_ != 0) return heap_;
  constexpr std::uint64_t most_narrow = std::uint64_t{1} << 30, wide_place = std::uint64_t{1} << 35;
  const std::uint64_t room = (heap_bytes_ + guard_bytes + page_bytes - 1) / page_bytes * page_bytes;
  const std::uint64_t address = heap_bytes_ <= most_narrow ? base::narrow_windows - room : wide_place;
  allocate_at("heap of malloc()", address, heap_bytes_, heap_initialised_);
  return heap_ = address;
}

Allocation* DeviceMemory::find(std::uint64_t address, std::size_t& hint) {
  if (hint < allocations_.size()) {
    Allocation& hit = allocations_[hint];
    if (address - hit.base < hit.bytes) {
      Allocation::set(hit.touched);
      return &hit;
    }
  }
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](std::uint64_t at, const Allocation& a) { return at < a.base; });
  if (after == allocations_.begin()) return nullptr;
  Allocation& a = *(after - 1);
  if (address - a.base >= a.bytes) return nullptr;
  hint = static_cast<std::size_t>(&a - allocations_.data());
  Allocation::set(a.touched);
  return &a;
}

const ContentDigest& DeviceMemory::digest(Allocation& a) {
  if (!a.changed) return a.digest;
  const XXH128_hash_t data = XXH3_128bits(a.data.data(), a.data.size());
  a.digest = {data.low64, data.high64};
  if (!a.written.empty()) {
    const XXH128_hash_t all = XXH3_128bits_withSeed(a.written.data(), a.written.size(), data.low64);
    a.digest = {all.low64, all.high64 ^ data.high64};
  }
  a.changed = false;
  return a.digest;
}

bool DeviceMemory::is_mapped(std::uint64_t address) const {
  const auto page = [](std::uint64_t at) { return at / page_bytes; };
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](std::uint64_t at, const Allocation& a) { return at < a.base; });
  if (after != allocations_.begin() && page(address) <= page((after - 1)->end() - 1)) return true;
  if (after == allocations_.end()) return false;
  return page(address) == page(after->base) ||
         (after == allocations_.begin() && page(address) + 1 == page(after->base));
}

Allocation& DeviceMemory::range(std::uint64_t address, std::uint64_t bytes) {
  Allocation* a = find(address);
  if (a == nullptr || bytes > a->end() - address) {
    throw std::out_of_range("host copy of " + std::to_string(bytes) + " bytes at " + describe(address));
  }
  return *a;
}

void DeviceMemory::write(std::uint64_t address, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  Allocation& a = range(address, bytes);
  const std::uint64_t at = address - a.base;
  a.changed = true;
  std::memcpy(a.data.data() + at, from, bytes);
  if (!a.written.empty()) std::memset(a.written.data() + at, 1, bytes);
}

void DeviceMemory::read(std::uint64_t address, void* to, std::uint64_t bytes) const {
  if (bytes == 0) return;
  const Allocation& a = const_cast<DeviceMemory*>(this)->range(address, bytes);
  std::memcpy(to, a.data.data() + (address - a.base), bytes);
}

void DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return;
  const Allocation& a = range(from, bytes);
  Allocation& b = range(to, bytes);
  const std::uint64_t source = from - a.base, place = to - b.base;
  b.changed = true;
  std::memmove(b.data.data() + place, a.data.data() + source, bytes);
  if (a.written.empty() && b.written.empty()) return;
  std::vector<std::uint8_t> written(bytes, 1);
  if (!a.written.empty()) std::memcpy(written.data(), a.written.data() + source, bytes);
  if (b.written.empty()) b.written.assign(b.bytes, 1);
  std::memcpy(b.written.data() + place, written.data(), bytes);
}

std::string DeviceMemory::describe(std::uint64_t address) const {
  const auto quoted = [](const Allocation& a) { return "'" + a.name + "' (" + std::to_string(a.bytes) + " bytes)"; };
  const auto bytes = [](std::uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); };
  const auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                      [](std::uint64_t at, const Allocation& a) { return at < a.base; });
  const Allocation* below = after == allocations_.begin() ? nullptr : &*(after - 1);
  const Allocation* above = after == allocations_.end() ? nullptr : &*after;
  if (below != nullptr && address < below->end()) {
    return bytes(address - below->base) + " into " + quoted(*below);
  }
  // The nearer neighbour explains an address best; beyond a mebibyte neither does.
  constexpr std::uint64_t near = 1u << 20;
  const std::uint64_t past = below != nullptr ? address - below->end() : ~std::uint64_t{0};
  const std::uint64_t before = above != nullptr ? above->base - address : ~std::uint64_t{0};
  if (past <= before && past < near) {
    return (past == 0 ? "just past the end of " : bytes(past) + " past the end of ") + quoted(*below);
  }
  if (before < near) return bytes(before) + " before the start of " + quoted(*above);
  return "in no buffer";
}

}  // namespace regatta::emulator

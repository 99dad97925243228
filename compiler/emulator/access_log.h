// SPDX-License-Identifier: Apache-2.0
//
// What CTAs that run at the same time have to know of each other: the words of global memory that each thread of the
// emulator reads and writes, and what they held before.
#pragma once

#include <regatta/emulator/device_memory.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace regatta::emulator {

/// Pages as they were before anybody wrote them.
class StartState {
 public:
  static constexpr unsigned page_shift = 14;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;

  explicit StartState(DeviceMemory& memory) : memory_(memory) {}

  /// Must be called before a thread first writes a page. Safe from several threads: nobody has written a page that is
  /// not saved.
  void save(std::size_t allocation, std::uint64_t page);
  /// Puts all saved pages back.
  void restore();
  void clear() { pages_.clear(); }

 private:
  struct Page {
    std::vector<std::uint8_t> data, written;
  };
  DeviceMemory& memory_;
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::uint64_t>, Page> pages_;  ///< by index of the allocation, and page in it
};

/// The accesses of one thread. Words are 4 bytes; a part of one counts as all of it.
class AccessLog {
 public:
  AccessLog(DeviceMemory& memory, StartState& start) : memory_(memory), start_(start) {}

  void read(const Allocation& a, std::uint64_t offset, std::uint64_t bytes) { mark(a, offset, bytes, false); }
  void write(const Allocation& a, std::uint64_t offset, std::uint64_t bytes) { mark(a, offset, bytes, true); }
  /// Any byte of it may be read.
  void read_all(const Allocation& a) { table(a).read_all = true; }
  /// Lanes of a warp that all lie in the allocation: addresses, `bytes` from each.
  void lanes(const Allocation& a, const std::uint64_t* address, std::uint64_t active, std::uint64_t bytes, bool writes);

  /// Whether a word that one has written is read or written by the other.
  bool conflicts(const AccessLog& other) const { return touches_written(other) || other.touches_written(*this); }
  void clear() {
    tables_.clear();
    recent_ = {};
  }

 private:
  static constexpr std::size_t words = StartState::page_bytes / 4 / 64;
  using Bits = std::array<std::uint64_t, words>;
  struct Page {
    Bits read{}, written{};
    bool any_written = false;
  };
  struct Table {
    std::vector<std::unique_ptr<Page>> pages;
    bool read_all = false;
  };

  std::size_t index_of(const Allocation& a) const {
    return static_cast<std::size_t>(&a - memory_.allocations().data());
  }
  Table& table(const Allocation& a);
  /// A page that is read, or one that is written and saved.
  Page& page(const Allocation& a, std::uint64_t number, bool writes) {
    const Recent& r = recent_[writes ? 1 : 0];
    return r.allocation == &a && r.number == number ? *r.page : find_page(a, number, writes);
  }
  Page& find_page(const Allocation& a, std::uint64_t number, bool writes);
  void mark(const Allocation& a, std::uint64_t offset, std::uint64_t bytes, bool writes) {
    const std::uint64_t first = offset / 4, last = (offset + bytes - 1) / 4;
    if (first / 64 != last / 64) return mark_range(a, first, last, writes);
    // As most accesses of a warp.
    Page& p = page(a, offset >> StartState::page_shift, writes);
    (writes ? p.written : p.read)[first / 64 % words] |= ~std::uint64_t{0} >> (63 - (last - first)) << first % 64;
  }
  void mark_range(const Allocation& a, std::uint64_t first, std::uint64_t last, bool writes);
  /// Whether this reads or writes what the other has written.
  bool touches_written(const AccessLog& other) const;

  const DeviceMemory& memory_;
  StartState& start_;
  std::vector<Table> tables_;  ///< by index of the allocation
  /// What was read last, and written: a warp's accesses mostly stay in a page for a while.
  struct Recent {
    const Allocation* allocation = nullptr;
    std::uint64_t number = 0;
    Page* page = nullptr;
  };
  std::array<Recent, 2> recent_;
};

}  // namespace regatta::emulator

// SPDX-License-Identifier: Apache-2.0
//
// Global memory of the emulated device: allocations with names and unmapped gaps between them, so that an
// access out of bounds hits nothing and can be explained. Addresses are deterministic: they depend on the
// order and the sizes of the allocations alone.
#pragma once

#include <regatta/base/address_map.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::emulator {

/// Bytes of this machine's main memory: an operating system that promises more ends the process once it is used.
std::uint64_t physical_bytes();

/// Of what an allocation holds: 128 bits, equal for equal contents and practically never else.
struct ContentDigest {
  std::uint64_t low = 0, high = 0;
  bool operator==(const ContentDigest& o) const { return low == o.low && high == o.high; }
};

/// One allocation. Addresses and sizes in bytes.
struct Allocation {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::vector<std::uint8_t> data;
  /// One byte per byte of data, 1 = written; empty when all of it is initialised.
  std::vector<std::uint8_t> written;
  bool touched = false;  ///< find() has found it since somebody last cleared this
  bool changed = true;   ///< something may have been written since `digest` was taken
  ContentDigest digest;  ///< DeviceMemory::digest()
  /// Sets one of these flags. Safe from several threads.
  static void set(bool& flag) {
    if (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) __atomic_store_n(&flag, true, __ATOMIC_RELAXED);
  }

  std::uint64_t end() const { return base + bytes; }
};

/// The allocations of one device, in ascending address order. Not copyable: pointers into it are handed out.
class DeviceMemory {
 public:
  /// Allocations begin at multiples of `alignment` and have at least `guard_bytes` of nothing between them.
  static constexpr std::uint64_t first_address = 0x10'0000'0000;
  static constexpr std::uint64_t alignment = 512;
  static constexpr std::uint64_t guard_bytes = 4096;
  static constexpr std::uint64_t page_bytes = std::uint64_t{2} << 20;

  /// `below_4_gb`: for programs with addresses of 32 bits.
  explicit DeviceMemory(bool below_4_gb = false)
      : end_(below_4_gb ? base::narrow_windows : base::window_bytes),
        next_(below_4_gb ? base::narrow_first : first_address) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates `bytes` (at least 1) and returns the address. With `initialised` the bytes are zero and may be
  /// read; otherwise reading a byte that was never written is an error. Throws trace::InputError when the memory
  /// cannot be had.
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes, bool initialised);

  /// As allocate(), at an address that the caller chooses. Throws trace::InputError if something is there already.
  void allocate_at(const std::string& name, std::uint64_t address, std::uint64_t bytes, bool initialised);

  /// Gives back the allocation that begins at `address`, whose addresses are not used again. Throws std::out_of_range
  /// if none does.
  void release(std::uint64_t address);

  /// The heap of the kernels' malloc(), before a kernel has used it. cudaLimitMallocHeapSize.
  static constexpr std::uint64_t default_heap_bytes = std::uint64_t{8} << 20, least_heap_bytes = 1024;
  /// `initialised` as in allocate(), of its blocks. Throws std::logic_error once the heap is there.
  void set_heap(std::uint64_t bytes, bool initialised);
  bool has_heap() const { return heap_ != 0; }
  /// Its address: at the end of the first 4 GB, or, if it takes more than 1 GiB, at 32 GiB. The first call makes it.
  std::uint64_t heap();

  /// The allocation that holds `address`, nullptr if none does.
  Allocation* find(std::uint64_t address) { return find(address, last_hit_); }
  /// As above; `hint`, 0 at first, makes the next search short. Safe from several threads with a hint each.
  Allocation* find(std::uint64_t address, std::size_t& hint);
  const Allocation* find(std::uint64_t address) const { return const_cast<DeviceMemory*>(this)->find(address); }

  /// All of them, in ascending address order.
  std::vector<Allocation>& allocations() { return allocations_; }
  const std::vector<Allocation>& allocations() const { return allocations_; }

  /// The digest of what an allocation holds now. Computed anew only if that may have changed.
  static const ContentDigest& digest(Allocation& a);

  /// Whether a GPU can read `address` though it is in no allocation. CUDA maps whole pages of 2 MiB: those that hold a
  /// part of an allocation, and, below the first one, the page before.
  bool is_mapped(std::uint64_t address) const;

  /// Host copies. Throw std::out_of_range when the range is not inside one allocation.
  void write(std::uint64_t address, const void* from, std::uint64_t bytes);
  void read(std::uint64_t address, void* to, std::uint64_t bytes) const;
  /// As a memmove; bytes that were never written have not been written in their new place either.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  /// Where `address` lies, in words: "4 bytes past the end of buffer 'a' (4096 bytes)".
  std::string describe(std::uint64_t address) const;

 private:
  Allocation& range(std::uint64_t address, std::uint64_t bytes);
  /// Memory of the host for an allocation, without an address.
  Allocation make(const std::string& name, std::uint64_t bytes, bool initialised) const;

  std::vector<Allocation> allocations_;
  std::uint64_t end_, next_;
  std::size_t last_hit_ = 0;
  std::uint64_t heap_ = 0, heap_bytes_ = default_heap_bytes;
  bool heap_initialised_ = false;
};

}  // namespace regatta::emulator

// SPDX-License-Identifier: Apache-2.0
//
// Memory pools of both APIs. Allocations of a stream are done at once. A pool counts what it has taken of the device,
// in granules, of which it gives those beyond its threshold back when memory is released.
#include "pools.h"

#include "driver.h"
#include "graphs.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace regatta::capture {

namespace {

constexpr std::uint64_t granule = std::uint64_t{32} << 20;

/// cudaMemPoolAttr; the first three are int, the others 64 bits.
constexpr int follow_events = 1, allow_internal_dependencies = 3, release_threshold = 4, reserved_now = 5,
              reserved_high = 6, used_now = 7, used_high = 8;

struct Pool {
  int reuse[3] = {1, 1, 1};
  std::uint64_t threshold = 0, used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  std::uint64_t most = 0;  ///< bytes; 0: as the device has

  void take(std::uint64_t bytes) {
    used += bytes;
    reserved = std::max(reserved, rounded(used));
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, reserved);
  }
  void trim(std::uint64_t keep) { reserved = std::max(rounded(used), std::min(reserved, keep)); }

 private:
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + granule - 1) / granule * granule; }
};

struct Block {
  Pool* pool;
  std::uint64_t bytes;
};

struct Pools {
  Pool initial;
  Pool* current = &initial;
  std::set<Pool*> made;
  std::vector<std::unique_ptr<Pool>> ever_made;  ///< blocks of a destroyed one live on
  std::map<std::uint64_t, Block> blocks;

  static Pools& get() {
    static auto* const pools = new Pools;
    return *pools;
  }
  bool is_pool(Pool* p) const { return p == &initial || made.count(p) != 0; }
};

/// cudaMemPoolProps.
struct Properties {
  int type, handle_types, location_type, location;
  void* security;
  std::size_t most;
};

int allocate_of_pool(void** out, std::size_t bytes, Pool* pool, void* stream) {
  const Guard guard(State::get().lock);
  Pools& pools = Pools::get();
  if (!pools.is_pool(pool)) return result(invalid_value);
  if (pool->most != 0 && bytes > pool->most - std::min(pool->most, pool->used)) return result(memory_allocation);
  const int code = cudaMalloc(out, bytes);
  if (code != success || bytes == 0) return code;
  pool->take(bytes);
  pools.blocks[address_of(*out)] = {pool, bytes};
  // In a captured stream too: a graph's memory has one address for its whole life.
  return in_stream(stream, NodeType::allocate, [] { return success; });
}

int release_in(void* stream, void* pointer) {
  const Guard guard(State::get().lock);
  if (Graphs::get().add_to(stream, NodeType::release) != nullptr) return result(success);
  return cudaFree(pointer);
}

int create(Pool** out, const Properties* p) {
  const Guard guard(State::get().lock);
  constexpr int pinned = 1, on_device = 1;
  if (out == nullptr || p == nullptr || p->type != pinned || p->location_type != on_device || p->location != 0) {
    return result(invalid_value);
  }
  if (p->handle_types != 0) return result(not_supported);  // to share with other processes
  Pools& pools = Pools::get();
  pools.ever_made.push_back(std::make_unique<Pool>());
  *out = pools.ever_made.back().get();
  (*out)->most = p->most;
  pools.made.insert(*out);
  return result(success);
}

int destroy(Pool* pool) {
  const Guard guard(State::get().lock);
  Pools& pools = Pools::get();
  if (pools.made.erase(pool) == 0) return result(invalid_value);
  if (pools.current == pool) pools.current = &pools.initial;
  return result(success);
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

int set_attribute(Pool* pool, int attribute, const void* value) {
  const Guard guard(State::get().lock);
  if (!Pools::get().is_pool(pool) || value == nullptr) return result(invalid_value);
  if (attribute >= follow_events && attribute <= allow_internal_dependencies) {
    pool->reuse[attribute - follow_events] = load<int>(value);
    return result(success);
  }
  const auto number = load<std::uint64_t>(value);
  if (attribute == release_threshold) {
    pool->threshold = number;
  } else if (attribute == reserved_high && number == 0) {
    pool->reserved_high = pool->reserved;
  } else if (attribute == used_high && number == 0) {
    pool->used_high = pool->used;
  } else {
    return result(invalid_value);  // the others can only be read
  }
  return result(success);
}

int get_attribute(Pool* pool, int attribute, void* out) {
  const Guard guard(State::get().lock);
  if (!Pools::get().is_pool(pool) || out == nullptr) return result(invalid_value);
  if (attribute >= follow_events && attribute <= allow_internal_dependencies) {
    std::memcpy(out, pool->reuse + (attribute - follow_events), sizeof(int));
    return result(success);
  }
  std::uint64_t number = 0;
  switch (attribute) {
    case release_threshold:
      number = pool->threshold;
      break;
    case reserved_now:
      number = pool->reserved;
      break;
    case reserved_high:
      number = pool->reserved_high;
      break;
    case used_now:
      number = pool->used;
      break;
    case used_high:
      number = pool->used_high;
      break;
    default:
      return result(invalid_value);
  }
  std::memcpy(out, &number, sizeof number);
  return result(success);
}

int trim(Pool* pool, std::size_t keep) {
  const Guard guard(State::get().lock);
  if (!Pools::get().is_pool(pool)) return result(invalid_value);
  pool->trim(keep);
  return result(success);
}

/// There is one device, which always has access.
int get_access(int* flags, Pool* pool) {
  constexpr int read_and_write = 3;
  const Guard guard(State::get().lock);
  if (!Pools::get().is_pool(pool) || flags == nullptr) return result(invalid_value);
  *flags = read_and_write;
  return result(success);
}

int give(Pool** out, Pool* pool, int number) {
  if (out == nullptr) return result(invalid_value);
  if (number != 0) return result(invalid_device);
  *out = pool;
  return result(success);
}

int choose(int number, Pool* pool) {
  const Guard guard(State::get().lock);
  if (number != 0) return result(invalid_device);
  if (!Pools::get().is_pool(pool)) return result(invalid_value);
  Pools::get().current = pool;
  return result(success);
}

}  // namespace

void release_of_pool(std::uint64_t address) {
  Pools& pools = Pools::get();
  const auto found = pools.blocks.find(address);
  if (found == pools.blocks.end()) return;
  const auto [pool, bytes] = found->second;
  pools.blocks.erase(found);
  pool->used -= bytes;
  pool->trim(pool->threshold);
}

REGATTA_API int cuMemAllocFromPoolAsync(DevicePointer* out, std::size_t bytes, Pool* pool, void* stream) {
  return in_context([&] {
    void* address = nullptr;
    if (out == nullptr || bytes == 0) return result(invalid_value);
    const int code = allocate_of_pool(&address, bytes, pool, stream);
    if (code == success) *out = address_of(address);
    return code;
  });
}

REGATTA_API int cudaMallocAsync(void** out, std::size_t bytes, void* stream) {
  return allocate_of_pool(out, bytes, Pools::get().current, stream);
}
REGATTA_API int cudaMallocFromPoolAsync(void** out, std::size_t bytes, Pool* pool, void* stream) {
  return allocate_of_pool(out, bytes, pool, stream);
}
REGATTA_API int cudaFreeAsync(void* pointer, void* stream) { return release_in(stream, pointer); }
REGATTA_API int cudaDeviceGetDefaultMemPool(Pool** out, int number) { return give(out, &Pools::get().initial, number); }
REGATTA_API int cudaDeviceGetMemPool(Pool** out, int number) { return give(out, Pools::get().current, number); }
REGATTA_API int cudaDeviceSetMemPool(int number, Pool* pool) { return choose(number, pool); }
REGATTA_API int cudaMemPoolCreate(Pool** out, const Properties* properties) { return create(out, properties); }
REGATTA_API int cudaMemPoolDestroy(Pool* pool) { return destroy(pool); }
REGATTA_API int cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return set_attribute(pool, attribute, value);
}
REGATTA_API int cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return get_attribute(pool, attribute, value);
}
REGATTA_API int cudaMemPoolTrimTo(Pool* pool, std::size_t keep) { return trim(pool, keep); }
REGATTA_API int cudaMemPoolSetAccess(Pool* pool, const void* /*list*/, std::size_t /*count*/) {
  int flags = 0;
  return get_access(&flags, pool);
}
REGATTA_API int cudaMemPoolGetAccess(int* flags, Pool* pool, void* /*location*/) { return get_access(flags, pool); }

REGATTA_API int cuMemAllocAsync(DevicePointer* out, std::size_t bytes, void* stream) {
  return cuMemAllocFromPoolAsync(out, bytes, Pools::get().current, stream);
}
REGATTA_API int cuMemFreeAsync(DevicePointer address, void* stream) {
  return in_context([&] { return release_in(stream, pointer_to(address)); });
}
REGATTA_API int cuDeviceGetDefaultMemPool(Pool** out, int number) {
  return through_runtime([&] { return give(out, &Pools::get().initial, number); });
}
REGATTA_API int cuDeviceGetMemPool(Pool** out, int number) {
  return through_runtime([&] { return give(out, Pools::get().current, number); });
}
REGATTA_API int cuDeviceSetMemPool(int number, Pool* pool) {
  return through_runtime([&] { return choose(number, pool); });
}
REGATTA_API int cuMemPoolCreate(Pool** out, const Properties* properties) {
  return through_runtime([&] { return create(out, properties); });
}
REGATTA_API int cuMemPoolDestroy(Pool* pool) {
  return through_runtime([&] { return destroy(pool); });
}
REGATTA_API int cuMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return through_runtime([&] { return set_attribute(pool, attribute, value); });
}
REGATTA_API int cuMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return through_runtime([&] { return get_attribute(pool, attribute, value); });
}
REGATTA_API int cuMemPoolTrimTo(Pool* pool, std::size_t keep) {
  return through_runtime([&] { return trim(pool, keep); });
}
REGATTA_API int cuMemPoolSetAccess(Pool* pool, const void* /*list*/, std::size_t /*count*/) {
  int flags = 0;
  return through_runtime([&] { return get_access(&flags, pool); });
}
REGATTA_API int cuMemPoolGetAccess(int* flags, Pool* pool, void* /*location*/) {
  return through_runtime([&] { return get_access(flags, pool); });
}

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
//
// Memory pools, attributes of streams, and the part of the L2 that is kept.
#include "driver_context.h"

#include <cstring>
#include <vector>

using namespace regatta;
using test::DriverContext;

namespace {

constexpr std::uint64_t granule = std::uint64_t{32} << 20;

std::uint64_t attribute(CUmemoryPool pool, int which) {
  std::uint64_t value = 0;
  return cudaMemPoolGetAttribute(pool, which, &value) == success ? value : UINT64_MAX;
}
constexpr int release_threshold = 4, reserved = 5, reserved_high = 6, used = 7, used_high = 8;

struct PoolProperties {
  int type = 1, handle_types = 0, location_type = 1, location = 0;
  void* security = nullptr;
  std::size_t most = 0;
  unsigned char others[56] = {};
};

struct Window {
  void* base = nullptr;
  std::size_t bytes = 0;
  float ratio = 0;
  int hit = 0, miss = 0;
  unsigned char others[32] = {};
};
static_assert(sizeof(Window) == 64);

}  // namespace

TEST_CASE("a pool keeps up to its threshold of what is released") {
  const DriverContext context;
  CUmemoryPool pool = nullptr;
  const PoolProperties properties;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == success);
  void *a = nullptr, *b = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&a, 20 << 20, pool, nullptr) == success);
  REQUIRE(cudaMallocFromPoolAsync(&b, 20 << 20, pool, nullptr) == success);
  CHECK(attribute(pool, used) == 40 << 20);
  CHECK(attribute(pool, reserved) == 2 * granule);
  CHECK(cudaFreeAsync(b, nullptr) == success);
  CHECK(attribute(pool, used) == 20 << 20);
  CHECK(attribute(pool, reserved) == granule);  // the threshold is 0
  std::uint64_t all = UINT64_MAX;
  CHECK(cudaMemPoolSetAttribute(pool, release_threshold, &all) == success);
  CHECK(attribute(pool, release_threshold) == UINT64_MAX);
  CHECK(cudaFree(a) == success);
  CHECK(attribute(pool, used) == 0);
  CHECK(attribute(pool, reserved) == granule);
  CHECK(attribute(pool, used_high) == 40 << 20);
  CHECK(attribute(pool, reserved_high) == 2 * granule);
  CHECK(cudaMemPoolTrimTo(pool, 0) == success);
  CHECK(attribute(pool, reserved) == 0);
  std::uint64_t zero = 0;
  CHECK(cudaMemPoolSetAttribute(pool, used_high, &zero) == success);
  CHECK(attribute(pool, used_high) == 0);
  CHECK(cudaMemPoolSetAttribute(pool, used, &zero) == invalid_value);
  CHECK(cudaMemPoolGetAttribute(pool, 9, &zero) == invalid_value);
  int reuse = 0;
  CHECK(cudaMemPoolSetAttribute(pool, 2, &reuse) == success);
  reuse = 7;
  CHECK(cudaMemPoolGetAttribute(pool, 2, &reuse) == success);
  CHECK(reuse == 0);
  CHECK(cudaMemPoolDestroy(pool) == success);
  CHECK(cudaMemPoolDestroy(pool) == invalid_value);
  cudaGetLastError();
}

TEST_CASE("a pool of a device is what cudaMallocAsync() takes from, and has a size") {
  const DriverContext context;
  CUmemoryPool pool = nullptr, initial = nullptr, current = nullptr, of_driver = nullptr;
  PoolProperties properties;
  properties.most = 1000;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == success);
  REQUIRE(cudaDeviceGetDefaultMemPool(&initial, 0) == success);
  CHECK(cuDeviceGetDefaultMemPool(&of_driver, 0) == success);
  CHECK(of_driver == initial);
  CHECK(cudaDeviceSetMemPool(0, pool) == success);
  CHECK(cudaDeviceGetMemPool(&current, 0) == success);
  CHECK(current == pool);
  void *a = nullptr, *b = nullptr;
  CHECK(cudaMallocAsync(&a, 700, nullptr) == success);
  CHECK(attribute(pool, used) == 700);
  CHECK(cudaMallocAsync(&b, 301, nullptr) == 2);
  CHECK(cudaMallocAsync(&b, 300, nullptr) == success);
  CHECK(cudaMemPoolDestroy(pool) == success);  // its blocks stay
  CHECK(cudaDeviceGetMemPool(&current, 0) == success);
  CHECK(current == initial);
  CHECK(cudaFreeAsync(a, nullptr) == success);
  CHECK(cudaFreeAsync(b, nullptr) == success);
  CHECK(cudaFreeAsync(b, nullptr) == invalid_value);
  CUdeviceptr p = 0;
  std::uint64_t before = 0, after = 0;
  CHECK(cuMemPoolGetAttribute(initial, used, &before) == success);
  CHECK(cuMemAllocFromPoolAsync(&p, 64, initial, nullptr) == success);
  CHECK(cuMemPoolGetAttribute(initial, used, &after) == success);
  CHECK(after - before == 64);
  CHECK(cuMemFreeAsync(p, nullptr) == success);
  CHECK(cuMemAllocFromPoolAsync(&p, 64, pool, nullptr) == invalid_value);
  properties.location = 1;
  CHECK(cudaMemPoolCreate(&pool, &properties) == invalid_value);
  properties.location = 0;
  properties.handle_types = 1;
  CHECK(cudaMemPoolCreate(&pool, &properties) == 801);
  cudaGetLastError();
}

TEST_CASE("attributes of a stream are kept for it") {
  const DriverContext context;
  CUstream a = nullptr, b = nullptr;
  REQUIRE(cuStreamCreate(&a, 0) == success);
  REQUIRE(cuStreamCreate(&b, 0) == success);
  Window window, got;
  window.base = &window;
  window.bytes = std::size_t{128} << 20;
  window.ratio = 0.5F;
  window.hit = 2;
  CHECK(cuStreamSetAttribute(a, 1, &window) == success);
  CHECK(cuStreamGetAttribute(a, 1, &got) == success);
  CHECK(std::memcmp(&got, &window, sizeof got) == 0);
  CHECK(cuStreamGetAttribute(b, 1, &got) == success);
  CHECK(got.bytes == 0);
  CHECK(cuStreamCopyAttributes(b, a) == success);
  CHECK(cuStreamGetAttribute(b, 1, &got) == success);
  CHECK(got.bytes == window.bytes);
  ++window.bytes;
  CHECK(cuStreamSetAttribute(a, 1, &window) == invalid_value);
  window.bytes = 1;
  window.ratio = 1.5F;
  CHECK(cuStreamSetAttribute(a, 1, &window) == invalid_value);
  CHECK(cuStreamSetAttribute(a, 2, &window) == invalid_value);
  CHECK(cuStreamDestroy_v2(a) == success);
  CHECK(cuStreamSetAttribute(a, 3, &window) == invalid_handle);
  CHECK(cuStreamDestroy_v2(b) == success);
}

TEST_CASE("the part of the L2 that persists has a limit") {
  const DriverContext context;
  int most = 0, window = 0;
  std::size_t bytes = 0;
  CHECK(cudaDeviceGetAttribute(&most, 108, 0) == success);
  CHECK(most == 32768000);
  CHECK(cudaDeviceGetAttribute(&window, 109, 0) == success);
  CHECK(window == 134217728);
  CHECK(cudaDeviceSetLimit(6, 1000000) == success);
  CHECK(cudaDeviceGetLimit(&bytes, 6) == success);
  CHECK(bytes == 1000000);
  CHECK(cudaDeviceSetLimit(6, 1 << 30) == success);
  CHECK(cudaDeviceGetLimit(&bytes, 6) == success);
  CHECK(bytes == 32768000);
  CHECK(cudaDeviceSetLimit(6, 0) == success);
}

// SPDX-License-Identifier: Apache-2.0
//
// Contexts, devices, names of errors and of functions.
#include "driver_context.h"

#include <cstring>
#include <string>
#include <thread>

using namespace regatta;
using test::DriverContext;

TEST_CASE("the driver API says what the device is") {
  const DriverContext context;
  int count = 0, major = 0, minor = 0, value = 0;
  CUdevice device = -1;
  std::size_t bytes = 0;
  char name[100] = {}, begin[7] = {};
  CHECK(cuDeviceGetCount(&count) == success);
  CHECK(count == 1);
  CHECK(cuDeviceGet(&device, 0) == success);
  CHECK(device == 0);
  CHECK(cuDeviceGet(&device, 1) == invalid_device);
  CHECK(cuDeviceGetName(name, sizeof name, 0) == success);
  CHECK(std::string(name) == "NVIDIA H100 80GB HBM3");
  CHECK(cuDeviceGetName(begin, sizeof begin, 0) == success);
  CHECK(std::string(begin) == "NVIDIA");
  CHECK(cuDeviceComputeCapability(&major, &minor, 0) == success);
  CHECK(10 * major + minor == 90);
  CHECK(cuDeviceGetAttribute(&value, 16, 0) == success);
  CHECK(value == 132);
  CHECK(cuDeviceGetAttribute(nullptr, 16, 0) == invalid_value);
  CHECK(cuDeviceTotalMem_v2(&bytes, 0) == success);
  CHECK(bytes > std::size_t{70} << 30);
  CHECK(cuDriverGetVersion(&value) == success);
  CHECK(value == 13000);
}

TEST_CASE("contexts are a stack of each thread") {
  const DriverContext first;
  CUcontext second = nullptr, current = nullptr, popped = nullptr;
  REQUIRE(cuCtxCreate_v4(&second, nullptr, 8, 0) == success);
  unsigned flags = 0;
  CHECK(cuCtxGetFlags(&flags) == success);
  CHECK(flags == 8);
  CHECK(cuCtxGetCurrent(&current) == success);
  CHECK(current == second);
  CHECK(cuCtxPopCurrent_v2(&popped) == success);
  CHECK(popped == second);
  CHECK(cuCtxGetCurrent(&current) == success);
  CHECK(current == first.get());
  CHECK(cuCtxPushCurrent_v2(second) == success);
  int in_thread = success;
  std::size_t bytes = 0;
  std::thread([&] { in_thread = cuMemGetInfo_v2(&bytes, nullptr); }).join();
  CHECK(in_thread == invalid_context);
  std::thread([&] {
    cuCtxSetCurrent(second);
    in_thread = cuMemGetInfo_v2(&bytes, nullptr);
  }).join();
  CHECK(in_thread == success);
  CHECK(cuCtxDestroy_v2(second) == success);
  CHECK(cuCtxGetCurrent(&current) == success);
  CHECK(current == first.get());
  CHECK(cuCtxPushCurrent_v2(second) == invalid_context);
  CHECK(cuCtxDestroy_v2(second) == invalid_context);
  // In another thread's stack it is still there, and of no use.
  std::thread([&] {
    CUcontext third = nullptr;
    cuCtxCreate_v4(&third, nullptr, 0, 0);
    std::thread([&] { cuCtxDestroy_v2(third); }).join();
    in_thread = cuMemGetInfo_v2(&bytes, nullptr);
  }).join();
  CHECK(in_thread == context_is_destroyed);
}

TEST_CASE("the primary context is the runtime's") {
  const DriverContext context;
  CUcontext primary = nullptr, current = nullptr;
  unsigned flags = 0;
  int active = -1;
  std::thread([&] {
    void* pointer = nullptr;
    cuCtxGetCurrent(&current);
    CHECK(current == nullptr);
    CHECK(cudaMalloc(&pointer, 16) == success);
    cuCtxGetCurrent(&current);
    CHECK(cudaFree(pointer) == success);
  }).join();
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0) == success);
  CHECK(primary == current);
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active) == success);
  CHECK(active == 1);
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == success);
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == invalid_context);
}

TEST_CASE("limits of a context") {
  const DriverContext context;
  std::size_t bytes = 0;
  CHECK(cuCtxSetLimit(0, 4096) == success);
  CHECK(cuCtxGetLimit(&bytes, 0) == success);
  CHECK(bytes == 4096);
  CHECK(cuCtxGetLimit(&bytes, 77) == invalid_value);
  CHECK(cudaGetLastError() == success);  // the runtime knows nothing of it
}

TEST_CASE("names and texts of the driver's errors") {
  const auto name = [](int code) {
    const char* text = nullptr;
    return cuGetErrorName(code, &text) == success ? std::string(text) : "none";
  };
  const auto text = [](int code) {
    const char* words = nullptr;
    return cuGetErrorString(code, &words) == success ? std::string(words) : "none";
  };
  CHECK(name(0) == "CUDA_SUCCESS");
  CHECK(text(0) == "no error");
  CHECK(name(1) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(text(1) == "invalid argument");
  CHECK(name(218) == "CUDA_ERROR_INVALID_PTX");
  CHECK(text(218) == "a PTX JIT compilation failed");
  CHECK(name(700) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(text(201) == "invalid device context");
  CHECK(name(12345) == "none");
  CHECK(cuGetErrorName(0, nullptr) == invalid_value);
}

TEST_CASE("a name stands for the newest function that is not newer than the version asked for") {
  const auto entry = [](const char* name, int version) {
    void* at = nullptr;
    int status = -1;
    const int code = cuGetProcAddress_v2(name, &at, version, 0, &status);
    CHECK((code == success) == (at != nullptr));
    CHECK(status == (at != nullptr ? 0 : 1));
    return at;
  };
  const auto is = [](auto* function) { return reinterpret_cast<void*>(function); };
  CHECK(entry("cuMemAlloc", 12000) == is(cuMemAlloc_v2));
  CHECK(entry("cuCtxCreate", 13000) == is(cuCtxCreate_v4));
  CHECK(entry("cuCtxCreate", 11000) != is(cuCtxCreate_v4));
  CHECK(entry("cuInit", 12000) == is(cuInit));
  CHECK(entry("cuLaunchKernel", 12000) == is(cuLaunchKernel));
  CHECK(entry("cuMemcpyHtoD", 13000) == is(cuMemcpyHtoD_v2));
  CHECK(entry("cuNothing", 13000) == nullptr);
  CHECK(entry("cudaMalloc", 13000) == nullptr);
  void* at = nullptr;
  int status = -1;
  CHECK(cudaGetDriverEntryPointByVersion("cuMemFree", &at, 12000, 0, &status) == success);
  CHECK(at == is(cuMemFree_v2));
  CHECK(status == 0);
  CHECK(cudaGetDriverEntryPointByVersion("cuNothing", &at, 12000, 0, &status) == success);
  CHECK(at == nullptr);
  CHECK(status == 1);
  CHECK(cuGetProcAddress_v2(nullptr, &at, 12000, 0, nullptr) == invalid_value);
}

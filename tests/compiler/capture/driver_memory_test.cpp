// SPDX-License-Identifier: Apache-2.0
//
// Memory, copies, launches, streams and events of the driver API.
#include "driver_context.h"

#include <cstring>
#include <numeric>
#include <vector>

using namespace regatta;
using test::DriverContext;
using test::ScaleModule;

namespace {

/// Device memory with 1, 2, 3 ... in it.
struct Buffers {
  static constexpr unsigned count = 100;
  CUdeviceptr in = 0, out = 0;

  Buffers() {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0F);
    REQUIRE(cuMemAlloc_v2(&in, 4 * count) == success);
    REQUIRE(cuMemAlloc_v2(&out, 4 * count) == success);
    REQUIRE(cuMemcpyHtoD_v2(in, values.data(), 4 * count) == success);
    REQUIRE(cuMemsetD8_v2(out, 0, 4 * count) == success);
  }
  ~Buffers() {
    cuMemFree_v2(in);
    cuMemFree_v2(out);
  }
  /// Whether the first n of `out` are doubled and the others untouched.
  bool is_scaled(unsigned n) const {
    std::vector<float> values(count);
    REQUIRE(cuMemcpyDtoH_v2(values.data(), out, 4 * count) == success);
    for (unsigned i = 0; i < count; ++i) {
      if (values[i] != (i < n ? 2.0F * static_cast<float>(i + 1) : 0.0F)) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("parameters of a launch: pointers, a buffer, or put down one by one") {
  const DriverContext context;
  const ScaleModule module;
  const Buffers buffers;
  CUdeviceptr in = buffers.in, out = buffers.out;
  unsigned n = 70;
  const CUfunction f = module.scale();
  SECTION("pointers") {
    void* arguments[] = {&in, &out, &n};
    CHECK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == success);
    CHECK(buffers.is_scaled(70));
  }
  SECTION("a buffer") {
    struct {
      CUdeviceptr in, out;
      unsigned n;
    } packed{in, out, n};
    std::size_t bytes = 20;
    void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes, nullptr};
    CHECK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == success);
    CHECK(buffers.is_scaled(70));
    bytes = 16;
    CHECK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == invalid_value);
    void* arguments[] = {&in, &out, &n};
    CHECK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, extra) == invalid_value);
    CHECK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == invalid_value);
  }
  SECTION("a configuration") {
    void* arguments[] = {&in, &out, &n};
    const CUlaunchConfig c{4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, 0};
    CHECK(cuLaunchKernelEx(&c, f, arguments, nullptr) == success);
    CHECK(buffers.is_scaled(70));
  }
  SECTION("a cooperative launch") {
    void* arguments[] = {&in, &out, &n};
    CHECK(cuLaunchCooperativeKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments) == success);
    CHECK(buffers.is_scaled(70));
    CHECK(cuLaunchCooperativeKernel(f, 100000, 1, 1, 32, 1, 1, 0, nullptr, arguments) == 720);
  }
  SECTION("the calls of before CUDA 4") {
    CHECK(cuFuncSetBlockShape(f, 32, 1, 1) == success);
    CHECK(cuParamSetv(f, 0, &in, 8) == success);
    CHECK(cuParamSetv(f, 8, &out, 8) == success);
    CHECK(cuLaunchGrid(f, 4, 1) == invalid_value);  // n is missing
    CHECK(cuParamSeti(f, 16, n) == success);
    CHECK(cuParamSetSize(f, 20) == success);
    CHECK(cuLaunchGrid(f, 4, 1) == success);
    CHECK(buffers.is_scaled(70));
  }
  SECTION("what cannot be launched") {
    void* arguments[] = {&in, &out, &n};
    CHECK(cuLaunchKernel(nullptr, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == invalid_handle);
    CHECK(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == invalid_value);
    CHECK(cuLaunchKernel(f, 1, 1, 1, 2000, 1, 1, 0, nullptr, arguments, nullptr) == invalid_value);
  }
}

TEST_CASE("what a kernel does wrong lasts until its context ends") {
  const DriverContext outer;
  const ScaleModule module;
  CUcontext inner = nullptr;
  CUfunction stray = nullptr;
  CUdeviceptr p = 0;
  REQUIRE(cuCtxCreate_v4(&inner, nullptr, 0, 0) == success);
  REQUIRE(cuModuleGetFunction(&stray, module.get(), "stray") == success);
  CHECK(cuLaunchKernel(stray, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == success);
  CHECK(cuCtxSynchronize() == illegal_address);
  CHECK(cuMemAlloc_v2(&p, 4) == illegal_address);
  CHECK(cuCtxDestroy_v2(inner) == success);
  CHECK(cuCtxSynchronize() == success);
  CHECK(cudaGetLastError() == success);
}

TEST_CASE("what an address is") {
  const DriverContext context;
  CUdeviceptr device = 0, managed = 0, base = 0, mapped = 0;
  void* host = nullptr;
  std::size_t bytes = 0, before = 0, after = 0, pitch = 0;
  REQUIRE(cuMemGetInfo_v2(&before, nullptr) == success);
  REQUIRE(cuMemAlloc_v2(&device, 1000) == success);
  REQUIRE(cuMemGetInfo_v2(&after, nullptr) == success);
  CHECK(before - after == 1000);
  REQUIRE(cuMemAllocManaged(&managed, 100, 1) == success);
  REQUIRE(cuMemHostAlloc(&host, 100, 0) == success);
  const auto of_host = reinterpret_cast<CUdeviceptr>(host);
  CHECK(cuMemGetAddressRange_v2(&base, &bytes, device + 10) == success);
  CHECK(base == device);
  CHECK(bytes == 1000);
  int local = 0;
  CHECK(cuMemGetAddressRange_v2(&base, &bytes, reinterpret_cast<CUdeviceptr>(&local)) == not_found);
  const auto attribute = [](CUdeviceptr at, int which) {
    std::uint64_t value = 0;
    return cuPointerGetAttribute(&value, which, at) == success ? value : UINT64_MAX;
  };
  CHECK(attribute(device, 1) == reinterpret_cast<std::uint64_t>(context.get()));
  CHECK(attribute(device, 2) == 2);
  CHECK(attribute(managed, 2) == 2);
  CHECK(attribute(of_host, 2) == 1);
  CHECK(attribute(device + 5, 3) == device + 5);
  CHECK(attribute(device, 4) == UINT64_MAX);
  CHECK(attribute(of_host + 3, 4) == of_host + 3);
  CHECK(attribute(managed, 8) == 1);
  CHECK(attribute(device, 8) == 0);
  CHECK(attribute(device + 5, 11) == device);
  CHECK(attribute(device + 5, 12) == 1000);
  CHECK(attribute(reinterpret_cast<CUdeviceptr>(&local), 2) == UINT64_MAX);
  const int which[] = {2, 8, 11};
  unsigned type = 7;
  int is_managed = 7;
  CUdeviceptr start = 7;
  void* out[] = {&type, &is_managed, &start};
  CHECK(cuPointerGetAttributes(3, which, out, managed) == success);
  CHECK(type == 2);
  CHECK(is_managed == 1);
  CHECK(start == managed);
  CHECK(cuPointerGetAttributes(3, which, out, reinterpret_cast<CUdeviceptr>(&local)) == success);
  CHECK(type + static_cast<unsigned>(is_managed) + start == 0);
  CHECK(cuMemHostGetDevicePointer_v2(&mapped, host, 0) == success);
  CHECK(mapped != 0);
  CHECK(cuMemFreeHost(host) == success);
  CHECK(cuMemFree_v2(managed) == success);
  CHECK(cuMemFree_v2(device) == success);
  CHECK(cuMemFree_v2(device) == invalid_value);
  CHECK(cuMemAlloc_v2(&device, 0) == invalid_value);
  CHECK(cuMemAlloc_v2(&device, std::size_t{1} << 45) == 2);
  CHECK(cuMemAllocPitch_v2(&device, &pitch, 700, 3, 4) == success);
  CHECK(pitch == 1024);
  CHECK(cuMemAllocPitch_v2(&base, &pitch, 700, 3, 3) == invalid_value);
  CHECK(cuMemFree_v2(device) == success);
}

TEST_CASE("copies and fills") {
  const DriverContext context;
  CUdeviceptr a = 0, b = 0;
  std::vector<std::uint16_t> values(32), got(32);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  REQUIRE(cuMemAlloc_v2(&a, 64) == success);
  REQUIRE(cuMemAlloc_v2(&b, 64) == success);
  CHECK(cuMemcpyHtoDAsync_v2(a, values.data(), 64, nullptr) == success);
  CHECK(cuMemcpyDtoD_v2(b, a, 64) == success);
  CHECK(cuMemcpy(reinterpret_cast<CUdeviceptr>(got.data()), b, 64) == success);
  CHECK(got == values);
  CHECK(cuMemcpyDtoD_v2(b, reinterpret_cast<CUdeviceptr>(got.data()), 64) == invalid_value);
  CHECK(cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(got.data()), values.data(), 64) == invalid_value);
  const std::vector<std::uint8_t> longer(65);
  CHECK(cuMemcpyHtoD_v2(a, longer.data(), longer.size()) == invalid_value);
  CHECK(cuMemsetD16_v2(a + 2, 0xabcd, 2) == success);
  CHECK(cuMemsetD32_v2(a + 8, 0x12345678, 1) == success);
  CHECK(cuMemsetD16_v2(a + 1, 0, 2) == invalid_value);
  CHECK(cuMemcpyDtoH_v2(got.data(), a, 64) == success);
  CHECK(std::vector<std::uint16_t>(got.begin(), got.begin() + 7) ==
        std::vector<std::uint16_t>{1, 0xabcd, 0xabcd, 4, 0x5678, 0x1234, 7});
  // A box of 2 x 3 elements, from (1, 1) of rows of 8 to (2, 0) of rows of 4.
  CUDA_MEMCPY2D box{};
  box.from_x = 2;
  box.from_y = 1;
  box.from_type = 1;
  box.from_host = values.data();
  box.from_pitch = 16;
  box.to_x = 4;
  box.to_type = 2;
  box.to_device = b;
  box.to_pitch = 8;
  box.width = 4;
  box.height = 3;
  CHECK(cuMemsetD8_v2(b, 0, 64) == success);
  CHECK(cuMemcpy2D_v2(&box) == success);
  CHECK(cuMemcpyDtoH_v2(got.data(), b, 24) == success);
  CHECK(std::vector<std::uint16_t>(got.begin(), got.begin() + 12) ==
        std::vector<std::uint16_t>{0, 0, 10, 11, 0, 0, 18, 19, 0, 0, 26, 27});
  box.to_pitch = 4;
  CHECK(cuMemcpy2D_v2(&box) == invalid_value);
  CHECK(cuMemcpy2D_v2(nullptr) == invalid_value);
  CHECK(cuMemsetD2D32_v2(b, 8, 0x00010001, 1, 3) == success);
  CHECK(cuMemcpyDtoH_v2(got.data(), b, 24) == success);
  CHECK(std::vector<std::uint16_t>(got.begin(), got.begin() + 12) ==
        std::vector<std::uint16_t>{1, 1, 10, 11, 1, 1, 18, 19, 1, 1, 26, 27});
  cuMemFree_v2(a);
  cuMemFree_v2(b);
}

TEST_CASE("registered memory and managed memory in a launch") {
  const DriverContext context;
  const ScaleModule module;
  std::vector<float> in(8, 3.0F);
  CUdeviceptr mapped = 0, managed = 0;
  REQUIRE(cuMemHostRegister_v2(in.data(), 32, 0) == success);
  CHECK(cuMemHostRegister_v2(in.data(), 32, 0) == 712);
  REQUIRE(cuMemHostGetDevicePointer_v2(&mapped, in.data(), 0) == success);
  REQUIRE(cuMemAllocManaged(&managed, 32, 1) == success);
  unsigned n = 8;
  void* arguments[] = {&mapped, &managed, &n};
  CHECK(cuLaunchKernel(module.scale(), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == success);
  CHECK(cuCtxSynchronize() == success);
  CHECK(reinterpret_cast<const float*>(managed)[7] == 6.0F);
  CHECK(cuMemHostUnregister(in.data()) == success);
  CHECK(cuMemHostUnregister(in.data()) == 713);
  CHECK(cuMemFree_v2(managed) == success);
}

TEST_CASE("streams and events") {
  const DriverContext context;
  CUstream stream = nullptr;
  CUcontext of_stream = nullptr;
  CUevent start = nullptr, end = nullptr;
  float ms = -1;
  REQUIRE(cuStreamCreate(&stream, 1) == success);
  CHECK(cuStreamGetCtx(stream, &of_stream) == success);
  CHECK(of_stream == context.get());
  REQUIRE(cuEventCreate(&start, 0) == success);
  REQUIRE(cuEventCreate(&end, 0) == success);
  CHECK(cuEventElapsedTime_v2(&ms, start, end) == invalid_handle);
  CHECK(cuEventRecord(start, stream) == success);
  int called = 0;
  CHECK(cuLaunchHostFunc(
            stream, [](void* data) { ++*static_cast<int*>(data); }, &called) == success);
  CHECK(called == 1);
  CHECK(cuEventRecord(end, stream) == success);
  CHECK(cuStreamWaitEvent(nullptr, end, 0) == success);
  CHECK(cuEventSynchronize(end) == success);
  CHECK(cuEventElapsedTime_v2(&ms, start, end) == success);
  CHECK(ms >= 0);
  CHECK(cuEventDestroy_v2(start) == success);
  CHECK(cuEventDestroy_v2(start) == invalid_handle);
  CHECK(cuEventDestroy_v2(end) == success);
  CHECK(cuStreamDestroy_v2(stream) == success);
  CHECK(cuStreamSynchronize(stream) == invalid_handle);
}

TEST_CASE("a captured stream becomes a graph, which is launched as often as wanted") {
  const DriverContext context;
  const ScaleModule module;
  const Buffers buffers;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUdeviceptr in = buffers.in, out = buffers.out;
  unsigned n = 10;
  std::size_t nodes = 0;
  void* arguments[] = {&in, &out, &n};
  REQUIRE(cuStreamCreate(&stream, 0) == success);
  REQUIRE(cuStreamBeginCapture_v2(stream, 0) == success);
  CHECK(cuMemsetD32Async(out, 0, Buffers::count, stream) == success);
  CHECK(cuLaunchKernel(module.scale(), 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr) == success);
  CHECK(cuMemcpyDtoDAsync_v2(in, out, 4, stream) == success);  // the first one is doubled each time
  REQUIRE(cuStreamEndCapture(stream, &graph) == success);
  CHECK(cuGraphGetNodes(graph, nullptr, &nodes) == success);
  CHECK(nodes == 3);
  CHECK(buffers.is_scaled(0));
  REQUIRE(cuGraphInstantiateWithFlags(&executable, graph, 0) == success);
  n = 100;  // the graph has the value of its capture
  CHECK(cuGraphLaunch(executable, stream) == success);
  CHECK(buffers.is_scaled(10));
  CHECK(cuGraphLaunch(executable, stream) == success);
  float first = 0;
  CHECK(cuMemcpyDtoH_v2(&first, out, 4) == success);
  CHECK(first == 4.0F);
  CHECK(cuGraphExecDestroy(executable) == success);
  CHECK(cuGraphDestroy(graph) == success);
  CHECK(cuStreamDestroy_v2(stream) == success);
}

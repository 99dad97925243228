// SPDX-License-Identifier: Apache-2.0
//
// Modules, libraries, the linker, and kernels of the driver API.
#include "driver_context.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace regatta;
using test::DriverContext;
using test::scale_ptx;
using test::ScaleModule;

namespace {

/// A fat binary with PTX alone, stored plainly.
std::vector<std::uint8_t> fat_binary(const std::string& ptx) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](auto value) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  const std::uint64_t padded = (ptx.size() + 8) / 8 * 8;
  put(std::uint32_t{0xba55ed50});
  put(std::uint16_t{1});
  put(std::uint16_t{16});
  put(std::uint64_t{64 + padded});
  put(std::uint16_t{1});
  put(std::uint16_t{0x101});
  put(std::uint32_t{64});
  put(padded);
  put(std::uint32_t{0});
  put(std::uint32_t{0});
  put(std::uint16_t{0});
  put(std::uint16_t{7});
  put(std::uint32_t{75});
  for (int i = 0; i < 4; ++i) put(std::uint64_t{0});
  bytes.insert(bytes.end(), ptx.begin(), ptx.end());
  bytes.resize(16 + 64 + padded);
  return bytes;
}

}  // namespace

TEST_CASE("a module of PTX has its kernels and variables by name") {
  const DriverContext context;
  const ScaleModule module;
  CUfunction f = nullptr;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  unsigned count = 0;
  CHECK(cuModuleGetFunction(&f, module.get(), "nothing") == not_found);
  CHECK(cuModuleGetFunction(&f, nullptr, "scale") == invalid_handle);
  CHECK(cuModuleGetFunction(&f, module.get(), nullptr) == invalid_value);
  CHECK(cuModuleGetFunctionCount(&count, module.get()) == success);
  CHECK(count == 2);
  CHECK(cuModuleGetGlobal_v2(&address, &bytes, module.get(), "squares") == success);
  CHECK(bytes == 16);
  unsigned squares[4] = {};
  CHECK(cuMemcpyDtoH_v2(squares, address, sizeof squares) == success);
  CHECK(squares[3] == 9);
  CHECK(cuModuleGetGlobal_v2(&address, &bytes, module.get(), "scale") == not_found);
  CHECK(cuModuleUnload(module.get()) == success);
  CHECK(cuModuleUnload(module.get()) == invalid_handle);
  CHECK(cuModuleGetFunction(&f, module.get(), "scale") == invalid_handle);
}

TEST_CASE("a constant variable has an address for copies and fills") {
  const DriverContext context;
  const ScaleModule module;
  CUdeviceptr factor = 0, again = 0, plain = 0;
  std::size_t bytes = 0;
  REQUIRE(cuModuleGetGlobal_v2(&factor, &bytes, module.get(), "factor") == success);
  CHECK(bytes == 4);
  CHECK(cuModuleGetGlobal_v2(&again, nullptr, module.get(), "factor") == success);
  CHECK(again == factor);
  float value = 0;
  CHECK(cuMemcpyDtoH_v2(&value, factor, 4) == success);
  CHECK(value == 2.0F);
  value = 5;
  CHECK(cuMemcpyHtoD_v2(factor, &value, 4) == success);
  value = 0;
  CHECK(cuMemcpyDtoH_v2(&value, factor, 4) == success);
  CHECK(value == 5.0F);
  REQUIRE(cuMemAlloc_v2(&plain, 4) == success);
  CHECK(cuMemcpyDtoD_v2(plain, factor, 4) == success);
  value = 0;
  CHECK(cuMemcpyDtoH_v2(&value, plain, 4) == success);
  CHECK(value == 5.0F);
  CHECK(cuMemsetD32_v2(factor, 0x3f800000, 1) == success);
  CHECK(cuMemcpyDtoH_v2(&value, factor, 4) == success);
  CHECK(value == 1.0F);
  CHECK(cuMemcpyHtoD_v2(factor + 2, &value, 4) == invalid_value);
  CHECK(cuMemFree_v2(factor) == invalid_value);
  cuMemFree_v2(plain);
}

TEST_CASE("modules come from files, fat binaries and libraries") {
  const DriverContext context;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("regatta-scale-" + std::to_string(getpid()) + ".ptx")).string();
  std::ofstream(path) << scale_ptx;
  CUmodule module = nullptr;
  CUfunction f = nullptr;
  CHECK(cuModuleLoad(&module, path.c_str()) == success);
  CHECK(cuModuleGetFunction(&f, module, "scale") == success);
  std::filesystem::remove(path);
  CHECK(cuModuleLoad(&module, path.c_str()) == no_file);
  const std::vector<std::uint8_t> fat = fat_binary(scale_ptx);
  CHECK(cuModuleLoadFatBinary(&module, fat.data()) == success);
  CHECK(cuModuleGetFunction(&f, module, "scale") == success);
  const struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* container;
    const void* linked = nullptr;
  } wrapper{0x466243b1, 1, fat.data(), nullptr};
  CHECK(cuModuleLoadData(&module, &wrapper) == success);
  CHECK(cuModuleGetFunction(&f, module, "scale") == success);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  const char* name = nullptr;
  CHECK(cuLibraryLoadData(&library, scale_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) == success);
  CHECK(cuLibraryGetKernel(&kernel, library, "scale") == success);
  CHECK(cuKernelGetFunction(&f, kernel) == success);
  CHECK(cuFuncGetName(&name, f) == success);
  CHECK(std::string(name) == "scale");
  CHECK(cuLibraryGetModule(&module, library) == success);
  CHECK(cuModuleGetFunction(&f, module, "scale") == success);
  CHECK(cuLibraryUnload(library) == success);
  CHECK(cuLibraryGetKernel(&kernel, library, "scale") == invalid_handle);
}

TEST_CASE("PTX that is wrong is an error of the call, with a log") {
  const DriverContext context;
  CUmodule module = nullptr;
  char errors[200] = "?", info[100] = "?";
  int options[] = {5, 6, 3, 4, 0};
  const auto size = [](std::uintptr_t n) { return reinterpret_cast<void*>(n); };
  void* values[] = {errors, size(sizeof errors), info, size(sizeof info), size(32)};
  CHECK(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_75\nnonsense\n", 5, options, values) == invalid_ptx);
  CHECK(std::string(errors).find(":3:1: error: ") != std::string::npos);
  CHECK(reinterpret_cast<std::uintptr_t>(values[1]) == std::strlen(errors));
  CHECK(info[0] == '\0');
  CHECK(values[3] == nullptr);
  char few[8] = "";
  void* short_values[] = {few, size(sizeof few)};
  CHECK(cuModuleLoadDataEx(&module, "nonsense", 2, options, short_values) == invalid_ptx);
  CHECK(std::strlen(few) == 7);
  CHECK(cuModuleLoadDataEx(&module, scale_ptx, 5, options, values) == success);
  CHECK(errors[0] == '\0');
  CHECK(values[1] == nullptr);
  CHECK(cuModuleLoadData(&module, "") == invalid_image);
  CHECK(cuModuleLoadData(&module, nullptr) == invalid_value);
}

TEST_CASE("launch bounds: .reqntid is the only block, .maxntid the most threads") {
  const DriverContext context;
  const std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry exact() .reqntid 16, 2, 1\n{\nret;\n}\n"
      ".visible .entry most() .maxntid 16, 2, 1\n{\nret;\n}\n";
  constexpr CUresult launch_out_of_resources = 701;
  CUmodule module = nullptr;
  CUfunction exact = nullptr, most = nullptr;
  REQUIRE(cuModuleLoadData(&module, text.c_str()) == success);
  REQUIRE(cuModuleGetFunction(&exact, module, "exact") == success);
  REQUIRE(cuModuleGetFunction(&most, module, "most") == success);
  const auto launch = [](CUfunction f, unsigned x, unsigned y) {
    return cuLaunchKernel(f, 1, 1, 1, x, y, 1, 0, nullptr, nullptr, nullptr);
  };
  CHECK(launch(exact, 16, 2) == success);
  CHECK(launch(exact, 32, 1) == invalid_value);
  CHECK(launch(exact, 16, 1) == invalid_value);
  CHECK(launch(most, 32, 1) == success);
  CHECK(launch(most, 16, 1) == success);
  CHECK(launch(most, 33, 1) == launch_out_of_resources);
}

TEST_CASE("the linker gives an image of its one input") {
  const DriverContext context;
  CUlinkState linker = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  CUmodule module = nullptr;
  CUfunction f = nullptr;
  std::string ptx = scale_ptx;
  REQUIRE(cuLinkCreate_v2(0, nullptr, nullptr, &linker) == success);
  CHECK(cuLinkComplete(linker, &image, &bytes) == invalid_value);
  CHECK(cuLinkAddData_v2(linker, 1, ptx.data(), ptx.size() + 1, "scale.ptx", 0, nullptr, nullptr) == success);
  CHECK(cuLinkComplete(linker, &image, &bytes) == success);
  CHECK(bytes > ptx.size());
  CHECK(cuModuleLoadData(&module, image) == success);
  CHECK(cuLinkDestroy(linker) == success);
  CHECK(cuLinkDestroy(linker) == invalid_handle);
  CHECK(cuModuleGetFunction(&f, module, "scale") == success);
}

TEST_CASE("attributes, parameters and occupancy of a kernel") {
  const DriverContext context;
  const ScaleModule module;
  int value = 0;
  std::size_t offset = 0, bytes = 0;
  CHECK(cuFuncGetAttribute(&value, 0, module.scale()) == success);
  CHECK(value == 1024);
  CHECK(cuFuncGetAttribute(&value, 5, module.scale()) == success);
  CHECK(value == 75);  // of its PTX
  CHECK(cuFuncGetAttribute(&value, 99, module.scale()) == invalid_value);
  CHECK(cuFuncGetAttribute(&value, 0, nullptr) == invalid_handle);
  CHECK(cuFuncSetAttribute(module.scale(), 8, 100000) == success);
  CHECK(cuFuncGetAttribute(&value, 8, module.scale()) == success);
  CHECK(value == 100000);
  CHECK(cuFuncSetAttribute(module.scale(), 8, 1 << 20) == invalid_value);
  CHECK(cuFuncGetParamInfo(module.scale(), 2, &offset, &bytes) == success);
  CHECK(offset == 16);
  CHECK(bytes == 4);
  CHECK(cuFuncGetParamInfo(module.scale(), 3, &offset, &bytes) == invalid_value);
  int ctas = 0, block = 0;
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, module.scale(), 256, 0) == success);
  CHECK(ctas == 8);
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, module.scale(), 64, 50000) == success);
  CHECK(ctas == 4);
  CHECK(cuOccupancyMaxPotentialBlockSize(&ctas, &block, module.scale(), nullptr, 0, 0) == success);
  CHECK(block == 1024);
  CHECK(ctas == 2 * 132);
  CHECK(cuOccupancyMaxPotentialBlockSize(
            &ctas, &block, module.scale(), [](int threads) { return std::size_t{400} * threads; }, 0, 0) == success);
  CHECK(block == 576);
  CHECK(cuOccupancyMaxPotentialBlockSize(&ctas, &block, module.scale(), nullptr, 0, 100) == success);
  CHECK(block == 64);  // 32 of them; of 100 threads there are 16, of 96 there are 21
}

TEST_CASE("the linker joins several inputs") {
  const DriverContext context;
  std::string caller = R"(.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .u32 r) triple(.param .u32 x);
.visible .entry fill(.param .u64 out)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 14;
  {
    .param .u32 x;
    .param .u32 r;
    st.param.u32 [x], %r1;
    call.uni (r), triple, (x);
    ld.param.u32 %r2, [r];
  }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  const std::string callee = R"(.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .u32 r) triple(.param .u32 x)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x];
  mul.lo.u32 %r2, %r1, 3;
  st.param.u32 [r], %r2;
  ret;
}
)";
  std::vector<std::uint8_t> fat = fat_binary(callee);
  CUlinkState linker = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  REQUIRE(cuLinkCreate_v2(0, nullptr, nullptr, &linker) == success);
  CHECK(cuLinkAddData_v2(linker, 1, caller.data(), caller.size() + 1, "a.ptx", 0, nullptr, nullptr) == success);
  CHECK(cuLinkAddData_v2(linker, 2, fat.data(), fat.size(), "b.fatbin", 0, nullptr, nullptr) == success);
  REQUIRE(cuLinkComplete(linker, &image, &bytes) == success);
  // A program may keep the image alone.
  const auto* const begin = static_cast<const std::uint8_t*>(image);
  const std::vector<std::uint8_t> kept(begin, begin + bytes);
  CHECK(cuLinkDestroy(linker) == success);
  CUmodule module = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr out = 0;
  unsigned result = 0;
  REQUIRE(cuModuleLoadData(&module, kept.data()) == success);
  REQUIRE(cuModuleGetFunction(&f, module, "fill") == success);
  REQUIRE(cuMemAlloc_v2(&out, 4) == success);
  void* arguments[] = {&out};
  CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == success);
  CHECK(cuMemcpyDtoH_v2(&result, out, 4) == success);
  CHECK(result == 42);
  cuMemFree_v2(out);
}

// SPDX-License-Identifier: Apache-2.0
//
// A program with a CUDA runtime linked into it and no symbol table, as nvcc's default and strip make them. The
// functions of this runtime ask the driver for a table, then they say that they are themselves. Like those of CUDA's,
// each has its name as a text, those that the compiler calls stand in one order around __cudaInitModule(), and names of
// errors are there.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Dim3 {
  unsigned x, y, z;
};

constexpr const char error_name[] = "cudaErrorMixedDeviceExecution";

/// As CUDA's runtime does with the first call.
void ask_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return;
  const auto table = reinterpret_cast<int (*)(const void**, const void*)>(dlsym(driver, "cuGetExportTable"));
  const void* out = nullptr;
  if (table != nullptr) table(&out, error_name);
}

int not_replaced(const char* name) {
  ask_driver();
  std::printf("%s: %s\n", name, error_name);
  std::exit(1);
}
void* no_name(int number) {
  ask_driver();
  std::printf("function %d\n", number);
  std::exit(1);
}

}  // namespace

#define FUNCTION extern "C" __attribute__((used))
// What the compiler calls; the order is CUDA's.
FUNCTION void** __cudaRegisterFatBinary(void*) { return static_cast<void**>(no_name(1)); }
FUNCTION void __cudaRegisterFatBinaryEnd(void**) { no_name(2); }
FUNCTION void __cudaUnregisterFatBinary(void**) { no_name(3); }
FUNCTION void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) { no_name(4); }
FUNCTION void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) { no_name(5); }
FUNCTION void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) { no_name(6); }
FUNCTION void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, Dim3*, Dim3*, int*) {
  no_name(7);
}
#ifdef REGATTA_OTHER_ORDER
FUNCTION int regatta_between(int number) { return *static_cast<int*>(no_name(number + 1)); }
#endif
FUNCTION char __cudaInitModule(void**) { return static_cast<char>(not_replaced("__cudaInitModule")); }
FUNCTION unsigned __cudaPushCallConfiguration(Dim3, Dim3, std::size_t, void*) { return no_name(8) != nullptr; }
FUNCTION int __cudaPopCallConfiguration(Dim3*, Dim3*, std::size_t*, void*) { return no_name(9) != nullptr; }
FUNCTION int __cudaGetKernel(void**, const void*) { return no_name(10) != nullptr; }
FUNCTION int __cudaLaunchKernel(void*, Dim3, Dim3, void**, std::size_t, void*) { return no_name(11) != nullptr; }
FUNCTION int __cudaLaunchKernel_ptsz(void*, Dim3, Dim3, void**, std::size_t, void*) { return no_name(12) != nullptr; }
// What the program calls.
FUNCTION int cudaMalloc(void**, std::size_t) { return not_replaced("cudaMalloc"); }
FUNCTION int cudaFree(void*) { return not_replaced("cudaFree"); }
FUNCTION int cudaMemcpy(void*, const void*, std::size_t, int) { return not_replaced("cudaMemcpy"); }
FUNCTION int cudaLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*) {
  return not_replaced("cudaLaunchKernel");
}

namespace {

#define PTX                                                                                                      \
  ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry fill(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n" \
  ".reg .b32 %r<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"              \
  "add.s64 %rd3, %rd1, %rd2;\nmad.lo.u32 %r2, %r1, %r1, 1;\nst.global.u32 [%rd3], %r2;\nret;\n}\n"

struct FatBinary {
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1, head_bytes = 16;
  std::uint64_t bytes = 64 + sizeof ptx;
  std::uint16_t kind = 1, part_version = 0x101;
  std::uint32_t part_head_bytes = 64;
  std::uint64_t part_bytes = sizeof ptx;
  std::uint32_t compressed_bytes = 0, options = 0;
  std::uint16_t minor = 0, major = 7;
  std::uint32_t architecture = 75;
  std::uint64_t others[4] = {};
  char ptx[(sizeof(PTX) + 7) / 8 * 8] = PTX;
};
const FatBinary fat_binary;

struct Wrapper {
  std::uint32_t magic, version;
  const void* container;
  const void* linked;
};
__attribute__((section(".nvFatBinSegment"))) const Wrapper wrapper = {0x466243b1, 1, &fat_binary, nullptr};

void** handle;

int launch_fill(void* out) {
  Dim3 grid{}, block{};
  std::size_t shared = 0;
  void* stream = nullptr;
  void* arguments[] = {&out};
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != 0) return 1;
  return cudaLaunchKernel(reinterpret_cast<const void*>(&launch_fill), grid, block, arguments, shared, stream);
}

__attribute__((constructor)) void register_all() {
  handle = __cudaRegisterFatBinary(const_cast<Wrapper*>(&wrapper));
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&launch_fill), const_cast<char*>("fill"), "fill", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
}

}  // namespace

int main() {
  constexpr unsigned count = 32;
  constexpr int to_host = 2;
  void* out = nullptr;
  unsigned values[count] = {};
  if (cudaMalloc(&out, sizeof values) != 0) return 1;
  if (__cudaPushCallConfiguration({1, 1, 1}, {count, 1, 1}, 0, nullptr) != 0) return 1;
  if (launch_fill(out) != 0) return 1;
  if (cudaMemcpy(values, out, sizeof values, to_host) != 0) return 1;
  for (unsigned i = 0; i < count; ++i) {
    if (values[i] != i * i + 1) return 1;
  }
  std::printf("PASSED\n");
  return cudaFree(out);
}

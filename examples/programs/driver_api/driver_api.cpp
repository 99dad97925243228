// SPDX-License-Identifier: Apache-2.0
//
// A transpose by the driver API: a context, a module from a file of PTX, its globals, and launches with and without an
// array of parameters. Host code alone: any C++ compiler makes it.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define CHECK(call) check((call), #call)

static void check(CUresult error, const char* call) {
  if (error == CUDA_SUCCESS) return;
  const char* name = "unknown error";
  cuGetErrorName(error, &name);
  std::printf("%s: %s\nFAILED\n", call, name);
  std::exit(1);
}

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 150, height = width / 2 + 21;
  // kernel.ptx stands beside the program, or its path is the second argument.
  const std::string program = argv[0];
  const std::size_t slash = program.rfind('/');
  const std::string path =
      argc > 2 ? argv[2] : (slash == std::string::npos ? "" : program.substr(0, slash + 1)) + "driver_api.ptx";
  std::ifstream file(path);
  const std::string ptx((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (ptx.empty() || width < 1) {
    std::printf("%s: cannot be read, expected PTX\nFAILED\n", path.c_str());
    return 1;
  }

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction transpose;
  CUstream stream;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  char name[100];
  int sms = 0;
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  std::printf("%s, %d SMs\n", name, sms);
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, ptx.c_str()));
  CHECK(cuModuleGetFunction(&transpose, module, "transpose"));
  CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));

  const std::size_t bytes = static_cast<std::size_t>(width) * height * sizeof(float);
  std::vector<float> data(width * height), result(width * height);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 1000);
  CUdeviceptr in, out, scale, calls;
  std::size_t size = 0;
  const float factor = 0.5f;
  unsigned count = 0;
  CHECK(cuModuleGetGlobal(&scale, &size, module, "scale"));
  CHECK(cuMemcpyHtoD(scale, &factor, size));
  CHECK(cuModuleGetGlobal(&calls, &size, module, "calls"));
  CHECK(cuMemAlloc(&in, bytes));
  CHECK(cuMemAlloc(&out, bytes));
  CHECK(cuMemcpyHtoD(in, data.data(), bytes));
  CHECK(cuMemsetD32(out, 0xffffffffu, bytes / 4));

  int w = width, h = height;
  void* there[] = {&w, &h, &in, &out};
  const unsigned columns = (width + 31) / 32, rows = (height + 31) / 32, shared = 32 * 33 * sizeof(float);
  CHECK(cuLaunchKernel(transpose, columns, rows, 1, 32, 8, 1, shared, stream, there, nullptr));
  // Back, with the parameters packed as the kernel has them.
  struct {
    int width, height;
    CUdeviceptr in, out;
  } packed = {height, width, out, in};
  std::size_t packed_size = sizeof packed;
  void* back[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                  CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(transpose, rows, columns, 1, 32, 8, 1, shared, stream, nullptr, back));
  CHECK(cuStreamSynchronize(stream));

  bool good = true;
  CHECK(cuMemcpyDtoH(result.data(), out, bytes));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) good = good && result[x * height + y] == factor * data[y * width + x];
  }
  CHECK(cuMemcpyDtoH(result.data(), in, bytes));
  for (std::size_t i = 0; i < data.size(); ++i) good = good && result[i] == factor * factor * data[i];
  CHECK(cuMemcpyDtoH(&count, calls, sizeof count));
  good = good && count == 2 * columns * rows;
  CHECK(cuMemFree(in));
  CHECK(cuMemFree(out));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  std::printf("driver_api: %s\n", good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// The driver API as a program declares it, with the names that cuda.h maps its functions to.
#pragma once

#include <cstddef>
#include <cstdint>

using CUresult = int;
/// Codes that the tests expect.
inline constexpr CUresult success = 0, invalid_value = 1, invalid_device = 101, invalid_image = 200,
                          invalid_context = 201, invalid_ptx = 218, no_file = 301, invalid_handle = 400,
                          not_found = 500, illegal_address = 700, context_is_destroyed = 709;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUlibrary = struct CUlib_st*;
using CUfunction = struct CUfunc_st*;
using CUkernel = struct CUkern_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUlinkState = struct CUlinkState_st*;

struct CUlaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  CUstream stream;
  void* attributes;
  unsigned attribute_count;
};

struct CUDA_MEMCPY2D {
  std::size_t from_x, from_y;
  int from_type;
  const void* from_host;
  CUdeviceptr from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_type;
  void* to_host;
  CUdeviceptr to_device;
  void* to_array;
  std::size_t to_pitch, width, height;
};

extern "C" {

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int*);
CUresult cuDeviceGetCount(int*);
CUresult cuDeviceGet(CUdevice*, int ordinal);
CUresult cuDeviceGetName(char*, int bytes, CUdevice);
CUresult cuDeviceGetAttribute(int*, int attribute, CUdevice);
CUresult cuDeviceTotalMem_v2(std::size_t*, CUdevice);
CUresult cuDeviceComputeCapability(int*, int*, CUdevice);
CUresult cuCtxCreate_v4(CUcontext*, void*, unsigned flags, CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext*);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxGetCurrent(CUcontext*);
CUresult cuCtxGetDevice(CUdevice*);
CUresult cuCtxGetFlags(unsigned*);
CUresult cuCtxSynchronize();
CUresult cuCtxSetLimit(int limit, std::size_t);
CUresult cuCtxGetLimit(std::size_t*, int limit);
CUresult cuDevicePrimaryCtxRetain(CUcontext*, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned*, int*);
CUresult cuGetErrorName(CUresult, const char**);
CUresult cuGetErrorString(CUresult, const char**);
CUresult cuGetProcAddress_v2(const char*, void**, int version, std::uint64_t flags, int* status);

CUresult cuModuleLoad(CUmodule*, const char* path);
CUresult cuModuleLoadData(CUmodule*, const void*);
CUresult cuModuleLoadDataEx(CUmodule*, const void*, unsigned count, int* options, void** values);
CUresult cuModuleLoadFatBinary(CUmodule*, const void*);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*);
CUresult cuModuleGetFunctionCount(unsigned*, CUmodule);
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule, const char*);
CUresult cuLibraryLoadData(CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned);
CUresult cuLibraryGetKernel(CUkernel*, CUlibrary, const char*);
CUresult cuLibraryGetModule(CUmodule*, CUlibrary);
CUresult cuLibraryUnload(CUlibrary);
CUresult cuKernelGetFunction(CUfunction*, CUkernel);
CUresult cuLinkCreate_v2(unsigned, int*, void**, CUlinkState*);
CUresult cuLinkAddData_v2(CUlinkState, int type, void*, std::size_t, const char*, unsigned, int*, void**);
CUresult cuLinkComplete(CUlinkState, void**, std::size_t*);
CUresult cuLinkDestroy(CUlinkState);

CUresult cuFuncGetAttribute(int*, int attribute, CUfunction);
CUresult cuFuncSetAttribute(CUfunction, int attribute, int);
CUresult cuFuncGetParamInfo(CUfunction, std::size_t, std::size_t*, std::size_t*);
CUresult cuFuncGetName(const char**, CUfunction);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, CUfunction, int block, std::size_t shared);
CUresult cuOccupancyMaxPotentialBlockSize(int*, int*, CUfunction, std::size_t (*)(int), std::size_t, int limit);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                        CUstream, void** arguments, void** extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void** arguments, void** extra);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned shared, CUstream, void** arguments);
CUresult cuFuncSetBlockShape(CUfunction, int, int, int);
CUresult cuParamSetSize(CUfunction, unsigned);
CUresult cuParamSeti(CUfunction, int offset, unsigned);
CUresult cuParamSetv(CUfunction, int offset, void*, unsigned bytes);
CUresult cuLaunchGrid(CUfunction, int, int);

CUresult cuMemAlloc_v2(CUdeviceptr*, std::size_t);
CUresult cuMemAllocPitch_v2(CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned);
CUresult cuMemAllocManaged(CUdeviceptr*, std::size_t, unsigned);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemHostAlloc(void**, std::size_t, unsigned);
CUresult cuMemFreeHost(void*);
CUresult cuMemHostRegister_v2(void*, std::size_t, unsigned);
CUresult cuMemHostUnregister(void*);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr*, void*, unsigned);
CUresult cuMemGetInfo_v2(std::size_t*, std::size_t*);
CUresult cuMemGetAddressRange_v2(CUdeviceptr*, std::size_t*, CUdeviceptr);
CUresult cuPointerGetAttribute(void*, int attribute, CUdeviceptr);
CUresult cuPointerGetAttributes(unsigned, const int*, void**, CUdeviceptr);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, std::size_t);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void*, std::size_t);
CUresult cuMemcpyDtoH_v2(void*, CUdeviceptr, std::size_t);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, std::size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, std::size_t, CUstream);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D*);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, std::size_t);
CUresult cuMemsetD16_v2(CUdeviceptr, unsigned short, std::size_t);
CUresult cuMemsetD32_v2(CUdeviceptr, unsigned, std::size_t);
CUresult cuMemsetD2D32_v2(CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t);

CUresult cuStreamCreate(CUstream*, unsigned);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamGetCtx(CUstream, CUcontext*);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuLaunchHostFunc(CUstream, void (*)(void*), void*);
CUresult cuEventCreate(CUevent*, unsigned);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuEventElapsedTime_v2(float*, CUevent, CUevent);
CUresult cuEventDestroy_v2(CUevent);

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool*, CUdevice);
CUresult cuMemPoolGetAttribute(CUmemoryPool, int attribute, void*);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr*, std::size_t, CUmemoryPool, CUstream);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuStreamSetAttribute(CUstream, int attribute, const void*);
CUresult cuStreamGetAttribute(CUstream, int attribute, void*);
CUresult cuStreamCopyAttributes(CUstream, CUstream);

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, std::size_t, CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, int mode);
CUresult cuStreamEndCapture(CUstream, CUgraph*);
CUresult cuGraphGetNodes(CUgraph, void**, std::size_t*);
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphDestroy(CUgraph);

// Of the runtime API, with the driver's handles, which it shares.
int cudaDeviceGetDefaultMemPool(CUmemoryPool*, int);
int cudaDeviceGetMemPool(CUmemoryPool*, int);
int cudaDeviceSetMemPool(int, CUmemoryPool);
int cudaMemPoolCreate(CUmemoryPool*, const void* properties);
int cudaMemPoolDestroy(CUmemoryPool);
int cudaMemPoolGetAttribute(CUmemoryPool, int attribute, void*);
int cudaMemPoolSetAttribute(CUmemoryPool, int attribute, void*);
int cudaMemPoolTrimTo(CUmemoryPool, std::size_t);
int cudaMallocAsync(void**, std::size_t, CUstream);
int cudaMallocFromPoolAsync(void**, std::size_t, CUmemoryPool, CUstream);
int cudaFreeAsync(void*, CUstream);
int cudaDeviceSetLimit(int, std::size_t);
int cudaDeviceGetLimit(std::size_t*, int);
int cudaDeviceGetAttribute(int*, int attribute, int number);
int cudaGetLastError();
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned version, unsigned long long flags, int* status);

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
//
// Functions of the runtime API that the driver API is made of. Their codes are Error; streams, events and kernels are
// handles that both APIs have in common.
#pragma once

#include "abi.h"

extern "C" {

int cudaGetDeviceProperties_v2(regatta::capture::DeviceProperties12* properties, int number);
int cudaDeviceGetAttribute(int* value, int attribute, int number);
int cudaDeviceReset();
int cudaDeviceSynchronize();
int cudaDeviceSetCacheConfig(int preference);
int cudaDeviceGetCacheConfig(int* preference);
int cudaDeviceSetSharedMemConfig(int banks);
int cudaDeviceGetSharedMemConfig(int* banks);
int cudaDeviceSetLimit(int limit, std::size_t value);
int cudaDeviceGetLimit(std::size_t* value, int limit);
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
int cudaDeviceGetPCIBusId(char* text, int bytes, int number);
int cudaDeviceGetByPCIBusId(int* number, const char* text);
int cudaDriverGetVersion(int* version);
const char* cudaGetErrorString(int code);

int cudaMalloc(void** out, std::size_t bytes);
int cudaFree(void* pointer);
int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height);
int cudaMallocManaged(void** out, std::size_t bytes, unsigned flags);
int cudaHostAlloc(void** out, std::size_t bytes, unsigned flags);
int cudaFreeHost(void* pointer);
int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
int cudaHostUnregister(void* pointer);
int cudaHostGetDevicePointer(void** out, void* host, unsigned flags);
int cudaHostGetFlags(unsigned* flags, void* host);
int cudaMemGetInfo(std::size_t* available, std::size_t* total);
int cudaPointerGetAttributes(regatta::capture::PointerAttributes* attributes, const void* pointer);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);

int cudaStreamCreateWithPriority(void** out, unsigned flags, int priority);
int cudaStreamDestroy(void* stream);
int cudaStreamSynchronize(void* stream);
int cudaStreamQuery(void* stream);
int cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
int cudaStreamGetFlags(void* stream, unsigned* flags);
int cudaStreamGetPriority(void* stream, int* priority);
int cudaStreamGetId(void* stream, unsigned long long* id);
int cudaStreamIsCapturing(void* stream, int* status);
int cudaStreamAddCallback(void* stream, void (*call)(void*, int, void*), void* data, unsigned flags);
int cudaLaunchHostFunc(void* stream, void (*call)(void*), void* data);
int cudaEventCreateWithFlags(void** out, unsigned flags);
int cudaEventDestroy(void* event);
int cudaEventRecord(void* event, void* stream);
int cudaEventQuery(void* event);
int cudaEventSynchronize(void* event);
int cudaEventElapsedTime(float* milliseconds, void* start, void* end);

int cudaLaunchKernelExC(const regatta::capture::LaunchConfiguration* configuration, const void* function,
                        void** arguments);
int cudaLaunchKernel(const void* function, regatta::capture::Dim3 grid, regatta::capture::Dim3 block, void** arguments,
                     std::size_t shared, void* stream);
int cudaLaunchCooperativeKernel(const void* function, regatta::capture::Dim3 grid, regatta::capture::Dim3 block,
                                void** arguments, std::size_t shared, void* stream);
int cudaFuncGetAttributes(regatta::capture::FunctionAttributes* attributes, const void* function);
int cudaFuncSetAttribute(const void* function, int attribute, int value);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, const void* function, int block, std::size_t shared);
int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int ctas, int block);

}  // extern "C"

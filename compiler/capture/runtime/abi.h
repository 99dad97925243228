// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime API as programs see it: values of its enumerations and layouts of its structures, as the headers of
// CUDA 11 to 13 have them. regatta builds without these headers; tests/compiler/capture compares the two where they
// are.
#pragma once

#include <cstddef>
#include <cstdint>

#define REGATTA_API extern "C" __attribute__((visibility("default")))

namespace regatta::capture {

/// An address as a pointer of the program: the two are one under unified addressing.
inline void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
inline std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// cudaError_t; not all codes, only those that a call may return here.
enum Error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  invalid_configuration = 9,
  invalid_pitch_value = 12,
  invalid_symbol = 13,
  invalid_texture = 18,
  invalid_memcpy_direction = 21,
  invalid_surface = 37,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_kernel_image = 200,
  file_not_found = 301,
  invalid_resource_handle = 400,
  illegal_state = 401,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  peer_access_not_enabled = 705,
  assertion = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  misaligned_address = 716,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  graph_exec_update_failure = 910,
  unknown_error = 999,
};

enum CopyKind : int { host_to_host = 0, host_to_device = 1, device_to_host = 2, device_to_device = 3, by_address = 4 };

struct Dim3 {
  unsigned x, y, z;
};

/// cudaExtent, cudaPos: bytes or elements, rows, slices.
struct Extent {
  std::size_t width, height, depth;
};
struct Position3 {
  std::size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  std::size_t pitch, width, height;
};
struct ChannelFormat {
  int x, y, z, w, kind;
};

struct Copy3D {
  void* from_array;
  Position3 from_position;
  PitchedPointer from;
  void* to_array;
  Position3 to_position;
  PitchedPointer to;
  Extent extent;
  int kind;
};

struct PointerAttributes {
  int type;  ///< 0 unknown to CUDA, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
};

/// The part that all versions have.
struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
};

struct LaunchConfiguration {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

/// cudaDeviceProp of CUDA 13.
struct DeviceProperties13 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t global_memory, shared_per_cta;
  int registers_per_cta, warp_size;
  std::size_t memory_pitch;
  int max_threads, max_block[3], max_grid[3];
  std::size_t constant_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host_memory;
  int texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2],
      texture_3d[3], texture_3d_alt[3], texture_cube, texture_1d_layered[2], texture_2d_layered[3],
      texture_cube_layered[2];
  int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3], surface_cube,
      surface_cube_layered[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
  int bus_bits, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities, global_l1, local_l1;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu, multi_gpu_group, host_atomics, pageable_access,
      concurrent_managed, compute_preemption, host_pointer_of_registered, cooperative_launch;
  std::size_t shared_opt_in;
  int pageable_by_host_tables, direct_managed, ctas_per_multiprocessor, access_policy_window;
  std::size_t reserved_shared;
  int host_register;
  int others[75];  ///< zero here
};

/// cudaDeviceProp of CUDA 11 and 12.
struct DeviceProperties12 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t global_memory, shared_per_cta;
  int registers_per_cta, warp_size;
  std::size_t memory_pitch;
  int max_threads, max_block[3], max_grid[3], clock_khz;
  std::size_t constant_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int overlap, multiprocessors, time_out, integrated, can_map_host_memory, compute_mode;
  int texture_1d, texture_1d_mipmap, texture_1d_linear, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3],
      texture_2d_gather[2], texture_3d[3], texture_3d_alt[3], texture_cube, texture_1d_layered[2],
      texture_2d_layered[3], texture_cube_layered[2];
  int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3], surface_cube,
      surface_cube_layered[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
  int memory_clock_khz, bus_bits, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities,
      global_l1, local_l1;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu, multi_gpu_group, host_atomics, single_to_double,
      pageable_access, concurrent_managed, compute_preemption, host_pointer_of_registered, cooperative_launch,
      cooperative_multi_device;
  std::size_t shared_opt_in;
  int pageable_by_host_tables, direct_managed, ctas_per_multiprocessor, access_policy_window;
  std::size_t reserved_shared;
};

}  // namespace regatta::capture

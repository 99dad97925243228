// SPDX-License-Identifier: Apache-2.0
//
// Structures of the CUDA runtime API about arrays, textures and surfaces, as the headers of CUDA 11 to 13 have them.
#pragma once

#include "abi.h"

namespace regatta::capture {

/// Flags of cudaMallocArray().
enum ArrayFlags : unsigned { array_layered = 1, array_surface = 2, array_cubemap = 4, array_gather = 8 };

/// cudaChannelFormatKind; those from 4 on are planes, normalised and compressed formats.
enum ChannelFormatKind : int { channel_signed = 0, channel_unsigned = 1, channel_float = 2 };

/// cudaResourceType.
enum ResourceType : int { resource_array = 0, resource_mipmapped = 1, resource_linear = 2, resource_pitched = 3 };

/// cudaResourceDesc up to the end that CUDA 11 gave it: later versions reserve more and add flags, which are zero.
struct ResourceDescription {
  int type;
  union {
    void* array;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t width, height, pitch;
    } pitched;
  };
};
static_assert(sizeof(ResourceDescription) == 56 + 8);

/// cudaTextureDesc of CUDA 11; CUDA 11.5 and later have one more member, of cube maps.
struct SamplerDescription {
  int address[3];
  int filter, read, srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mipmap_filter;
  float level_bias, min_level, max_level;
  int disable_trilinear;
};
static_assert(sizeof(SamplerDescription) == 68);

/// textureReference of CUDA 11, which later versions do not have.
struct TextureReference {
  int normalized, filter, address[3];
  ChannelFormat format;
  int srgb;
  unsigned anisotropy;
  int mipmap_filter;
  float level_bias, min_level, max_level;
  int disable_trilinear;
  int reserved[14];
};
static_assert(sizeof(TextureReference) == 124);

struct SurfaceReference {
  ChannelFormat format;
};

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
//
// Textures on the program's side: from the API's descriptions to the server's.
#pragma once

#include "arrays.h"

namespace regatta::capture {

/// Memory that a texture may have, by an address of the program's.
struct TextureSpan {
  std::uint64_t address = 0;  ///< of the device
  std::uint64_t bytes = 0;    ///< to the end of its allocation
};
/// None: it is no memory of the device. Memory that host and device share is the device's afterwards.
std::optional<TextureSpan> texture_span(const void* pointer);

/// The memory of a texture. Linear memory ends where its allocation does.
Error set_linear(TextureDescription& out, const void* pointer, const ChannelFormat& format, std::uint64_t bytes);
Error set_pitched(TextureDescription& out, const void* pointer, const ChannelFormat& format, std::size_t width,
                  std::size_t height, std::size_t pitch);
Error set_array(TextureDescription& out, const void* array);

struct SamplerWords {
  const int* address = nullptr;  ///< three
  int filter = 0, read = 0, srgb = 0, normalized = 0;
  const float* border = nullptr;  ///< four, or nullptr
};
/// After the memory, which decides what counts.
Error set_sampler(TextureDescription& out, const SamplerWords& words);

/// Asks; what the server refuses is an invalid value, and the user sees why.
Reply ask_for_texture(Request kind, const MessageWriter& message);

}  // namespace regatta::capture

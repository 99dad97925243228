// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills between any two places, host or device, in rows and slices. What kind a place is, its address says.
#pragma once

#include "state.h"

namespace regatta::capture {

/// Bytes of a box: `width` bytes in `rows` rows `pitch` bytes apart, in `slices` slices `slice_pitch` bytes apart.
struct Box {
  std::uint64_t pitch = 0, slice_pitch = 0;
};
struct BoxSize {
  std::uint64_t width = 0, rows = 1, slices = 1;
};

Error copy_box(void* to, Box to_box, const void* from, Box from_box, BoxSize size);
Error copy_bytes(void* to, const void* from, std::uint64_t bytes);
/// `value` repeats every `element` bytes, 1, 2 or 4.
Error fill_box(void* to, Box box, BoxSize size, std::uint32_t value, unsigned element);

}  // namespace regatta::capture

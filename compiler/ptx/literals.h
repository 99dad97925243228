// SPDX-License-Identifier: Apache-2.0
//
// Constants of the PTX text in the encoding of the type that they are used with.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::ptx {

/// A real literal, encoded as f32 (`single`) or f64, as a real of `size` bytes: 4, or any other for 8.
std::uint64_t real_bits(std::uint64_t bits, bool single, unsigned size);

/// An integer literal as a value of `type`: as a real, or its low bytes.
std::uint64_t integer_bits(std::uint64_t value, ir::Type type);

}  // namespace regatta::ptx

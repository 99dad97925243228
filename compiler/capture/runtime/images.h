// SPDX-License-Identifier: Apache-2.0
//
// Code as a program has it in its memory, where nothing says how long it is: fat binaries, PTX as text, machine code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::capture {

/// All containers of a fat binary that is registered or loaded through the compiler's wrapper. Empty: it is none.
std::vector<std::uint8_t> wrapped_image(const void* wrapper);

/// An image of any form: a wrapper, a fat binary, PTX that ends with a zero, or machine code, of which the first bytes
/// are enough to refuse it.
std::vector<std::uint8_t> image_at(const void* image);

/// Several images as one, in the form of a fat binary; image_at() takes all of it. PTX may end with zeros.
std::vector<std::uint8_t> joined_images(const std::vector<std::vector<std::uint8_t>>& images);

/// A file's bytes. False: it cannot be read.
bool read_image(const std::string& path, std::vector<std::uint8_t>& bytes);

}  // namespace regatta::capture

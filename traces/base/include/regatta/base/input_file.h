// SPDX-License-Identifier: Apache-2.0
//
// The one way in which the tools read files whole. Traces, which are larger than memory, have a reader of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::base {

/// Largest file that is read as text: configurations, machines, energy tables, launch files, PTX. In bytes.
inline constexpr std::uint64_t max_text_bytes = std::uint64_t{64} << 20;

/// The whole of a text file. Throws InputError "cannot read 'path': reason" for a file that is not there, a folder, a
/// device, a file of more than max_text_bytes, and a named pipe that no process writes to (output_file.h,
/// pipe_wait_ms).
std::string read_text(const std::string& path);

/// The whole of a data file. Throws InputError as read_text() does, but for the limit on the size: the file may have
/// `expected` bytes, if given, and is not read when its size differs.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::optional<std::uint64_t> expected = std::nullopt);

/// `bytes` of a file from `offset` on. Throws InputError as read_text() does, and for a file that ends before.
std::vector<std::uint8_t> read_part(const std::string& path, std::uint64_t offset, std::uint64_t bytes);

}  // namespace regatta::base

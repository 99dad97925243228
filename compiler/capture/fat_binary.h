// SPDX-License-Identifier: Apache-2.0
//
// A fat binary, as nvcc and clang put it into a program: machine code and PTX for one or more architectures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::capture {

/// One part of a fat binary.
struct FatBinaryPart {
  bool is_ptx = false;        ///< else machine code of one architecture
  unsigned architecture = 0;  ///< 75 for compute_75 and sm_75
  std::size_t unit = 0;  ///< which container it is in: of several, each is of one translation unit (nvcc -rdc=true)
  std::string name;      ///< of the source file, where it is recorded
  std::string ptx;       ///< decompressed, only of PTX
};

/// Parts of a fat binary, in its order; PTX is decompressed (stored plainly, in an LZ4 block or in a zstd frame).
/// Throws base::InputError, which names `what`, for bytes that are no fat binary or are damaged.
std::vector<FatBinaryPart> read_fat_binary(const std::vector<std::uint8_t>& bytes, const std::string& what);

/// PTX of all units of a fat binary, linked, as a device of `architecture` would compile them. Units with machine code
/// alone are left out where others have PTX. Throws base::InputError for what cannot be linked, and if there is no PTX.
std::string linked_ptx(const std::vector<FatBinaryPart>& parts, unsigned architecture, const std::string& what);

/// The PTX that a device of `architecture` (90: sm_90) would compile: of the newest architecture that is not newer than
/// the device's. Throws base::InputError, which says what is there instead, if there is none.
const FatBinaryPart& choose_ptx(const std::vector<FatBinaryPart>& parts, unsigned architecture,
                                const std::string& what);

/// An LZ4 block. Throws base::InputError if it does not give `bytes` bytes.
std::string decompress_lz4_block(const std::uint8_t* from, std::uint64_t count, std::uint64_t bytes,
                                 const std::string& what);

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
//
// Runs a launch file on the GPU and in the emulator and compares what is left in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu.h"
#include "pointers.h"

namespace regatta::hardware {

/// How near a buffer of floats must come where operations are not exactly specified: |gpu - emulator| <=
/// relative * |emulator| + absolute. All other buffers must be equal, bit for bit.
struct Tolerance {
  std::string buffer;
  double relative = 0;
  double absolute = 0;
};

/// What a buffer's comparison allows.
struct Rule {
  Tolerance tolerance = {};
  std::uint64_t unordered = 1;         ///< launch::Expectation::unordered
  const Pointers* pointers = nullptr;  ///< none: words are no addresses
};

/// One buffer or variable.
struct Comparison {
  std::string name;
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;  ///< elements whose bits differ
  std::uint64_t wrong = 0;      ///< of those, by more than the tolerance
  double largest = 0;           ///< relative difference, floating types only
  std::uint64_t pointers = 0;   ///< words that point to the same place, at another address
  std::uint64_t moved = 0;      ///< elements that may be in another place, and are
  std::string first_wrong;      ///< "name[3] is 0x1 on the GPU, 0x2 in the emulator"
};

/// Compares two images of one buffer of elements of `type`.
Comparison compare(const std::string& name, ir::Type type, std::vector<std::uint8_t> gpu,
                   const std::vector<std::uint8_t>& emulator, const Rule& rule);

/// Runs the program of the launch file at `path`, with the PTX file `ptx` unless that is empty. Throws CudaError, and
/// trace::InputError for what the emulator refuses.
std::vector<Comparison> run_both(const Gpu& gpu, const std::string& path, const std::string& ptx,
                                 const std::vector<Tolerance>& tolerances);

}  // namespace regatta::hardware

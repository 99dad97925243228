// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "folder.h"
#include "generator.h"

namespace regatta::test {

/// A random program as PTX, with its launch file, whose path is returned.
inline std::string random_program(const Folder& folder, std::uint64_t seed, unsigned ctas) {
  const differential::Program program = differential::generate(seed);
  folder.write("random.ptx", differential::print(program));
  const std::uint64_t bytes = std::uint64_t{ctas} * differential::threads_per_cta * differential::result_bytes(program);
  const auto& block = differential::block;
  return folder.write("random.toml", "ptx = \"random.ptx\"\nentry = \"k\"\ngrid = [" + std::to_string(ctas) +
                                         ", 1, 1]\nblock = [" + std::to_string(block[0]) + ", " +
                                         std::to_string(block[1]) + ", " + std::to_string(block[2]) +
                                         "]\n[[param]]\nbuffer = " + std::to_string(bytes) + "\ninit = \"zero\"\n");
}

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// The operations that random programs use: how each is written in PTX, and what it computes, in plain C++.
#pragma once

#include <cstdint>
#include <vector>

namespace regatta::test::differential {

struct Operation {
  /// $0, $1 ... are the operands, results first; the scratch registers %t0.. (b32), %u0.. (b64), %q0.. (predicates) are
  /// free for use. Instructions end in ';'.
  const char* text;
  /// One letter per result, ':', one per source; a capital letter is never an immediate.
  const char* shape;
  /// From the sources' bits to the results', which are cut to their width. Floats come and go as their bits.
  void (*apply)(const std::uint64_t* in, std::uint64_t* out);
};

const std::vector<Operation>& operations();
/// Those on packed and narrow formats, part of the table.
std::vector<Operation> packed_operations();

}  // namespace regatta::test::differential

// SPDX-License-Identifier: Apache-2.0
//
// The static code of a kernel, put together from what its warps executed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_file.h"
#include "sass.h"

namespace regatta::import {

/// Where lanes were seen to go from a branch.
struct Evidence {
  std::uint64_t at_once = 0;  ///< lanes of the branch execute there next
  std::uint64_t later = 0;    ///< where its lanes are seen next, after others
};

/// An instruction of the code, by its PC.
struct CodeLine {
  TracedInstruction traced;
  Meaning meaning;
  std::string file;                              ///< that it was first seen in
  std::uint64_t line = 0;                        ///< likewise
  std::map<std::uint64_t, Evidence> successors;  ///< of a branch, by PC
};

/// Offsets in memory that are accessed: of a thread's local memory, of a CTA's shared memory.
struct Extent {
  std::uint64_t first = ~std::uint64_t{0}, end = 0;
  bool empty() const { return end == 0; }
  void add(std::uint64_t at, std::uint64_t bytes);
  void add(const Extent& other);
};

/// What one file has of a kernel's code, or all files of a kernel together.
struct Code {
  std::map<std::uint64_t, CodeLine> lines;  ///< by PC
  std::uint64_t entry = 0;                  ///< PC of the first instruction of every warp
  Extent local, shared;
  std::uint64_t ctas = 0;          ///< of the file
  std::uint64_t instructions = 0;  ///< of its warps

  /// Adds the code of another file. False, and nothing is added, if one PC has two instructions.
  bool merge(const Code& other);
};

/// Reads a file for its code. `strict`: what is not as on the machine is an error, not a remark. Throws
/// trace::InputError.
Code collect_code(const std::string& path, KernelFile& file, bool strict);

/// An address of a lane as a trace has it. `thread`: linear in the grid. Throws std::invalid_argument.
class AddressMap {
 public:
  /// `code`: with its extents; of local memory `local_bytes()` are a thread's frame.
  AddressMap(const Header& header, const Extent& local);
  std::uint64_t map(trace::MemorySpace space, std::uint64_t address, std::uint64_t thread) const;
  std::uint32_t local_bytes() const { return local_bytes_; }

 private:
  const Header& header_;
  std::uint64_t local_first_ = 0;
  std::uint32_t local_bytes_ = 0;
};

/// The space that a lane's access lies in (generic ones: by the windows), and its offset there.
std::pair<trace::MemorySpace, std::uint64_t> place_of(const Header& header, trace::MemorySpace space,
                                                      std::uint64_t address);

}  // namespace regatta::import

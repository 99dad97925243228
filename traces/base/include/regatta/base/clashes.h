// SPDX-License-Identifier: Apache-2.0
//
// The one check that no tool overwrites what it reads, or one of its results by another.
#pragma once

#include <string>
#include <vector>

namespace regatta::base {

/// A file that a run reads or writes.
struct FileUse {
  std::string role;  ///< as the user knows it: "--stats", "the trace"
  std::string path;  ///< empty: not used
  bool written = false;
};

/// Throws InputError "ROLE and ROLE name the same file 'path'" when a file is written and also read, or written twice;
/// links are followed. The program's own executable counts as read. Devices and pipes may be written more than once.
void refuse_clashes(std::vector<FileUse> files);

}  // namespace regatta::base

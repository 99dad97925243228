// SPDX-License-Identifier: Apache-2.0
//
// Makes a trace of regatta from traces that others wrote: Accel-Sim's, which have no values of registers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::import {

struct ImportOptions {
  std::string input;    ///< kernelslist.g, or the trace of one kernel: .traceg, .traceg.xz, .tracez
  std::string out;      ///< the trace to write
  bool strict = false;  ///< what cannot be as on the machine is an error, not a remark
};

struct ImportResult {
  std::uint64_t kernels = 0, launches = 0, ctas = 0, warp_instructions = 0;
  /// What is not as on the machine, one sentence each, with the kernel's name.
  std::vector<std::string> remarks;
};

/// Imports a program's launches. Every result is a version tag (trace::Kernel::version_tags). Throws trace::InputError
/// "path:line:column: error: what was found, expected ...", and leaves no file then.
ImportResult import_trace(const ImportOptions& options);

/// The same of the trace of one kernel that is in memory; `paged`: a .tracez. For tests.
ImportResult import_bytes(std::string_view bytes, bool paged, const std::string& out);

/// The program regatta-import.
int run_import_tool(int argc, char** argv);

}  // namespace regatta::import

// SPDX-License-Identifier: Apache-2.0
//
// The files that a run of regatta-annotate writes.
#pragma once

#include <regatta/base/clashes.h>
#include <regatta/base/output_file.h>
#include <regatta/launch/launch_file.h>
#include <regatta/ptx/ptx.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <memory>
#include <string>
#include <vector>

namespace regatta::tool {

/// Opened before the work, so that a path that cannot be written is known before the time of a run is spent; they get
/// their names together, once everything has succeeded.
struct Outputs {
  explicit Outputs(const AnnotateOptions& options);

  std::unique_ptr<trace::Writer> trace;                  ///< nullptr: not wanted, likewise below
  std::vector<std::unique_ptr<base::OutputFile>> dumps;  ///< in the order of AnnotateOptions::dumps
  std::unique_ptr<base::OutputFile> listing, report;
};

/// Whether a file of this name is a device or a pipe, or behind standard output: what is written stays written.
bool is_written_directly(const std::string& path);

/// Refuses an output that would be written over an input or over another output. `launch` may be nullptr (--check).
void refuse_clashes(const AnnotateOptions& options, const launch::LaunchFile* launch,
                    const std::vector<ptx::ModuleResult>& modules);

}  // namespace regatta::tool

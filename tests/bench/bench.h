// SPDX-License-Identifier: Apache-2.0
//
// What the parts of regatta-bench share: kernels, their traces, and running our programs.
#pragma once

#include <string>
#include <vector>

namespace regatta::bench {

/// All kernels of traces/kernels, by name.
std::vector<std::string> kernel_names();

/// A kernel's launch file at full size.
std::string launch_path(const std::string& kernel);

/// The trace of a kernel, annotated with these options, made anew when it is older than what it is made from.
std::string trace_of(const std::string& kernel, const std::vector<std::string>& options = {});

/// A file for results, in the build folder.
std::string scratch_file(const std::string& name);

/// Runs a program with its standard output thrown away and returns its peak resident memory in MiB, or this program's
/// at the time if that is more: Linux counts from before the exec. Throws std::runtime_error when it fails.
double run(const std::vector<std::string>& command);

/// What is being measured, on a terminal; an empty text clears the line.
void show_progress(const std::string& text);

}  // namespace regatta::bench

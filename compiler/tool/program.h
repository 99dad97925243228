// SPDX-License-Identifier: Apache-2.0
//
// The program of a launch file, and its kernels in one code.
#pragma once

#include <regatta/tool/compile.h>

#include <regatta/launch/entry_names.h>
#include <regatta/launch/launch_file.h>
#include <regatta/ptx/ptx.h>
#include <regatta/tool/annotate.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace regatta::tool {

/// The launch file and what it names.
struct Program {
  launch::LaunchFile file;
  std::vector<ptx::ModuleResult> modules;
  std::vector<ir::Module> variables;  ///< of the modules
  bool below_4_gb = false;
};

/// The kernels of one code.
struct Code {
  trace::Variant variant;
  AnnotateOptions options;
  std::vector<std::pair<std::size_t, CompiledKernel>> kernels;  ///< with the module, in the order of the launches
};

/// The PTX files at these paths. What cannot be read is said with `prefix`, the place that names the files.
std::vector<ptx::ModuleResult> read_modules(const std::vector<std::string>& paths, const std::string& prefix,
                                            const AnnotateOptions& options);
std::vector<launch::EntryNames> entry_names(const std::vector<ptx::ModuleResult>& modules);

/// Reads the launch file and the PTX files, and refuses outputs that would be written over them.
Program read_program(const AnnotateOptions& options);
/// The entry of a launch.
const ptx::EntryResult& entry_of(const launch::Launch& launch, const std::vector<ptx::ModuleResult>& modules);
/// Whether a launch has shared memory.
bool uses_shared_memory(const Program& program);
/// Compiles the kernels of the launches.
Code compile_code(Code code, const Program& program);
/// Whether a trace would say the same of the kernels.
bool is_same(const Code& a, const Code& b);
/// "rfv, wir"
std::string scheme_list(const trace::Variant& variant);

}  // namespace regatta::tool

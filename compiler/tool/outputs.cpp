// SPDX-License-Identifier: Apache-2.0
#include "outputs.h"

#include <regatta/tool/compile.h>

#include <regatta/base/path.h>

#include <filesystem>
#include <set>

namespace regatta::tool {

namespace {

std::unique_ptr<base::OutputFile> open(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<base::OutputFile>(path);
}

/// The files that steps read.
void add_loaded(const std::vector<launch::Step>& steps, const launch::LaunchFile& launch,
                std::vector<base::FileUse>& files) {
  for (const launch::Step& s : steps) {
    if (s.kind == launch::Step::Kind::fill) {
      const std::string& name = s.to.is_array()      ? launch.arrays[s.to.index].data.name
                                : s.to.is_variable() ? launch.globals[s.to.index].name
                                                     : launch.buffers[s.to.index].name;
      files.push_back({"what a step loads into '" + name + "'", s.contents.file, false});
    }
    add_loaded(s.steps, launch, files);
  }
}

}  // namespace

Outputs::Outputs(const AnnotateOptions& options) : listing(open(options.listing)), report(open(options.report)) {
  if (!options.out.empty()) trace = std::make_unique<trace::Writer>(options.out, options.sections);
  for (const auto& [name, path] : options.dumps) dumps.push_back(open(path));
}

bool is_written_directly(const std::string& path) {
  std::error_code error;
  return !path.empty() && std::filesystem::exists(path, error) &&
         (!std::filesystem::is_regular_file(path, error) || base::is_standard_output(path));
}

void refuse_clashes(const AnnotateOptions& options, const launch::LaunchFile* launch,
                    const std::vector<ptx::ModuleResult>& modules) {
  std::vector<base::FileUse> files{{"--out", options.out, true},
                                   {"--listing", options.listing, true},
                                   {"--report", options.report, true},
                                   {"the launch file", options.launch, false}};
  for (const ptx::ModuleResult& m : modules) files.push_back({"the PTX file", m.file, false});
  for (const auto& [name, path] : options.dumps) files.push_back({"--dump-buffer " + name, path, true});
  if (launch != nullptr) {
    for (const launch::Buffer& b : launch->buffers) {
      files.push_back({"the contents of buffer '" + b.name + "'", b.contents.file, false});
      files.push_back({"the expected contents of buffer '" + b.name + "'", b.expect.file, false});
    }
    for (const launch::Global& g : launch->globals) {
      files.push_back({"the contents of variable '" + g.name + "'", g.contents.file, false});
      files.push_back({"the expected contents of variable '" + g.name + "'", g.expect.file, false});
    }
    add_loaded(launch->steps, *launch, files);
  }
  std::set<std::string> sources;
  for (const ptx::ModuleResult& m : modules) {
    for (const ptx::EntryResult& e : m.entries) {
      for (std::string& path : source_paths(e.function)) sources.insert(std::move(path));
    }
  }
  for (const std::string& path : sources) files.push_back({"the kernel's source file", path, false});
  base::refuse_clashes(std::move(files));
}

}  // namespace regatta::tool

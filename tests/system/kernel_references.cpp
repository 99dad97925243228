// SPDX-License-Identifier: Apache-2.0
#include "kernel_references.h"

#include <regatta/base/input_file.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::test {

#define REGATTA_DECLARE(kernel) std::vector<Expected> expected_##kernel(const LaunchData& data);
REGATTA_KERNELS(REGATTA_DECLARE)
#undef REGATTA_DECLARE

namespace {

struct Entry {
  const char* kernel;
  std::vector<Expected> (*results)(const LaunchData&);
};

#define REGATTA_ENTRY(kernel) {#kernel, expected_##kernel},
constexpr Entry table[] = {REGATTA_KERNELS(REGATTA_ENTRY)};
#undef REGATTA_ENTRY

}  // namespace

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    for (const Entry& e : table) n.emplace_back(e.kernel);
    return n;
  }();
  return names;
}

bool uses_tensor_cores(const std::string& kernel) {
  const std::string text = base::read_text(ptx_path(kernel, Ptx::nvcc));
  return text.find("mma.sync.") != std::string::npos || text.find("wgmma.") != std::string::npos;
}

std::vector<std::string> kernels_for_all_machines() {
  std::vector<std::string> names = kernel_names();
  names.erase(std::remove_if(names.begin(), names.end(), uses_tensor_cores), names.end());
  return names;
}

std::vector<Expected> expected_results(const std::string& kernel, Size size) {
  for (const Entry& e : table) {
    if (kernel == e.kernel) return e.results(LaunchData(launch_path(kernel, size)));
  }
  throw std::runtime_error("no reference for kernel " + kernel);
}

}  // namespace regatta::test

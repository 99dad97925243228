// SPDX-License-Identifier: Apache-2.0
#include "imported_kernel.h"

#include <regatta/import/import.h>

#include "kernels.h"
#include "traceg_writer.h"

namespace regatta::test {

std::string imported_kernel(const Folder& folder, const std::string& kernel, std::string* ours) {
  const trace::Reader reader(execute_kernel(folder, kernel, Size::small));
  if (ours != nullptr) *ours = reader.path();
  std::string list = "MemcpyHtoD,0x00007efe7b500000,2052\n";
  for (std::uint32_t l = 0; l < reader.launches().size(); ++l) {
    const std::string name = "kernel-" + std::to_string(l + 1) + ".traceg";
    folder.write(name, traceg_of(reader, l));
    list += name + "\n";
  }
  import::ImportOptions options;
  options.input = folder.write("kernelslist.g", list);
  options.out = folder.file("imported.rgt");
  import::import_trace(options);
  return options.out;
}

}  // namespace regatta::test

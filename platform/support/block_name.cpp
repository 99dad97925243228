// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/block_name.h>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace regatta::support {

std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  std::string name = status == 0 ? text.get() : type.name();
  const std::string anonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous)) {
    name.erase(at, anonymous.size());
  }
  return name;
}

}  // namespace regatta::support

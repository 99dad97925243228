// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

namespace regatta::test {

/// The names of all schemes, as messages list them: from the table of their page, which takings_test.cpp holds to the
/// code. A test without SystemC cannot ask the schemes themselves.
inline std::string scheme_names() {
  std::ifstream page(REGATTA_SOURCE_DIR "/models/SCHEMES.md");
  std::string line, names;
  while (std::getline(page, line) && line.rfind("| scheme |", 0) != 0) continue;
  std::getline(page, line);  // the line below the heads
  while (std::getline(page, line) && line.rfind("| `", 0) == 0) {
    names += (names.empty() ? "" : ", ") + line.substr(3, line.find('`', 3) - 3);
  }
  if (names.empty()) throw std::runtime_error("models/SCHEMES.md: expected a table whose first column is 'scheme'");
  return names;
}

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/types.h>

#include <stdexcept>
#include <string>

#include "probes.h"

namespace regatta::test {

/// Throws std::logic_error unless the message names the file and says something behind it.
inline void check_message(const std::string& message, const std::string& file) {
  if (message.rfind(file + ":", 0) != 0 || message.size() < file.size() + 4) {
    throw std::logic_error("a message that does not begin with the file '" + file + "': '" + message + "'");
  }
}

/// Does `work` on `file`; other exceptions than trace::InputError pass.
template <class Work>
Outcome outcome_of(const std::string& file, Work&& work) {
  try {
    work();
  } catch (const trace::InputError& e) {
    check_message(e.what(), file);
    return {false, e.what()};
  }
  return {true, ""};
}

}  // namespace regatta::test

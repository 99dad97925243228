// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/tool/annotate.h>
#include <regatta/trace/types.h>

#include <string>

namespace regatta::test {

/// The message of the error that the annotation ends with; "" if it succeeds.
inline std::string error_of(const tool::AnnotateOptions& o) {
  try {
    tool::annotate(o);
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace regatta::test

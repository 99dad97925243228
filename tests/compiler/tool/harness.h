// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/tool/annotate.h>
#include <regatta/trace/types.h>

#include <stdexcept>
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

/// What a pass reports of an entry under a key. Fails the test where no pass has it, or it is no count.
inline std::uint64_t count(const tool::EntryReport& entry, const std::string& key) {
  for (const passes::PassSummary& pass : entry.passes)
    for (const passes::Figure& figure : pass.figures)
      if (figure.key == key) return std::get<std::uint64_t>(figure.value);
  throw std::logic_error("no pass reports '" + key + "'");
}

}  // namespace regatta::test

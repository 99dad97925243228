// SPDX-License-Identifier: Apache-2.0
//
// Who has what, for the report of a deadlock: each stage says what it or the block behind it holds of an instruction.
#pragma once

#include <regatta/protocol/ids.h>

#include <string>

namespace regatta::sm {

struct Hold {
  std::string holder;     ///< "issue gate sm0.throttle refuses": what many warps may have in common
  std::string detail;     ///< of this one: "read of R4"; may be empty
  protocol::Cycle since;  ///< when it began
};

/// "0-3, 8" of numbers in ascending order.
template <class Numbers>
std::string ranges(const Numbers& numbers) {
  std::string text;
  for (auto n = numbers.begin(); n != numbers.end();) {
    auto first = *n, last = first;
    for (++n; n != numbers.end() && *n == last + 1; ++n) last = *n;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last != first) text += (last == first + 1 ? ", " : "-") + std::to_string(last);
  }
  return text;
}

}  // namespace regatta::sm

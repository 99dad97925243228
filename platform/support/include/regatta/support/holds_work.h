// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace regatta::support {

/// A module that may hold requests of others. The report of a deadlock asks all of them.
class HoldsWork {
 public:
  virtual ~HoldsWork() = default;
  /// What it holds for whom, in a line without the module's name; empty when it holds nothing.
  virtual std::string held_work() const = 0;
};

}  // namespace regatta::support

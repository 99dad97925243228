// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace regatta::support {

/// A module that may hold requests of other modules. A deadlock report queries all of them.
class HoldsWork {
 public:
  virtual ~HoldsWork() = default;
  /// The requests that it holds and their owners, in a line without the module's name; empty if it holds none.
  virtual std::string held_work() const = 0;
  /// Whether it goes on with them by itself: it has scheduled something, however late. The watchdog then waits. False:
  /// it waits for another module, or cannot tell.
  virtual bool work_is_due() const { return false; }
};

}  // namespace regatta::support

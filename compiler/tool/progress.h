// SPDX-License-Identifier: Apache-2.0
//
// One line on a terminal that says how far a long run is. Silent for the first two seconds and when standard error is
// not a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace regatta::tool {

class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `what` is shown with `done` of `total` CTAs. Cheap: looks at the clock, prints at most five times a second.
  void update(const std::string& what, std::uint64_t done, std::uint64_t total);

 private:
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace regatta::tool

// SPDX-License-Identifier: Apache-2.0
//
// A progress line on stderr for long runs, shown only on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace regatta::support {

class Progress {
 public:
  struct Settings {
    std::FILE* stream = stderr;
    std::optional<bool> terminal;             ///< unset: query the stream
    std::chrono::milliseconds delay{2000};    ///< nothing is shown earlier
    std::chrono::milliseconds interval{200};  ///< minimum time between updates
  };

  /// A `total` of 0 means unknown: the line then shows only the count and the rate.
  Progress(std::string label, std::uint64_t total, std::string unit, Settings settings);
  Progress(std::string label, std::uint64_t total, std::string unit)
      : Progress(std::move(label), total, std::move(unit), Settings()) {}
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `done` of the total when an update is due. Costs a comparison when off, a clock reading when on.
  void update(std::uint64_t done) {
    if (terminal_) show(done);
  }
  /// Clears the line; the destructor does it too.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::uint64_t done);

  std::string label_;
  std::string unit_;
  std::uint64_t total_;
  Settings settings_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace regatta::support

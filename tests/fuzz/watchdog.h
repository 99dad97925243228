// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace regatta::test {

/// Ends the process, with a message that says what hung, unless it is destroyed in time.
class Watchdog {
 public:
  Watchdog(std::string what, std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  /// What is being done now; the time begins anew.
  void restart(std::string what);

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::chrono::seconds limit_;
  std::chrono::steady_clock::time_point end_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace regatta::test

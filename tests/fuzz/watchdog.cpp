// SPDX-License-Identifier: Apache-2.0
#include "watchdog.h"

#include <cstdio>
#include <cstdlib>

namespace regatta::test {

Watchdog::Watchdog(std::string what, std::chrono::seconds limit)
    : what_(std::move(what)), limit_(limit), end_(std::chrono::steady_clock::now() + limit) {
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Watchdog::restart(std::string what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  what_ = std::move(what);
  end_ = std::chrono::steady_clock::now() + limit_;
}

void Watchdog::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    if (std::chrono::steady_clock::now() >= end_) {
      std::fprintf(stderr, "hang: %s did not end within %lld seconds\n", what_.c_str(),
                   static_cast<long long>(limit_.count()));
      std::fflush(stderr);
      std::abort();
    }
    changed_.wait_until(lock, end_);
  }
}

}  // namespace regatta::test

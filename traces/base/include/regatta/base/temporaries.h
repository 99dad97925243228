// SPDX-License-Identifier: Apache-2.0
//
// Names of files in the making, kept where a signal handler can reach them.
#pragma once

#include <string>

namespace regatta::base {

/// From now on, a signal that ends the process first removes the files in the making: SIGINT, SIGTERM, SIGHUP, SIGQUIT,
/// limits on time, timers, user signals, faults and aborts. A signal that is ignored, or has a handler, keeps that.
/// Further calls do nothing more.
void remove_temporaries_at_signals();
/// Removes them now. Async-signal-safe.
void remove_temporaries();

/// One file in the making. Its name is known to remove_temporaries() before the file exists.
class Temporary {
 public:
  /// A name beside `target` that no other process and no other Temporary has: "target.partial.<process>-<random>".
  static Temporary* make(const std::string& target);
  const char* name() const { return name_; }
  /// The file is gone or has its final name.
  void release();

 private:
  friend void remove_temporaries();
  struct List;
  static constexpr unsigned max_name = 4096;

  char name_[max_name] = {};
  volatile int process_ = 0;  ///< 0: free
  Temporary* next_ = nullptr;
};

/// `told` is called when a fault ends the process, after the files are removed: with the signal and the address of the
/// access. It may do what a signal handler may do.
void tell_of_faults(void (*told)(int signal, const void* address));

}  // namespace regatta::base

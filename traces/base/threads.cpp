// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/error.h>
#include <regatta/base/threads.h>

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

namespace regatta::base {

unsigned threads() {
  if (const char* const said = std::getenv("REGATTA_THREADS"); said != nullptr && *said != '\0') {
    const std::string text = said;
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 4;
    const unsigned long value = digits ? std::stoul(text) : 0;
    if (value < 1 || value > max_threads) {
      throw InputError("REGATTA_THREADS: found '" + text + "', expected a number from 1 to " +
                       std::to_string(max_threads));
    }
    return static_cast<unsigned>(value);
  }
  // std::thread::hardware_concurrency() counts processors that this process may not use.
  cpu_set_t usable;
  const int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0;
  const unsigned processors = count > 0 ? static_cast<unsigned>(count) : std::thread::hardware_concurrency();
  return std::clamp(processors, 1u, max_threads);
}

}  // namespace regatta::base

// SPDX-License-Identifier: Apache-2.0
#include "driver_jit.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace regatta::capture {

namespace {

/// CUjit_option; the others change nothing that a program sees.
constexpr int wall_time = 2, info_log = 3, info_log_bytes = 4, error_log = 5, error_log_bytes = 6;

}  // namespace

void JitOptions::Log::write(const std::string& text) const {
  std::size_t count = 0;
  if (buffer != nullptr && bytes != 0) {
    count = std::min(text.size(), bytes - 1);
    std::memcpy(buffer, text.data(), count);
    buffer[count] = '\0';
  }
  // The value of the option is the size itself, before and after.
  if (bytes_out != nullptr) std::memcpy(bytes_out, &count, sizeof count);
}

void JitOptions::answer(const std::string& error) {
  Log info, errors;
  if (options_ == nullptr || values_ == nullptr) return;
  for (unsigned i = 0; i < count_; ++i) {
    void** const value = values_ + i;
    switch (options_[i]) {
      case wall_time: {
        const float none = 0;  // the place holds a number, not a pointer to one
        std::memcpy(value, &none, sizeof none);
        break;
      }
      case info_log:
        info.buffer = static_cast<char*>(*value);
        break;
      case error_log:
        errors.buffer = static_cast<char*>(*value);
        break;
      case info_log_bytes:
        info.bytes = reinterpret_cast<std::uintptr_t>(*value);
        info.bytes_out = value;
        break;
      case error_log_bytes:
        errors.bytes = reinterpret_cast<std::uintptr_t>(*value);
        errors.bytes_out = value;
        break;
      default:
        break;
    }
  }
  info.write("");
  errors.write(error);
}

}  // namespace regatta::capture

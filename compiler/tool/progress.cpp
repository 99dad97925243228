// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <unistd.h>

#include <cstdio>

namespace regatta::tool {

Progress::Progress(bool wanted)
    : on_(wanted && isatty(STDERR_FILENO) != 0), next_(std::chrono::steady_clock::now() + std::chrono::seconds(2)) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

void Progress::update(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s: %llu of %llu CTAs", what.c_str(), static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(total));
  std::fflush(stderr);
}

}  // namespace regatta::tool

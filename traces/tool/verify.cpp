// SPDX-License-Identifier: Apache-2.0
// regatta-trace verify: trace::verify() with progress and a summary.
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "commands.h"
#include "text.h"

namespace regatta::tool {
namespace {

/// A line on a terminal's standard error from the second second on; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(::isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }
  void done(std::size_t count) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(250);
    drawn_ = true;
    std::fprintf(stderr, "\rverified %zu of %zu CTAs", count, total_);
    std::fflush(stderr);
  }

 private:
  std::size_t total_;
  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

}  // namespace

namespace {

void verify_variant(const trace::Reader& reader, trace::VerifyDepth depth) {
  trace::Verified verified;
  {
    Progress progress(reader.ctas().size());
    verified = trace::verify(reader, depth, [&](std::size_t count) { progress.done(count); });
  }
  const std::string variant = reader.variants().size() > 1 ? "variant " + reader.variant().name + ": " : "";
  std::printf("ok: %s: %s%s kernels, %s launches, %s CTAs, %s warps, %s warp instructions, %s thread instructions\n",
              printable(reader.path()).c_str(), variant.c_str(), grouped(reader.kernels().size()).c_str(),
              grouped(reader.launches().size()).c_str(), grouped(reader.ctas().size()).c_str(),
              grouped(verified.warps).c_str(), grouped(verified.warp_instructions).c_str(),
              grouped(verified.thread_instructions).c_str());
}

}  // namespace

void verify_file(const trace::Reader& reader, trace::VerifyDepth depth) {
  verify_variant(reader, depth);
  for (const trace::Reader::VariantEntry& v : reader.variants()) {
    if (v.variant.name == reader.variant().name) continue;
    verify_variant(trace::Reader(reader.path(), reader.sections(), v.variant.name), depth);
  }
}

}  // namespace regatta::tool

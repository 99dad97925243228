// SPDX-License-Identifier: Apache-2.0
// regatta-trace verify: reads every frame and decodes every column of every warp to its end.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "commands.h"
#include "text.h"

namespace regatta::tool {
namespace {

using namespace trace;

/// Walks one warp; returns what is wrong, "" if nothing.
std::string check_warp(const Kernel& kernel, const WarpColumns& columns) {
  WarpCursor cursor(kernel, columns);
  WarpValue value;
  std::uint64_t address[max_lanes];
  std::vector<StackEvent> events;
  std::uint64_t instructions = 0;
  std::uint64_t threads = 0;
  std::size_t guarded = 0;
  while (cursor.next()) {
    const StaticInstruction& instruction = cursor.instruction();
    ++instructions;
    threads += static_cast<unsigned>(__builtin_popcountll(cursor.active_mask()));
    if (instruction.guard.predicate >= 0 && (columns.guard_mask[guarded++] & ~cursor.simt_mask()) != 0) {
      return "instruction " + std::to_string(instructions) + ": the guard mask has lanes outside the SIMT mask";
    }
    if (has_addresses(instruction)) {
      cursor.addresses(address);
      for (unsigned words = cursor.stored_words(); words != 0; --words) cursor.stored(value);
    }
    for (unsigned d = 0; d < instruction.destination_count; ++d) cursor.result(value);
    for (unsigned d = 0; d < instruction.destination_predicate_count; ++d) cursor.predicate();
    events.clear();
    cursor.stack_events(events);
  }
  if (const char* column = cursor.leftover()) {
    return std::string("column ") + column + " has entries that no instruction uses";
  }
  if (instructions != columns.warp_instructions || threads != columns.thread_instructions) {
    return "has " + std::to_string(instructions) + " warp and " + std::to_string(threads) +
           " thread instructions, its counts say " + std::to_string(columns.warp_instructions) + " and " +
           std::to_string(columns.thread_instructions);
  }
  return {};
}

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

void verify(const Reader& reader) {
  for (std::size_t k = 0; k < reader.kernels().size(); ++k) {
    try {
      for (const auto& format : reader.sections().formats()) format->verify(reader.kernels()[k]);
    } catch (const std::invalid_argument& e) {
      throw InputError(reader.path() + ": kernel " + std::to_string(k) + ": " + e.what());
    }
  }
  std::uint64_t warps = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  {
    Progress progress(reader.ctas().size());
    const auto stream = reader.stream(0, reader.ctas().size());
    for (std::size_t position = 0; const auto cta = stream->next(); ++position) {
      const Kernel& kernel = reader.kernels()[reader.launches()[cta->launch].kernel];
      for (const WarpColumns& warp : cta->warps) {
        std::string wrong;
        try {
          wrong = check_warp(kernel, warp);
        } catch (const InputError& e) {
          throw InputError(reader.path() + ": byte " + std::to_string(reader.ctas()[position].offset) + ": launch " +
                           std::to_string(cta->launch) + ": " + e.what());
        }
        if (!wrong.empty()) {
          throw InputError(reader.path() + ": byte " + std::to_string(reader.ctas()[position].offset) + ": launch " +
                           std::to_string(cta->launch) + ", CTA " + std::to_string(cta->index) + ", warp " +
                           std::to_string(warp.warp) + ": " + wrong);
        }
        ++warps;
        warp_instructions += warp.warp_instructions;
        thread_instructions += warp.thread_instructions;
      }
      progress.done(position + 1);
    }
  }
  std::printf("ok: %s: %s kernels, %s launches, %s CTAs, %s warps, %s warp instructions, %s thread instructions\n",
              printable(reader.path()).c_str(), grouped(reader.kernels().size()).c_str(),
              grouped(reader.launches().size()).c_str(), grouped(reader.ctas().size()).c_str(), grouped(warps).c_str(),
              grouped(warp_instructions).c_str(), grouped(thread_instructions).c_str());
}

}  // namespace regatta::tool

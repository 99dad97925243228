// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/support/progress.h>
#include <regatta/support/table.h>
#include <unistd.h>

#include <algorithm>

namespace regatta::support {

Progress::Progress(std::string label, std::uint64_t total, std::string unit, Settings settings)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      settings_(settings),
      terminal_(settings.terminal.value_or(isatty(fileno(settings.stream)) == 1)),
      start_(Clock::now()),
      next_(start_ + settings.delay) {}

void Progress::show(std::uint64_t done) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + settings_.interval;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0.0 ? static_cast<double>(done) / seconds : 0.0;
  std::string line = label_ + ": ";
  if (total_ > 0) {
    constexpr std::size_t cells = 24;
    const double ratio = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    const auto full = static_cast<std::size_t>(ratio * cells);
    line += "[" + std::string(full, '=') + std::string(cells - full, ' ') + "] " + percent(ratio) + ", " +
            with_prefix(rate, unit_ + "/s");
    if (rate > 0.0 && done < total_) line += ", " + duration_text(static_cast<double>(total_ - done) / rate) + " left";
  } else {
    line += with_prefix(static_cast<double>(done), unit_) + ", " + with_prefix(rate, unit_ + "/s");
  }
  // Return, text, clear to the end of the line: a shorter line leaves nothing of a longer one.
  fmt::print(settings_.stream, "\r{}\x1b[K", line);
  std::fflush(settings_.stream);
  shown_ = true;
}

void Progress::finish() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", settings_.stream);
  std::fflush(settings_.stream);
  shown_ = false;
}

}  // namespace regatta::support

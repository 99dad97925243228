// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/compression_entries.h>

#include <algorithm>

namespace regatta::models::aging {

CompressionEntries::CompressionEntries(std::uint32_t entries, std::uint64_t retention, std::uint64_t period)
    : entries_(entries),
      retention_(retention),
      period_(period != 0 ? period : std::max<std::uint64_t>(1, retention / std::max(1u, entries))),
      loses_(period_ * entries > retention) {}

void CompressionEntries::reset() {
  std::fill(entries_.begin(), entries_.end(), Entry{});
  port_free_ = 0;
}

bool CompressionEntries::lost(std::uint32_t entry, std::uint64_t now) const {
  const std::uint64_t written = entries_[entry].written;
  if (now - written <= retention_) return false;
  // Entry e is refreshed in the cycles k x period with k = e modulo the number of entries. A round of them is longer
  // than the retention, or we were not here: only the first one after the write can be in time.
  const std::uint64_t round = period_ * entries_.size();
  const std::uint64_t phase = entry * period_;
  const std::uint64_t first = written < phase ? phase : phase + ((written - phase) / round + 1) * round;
  return first - written > retention_ || now - first > retention_;
}

std::uint64_t CompressionEntries::take_port(std::uint64_t now) {
  std::uint64_t at = std::max(now, port_free_);
  if (at % period_ == 0 && at != 0) {
    ++at;
    ++refresh_conflicts_;
  }
  port_free_ = at + 1;
  return at;
}

std::uint64_t CompressionEntries::write(std::uint32_t entry, const DeltaCode& code, std::uint64_t now) {
  const std::uint64_t at = take_port(now);
  entries_[entry] = Entry{code, true, at};
  return at;
}

std::uint64_t CompressionEntries::clear(std::uint32_t entry, std::uint64_t now) {
  const std::uint64_t at = take_port(now);
  entries_[entry].valid = false;
  return at;
}

}  // namespace regatta::models::aging

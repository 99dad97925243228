// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/counter_increments.h>

#include <cctype>

namespace regatta::support {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string within_sm(const std::string& path) {
  if (path.compare(0, 2, "sm") != 0) return {};
  std::size_t at = 2;
  while (at < path.size() && std::isdigit(static_cast<unsigned char>(path[at])) != 0) ++at;
  return at > 2 && at < path.size() && path[at] == '.' ? path.substr(at + 1) : std::string();
}

}  // namespace

CounterIncrements::CounterIncrements(const std::vector<StatGroup>& groups) {
  for (const StatGroup& group : groups) {
    for (const Stat& stat : group.stats()) {
      if (stat.counter == nullptr) continue;
      counters_.push_back({&group, &stat, within_sm(group.path()), ends_with(stat.name, "_max"), *stat.counter});
    }
  }
}

void CounterIncrements::next() {
  for (Counter& c : counters_) {
    const std::uint64_t value = *c.stat->counter;
    c.increment = c.is_maximum ? value : value - c.before;
    c.before = value;
  }
}

}  // namespace regatta::support

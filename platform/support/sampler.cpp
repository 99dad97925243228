// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/sampler.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace regatta::support {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// "sm12.l1" -> "l1"; empty when the module is not an SM's.
std::string within_sm(const std::string& path) {
  if (path.compare(0, 2, "sm") != 0) return {};
  std::size_t at = 2;
  while (at < path.size() && std::isdigit(static_cast<unsigned char>(path[at])) != 0) ++at;
  return at > 2 && at < path.size() && path[at] == '.' ? path.substr(at + 1) : std::string();
}

}  // namespace

Sampler::Sampler(const std::string& path, const std::vector<StatGroup>& groups) : file_(path) {
  std::map<std::string, std::size_t> known;
  std::string header = "cycle,launch";
  for (const StatGroup& group : groups) {
    const std::string module = within_sm(group.path());
    for (const Stat& stat : group.stats()) {
      if (stat.counter == nullptr) continue;
      header += "," + group.path() + "." + stat.name;
      Column c{stat.counter, *stat.counter, ends_with(stat.name, "_max"), none};
      if (!module.empty()) {
        const std::string name = "total." + module + "." + stat.name;
        const auto [entry, added] = known.try_emplace(name, totals_.size());
        if (added) totals_.push_back(Total{name});
        c.total = entry->second;
      }
      columns_.push_back(c);
    }
  }
  for (const Total& t : totals_) header += "," + t.name;
  file_.write(header + "\n");
}

void Sampler::row(std::uint64_t cycle, std::uint32_t launch) {
  last_cycle_ = cycle;
  text_ = std::to_string(cycle) + "," + std::to_string(launch);
  for (Total& t : totals_) t.value = 0;
  for (Column& c : columns_) {
    const std::uint64_t value = c.is_maximum ? *c.counter : *c.counter - c.before;
    c.before = *c.counter;
    text_ += ',';
    text_ += std::to_string(value);
    if (c.total == none) continue;
    std::uint64_t& total = totals_[c.total].value;
    total = c.is_maximum ? std::max(total, value) : total + value;
  }
  for (const Total& t : totals_) {
    text_ += ',';
    text_ += std::to_string(t.value);
  }
  text_ += '\n';
  file_.write(text_);
}

}  // namespace regatta::support

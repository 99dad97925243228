// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/sampler.h>

#include <algorithm>
#include <map>

namespace regatta::support {

Sampler::Sampler(const std::string& path, const std::vector<StatGroup>& groups) : file_(path), counters_(groups) {
  std::map<std::string, std::size_t> known;
  std::string header = "cycle,launch";
  for (const CounterIncrements::Counter& c : counters_.all()) {
    header += "," + c.group->path() + "." + c.stat->name;
    total_of_.push_back(none);
    if (c.within_sm.empty()) continue;
    const std::string name = "total." + c.within_sm + "." + c.stat->name;
    const auto [entry, added] = known.try_emplace(name, totals_.size());
    if (added) totals_.push_back(Total{name});
    total_of_.back() = entry->second;
  }
  for (const Total& t : totals_) header += "," + t.name;
  file_.write(header + "\n");
}

void Sampler::row(std::uint64_t cycle, std::uint32_t launch) {
  last_cycle_ = cycle;
  text_ = std::to_string(cycle) + "," + std::to_string(launch);
  for (Total& t : totals_) t.value = 0;
  counters_.next();
  for (std::size_t i = 0; i < total_of_.size(); ++i) {
    const CounterIncrements::Counter& c = counters_.all()[i];
    text_ += ',';
    text_ += std::to_string(c.increment);
    if (total_of_[i] == none) continue;
    std::uint64_t& total = totals_[total_of_[i]].value;
    total = c.is_maximum ? std::max(total, c.increment) : total + c.increment;
  }
  for (const Total& t : totals_) {
    text_ += ',';
    text_ += std::to_string(t.value);
  }
  text_ += '\n';
  file_.write(text_);
}

}  // namespace regatta::support

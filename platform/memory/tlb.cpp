// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/tlb.h>

#include <algorithm>

namespace regatta::memory {

bool PageSet::touch(std::uint64_t page) {
  const auto found = where_.find(page);
  if (found == where_.end()) return false;
  order_.splice(order_.begin(), order_, found->second);
  return true;
}

void PageSet::insert(std::uint64_t page) {
  if (where_.size() == entries_) {
    where_.erase(order_.back());
    order_.pop_back();
  }
  order_.push_front(page);
  where_.emplace(page, order_.begin());
}

Tlb::Tlb(const TlbConfig& config)
    : config_(config),
      pages_(config.entries),
      second_(config.second_entries),
      walker_free_(config.second_entries != 0 ? config.walks : 0) {}

// Pages whose misses have been answered, in the order of the answers; of the same cycle, in that of the misses.
void Tlb::complete(std::uint64_t now) {
  const auto due =
      std::stable_partition(pending_.begin(), pending_.end(), [now](const Miss& m) { return m.ready > now; });
  std::stable_sort(due, pending_.end(), [](const Miss& a, const Miss& b) { return a.ready < b.ready; });
  for (auto m = due; m != pending_.end(); ++m) pages_.insert(m->page);
  pending_.erase(due, pending_.end());
}

std::uint64_t Tlb::second(std::uint64_t page, std::uint64_t from) {
  walking_.erase(std::remove_if(walking_.begin(), walking_.end(), [from](const Miss& m) { return m.ready <= from; }),
                 walking_.end());
  if (second_.touch(page)) {
    const auto walk = std::find_if(walking_.begin(), walking_.end(), [page](const Miss& m) { return m.page == page; });
    return walk != walking_.end() ? walk->ready : from;
  }
  second_.insert(page);
  ++walks_;
  auto& walker = *std::min_element(walker_free_.begin(), walker_free_.end());
  walker = std::max(walker, from) + config_.walk_latency;
  walking_.push_back({page, walker});
  return walker;
}

std::uint64_t Tlb::translate(std::uint64_t address, std::uint64_t now) {
  if (!pending_.empty()) complete(now);
  const std::uint64_t page = address / config_.page_bytes;
  if (pages_.touch(page)) {
    ++hits_;
    return now;
  }
  ++misses_;
  for (const Miss& m : pending_) {
    if (m.page != page) continue;
    ++merges_;
    return m.ready;
  }
  std::uint64_t ready = now + config_.latency;
  if (config_.second_entries != 0) ready = second(address / config_.second_page_bytes, ready);
  pending_.push_back({page, ready});
  return ready;
}

}  // namespace regatta::memory

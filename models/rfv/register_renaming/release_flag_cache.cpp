// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/release_flag_cache.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

ReleaseFlagCache::ReleaseFlagCache(const sc_core::sc_module_name& name, unsigned entries)
    : sc_module(name), lookup("lookup"), entries_(entries) {
  lookup.bind(*this);
}

void ReleaseFlagCache::begin(std::size_t words) {
  entry_of_.assign(words, nowhere);
  std::fill(entries_.begin(), entries_.end(), Entry{});
}

bool ReleaseFlagCache::find(std::uint32_t word) {
  ++lookups_;
  const std::uint32_t entry = entry_of_[word];
  if (entry == nowhere) return false;
  entries_[entry].used = ++time_;
  ++hits_;
  return true;
}

void ReleaseFlagCache::fill(std::uint32_t word) {
  // Another warp may have brought it meanwhile.
  if (entries_.empty() || entry_of_[word] != nowhere) return;
  const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                       [](const Entry& a, const Entry& b) { return a.used < b.used; });
  if (oldest->word != nowhere) entry_of_[oldest->word] = nowhere;
  *oldest = Entry{word, ++time_};
  entry_of_[word] = static_cast<std::uint32_t>(oldest - entries_.begin());
  ++fills_;
}

void ReleaseFlagCache::register_stats(support::StatGroup& g) {
  g.counter("lookups", lookups_, "look-ups", "of pir words, again for a word whose line or fetch slot was missing");
  g.counter("hits", hits_, "words", "found, which are not fetched");
  g.counter("fills", fills_, "words", "taken in");
}

void ReleaseFlagCache::register_energy(support::EnergyGroup& g) {
  g.event("register_renaming", "register_renaming.flag_cache", lookups_);
  g.event("register_renaming", "register_renaming.flag_cache", fills_);
}

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
#include "read_only_cache.h"

namespace regatta::sm {

void ReadOnlyCacheConfig::declare(support::OptionSet& o, const std::string& module, const std::string& what) {
  o.add(module + ".enabled", enabled, "use " + what + "; false: every access hits");
  o.add(module + ".size_bytes", size_bytes, "bytes", "capacity of " + what, 32, 1u << 24);
  o.add(module + ".ways", ways, "ways", "associativity of " + what, 1, 1u << 16);
  o.add(module + ".line_bytes", line_bytes, "bytes", "line size of " + what + ", at most the L1's", 32, 256);
  o.add(module + ".mshrs", mshrs, "entries", "lines that " + what + " can fetch at a time", 1, 1u << 12);
  o.add(module + ".latency", latency, "cycles", "cycles added to a fetch from another line than the warp's last one", 0,
        1000);
}

void ReadOnlyCacheConfig::validate(const std::string& module, unsigned memory_line) const {
  if (!enabled) return;
  using support::ConfigError;
  if ((line_bytes & (line_bytes - 1)) != 0 || line_bytes < 32 || line_bytes > memory_line) {
    throw ConfigError(module + ".line_bytes is " + std::to_string(line_bytes) +
                      ": expected a power of two from 32 to l1.line_bytes = " + std::to_string(memory_line));
  }
  if (ways == 0 || size_bytes == 0 || size_bytes % (ways * line_bytes) != 0) {
    throw ConfigError(module + ".size_bytes is " + std::to_string(size_bytes) + ": expected a multiple of " + module +
                      ".ways x " + module + ".line_bytes = " + std::to_string(ways * line_bytes));
  }
  if (mshrs == 0) throw ConfigError(module + ".mshrs is 0: expected at least 1");
}

ReadOnlyCache::ReadOnlyCache(const sc_core::sc_module_name& name, const ReadOnlyCacheConfig& config)
    : sc_module(name),
      config_(config),
      sets_(config.enabled ? config.size_bytes / config.line_bytes / config.ways : 1),
      tags_(sets_ * config.ways),
      entries_(config.mshrs) {}

unsigned ReadOnlyCache::shift(unsigned bytes_each) const {
  return static_cast<unsigned>(__builtin_ctz(config_.line_bytes / bytes_each));
}

bool ReadOnlyCache::find(std::uint64_t line) {
  Tag* set = &tags_[line % sets_ * config_.ways];
  for (unsigned i = 0; i < config_.ways; ++i) {
    if (set[i].line != line) continue;
    set[i].used = ++stamp_;
    ++hits_;
    return true;
  }
  return false;
}

ReadOnlyCache::Miss ReadOnlyCache::miss(std::uint64_t line, protocol::WarpSlot warp, std::uint32_t& mshr) {
  std::uint32_t free = none;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].busy && entries_[i].line == line) {
      ++misses_;
      ++merges_;
      entries_[i].waiting.push_back(warp);
      return Miss::merged;
    }
    if (!entries_[i].busy && free == none) free = i;
  }
  if (free == none) {
    ++failures_;
    refused_.push_back(warp);
    return Miss::refused;
  }
  ++misses_;
  mshr = free;
  entries_[free].busy = true;
  entries_[free].line = line;
  entries_[free].waiting.push_back(warp);
  return Miss::request;
}

ReadOnlyCache::Tag* ReadOnlyCache::way_of(std::uint64_t line) {
  Tag* set = &tags_[line % sets_ * config_.ways];
  Tag* oldest = set;
  for (unsigned i = 0; i < config_.ways; ++i) {
    if (set[i].line == line) return &set[i];
    if (set[i].used < oldest->used) oldest = &set[i];
  }
  return oldest;
}

void ReadOnlyCache::install(std::uint64_t line) {
  ++fills_;
  *way_of(line) = {line, ++stamp_};
}

void ReadOnlyCache::register_stats(support::StatGroup& g) {
  if (!config_.enabled) return;
  g.counter("hits", hits_, "accesses", "lookups that hit; a warp's last line is not looked up again");
  g.counter("misses", misses_, "accesses", "lookups that missed, including merged ones");
  g.counter("mshr_merges", merges_, "accesses", "misses to a line being fetched");
  g.counter("reservation_failures", failures_, "accesses", "misses that waited for an MSHR");
  g.counter("fills", fills_, "lines", "fetched from the L2");
}

}  // namespace regatta::sm

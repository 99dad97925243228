// SPDX-License-Identifier: Apache-2.0
#include "texture_cache.h"

#include <algorithm>

namespace regatta::sm {

void TextureConfig::declare(support::OptionSet& o) {
  o.add("texture.lanes", lanes, "lanes",
        "lanes whose texels the texture units address per cycle; half as many with a filter in three dimensions", 1,
        64);
  o.add("texture.latency", latency, "cycles", "cycles from the last texel of a fetch to its result", 0, 10000);
  o.add("texture_cache.enabled", cache,
        "use a texture cache of the SM's own; false: fetches go to the L1 (l1.texture_policy)");
  o.add("texture_cache.size_bytes", size_bytes, "bytes", "capacity of a texture cache", 32, 1u << 24);
  o.add("texture_cache.ways", ways, "ways", "associativity of a texture cache, whose lines are the L1's", 1, 1u << 16);
  o.add("texture_cache.mshrs", mshrs, "entries", "fetches that a texture cache can have under way", 1, 1u << 12);
  o.add("texture_cache.hit_latency", hit_latency, "cycles", "cycles from the lookup of a texture cache to the texel", 1,
        10000);
}

void TextureConfig::validate(unsigned line_bytes) const {
  if (!cache || (size_bytes % (ways * line_bytes) == 0 && size_bytes != 0)) return;
  throw support::ConfigError(
      "texture_cache.size_bytes is " + std::to_string(size_bytes) +
      ": expected a multiple of texture_cache.ways x l1.line_bytes = " + std::to_string(ways * line_bytes));
}

TextureCache::TextureCache(const sc_core::sc_module_name& name, const TextureConfig& config, unsigned line_bytes)
    : sc_module(name),
      config_(config),
      line_bytes_(line_bytes),
      sets_(config.cache ? config.size_bytes / line_bytes / config.ways : 0),
      tags_(sets_ * config.ways),
      entries_(config.cache ? config.mshrs : 0) {}

TextureCache::Lookup TextureCache::look_up(std::uint64_t line, std::uint8_t sectors, protocol::DynamicInstruction& d,
                                           std::uint32_t& mshr, std::uint8_t& missing) {
  Tag* const set = set_of(line);
  Tag* const tag = std::find_if(set, set + config_.ways, [line](const Tag& t) { return t.line == line; });
  missing = sectors;
  if (tag != set + config_.ways) {
    missing &= static_cast<std::uint8_t>(~tag->valid);
    tag->used = ++stamp_;
  }
  const auto wanted = static_cast<unsigned>(__builtin_popcount(sectors));
  if (missing == 0) {
    ++hits_;
    sectors_ += wanted;
    return Lookup::hit;
  }
  Entry* free = nullptr;
  for (Entry& e : entries_) {
    if (e.sectors != 0 && e.line == line && (missing & ~e.sectors) == 0) {
      ++misses_;
      ++merges_;
      sectors_ += wanted;
      e.waiting.push_back(&d);
      return Lookup::merged;
    }
    if (e.sectors == 0 && free == nullptr) free = &e;
  }
  if (free == nullptr) {
    ++failures_;
    refused_ = true;
    return Lookup::refused;
  }
  ++misses_;
  sector_misses_ += tag != set + config_.ways ? 1 : 0;
  sectors_ += wanted;
  mshr = static_cast<std::uint32_t>(free - entries_.data());
  free->line = line;
  free->sectors = missing;
  free->waiting.push_back(&d);
  return Lookup::request;
}

void TextureCache::install(std::uint64_t line, std::uint8_t sectors) {
  ++fills_;
  Tag* const set = set_of(line);
  Tag* oldest = set;
  for (Tag* t = set; t != set + config_.ways; ++t) {
    if (t->line == line) {
      t->valid |= sectors;
      return;
    }
    if (t->used < oldest->used) oldest = t;
  }
  *oldest = {line, ++stamp_, sectors};
}

void TextureCache::invalidate() { std::fill(tags_.begin(), tags_.end(), Tag()); }

void TextureCache::register_stats(support::StatGroup& g) {
  if (!enabled()) return;
  g.counter("hits", hits_, "lines", "lines of fetches whose sectors were there");
  g.counter("misses", misses_, "lines", "lines of fetches whose sectors were not, including merged ones");
  g.counter("sector_misses", sector_misses_, "lines", "misses that found their line without the sectors");
  g.counter("mshr_merges", merges_, "lines", "misses whose sectors were on their way");
  g.counter("reservation_failures", failures_, "attempts", "to look up a line that found no free MSHR");
  g.counter("fills", fills_, "lines", "fetched from the L2");
  g.counter("sectors", sectors_, "sectors", "32-byte sectors that fetches wanted");
}

}  // namespace regatta::sm

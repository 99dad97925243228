// SPDX-License-Identifier: Apache-2.0
//
// Tags and misses of an SM's instruction or constant cache. What is cached carries no bytes: a hit or a miss is all
// that counts. Lines are numbered by their owner; kernels have numbers of their own.
#pragma once

#include <regatta/sm/read_only_cache_config.h>

#include <regatta/protocol/ids.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::sm {

class ReadOnlyCache : public sc_core::sc_module, public support::StatProvider {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  enum class Miss : std::uint8_t {
    request,  ///< the line has to be asked for, from MSHR `mshr`
    merged,   ///< it is on its way
    refused,  ///< no MSHR is free; the warp is among those to try again when one is
  };

  ReadOnlyCache(const sc_core::sc_module_name& name, const ReadOnlyCacheConfig& config);

  bool enabled() const { return config_.enabled; }
  unsigned latency() const { return config_.latency; }
  unsigned line_bytes() const { return config_.line_bytes; }
  /// log2 of the instructions, or words of another power of two of bytes, in a line.
  unsigned shift(unsigned bytes_each) const;
  /// Is the line there? It is then the most recently used one of its set.
  bool find(std::uint64_t line);
  /// Is the line there? In any case it is from now on, without time and uncounted: for accesses of the past that are
  /// not simulated.
  bool warm(std::uint64_t line) {
    Tag* tag = way_of(line);
    const bool there = tag->line == line;
    *tag = {line, ++stamp_};
    return there;
  }
  /// After find() in vain: the warp waits for the line.
  Miss miss(std::uint64_t line, protocol::WarpSlot warp, std::uint32_t& mshr);
  /// The line that an MSHR asked for has come: calls arrived(warp, line) for all that wait for it, then retry(warp) for
  /// all that were refused.
  template <class Arrived, class Retry>
  void fill(std::uint32_t mshr, Arrived&& arrived, Retry&& retry) {
    Entry& e = entries_[mshr];
    const std::uint64_t line = e.line;
    install(line);
    e.busy = false;
    for (const protocol::WarpSlot w : e.waiting) arrived(w, line);
    e.waiting.clear();
    for (const protocol::WarpSlot w : refused_) retry(w);
    refused_.clear();
  }
  void register_stats(support::StatGroup& group) override;

 private:
  struct Tag {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t used = 0;
  };
  struct Entry {
    std::uint64_t line = 0;
    bool busy = false;
    std::vector<protocol::WarpSlot> waiting;
  };
  void install(std::uint64_t line);
  /// The way with the line, else the least recently used one of its set.
  Tag* way_of(std::uint64_t line);

  ReadOnlyCacheConfig config_;
  std::size_t sets_;
  std::vector<Tag> tags_;
  std::uint64_t stamp_ = 0;
  std::vector<Entry> entries_;
  std::vector<protocol::WarpSlot> refused_;
  std::uint64_t hits_ = 0, misses_ = 0, merges_ = 0, failures_ = 0, fills_ = 0;
};

}  // namespace regatta::sm

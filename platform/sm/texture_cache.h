// SPDX-License-Identifier: Apache-2.0
//
// Tags and misses of an SM's texture cache. It carries no texels: what a fetch gives is in the trace.
#pragma once

#include <regatta/sm/texture_config.h>

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::sm {

class TextureCache : public sc_core::sc_module, public support::StatProvider {
 public:
  enum class Lookup : std::uint8_t {
    hit,
    request,  ///< the sectors have to be asked for, from MSHR `mshr`
    merged,   ///< they are on their way
    refused,  ///< no MSHR is free; nothing is counted but the refusal
  };

  TextureCache(const sc_core::sc_module_name& name, const TextureConfig& config, unsigned line_bytes);

  bool enabled() const { return config_.cache; }
  unsigned hit_latency() const { return config_.hit_latency; }
  /// Sectors of a line for an instruction, which waits for them unless they are there. `missing`: what to ask for.
  Lookup look_up(std::uint64_t line, std::uint8_t sectors, protocol::DynamicInstruction& d, std::uint32_t& mshr,
                 std::uint8_t& missing);
  /// What an MSHR asked for has come: calls arrived(instruction) for all that wait for it.
  template <class Arrived>
  void fill(std::uint32_t mshr, Arrived&& arrived) {
    Entry& e = entries_[mshr];
    install(e.line, e.sectors);
    e.sectors = 0;
    for (protocol::DynamicInstruction* d : e.waiting) arrived(*d);
    e.waiting.clear();
  }
  /// Kernel boundary: what the textures lie in may have been written since.
  void invalidate();
  /// Whether somebody was refused since this was asked last.
  bool take_refused() {
    const bool refused = refused_;
    refused_ = false;
    return refused;
  }
  void register_stats(support::StatGroup& group) override;

 private:
  static constexpr std::uint64_t no_line = ~std::uint64_t{0};
  struct Tag {
    std::uint64_t line = no_line;
    std::uint64_t used = 0;
    std::uint8_t valid = 0;  ///< sectors
  };
  struct Entry {
    std::uint64_t line = 0;
    std::uint8_t sectors = 0;  ///< 0: free
    std::vector<protocol::DynamicInstruction*> waiting;
  };
  Tag* set_of(std::uint64_t line) { return &tags_[line / line_bytes_ % sets_ * config_.ways]; }
  void install(std::uint64_t line, std::uint8_t sectors);

  TextureConfig config_;
  unsigned line_bytes_;
  std::size_t sets_;
  std::vector<Tag> tags_;
  std::vector<Entry> entries_;
  std::uint64_t stamp_ = 0;
  bool refused_ = false;
  std::uint64_t hits_ = 0, misses_ = 0, sector_misses_ = 0, merges_ = 0, failures_ = 0, fills_ = 0, sectors_ = 0;
};

}  // namespace regatta::sm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// A word is named by its place in Kernel::inserted, which stands for its PC.
class FlagLookup : public virtual sc_core::sc_interface {
 public:
  /// A launch begins: the cache is empty, and words are below `words`.
  virtual void begin(std::size_t words) = 0;
  /// Whether the cache holds the word; a hit makes it the youngest.
  virtual bool find(std::uint32_t word) = 0;
  /// The word was fetched: it takes the place of the one that was not used for longest.
  virtual void fill(std::uint32_t word) = 0;
};

/// Release flag cache (RFV, MICRO 2015): the pir words that an SM decoded last, fully associative, LRU.
class ReleaseFlagCache final : public sc_core::sc_module, public FlagLookup, public support::StatProvider {
 public:
  sc_core::sc_export<FlagLookup> lookup;

  ReleaseFlagCache(const sc_core::sc_module_name& name, unsigned entries);

  void begin(std::size_t words) override;
  bool find(std::uint32_t word) override;
  void fill(std::uint32_t word) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  struct Entry {
    std::uint32_t word = nowhere;
    std::uint64_t used = 0;  ///< when, in look-ups and fills
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> entry_of_;  ///< by word
  std::uint64_t time_ = 0;
  std::uint64_t lookups_ = 0, hits_ = 0, fills_ = 0;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// What the region words of a kernel say, decoded once: a word is the same every time it is fetched. Nothing here comes
// from anywhere but the words (RegLess, MICRO 2017, section 5.4; their encoding: regatta/trace/region_words.h).
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/regless/staging_unit.h>
#include <regatta/trace/region_words.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::models {

/// A region as its first words describe it.
struct Region {
  using BankCounts = std::array<std::uint8_t, trace::region_banks>;
  struct Preload {
    protocol::RegisterId reg;
    bool last = false;  ///< the value is not wanted in memory any more
  };
  std::uint32_t first = 0;  ///< static index of its first instruction
  unsigned head_words = 0;  ///< words up to the first that has last uses, which is counted
  unsigned lines = 0;       ///< most lines held at a time, all banks together
  BankCounts lines_of{};    ///< by register modulo 8
  /// The same by bank, for every bank that the warp's register 0 may be in.
  std::array<BankCounts, trace::region_banks> lines_by_rotation{};
  std::vector<Preload> preloads;
  std::vector<protocol::RegisterId> invalidations;
  protocol::GeneralRegisters erase{};  ///< dead when the region ends
};

class RegionTable {
 public:
  /// Takes over what trace::read_region_stream() reads. Throws support::ConfigError for a kernel without region words,
  /// with words that it refuses, or with a region that preloads more registers of a bank than it has lines there.
  void read(const protocol::KernelContext& context);

  const std::vector<Region>& regions() const { return regions_; }
  /// `inserted`: index into Kernel::inserted.
  const trace::RegionWordPlace& word(std::uint32_t inserted) const { return words_[inserted]; }
  /// Of a static instruction.
  const UseMarks& marks(std::uint32_t index) const { return marks_[index]; }
  /// Most words that have to be there before a region can start.
  unsigned longest_head() const;

 private:
  void add(const protocol::KernelContext& context, const trace::PlacedRegion& placed);
  void add_entries(const trace::Kernel& kernel, const std::vector<trace::RegionEntry>& entries);
  [[noreturn]] static void refuse(const trace::Kernel& kernel, const std::string& what);

  std::vector<Region> regions_;
  std::vector<trace::RegionWordPlace> words_;  ///< by index into Kernel::inserted
  std::vector<UseMarks> marks_;                ///< by static index
};

}  // namespace regatta::models

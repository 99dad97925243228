// SPDX-License-Identifier: Apache-2.0
//
// What the region words of a kernel say, decoded once: a word is the same every time it is fetched. Nothing here comes
// from anywhere but the words (RegLess, MICRO 2017, section 5.4; their encoding: regatta/trace/region_words.h).
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/protocol/operand_staging.h>
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
  bool compact = false;     ///< a single word is all
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
  /// What a word is good for when it is decoded.
  struct Word {
    std::uint32_t region = 0;  ///< in regions()
    bool starts = false;       ///< the first of a region
    bool completes = false;    ///< with it, all is known that is needed to start the region
    bool marks = false;        ///< has last uses
    std::uint8_t covers = 0;   ///< instructions that it may mark, from the one behind it
  };

  /// Decodes the inserted instructions of trace::region_scheme. Throws support::ConfigError for a kernel without any,
  /// with a word that no region has, or with an instruction in no region.
  void read(const protocol::KernelContext& context);

  const std::vector<Region>& regions() const { return regions_; }
  /// `inserted`: index into Kernel::inserted.
  const Word& word(std::uint32_t inserted) const { return words_[inserted]; }
  /// Of a static instruction.
  const protocol::UseMarks& marks(std::uint32_t index) const { return marks_[index]; }
  /// Most words that have to be there before a region can start.
  unsigned longest_head() const;

 private:
  void start(const trace::Kernel& kernel, std::uint32_t inserted, const trace::DecodedWord& word);
  void add_entries(const trace::Kernel& kernel, const std::vector<trace::RegionEntry>& entries);
  void add_uses(const protocol::KernelContext& context, std::uint32_t inserted, const trace::DecodedWord& word);
  [[noreturn]] static void refuse(const trace::Kernel& kernel, std::uint32_t before, const std::string& what);

  std::vector<Region> regions_;
  std::vector<Word> words_;                ///< by index into Kernel::inserted
  std::vector<protocol::UseMarks> marks_;  ///< by static index
  std::vector<std::uint8_t> covered_;      ///< by static index: some word has its last uses
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// The instruction words by which the compiler tells RegLess's hardware of a region: the one contract between
// compiler/passes and the capacity manager. RegLess (MICRO 2017), section 5.4: instructions of 64 bits, 10 of them the
// opcode, 54 bits of payload; a region starts with a word that has the bank usage and up to 3 preloads and
// invalidations, further ones are in words of their own, one word per 9 instructions marks last uses with 2 bits per
// operand, and a compact form serves short regions with a single word. The paper gives no bit positions; these are
// ours:
//
//   opcode (bits 63..54)   payload (bits 53..0), from bit 0 up
//   region                 8 x 3 bits lines per bank, 3 entries
//   region.wide            8 x 5 bits lines per bank, 1 entry, 4 bits 0    some bank needs more than 7 lines
//   region.compact         8 bits banks used, 2 bits lines in each of them - 1 (the most that one needs), 2 entries,
//                          the last uses of 4 instructions
//   region.more            5 entries, 4 bits 0
//   region.uses            the last uses of 9 instructions
//   an entry               8 bits register (255: no entry), 2 bits RegionEntry::Kind
//   last uses              per instruction 3 operand slots of 2 bits (LastUse), the first slot lowest
//
// In the stream a region is: region or region.wide, its region.more words, the region.uses word of its first 9
// instructions, these instructions, the next region.uses word, ...; or region.compact and up to 4 instructions. The
// words of the first instructions stand together, so that a region is known when its first region.uses (or
// region.compact) word is.
#pragma once

#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr unsigned region_banks = 8;
inline constexpr unsigned max_region_lines_per_bank = 31;
inline constexpr unsigned uses_per_word = 9;  ///< instructions
inline constexpr unsigned compact_instructions = 4;
inline constexpr unsigned compact_entries = 2;
inline constexpr unsigned use_slots = 3;  ///< operands of an instruction that can carry a mark

/// The scheme under which the words are in the stream.
inline constexpr const char* region_scheme = "regless";

/// The section in which the plan of the regions stands beside the words, as JSON.
inline constexpr const char* regions_section = "regions";
inline constexpr std::uint32_t regions_section_version = 1;

/// What becomes of a register's staged line after an access (section 4.3, figure 6).
enum class LastUse : std::uint8_t {
  none = 0,   ///< the region goes on using it
  evict = 1,  ///< the region is done with it; its value is wanted later
  erase = 3   ///< its value is dead
};

struct RegionEntry {
  enum class Kind : std::uint8_t {
    preload = 0,  ///< an input: staged before the region starts
    invalidating_preload =
        1,           ///< an input whose value is not wanted in memory any more: a backing copy is dropped as it is read
    invalidate = 2,  ///< dead since control flow came here: every copy is dropped, nothing is staged
    erase_at_end = 3  ///< dead when the region ends, where no mark at its last access could say so
  };
  Kind kind = Kind::preload;
  std::uint8_t reg = 0;  ///< 0..254
};

/// Marks of one instruction, by operand slot (see use_slots_of()).
using SlotUses = std::array<LastUse, use_slots>;

/// What the words of one region say.
struct RegionWords {
  /// Most lines held at a time per bank, bank = register modulo 8; run time adds the warp's number. At most 31.
  std::array<std::uint8_t, region_banks> lines{};
  std::vector<RegionEntry> entries;
  std::vector<SlotUses> uses;  ///< one per instruction of the region
};

/// A word and where it goes: before which instruction of the region (0: the first).
struct PlacedWord {
  std::uint32_t before = 0;
  std::uint64_t word = 0;
};

enum class RegionOpcode : std::uint16_t { region = 0x3f0, wide = 0x3f1, compact = 0x3f2, more = 0x3f3, uses = 0x3f4 };
/// "region", "region.wide", ...
const char* to_string(RegionOpcode opcode);
/// Throws std::invalid_argument for a word with another opcode.
RegionOpcode opcode_of(std::uint64_t word);

/// The words of a region, in order. Uses the compact form when it fits: at most 4 instructions, 2 entries, and 4 lines
/// in each bank (it says the largest number for all banks that are used). Throws std::invalid_argument for lines over
/// 31, register 255, or a region without instructions.
std::vector<PlacedWord> encode(const RegionWords& region);

/// One decoded word. `lines` of the first word of a region; `entries` of first words and region.more; `uses` of
/// region.compact (4) and region.uses (9).
struct DecodedWord {
  RegionOpcode opcode = RegionOpcode::region;
  std::array<std::uint8_t, region_banks> lines{};
  std::vector<RegionEntry> entries;
  std::vector<SlotUses> uses;
  bool starts_region() const {
    return opcode == RegionOpcode::region || opcode == RegionOpcode::wide || opcode == RegionOpcode::compact;
  }
};
/// Throws std::invalid_argument, saying what is wrong, for a word that no region has.
DecodedWord decode_region_word(std::uint64_t word);

/// The static instruction that carries `word`; `opcode_ids` are interned by the caller. And back.
StaticInstruction region_instruction(std::uint64_t word, std::uint32_t opcode_id);
/// Throws std::invalid_argument for an instruction that is none of the above.
std::uint64_t region_word(const StaticInstruction& instruction);

/// A region as the words in a kernel's stream tell it.
struct PlacedRegion {
  std::uint32_t begin = 0, end = 0;              ///< static indices
  std::uint32_t first_word = 0, word_count = 0;  ///< indices into Kernel::inserted, words of other schemes in between
  /// Words up to the first one that has last uses, which is counted: what must be known before the region starts.
  std::uint32_t head_words = 0;
  RegionWords words;
};

/// The place of one inserted instruction in its region.
struct RegionWordPlace {
  static constexpr std::uint32_t no_region = UINT32_MAX;
  std::uint32_t region = no_region;  ///< index into RegionStream::regions; no_region: not a word of a region
  bool starts = false;               ///< the first word of its region
  bool completes = false;            ///< the last of its region's head words
};

struct RegionStream {
  std::vector<PlacedRegion> regions;   ///< ascending; together they are the kernel's instructions
  std::vector<RegionWordPlace> words;  ///< by index into Kernel::inserted
};

/// Reads the words in a kernel's stream: the one parser of the grammar above. Without words there are no regions.
/// Throws std::invalid_argument, naming the inserted instruction, when a word is malformed or out of its place, when
/// words are missing, when a register is not the kernel's, or when the regions do not cover the kernel.
RegionStream read_region_stream(const Kernel& kernel);
/// The regions alone.
std::vector<PlacedRegion> regions_of(const Kernel& kernel);

/// What a word says, for people: "lines 2 0 1 0 0 0 0 0, preload R4, last preload R5, invalidate R9, erase R7 at end",
/// "marks --- e-- -x-" with e for evict and x for erase. Throws as decode_region_word() does.
std::string region_word_text(std::uint64_t word);
std::string to_string(const RegionEntry& entry);

/// The registers that a mark on one operand slot is about.
struct UseSlot {
  std::uint8_t first = 0;  ///< first register
  std::uint8_t count = 0;  ///< consecutive registers; 0: the slot is not used
  bool is_destination = false;
};
/// The operand slots of an instruction: its distinct register operands in order, sources first, then destinations, as
/// many as there are slots. A 64-bit value is one operand, and so are the elements of a vector load or store, where
/// they are consecutive registers. A destination operand that is also a source operand shares its slot. A mark on a
/// register that the instruction writes is acted upon at the write, otherwise at the read; where slots overlap in part,
/// the later one counts.
std::array<UseSlot, use_slots> use_slots_of(const StaticInstruction& instruction);

}  // namespace regatta::trace

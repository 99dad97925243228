// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/region_words.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace regatta::trace {

namespace {

constexpr unsigned opcode_shift = 54;
constexpr unsigned no_register = 255;
constexpr unsigned entry_bits = 10;
constexpr unsigned slot_bits = 2;
constexpr unsigned narrow_bits = 3, wide_bits = 5;
constexpr unsigned region_entries = 3, wide_entries = 1, more_entries = 5;

/// Fills or reads a payload from its lowest bit up.
class Payload {
 public:
  explicit Payload(std::uint64_t bits = 0) : bits_(bits) {}
  void put(std::uint64_t value, unsigned bits) {
    bits_ |= value << at_;
    at_ += bits;
  }
  unsigned take(unsigned bits) {
    const auto value = static_cast<unsigned>(bits_ >> at_ & ((std::uint64_t{1} << bits) - 1));
    at_ += bits;
    return value;
  }
  /// What was not read must be zero.
  void expect_end() const {
    if (at_ < opcode_shift && (bits_ & ((std::uint64_t{1} << opcode_shift) - 1)) >> at_ != 0)
      throw std::invalid_argument("has unused bits that are not 0");
  }
  std::uint64_t word(RegionOpcode opcode) const {
    return std::uint64_t{static_cast<std::uint16_t>(opcode)} << opcode_shift | bits_;
  }

 private:
  std::uint64_t bits_;
  unsigned at_ = 0;
};

/// Writes `count` entries from `from` on; missing entries are padded.
void put_entries(Payload& p, const std::vector<RegionEntry>& entries, std::size_t from, unsigned count) {
  for (std::size_t i = from; i < from + count; ++i) {
    p.put(i < entries.size() ? entries[i].reg : no_register, 8);
    p.put(i < entries.size() ? static_cast<unsigned>(entries[i].kind) : 0, entry_bits - 8);
  }
}

void take_entries(Payload& p, unsigned count, std::vector<RegionEntry>& entries) {
  bool ended = false;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned reg = p.take(8);
    const unsigned kind = p.take(entry_bits - 8);
    if (reg == no_register) {
      if (kind != 0) throw std::invalid_argument("has an empty entry of kind " + std::to_string(kind));
      ended = true;
      continue;
    }
    if (ended) throw std::invalid_argument("has an entry behind an empty one");
    entries.push_back({static_cast<RegionEntry::Kind>(kind), static_cast<std::uint8_t>(reg)});
  }
}

void put_uses(Payload& p, const std::vector<SlotUses>& uses, std::size_t from, unsigned count) {
  for (std::size_t i = from; i < from + count && i < uses.size(); ++i) {
    for (const LastUse use : uses[i]) p.put(static_cast<unsigned>(use), slot_bits);
  }
}

void take_uses(Payload& p, unsigned count, std::vector<SlotUses>& uses) {
  uses.resize(count);
  for (SlotUses& instruction : uses) {
    for (LastUse& use : instruction) {
      const unsigned bits = p.take(slot_bits);
      if (bits == 2) throw std::invalid_argument("has an operand that is erased without being a last use");
      use = static_cast<LastUse>(bits);
    }
  }
}

bool fits_compact(const RegionWords& region) {
  return region.uses.size() <= compact_instructions && region.entries.size() <= compact_entries &&
         *std::max_element(region.lines.begin(), region.lines.end()) <= 4;
}

std::uint64_t compact_word(const RegionWords& region) {
  Payload p;
  const unsigned most = *std::max_element(region.lines.begin(), region.lines.end());
  for (const std::uint8_t lines : region.lines) p.put(lines != 0, 1);
  p.put(most == 0 ? 0 : most - 1, 2);
  put_entries(p, region.entries, 0, compact_entries);
  put_uses(p, region.uses, 0, compact_instructions);
  return p.word(RegionOpcode::compact);
}

}  // namespace

const char* to_string(RegionOpcode opcode) {
  switch (opcode) {
    case RegionOpcode::region:
      return "region";
    case RegionOpcode::wide:
      return "region.wide";
    case RegionOpcode::compact:
      return "region.compact";
    case RegionOpcode::more:
      return "region.more";
    case RegionOpcode::uses:
      return "region.uses";
  }
  return "?";
}

RegionOpcode opcode_of(std::uint64_t word) {
  const auto opcode = static_cast<std::uint16_t>(word >> opcode_shift);
  if (opcode < static_cast<std::uint16_t>(RegionOpcode::region) ||
      opcode > static_cast<std::uint16_t>(RegionOpcode::uses)) {
    char text[64];
    std::snprintf(text, sizeof text, "opcode 0x%x is none of a region's", static_cast<unsigned>(opcode));
    throw std::invalid_argument(text);
  }
  return static_cast<RegionOpcode>(opcode);
}

std::vector<PlacedWord> encode(const RegionWords& region) {
  if (region.uses.empty()) throw std::invalid_argument("a region without instructions");
  const unsigned most = *std::max_element(region.lines.begin(), region.lines.end());
  if (most > max_region_lines_per_bank)
    throw std::invalid_argument("a region with " + std::to_string(most) + " lines in a bank, expected at most " +
                                std::to_string(max_region_lines_per_bank));
  for (const RegionEntry& e : region.entries) {
    if (e.reg == no_register) throw std::invalid_argument("a region with an entry for register 255");
  }
  if (fits_compact(region)) return {{0, compact_word(region)}};
  std::vector<PlacedWord> words;
  Payload first;
  const bool wide = most >= 1u << narrow_bits;
  for (const std::uint8_t lines : region.lines) first.put(lines, wide ? wide_bits : narrow_bits);
  const unsigned in_first = wide ? wide_entries : region_entries;
  put_entries(first, region.entries, 0, in_first);
  words.push_back({0, first.word(wide ? RegionOpcode::wide : RegionOpcode::region)});
  for (std::size_t from = in_first; from < region.entries.size(); from += more_entries) {
    Payload p;
    put_entries(p, region.entries, from, more_entries);
    words.push_back({0, p.word(RegionOpcode::more)});
  }
  for (std::size_t from = 0; from < region.uses.size(); from += uses_per_word) {
    Payload p;
    put_uses(p, region.uses, from, uses_per_word);
    words.push_back({static_cast<std::uint32_t>(from), p.word(RegionOpcode::uses)});
  }
  return words;
}

DecodedWord decode_region_word(std::uint64_t word) {
  DecodedWord d;
  d.opcode = opcode_of(word);
  Payload p(word);
  switch (d.opcode) {
    case RegionOpcode::region:
    case RegionOpcode::wide: {
      const bool wide = d.opcode == RegionOpcode::wide;
      for (std::uint8_t& lines : d.lines) lines = static_cast<std::uint8_t>(p.take(wide ? wide_bits : narrow_bits));
      take_entries(p, wide ? wide_entries : region_entries, d.entries);
      break;
    }
    case RegionOpcode::compact: {
      const unsigned used = p.take(region_banks);
      const unsigned most = p.take(2) + 1;
      for (unsigned b = 0; b < region_banks; ++b) d.lines[b] = static_cast<std::uint8_t>((used >> b & 1) * most);
      take_entries(p, compact_entries, d.entries);
      take_uses(p, compact_instructions, d.uses);
      break;
    }
    case RegionOpcode::more:
      take_entries(p, more_entries, d.entries);
      break;
    case RegionOpcode::uses:
      take_uses(p, uses_per_word, d.uses);
      break;
  }
  p.expect_end();
  return d;
}

StaticInstruction region_instruction(std::uint64_t word, std::uint32_t opcode_id) {
  StaticInstruction i;
  i.opcode = to_string(opcode_of(word));
  i.opcode_id = opcode_id;
  i.op_class = OpClass::metadata;
  i.scheme = region_scheme;
  Operand o;
  o.kind = Operand::Kind::immediate;
  o.words = 2;
  o.value = word;
  i.operands.push_back(o);
  return i;
}

std::uint64_t region_word(const StaticInstruction& instruction) {
  if (instruction.op_class != OpClass::metadata || instruction.operands.size() != 1 ||
      instruction.operands[0].kind != Operand::Kind::immediate)
    throw std::invalid_argument("'" + instruction.opcode + "' carries no word");
  return instruction.operands[0].value;
}

std::string to_string(const RegionEntry& entry) {
  const std::string name = "R" + std::to_string(entry.reg);
  switch (entry.kind) {
    case RegionEntry::Kind::preload:
      return "preload " + name;
    case RegionEntry::Kind::invalidating_preload:
      return "last preload " + name;
    case RegionEntry::Kind::invalidate:
      return "invalidate " + name;
    case RegionEntry::Kind::erase_at_end:
      return "erase " + name + " at end";
  }
  return "?";
}

std::string region_word_text(std::uint64_t word) {
  const DecodedWord d = decode_region_word(word);
  std::string text;
  const auto part = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (d.starts_region()) {
    std::string lines = "lines";
    for (const std::uint8_t count : d.lines) lines += " " + std::to_string(count);
    part(lines);
  }
  for (const RegionEntry& e : d.entries) part(to_string(e));
  if (!d.uses.empty()) {
    std::string marks = "marks";
    for (const SlotUses& uses : d.uses) {
      marks += ' ';
      for (const LastUse use : uses) marks += use == LastUse::none ? '-' : use == LastUse::evict ? 'e' : 'x';
    }
    part(marks);
  }
  return text;
}

std::array<UseSlot, use_slots> use_slots_of(const StaticInstruction& instruction) {
  std::vector<UseSlot> found;
  const auto add = [&](const Operand& o, bool destination, bool joins) {
    if (o.kind != Operand::Kind::reg || o.value >= max_general_registers) return false;
    const UseSlot slot{static_cast<std::uint8_t>(o.value), o.words, destination};
    if (joins && !found.empty() && found.back().first + found.back().count == slot.first) {
      found.back().count = static_cast<std::uint8_t>(found.back().count + slot.count);
      return true;
    }
    const bool known = std::any_of(found.begin(), found.end(), [&](const UseSlot& s) {
      return s.first <= slot.first && slot.first + slot.count <= s.first + s.count;
    });
    if (!known) found.push_back(slot);
    return !known;
  };
  const bool store = instruction.writes_memory && !instruction.reads_memory;
  const bool load = instruction.reads_memory && !instruction.writes_memory;
  const std::size_t split = instruction.operand_destinations;
  bool opened = false;
  for (std::size_t i = split; i < instruction.operands.size(); ++i) {
    // The first source of a store is its address; what follows are the elements.
    const bool element = store && i > split;
    const bool added = add(instruction.operands[i], false, element && opened);
    opened = element && added;
  }
  opened = false;
  for (std::size_t i = 0; i < split; ++i) opened = add(instruction.operands[i], true, load && opened);
  std::array<UseSlot, use_slots> slots{};
  std::copy_n(found.begin(), std::min<std::size_t>(found.size(), use_slots), slots.begin());
  return slots;
}

}  // namespace regatta::trace

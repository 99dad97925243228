// SPDX-License-Identifier: Apache-2.0
// The words of a region: what goes in comes out, and nothing else is taken for a word.
#include <regatta/test/catch.h>
#include <regatta/trace/region_words.h>

#include <algorithm>
#include <random>

using namespace regatta::trace;

namespace {

using Random = std::mt19937_64;

StaticInstruction plain() {
  StaticInstruction i;
  i.opcode = "mov.u32";
  i.op_class = OpClass::int_add;
  return i;
}

RegionWords random_region(Random& random) {
  RegionWords region;
  const unsigned most = 1u << random() % 6;  // 1 .. 32
  for (std::uint8_t& lines : region.lines) lines = static_cast<std::uint8_t>(random() % most);
  region.entries.resize(random() % (random() % 2 == 0 ? 3 : 20));
  for (RegionEntry& e : region.entries)
    e = {static_cast<RegionEntry::Kind>(random() % 4), static_cast<std::uint8_t>(random() % 255)};
  region.uses.resize(1 + random() % (random() % 2 == 0 ? 4 : 40));
  const LastUse kinds[] = {LastUse::none, LastUse::evict, LastUse::erase};
  for (SlotUses& uses : region.uses)
    for (LastUse& use : uses) use = kinds[random() % 3];
  return region;
}

/// A kernel whose instructions are those of the regions, with their words.
Kernel kernel_of(const std::vector<RegionWords>& regions) {
  Kernel k;
  k.registers_per_thread = 255;
  for (const RegionWords& region : regions) {
    const auto begin = static_cast<std::uint32_t>(k.instructions.size());
    for (const PlacedWord& w : encode(region)) k.inserted.push_back({begin + w.before, region_instruction(w.word, 0)});
    k.instructions.resize(k.instructions.size() + region.uses.size(), plain());
  }
  return k;
}

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::uint64_t word(RegionOpcode opcode, std::uint64_t payload) {
  return std::uint64_t{static_cast<std::uint16_t>(opcode)} << 54 | payload;
}

}  // namespace

TEST_CASE("regions come back from their words") {
  Random random(1);
  std::array<unsigned, 5> seen{};
  for (unsigned round = 0; round < 2000; ++round) {
    std::vector<RegionWords> regions(1 + random() % 5);
    for (RegionWords& r : regions) r = random_region(random);
    const Kernel kernel = kernel_of(regions);
    const RegionStream stream = read_region_stream(kernel);
    const std::vector<PlacedRegion>& decoded = stream.regions;
    REQUIRE(decoded.size() == regions.size());
    REQUIRE(stream.words.size() == kernel.inserted.size());
    std::uint32_t begin = 0, word_index = 0;
    for (std::size_t n = 0; n < regions.size(); ++n) {
      const PlacedRegion& d = decoded[n];
      const RegionWords& r = regions[n];
      REQUIRE(d.begin == begin);
      begin += static_cast<std::uint32_t>(r.uses.size());
      REQUIRE(d.end == begin);
      REQUIRE(d.first_word == word_index);
      for (std::uint32_t w = 0; w < d.word_count; ++w) {
        const RegionWordPlace& place = stream.words[word_index + w];
        REQUIRE(place.region == n);
        REQUIRE(place.starts == (w == 0));
        REQUIRE(place.completes == (w + 1 == d.head_words));
      }
      word_index += d.word_count;
      const RegionOpcode first = opcode_of(region_word(kernel.inserted[d.first_word].instruction));
      const unsigned most = *std::max_element(r.lines.begin(), r.lines.end());
      for (unsigned b = 0; b < region_banks; ++b)
        REQUIRE(d.words.lines[b] == (first == RegionOpcode::compact && r.lines[b] != 0 ? most : r.lines[b]));
      REQUIRE(d.words.uses == r.uses);
      REQUIRE(d.words.entries.size() == r.entries.size());
      for (std::size_t e = 0; e < r.entries.size(); ++e) {
        REQUIRE(d.words.entries[e].kind == r.entries[e].kind);
        REQUIRE(d.words.entries[e].reg == r.entries[e].reg);
      }
      // Section 5.4's cost, with this encoding's entries per word.
      const std::size_t q = r.entries.size(), size = r.uses.size();
      const bool compact = size <= 4 && q <= 2 && most <= 4;
      const std::size_t in_first = most >= 8 ? 1 : 3;
      REQUIRE(d.word_count == (compact ? 1 : 1 + (q > in_first ? (q - in_first + 4) / 5 : 0) + (size + 8) / 9));
    }
    for (const InsertedInstruction& i : kernel.inserted) {
      const RegionOpcode opcode = opcode_of(region_word(i.instruction));
      ++seen[static_cast<unsigned>(opcode) - static_cast<unsigned>(RegionOpcode::region)];
      REQUIRE(i.instruction.opcode == to_string(opcode));
      REQUIRE(i.instruction.scheme == region_scheme);
    }
  }
  for (const unsigned count : seen) CHECK(count > 100);
}

TEST_CASE("what is no region is not encoded") {
  RegionWords region;
  CHECK(refusal([&] { encode(region); }) == "a region without instructions");
  region.uses.resize(1);
  region.lines[3] = 32;
  CHECK(refusal([&] { encode(region); }) == "a region with 32 lines in a bank, expected at most 31");
  region.lines[3] = 31;
  region.entries = {{RegionEntry::Kind::preload, 255}};
  CHECK(refusal([&] { encode(region); }) == "a region with an entry for register 255");
}

TEST_CASE("malformed words are refused") {
  const auto why = [](std::uint64_t w) { return refusal([&] { decode_region_word(w); }); };
  CHECK(why(0) == "opcode 0x0 is none of a region's");
  CHECK(why(word(static_cast<RegionOpcode>(0x3f5), 0)) == "opcode 0x3f5 is none of a region's");
  const std::uint64_t no_entries = 0xffull | 0xffull << 10 | 0xffull << 20 | 0xffull << 30 | 0xffull << 40;
  CHECK(why(word(RegionOpcode::more, no_entries)).empty());
  CHECK(why(word(RegionOpcode::more, no_entries | 1ull << 50)) == "has unused bits that are not 0");
  CHECK(why(word(RegionOpcode::more, no_entries | 2ull << 8)) == "has an empty entry of kind 2");
  CHECK(why(word(RegionOpcode::more, no_entries & ~(0xffull << 10))) == "has an entry behind an empty one");
  CHECK(why(word(RegionOpcode::uses, 2)) == "has an operand that is erased without being a last use");
  CHECK(why(word(RegionOpcode::wide, 0xffull << 40 | 1ull << 53)) == "has unused bits that are not 0");
  // Every bit pattern is either refused or means exactly what its encoding says: no two words for one meaning.
  Random random(2);
  unsigned accepted = 0;
  for (unsigned n = 0; n < 200000; ++n) {
    const auto opcode = static_cast<RegionOpcode>(0x3f0 + random() % 5);
    std::uint64_t payload = random() & ((1ull << 54) - 1);
    if (random() % 2 == 0) payload &= random() & random();
    DecodedWord d;
    if (!refusal([&] { d = decode_region_word(word(opcode, payload)); }).empty()) continue;
    ++accepted;
    CHECK_FALSE(region_word_text(word(opcode, payload)).empty() ==
                (opcode != RegionOpcode::more || !d.entries.empty()));
    for (const RegionEntry& e : d.entries) REQUIRE(e.reg != 255);
    for (const std::uint8_t lines : d.lines) REQUIRE(lines <= max_region_lines_per_bank);
  }
  CHECK(accepted > 1000);
}

TEST_CASE("words out of their place are refused") {
  RegionWords region;
  region.uses.resize(20);
  region.entries.resize(8, {RegionEntry::Kind::preload, 4});
  const Kernel good = kernel_of({region, region});  // region, more, uses, uses, uses, twice
  REQUIRE(good.inserted.size() == 10);
  const auto why = [&](const auto& change) {
    Kernel k = good;
    change(k);
    return refusal([&] { regions_of(k); });
  };
  CHECK(why([](Kernel&) {}).empty());
  CHECK(why([](Kernel& k) { k.inserted.clear(); }).empty());
  CHECK(why([](Kernel& k) { k.inserted.erase(k.inserted.begin()); }) == "inserted instruction 0: belongs to no region");
  CHECK(why([](Kernel& k) { k.inserted.erase(k.inserted.begin(), k.inserted.begin() + 5); }) ==
        "inserted instruction 0: the first region does not begin with the kernel");
  CHECK(why([](Kernel& k) { std::swap(k.inserted[1].instruction, k.inserted[2].instruction); }) ==
        "inserted instruction 2: is not at its place in its region");
  CHECK(why([](Kernel& k) { k.inserted[3].before = 8; }) ==
        "inserted instruction 3: is not at its place in its region");
  CHECK(why([](Kernel& k) { k.inserted.erase(k.inserted.begin() + 4); }) ==
        "inserted instruction 4: the region before it is longer than its marks");
  CHECK(why([](Kernel& k) { k.inserted.pop_back(); }) == "the region before the end is longer than its marks");
  CHECK(why([](Kernel& k) { k.inserted[5].before = 18; }) ==
        "inserted instruction 5: the region before it has more marks than instructions");
  CHECK(why([](Kernel& k) { k.inserted[0].instruction.operands.clear(); }) ==
        "inserted instruction 0: 'region' carries no word");
  CHECK(why([](Kernel& k) { k.registers_per_thread = 4; }) ==
        "inserted instruction 0: names register R4, the kernel has 4");
  CHECK(why([](Kernel& k) { k.inserted[5].before = 0; }) ==
        "inserted instruction 5: a region without instructions stands before it");
  // Words of other schemes are nothing to it.
  CHECK(why([](Kernel& k) {
          InsertedInstruction other{0, plain()};
          other.instruction.scheme = "sharing";
          k.inserted.insert(k.inserted.begin() + 1, other);
          CHECK(read_region_stream(k).words.at(1).region == RegionWordPlace::no_region);
        }).empty());
  RegionWords marked;
  marked.uses.resize(4);
  marked.uses[3][0] = LastUse::erase;
  Kernel k = kernel_of({marked});
  k.instructions.pop_back();
  CHECK(refusal([&] { regions_of(k); }) == "the region before the end marks an instruction behind its end");
  k = kernel_of({marked});
  k.inserted.push_back({0, region_instruction(word(RegionOpcode::uses, 0), 1)});
  CHECK(refusal([&] { regions_of(k); }) == "inserted instruction 1: belongs to a region whose only word is compact");
}

TEST_CASE("words in text") {
  RegionWords region;
  region.lines = {2, 0, 0, 7, 0, 0, 0, 1};
  region.entries = {{RegionEntry::Kind::preload, 4},
                    {RegionEntry::Kind::invalidating_preload, 5},
                    {RegionEntry::Kind::invalidate, 9},
                    {RegionEntry::Kind::erase_at_end, 254}};
  region.uses.resize(2);
  region.uses[1] = {LastUse::evict, LastUse::none, LastUse::erase};
  const auto words = encode(region);
  REQUIRE(words.size() == 3);
  CHECK(region_word_text(words[0].word) == "lines 2 0 0 7 0 0 0 1, preload R4, last preload R5, invalidate R9");
  CHECK(region_word_text(words[1].word) == "erase R254 at end");
  CHECK(region_word_text(words[2].word) == "marks --- e-x --- --- --- --- --- --- ---");
}

TEST_CASE("operand slots") {
  const auto reg = [](unsigned r, unsigned words = 1) {
    Operand o;
    o.value = r;
    o.words = static_cast<std::uint8_t>(words);
    return o;
  };
  const auto slots = [](std::vector<Operand> destinations, const std::vector<Operand>& sources, bool reads = false,
                        bool writes = false) {
    StaticInstruction i = plain();
    i.operand_destinations = static_cast<std::uint8_t>(destinations.size());
    i.operands = std::move(destinations);
    i.operands.insert(i.operands.end(), sources.begin(), sources.end());
    i.reads_memory = reads;
    i.writes_memory = writes;
    std::string text;
    for (const UseSlot& s : use_slots_of(i)) {
      if (s.count == 0) continue;
      text += (text.empty() ? "" : " ") + std::to_string(s.first) + "+" + std::to_string(s.count);
      if (s.is_destination) text += "d";
    }
    return text;
  };
  CHECK(slots({reg(1)}, {reg(2), reg(3)}) == "2+1 3+1 1+1d");
  CHECK(slots({reg(1)}, {reg(2), reg(2)}) == "2+1 1+1d");                           // read twice
  CHECK(slots({reg(2)}, {reg(2), reg(3)}) == "2+1 3+1");                            // shared with a source
  CHECK(slots({reg(1)}, {reg(2), reg(3), reg(4)}) == "2+1 3+1 4+1");                // no slot left for the destination
  CHECK(slots({reg(4, 2)}, {reg(2, 2), reg(8)}) == "2+2 8+1 4+2d");                 // pairs are one operand
  CHECK(slots({reg(2)}, {reg(2, 2)}) == "2+2");                                     // within a pair
  CHECK(slots({reg(2, 2)}, {reg(2)}) == "2+1 2+2d");                                // around one
  CHECK(slots({reg(4), reg(5), reg(6), reg(7)}, {reg(2, 2)}, true) == "2+2 4+4d");  // a vector load
  CHECK(slots({}, {reg(2, 2), reg(4), reg(5)}, false, true) == "2+2 4+2");          // a vector store: address, elements
  CHECK(slots({}, {reg(2, 2), reg(5), reg(4)}, false, true) == "2+2 5+1 4+1");      // not consecutive
  CHECK(slots({}, {reg(2), reg(3), reg(4)}, false, true) == "2+1 3+2");             // the address is no element
  CHECK(slots({reg(1)}, {reg(255), reg(3)}) == "3+1 1+1d");                         // the register that is always zero
}

// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/rfv.h>
#include <regatta/trace/section_registry.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace regatta::trace;

namespace {

Operand reg(unsigned number, unsigned words = 1) {
  Operand o;
  o.value = number;
  o.words = static_cast<std::uint8_t>(words);
  return o;
}

/// 0: R2 = R0, R1; 1: R2 = R2, R4 and R5 as one value; 2: a guarded branch to 4; 3: a store of R2; 4: the exit.
Kernel sample() {
  Kernel kernel;
  kernel.name = "k";
  kernel.registers_per_thread = 6;
  kernel.instructions.resize(5);
  const auto operands = [&](std::size_t index, const std::vector<Operand>& to, const std::vector<Operand>& from) {
    StaticInstruction& i = kernel.instructions[index];
    for (const Operand& o : to)
      for (unsigned w = 0; w < o.words; ++w)
        i.destinations[i.destination_count++] = static_cast<std::uint8_t>(o.value + w);
    for (const Operand& o : from)
      for (unsigned w = 0; w < o.words; ++w) i.sources[i.source_count++] = static_cast<std::uint8_t>(o.value + w);
    i.operands = to;
    i.operand_destinations = static_cast<std::uint8_t>(to.size());
    i.operands.insert(i.operands.end(), from.begin(), from.end());
  };
  operands(0, {reg(2)}, {reg(0), reg(1)});
  operands(1, {reg(2)}, {reg(2), reg(4, 2)});
  kernel.instructions[2].op_class = OpClass::branch;
  kernel.instructions[2].guard.predicate = 0;
  kernel.instructions[2].branch_target = 4;
  operands(3, {}, {reg(2)});
  kernel.instructions[4].op_class = OpClass::exit;
  kernel.blocks = {{0, 3, {2, 1}, 2}, {3, 1, {2}, 2}, {4, 1, {}, -1}};
  return kernel;
}

RfvSection sample_section() {
  RfvSection section;
  section.most = 5;
  section.at_start = 0b110011;
  return section;
}

/// R0 and R1 behind instruction 0, R4 and R5 behind 1, R2 where the sides meet.
RfvReleases sample_releases() {
  RfvReleases releases;
  releases.flags = {3, 2, 0, 0, 0};
  releases.at_block = {0, 0, 0b100};
  return releases;
}

Kernel annotated(const RfvSection& section, const RfvReleases& releases) {
  Kernel kernel = sample();
  kernel.annotations = {{rfv_section, 1, encode(section)}};
  kernel.inserted = rfv_words(kernel, releases, 7);
  return kernel;
}

std::string section_error(const Kernel& kernel, const std::string& payload, std::uint32_t version = 1) {
  try {
    decode_rfv(kernel, {rfv_section, version, payload});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::string verify_error(const Kernel& kernel) {
  const SectionRegistry sections = SectionRegistry::with_builtin();
  try {
    sections.of_scheme(rfv_scheme)->validate(kernel);
    sections.of_scheme(rfv_scheme)->verify(kernel);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// The sample with another word in place of word `n`.
std::string error_with_word(std::size_t n, std::uint64_t word) {
  Kernel kernel = annotated(sample_section(), sample_releases());
  kernel.inserted.at(n).instruction.operands.at(0).value = word;
  return verify_error(kernel);
}

constexpr std::uint64_t pir = std::uint64_t{0x3e0} << 54, pbr = std::uint64_t{0x3e1} << 54;
constexpr std::uint64_t no_numbers = (std::uint64_t{1} << 54) - 1;

}  // namespace

TEST_CASE("the section and the words of RFV survive") {
  RfvSection section = sample_section();
  section.table_entries = 4;
  section.exempt = (std::uint64_t{1} << 48) + 9;
  std::string expected("\5\4\x09\0\0\0\0\0\1\0\x33\0\0\0\0\0\0\0", 18);
  CHECK(encode(section) == expected);
  section.exempt = 0b1001;
  Kernel kernel = annotated(section, RfvReleases{{2, 2, 0, 0, 0}, {0, 0, 0b100}, {}});
  CHECK(verify_error(kernel) == "");
  const auto back = find_rfv(kernel);
  REQUIRE(back);
  CHECK(back->most == 5);
  CHECK(back->table_entries == 4);
  CHECK(back->exempt == 0b1001);
  CHECK(back->at_start == 0b110011);
  CHECK_FALSE(find_rfv(sample()));

  kernel = annotated(sample_section(), sample_releases());
  CHECK(verify_error(kernel) == "");
  REQUIRE(kernel.inserted.size() == 2);
  CHECK(kernel.inserted[0].before == 0);
  CHECK(kernel.inserted[0].instruction.operands[0].value == (pir | 0b010011));
  CHECK(kernel.inserted[0].instruction.opcode_id == 7);
  CHECK(kernel.inserted[1].before == 4);
  CHECK(kernel.inserted[1].instruction.operands[0].value == (pbr | (no_numbers & ~std::uint64_t{63}) | 2));
  CHECK(kernel.inserted[1].instruction.opcode_id == 8);
  const RfvReleases releases = read_rfv_words(kernel, sample_section());
  CHECK(releases.flags == sample_releases().flags);
  CHECK(releases.at_block == sample_releases().at_block);
  CHECK(releases.at_operand == std::vector<RfvRegisters>{0b11, 0b110000, 0, 0, 0});

  const SectionRegistry sections = SectionRegistry::with_builtin();
  const SectionFormat& format = *sections.of_scheme(rfv_scheme);
  CHECK(format.notes(kernel) == std::vector<std::string>{"releases R0 R1", "releases R4 R5", "", "", ""});
  CHECK(format.inserted_text(kernel.inserted[0].instruction) == "flags 01- -1-");
  CHECK(format.inserted_text(kernel.inserted[1].instruction) == "release R2");
  const std::vector<InfoRow> rows = format.info(kernel);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].text == "at most 5 of 6 registers at once, 1 pir and 1 pbr words");
  CHECK(rows[1].text == "all renamed");
  CHECK(rows[2].text == "R0 R1 R4 R5");
  CHECK(format.info(annotated(section, {{0, 0, 0, 0, 0}, {0, 0, 0}, {}}))[1].text == "4 table entries, exempt R0 R3");
  CHECK(format.info(sample()).empty());
}

TEST_CASE("damaged sections of RFV are refused") {
  Kernel kernel = sample();
  const std::string right = encode(sample_section());
  CHECK(section_error(kernel, right).empty());
  CHECK(section_error(kernel, "") == "kernel k: rfv: 0 bytes, expected 18");
  CHECK(section_error(kernel, right + "?") == "kernel k: rfv: 19 bytes, expected 18");
  CHECK(section_error(kernel, right, 2) == "kernel k: rfv: version 2, expected 1");
  const auto with = [&](auto change) {
    RfvSection section = sample_section();
    change(section);
    return section_error(kernel, encode(section));
  };
  CHECK(with([](RfvSection& s) { s.most = 3; }) == "kernel k: rfv: at most 3 registers at once, expected 4 to 6");
  CHECK(with([](RfvSection& s) { s.most = 7; }) == "kernel k: rfv: at most 7 registers at once, expected 4 to 6");
  CHECK(with([](RfvSection& s) { s.at_start |= 1u << 6; }) == "kernel k: rfv: names R6, the kernel has 6 registers");
  CHECK(with([](RfvSection& s) { s.exempt = std::uint64_t{1} << 63; }) ==
        "kernel k: rfv: names R63, the kernel has 6 registers");
  CHECK(with([](RfvSection& s) { s.exempt = 1; }) ==
        "kernel k: rfv: 1 exempt registers, expected none with a table entry for each register");
  CHECK(with([](RfvSection& s) {
          s.exempt = 1;
          s.table_entries = 4;
        }) == "kernel k: rfv: 5 renamed registers, expected at most 4, the entries of the table");
  kernel.registers_per_thread = 64;
  CHECK(section_error(kernel, right) == "kernel k: rfv: the kernel has 64 registers, expected at most 63");
}

TEST_CASE("damaged words of RFV are refused") {
  const std::string at0 = "rfv: the word before instruction 0 ", at4 = "rfv: the word before instruction 4 ";
  CHECK(error_with_word(0, pir | 0b010011) == "");
  CHECK(error_with_word(0, pir) == at0 + "has no flag");
  CHECK(error_with_word(0, 0b010011) == at0 + "has not the opcode bits of pir");
  CHECK(error_with_word(0, pbr | 0b010011) == at0 + "has not the opcode bits of pir");
  CHECK(error_with_word(0, pir | 0b100) == at0 + "flags slot 2 of instruction 0, which is no source");
  CHECK(error_with_word(0, pir | 0b001000) == at0 + "flags slot 0 of instruction 1, which the instruction writes");
  CHECK(error_with_word(0, pir | 1u << 9) == at0 + "has flags behind the end of its block");
  CHECK(error_with_word(1, pbr | no_numbers) == at4 + "releases nothing");
  CHECK(error_with_word(1, pbr | (no_numbers & ~std::uint64_t{0xfff}) | 2 << 6 | 2) == at4 + "releases R2 twice");
  CHECK(error_with_word(1, pbr | (no_numbers & ~std::uint64_t{63}) | 6) ==
        at4 + "releases R6, the kernel has 6 registers");

  const auto with = [&](auto change) {
    Kernel kernel = annotated(sample_section(), sample_releases());
    change(kernel);
    return verify_error(kernel);
  };
  CHECK(with([](Kernel& k) { k.inserted[0].instruction.opcode = "pur"; }) == at0 + "is 'pur', expected pir or pbr");
  CHECK(with([](Kernel& k) { k.inserted[0].disposition = Disposition::issue; }) ==
        at0 + "issues, expected one that is removed at decode");
  CHECK(with([](Kernel& k) { k.inserted[1].after = 3; }) == at4 + "is on an edge");
  CHECK(with([](Kernel& k) { k.inserted[0].before = 1; }) ==
        "rfv: the word before instruction 1 has flags, expected at the start of a block or 18 instructions after "
        "another place of such a word");
  CHECK(with([](Kernel& k) { k.inserted.insert(k.inserted.begin(), k.inserted[0]); }) ==
        at0 + "is the second with flags");
  CHECK(with([](Kernel& k) { k.inserted.insert(k.inserted.begin() + 1, k.inserted[1])->before = 0; }) ==
        at0 + "follows one with flags");
  CHECK(with([](Kernel& k) { k.inserted[1].before = 2; }) ==
        "rfv: the word before instruction 2 releases at a block's start, expected before the first instruction of one");
  CHECK(with([](Kernel& k) { k.inserted[1].before = 5; }) == "rfv: the word before instruction 5 is in no block");
  CHECK(with([](Kernel& k) { k.inserted.push_back(k.inserted[1]); }) == at4 + "releases R2 twice");
  CHECK(with([](Kernel& k) { k.annotations.clear(); }) ==
        "rfv: instructions of the scheme, and no section of version 1");
  CHECK(with([](Kernel& k) { k.inserted[1].before = 3; }) ==
        "rfv: instruction 3 reads R2, which is released on a path to it");
  RfvSection bounded = sample_section();
  bounded.table_entries = 5;
  bounded.exempt = 0b10;
  CHECK(verify_error(annotated(bounded, sample_releases())) == at0 + "releases R1, exempt from renaming");
}

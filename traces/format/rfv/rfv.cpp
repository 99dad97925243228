// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/rfv.h>
#include <regatta/trace/section_format.h>

#include "rfv_section.h"

#include <algorithm>
#include <stdexcept>

namespace regatta::trace {

namespace {

constexpr unsigned rfv_payload_bits = 54, rfv_flag_bits = 3, rfv_number_bits = 6;
constexpr std::uint64_t rfv_none = 63;
constexpr std::uint64_t pir_opcode = 0x3e0, pbr_opcode = 0x3e1;
constexpr std::size_t rfv_payload_bytes = 18;

[[noreturn]] void bad_rfv(const std::string& what) { throw std::invalid_argument("rfv: " + what); }

unsigned count_registers(RfvRegisters registers) { return static_cast<unsigned>(__builtin_popcountll(registers)); }

RfvRegisters registers_below(unsigned count) { return (RfvRegisters{1} << count) - 1; }

void put_registers(std::string& payload, RfvRegisters registers) {
  for (unsigned byte = 0; byte < 8; ++byte) payload.push_back(static_cast<char>(registers >> (8 * byte)));
}

RfvRegisters get_registers(const std::string& payload, std::size_t at) {
  RfvRegisters registers = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    registers |= RfvRegisters{static_cast<std::uint8_t>(payload[at + byte])} << (8 * byte);
  return registers;
}

InsertedInstruction word_before(std::uint32_t before, std::uint64_t opcode, std::uint64_t payload, std::uint32_t id) {
  InsertedInstruction inserted;
  inserted.before = before;
  inserted.disposition = Disposition::decode;
  StaticInstruction& i = inserted.instruction;
  i.opcode = opcode == pir_opcode ? rfv_pir : rfv_pbr;
  i.opcode_id = id;
  i.op_class = OpClass::metadata;
  i.scheme = rfv_scheme;
  Operand o;
  o.kind = Operand::Kind::immediate;
  o.words = 2;
  o.value = opcode << rfv_payload_bits | payload;
  i.operands.push_back(o);
  return inserted;
}

std::uint64_t opcode_bits(std::uint64_t word) { return word >> rfv_payload_bits; }

unsigned flags_at(std::uint64_t word, unsigned instruction) {
  return static_cast<unsigned>(word >> (rfv_flag_bits * instruction)) & ((1u << rfv_flag_bits) - 1);
}

std::uint64_t number_at(std::uint64_t word, unsigned place) { return (word >> (rfv_number_bits * place)) & rfv_none; }

/// Reads the words of a kernel, in order.
class RfvWordReader {
 public:
  RfvWordReader(const Kernel& kernel, const RfvSection& section) : kernel_(kernel), section_(section) {
    releases_.flags.resize(kernel.instructions.size());
    releases_.at_operand.resize(kernel.instructions.size());
    releases_.at_block.resize(kernel.blocks.size());
  }

  RfvReleases read() {
    for (const InsertedInstruction& i : kernel_.inserted)
      if (i.instruction.scheme == rfv_scheme) read(i);
    return std::move(releases_);
  }

 private:
  [[noreturn]] static void fail(const InsertedInstruction& i, const std::string& what) {
    bad_rfv("the word before instruction " + std::to_string(i.before) + " " + what);
  }

  void read(const InsertedInstruction& i) {
    const StaticInstruction& instruction = i.instruction;
    const bool pir = instruction.opcode == rfv_pir;
    if (!pir && instruction.opcode != rfv_pbr) fail(i, "is '" + instruction.opcode + "', expected pir or pbr");
    if (i.disposition != Disposition::decode) fail(i, "issues, expected one that is removed at decode");
    if (i.after >= 0) fail(i, "is on an edge");
    const bool one_word = instruction.operands.size() == 1 && instruction.operands[0].kind == Operand::Kind::immediate;
    if (!one_word || opcode_bits(instruction.operands[0].value) != (pir ? pir_opcode : pbr_opcode))
      fail(i, "has not the opcode bits of " + instruction.opcode);
    const std::uint64_t word = instruction.operands[0].value;
    if (pir) {
      read_pir(i, word);
    } else {
      read_pbr(i, word);
    }
  }

  void read_pir(const InsertedInstruction& i, std::uint64_t word) {
    const BasicBlock& block = block_of(i);
    if ((i.before - block.first) % rfv_flags_per_word != 0)
      fail(i, "has flags, expected at the start of a block or 18 instructions after another place of such a word");
    if (static_cast<std::int64_t>(i.before) <= last_pir_) fail(i, "is the second with flags");
    last_pir_ = i.before;
    if ((word & registers_below(rfv_payload_bits)) == 0) fail(i, "has no flag");
    for (unsigned n = 0; n < rfv_flags_per_word; ++n)
      if (const unsigned flags = flags_at(word, n); flags != 0) set_flags(i, block, i.before + n, flags);
  }

  void set_flags(const InsertedInstruction& word, const BasicBlock& block, std::uint32_t index, unsigned flags) {
    if (index >= block.first + block.count) fail(word, "has flags behind the end of its block");
    const StaticInstruction& i = kernel_.instructions[index];
    const std::array<UseSlot, use_slots> slots = use_slots_of(i);
    for (unsigned s = 0; s < use_slots; ++s) {
      if ((flags >> s & 1) == 0) continue;
      const std::string place = "slot " + std::to_string(s) + " of instruction " + std::to_string(index);
      if (!is_source(slots[s])) fail(word, "flags " + place + ", which is no source");
      const RfvRegisters registers = registers_of(slots[s]);
      if ((registers & written_by(i)) != 0) fail(word, "flags " + place + ", which the instruction writes");
      check_registers(word, registers);
      releases_.at_operand[index] |= registers;
    }
    releases_.flags[index] = static_cast<std::uint8_t>(flags);
  }

  void read_pbr(const InsertedInstruction& i, std::uint64_t word) {
    const BasicBlock& block = block_of(i);
    if (i.before != block.first) fail(i, "releases at a block's start, expected before the first instruction of one");
    if (last_pir_ == static_cast<std::int64_t>(i.before)) fail(i, "follows one with flags");
    RfvRegisters& at_block = releases_.at_block[static_cast<std::size_t>(&block - kernel_.blocks.data())];
    RfvRegisters registers = 0;
    for (unsigned place = 0; place < rfv_numbers_per_word; ++place) {
      const std::uint64_t number = number_at(word, place);
      if (number == rfv_none) continue;
      const RfvRegisters bit = RfvRegisters{1} << number;
      if (((registers | at_block) & bit) != 0) fail(i, "releases R" + std::to_string(number) + " twice");
      registers |= bit;
    }
    if (registers == 0) fail(i, "releases nothing");
    check_registers(i, registers);
    at_block |= registers;
  }

  void check_registers(const InsertedInstruction& i, RfvRegisters registers) const {
    if (const RfvRegisters unknown = registers & ~registers_below(kernel_.registers_per_thread); unknown != 0)
      fail(i, "releases " + rfv_text(unknown) + ", the kernel has " + std::to_string(kernel_.registers_per_thread) +
                  " registers");
    if (const RfvRegisters exempt = registers & section_.exempt; exempt != 0)
      fail(i, "releases " + rfv_text(exempt) + ", exempt from renaming");
  }

  const BasicBlock& block_of(const InsertedInstruction& i) const {
    for (const BasicBlock& block : kernel_.blocks)
      if (i.before >= block.first && i.before < block.first + block.count) return block;
    fail(i, "is in no block");
  }

  const Kernel& kernel_;
  const RfvSection& section_;
  RfvReleases releases_;
  std::int64_t last_pir_ = -1;
};

}  // namespace

std::string encode(const RfvSection& section) {
  std::string payload{static_cast<char>(section.most), static_cast<char>(section.table_entries)};
  put_registers(payload, section.exempt);
  put_registers(payload, section.at_start);
  return payload;
}

RfvSection parse_rfv(const Kernel& kernel, const std::string& payload) {
  if (payload.size() != rfv_payload_bytes)
    bad_rfv(std::to_string(payload.size()) + " bytes, expected " + std::to_string(rfv_payload_bytes));
  const unsigned registers = kernel.registers_per_thread;
  if (registers > max_rfv_registers)
    bad_rfv("the kernel has " + std::to_string(registers) + " registers, expected at most " +
            std::to_string(max_rfv_registers));
  RfvSection section;
  section.most = static_cast<std::uint8_t>(payload[0]);
  section.table_entries = static_cast<std::uint8_t>(payload[1]);
  section.exempt = get_registers(payload, 2);
  section.at_start = get_registers(payload, 10);
  const RfvRegisters known = registers_below(registers);
  if (const RfvRegisters unknown = (section.exempt | section.at_start) & ~known; unknown != 0)
    bad_rfv("names " + rfv_text(unknown) + ", the kernel has " + std::to_string(registers) + " registers");
  const unsigned exempt = count_registers(section.exempt);
  if (section.table_entries == 0 && exempt != 0)
    bad_rfv(std::to_string(exempt) + " exempt registers, expected none with a table entry for each register");
  if (section.table_entries != 0 && registers - exempt > section.table_entries)
    bad_rfv(std::to_string(registers - exempt) + " renamed registers, expected at most " +
            std::to_string(section.table_entries) + ", the entries of the table");
  const unsigned least = count_registers(section.exempt | section.at_start);
  if (section.most < least || section.most > registers)
    bad_rfv("at most " + std::to_string(section.most) + " registers at once, expected " + std::to_string(least) +
            " to " + std::to_string(registers));
  return section;
}

RfvSection decode_rfv(const Kernel& kernel, const AnnotationSection& section) {
  try {
    if (section.version != rfv_section_version)
      bad_rfv("version " + std::to_string(section.version) + ", expected " + std::to_string(rfv_section_version));
    return parse_rfv(kernel, section.payload);
  } catch (const std::invalid_argument& e) {
    throw InputError("kernel " + kernel.name + ": " + e.what());
  }
}

std::optional<RfvSection> find_rfv(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, rfv_section, rfv_section_version);
  if (section == nullptr) return std::nullopt;
  return decode_rfv(kernel, *section);
}

RfvRegisters written_by(const StaticInstruction& i) {
  RfvRegisters registers = 0;
  for (unsigned d = 0; d < i.destination_count; ++d) registers |= RfvRegisters{1} << (i.destinations[d] & 63);
  return registers;
}

RfvRegisters read_by(const StaticInstruction& i) {
  RfvRegisters registers = 0;
  for (unsigned s = 0; s < i.source_count; ++s) registers |= RfvRegisters{1} << (i.sources[s] & 63);
  return registers;
}

std::vector<InsertedInstruction> rfv_words(const Kernel& kernel, const RfvReleases& releases,
                                           std::uint32_t first_opcode_id) {
  std::vector<InsertedInstruction> words;
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    for (RfvRegisters left = releases.at_block[b]; left != 0;) {
      std::uint64_t numbers = 0;
      for (unsigned place = 0; place < rfv_numbers_per_word; ++place) {
        const std::uint64_t number = left != 0 ? static_cast<std::uint64_t>(__builtin_ctzll(left)) : rfv_none;
        numbers |= number << (rfv_number_bits * place);
        left &= left - 1;
        if (number == rfv_none) left = 0;
      }
      words.push_back(word_before(block.first, pbr_opcode, numbers, first_opcode_id + 1));
    }
    for (std::uint32_t first = 0; first < block.count; first += rfv_flags_per_word) {
      std::uint64_t flags = 0;
      for (std::uint32_t n = 0; n < rfv_flags_per_word && first + n < block.count; ++n)
        flags |= std::uint64_t{releases.flags[block.first + first + n]} << (rfv_flag_bits * n);
      if (flags != 0) words.push_back(word_before(block.first + first, pir_opcode, flags, first_opcode_id));
    }
  }
  return words;
}

RfvReleases read_rfv_words(const Kernel& kernel, const RfvSection& section) {
  return RfvWordReader(kernel, section).read();
}

std::string rfv_text(RfvRegisters registers) {
  std::string text;
  for (unsigned r = 0; r < 64; ++r)
    if ((registers >> r & 1) != 0) text += (text.empty() ? "R" : " R") + std::to_string(r);
  return text;
}

std::string rfv_word_text(std::uint64_t word) {
  if (opcode_bits(word) == pbr_opcode) {
    RfvRegisters registers = 0;
    for (unsigned place = 0; place < rfv_numbers_per_word; ++place)
      if (const std::uint64_t number = number_at(word, place); number != rfv_none)
        registers |= RfvRegisters{1} << number;
    return "release " + rfv_text(registers);
  }
  if (opcode_bits(word) != pir_opcode) bad_rfv("a word without the opcode bits of pir or pbr");
  std::string text = "flags";
  for (unsigned n = 0; n < rfv_flags_per_word && (word & registers_below(rfv_payload_bits)) >> (rfv_flag_bits * n) != 0;
       ++n) {
    text += ' ';
    for (unsigned s = 0; s < rfv_flag_bits; ++s)
      text += (flags_at(word, n) >> s & 1) != 0 ? std::to_string(s) : std::string("-");
  }
  return text;
}

}  // namespace regatta::trace

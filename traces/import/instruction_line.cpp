// SPDX-License-Identifier: Apache-2.0
//
// Columns of a line: [x y z warp, of tracers before 3] [line number] PC mask, the number of destination registers and
// these, opcode, the number of source registers and these, memory width, and if that is not 0 the addresses; then
// numbers that we have no use for, from version 4 on.
#include "instruction_line.h"

namespace regatta::import {
namespace {

constexpr std::uint64_t most_registers = 64;
constexpr std::uint64_t highest_pc = std::uint64_t{1} << 48;

/// How a line gives its addresses.
enum AddressMode : std::uint8_t { each = 0, base_and_stride = 1, base_and_differences = 2 };

void registers(Words& words, const char* what, std::vector<std::uint8_t>& out) {
  out.clear();
  for (std::uint64_t n = words.number(what, 10, most_registers); n != 0; --n) {
    const std::string_view word = words.next("a register");
    const bool uniform = word.size() > 2 && word[0] == 'U' && word[1] == 'R';
    std::uint64_t number = 0;
    if (word == "RZ") {
      number = 255;
    } else if (word[0] != (uniform ? 'U' : 'R') || !parse_number(word.substr(uniform ? 2 : 1), 10, number) ||
               number > 255) {
      words.fail("found " + quoted(word) + ", expected a register, R0 to R255");
    }
    // A uniform register is no part of a warp's registers.
    if (!uniform) out.push_back(static_cast<std::uint8_t>(number));
  }
}

unsigned first_lane(std::uint32_t lanes) { return static_cast<unsigned>(__builtin_ctz(lanes)); }

void addresses(Words& words, InstructionLine& out) {
  const std::uint64_t mode = words.number("an address mode", 10, 99);
  constexpr std::uint64_t any = ~std::uint64_t{0};
  if (mode == each) {
    for (std::uint32_t m = out.mask; m != 0; m &= m - 1)
      out.address[first_lane(m)] = words.number("an address", 16, any);
  } else if (mode == base_and_stride) {
    const std::uint64_t base = words.number("an address", 16, any);
    const std::int64_t stride = words.signed_number("a stride");
    std::uint64_t next = base;
    for (std::uint32_t m = out.mask; m != 0; m &= m - 1) {
      out.address[first_lane(m)] = next;
      next += static_cast<std::uint64_t>(stride);
    }
  } else if (mode == base_and_differences) {
    std::uint64_t address = words.number("an address", 16, any);
    for (std::uint32_t m = out.mask; m != 0; m &= m - 1) {
      out.address[first_lane(m)] = address;
      if ((m & (m - 1)) == 0) break;
      address += static_cast<std::uint64_t>(words.signed_number("the difference of two addresses"));
    }
  } else {
    words.fail("address mode " + std::to_string(mode) +
               (mode == 3 || mode == 4 ? ", a copy of a tensor: regatta has none" : ": expected 0, 1 or 2"));
  }
}

}  // namespace

void parse_instruction(const LineReader& reader, std::string_view line, const Header& header, InstructionLine& out) {
  Words words(reader, line);
  out.at = &reader;
  if (header.tracer_version < 3) {
    for (const char* what : {"x of the thread block", "y of the thread block", "z of the thread block", "a warp"}) {
      words.number(what, 10, ~std::uint32_t{0});
    }
  }
  if (header.has_line_numbers) words.number("a line number", 10, ~std::uint32_t{0});
  out.pc = words.number("a PC", 16, highest_pc);
  out.mask = static_cast<std::uint32_t>(words.number("a mask", 16, ~std::uint32_t{0}));
  registers(words, "the number of destination registers", out.destinations);
  out.opcode = words.next("an opcode");
  out.opcode_column = words.column();
  if (out.opcode[0] < 'A' || out.opcode[0] > 'Z') words.fail("found " + quoted(out.opcode) + ", expected an opcode");
  for (const char c : out.opcode) {
    if (c <= ' ' || c > '~') words.fail("found " + quoted(out.opcode) + ", expected an opcode");
  }
  registers(words, "the number of source registers", out.sources);
  // The matrix instructions of warp groups have a number of their own, whether they end a group.
  if (header.tracer_version >= 6 && out.opcode.find("GMMA") != std::string_view::npos) words.number("0 or 1", 10, 1);
  out.memory_width = static_cast<unsigned>(words.number("a memory width", 10, 1u << 20));
  if (out.memory_width != 0) addresses(words, out);
  if (header.tracer_version < 4) return words.end();
  // Immediates, and values of registers, which some versions have and some do not.
  while (words.more()) {
    const std::string_view word = words.next("");
    if (word == "Val" || word == "NoVal") return;
    std::uint64_t value = 0;
    if (!parse_number(word.substr(word[0] == '-' ? 1 : 0), 16, value)) {
      words.fail("found " + quoted(word) + ", expected a number or the end of the line");
    }
  }
}

}  // namespace regatta::import

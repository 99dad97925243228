// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/section_format.h>
#include <regatta/trace/sharing.h>

#include "sharing_section.h"

#include <numeric>
#include <stdexcept>

namespace regatta::trace {

namespace {

constexpr std::size_t sharing_head_bytes = 1 + 7 * 4;

[[noreturn]] void bad_sharing(const std::string& what) { throw std::invalid_argument("sharing: " + what); }

std::size_t bytes_of_bits(std::size_t bits) { return (bits + 7) / 8; }

void put_word(std::string& out, std::uint32_t word) {
  for (unsigned b = 0; b < 4; ++b) out.push_back(static_cast<char>(word >> (8 * b)));
}

std::uint32_t word_at(const std::string& payload, std::size_t at) {
  std::uint32_t word = 0;
  for (unsigned b = 0; b < 4; ++b) word |= std::uint32_t{static_cast<std::uint8_t>(payload[at + b])} << (8 * b);
  return word;
}

void put_bits(std::string& out, const std::vector<bool>& bits) {
  const std::size_t first = out.size();
  out.resize(first + bytes_of_bits(bits.size()), '\0');
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) out[first + i / 8] = static_cast<char>(static_cast<std::uint8_t>(out[first + i / 8]) | 1u << (i % 8));
}

std::vector<bool> bits_at(const std::string& payload, std::size_t at, std::size_t count, const char* what) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < 8 * bytes_of_bits(count); ++i) {
    const bool bit = ((static_cast<std::uint8_t>(payload[at + i / 8]) >> (i % 8)) & 1) != 0;
    if (i < count) {
      bits.push_back(bit);
    } else if (bit) {
      bad_sharing(std::string("a mark behind the last ") + what);
    }
  }
  return bits;
}

void check(const Kernel& kernel, const SharingLayout& l) {
  if (l.t.numerator == 0 || l.t.numerator > l.t.denominator || std::gcd(l.t.numerator, l.t.denominator) != 1)
    bad_sharing("t is " + to_string(l.t) + ", expected a fraction above 0 and at most 1, in lowest terms");
  if (l.shared_bytes < kernel.static_shared_bytes)
    bad_sharing("a layout of " + std::to_string(l.shared_bytes) + " bytes, the kernel has " +
                std::to_string(kernel.static_shared_bytes));
  if (const std::uint32_t expected = private_bytes(l.t, l.shared_bytes); l.boundary != expected)
    bad_sharing("the boundary is " + std::to_string(l.boundary) + ", expected " + std::to_string(expected) + ": " +
                to_string(l.t) + " of " + std::to_string(l.shared_bytes) + " bytes");
  for (std::size_t v = 0; v < kernel.shared_variables.size(); ++v)
    if (l.common_variables[v] != reaches_common_part(kernel.shared_variables[v], l.boundary))
      bad_sharing("variable '" + kernel.shared_variables[v].name + "' is marked " +
                  (l.common_variables[v] ? "common" : "private") + ", its place says otherwise");
}

}  // namespace

std::optional<Share> parse_share(const std::string& text) {
  constexpr std::size_t most_decimals = 9;
  const std::size_t point = text.find('.');
  const std::string whole = text.substr(0, point);
  const std::string decimals = point == std::string::npos ? "0" : text.substr(point + 1);
  for (const std::string& digits : {whole, decimals})
    if (digits.empty() || digits.size() > most_decimals || digits.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
  std::uint64_t numerator = std::stoull(whole), denominator = 1;
  for (const char digit : decimals) {
    numerator = 10 * numerator + static_cast<unsigned>(digit - '0');
    denominator *= 10;
  }
  if (numerator == 0 || numerator > denominator) return std::nullopt;
  const std::uint64_t common = std::gcd(numerator, denominator);
  return Share{static_cast<std::uint32_t>(numerator / common), static_cast<std::uint32_t>(denominator / common)};
}

std::string to_string(const Share& t) { return std::to_string(t.numerator) + "/" + std::to_string(t.denominator); }

std::uint32_t private_bytes(const Share& t, std::uint64_t shared_bytes) {
  // A CTA's shared memory has less than 2^32 bytes, so the product fits.
  return static_cast<std::uint32_t>(shared_bytes * t.numerator / t.denominator / 4 * 4);
}

bool reaches_common_part(const SharedVariable& variable, std::uint32_t boundary) {
  return variable.bytes == 0 || std::uint64_t{variable.offset} + variable.bytes > boundary;
}

std::string encode(const SharingLayout& l) {
  std::string payload(1, l.registers_reordered ? '\1' : '\0');
  for (const std::uint32_t word :
       {l.t.numerator, l.t.denominator, l.shared_bytes, l.boundary, l.optimal, l.optimal_jumps, l.postdom})
    put_word(payload, word);
  put_bits(payload, l.common_variables);
  put_bits(payload, l.common_accesses);
  return payload;
}

SharingLayout parse_sharing(const Kernel& kernel, const std::string& payload) {
  const std::size_t variables = kernel.shared_variables.size(), instructions = kernel.instructions.size();
  const std::size_t accesses_at = sharing_head_bytes + bytes_of_bits(variables);
  const std::size_t expected = accesses_at + bytes_of_bits(instructions);
  if (payload.size() != expected)
    bad_sharing(std::to_string(payload.size()) + " bytes, expected " + std::to_string(expected) + " for " +
                std::to_string(variables) + " shared variables and " + std::to_string(instructions) + " instructions");
  if (static_cast<std::uint8_t>(payload[0]) > 1) bad_sharing("the mark of reordered registers is neither 0 nor 1");
  SharingLayout l;
  l.registers_reordered = payload[0] != 0;
  std::size_t at = 1;
  for (std::uint32_t* word :
       {&l.t.numerator, &l.t.denominator, &l.shared_bytes, &l.boundary, &l.optimal, &l.optimal_jumps, &l.postdom}) {
    *word = word_at(payload, at);
    at += 4;
  }
  l.common_variables = bits_at(payload, at, variables, "variable");
  l.common_accesses = bits_at(payload, accesses_at, instructions, "instruction");
  check(kernel, l);
  return l;
}

SharingLayout decode_sharing(const Kernel& kernel, const AnnotationSection& section) {
  try {
    if (section.version != sharing_section_version)
      bad_sharing("version " + std::to_string(section.version) + ", expected " +
                  std::to_string(sharing_section_version));
    return parse_sharing(kernel, section.payload);
  } catch (const std::invalid_argument& e) {
    throw InputError("kernel " + kernel.name + ": " + e.what());
  }
}

std::optional<SharingLayout> find_sharing(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, sharing_section, sharing_section_version);
  if (section == nullptr) return std::nullopt;
  return decode_sharing(kernel, *section);
}

std::vector<RelsspPoint> relssp_points(const Kernel& kernel, const std::string& scheme) {
  std::vector<RelsspPoint> points;
  for (const InsertedInstruction& i : kernel.inserted) {
    if (i.instruction.scheme != scheme) continue;
    if (is_relssp(i.instruction)) {
      points.push_back({i.before, i.after, false});
    } else if (!points.empty()) {
      points.back().jump = true;  // which stands right behind its relssp
    }
  }
  return points;
}

StaticInstruction relssp_instruction(const std::string& scheme, std::uint32_t opcode_id) {
  StaticInstruction i;
  i.opcode = relssp_opcode;
  i.opcode_id = opcode_id;
  i.op_class = OpClass::fence;
  i.space = MemorySpace::shared;
  i.scheme = scheme;
  return i;
}

StaticInstruction relssp_jump(const std::string& scheme, std::uint32_t opcode_id, std::uint32_t target) {
  StaticInstruction i;
  i.opcode = relssp_jump_opcode;
  i.opcode_id = opcode_id;
  i.op_class = OpClass::branch;
  i.branch_target = static_cast<std::int32_t>(target);
  i.scheme = scheme;
  return i;
}

}  // namespace regatta::trace

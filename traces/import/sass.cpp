// SPDX-License-Identifier: Apache-2.0
#include "sass.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sass_table.h"

namespace regatta::import {
namespace {

using Tokens = std::vector<std::string_view>;

Tokens tokens_of(std::string_view opcode) {
  Tokens tokens;
  while (!opcode.empty()) {
    const std::size_t size = std::min(opcode.find('.'), opcode.size());
    if (size != 0) tokens.push_back(opcode.substr(0, size));
    opcode.remove_prefix(std::min(size + 1, opcode.size()));
  }
  return tokens;
}

bool has(const Tokens& tokens, std::string_view one) {
  return std::find(tokens.begin(), tokens.end(), one) != tokens.end();
}

/// The digits of a token that is nothing but a number behind one of the letters of `before`; 0: it is not.
unsigned bits_in(std::string_view token, std::string_view before) {
  if (!token.empty() && before.find(token[0]) != std::string_view::npos) token.remove_prefix(1);
  if (token.empty() || token.size() > 4) return 0;
  unsigned bits = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return 0;
    bits = bits * 10 + static_cast<unsigned>(c - '0');
  }
  return bits;
}

/// The first width among the modifiers, in bits; 32 if there is none.
unsigned width_of(const Tokens& tokens) {
  for (std::size_t n = 1; n < tokens.size(); ++n) {
    if (const unsigned bits = bits_in(tokens[n], "USF"); bits != 0) return bits;
  }
  return 32;
}

unsigned words_of(unsigned bits) { return bits <= 32 ? 1 : bits / 32; }

/// Operands of a matrix product in registers: A, B, and C as D.
struct Shape {
  const char* name;
  unsigned a, b, c;
};
/// With C and D of 32 bits; halves of 16 take half as many.
constexpr std::array<Shape, 16> shapes{{{"884", 2, 2, 2},
                                        {"1684", 2, 1, 4},
                                        {"1688", 2, 1, 4},
                                        {"16816", 4, 2, 4},
                                        {"16832", 4, 2, 4},
                                        {"16864", 4, 2, 4},
                                        {"8816", 1, 1, 2},
                                        {"8832", 1, 1, 2},
                                        {"8864", 1, 1, 2},
                                        {"88128", 1, 1, 2},
                                        {"168128", 2, 1, 4},
                                        {"168256", 4, 2, 4},
                                        {"8x8x4", 2, 2, 4},
                                        {"16x8x8", 4, 2, 8},
                                        {"16x8x16", 4, 2, 4},
                                        {"16x8x4", 4, 2, 8}}};

class Reader {
 public:
  Reader(const TracedInstruction& traced, const SassOpcode& op, const Tokens& tokens)
      : traced_(traced), op_(op), tokens_(tokens), destinations_(traced.destinations), sources_(traced.sources) {
    move_misplaced();
  }

  Meaning read() {
    m_.op_class = op_.op_class;
    m_.control = op_.control;
    m_.barrier_arrives = op_.op_class == trace::OpClass::barrier && has(tokens_, "ARV");
    memory();
    registers();
    limit(m_.destinations, trace::max_destination_registers, "writes");
    limit(m_.sources, trace::max_source_registers, "reads");
    return std::move(m_);
  }

 private:
  /// The tracer takes the first operand for the destination if it is a register, and any other for a source.
  void move_misplaced() {
    const bool first_is_predicate =
        op_.operands == Operands::predicate_first ||
        (op_.operands == Operands::atomic && tokens_[0] != "RED" && tokens_[0] != "REDG" && sources_.size() >= 3);
    if (op_.operands == Operands::reads_first) {
      sources_.insert(sources_.begin(), destinations_.begin(), destinations_.end());
      destinations_.clear();
    } else if (first_is_predicate && destinations_.empty() && !sources_.empty()) {
      destinations_.push_back(sources_[0]);
      sources_.erase(sources_.begin());
    }
  }

  static void add(std::vector<unsigned>& to, unsigned first, unsigned words) {
    if (first == zero_register) return;
    if (first + words > zero_register) {
      throw std::invalid_argument("R" + std::to_string(first) + " is the first of " + std::to_string(words) +
                                  " registers, and the last one is R254");
    }
    for (unsigned w = 0; w < words; ++w) to.push_back(first + w);
  }

  /// All destinations as groups of `words`; several are a list of single ones.
  void write(unsigned words) {
    for (const unsigned d : destinations_) add(m_.destinations, d, destinations_.size() > 1 ? 1 : words);
  }
  void read_each(unsigned words) {
    for (const unsigned s : sources_) add(m_.sources, s, words);
  }
  /// The n-th source, if there is one.
  void read_one(std::size_t n, unsigned words) {
    if (n < sources_.size()) add(m_.sources, sources_[n], words);
  }

  void memory() {
    if (op_.memory == Memory::none) return;
    if (op_.memory == Memory::texture) {
      m_.remarks.push_back(std::string(tokens_[0]) +
                           " has no addresses in the trace: it is timed as a load from constant memory");
      return;
    }
    if (traced_.memory_width == 0) throw std::invalid_argument(traced_.opcode + " has no addresses");
    m_.space = op_.space;
    m_.reads_memory = op_.memory != Memory::store;
    m_.writes_memory = op_.memory != Memory::load;
    const unsigned bits = width_of(tokens_);
    if (bits % 8 != 0 || bits == 0 || bits > 256) {
      throw std::invalid_argument(traced_.opcode + " accesses " + std::to_string(bits) + " bits");
    }
    m_.access_bytes = op_.operands == Operands::matrix_load ? 16 : bits / 8;
    const bool strong = has(tokens_, "STRONG") && (has(tokens_, "GPU") || has(tokens_, "SYS"));
    m_.is_volatile = has(tokens_, "STRONG") || has(tokens_, "CV");
    m_.bypasses_l1 = op_.memory != Memory::atomic && (strong || has(tokens_, "CG") || has(tokens_, "CV"));
    if (op_.operands == Operands::copy_to_shared) {
      m_.remarks.push_back(std::string(tokens_[0]) +
                           " is taken for a load: what it writes to shared memory is left out");
    }
  }

  void registers() {
    const unsigned words = words_of(width_of(tokens_));
    const unsigned address = has(tokens_, "E") ? 2 : 1;
    switch (op_.operands) {
      case Operands::words:
      case Operands::predicate_first:
      case Operands::reads_first:
        write(1);
        return read_each(1);
      case Operands::pairs:
        write(2);
        return read_each(2);
      case Operands::pair_sources:
        write(1);
        return read_each(2);
      case Operands::conversion:
        return conversion();
      case Operands::integer_product: {
        const bool wide = has(tokens_, "WIDE");
        write(wide ? 2 : 1);
        for (std::size_t n = 0; n < sources_.size(); ++n) read_one(n, wide && n == 2 ? 2 : 1);
        return;
      }
      case Operands::counter:
        return write(has(tokens_, "32") ? 1 : 2);
      case Operands::by_width:
        if (op_.memory == Memory::store) {
          const bool has_address = sources_.size() > 1;
          if (has_address) read_one(0, address);
          for (std::size_t n = has_address ? 1 : 0; n < sources_.size(); ++n) read_one(n, words);
          return;
        }
        write(words);
        read_one(0, op_.memory == Memory::none ? 1 : address);
        for (std::size_t n = 1; n < sources_.size(); ++n) read_one(n, 1);
        return;
      case Operands::matrix_load: {
        unsigned matrices = 1;
        for (const std::string_view token : tokens_) {
          if (token == "2" || token == "4") matrices = static_cast<unsigned>(token[0] - '0');
        }
        write(matrices);
        read_one(0, 1);
        for (std::size_t n = 1; n < sources_.size(); ++n) read_one(n, matrices);
        return;
      }
      case Operands::copy_to_shared:
        if (sources_.size() > 1) read_one(0, 1);
        return read_one(sources_.size() > 1 ? 1 : 0, address);
      case Operands::atomic:
        write(words);
        read_one(0, address);
        for (std::size_t n = 1; n < sources_.size(); ++n) read_one(n, words);
        return;
      case Operands::matrix:
        return matrix();
      case Operands::warp_group:
        write(1);
        read_each(1);
        m_.remarks.push_back(std::string(tokens_[0]) + " accumulates in registers that the trace does not name");
    }
  }

  void conversion() {
    unsigned to = 0, from = 0;
    for (std::size_t n = 1; n < tokens_.size(); ++n) {
      const unsigned bits = bits_in(tokens_[n], "FSU");
      if (bits == 0 || tokens_[n][0] < 'A') continue;
      const bool is_float = tokens_[n][0] == 'F';
      if (tokens_[0] == "I2F") {
        (is_float ? to : from) = bits;
      } else if (tokens_[0] == "F2I") {
        (is_float ? from : to) = bits;
      } else if (to == 0) {
        to = from = bits;
      } else {
        from = bits;
      }
    }
    write(words_of(to == 0 ? 32 : to));
    read_each(words_of(from == 0 ? 32 : from));
  }

  void matrix() {
    Shape shape{"", 1, 1, 2};
    for (const std::string_view token : tokens_) {
      for (const Shape& s : shapes) {
        if (token == s.name) shape = s;
      }
    }
    if (tokens_[0] == "DMMA" && shape.c == 2) shape.c = 4;
    const bool of_32 = has(tokens_, "TF32");
    if (of_32 && shape.a == 2) shape.a = 4, shape.b = 2;
    if (tokens_.size() > 2 && tokens_[2] == "F16" && !has(tokens_, "F32") && shape.c == 4) shape.c = 2;
    write(shape.c);
    read_one(0, shape.a);
    read_one(1, shape.b);
    read_one(2, shape.c);
    for (std::size_t n = 3; n < sources_.size(); ++n) read_one(n, 1);
  }

  void limit(std::vector<unsigned>& registers, unsigned most, const char* verb) {
    if (registers.size() <= most) return;
    m_.remarks.push_back(traced_.opcode + " " + verb + " " + std::to_string(registers.size()) +
                         " registers: the first " + std::to_string(most) + " are in the trace");
    registers.resize(most);
  }

  const TracedInstruction& traced_;
  const SassOpcode& op_;
  const Tokens& tokens_;
  std::vector<std::uint8_t> destinations_, sources_;
  Meaning m_;
};

}  // namespace

Meaning meaning_of(const TracedInstruction& instruction) {
  const Tokens tokens = tokens_of(instruction.opcode);
  if (tokens.empty()) throw std::invalid_argument("the opcode '" + instruction.opcode + "' has no name");
  const auto known = sass_table().find(tokens[0]);
  if (known != sass_table().end()) return Reader(instruction, known->second, tokens).read();
  const SassOpcode other{trace::OpClass::int_add, Control::none, Memory::none, trace::MemorySpace::none,
                         Operands::words};
  Meaning m = Reader(instruction, other, tokens).read();
  m.remarks.push_back("the opcode " + std::string(tokens[0]) +
                      " is unknown: it is timed as a 32-bit integer operation" +
                      (instruction.memory_width == 0 ? "" : ", and its addresses are left out"));
  return m;
}

bool is_known_opcode(std::string_view base) { return sass_table().find(base) != sass_table().end(); }

std::vector<std::string> known_opcodes() {
  std::vector<std::string> all;
  for (const auto& [name, op] : sass_table()) all.push_back(name);
  return all;
}

bool follows(std::uint64_t pc, std::uint64_t next, unsigned binary_version) {
  if (binary_version >= 70) return next == pc + 16;
  const std::uint64_t group = binary_version >= 50 ? 32 : 64;
  return next == pc + 8 || ((pc + 8) % group == 0 && next == pc + 16);
}

}  // namespace regatta::import

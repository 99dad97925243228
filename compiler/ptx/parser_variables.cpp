// SPDX-License-Identifier: Apache-2.0
//
// Numbers, types, and variables with their dimensions and initialisers.
#include "parser.h"

#include <algorithm>
#include <cstring>
#include <locale>
#include <sstream>

namespace regatta::ptx {
namespace {

constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 31;
constexpr std::uint64_t max_initialised_bytes = std::uint64_t{1} << 28;
constexpr unsigned max_initialiser_depth = 8;

bool digits(std::string_view text, unsigned base, std::uint64_t& value) {
  if (text.empty()) return false;
  value = 0;
  for (char c : text) {
    unsigned d = 0;
    if (c >= '0' && c <= '9')
      d = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      d = static_cast<unsigned>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      d = static_cast<unsigned>(c - 'A') + 10;
    else
      return false;
    if (d >= base) return false;
    if (value > (~std::uint64_t{0} - d) / base) return false;
    value = value * base + d;
  }
  return true;
}

}  // namespace

ir::Type type_named(std::string_view name) {
  for (auto t = static_cast<unsigned>(ir::Type::pred); t <= static_cast<unsigned>(ir::Type::tf32); ++t)
    if (name == ir::to_string(static_cast<ir::Type>(t))) return static_cast<ir::Type>(t);
  return ir::Type::none;
}

bool read_number(std::string_view text, std::uint64_t& bits, bool& real, bool& single) {
  real = single = false;
  const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
    real = true;
    single = second == 'f' || second == 'F';
    return text.size() == (single ? 10u : 18u) && digits(text.substr(2), 16, bits);
  }
  if (text.find('.') != std::string_view::npos ||
      (second != 'x' && second != 'X' && text.find_first_of("eE") != std::string_view::npos)) {
    std::istringstream in{std::string(text)};
    in.imbue(std::locale::classic());
    double value = 0;
    in >> value;
    if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) return false;
    real = true;
    std::memcpy(&bits, &value, sizeof bits);
    return true;
  }
  if (text.back() == 'U' || text.back() == 'u') text.remove_suffix(1);
  if (second == 'x' || second == 'X') return digits(text.substr(2), 16, bits);
  if (second == 'b' || second == 'B') return digits(text.substr(2), 2, bits);
  if (text.size() > 1 && text[0] == '0') return digits(text.substr(1), 8, bits);
  return digits(text, 10, bits);
}

/// After the state space: attributes, type, then one or more names with dimensions and initialisers, then ';'
/// (a formal parameter has one name and no ';').
std::vector<Variable> Parser::variables(Variable::Space space, bool is_extern, bool is_parameter) {
  Variable base;
  base.space = space;
  base.is_extern = is_extern;
  std::uint64_t alignment = 0;
  unsigned vector = 1;
  for (;;) {
    const Token& t = peek();
    if (!t.is_directive()) unexpected(t, "a type such as .u32");
    take();
    if (t.is(".align")) {
      const Position at = peek().at;
      alignment = expect_integer("an alignment in bytes");
      if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
        fail(file_, at, "alignment " + std::to_string(alignment) + " is not a power of two of at most 4096");
    } else if (t.is(".attribute")) {
      expect('(', "after .attribute");
      while (!peek().is(')')) {
        if (peek().kind == Token::Kind::end) unexpected(peek(), "')'");
        take();
      }
      take();
    } else if (t.is(".v2") || t.is(".v4") || t.is(".v8")) {
      vector = static_cast<unsigned>(t.text[2] - '0');
    } else if (!base.type_text.empty()) {
      unexpected(t, "a name");
    } else {
      base.type = type_named(t.text.substr(1));
      base.type_text = t.text;
      if (base.type == ir::Type::none || !ir::is_storable(base.type)) {
        if (t.is(".texref") || t.is(".samplerref") || t.is(".surfref"))
          base.space = Variable::Space::opaque;
        else
          fail(file_, t.at, "type '" + base.type_text + "' is not supported");
      }
      if (base.type == ir::Type::pred && space != Variable::Space::reg)
        fail(file_, t.at, "a variable cannot have type '.pred'");
      // The alignment after .ptr is the target's, not the parameter's.
      if (space == Variable::Space::param && peek().is(".ptr")) {
        while (peek().is_directive()) {
          if (take().is(".align")) expect_integer("an alignment in bytes");
        }
      }
    }
    if (peek().is_identifier() && !base.type_text.empty()) break;
  }
  std::vector<Variable> result;
  do {
    Variable v = base;
    const Token& name = expect_identifier("a variable name");
    v.name = name.text;
    v.at = name.at;
    dimensions(v);
    const std::uint64_t natural = std::uint64_t{ir::size_of(v.type)} * vector;
    v.alignment = static_cast<std::uint32_t>(alignment != 0 ? alignment : std::max<std::uint64_t>(natural, 1));
    v.vector = vector;
    if (vector > 1) {
      v.elements *= vector;
      if (v.is_array)
        dimensions_.push_back(vector);
      else
        dimensions_.assign(1, vector);
    }
    if (v.elements > max_variable_bytes || v.bytes() > max_variable_bytes)
      fail(file_, v.at, "variable '" + v.name + "' is larger than 2 GiB");
    if (peek().is('=')) {
      take();
      initialiser(v, dimensions_);
      if (v.elements * std::max(1u, ir::size_of(v.type)) > max_initialised_bytes)
        fail(file_, v.at, "initialised variable '" + v.name + "' is larger than 256 MiB");
    }
    result.push_back(std::move(v));
  } while (!is_parameter && accept(','));
  if (!is_parameter) expect(';', "after a variable");
  return result;
}

void Parser::dimensions(Variable& v) {
  dimensions_.clear();
  while (accept('[')) {
    v.is_array = true;
    std::uint64_t n = 0;
    if (!peek().is(']')) {
      const Position at = peek().at;
      n = expect_integer("an array size");
      if (n > max_variable_bytes) fail(file_, at, "array size " + std::to_string(n) + " is too large");
    } else if (!dimensions_.empty()) {
      unexpected(peek(), "an array size");
    }
    expect(']', "after an array size");
    dimensions_.push_back(n);
    if (dimensions_.size() > max_initialiser_depth)
      fail(file_, v.at, "variable '" + v.name + "' has too many dimensions");
    v.elements = n > 0 && v.elements > max_variable_bytes / n ? max_variable_bytes + 1 : v.elements * n;
  }
}

void Parser::initialiser(Variable& v, const std::vector<std::uint64_t>& dimensions) {
  if (!peek().is('{')) {
    v.initial.push_back(initial_value());
    return;
  }
  // sizes[k]: elements that one brace at depth k holds; 0 for an open first dimension.
  std::vector<std::uint64_t> sizes(dimensions.size() + 1, 1);
  for (std::size_t k = dimensions.size(); k-- > 0;) sizes[k] = sizes[k + 1] * dimensions[k];
  std::uint64_t index = 0;
  std::size_t depth = 0;
  std::vector<std::uint64_t> starts;
  do {
    const Token& t = peek();
    if (t.is('{')) {
      take();
      if (depth >= std::max<std::size_t>(dimensions.size(), 1))
        unexpected(t, "a value: the braces are nested too deeply");
      starts.push_back(index);
      ++depth;
    } else if (t.is('}')) {
      take();
      --depth;
      const std::uint64_t size = depth < sizes.size() ? sizes[depth] : 0;
      if (size > 0) index = starts.back() + size;
      starts.pop_back();
      if (depth > 0 && !peek().is('}')) expect(',', "between initial values");
    } else {
      InitialValue value = initial_value();
      value.index = index++;
      if (v.elements > 0 && value.index >= v.elements)
        fail(file_, value.at, "more initial values than the " + std::to_string(v.elements) + " of '" + v.name + "'");
      v.initial.push_back(std::move(value));
      if (!peek().is('}')) expect(',', "between initial values");
    }
  } while (depth > 0);
  if (v.elements == 0) v.elements = index;
}

InitialValue Parser::initial_value() {
  InitialValue v;
  v.at = peek().at;
  if (starts_constant()) {
    const Constant c = constant();
    v.bits = c.bits;
    v.is_real = c.is_real;
    v.single = c.is_single;
    if (!peek().is('(')) return v;
    // 0xff00(name): one byte of an address, as nvcc writes structures with pointers.
    for (int byte = 0; byte < 8; ++byte)
      if (!c.is_real && c.bits == std::uint64_t{0xff} << (8 * byte)) v.byte = byte;
    if (v.byte < 0) fail(file_, c.at, "'" + c.text + "' selects no byte of an address, expected 0xff, 0xff00 ...");
    take();
    address_constant(v);
    expect(')', "after a masked address");
    return v;
  }
  address_constant(v);
  return v;
}

/// name, generic(name), and an offset.
void Parser::address_constant(InitialValue& v) {
  v.symbol = expect_identifier("an initial value").text;
  if (v.symbol == "generic" && accept('(')) {
    v.generic = true;
    v.symbol = expect_identifier("a variable name").text;
    v.addend = sum();
    expect(')', "after generic(");
  }
  v.addend += sum();
}

}  // namespace regatta::ptx

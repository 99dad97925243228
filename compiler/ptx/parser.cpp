// SPDX-License-Identifier: Apache-2.0
//
// Module level: directives, variables with initialisers, function headers.
#include "parser.h"

#include <regatta/trace/types.h>

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
    if (c >= '0' && c <= '9') d = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f') d = static_cast<unsigned>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F') d = static_cast<unsigned>(c - 'A') + 10;
    else return false;
    if (d >= base) return false;
    if (value > (~std::uint64_t{0} - d) / base) return false;
    value = value * base + d;
  }
  return true;
}

}  // namespace

ir::Type type_named(std::string_view name) {
  for (auto t = static_cast<unsigned>(ir::Type::pred); t <= static_cast<unsigned>(ir::Type::f64); ++t)
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

Module parse(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

bool Parser::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

void Parser::unexpected(const Token& found, const std::string& expected) const {
  const std::string what = found.kind == Token::Kind::end ? "end of file" : "'" + std::string(found.text.substr(0, 60)) + "'";
  fail(file_, found.at, "found " + what + ", expected " + expected);
}

const Token& Parser::expect(char c, const char* where) {
  if (!peek().is(c)) unexpected(peek(), std::string("'") + c + "' " + where);
  return take();
}

const Token& Parser::expect_identifier(const char* what) {
  if (!peek().is_identifier()) unexpected(peek(), what);
  return take();
}

std::uint64_t Parser::expect_integer(const char* what) {
  std::uint64_t value = 0;
  bool real = false, single = false;
  if (peek().kind != Token::Kind::number || !read_number(peek().text, value, real, single) || real)
    unexpected(peek(), what);
  take();
  return value;
}

void Parser::skip_statement() {
  while (!peek().is(';')) {
    if (peek().kind == Token::Kind::end || peek().is('}')) unexpected(peek(), "';'");
    if (peek().is('{')) skip_braces();
    else take();
  }
  take();
}

void Parser::skip_line() {
  const std::uint32_t line = tokens_[next_ - 1].at.line;
  while (peek().kind != Token::Kind::end && peek().at.line == line) take();
}

void Parser::skip_braces() {
  const Position open = peek().at;
  unsigned depth = 0;
  do {
    if (peek().kind == Token::Kind::end) fail(file_, open, "'{' is never closed");
    if (peek().is('{')) ++depth;
    if (peek().is('}')) --depth;
    take();
  } while (depth > 0);
}

Module Parser::run() {
  while (peek().kind != Token::Kind::end) {
    if (accept(';')) continue;
    if (!peek().is_directive()) unexpected(peek(), "a directive such as .version, .global, .entry or .func");
    directive();
  }
  // nvcc writes the .file directives last.
  for (Function& f : module_.functions)
    for (Statement& s : f.body) {
      const auto known = file_index_.find(s.source_file);
      if (known == file_index_.end()) s.source_line = 0;
      s.source_file = known == file_index_.end() ? 0 : known->second;
    }
  return std::move(module_);
}

void Parser::directive() {
  bool is_extern = false;
  while (peek().is(".visible") || peek().is(".weak") || peek().is(".common") || peek().is(".extern")) {
    is_extern = is_extern || peek().is(".extern");
    take();
  }
  const Token& t = peek();
  if (t.is(".version")) {
    take();
    if (peek().kind != Token::Kind::number) unexpected(peek(), "a PTX version number");
    take();
  } else if (t.is(".target")) {
    take();
    do expect_identifier("a target name such as sm_75");
    while (accept(','));
  } else if (t.is(".address_size")) {
    take();
    const Position at = peek().at;
    const std::uint64_t bits = expect_integer("64");
    if (bits != 64) fail(file_, at, ".address_size " + std::to_string(bits) + " is not supported, expected 64");
  } else if (t.is(".file")) {
    take();
    file_directive();
  } else if (t.is(".loc")) {
    take();
    location();
  } else if (t.is(".section")) {
    take();
    if (peek().is_directive() || peek().is_identifier()) take();
    if (!peek().is('{')) unexpected(peek(), "'{' after the name of a .section");
    skip_braces();
  } else if (t.is(".pragma") || t.is(".alias")) {
    take();
    skip_statement();
  } else if (t.is(".entry") || t.is(".func")) {
    function(is_extern);
  } else {
    const Variable::Space space = variable_space(t);
    take();
    for (Variable& v : variables(space, is_extern)) module_.variables.push_back(std::move(v));
  }
}

void Parser::file_directive() {
  const std::uint64_t number = expect_integer("a file number");
  if (peek().kind != Token::Kind::string) unexpected(peek(), "a file name in quotes");
  const std::string_view quoted = take().text;
  file_index_[number] = static_cast<std::uint32_t>(module_.source_files.size());
  module_.source_files.emplace_back(quoted.substr(1, quoted.size() - 2));
  while (accept(',')) expect_integer("a number");
}

void Parser::location() {
  const std::uint64_t number = expect_integer("a file number");
  const std::uint64_t line = expect_integer("a line number");
  source_file_ = static_cast<std::uint32_t>(number);
  source_line_ = static_cast<std::uint32_t>(line);
  // Column, function_name and inlined_at follow on the same line.
  skip_line();
}

Variable::Space Parser::variable_space(const Token& t) const {
  if (t.is(".global")) return Variable::Space::global;
  if (t.is(".const")) return Variable::Space::constant;
  if (t.is(".shared") || t.is(".shared::cta")) return Variable::Space::shared;
  if (t.is(".local")) return Variable::Space::local;
  if (t.is(".param")) return Variable::Space::param;
  if (t.is(".reg")) return Variable::Space::reg;
  if (t.is(".tex")) return Variable::Space::opaque;
  unexpected(t, "a PTX directive");
}

/// After the state space: attributes, type, then one or more names with dimensions and initialisers, then ';'
/// (which a parameter does not have).
std::vector<Variable> Parser::variables(Variable::Space space, bool is_extern) {
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
      if (base.type == ir::Type::none) {
        if (t.is(".texref") || t.is(".samplerref") || t.is(".surfref")) base.space = Variable::Space::opaque;
        else fail(file_, t.at, "type '" + base.type_text + "' is not supported");
      }
      if (base.type == ir::Type::pred) fail(file_, t.at, "a variable cannot have type '.pred'");
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
    if (vector > 1) {
      v.elements *= vector;
      if (v.is_array) dimensions_.push_back(vector);
      else dimensions_.assign(1, vector);
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
  } while (space != Variable::Space::param && accept(','));
  if (space != Variable::Space::param) expect(';', "after a variable");
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
    if (dimensions_.size() > max_initialiser_depth) fail(file_, v.at, "variable '" + v.name + "' has too many dimensions");
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
      if (depth >= std::max<std::size_t>(dimensions.size(), 1)) unexpected(t, "a value: the braces are nested too deeply");
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
  bool minus = false;
  while (peek().is('-') || peek().is('+')) minus = take().is('-') != minus;
  const Token& t = peek();
  if (t.kind == Token::Kind::number) {
    const Operand n = number(minus);
    v.bits = n.bits;
    v.is_real = n.kind == Operand::Kind::real;
    v.single = n.single;
    if (peek().is('(')) fail(file_, peek().at, "a masked address in an initialiser is not supported");
    return v;
  }
  if (!t.is_identifier()) unexpected(t, "an initial value");
  take();
  v.symbol = t.text;
  if (t.is("generic") && accept('(')) {
    v.generic = true;
    v.symbol = expect_identifier("a variable name").text;
    expect(')', "after generic(");
  }
  while (peek().is('+') || peek().is('-')) {
    const bool subtract = take().is('-');
    const bool negative = accept('-');
    const auto n = static_cast<std::int64_t>(expect_integer("an offset"));
    v.addend += subtract != negative ? -n : n;
  }
  return v;
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> list;
  expect('(', "before parameters");
  if (accept(')')) return list;
  do {
    const Token& t = peek();
    if (!t.is(".param") && !t.is(".reg")) unexpected(t, "'.param'");
    const Variable::Space space = variable_space(take());
    std::vector<Variable> one = variables(Variable::Space::param, false);
    if (space == Variable::Space::reg) one.front().space = space;
    list.push_back(std::move(one.front()));
  } while (accept(','));
  expect(')', "after parameters");
  return list;
}

void Parser::header_directives(Function& f) {
  while (peek().is_directive() || peek().is(';')) {
    if (peek().is(';')) {
      // ';' ends a prototype, but also a .pragma.
      return;
    }
    const Token& t = take();
    if (t.is(".maxntid") || t.is(".reqntid")) {
      f.max_threads = {1, 1, 1};
      unsigned i = 0;
      do {
        const std::uint64_t n = expect_integer("a number of threads");
        if (i < 3) f.max_threads[i++] = static_cast<std::uint32_t>(n);
      } while (accept(','));
    } else if (t.is(".pragma")) {
      skip_statement();
    } else if (t.is(".loc")) {
      location();
    } else if (t.is(".minnctapersm") || t.is(".maxnctapersm") || t.is(".maxnreg") || t.is(".reqnctapercluster") ||
               t.is(".maxclusterrank") || t.is(".noreturn") || t.is(".explicitcluster") || t.is(".blocksareclusters") ||
               t.is(".unique") || t.is(".abi_preserve") || t.is(".abi_preserve_control")) {
      while (peek().kind == Token::Kind::number) {
        take();
        if (!accept(',')) break;
      }
    } else {
      unexpected(t, "a performance directive or '{'");
    }
  }
}

void Parser::function(bool is_extern) {
  Function f;
  f.is_entry = take().is(".entry");
  if (peek().is(".attribute")) {
    take();
    while (!peek().is(')') && peek().kind != Token::Kind::end) take();
    expect(')', "after .attribute");
  }
  if (!f.is_entry && peek().is('(')) f.results = parameters();
  const Token& name = expect_identifier("a function name");
  f.name = name.text;
  f.at = name.at;
  if (peek().is('(')) f.parameters = parameters();
  source_line_ = 0;
  header_directives(f);
  if (peek().is('{')) {
    if (is_extern) unexpected(peek(), "';' after an .extern function");
    f.has_body = true;
    const std::size_t open = next_;
    try {
      body(f);
    } catch (const trace::InputError& e) {
      f.error = e.what();
      f.body.clear();
      next_ = open;
      skip_braces();
    }
  } else {
    expect(';', "or a body after a function header");
  }
  module_.functions.push_back(std::move(f));
}

}  // namespace regatta::ptx

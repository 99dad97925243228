// SPDX-License-Identifier: Apache-2.0
//
// Module level: directives and function headers.
#include "parser.h"

#include <regatta/trace/types.h>

#include <algorithm>
#include <charconv>

namespace regatta::ptx {

Module parse(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

bool Parser::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

void Parser::unexpected(const Token& found, const std::string& expected) const {
  const std::string what =
      found.kind == Token::Kind::end ? "end of file" : "'" + std::string(found.text.substr(0, 60)) + "'";
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
  const Token& first = peek();
  if (!starts_constant()) unexpected(first, what);
  // A '<' or '>' behind it is not its own.
  const Constant c = constant(additive);
  if (c.is_real) unexpected(first, what);
  return c.bits;
}

void Parser::skip_statement() {
  while (!peek().is(';')) {
    if (peek().kind == Token::Kind::end || peek().is('}')) unexpected(peek(), "';'");
    if (peek().is('{'))
      skip_braces();
    else
      take();
  }
  take();
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
  const std::vector<SourcePlace> places = places_.resolve(file_index_, module_.source_files);
  for (Function& f : module_.functions)
    for (Statement& s : f.body) s.source = places[s.source.file];
  for (Function& f : module_.functions) f.address_bits = module_.address_bits;
  if (!module_.states_address_size) infer_address_size(module_);
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
    version();
  } else if (t.is(".target")) {
    take();
    do {
      const std::string_view name = expect_identifier("a target name such as sm_75").text;
      if (name.substr(0, 3) == "sm_") std::from_chars(name.data() + 3, name.data() + name.size(), module_.target);
    } while (accept(','));
  } else if (t.is(".address_size")) {
    take();
    const Position at = peek().at;
    const std::uint64_t bits = expect_integer("32 or 64");
    if (bits != 32 && bits != 64) {
      fail(file_, at, ".address_size " + std::to_string(bits) + " is not supported, expected 32 or 64");
    }
    module_.address_bits = static_cast<unsigned>(bits);
    module_.states_address_size = true;
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
  } else if (t.is(".pragma")) {
    take();
    skip_statement();
  } else if (t.is(".alias")) {
    take();
    Alias a;
    a.at = peek().at;
    a.name = expect_identifier("a function name").text;
    expect(',', "between the names of an .alias");
    a.target = expect_identifier("a function name").text;
    expect(';', "after an .alias");
    module_.aliases.push_back(std::move(a));
  } else if (t.is(".entry") || t.is(".func")) {
    function(is_extern);
  } else if (t.is(".reg")) {
    take();
    for (RegisterDeclaration& d : registers()) module_.registers.push_back(std::move(d));
  } else {
    const Variable::Space space = variable_space(t);
    take();
    for (Variable& v : variables(space, is_extern)) module_.variables.push_back(std::move(v));
  }
}

bool Parser::starts_declaration() const {
  for (const char* name :
       {".visible", ".weak", ".common", ".extern", ".entry", ".func", ".global", ".const", ".shared", ".local", ".reg",
        ".tex", ".file", ".section", ".alias", ".version", ".target", ".address_size"}) {
    if (peek().is(name)) return true;
  }
  return false;
}

void Parser::version() {
  const std::string_view text = peek().text;
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto number = [&](std::string_view digits, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value < 100;
  };
  std::uint32_t major = 0, minor = 0;
  if (peek().kind != Token::Kind::number || !number(text.substr(0, point), major) ||
      (point != text.size() && !number(text.substr(point + 1), minor)))
    unexpected(peek(), "a PTX version number such as 8.0");
  take();
  module_.version = 100 * major + minor;
}

void Parser::file_directive() {
  const std::uint64_t number = expect_integer("a file number");
  if (peek().kind != Token::Kind::string) unexpected(peek(), "a file name in quotes");
  const std::string_view quoted = take().text;
  file_index_[number] = static_cast<std::uint32_t>(module_.source_files.size());
  module_.source_files.emplace_back(quoted.substr(1, quoted.size() - 2));
  while (accept(',')) expect_integer("a number");
}

/// The numbers of a file, a line and, on the same line of the PTX, a column.
SourcePlaces::Position Parser::position() {
  SourcePlaces::Position p;
  p.file = expect_integer("a file number");
  p.line = expect_integer("a line number");
  const bool goes_on = peek().at.line == tokens_[next_ - 1].at.line;
  if (goes_on && peek().kind == Token::Kind::number) p.column = expect_integer("a column");
  return p;
}

void Parser::location() {
  const std::uint32_t line = tokens_[next_ - 1].at.line;
  const auto goes_on = [&] { return peek().kind != Token::Kind::end && peek().at.line == line; };
  const SourcePlaces::Position at = position();
  // function_name and inlined_at follow on the same line.
  while (goes_on() && !peek().is("inlined_at")) take();
  if (!goes_on()) return places_.add(at);
  take();
  places_.add_inlined(at, position());
  while (goes_on()) take();
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

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> list;
  expect('(', "before parameters");
  if (accept(')')) return list;
  do {
    const Token& t = peek();
    if (!t.is(".param") && !t.is(".reg")) unexpected(t, "'.param'");
    const Variable::Space space = variable_space(take());
    list.push_back(std::move(variables(space, false, true).front()));
  } while (accept(','));
  expect(')', "after parameters");
  return list;
}

/// One to three positive numbers, in dimensions x, y and z.
std::array<std::uint32_t, 3> Parser::dimension_list(const std::string& directive) {
  std::array<std::uint32_t, 3> n{1, 1, 1};
  std::size_t i = 0;
  do {
    if (i == n.size()) unexpected(peek(), "at most three dimensions after '" + directive + "'");
    n[i++] = positive(directive);
  } while (accept(','));
  return n;
}

std::uint32_t Parser::positive(const std::string& directive) {
  const Token& t = peek();
  const std::uint64_t n = expect_integer("a number");
  if (n == 0 || n > INT32_MAX) unexpected(t, "a number from 1 on after '" + directive + "'");
  return static_cast<std::uint32_t>(n);
}

/// Directives between a function's parameters and its body. Those that would need another kind of launch refuse the
/// kernel: the result says why, empty if none does.
std::string Parser::header_directives(Function& f) {
  const Token* maximum = nullptr;
  const Token* required = nullptr;
  const Token* large_cluster = nullptr;   // of several CTAs
  const Token* launch_cluster = nullptr;  // stated by the launch
  bool has_cluster = false;
  // ';' ends a prototype, but also a .pragma.
  while (peek().is_directive()) {
    const Token& t = peek();
    const std::string name(t.text);
    const bool of_entry = t.is(".maxntid") || t.is(".reqntid") || t.is(".maxnreg") || t.is(".minnctapersm") ||
                          t.is(".maxnctapersm") || t.is(".reqnctapercluster") || t.is(".maxclusterrank") ||
                          t.is(".explicitcluster") || t.is(".blocksareclusters");
    const bool of_function =
        t.is(".noreturn") || t.is(".unique") || t.is(".abi_preserve") || t.is(".abi_preserve_control");
    if ((of_entry && !f.is_entry) || (of_function && f.is_entry))
      fail(file_, t.at, "'" + name + "' belongs to " + (of_entry ? "an .entry" : "a .func"));
    if (!of_entry && !of_function && !t.is(".pragma") && !t.is(".loc")) break;
    take();
    if (t.is(".maxntid") || t.is(".reqntid")) {
      (t.is(".maxntid") ? maximum : required) = &t;
      if (maximum != nullptr && required != nullptr) fail(file_, t.at, ".maxntid and .reqntid exclude each other");
      f.bounds.exact = t.is(".reqntid");
      f.bounds.block = dimension_list(name);
    } else if (t.is(".maxnreg")) {
      f.bounds.max_registers = positive(name);
    } else if (t.is(".minnctapersm") || t.is(".maxnctapersm")) {
      // It has had its present name since PTX 2.0.
      if (t.is(".maxnctapersm") && module_.version > 200)
        fail(file_, t.at, "'.maxnctapersm' is not supported since PTX 2.1, expected '.minnctapersm'");
      f.bounds.min_ctas = positive(name);
    } else if (t.is(".reqnctapercluster")) {
      has_cluster = f.bounds.explicit_cluster = true;
      if (dimension_list(name) != std::array<std::uint32_t, 3>{1, 1, 1}) large_cluster = &t;
    } else if (t.is(".maxclusterrank")) {
      positive(name);
    } else if (t.is(".explicitcluster")) {
      f.bounds.explicit_cluster = true;
    } else if (t.is(".blocksareclusters")) {
      f.bounds.explicit_cluster = true;
      launch_cluster = &t;
    } else if (t.is(".pragma")) {
      skip_statement();
    } else if (t.is(".loc")) {
      location();
    } else {
      while (peek().kind == Token::Kind::number) take();
    }
  }
  // A cluster of one CTA is a CTA.
  const Token* const refused = large_cluster != nullptr ? large_cluster : has_cluster ? nullptr : launch_cluster;
  if (refused == nullptr) return "";
  return message_at(file_, refused->at,
                    "'" + std::string(refused->text) + "': launches with clusters of several CTAs are not supported");
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
  places_.begin_function();
  const std::string refusal = header_directives(f);
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
    if (f.error.empty()) f.error = refusal;
  } else {
    // nvopencc writes prototypes without ';': they end where the next declaration begins.
    const bool ends = accept(';') || (!f.is_entry && (peek().kind == Token::Kind::end || starts_declaration()));
    if (!ends && peek().is_directive()) unexpected(peek(), "a performance directive or '{'");
    if (!ends) expect(';', "or a body after a function header");
  }
  module_.functions.push_back(std::move(f));
}

}  // namespace regatta::ptx

// SPDX-License-Identifier: Apache-2.0
//
// Module level: directives and function headers.
#include "parser.h"

#include <regatta/trace/types.h>

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
    if (peek().is('{'))
      skip_braces();
    else
      take();
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

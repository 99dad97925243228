// SPDX-License-Identifier: Apache-2.0
//
// Function bodies: declarations, labels, instructions and their operands.
#include "forms.h"
#include "parser.h"

namespace regatta::ptx {
namespace {

constexpr unsigned max_scope_depth = 256;
constexpr std::uint64_t max_register_range = std::uint64_t{1} << 20;
constexpr std::uint64_t max_vector_range = 4096;
constexpr std::size_t max_operands = 16;
constexpr std::size_t most_elements = 128;     // the accumulators of wgmma
constexpr std::size_t max_targets = 1u << 16;  // of a list of branch or call targets

}  // namespace

void Parser::body(Function& f) {
  expect('{', "before a function body");
  unsigned depth = 1;
  while (depth > 0) statement(f, depth);
  f.end = f.body.back().at;
  f.body.pop_back();
}

void Parser::statement(Function& f, unsigned& depth) {
  const Token& t = peek();
  Statement s;
  s.at = t.at;
  s.source.file = places_.current();
  if (t.is('{')) {
    take();
    if (++depth > max_scope_depth)
      fail(file_, t.at, "scopes are nested more than " + std::to_string(max_scope_depth) + " deep");
    s.kind = Statement::Kind::open;
  } else if (t.is('}')) {
    take();
    --depth;
    s.kind = Statement::Kind::close;
  } else if (t.is(';')) {
    take();
    return;
  } else if (t.is_directive()) {
    if (t.is(".loc")) {
      take();
      location();
      return;
    }
    if (t.is(".branchtargets") || t.is(".calltargets")) {
      take();
      targets(f, s);
      f.body.push_back(std::move(s));
      return;
    }
    if (t.is(".callprototype")) {
      take();
      prototype(f, s);
      f.body.push_back(std::move(s));
      return;
    }
    if (t.is(".pragma")) {
      const bool is_nounroll = t.is(".pragma") && peek(1).text == "\"nounroll\"";
      take();
      skip_statement();
      if (!is_nounroll) return;
      s.kind = Statement::Kind::nounroll;
      f.body.push_back(std::move(s));
      return;
    }
    if (t.is(".reg")) {
      take();
      s.kind = Statement::Kind::registers;
      s.registers = registers();
    } else {
      s.kind = Statement::Kind::variable;
      const bool is_extern = t.is(".extern");
      if (is_extern) take();
      const Variable::Space space = variable_space(peek());
      take();
      s.variables = variables(space, is_extern);
      if (space == Variable::Space::global || space == Variable::Space::constant) {
        for (Variable& v : s.variables) {
          v.module_name = f.name + "::" + v.name;
          module_.variables.push_back(v);
          module_.variables.back().name = v.module_name;
        }
      }
    }
  } else if (t.is_identifier() && peek(1).is(':')) {
    take();
    take();
    s.kind = Statement::Kind::label;
    s.mnemonic = t.text;
  } else if (t.is_identifier() || t.is('@')) {
    instruction(s);
    if (!s.call_list.empty()) find_call_list(f, s);
  } else {
    unexpected(t, "an instruction, a label, a declaration or '}'");
  }
  f.body.push_back(std::move(s));
}

/// The name of a list or prototype is the label in front of it.
void Parser::named_by_label(const Function& f, Statement& s, const char* what, const char* directive) const {
  if (f.body.empty() || f.body.back().kind != Statement::Kind::label)
    fail(file_, s.at, std::string(what) + " without a name, expected 'NAME: " + directive + " ...'");
  s.mnemonic = f.body.back().mnemonic;
}

/// The names behind .branchtargets or .calltargets.
void Parser::targets(const Function& f, Statement& s) {
  const bool is_calls = tokens_[next_ - 1].is(".calltargets");
  named_by_label(f, s, "a list of targets", is_calls ? ".calltargets" : ".branchtargets");
  s.kind = Statement::Kind::targets;
  do {
    const Token& t = expect_identifier(is_calls ? "a function name" : "a label");
    Operand o;
    o.at = t.at;
    o.name = t.text;
    o.text = o.name;
    s.operands.push_back(std::move(o));
    if (s.operands.size() > max_targets)
      fail(file_, s.at, "a list of more than " + std::to_string(max_targets) + " targets");
  } while (accept(','));
  expect(';', "after a list of targets");
}

/// (results) _ (parameters): names, and directives such as .noreturn, mean nothing.
void Parser::prototype(const Function& f, Statement& s) {
  named_by_label(f, s, "a prototype", ".callprototype");
  s.kind = Statement::Kind::prototype;
  if (peek().is('(')) s.variables = parameters();
  s.result_count = s.variables.size();
  expect_identifier("'_' in a prototype");
  if (peek().is('(')) {
    for (Variable& v : parameters()) s.variables.push_back(std::move(v));
  }
  while (peek().is_directive() || peek().kind == Token::Kind::number) take();
  expect(';', "after a prototype");
}

void Parser::find_call_list(const Function& f, Statement& s) const {
  for (std::size_t i = f.body.size(); i-- > 0;) {
    const Statement& list = f.body[i];
    const bool is_list = list.kind == Statement::Kind::targets || list.kind == Statement::Kind::prototype;
    if (!is_list || list.mnemonic != s.call_list) continue;
    s.call_list_at = i;
    return;
  }
}

std::vector<RegisterDeclaration> Parser::registers() {
  std::vector<RegisterDeclaration> list;
  unsigned vector = 1;
  if (peek().is(".v2") || peek().is(".v4")) vector = static_cast<unsigned>(take().text[2] - '0');
  const Token& t = peek();
  if (!t.is_directive()) unexpected(t, "a register type such as .b32");
  take();
  const ir::Type type = type_named(t.text.substr(1));
  if (type == ir::Type::none || !ir::is_storable(type))
    fail(file_, t.at, "register type '" + std::string(t.text) + "' is not supported");
  do {
    const Token& name = expect_identifier("a register name");
    RegisterDeclaration d;
    d.name = name.text;
    d.type = type;
    d.vector = vector;
    d.at = name.at;
    if (accept('<')) {
      const Position at = peek().at;
      const std::uint64_t n = expect_integer("a number of registers");
      const std::uint64_t most = vector > 1 ? max_vector_range : max_register_range;
      if (n == 0 || n > most)
        fail(file_, at,
             "register range '" + d.name + "<" + std::to_string(n) + ">' is not of 1 to " + std::to_string(most) +
                 " registers");
      d.count = static_cast<std::uint32_t>(n);
      expect('>', "after a number of registers");
    }
    list.push_back(std::move(d));
  } while (accept(','));
  expect(';', "after register names");
  return list;
}

void Parser::instruction(Statement& s) {
  if (accept('@')) {
    s.guard_negated = accept('!');
    const Token& p = expect_identifier("a predicate after '@'");
    s.guard = p.text;
    s.guard_at = p.at;
  }
  const Token& m = expect_identifier("an instruction");
  s.at = m.at;
  s.mnemonic = m.text;
  s.name = m.text;
  while (peek().is_directive()) {
    const Token& modifier = take();
    s.name += modifier.text;
    s.modifiers.emplace_back(modifier.text.substr(1));
  }
  if (s.mnemonic == "call") {
    call(s);
    return;
  }
  if (!is_known_mnemonic(s.mnemonic)) {
    s.unparsed = true;
    skip_statement();
    return;
  }
  while (!peek().is(';')) {
    s.operands.push_back(operand(0));
    if (s.operands.size() > max_operands) fail(file_, s.at, "'" + s.name + "' has too many operands");
    if (!accept(',') && !peek().is(';')) unexpected(peek(), "',' or ';' after an operand of '" + s.name + "'");
  }
  take();
}

void Parser::call(Statement& s) {
  if (peek().is('(')) {
    s.call_results = call_list();
    expect(',', "after the results of a call");
  }
  s.operands.push_back(operand(0));
  if (accept(',') && peek().is('(')) {
    s.call_arguments = call_list();
    accept(',');
  }
  // A prototype or a list of targets: an indirect call.
  if (peek().is_identifier()) s.call_list = take().text;
  expect(';', "after a call");
}

std::vector<Operand> Parser::call_list() {
  std::vector<Operand> list;
  expect('(', "before the operands of a call");
  if (accept(')')) return list;
  do list.push_back(operand(0));
  while (accept(','));
  expect(')', "after the operands of a call");
  return list;
}

Operand Parser::operand(unsigned depth) {
  const Token& t = peek();
  if (t.is('[')) return address();
  if (t.is('{')) {
    if (depth > 0) unexpected(t, "a register: vectors do not nest");
    take();
    Operand o;
    o.kind = Operand::Kind::vector;
    o.at = t.at;
    o.text = "{...}";
    do {
      o.elements.push_back(operand(depth + 1));
      if (o.elements.size() > most_elements) fail(file_, o.at, "vector operand of more than 128 elements");
    } while (accept(','));
    expect('}', "after a vector operand");
    return o;
  }
  if (starts_constant()) {
    const Constant c = constant();
    Operand o;
    o.kind = c.is_real ? Operand::Kind::real : Operand::Kind::integer;
    o.bits = c.bits;
    o.single = c.is_single;
    o.at = c.at;
    o.text = c.text;
    return o;
  }
  Operand o;
  o.at = t.at;
  if (t.is('!')) {
    take();
    o.negated = true;
  }
  const Token& first = expect_identifier("an operand");
  const Token* last = &first;
  // %tid.x: a name goes on with a directive that touches it.
  while (last->adjacent(peek()) && peek().is_directive()) last = &take();
  o.name = std::string(first.text.data(),
                       static_cast<std::size_t>(last->text.data() + last->text.size() - first.text.data()));
  o.text = (o.negated ? "!" : "") + o.name;
  if (o.name == "_") o.kind = Operand::Kind::sink;
  if (accept('|')) {
    o.kind = Operand::Kind::pair;
    o.second = expect_identifier("a second destination after '|'").text;
    o.text += "|" + o.second;
  } else if (peek().is('[')) {
    // An element of a variable, as in "ld.global.u32 %r1, x[2];".
    take();
    o.indexed = true;
    o.offset = static_cast<std::int64_t>(whole_constant(0));
    expect(']', "after an index");
    o.text += "[" + std::to_string(o.offset) + "]";
  } else if (peek().is('+') || peek().is('-')) {
    o.offset = sum();
    o.text += (o.offset < 0 ? "" : "+") + std::to_string(o.offset);
  }
  return o;
}

/// The terms behind a name: "+4", "-8+4*2".
std::int64_t Parser::sum() {
  std::uint64_t total = 0;
  while (peek().is('+') || peek().is('-')) {
    const bool minus = take().is('-');
    const std::uint64_t n = whole_constant(multiplicative);
    total += minus ? 0 - n : n;
  }
  return static_cast<std::int64_t>(total);
}

/// Behind the name of a texture or surface: {x, y}, or a single one.
void Parser::coordinates(Operand& o) {
  const Operand place = operand(0);
  if (peek().is(',')) unexpected(peek(), "']': a sampler beside the texture (texmode_independent) is not supported");
  o.elements = place.kind == Operand::Kind::vector ? place.elements : std::vector<Operand>{place};
  if (!peek().is(']')) unexpected(peek(), "']' after coordinates");
}

Operand Parser::address() {
  Operand o;
  o.kind = Operand::Kind::address;
  o.at = take().at;
  bool first = true;
  while (!peek().is(']')) {
    bool minus = false;
    bool sign = false;
    while (peek().is('+') || peek().is('-')) {
      minus = take().is('-') != minus;
      sign = true;
    }
    if (!first && !sign && accept(',')) {
      coordinates(o);
      break;
    }
    if (!first && !sign) unexpected(peek(), "'+', '-' or ']' in an address");
    if (peek().is_identifier() && !peek().is("WARP_SZ") && o.name.empty() && !minus) {
      o.name = take().text;
    } else {
      const std::uint64_t n = whole_constant(multiplicative);
      o.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(o.offset) + (minus ? 0 - n : n));
    }
    first = false;
  }
  if (first) unexpected(peek(), "an address");
  take();
  o.text = "[" + o.name + (o.name.empty() || o.offset < 0 ? "" : "+") + std::to_string(o.offset) + "]";
  return o;
}

}  // namespace regatta::ptx

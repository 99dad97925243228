// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "modern.h"
#include "operations.h"

namespace regatta::test::differential {
namespace {

/// How an element in memory is written, and the class of variable it goes to and comes from.
struct Element {
  const char* type;
  unsigned bytes;
  char variable;
  bool loads, stores;
};
constexpr Element elements[] = {{"u32", 4, 'r', true, true},  {"b32", 4, 'r', true, true},  {"s32", 4, 'r', true, true},
                                {"u8", 1, 'r', true, true},   {"s8", 1, 'r', true, false},  {"u16", 2, 'r', true, true},
                                {"s16", 2, 'r', true, false}, {"b16", 2, 'h', true, true},  {"u64", 8, 'd', true, true},
                                {"b32", 4, 'd', true, true},  {"s32", 4, 'd', true, false}, {"f32", 4, 'f', true, true},
                                {"f64", 8, 'g', true, true}};

constexpr std::uint64_t edges[] = {0,
                                   1,
                                   2,
                                   31,
                                   32,
                                   33,
                                   0x7f,
                                   0xff,
                                   0x7fff,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0xfffffffe,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff};
constexpr float floats[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 3.0f, 1e-40f, 1e38f, -2.75f, 16777217.0f, 1e10f, 0.1f};

class Generator {
 public:
  Generator(std::uint64_t seed, bool modern) : random_(seed) { program_.modern = modern; }

  Program run() {
    // Few variables keep a program in 16 registers, many spill even predicates.
    const unsigned crowd = below(3);
    variables(program_.initial, {1 + below(2), 4 + crowd * (4 + below(6)), 2 + crowd * (1 + below(3)),
                                 2 + crowd * (1 + below(3)), 1 + crowd * below(3), 2 + crowd * (1 + below(3))});
    for (unsigned n = below(3); n > 0; --n) function();
    initial_ = &program_.initial;
    const unsigned length = 4 + below(30);
    for (unsigned n = 0; n < length; ++n) {
      program_.body.push_back(below(program_.modern ? 2 : 5) == 0 ? together() : statement(0));
    }
    // From here on threads may leave.
    exits_ = true;
    for (unsigned n = below(8); n > 0; --n) program_.body.push_back(statement(0));
    return std::move(program_);
  }

 private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }

  std::uint64_t value(char c) {
    if (c == 'f') {
      const float v =
          below(4) == 0 ? static_cast<float>(below(2000)) / 8.0f - 100.0f : floats[below(std::size(floats))];
      std::uint32_t bits = 0;
      std::memcpy(&bits, &v, sizeof bits);
      return bits;
    }
    if (c == 'g') {
      const double v = static_cast<double>(floats[below(std::size(floats))]) * (below(2) == 0 ? 1.0 : 1.0 / 3.0);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &v, sizeof bits);
      return bits;
    }
    const std::uint64_t v = below(2) == 0 ? edges[below(std::size(edges))] : random_() >> below(64);
    const unsigned bytes = class_bytes(c);
    return bytes == 8 || c == 'p' ? v : v & ((std::uint64_t{1} << (8 * bytes)) - 1);
  }

  void variables(Initial& initial, const std::array<unsigned, class_count>& counts) {
    for (unsigned c = 0; c < class_count; ++c) {
      for (unsigned i = 0; i < counts[c]; ++i) initial[c].push_back(value(classes[c]));
    }
  }

  void function() {
    Function f;
    variables(f.initial, {1, 3 + below(3), 2, 3, 1, 1 + below(2)});
    f.parameters = {'r'};
    if (below(2) == 0) f.parameters.push_back('d');
    if (below(3) == 0) f.parameters.push_back('f');
    f.result = "rdf"[below(3)];
    initial_ = &f.initial;
    in_function_ = true;
    for (unsigned n = 2 + below(6); n > 0; --n) f.body.push_back(statement(1));
    in_function_ = false;
    program_.functions.push_back(std::move(f));
  }

  unsigned count(char c) const { return static_cast<unsigned>((*initial_)[class_index(c)].size()); }

  Operand variable(char c) { return {c, false, below(count(c)), 0}; }
  Operand source(char letter) {
    const char c = static_cast<char>(letter | 0x20);
    if (c == letter && c != 'p' && below(4) == 0) return {c, true, 0, value(c)};
    return variable(c);
  }

  void maybe_guard(Statement& s) {
    if (below(4) != 0) return;
    s.guard = static_cast<int>(below(count('p')));
    s.guard_negated = below(2) != 0;
  }
  void must_guard(Statement& s) {
    s.guard = static_cast<int>(below(count('p')));
    s.guard_negated = below(2) != 0;
  }

  Statement operation() {
    Statement s;
    s.row = below(operations().size());
    const Operation& o = operations()[s.row];
    const char* shape = o.shape;
    for (; *shape != ':'; ++shape) {
      Operand to = variable(*shape);
      // Two results in one variable are not defined.
      for (const Operand& other : s.to) {
        if (other.type == to.type && other.variable == to.variable) to.variable = (to.variable + 1) % count(*shape);
      }
      s.to.push_back(to);
    }
    for (++shape; *shape != '\0'; ++shape) s.from.push_back(source(*shape));
    if (s.to.size() == 2 && s.to[0].type == s.to[1].type && s.to[0].variable == s.to[1].variable) return operation();
    maybe_guard(s);
    // In an operation of several instructions a guard that the first one writes would not be the guard of the second.
    for (const Operand& to : s.to) {
      if (to.type == 'p' && static_cast<int>(to.variable) == s.guard) s.guard = -1;
    }
    return s;
  }

  Statement memory() {
    Statement s;
    s.kind = below(2) == 0 ? Statement::Kind::load : Statement::Kind::store;
    const bool load = s.kind == Statement::Kind::load;
    const Element* e = nullptr;
    do e = &elements[below(std::size(elements))];
    while (!(load ? e->loads : e->stores));
    s.element = e->type;
    s.element_bytes = e->bytes;
    s.count = 1u << below(3);
    while (s.count > 1 && (s.count * e->bytes > 16 || s.count > count(e->variable))) s.count /= 2;
    s.space = static_cast<Space>(below(3));
    s.generic = below(4) == 0;
    s.indexed = below(3) == 0;
    if (s.indexed) s.from.push_back(variable('r'));
    const unsigned access = s.count * e->bytes;
    s.offset = s.indexed ? 0 : below(slot_bytes / access) * access;
    const unsigned first = below(count(e->variable));
    for (unsigned i = 0; i < s.count; ++i) {
      const Operand element{e->variable, false, (first + i) % count(e->variable), 0};
      if (load) {
        s.to.push_back(element);
      } else {
        s.from.push_back(variable(e->variable));
      }
    }
    maybe_guard(s);
    return s;
  }

  Statement call() {
    Statement s;
    s.kind = Statement::Kind::call;
    s.function = below(program_.functions.size());
    const Function& f = program_.functions[s.function];
    for (const char c : f.parameters) s.from.push_back(variable(c));
    s.to.push_back(variable(f.result));
    return s;
  }

  std::vector<Statement> list(unsigned depth, unsigned longest) {
    std::vector<Statement> body;
    for (unsigned n = 1 + below(longest); n > 0; --n) body.push_back(statement(depth));
    return body;
  }

  /// One that threads may do alone.
  Statement statement(unsigned depth) {
    const unsigned kind = below(20);
    if (kind < 3 && depth < 4) {
      Statement s;
      s.kind = Statement::Kind::branch;
      must_guard(s);
      s.body = list(depth + 1, 5);
      if (below(2) == 0) s.other = list(depth + 1, 4);
      return s;
    }
    if (kind == 3 && loops_ < 2) {
      Statement s;
      s.kind = Statement::Kind::loop;
      s.trips = below(4);
      if (s.trips == 0) s.from.push_back(variable('r'));
      ++loops_;
      s.body = list(depth + 1, 5);
      --loops_;
      return s;
    }
    if (kind == 4 && loops_ > 0) {
      Statement s;
      s.kind = Statement::Kind::leave;
      must_guard(s);
      return s;
    }
    if (kind == 5 && exits_) {
      Statement s;
      s.kind = Statement::Kind::exit;
      must_guard(s);
      return s;
    }
    if (kind == 6 && !in_function_ && !program_.functions.empty()) return call();
    if (kind >= 7 && kind < 12 && !in_function_) {
      return program_.modern && kind == 7 ? draw_copy(draws_) : memory();
    }
    return operation();
  }

  /// One that all threads do together.
  Statement together() {
    if (program_.modern && below(3) != 0) return draw_together(draws_);
    Statement s;
    switch (below(4)) {
      case 0:
        s.kind = Statement::Kind::shuffle;
        s.mode = below(4);
        s.distance = 2u << below(5);
        s.to = {variable('r')};
        if (below(2) == 0) s.to.push_back(variable('p'));
        s.from = {variable('r'), below(2) == 0 ? variable('r') : Operand{'r', true, 0, below(32)}};
        break;
      case 1:
        s.kind = Statement::Kind::vote;
        s.mode = below(5);
        s.to = {variable(s.mode >= 3 ? 'r' : 'p')};
        s.from = {variable(s.mode == 4 ? 'r' : 'p')};
        break;
      case 2:
        s.kind = Statement::Kind::exchange;
        s.distance = 1 + below(threads_per_cta - 1);
        s.to = {variable('r')};
        s.from = {variable('r')};
        break;
      default:
        s.kind = Statement::Kind::reduce;
        s.mode = below(reductions().size());
        s.to = {variable('r')};
        s.from = {variable('r')};
        maybe_guard(s);
    }
    return s;
  }

  std::mt19937_64 random_;
  const Draws draws_{[this](std::size_t n) { return below(n); }, [this](char c) { return variable(c); },
                     [this](char c) { return count(c); }, [this] { return operation(); }};
  Program program_;
  const Initial* initial_ = nullptr;
  unsigned loops_ = 0;
  bool exits_ = false;
  bool in_function_ = false;
};

}  // namespace

Program generate(std::uint64_t seed, Instructions instructions) {
  return Generator(seed, instructions == Instructions::modern).run();
}

}  // namespace regatta::test::differential

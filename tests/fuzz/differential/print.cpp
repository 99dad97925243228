// SPDX-License-Identifier: Apache-2.0
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "modern.h"
#include "operations.h"
#include "program.h"

namespace regatta::test::differential {
namespace {

constexpr const char* register_types[class_count] = {".b16", ".b32", ".b64", ".f32", ".f64", ".pred"};
constexpr const char* store_types[class_count] = {"u16", "u32", "u64", "f32", "f64", ""};

std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* text, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

std::string number(char c, std::uint64_t bits) {
  const auto wide = static_cast<unsigned long long>(bits);
  if (c == 'f') return format("0f%08llX", wide);
  if (c == 'g') return format("0d%016llX", wide);
  return format("%llu", wide);
}

std::string name(char c, unsigned variable) { return "%" + std::string(1, c) + std::to_string(variable); }
std::string name(const Operand& o) { return o.immediate ? number(o.type, o.bits) : name(o.type, o.variable); }

std::string guard_of(const Statement& s, bool inverted = false) {
  if (s.guard < 0) return "";
  return std::string("@") + (s.guard_negated != inverted ? "!" : "") + name('p', static_cast<unsigned>(s.guard)) + " ";
}

/// Where an access of a statement goes: its address operand, and the instructions that compute it.
struct Address {
  std::string code;
  std::string text;
};

Address address_of(const Statement& s) {
  const bool shared = s.space == Space::shared;
  const bool narrow = shared && !s.generic;
  std::string base = "%own_global";
  if (shared) base = s.generic ? "%gen_shared" : "%own_shared";
  if (s.space == Space::local) base = s.generic ? "%gen_local" : "%own_local";
  if (!s.indexed) return {"", "[" + base + "+" + std::to_string(s.offset) + "]"};
  const unsigned access = s.count * s.element_bytes;
  std::string code = format("  and.b32 %%t0, %s, %u;\n  mul.lo.u32 %%t0, %%t0, %u;\n", name(s.from[0]).c_str(),
                            slot_bytes / access - 1, access);
  if (narrow) return {code + "  add.u32 %t0, " + base + ", %t0;\n", "[%t0]"};
  return {code + "  cvt.u64.u32 %u0, %t0;\n  add.u64 %u0, " + base + ", %u0;\n", "[%u0]"};
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    text_ = program_.modern ? ".version 8.0\n.target sm_90\n" : ".version 7.0\n.target sm_75\n";
    text_ += ".address_size 64\n";
    for (std::size_t i = 0; i < program_.functions.size(); ++i) function(i);
    text_ += ".visible .entry k(.param .u64 out)\n{\n";
    declare(program_.initial);
    text_ += format(
        "  .shared .align 16 .b8 tile[%u];\n  .shared .align 16 .b8 area[%u];\n  .shared .align 4 .b8 "
        "counter[4];\n  .local .align 16 .b8 frame[%u];\n",
        threads_per_cta * slot_bytes, threads_per_cta * 4, slot_bytes);
    text_ += "  .reg .b32 %tid, %lin, %own_shared;\n  .reg .b64 %own_global, %own_local, %gen_shared, %gen_local;\n";
    places();
    clear_slots();
    first_values();
    if (program_.modern) text_ += modern_start();
    list(program_.body);
    results();
    text_ += "  ret;\n}\n";
    return std::move(text_);
  }

 private:
  std::string label() { return "L" + std::to_string(labels_++); }

  void declare(const Initial& initial) {
    for (unsigned c = 0; c < class_count; ++c) {
      if (!initial[c].empty()) {
        text_ += format("  .reg %s %%%c<%zu>;\n", register_types[c], classes[c], initial[c].size());
      }
    }
    text_ += "  .reg .b32 %t<4>, %c<3>;\n  .reg .b64 %u<4>;\n  .reg .pred %q<4>;\n";
  }

  void places() {
    text_ += format(
        "  mov.u32 %%t0, %%tid.y;\n  mov.u32 %%t1, %%tid.x;\n  mad.lo.u32 %%tid, %%t0, %u, %%t1;\n"
        "  mov.u32 %%t0, %%ctaid.x;\n  mad.lo.u32 %%lin, %%t0, %u, %%tid;\n"
        "  ld.param.u64 %%u0, [out];\n  cvta.to.global.u64 %%u0, %%u0;\n  mul.wide.u32 %%u1, %%lin, %u;\n"
        "  add.u64 %%own_global, %%u0, %%u1;\n"
        "  mov.u32 %%t0, tile;\n  mad.lo.u32 %%own_shared, %%tid, %u, %%t0;\n"
        "  cvt.u64.u32 %%u0, %%own_shared;\n  cvta.shared.u64 %%gen_shared, %%u0;\n"
        "  mov.u64 %%own_local, frame;\n  cvta.local.u64 %%gen_local, %%own_local;\n",
        block[0], threads_per_cta, result_bytes(program_), slot_bytes);
  }

  void clear_slots() {
    text_ += "  mov.u64 %u0, 0;\n";
    for (unsigned at = 0; at < slot_bytes; at += 8) {
      text_ += format("  st.shared.u64 [%%own_shared+%u], %%u0;\n  st.local.u64 [%%own_local+%u], %%u0;\n", at, at);
    }
  }

  /// first_value(), in PTX.
  void first_values() {
    for (unsigned c = 0; c < class_count; ++c) {
      for (unsigned i = 0; i < program_.initial[c].size(); ++i) first_value(classes[c], i, program_.initial[c][i]);
    }
  }

  void first_value(char c, unsigned i, std::uint64_t initial) {
    const std::string variable = name(c, i);
    const auto low = static_cast<unsigned long long>(initial & 0xffffffff);
    const auto wide = static_cast<unsigned long long>(initial);
    const char* v = variable.c_str();
    const bool wild = i % wild_floats == 0;
    const std::string mixed = format("  mad.lo.u32 %%t0, %%lin, %u, %llu;\n", thread_multiplier, low);
    const std::string mixed_wide =
        format("  mul.wide.u32 %%u0, %%lin, %u;\n  add.u64 %%u0, %%u0, %llu;\n", thread_multiplier, wide);
    switch (c) {
      case 'h':
        text_ += mixed + format("  cvt.u16.u32 %s, %%t0;\n", v);
        break;
      case 'r':
        text_ += mixed + format("  mov.b32 %s, %%t0;\n", v);
        break;
      case 'd':
        text_ += mixed_wide + format("  mov.b64 %s, %%u0;\n", v);
        break;
      case 'f':
        text_ += wild ? mixed + format("  mov.b32 %s, %%t0;\n", v)
                      : format("  sub.s32 %%t0, %%lin, 40;\n  cvt.rn.f32.s32 %s, %%t0;\n  mul.rn.f32 %s, %s, %s;\n", v,
                               v, v, number('f', initial).c_str());
        break;
      case 'g':
        text_ += wild ? mixed_wide + format("  mov.b64 %s, %%u0;\n", v)
                      : format("  sub.s32 %%t0, %%lin, 40;\n  cvt.rn.f64.s32 %s, %%t0;\n  mul.rn.f64 %s, %s, %s;\n", v,
                               v, v, number('g', initial).c_str());
        break;
      default:
        text_ += format(
            "  and.b32 %%t0, %%lin, 31;\n  mov.u64 %%u0, %llu;\n  shr.u64 %%u0, %%u0, %%t0;\n"
            "  cvt.u32.u64 %%t0, %%u0;\n  and.b32 %%t0, %%t0, 1;\n  setp.ne.u32 %s, %%t0, 0;\n",
            wide, v);
    }
  }

  void results() {
    for (unsigned at = 0; at < slot_bytes; at += 16) {
      for (const auto& [space, base, offset] : {std::array<const char*, 3>{"shared", "%own_shared", "1"},
                                                std::array<const char*, 3>{"local", "%own_local", "2"}}) {
        text_ += format(
            "  ld.%s.v4.u32 {%%t0, %%t1, %%t2, %%t3}, [%s+%u];\n"
            "  st.global.v4.u32 [%%own_global+%u], {%%t0, %%t1, %%t2, %%t3};\n",
            space, base, at, static_cast<unsigned>(offset[0] - '0') * slot_bytes + at);
      }
    }
    unsigned at = 3 * slot_bytes;
    for (unsigned c = 0; c < class_count; ++c) {
      for (unsigned i = 0; i < program_.initial[c].size(); ++i, at += 8) {
        const std::string variable = name(classes[c], i);
        if (classes[c] == 'p') {
          text_ +=
              format("  selp.b32 %%t0, 1, 0, %s;\n  st.global.u32 [%%own_global+%u], %%t0;\n", variable.c_str(), at);
        } else {
          text_ += format("  st.global.%s [%%own_global+%u], %s;\n", store_types[c], at, variable.c_str());
        }
      }
    }
  }

  void function(std::size_t index) {
    const Function& f = program_.functions[index];
    const auto parameter_type = [](char c) { return register_types[class_index(c)]; };
    text_ += format(".func (.param %s result) f%zu(", parameter_type(f.result), index);
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      text_ += format("%s.param %s a%zu", i == 0 ? "" : ", ", parameter_type(f.parameters[i]), i);
    }
    text_ += ")\n{\n";
    declare(f.initial);
    for (unsigned c = 0; c < class_count; ++c) {
      for (unsigned i = 0; i < f.initial[c].size(); ++i) {
        const std::uint64_t v = f.initial[c][i];
        const std::string variable = name(classes[c], i);
        if (classes[c] == 'p') {
          text_ += format("  mov.u32 %%t0, %u;\n  setp.ne.u32 %s, %%t0, 0;\n", static_cast<unsigned>(v & 1),
                          variable.c_str());
        } else {
          text_ += format("  mov.%s %s, %s;\n", store_types[c], variable.c_str(), number(classes[c], v).c_str());
        }
      }
    }
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      text_ += format("  ld.param.%s %s, [a%zu];\n", store_types[class_index(f.parameters[i])],
                      name(f.parameters[i], static_cast<unsigned>(i)).c_str(), i);
    }
    list(f.body);
    text_ += format("  st.param.%s [result], %s;\n  ret;\n}\n", store_types[class_index(f.result)],
                    name(f.result, 0).c_str());
  }

  void list(const std::vector<Statement>& body) {
    for (const Statement& s : body) statement(s);
  }

  void statement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::operation:
        return operation(s);
      case Statement::Kind::branch:
        return branch(s);
      case Statement::Kind::loop:
        return loop(s);
      case Statement::Kind::leave:
        text_ += "  " + guard_of(s) + "bra " + ends_.back() + ";\n";
        return;
      case Statement::Kind::exit:
        text_ += "  " + guard_of(s) + "exit;\n";
        return;
      case Statement::Kind::load:
      case Statement::Kind::store:
        return memory(s);
      case Statement::Kind::call:
        return call(s);
      case Statement::Kind::shuffle:
        return shuffle(s);
      case Statement::Kind::vote:
        return vote(s);
      case Statement::Kind::exchange:
        return s.mode == by_barrier ? exchange(s) : modern(s);
      case Statement::Kind::reduce:
        return reduce(s);
      default:
        return modern(s);
    }
  }

  void modern(const Statement& s) {
    const std::string before = std::exchange(text_, {});
    list(s.body);
    const std::string body = std::exchange(text_, before);
    text_ += print_modern(
        program_, s, phase_, [this] { return label(); }, body);
    if (uses_mbarrier(s)) ++phase_;
  }

  void operation(const Statement& s) {
    text_ += "  " + guard_of(s);
    for (const char* c = operations()[s.row].text; *c != '\0'; ++c) {
      if (*c == '$') {
        const std::size_t n = static_cast<std::size_t>(*++c - '0');
        text_ += name(n < s.to.size() ? s.to[n] : s.from[n - s.to.size()]);
      } else if (*c == ' ' && *(c - 1) == ';') {
        text_ += "\n  " + guard_of(s);
      } else {
        text_ += *c;
      }
    }
    text_ += "\n";
  }

  void branch(const Statement& s) {
    const std::string other = label();
    text_ += "  " + guard_of(s, true) + "bra " + other + ";\n";
    list(s.body);
    if (s.other.empty()) {
      text_ += other + ":\n";
      return;
    }
    const std::string end = label();
    text_ += "  bra " + end + ";\n" + other + ":\n";
    list(s.other);
    text_ += end + ":\n";
  }

  void loop(const Statement& s) {
    const std::string top = label();
    const std::string end = label();
    const std::size_t counter = ends_.size();
    text_ += s.trips != 0 ? format("  mov.u32 %%c%zu, %u;\n", counter, s.trips)
                          : format("  and.b32 %%c%zu, %s, 3;\n", counter, name(s.from[0]).c_str());
    text_ += top + ":\n" + format("  setp.eq.u32 %%q3, %%c%zu, 0;\n  @%%q3 bra %s;\n", counter, end.c_str());
    text_ += format("  sub.u32 %%c%zu, %%c%zu, 1;\n", counter, counter);
    ends_.push_back(end);
    list(s.body);
    ends_.pop_back();
    text_ += "  bra " + top + ";\n" + end + ":\n";
  }

  void memory(const Statement& s) {
    const Address address = address_of(s);
    const bool load = s.kind == Statement::Kind::load;
    constexpr const char* spaces[] = {".global", ".shared", ".local"};
    std::string values;
    for (unsigned i = 0; i < s.count; ++i) {
      values += (i == 0 ? "" : ", ") + name(load ? s.to[i] : s.from[i + (s.indexed ? 1 : 0)]);
    }
    if (s.count > 1) values = "{" + values + "}";
    text_ += address.code + "  " + guard_of(s) + (load ? "ld" : "st");
    if (!s.generic) text_ += spaces[static_cast<unsigned>(s.space)];
    if (s.count > 1) text_ += ".v" + std::to_string(s.count);
    text_ += std::string(".") + s.element + " " + (load ? values + ", " + address.text : address.text + ", " + values) +
             ";\n";
  }

  void call(const Statement& s) {
    const Function& f = program_.functions[s.function];
    text_ += "  {\n";
    std::string arguments;
    for (std::size_t i = 0; i < s.from.size(); ++i) {
      const unsigned c = class_index(f.parameters[i]);
      text_ += format("  .param %s x%zu;\n  st.param.%s [x%zu], %s;\n", register_types[c], i, store_types[c], i,
                      name(s.from[i]).c_str());
      arguments += format("%sx%zu", i == 0 ? "" : ", ", i);
    }
    const unsigned c = class_index(f.result);
    text_ += format("  .param %s y;\n  call (y), f%zu, (%s);\n  ld.param.%s %s, [y];\n  }\n", register_types[c],
                    s.function, arguments.c_str(), store_types[c], name(s.to[0]).c_str());
  }

  void shuffle(const Statement& s) {
    constexpr const char* modes[] = {"up", "down", "bfly", "idx"};
    const unsigned clamp = ((32 - s.distance) << 8) | (s.mode == 0 ? 0 : 31);
    const std::string to = name(s.to[0]) + (s.to.size() > 1 ? "|" + name(s.to[1]) : "");
    text_ += format("  shfl.sync.%s.b32 %s, %s, %s, %u, -1;\n", modes[s.mode], to.c_str(), name(s.from[0]).c_str(),
                    name(s.from[1]).c_str(), clamp);
  }

  void vote(const Statement& s) {
    constexpr const char* modes[] = {"vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred",
                                     "vote.sync.ballot.b32", "match.any.sync.b32"};
    text_ += format("  %s %s, %s, -1;\n", modes[s.mode], name(s.to[0]).c_str(), name(s.from[0]).c_str());
  }

  void exchange(const Statement& s) {
    text_ += format(
        "  shl.b32 %%t0, %%tid, 2;\n  mov.u32 %%t1, area;\n  add.u32 %%t2, %%t1, %%t0;\n  st.shared.u32 [%%t2], %s;\n"
        "  bar.sync 0;\n  add.u32 %%t0, %%tid, %u;\n  rem.u32 %%t0, %%t0, %u;\n  shl.b32 %%t0, %%t0, 2;\n"
        "  add.u32 %%t2, %%t1, %%t0;\n  ld.shared.u32 %%t3, [%%t2];\n  bar.sync 0;\n  mov.b32 %s, %%t3;\n",
        name(s.from[0]).c_str(), s.distance, threads_per_cta, name(s.to[0]).c_str());
  }

  void reduce(const Statement& s) {
    text_ += format(
        "  setp.eq.u32 %%q0, %%tid, 0;\n  mov.u32 %%t0, 0;\n  @%%q0 st.shared.u32 [counter], %%t0;\n  bar.sync 0;\n"
        "  %sred.shared.%s [counter], %s;\n  bar.sync 0;\n  ld.shared.u32 %%t0, [counter];\n  bar.sync 0;\n"
        "  mov.b32 %s, %%t0;\n",
        guard_of(s).c_str(), reductions()[s.mode].name, name(s.from[0]).c_str(), name(s.to[0]).c_str());
  }

  const Program& program_;
  std::string text_;
  std::vector<std::string> ends_;  ///< of the loops around
  unsigned labels_ = 0;
  unsigned phase_ = 0;  ///< of the mbarrier
};

}  // namespace

std::string operand_name(const Operand& o) { return name(o); }
std::string guard_text(const Statement& s) { return guard_of(s); }

std::string print(const Program& program) { return Printer(program).run(); }

}  // namespace regatta::test::differential

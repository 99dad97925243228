// SPDX-License-Identifier: Apache-2.0
//
// Atomics and reductions of every operation, type, space, order and scope: on a word of the thread's own, and on one
// that all threads of a CTA meet at.
#include "exact.h"

namespace regatta::test::forms {
namespace {

constexpr u64 factor = 0x9e3779b97f4a7c15u;

using Update = std::function<u64(u64 old, u64 b, u64 c)>;

template <class T>
T as(u64 v) {
  return static_cast<T>(v);
}

struct Operation {
  std::string name, type;
  Update update;
};

template <class T>
void integers(std::vector<Operation>& list, const std::string& type) {
  list.push_back({"add", type, [](u64 o, u64 b, u64) { return o + b; }});
  list.push_back({"min", type, [](u64 o, u64 b, u64) { return as<T>(b) < as<T>(o) ? b : o; }});
  list.push_back({"max", type, [](u64 o, u64 b, u64) { return as<T>(b) > as<T>(o) ? b : o; }});
}
template <class T>
void bits(std::vector<Operation>& list, const std::string& type) {
  list.push_back({"and", type, [](u64 o, u64 b, u64) { return o & b; }});
  list.push_back({"or", type, [](u64 o, u64 b, u64) { return o | b; }});
  list.push_back({"xor", type, [](u64 o, u64 b, u64) { return o ^ b; }});
  list.push_back({"exch", type, [](u64, u64 b, u64) { return b; }});
  list.push_back({"cas", type, [](u64 o, u64 b, u64 c) { return as<T>(o) == as<T>(b) ? c : o; }});
}

u64 add_small(const Small& f, u64 a, u64 b) {
  return small_sum(f, small_value(f, a & 0xffffu), small_value(f, b & 0xffffu));
}

std::vector<Operation> operations(bool in_global) {
  std::vector<Operation> list;
  integers<u32>(list, "u32");
  integers<s32>(list, "s32");
  integers<u64>(list, "u64");
  integers<s64>(list, "s64");
  bits<u32>(list, "b32");
  bits<u64>(list, "b64");
  list.push_back({"inc", "u32", [](u64 o, u64 b, u64) { return as<u32>(o) >= as<u32>(b) ? 0 : o + 1; }});
  list.push_back(
      {"dec", "u32", [](u64 o, u64 b, u64) { return as<u32>(o) == 0 || as<u32>(o) > as<u32>(b) ? b : o - 1; }});
  list.push_back({"add", "f32", [in_global](u64 o, u64 b, u64) {
                    float x = from_bits<float>(o), y = from_bits<float>(b);
                    if (!in_global) return number_bits(x + y);
                    return number_bits(flush(flush(x) + flush(y)));
                  }});
  list.push_back(
      {"add", "f64", [](u64 o, u64 b, u64) { return number_bits(from_bits<double>(o) + from_bits<double>(b)); }});
  for (const bool brain : {false, true}) {
    const Small f = brain ? brain_format : half_format;
    const std::string type = brain ? "bf16" : "f16";
    list.push_back({"add.noftz", type, [f](u64 o, u64 b, u64) { return add_small(f, o, b); }});
    list.push_back({"add.noftz", type + "x2",
                    [f](u64 o, u64 b, u64) { return add_small(f, o, b) | (add_small(f, o >> 16, b >> 16) << 16); }});
  }
  list.push_back({"cas", "b16", [](u64 o, u64 b, u64 c) { return as<u16>(o) == as<u16>(b) ? c : o; }});
  return list;
}

u64 width(const std::string& type) {
  const char kind = letter(type);
  return kind == 'h' ? 0xffffu : kind == 'd' || kind == 'g' ? ~u64{0} : 0xffffffffu;
}

/// On bytes 0 to 7 of the thread's own memory, which hold a.
void own_word(Rows& rows, const std::string& form, const Operation& o, const std::string& space,
              const std::string& address, bool reduces) {
  const char kind = letter(o.type);
  const u64 mask = width(o.type);
  std::string body = form + " ";
  if (!reduces) body += reg(kind, '9') + ", ";
  body += "[" + address + "], " + reg(kind, 'b');
  if (o.name == "cas") body += ", " + reg(kind, 'c');
  body += "; ld" + (space.empty() ? "" : "." + space) + ".b64 %d8, [" + address + "]; mov.u64 %d9, 0;";
  if (!reduces) {
    if (kind == 'h') body += " cvt.u64.u16 %d9, %h9;";
    if (kind == 'r') body += " cvt.u64.u32 %d9, %r9;";
    if (kind == 'f') body += " mov.b32 %r9, %f9; cvt.u64.u32 %d9, %r9;";
    if (kind == 'g') body += " mov.b64 %d9, %g9;";
    if (kind == 'd') body = body.substr(0, body.size() - std::string(" mov.u64 %d9, 0;").size());
  }
  body += " mad.lo.u64 %d9, %d9, 0x9e3779b97f4a7c15, %d8;";
  const Values values = o.type == "f32"                           ? Values::floats
                        : o.type == "f64"                         ? Values::doubles
                        : o.type.find("f16") != std::string::npos ? Values::halves
                                                                  : Values::integers;
  const Update update = o.update;
  rows.push_back({form, 'd', body, values, each([=](u64 a, u64 b, u64 c) {
                    const u64 old = reduces ? 0 : a & mask;
                    return old * factor + ((a & ~mask) | (update(a & mask, b & mask, c & mask) & mask));
                  }),
                  true});
}

/// Forms in the order that compilers write: the operation before or behind the order and scope.
void forms_of(Rows& rows, const std::string& space, const std::string& address) {
  const std::string where = space.empty() ? "" : "." + space;
  for (const Operation& o : operations(space != "shared")) {
    for (const bool reduces : {false, true}) {
      if (reduces && (o.name == "exch" || o.name == "cas")) continue;
      const std::string mnemonic = reduces ? "red" : "atom", tail = "." + o.name + "." + o.type;
      std::vector<std::string> forms = {mnemonic + where + tail};
      for (const char* scope : {"cta", "gpu", "sys"}) {
        forms.push_back(mnemonic + where + "." + scope + tail);
        for (const char* order : {"relaxed", "acquire", "release", "acq_rel"}) {
          forms.push_back(mnemonic + where + "." + o.name + "." + order + "." + scope + "." + o.type);
          forms.push_back(mnemonic + "." + order + "." + scope + where + tail);
        }
      }
      for (const std::string& form : forms) own_word(rows, form, o, space, address, reduces);
    }
  }
}

/// All threads of a CTA on one word of shared memory; the threads' own words are theirs alone, so it is a word of
/// thread 0.
void contended(Rows& rows) {
  const auto row = [&](const std::string& form, const std::string& start, const std::function<u64(u64, u64)>& combine,
                       u64 first) {
    rows.push_back({form, 'r',
                    "st.shared.u32 [%ss], " + start + "; bar.sync 0; mov.u32 %r1, own; " + form + " " +
                        (form[0] == 'a' ? "%r2, " : "") + "[%r1], %ra; bar.sync 0; ld.shared.u32 %r9, [%r1];",
                    Values::integers,
                    [=](const Threads& x, std::size_t t) {
                      u64 v = first;
                      const std::size_t cta = t / Threads::block * Threads::block;
                      for (std::size_t i = 0; i < Threads::block; ++i)
                        v = combine(v, static_cast<u32>(x.a[cta + i])) & 0xffffffffu;
                      return v;
                    },
                    true});
  };
  row(
      "atom.shared.add.u32", "3", [](u64 v, u64 a) { return v + a; }, 3);
  row(
      "red.shared.add.u32", "3", [](u64 v, u64 a) { return v + a; }, 3);
  row(
      "atom.shared.or.b32", "0", [](u64 v, u64 a) { return v | a; }, 0);
  row(
      "atom.shared.max.u32", "0", [](u64 v, u64 a) { return v > a ? v : a; }, 0);
}

}  // namespace

Rows atomic_rows() {
  Rows rows;
  forms_of(rows, "", "%pg");
  forms_of(rows, "global", "%pg");
  forms_of(rows, "shared", "%ss");
  contended(rows);
  return rows;
}

}  // namespace regatta::test::forms

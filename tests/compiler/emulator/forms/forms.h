// SPDX-License-Identifier: Apache-2.0
//
// The table of instruction forms: one small kernel per form and what it must give, computed in C++ without the
// emulator's own functions. Each file of rows is one class of instructions; forms_test.cpp runs them all.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace regatta::test {
class Machine;
}

namespace regatta::test::forms {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// The operands of all threads of a launch; CTAs have `block` threads.
struct Threads {
  static constexpr std::size_t block = 128;
  std::vector<u64> a, b, c;
};
/// What thread `t` of the launch must give.
using Expected = std::function<u64(const Threads&, std::size_t t)>;

enum class Values : std::uint8_t {
  integers,
  floats,
  doubles,
  halves,
  narrow_floats  ///< f32 at the limits and ties of floats of 8 to 19 bits
};

/// A kernel is a prologue, `body`, and a store of `result`: 'h' %h9 (16 bits, zero-extended), 'r' %r9, 'f' %f9, 'd'
/// %d9, 'g' %g9, 'q' %q9 (0 or 1). The prologue puts thread t's operands into %ra %rb %rc (b32), %da %db %dc (b64),
/// %fa.. (f32), %ga.. (f64), %ha.. (b16), all from the same 64 bits, the linear thread into %t, the address of its
/// result into %po. With `memory` it also has 32 bytes of its own in every space, filled with a, b, c and a ^ b: at %pg
/// (global), %ss (b32, shared), %ll (b64, local); %gs and %gl are the generic addresses of the latter two. The constant
/// table `table` and the parameter `s` hold table_byte(0) to table_byte(31), 16-byte aligned.
struct Row {
  std::string form;
  char result = 'r';
  std::string body;
  Values values = Values::integers;
  Expected expected;
  bool memory = false;
  u64 tolerance = 0;      ///< units in the last place
  std::string before{};   ///< module-level text
  std::string message{};  ///< the run must end with an error that contains this
  std::string target = "sm_75";
  std::function<void(Machine&)> prepare{};  ///< called before the kernel runs
};
using Rows = std::vector<Row>;

Rows integer_rows();
Rows logic_rows();
Rows float_rows();
Rows half_rows();
Rows convert_rows();
Rows memory_rows();
Rows atomic_rows();
Rows lane_rows();
Rows control_rows();
Rows texture_rows();
Rows packed_rows();
Rows video_rows();
Rows async_rows();

inline u8 table_byte(std::size_t i) { return static_cast<u8>(i * 37 + 11); }

/// A reference of one thread's own operands.
inline Expected each(std::function<u64(u64, u64, u64)> f) {
  return [f = std::move(f)](const Threads& x, std::size_t t) { return f(x.a[t], x.b[t], x.c[t]); };
}

template <class T>
T from_bits(u64 bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
u64 to_bits(T value) {
  u64 bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The letter of the registers of a type by its name: "u32" r, "f64" g.
inline char letter(const std::string& type) {
  if (type == "f32") return 'f';
  if (type == "f64") return 'g';
  const std::string size = type.substr(type.find_first_of("0123456789"));
  return size == "64" ? 'd' : size == "32" || size == "16x2" ? 'r' : 'h';
}
/// "%ra" for ('r', 'a').
inline std::string reg(char kind, char name) { return std::string("%") + kind + name; }

/// "name.type %x9, %xa, %xb;" with `sources` sources.
inline std::string plain(const std::string& form, char kind, unsigned sources) {
  std::string text = form + " " + reg(kind, '9');
  for (unsigned n = 0; n < sources; ++n) text += ", " + reg(kind, static_cast<char>('a' + n));
  return text + ";";
}

}  // namespace regatta::test::forms

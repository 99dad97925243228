// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/narrow_addresses.h>

#include <regatta/base/address_map.h>

#include "accesses.h"

#include <vector>

namespace regatta::passes {
namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Type;

bool is_wide_integer(Type t) { return t == Type::b64 || t == Type::u64 || t == Type::s64; }
bool is_integer_of_32(Type t) { return t == Type::b32 || t == Type::u32 || t == Type::s32; }
bool is_small_integer(Type t) { return !ir::is_float(t) && ir::size_of(t) >= 1 && ir::size_of(t) <= 4; }

Type narrow_type(Type t) { return t == Type::u64 ? Type::u32 : t == Type::s64 ? Type::s32 : Type::b32; }

/// An address in one of the windows of generic addresses.
bool in_window(std::uint64_t value) {
  const std::uint64_t window = base::window_number(value);
  return window != 0 && window < base::address_map.size() &&
         (value & base::window_offset_mask) < (std::uint64_t{1} << base::narrow_window_shift);
}

/// The window's address for 32-bit programs.
std::uint64_t narrow_window(std::uint64_t value) {
  return base::narrow_first_address(static_cast<base::Window>(base::window_number(value))) +
         (value & base::window_offset_mask);
}

/// Whether sums with it may have windows in place of numbers.
bool keeps_windows(Opcode op) {
  return op == Opcode::mov || op == Opcode::add || op == Opcode::sub || op == Opcode::selp || op == Opcode::mad_wide;
}

class Narrowing {
 public:
  explicit Narrowing(ir::Function& f) : f_(f), narrow_(f.registers.size()) {}

  NarrowResult run() {
    for (std::size_t v = 0; v < narrow_.size(); ++v) {
      narrow_[v] = !f_.registers[v].is_predicate && f_.registers[v].words == 2;
    }
    do {
      changed_ = false;
      for (const ir::Block& b : f_.blocks) {
        for (const Instruction& i : b.instructions) constrain(i);
      }
    } while (changed_);
    for (ir::Block& b : f_.blocks) {
      for (Instruction& i : b.instructions) rewrite(i);
    }
    NarrowResult result;
    for (std::size_t v = 0; v < narrow_.size(); ++v) {
      if (f_.registers[v].is_predicate || f_.registers[v].words != 2) continue;
      ++(narrow_[v] ? result.narrowed : result.wide);
      if (narrow_[v]) f_.registers[v].words = 1;
    }
    return result;
  }

 private:
  static bool is_wide(const Operand& o) { return o.is_reg() && o.words == 2; }
  bool is_narrow(const Operand& o) const { return is_wide(o) && narrow_[o.id]; }
  void keep(const Operand& o) {
    if (!is_narrow(o)) return;
    narrow_[o.id] = false;
    changed_ = true;
  }

  /// Its lower half is all that an operation needs of it.
  static bool fits(const Operand& o, Opcode op) {
    if (o.kind == Operand::Kind::special) return op != Opcode::mov;  // a clock of 64 bits
    if (o.kind != Operand::Kind::immediate || !o.symbol.empty()) return true;
    const auto value = static_cast<std::int64_t>(o.value);
    return value == static_cast<std::int64_t>(static_cast<std::int32_t>(value)) || (o.value >> 32) == 0 ||
           (keeps_windows(op) && in_window(o.value));
  }

  /// Whether the lower half of the 64-bit result follows from those of the sources.
  static bool by_halves(const Instruction& i) {
    if (i.mod.saturate || i.mod.carry_out || i.destinations.size() != 1) return false;
    for (const Operand& o : i.sources) {
      if (!o.is_predicate() && !fits(o, i.op)) return false;
    }
    switch (i.op) {
      case Opcode::mov:
      case Opcode::add:
      case Opcode::sub:
      case Opcode::mul_lo:
      case Opcode::mad_lo:
      case Opcode::neg:
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_:
      case Opcode::not_:
      case Opcode::shl:
      case Opcode::selp:
        return is_wide_integer(i.type);
      case Opcode::mul_wide:
      case Opcode::mad_wide:
        return is_integer_of_32(i.type);
      case Opcode::cvt:
        return is_wide_integer(i.type) && (is_small_integer(i.source_type) || is_wide_integer(i.source_type));
      case Opcode::ld:
        return is_wide_integer(i.type) && i.mod.vector == 1 && !i.mod.is_volatile;
      default:
        return false;
    }
  }

  static bool truncates(const Instruction& i) {
    return i.op == Opcode::cvt && !i.mod.saturate && is_wide_integer(i.source_type) && is_small_integer(i.type);
  }

  void constrain(const Instruction& i) {
    const bool wide_result = i.destinations.size() == 1 && is_wide(i.destinations[0]);
    if (wide_result && by_halves(i)) {
      // All narrow, or none; a load's address is for itself.
      bool all = narrow_[i.destinations[0].id];
      const std::size_t first = is_access(i) ? 1 : 0;
      for (std::size_t s = first; s < i.sources.size(); ++s)
        all = all && (!is_wide(i.sources[s]) || is_narrow(i.sources[s]));
      if (all) return;
      keep(i.destinations[0]);
      for (std::size_t s = first; s < i.sources.size(); ++s) keep(i.sources[s]);
      return;
    }
    for (const Operand& d : i.destinations) keep(d);
    if (truncates(i)) return;
    for (std::size_t s = is_access(i) ? 1 : 0; s < i.sources.size(); ++s) keep(i.sources[s]);
  }

  void rewrite(Instruction& i) {
    const bool narrow_result = i.destinations.size() == 1 && is_narrow(i.destinations[0]);
    if (truncates(i) && i.sources.size() == 1 && is_narrow(i.sources[0])) {
      i.source_type = narrow_type(i.source_type);
      copy_if_plain(i);
    } else if (narrow_result) {
      narrow(i);
    }
    for (Operand& d : i.destinations) shrink(d);
    for (Operand& s : i.sources) shrink(s);
  }
  void shrink(Operand& o) const {
    if (is_narrow(o)) o.words = 1;
  }

  static void narrow(Instruction& i) {
    for (Operand& o : i.sources) {
      if (o.kind == Operand::Kind::parameter) o.words = 1;
      if (o.kind != Operand::Kind::immediate || is_access(i)) continue;
      if (o.symbol.empty()) o.value = (in_window(o.value) ? narrow_window(o.value) : o.value) & 0xffffffffu;
      o.words = 1;
    }
    switch (i.op) {
      case Opcode::mul_wide:
        i.op = Opcode::mul_lo;
        break;
      case Opcode::mad_wide:
        i.op = Opcode::mad_lo;
        break;
      case Opcode::cvt:
        i.type = narrow_type(i.type);
        if (is_wide_integer(i.source_type)) i.source_type = narrow_type(i.source_type);
        copy_if_plain(i);
        break;
      default:
        i.type = narrow_type(i.type);
        break;
    }
  }

  /// A conversion between integers of 32 bits changes nothing.
  static void copy_if_plain(Instruction& i) {
    if (!is_integer_of_32(i.type) || !is_integer_of_32(i.source_type)) return;
    i.op = Opcode::mov;
    i.type = Type::b32;
    i.source_type = Type::none;
  }

  ir::Function& f_;
  std::vector<bool> narrow_;  ///< by virtual register
  bool changed_ = false;
};

}  // namespace

NarrowResult narrow_addresses(ir::Function& f) { return Narrowing(f).run(); }

}  // namespace regatta::passes

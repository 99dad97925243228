// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/combine.h>

#include "accesses.h"
#include "definitions.h"

#include <algorithm>
#include <map>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

/// Offsets that a memory instruction encodes: 24 bits with sign.
constexpr std::int64_t largest_offset = (1 << 23) - 1;

/// Instructions whose sources may come from the constant bank or be immediates, whichever source it is.
bool takes_constants(Opcode op) {
  switch (op) {
    case Opcode::mov:
    case Opcode::add:
    case Opcode::sub:
    case Opcode::add_cc:
    case Opcode::addc:
    case Opcode::sub_cc:
    case Opcode::subc:
    case Opcode::mul_lo:
    case Opcode::mul_hi:
    case Opcode::mul_wide:
    case Opcode::mad_lo:
    case Opcode::mad_hi:
    case Opcode::mad_wide:
    case Opcode::mul:
    case Opcode::fma:
    case Opcode::div:
    case Opcode::rem:
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::min:
    case Opcode::max:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::setp:
    case Opcode::selp:
    case Opcode::set:
    case Opcode::cvt:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::tanh:
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
    case Opcode::bfe:
    case Opcode::bfi:
    case Opcode::bfind:
    case Opcode::fns:
    case Opcode::prmt:
    case Opcode::shf:
    case Opcode::sad:
    case Opcode::lop3:
    case Opcode::dp4a:
    case Opcode::dp2a_lo:
    case Opcode::dp2a_hi:
    case Opcode::vabsdiff4:
      return true;
    default:
      return false;
  }
}

/// Whole registers of integers or bits.
bool is_integer(ir::Type t) {
  using ir::Type;
  return t == Type::b32 || t == Type::u32 || t == Type::s32 || t == Type::b64 || t == Type::u64 || t == Type::s64;
}

/// Launch dimensions lie in the constant bank beside the parameters.
bool is_bank_special(const Operand& o) {
  if (o.kind != Operand::Kind::special) return false;
  const auto s = static_cast<ir::Special>(o.value);
  return (s >= ir::Special::ntid_x && s <= ir::Special::ntid_z) ||
         (s >= ir::Special::nctaid_x && s <= ir::Special::nctaid_z);
}

bool is_bank(const Operand& o) { return o.kind == Operand::Kind::parameter || is_bank_special(o); }

bool is_zero(const Operand& o) { return o.kind == Operand::Kind::immediate && o.symbol.empty() && o.value == 0; }

bool is_number(const Operand& o) { return o.kind == Operand::Kind::immediate && o.symbol.empty(); }

bool is_mov(const Instruction& i) { return i.op == Opcode::mov && i.destinations.size() == 1 && i.sources.size() == 1; }

bool is_add(const Instruction& i, unsigned bytes) {
  return i.op == Opcode::add && is_integer(i.type) && ir::size_of(i.type) == bytes && !i.mod.saturate &&
         i.destinations.size() == 1 && i.sources.size() == 2;
}

bool is_wide_multiply(const Instruction& i) {
  return i.op == Opcode::mul_wide && (i.type == ir::Type::s32 || i.type == ir::Type::u32) && i.sources.size() == 2;
}

class Combiner {
 public:
  explicit Combiner(ir::Function& f) : f_(f), definitions_(f) {}

  CombineResult run() {
    for (std::uint32_t b : definitions_.order())
      for (std::uint32_t n = 0; n < f_.blocks[b].instructions.size(); ++n) {
        at_ = {b, n};
        Instruction& i = f_.blocks[b].instructions[n];
        if (ir::takes_texture(i.op)) fold_handle(i);
        fold_sources(i);
        simplify(i);
        widen_shift(i);
        multiply_add(i);
        if (is_access(i)) fold_offset(i);
      }
    return result_;
  }

 private:
  void replace(Operand& o, const Operand& by) {
    o = by;
    if (o.is_reg() || o.is_predicate()) definitions_.add_use(o.id, at_);
  }
  const Instruction* definition(const Operand& o) const {
    return o.is_reg() || o.is_predicate() ? definitions_.unique(o.id, at_) : nullptr;
  }

  static unsigned count_banks(const Instruction& i) {
    return static_cast<unsigned>(std::count_if(i.sources.begin(), i.sources.end(), is_bank));
  }
  static bool has_immediate(const Instruction& i) {
    return std::any_of(i.sources.begin(), i.sources.end(),
                       [](const Operand& o) { return o.kind == Operand::Kind::immediate && !is_zero(o); });
  }

  static bool takes_immediate(const Instruction& i, std::size_t source, const Operand& value) {
    if (takes_constants(i.op)) return is_zero(value) || !has_immediate(i);
    if (ir::takes_texture(i.op)) return source == 0;
    if (!is_access(i)) return false;
    if (source == 0)
      return value.symbol.empty() && i.mod.space != MemorySpace::global && i.mod.space != MemorySpace::generic &&
             i.mod.space != MemorySpace::none;
    return i.op == Opcode::st && i.mod.vector == 1 && is_zero(value);  // the register that reads as zero
  }

  static bool takes_bank(const Instruction& i, std::size_t source) {
    if (ir::takes_texture(i.op)) return source == 0;  // the handle
    return takes_constants(i.op) && count_banks(i) == 0;
  }

  /// Reads through copies, constants and parameter loads.
  void fold_sources(Instruction& i) {
    if (i.guarded) fold_guard(i);
    for (std::size_t s = 0; s < i.sources.size(); ++s)
      while (fold_source(i, s)) {
      }
  }

  /// A handle is the lower half of a texture object, which mostly is a parameter or the name of a reference.
  void fold_handle(Instruction& i) {
    const Instruction* d = definition(i.sources[0]);
    if (!d || d->op != Opcode::cvt || d->guarded || d->type != ir::Type::u32 || d->source_type != ir::Type::u64) return;
    Operand whole = d->sources[0];
    if (whole.is_reg()) {
      const Instruction* load = definitions_.unique(whole.id, definitions_.place(i.sources[0].id));
      if (!load || load->destinations.size() != 1) return;
      if (load->op == Opcode::ld && load->mod.space == MemorySpace::param && load->mod.vector == 1 &&
          is_number(load->sources[0]) && ir::size_of(load->type) == 8) {
        whole = Operand::parameter(load->sources[0].value + static_cast<std::uint64_t>(load->offset), 2);
      } else if (is_mov(*load)) {
        whole = load->sources[0];
      }
    }
    if (whole.kind != Operand::Kind::parameter && whole.kind != Operand::Kind::immediate) return;
    whole.words = 1;
    if (whole.kind == Operand::Kind::immediate && whole.symbol.empty()) whole.value &= 0xffffffffu;
    replace(i.sources[0], whole);
    ++result_.bank_operands;
  }

  void fold_guard(Instruction& i) {
    const Instruction* d = definitions_.unique(i.guard, at_);
    if (!d || !is_mov(*d) || !d->sources[0].is_predicate() || d->sources[0].negated) return;
    if (!definitions_.is_stable(d->sources[0], definitions_.place(i.guard), at_)) return;
    i.guard = d->sources[0].id;
    definitions_.add_use(i.guard, at_);
    ++result_.copies;
  }

  bool fold_source(Instruction& i, std::size_t s) {
    Operand& o = i.sources[s];
    const Instruction* d = definition(o);
    if (!d || d->destinations.size() != 1) return false;
    if (is_mov(*d)) {
      const Operand& value = d->sources[0];
      if (o.is_predicate()) {
        if (!value.is_predicate() || value.negated || value.id == o.id || !stable(o, value)) return false;
        const bool negated = o.negated;
        replace(o, value);
        o.negated = negated;
        ++result_.copies;
        return true;
      }
      if (value.is_reg()) {
        if (value.words != o.words || value.id == o.id || !stable(o, value)) return false;
        replace(o, value);
        ++result_.copies;
        return true;
      }
      if (ir::size_of(d->type) != 4u * o.words) return false;  // narrow moves convert
      if (value.kind == Operand::Kind::immediate && takes_immediate(i, s, value)) {
        const unsigned words = o.words;
        replace(o, value);
        if (words == 1 && o.symbol.empty()) o.value &= 0xffffffffu;
        o.words = static_cast<std::uint8_t>(words);
        ++result_.immediates;
        return false;
      }
      if (is_bank(value) && takes_bank(i, s)) {
        replace(o, value);
        ++result_.bank_operands;
      }
      return false;
    }
    if (d->op == Opcode::ld && d->mod.space == MemorySpace::param && d->mod.vector == 1 && is_number(d->sources[0]) &&
        ir::size_of(d->type) == 4u * o.words && takes_bank(i, s)) {
      replace(o, Operand::parameter(d->sources[0].value + static_cast<std::uint64_t>(d->offset), o.words));
      ++result_.bank_operands;
    }
    return false;
  }

  bool stable(const Operand& o, const Operand& value) const {
    return definitions_.is_stable(value, definitions_.place(o.id), at_);
  }

  /// Sums with zero and of numbers, products without an addend.
  static void simplify(Instruction& i) {
    if (!is_integer(i.type) || i.mod.saturate) return;
    if (i.op == Opcode::add && i.sources.size() == 2) {
      if (is_number(i.sources[0]) && is_number(i.sources[1])) {
        Operand sum = i.sources[0];
        sum.value += i.sources[1].value;
        if (ir::size_of(i.type) == 4) sum.value &= 0xffffffffu;
        i.sources = {sum};
      } else if (is_zero(i.sources[1])) {
        i.sources.pop_back();
      } else if (is_zero(i.sources[0])) {
        i.sources.erase(i.sources.begin());
      } else {
        return;
      }
      i.op = Opcode::mov;
      i.type = ir::size_of(i.type) == 8 ? ir::Type::b64 : ir::Type::b32;
    } else if (i.op == Opcode::mad_lo && i.sources.size() == 3 && is_zero(i.sources[2])) {
      i.sources.pop_back();
      i.op = Opcode::mul_lo;
    }
  }

  /// A 64-bit shift of an extended 32-bit value is a wide multiply of that value.
  void widen_shift(Instruction& i) {
    if (i.op != Opcode::shl || ir::size_of(i.type) != 8 || i.sources.size() != 2 || !is_number(i.sources[1]) ||
        i.sources[1].value > 30)
      return;
    const Instruction* d = definition(i.sources[0]);
    if (!d || !is_extension(*d) || !stable(i.sources[0], d->sources[0]) || !same_loop(i.sources[0])) return;
    const ir::Type type = d->source_type;
    const Operand factor = Operand::immediate(std::uint64_t{1} << i.sources[1].value);
    replace(i.sources[0], d->sources[0]);
    i.sources[1] = factor;
    i.op = Opcode::mul_wide;
    i.type = type;
    ++result_.multiply_adds;
  }

  static bool is_extension(const Instruction& d) {
    return d.op == Opcode::cvt && ir::size_of(d.type) == 8 && is_integer(d.type) && !d.mod.saturate &&
           (d.source_type == ir::Type::s32 || d.source_type == ir::Type::u32) && d.sources.size() == 1 &&
           d.sources[0].is_reg();
  }

  bool same_loop(const Operand& o) { return definitions_.same_loop(definitions_.place(o.id).block, at_.block); }

  /// base + index * size: one instruction, when that leaves the product without a use.
  void multiply_add(Instruction& i) {
    if (!is_add(i, 8)) return;
    for (std::size_t s = 0; s < 2; ++s) {
      const Operand product = i.sources[s], base = i.sources[1 - s];
      const Instruction* d = definition(product);
      if (!d || !is_wide_multiply(*d) || base.id == product.id || !same_loop(product)) continue;
      if (!only_added(product.id)) continue;
      if (!stable(product, d->sources[0]) || !stable(product, d->sources[1])) continue;
      if (count_banks(*d) + (is_bank(base) ? 1u : 0u) > 1) continue;
      if (base.kind == Operand::Kind::immediate && has_immediate(*d)) continue;
      i.op = Opcode::mad_wide;
      i.type = d->type;
      const Operand a = d->sources[0], b = d->sources[1];
      i.sources = {a, b, base};
      if (a.is_reg()) definitions_.add_use(a.id, at_);
      if (b.is_reg()) definitions_.add_use(b.id, at_);
      ++result_.multiply_adds;
      return;
    }
  }

  bool only_added(std::uint32_t v) {
    const auto& uses = definitions_.uses(v);
    return std::all_of(uses.begin(), uses.end(), [&](Place p) {
      const Instruction& i = f_.blocks[p.block].instructions[p.index];
      const bool still_reads =
          std::any_of(i.sources.begin(), i.sources.end(), [&](const Operand& o) { return o.is_reg() && o.id == v; });
      return !still_reads || (is_add(i, 8) && definitions_.same_loop(p.block, definitions_.place(v).block));
    });
  }

  /// The addition of a number becomes the access's offset, when that leaves the sum without a use.
  void fold_offset(Instruction& i) {
    for (;;) {
      Operand& address = i.sources[0];
      const Instruction* d = address.is_reg() ? definition(address) : nullptr;
      if (!d || !is_add(*d, 4u * address.words) || is_number(d->sources[0]) == is_number(d->sources[1])) return;
      const Operand& base = d->sources[is_number(d->sources[0]) ? 1 : 0];
      if (!base.is_reg() || base.words != address.words || base.id == address.id) return;
      const std::uint64_t bits = d->sources[is_number(d->sources[0]) ? 0 : 1].value;
      const std::int64_t number = address.words == 1 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))
                                                     : static_cast<std::int64_t>(bits);
      if (number > largest_offset || number < -largest_offset) return;
      const std::int64_t sum = i.offset + number;
      if (sum > largest_offset || sum < -largest_offset) return;
      if (!stable(address, base) || !only_addressed(address.id)) return;
      i.offset = sum;
      replace(address, base);
      ++result_.offsets;
    }
  }

  bool only_addressed(std::uint32_t v) const {
    const auto& uses = definitions_.uses(v);
    return std::all_of(uses.begin(), uses.end(), [&](Place p) {
      const Instruction& i = f_.blocks[p.block].instructions[p.index];
      for (std::size_t s = 0; s < i.sources.size(); ++s)
        if (i.sources[s].is_reg() && i.sources[s].id == v && !(is_access(i) && s == 0)) return false;
      return true;
    });
  }

  ir::Function& f_;
  Definitions definitions_;
  Place at_;
  CombineResult result_;
};

}  // namespace

CombineResult combine(ir::Function& f) { return Combiner(f).run(); }

}  // namespace regatta::passes

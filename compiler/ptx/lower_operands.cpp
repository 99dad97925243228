// SPDX-License-Identifier: Apache-2.0
//
// Operands: registers with their type rules, immediates in their encoding, special registers, addresses of variables.
#include "literals.h"
#include "lowering.h"

#include <regatta/ir/address_windows.h>

namespace regatta::ptx {
namespace {

bool is_wide_special(ir::Special s) { return s == ir::Special::clock64 || s == ir::Special::globaltimer; }

std::string bits_text(ir::Type t) {
  return t == ir::Type::pred ? "a predicate" : "a " + std::to_string(8 * ir::size_of(t)) + "-bit register";
}

}  // namespace

const std::map<std::string, ir::Special>& special_registers() {
  static const std::map<std::string, ir::Special> table = [] {
    std::map<std::string, ir::Special> t;
    for (unsigned i = 0; i < static_cast<unsigned>(ir::Special::envreg); ++i) {
      const auto s = static_cast<ir::Special>(i);
      t.emplace(ir::to_string(s), s);
    }
    // A cluster is one CTA.
    t.emplace("%clusterid.x", ir::Special::ctaid_x);
    t.emplace("%clusterid.y", ir::Special::ctaid_y);
    t.emplace("%clusterid.z", ir::Special::ctaid_z);
    t.emplace("%nclusterid.x", ir::Special::nctaid_x);
    t.emplace("%nclusterid.y", ir::Special::nctaid_y);
    t.emplace("%nclusterid.z", ir::Special::nctaid_z);
    t.emplace("%envreg1", ir::Special::grid_barrier_high);
    t.emplace("%envreg2", ir::Special::grid_barrier_low);
    for (unsigned i = 0; i < 32; ++i) t.emplace("%envreg" + std::to_string(i), ir::Special::envreg);
    return t;
  }();
  return table;
}

const std::map<std::string, std::uint32_t>& reserved_shared_places() {
  static const std::map<std::string, std::uint32_t> table = {
      {"%reserved_smem_offset_begin", 0},
      {"%reserved_smem_offset_0", 0},
      {"%reserved_smem_offset_1", reserved_shared_bytes / 2},
      {"%reserved_smem_offset_end", reserved_shared_bytes},
  };
  return table;
}

std::optional<ir::Special> FunctionLowering::special_named(const std::string& name) {
  static const std::unordered_map<std::string, ir::Special> table(special_registers().begin(),
                                                                  special_registers().end());
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

ir::Operand FunctionLowering::temporary(ir::Type type) {
  const std::uint32_t id = new_register(type, "");
  return type == ir::Type::pred ? ir::Operand::predicate(id) : ir::Operand::reg(id, ir::words_of(type));
}

Symbol FunctionLowering::register_symbol(const Operand& o) {
  const std::optional<Symbol> s = find(o.name);
  if (!s) {
    if (!o.name.empty() && o.name.front() == '%')
      error(o.at, "'" + o.name + "' is neither a declared register nor a supported special register");
    if (symbols_.function(o.name) != nullptr) error(o.at, "address of entry '" + o.name + "' is not supported");
    error(o.at, "'" + o.name + "' is not declared");
  }
  if (s->kind == Symbol::Kind::opaque)
    error(o.at, "'" + o.name + "' is a sampler: not supported, expected a texture with its sampler");
  return *s;
}

void FunctionLowering::read_special(const Operand& o, ir::Special s, const ir::Operand& to, ir::Type type,
                                    const ir::Instruction& proto) {
  const bool wide = ir::size_of(type) == 8;
  if (s == ir::Special::gridid && wide) {
    // It has had 64 bits since PTX 3.0; our launches are fewer.
    const ir::Operand low = temporary(ir::Type::u32);
    emit(proto, ir::Opcode::mov, ir::Type::u32, {low}, {ir::Operand::special(s)});
    emit(proto, ir::Opcode::cvt, ir::Type::u64, {to}, {low});
    last().source_type = ir::Type::u32;
    return;
  }
  if (wide != is_wide_special(s))
    error(o.at, "'" + o.name + "' has " + (wide ? "32" : "64") + " bits, expected " + bits_text(type));
  emit(proto, ir::Opcode::mov, type, {to}, {ir::Operand::special(s)});
}

ir::Operand FunctionLowering::predicate_source(const Operand& o) {
  if (o.kind == Operand::Kind::integer) return ir::Operand::immediate(o.bits != 0 ? 1 : 0);
  if (o.kind != Operand::Kind::name) error(o.at, "'" + o.text + "' is not a predicate");
  if (o.name == explicit_cluster_name) return ir::Operand::immediate(f_.bounds.explicit_cluster != o.negated ? 1 : 0);
  const Symbol s = register_symbol(o);
  if (s.kind != Symbol::Kind::reg || s.type != ir::Type::pred) error(o.at, "'" + o.name + "' is not a predicate");
  return ir::Operand::predicate(s.id, o.negated);
}

ir::Operand FunctionLowering::source(const Operand& o, ir::Type type, const ir::Instruction& proto) {
  if (type == ir::Type::pred) {
    ir::Operand p = predicate_source(o);
    if (p.is_predicate()) return p;
    const ir::Operand t = temporary(ir::Type::pred);
    emit(proto, ir::Opcode::mov, ir::Type::pred, {t}, {p});
    return t;
  }
  const unsigned words = ir::words_of(type);
  if (o.kind == Operand::Kind::integer) return ir::Operand::immediate(integer_bits(o.bits, type), words);
  if (o.kind == Operand::Kind::real) {
    if (ir::size_of(type) < 4) error(o.at, "'" + o.text + "' is a floating-point number, expected an integer");
    return ir::Operand::immediate(real_bits(o.bits, o.single, ir::size_of(type)), words);
  }
  if (o.kind != Operand::Kind::name) error(o.at, "'" + o.text + "' is not a register or a number");
  if (o.negated) error(o.at, "'" + o.text + "': '!' is for predicates only");
  if (const auto value = cluster_constant(o.name)) {
    if (ir::size_of(type) != 4) error(o.at, "'" + o.name + "' has 32 bits, expected " + bits_text(type));
    return ir::Operand::immediate(*value, words);
  }
  if (const auto special = special_named(o.name)) {
    const ir::Operand t = temporary(ir::size_of(type) == 8 ? ir::Type::u64 : ir::Type::u32);
    read_special(o, *special, t, ir::size_of(type) == 8 ? ir::Type::u64 : ir::Type::u32, proto);
    return t;
  }
  const Symbol s = register_symbol(o);
  if (s.kind != Symbol::Kind::reg) {
    if (ir::size_of(type) < 4) error(o.at, "the address of '" + o.name + "' does not fit " + bits_text(type));
    const ir::Operand t = temporary(type);
    emit(proto, ir::Opcode::mov, words == 2 ? ir::Type::b64 : ir::Type::b32, {t}, {symbol_address(s, o, words)});
    return t;
  }
  if (ir::size_of(s.type) != ir::size_of(type))
    error(o.at, "'" + o.name + "' has type ." + ir::to_string(s.type) + ", expected " + bits_text(type));
  const ir::Operand r = ir::Operand::reg(s.id, words);
  if (o.offset == 0) return r;
  // "%r1+4": an addition that ptxas makes too.
  static constexpr ir::Type by_size[] = {ir::Type::none, ir::Type::none, ir::Type::u16,  ir::Type::none, ir::Type::u32,
                                         ir::Type::none, ir::Type::none, ir::Type::none, ir::Type::u64};
  const ir::Type sum = ir::is_float(s.type) ? ir::Type::none : by_size[ir::size_of(type)];
  if (sum == ir::Type::none) error(o.at, "'" + o.text + "' is not an operand");
  const ir::Operand t = temporary(type);
  emit(proto, ir::Opcode::add, sum, {t},
       {r, ir::Operand::immediate(integer_bits(static_cast<std::uint64_t>(o.offset), sum), words)});
  return t;
}

ir::Operand FunctionLowering::relaxed_source(const Operand& o, ir::Type type, const ir::Instruction& proto) {
  if (o.kind != Operand::Kind::name || o.negated || o.offset != 0 || special_named(o.name) || cluster_constant(o.name))
    return source(o, type, proto);
  const Symbol s = register_symbol(o);
  if (s.kind != Symbol::Kind::reg || ir::size_of(s.type) <= ir::size_of(type)) return source(o, type, proto);
  const ir::Operand r = ir::Operand::reg(s.id, ir::words_of(s.type));
  if (ir::words_of(s.type) == ir::words_of(type)) return r;
  const ir::Operand low = temporary(ir::Type::u32);
  emit(proto, ir::Opcode::cvt, ir::Type::u32, {low}, {r});
  draft_.instructions.back().source_type = ir::Type::u64;
  return low;
}

ir::Operand FunctionLowering::destination(const Operand& o, ir::Type type) {
  if (o.kind == Operand::Kind::sink) return temporary(type);
  if (o.kind != Operand::Kind::name || o.negated) error(o.at, "'" + o.text + "' is not a register");
  if (type == ir::Type::pred) return predicate_destination(o, o.name);
  const Symbol s = register_symbol(o);
  if (s.kind != Symbol::Kind::reg) error(o.at, "'" + o.name + "' is not a register");
  if (ir::size_of(s.type) != ir::size_of(type))
    error(o.at, "'" + o.name + "' has type ." + ir::to_string(s.type) + ", expected " + bits_text(type));
  return ir::Operand::reg(s.id, ir::words_of(type));
}

ir::Operand FunctionLowering::predicate_destination(const Operand& o, const std::string& name) {
  if (name == "_" || o.kind == Operand::Kind::sink) return temporary(ir::Type::pred);
  const std::optional<Symbol> s = find(name);
  if (!s || s->kind != Symbol::Kind::reg || s->type != ir::Type::pred)
    error(o.at, "'" + (name.empty() ? o.text : name) + "' is not a declared predicate");
  return ir::Operand::predicate(s->id);
}

void FunctionLowering::destinations_with_predicate(const Operand& o, ir::Type type, ir::Instruction& i) {
  if (o.kind != Operand::Kind::pair) {
    i.destinations.push_back(destination(o, type));
    return;
  }
  Operand value = o;
  value.kind = o.name == "_" ? Operand::Kind::sink : Operand::Kind::name;
  i.destinations.push_back(destination(value, type));
  i.destinations.push_back(predicate_destination(o, o.second));
}

FunctionLowering::RelaxedDestination FunctionLowering::relaxed_destination(const Operand& o, ir::Type type) {
  RelaxedDestination d;
  if (o.kind == Operand::Kind::name && !o.negated) {
    const Symbol s = register_symbol(o);
    if (s.kind == Symbol::Kind::reg && ir::size_of(s.type) > ir::size_of(type)) {
      d.wide = ir::Operand::reg(s.id, ir::words_of(s.type));
      d.widen = d.wide.words > ir::words_of(type);
      d.operand = d.widen ? temporary(type) : d.wide;
      return d;
    }
  }
  d.operand = destination(o, type);
  return d;
}

void FunctionLowering::finish_wide(const RelaxedDestination& d, ir::Type type, const ir::Instruction& proto) {
  if (!d.widen) return;
  static constexpr ir::Type unsigned_of[] = {ir::Type::u8, ir::Type::u8, ir::Type::u16, ir::Type::u32, ir::Type::u32};
  const bool is_signed = ir::is_signed(type);
  emit(proto, ir::Opcode::cvt, is_signed ? ir::Type::s64 : ir::Type::u64, {d.wide}, {d.operand});
  draft_.instructions.back().source_type = is_signed ? type : unsigned_of[ir::size_of(type)];
}

/// The stack pointer plus `offset` (64 bits: with the window's base), in a new register.
ir::Operand FunctionLowering::frame_address(std::uint64_t offset, unsigned words) {
  ir::Instruction bare;
  bare.where = where_;
  const ir::Operand narrow = temporary(ir::Type::u32);
  if (words == 1) {
    emit(bare, ir::Opcode::add, ir::Type::u32, {narrow}, {stack_pointer_, ir::Operand::immediate(offset)});
    return narrow;
  }
  const ir::Operand pointer = temporary(ir::Type::u64), address = temporary(ir::Type::u64);
  emit(bare, ir::Opcode::cvt, ir::Type::u64, {pointer}, {stack_pointer_});
  last().source_type = ir::Type::u32;
  emit(bare, ir::Opcode::add, ir::Type::u64, {address}, {pointer, ir::Operand::immediate(offset, 2)});
  return address;
}

ir::Operand FunctionLowering::symbol_address(const Symbol& s, const Operand& o, unsigned words) {
  if (s.in_frame)
    return frame_address(static_cast<std::uint64_t>(s.offset) + static_cast<std::uint64_t>(o.offset), words);
  const auto at = static_cast<std::uint64_t>(s.offset) + static_cast<std::uint64_t>(o.offset);
  switch (s.kind) {
    case Symbol::Kind::shared:
    case Symbol::Kind::local:
    case Symbol::Kind::constant:
    case Symbol::Kind::param:
    case Symbol::Kind::function: {
      ir::Operand i = ir::Operand::immediate(at, words);
      i.shared_variable = s.shared_variable;
      return i;
    }
    case Symbol::Kind::extern_shared:
    case Symbol::Kind::global: {
      if (s.kind == Symbol::Kind::global && words != address_words())
        error(o.at, "the address of '" + o.name + "' has " + std::to_string(address_bits_) + " bits, expected a " +
                        std::to_string(32 * words) + "-bit register");
      ir::Operand i = ir::Operand::immediate(static_cast<std::uint64_t>(o.offset), words);
      i.symbol = s.module_name != nullptr ? *s.module_name : o.name;
      return i;
    }
    case Symbol::Kind::reference: {
      if (o.offset != 0) error(o.at, "'" + o.text + "' is beside a texture or surface reference");
      ir::Operand i = ir::Operand::immediate(0, words);
      i.symbol = o.name;
      return i;
    }
    case Symbol::Kind::call_param: {
      // Taken as a generic address, since ld.param through a register cannot tell whose parameter it reads.
      const CallParam& p = call_params_[s.id];
      if (!p.in_memory) error(o.at, "the address of scalar parameter '" + o.name + "' is not supported");
      const std::uint64_t address = window(base::Window::local) + p.offset + static_cast<std::uint64_t>(o.offset);
      return p.in_frame ? frame_address(address, words) : ir::Operand::immediate(address, words);
    }
    default:
      error(o.at, "'" + o.name + "' has no address");
  }
}

}  // namespace regatta::ptx

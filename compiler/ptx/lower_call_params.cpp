// SPDX-License-Identifier: Apache-2.0
//
// The .param variables of calls: where they are stored, and how ld.param and st.param reach them.
#include "lowering.h"

namespace regatta::ptx {

using ir::Opcode;
using ir::Type;
using trace::MemorySpace;

/// Storage for a .param variable of a call. A scalar lives in a register; an array in local memory.
Symbol FunctionLowering::call_param(const Variable& v) {
  if (v.space == Variable::Space::opaque)
    error(v.at, "parameter '" + v.name + "' of type '" + v.type_text + "' is not supported");
  CallParam p;
  p.bytes = static_cast<std::uint32_t>(v.bytes());
  p.in_memory = v.is_array;
  static constexpr Type by_size[] = {Type::none, Type::u8,   Type::u16,  Type::none, Type::u32,
                                     Type::none, Type::none, Type::none, Type::u64};
  p.type = v.is_array ? v.type : by_size[ir::size_of(v.type)];
  if (p.in_memory)
    p.offset = place_local(v.bytes(), v.alignment, v.at, &p.in_frame);
  else
    p.value = temporary(p.type);
  call_params_.push_back(p);
  Symbol s;
  s.kind = Symbol::Kind::call_param;
  s.type = v.type;
  s.id = static_cast<std::uint32_t>(call_params_.size() - 1);
  s.bytes = p.bytes;
  return s;
}

namespace {

/// A plain value of `type`, as it is copied: of its size alone.
Type storage_type(Type type) {
  static constexpr Type by_size[] = {Type::none, Type::u8,   Type::u16,  Type::none, Type::u32,
                                     Type::none, Type::none, Type::none, Type::u64};
  return type == Type::pred ? type : by_size[ir::size_of(type)];
}

}  // namespace

/// A register of the callee for a formal parameter, or for an element of one.
ir::Operand FunctionLowering::register_parameter(const Variable& formal, const std::string& name, Scope& scope) {
  Symbol s;
  s.type = formal.type;
  s.id = new_register(formal.type, name);
  if (!scope.names.emplace(name, s).second) error(formal.at, "'" + name + "' is already declared in this scope");
  return formal.type == Type::pred ? ir::Operand::predicate(s.id) : ir::Operand::reg(s.id, ir::words_of(formal.type));
}

/// Gives a register of the callee the value of a register, a number or a scalar .param variable of the caller.
void FunctionLowering::copy_in(const ir::Operand& to, Type type, const Operand& actual, const ir::Instruction& proto) {
  const std::optional<Symbol> symbol =
      actual.kind == Operand::Kind::name && !actual.negated ? find(actual.name) : std::nullopt;
  const Type storage = storage_type(type);
  ir::Operand value;
  if (symbol && symbol->kind == Symbol::Kind::call_param) {
    const CallParam& p = call_params_[symbol->id];
    if (p.in_memory || p.bytes != ir::size_of(type))
      error(actual.at, "'" + actual.text + "' has " + std::to_string(p.bytes) + " bytes, expected " +
                           std::to_string(ir::size_of(type)));
    value = p.value;
  } else {
    value = source(actual, type, proto);
  }
  const bool narrow = storage == Type::u8 || storage == Type::u16;
  emit(proto, narrow ? Opcode::cvt : Opcode::mov, storage, {to}, {value});
  if (narrow) last().source_type = storage;
}

/// Gives a register or a scalar .param variable of the caller what the callee has left in a register.
void FunctionLowering::copy_out(const ResultCopy& r, const ir::Instruction& proto) {
  const std::optional<Symbol> symbol = r.to.kind == Operand::Kind::name ? find(r.to.name) : std::nullopt;
  const Type storage = storage_type(r.type);
  ir::Operand to;
  if (symbol && symbol->kind == Symbol::Kind::call_param) {
    const CallParam& p = call_params_[symbol->id];
    if (p.in_memory || p.bytes != ir::size_of(r.type))
      error(r.to.at, "'" + r.to.text + "' has " + std::to_string(p.bytes) + " bytes, expected " +
                         std::to_string(ir::size_of(r.type)));
    to = p.value;
  } else {
    to = destination(r.to, r.type);
  }
  const bool narrow = storage == Type::u8 || storage == Type::u16;
  emit(proto, narrow ? Opcode::cvt : Opcode::mov, storage, {to}, {r.from});
  if (narrow) last().source_type = storage;
}

/// The four combinations of .param and .reg: a .param variable of the caller is the callee's parameter itself;
/// otherwise values are copied.
void FunctionLowering::bind_parameter(const Function& callee, const Variable& formal, const Operand& actual,
                                      bool is_result, Scope& scope, const ir::Instruction& proto,
                                      std::vector<ResultCopy>& results) {
  if (formal.space == Variable::Space::opaque)
    error(formal.at, "parameter '" + formal.name + "' of type '" + formal.type_text + "' is not supported");
  const std::optional<Symbol> symbol =
      actual.kind == Operand::Kind::name && !actual.negated ? find(actual.name) : std::nullopt;
  const bool is_variable = symbol && symbol->kind == Symbol::Kind::call_param;
  if (formal.space == Variable::Space::param && is_variable) {
    if (symbol->bytes != formal.bytes())
      error(actual.at, "'" + actual.text + "' has " + std::to_string(symbol->bytes) + " bytes, '" + formal.name +
                           "' of '" + callee.name + "' has " + std::to_string(formal.bytes()));
    scope.names.emplace(formal.name, *symbol);
    return;
  }
  if (formal.space == Variable::Space::param) {
    if (formal.is_array || formal.vector > 1)
      error(actual.at,
            "'" + actual.text + "' is not a .param variable, as '" + formal.name + "' of '" + callee.name + "' needs");
    const Symbol made = call_param(formal);
    scope.names.emplace(formal.name, made);
    const ir::Operand value = call_params_[made.id].value;
    if (is_result) {
      results.push_back({actual, value, formal.type});
    } else {
      copy_in(value, formal.type, actual, proto);
    }
    return;
  }
  if (formal.is_array) error(formal.at, "a register parameter cannot be an array");
  std::vector<Operand> actuals{actual};
  if (formal.vector > 1) {
    if (actual.kind != Operand::Kind::vector || actual.elements.size() != formal.vector)
      error(actual.at, "'" + actual.text + "' is not a vector of " + std::to_string(formal.vector) +
                           " registers, as '" + formal.name + "' of '" + callee.name + "' is");
    actuals = actual.elements;
    has_vectors_ = true;
    Symbol whole;
    whole.kind = Symbol::Kind::vector;
    whole.type = formal.type;
    whole.id = formal.vector;
    scope.names.emplace(formal.name, whole);
  }
  for (std::size_t e = 0; e < actuals.size(); ++e) {
    const std::string name = formal.vector > 1 ? formal.name + "." + vector_elements[e] : formal.name;
    const ir::Operand reg = register_parameter(formal, name, scope);
    if (formal.vector > 1) scope.names.emplace(formal.name + "." + vector_colours[e], scope.names.at(name));
    if (is_result) {
      results.push_back({actuals[e], reg, formal.type});
    } else {
      copy_in(reg, formal.type, actuals[e], proto);
    }
  }
}

void FunctionLowering::call_param_access(const Statement& s, ir::Instruction proto, const Symbol& symbol,
                                         const Operand& address) {
  const CallParam p = call_params_[symbol.id];
  const unsigned size = ir::size_of(proto.type) * proto.mod.vector;
  if (address.offset < 0 || static_cast<std::uint64_t>(address.offset) + size > p.bytes)
    error(address.at, "'" + address.text + "' is outside parameter '" + address.name + "' of " +
                          std::to_string(p.bytes) + " bytes");
  if (p.in_memory) {
    proto.mod.space = MemorySpace::local;
    proto.offset = address.offset;
    add_local_address(proto, p.in_frame, p.offset);
    memory_operands(s, std::move(proto));
    return;
  }
  if (proto.op == Opcode::atom || proto.op == Opcode::red)
    error(address.at, "'" + s.name + "' of the scalar parameter '" + address.name + "' is not supported");
  if (proto.mod.vector != 1 || size != p.bytes) {
    const unsigned bytes = ir::size_of(proto.type);
    if (address.offset % bytes != 0)
      error(address.at,
            "'" + address.text + "' is not aligned to the " + std::to_string(bytes) + " bytes of '" + s.name + "'");
    if (proto.op == Opcode::st) {
      store_parts(s, proto, call_params_[symbol.id], static_cast<unsigned>(address.offset));
    } else {
      load_parts(s, proto, p, static_cast<unsigned>(address.offset));
    }
    return;
  }
  static constexpr Type unsigned_of[] = {Type::none, Type::u8,   Type::u16,  Type::none, Type::u32,
                                         Type::none, Type::none, Type::none, Type::u64};
  const Type access = ir::is_signed(proto.type) ? proto.type : unsigned_of[size];
  ir::Instruction bare = proto;
  bare.mod = {};
  if (proto.op == Opcode::st) {
    const ir::Operand value = relaxed_source(s.operands[1], proto.type, bare);
    emit(bare, size >= 4 ? Opcode::mov : Opcode::cvt, p.type, {p.value}, {value});
    if (draft_.instructions.back().op == Opcode::cvt) draft_.instructions.back().source_type = access;
    return;
  }
  const RelaxedDestination d = relaxed_destination(s.operands[0], proto.type);
  if (size >= 4) {
    emit(bare, Opcode::mov, access, {d.operand}, {p.value});
  } else {
    emit(bare, Opcode::cvt, ir::is_signed(access) ? Type::s32 : Type::u32, {d.operand}, {p.value});
    draft_.instructions.back().source_type = access;
  }
  finish_wide(d, proto.type, bare);
}

/// The 32-bit words of a scalar parameter, the lower first.
std::vector<ir::Operand> FunctionLowering::words_of_param(const CallParam& p, const ir::Instruction& proto) {
  if (ir::words_of(p.type) == 1) return {p.value};
  std::vector<ir::Operand> words{temporary(Type::b32), temporary(Type::b32)};
  emit(proto, Opcode::unpack, Type::b64, words, {p.value});
  return words;
}

/// A load of a part of a scalar, or of its parts as a vector.
void FunctionLowering::load_parts(const Statement& s, const ir::Instruction& proto, const CallParam& p,
                                  unsigned offset) {
  const ir::Instruction bare = plain(proto);
  const unsigned bytes = ir::size_of(proto.type);
  const std::vector<ir::Operand> words = words_of_param(p, bare);
  std::vector<RelaxedDestination> loaded;
  for (const Operand& o : data_elements(s, s.operands[0], proto.mod.vector)) {
    const RelaxedDestination d = relaxed_destination(o, proto.type);
    for (const RelaxedDestination& earlier : loaded)
      if (earlier.operand.id == d.operand.id) error(o.at, "'" + o.name + "' is loaded twice");
    loaded.push_back(d);
    const ir::Operand& word = words[offset / 4];
    if (bytes == 4) {
      emit(bare, Opcode::mov, Type::b32, {d.operand}, {word});
    } else {
      emit(bare, Opcode::bfe, ir::is_signed(proto.type) ? Type::s32 : Type::u32, {d.operand},
           {word, ir::Operand::immediate(8 * (offset % 4)), ir::Operand::immediate(8 * bytes)});
    }
    offset += bytes;
  }
  for (const RelaxedDestination& d : loaded) finish_wide(d, proto.type, bare);
}

/// A store to a part of a scalar, or of a vector to its parts. Halves are packed, which keeps apart which of them have
/// been written.
void FunctionLowering::store_parts(const Statement& s, const ir::Instruction& proto, CallParam& p, unsigned offset) {
  const ir::Instruction bare = plain(proto);
  const unsigned bytes = ir::size_of(proto.type);
  std::vector<ir::Operand> words = words_of_param(p, bare);
  for (const Operand& o : data_elements(s, s.operands[1], proto.mod.vector)) {
    const ir::Operand value = relaxed_source(o, proto.type, bare);
    ir::Operand& word = words[offset / 4];
    const ir::Operand old = word;
    word = temporary(Type::b32);
    if (bytes == 4) {
      emit(bare, Opcode::mov, Type::b32, {word}, {value});
    } else if (bytes == 2) {
      ir::Operand half[2] = {temporary(Type::b16), temporary(Type::b16)};
      emit(bare, Opcode::unpack, Type::b32, {half[0], half[1]}, {old});
      half[offset % 4 / 2] = value;
      emit(bare, Opcode::pack, Type::b32, {word}, {half[0], half[1]});
    } else if (offset % 4 == 0 && !p.upper_bytes) {
      // Nothing is there yet that would have to be kept.
      emit(bare, Opcode::cvt, Type::u32, {word}, {value});
      last().source_type = Type::u8;
    } else {
      p.upper_bytes = true;
      emit(bare, Opcode::bfi, Type::b32, {word},
           {value, old, ir::Operand::immediate(8 * (offset % 4)), ir::Operand::immediate(8)});
    }
    offset += bytes;
  }
  if (words.size() == 2) {
    emit(bare, Opcode::pack, Type::b64, {p.value}, words);
  } else {
    emit(bare, Opcode::mov, Type::b32, {p.value}, {words[0]});
  }
}

}  // namespace regatta::ptx

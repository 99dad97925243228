// SPDX-License-Identifier: Apache-2.0
//
// Loads, stores and atomics.
#include "lowering.h"

namespace regatta::ptx {
namespace {

using trace::MemorySpace;

constexpr unsigned max_access_bytes = 16;

bool is_wide_space(MemorySpace s) { return s == MemorySpace::global || s == MemorySpace::generic; }

MemorySpace space_of(Symbol::Kind k) {
  switch (k) {
    case Symbol::Kind::shared:
    case Symbol::Kind::extern_shared:
      return MemorySpace::shared;
    case Symbol::Kind::local:
      return MemorySpace::local;
    case Symbol::Kind::global:
      return MemorySpace::global;
    case Symbol::Kind::constant:
      return MemorySpace::constant;
    case Symbol::Kind::param:
    case Symbol::Kind::call_param:
      return MemorySpace::param;
    default:
      return MemorySpace::none;
  }
}

std::size_t address_index(const ir::Instruction& i) {
  return i.op == ir::Opcode::ld || i.op == ir::Opcode::ldmatrix || i.op == ir::Opcode::atom ? 1 : 0;
}

}  // namespace

namespace {

/// The statement without the cache policy, which .L2::cache_hint has as its last operand.
Statement without_policy(FunctionLowering& l, const Statement& s, const Form& form, const ir::Instruction& proto) {
  const bool hinted = has_modifier(s, "L2::cache_hint");
  const std::size_t expected = static_cast<std::size_t>(form.operands[0] - '0') + (hinted ? 1 : 0);
  if (s.operands.size() != expected)
    l.error(s.at, "'" + s.name + "' has " + std::to_string(s.operands.size()) + " operands, expected " +
                      std::to_string(expected));
  Statement access = s;
  if (!hinted) return access;
  l.source(s.operands.back(), ir::Type::b64, plain(proto));
  access.operands.pop_back();
  return access;
}

}  // namespace

void lower_memory(FunctionLowering& l, const Statement& s, const Form& form, const ir::Instruction& proto) {
  const bool exact = s.operands.size() == static_cast<std::size_t>(form.operands[0] - '0');
  if (exact && !has_modifier(s, "L2::cache_hint")) return l.memory(s, proto);
  l.memory(without_policy(l, s, form, proto), proto);
}

/// atom and red of vectors: one after the other, since PTX has each element atomic and not the vector.
void lower_vector_atomic(FunctionLowering& l, const Statement& s, const Form& form, const ir::Instruction& proto) {
  const Statement access = without_policy(l, s, form, proto);
  const std::size_t place = address_index(proto);
  if (access.operands[place].kind != Operand::Kind::address)
    l.error(access.operands[place].at, "'" + access.operands[place].text + "' is not an address, expected '[...]'");
  ir::Instruction one = proto;
  one.mod.vector = 1;
  const ir::Instruction bare = plain(proto);
  std::vector<std::vector<Operand>> elements;  // of each operand
  for (const Operand& o : access.operands) {
    elements.emplace_back(proto.mod.vector, o);
    if (&o == &access.operands[place]) continue;
    const bool sink = o.kind == Operand::Kind::sink;
    if (!sink && (o.kind != Operand::Kind::vector || o.elements.size() != proto.mod.vector))
      l.error(o.at, "'" + o.text + "' in '" + s.name + "' is not a vector of " + std::to_string(proto.mod.vector) +
                        " registers");
    if (!sink) elements.back() = o.elements;
  }
  // A result may be an operand of a later element.
  std::vector<std::pair<ir::Operand, ir::Operand>> results;
  for (unsigned e = 0; e < proto.mod.vector; ++e) {
    Statement element = access;
    for (std::size_t o = 0; o < elements.size(); ++o) element.operands[o] = elements[o][e];
    element.operands[place].offset += e * static_cast<std::int64_t>(ir::size_of(proto.type));
    l.memory(element, one);
    ir::Instruction& last = l.last();
    if (last.destinations.empty()) continue;
    const ir::Operand t = l.temporary(proto.type);
    results.emplace_back(last.destinations[0], t);
    last.destinations[0] = t;
  }
  for (const auto& [to, from] : results)
    l.emit(bare, ir::Opcode::mov, ir::size_of(proto.type) == 4 ? ir::Type::b32 : ir::Type::b16, {to}, {from});
}

/// Why addresses are as wide as they are.
std::string FunctionLowering::address_size_text() const {
  if (module_.states_address_size) return " (.address_size " + std::to_string(address_bits_) + ")";
  return " (there is no .address_size, and other addresses of the entry have " + std::to_string(address_bits_) +
         " bits)";
}

void FunctionLowering::memory(const Statement& s, ir::Instruction proto) {
  if (ir::size_of(proto.type) * proto.mod.vector > max_access_bytes)
    error(s.at, "'" + s.name + "' moves more than 16 bytes per thread");
  const Operand& address = s.operands[address_index(proto)];
  if (address.kind == Operand::Kind::address && !address.name.empty()) {
    if (const Symbol symbol = register_symbol(address); symbol.kind == Symbol::Kind::call_param) {
      require_space(address, symbol, proto);
      call_param_access(s, std::move(proto), symbol, address);
      return;
    }
  }
  memory_address(s, address, proto);
  memory_operands(s, std::move(proto));
}

void FunctionLowering::require_space(const Operand& address, const Symbol& symbol, ir::Instruction& proto) const {
  if (symbol.kind == Symbol::Kind::reference)
    error(address.at, "'" + address.name + "' is a texture or surface reference, expected a variable");
  if (symbol.kind == Symbol::Kind::function)
    error(address.at, "'" + address.name + "' is a function, expected a variable");
  MemorySpace& space = proto.mod.space;
  const MemorySpace actual = space_of(symbol.kind);
  if (space == MemorySpace::generic || space == MemorySpace::none) space = actual;
  if (space != actual)
    error(address.at, "'" + address.name + "' is in state space ." + trace::to_string(actual) + ", not ." +
                          trace::to_string(space));
}

void FunctionLowering::memory_address(const Statement& s, const Operand& address, ir::Instruction& proto) {
  if (address.kind != Operand::Kind::address)
    error(address.at, "'" + address.text + "' is not an address, expected '[...]'");
  if (proto.mod.space == MemorySpace::none) proto.mod.space = MemorySpace::generic;
  MemorySpace& space = proto.mod.space;
  const bool is_store = proto.op != ir::Opcode::ld && proto.op != ir::Opcode::ldmatrix;
  if (!address.elements.empty()) error(address.at, "'" + s.name + "' takes no coordinates");
  if (address.name.empty()) {
    proto.sources.push_back(
        ir::Operand::immediate(static_cast<std::uint64_t>(address.offset), is_wide_space(space) ? address_words() : 1));
  } else {
    const Symbol symbol = register_symbol(address);
    if (symbol.kind == Symbol::Kind::reg) {
      const unsigned size = ir::size_of(symbol.type);
      // In an inlined function, a register that ld.param reads through holds a generic address (symbol_address).
      if (space == MemorySpace::param && frames_.size() > 1) space = MemorySpace::generic;
      if (size < 4 || (is_wide_space(space) && size != 4 * address_words()))
        error(address.at, "'" + address.name + "' has type ." + ir::to_string(symbol.type) + ", expected a " +
                              (is_wide_space(space) ? std::to_string(address_bits_) + "-bit" : "32-bit or 64-bit") +
                              " address register" + (is_wide_space(space) ? address_size_text() : ""));
      proto.sources.push_back(ir::Operand::reg(symbol.id, size / 4));
      proto.offset = address.offset;
    } else {
      require_space(address, symbol, proto);
      const std::uint64_t end = static_cast<std::uint64_t>(address.offset) + ir::size_of(proto.type) * proto.mod.vector;
      if (symbol.kind == Symbol::Kind::param && (address.offset < 0 || end > symbol.bytes))
        error(address.at, "'" + address.text + "' is outside parameter '" + address.name + "' of " +
                              std::to_string(symbol.bytes) + " bytes");
      proto.offset = address.offset;
      if (symbol.in_frame) {
        add_local_address(proto, true, symbol.offset);
        return;
      }
      Operand base = address;
      base.offset = 0;
      proto.sources.push_back(symbol_address(symbol, base, is_wide_space(space) ? address_words() : 1));
    }
  }
  if (is_store && space == MemorySpace::param) error(s.at, "'" + s.name + "' stores to a kernel parameter");
  if (is_store && space == MemorySpace::constant) error(s.at, "'" + s.name + "' stores to constant memory");
}

std::vector<Operand> FunctionLowering::data_elements(const Statement& s, const Operand& o, unsigned count) const {
  std::vector<Operand> list = o.kind == Operand::Kind::vector ? o.elements : std::vector<Operand>{o};
  if (list.size() != count)
    error(o.at,
          "'" + s.name + "' has " + std::to_string(list.size()) + " data registers, expected " + std::to_string(count));
  return list;
}

/// The data operands, when space and address are settled.
void FunctionLowering::memory_operands(const Statement& s, ir::Instruction proto) {
  const ir::Instruction bare = plain(proto);
  std::vector<RelaxedDestination> wide;
  switch (proto.op) {
    case ir::Opcode::ld:
    case ir::Opcode::ldmatrix:
      for (const Operand& o : data_elements(s, s.operands[0], proto.mod.vector)) {
        wide.push_back(relaxed_destination(o, proto.type));
        for (const ir::Operand& earlier : proto.destinations)
          if (earlier.id == wide.back().operand.id) error(o.at, "'" + o.name + "' is loaded twice");
        proto.destinations.push_back(wide.back().operand);
      }
      break;
    case ir::Opcode::st:
    case ir::Opcode::stmatrix:
      for (const Operand& o : data_elements(s, s.operands[1], proto.mod.vector)) {
        ir::Operand value = relaxed_source(o, proto.type, bare);
        // The elements of a vector take consecutive registers, so each needs a register of its own.
        bool copy = proto.mod.vector > 1 && !value.is_reg();
        for (std::size_t e = 1; e < proto.sources.size(); ++e)
          copy = copy || (value.is_reg() && proto.sources[e].is_reg() && proto.sources[e].id == value.id);
        if (copy) {
          const ir::Operand t = temporary(proto.type);
          emit(bare, ir::Opcode::mov, ir::words_of(proto.type) == 2 ? ir::Type::b64 : ir::Type::b32, {t}, {value});
          value = t;
        }
        proto.sources.push_back(value);
      }
      break;
    case ir::Opcode::atom:
      if (s.operands[0].kind == Operand::Kind::sink && proto.mod.atomic != ir::AtomicOp::exch &&
          proto.mod.atomic != ir::AtomicOp::cas) {
        proto.op = ir::Opcode::red;
      } else {
        proto.destinations.push_back(destination(s.operands[0], proto.type));
      }
      for (std::size_t o = 2; o < s.operands.size(); ++o)
        proto.sources.push_back(source(s.operands[o], proto.type, bare));
      break;
    default:
      for (std::size_t o = 1; o < s.operands.size(); ++o)
        proto.sources.push_back(source(s.operands[o], proto.type, bare));
      break;
  }
  const ir::Type type = proto.type;
  append(std::move(proto));
  for (const RelaxedDestination& d : wide) finish_wide(d, type, bare);
}

}  // namespace regatta::ptx

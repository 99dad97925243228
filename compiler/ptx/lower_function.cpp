// SPDX-License-Identifier: Apache-2.0
//
// Statements of a function: declarations, labels, dispatch of instructions to their form.
#include "lowering.h"

#include <algorithm>

namespace regatta::ptx {
namespace {

/// Bounds on one function after inlining; the largest kernels of the public suites have some 9,000 instructions.
constexpr std::size_t max_instructions = 1u << 18;
constexpr std::size_t max_labels = 1u << 16;
constexpr std::uint64_t max_space_bytes = std::uint64_t{1} << 30;
/// Per thread, for every compute capability (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
constexpr std::uint64_t max_local_bytes = std::uint64_t{512} << 10;

}  // namespace

ir::Function FunctionLowering::run(const Function& entry) {
  if (!entry.error.empty()) throw trace::InputError(entry.error);
  address_bits_ = entry.address_bits;
  f_.name = entry.name;
  f_.ptx_file = file_;
  f_.target = module_.target;
  f_.source_files = module_.source_files;
  f_.bounds = entry.bounds;
  f_.bounds.where = {entry.at.line, entry.at.column, 0, 0};
  scopes_.emplace_back();
  for (const RegisterDeclaration& d : module_.registers) declare_registers(d);
  module_registers_ = std::move(scopes_.back());
  scopes_.back() = {};
  frames_.push_back({&entry, 0, 0});
  parameters(entry);
  begin_stack(entry);
  statements(entry);
  finish_stack(entry);
  resolve_extern_shared();
  make_blocks(std::move(draft_), f_);
  return std::move(f_);
}

void FunctionLowering::parameters(const Function& entry) {
  std::uint64_t end = 0;
  for (const Variable& v : entry.parameters) {
    if (v.space == Variable::Space::reg)
      error(v.at, "parameter '" + v.name + "' of an .entry is a register, expected .param");
    if (v.space == Variable::Space::opaque)
      error(v.at, "parameter '" + v.name + "' of type '" + v.type_text + "' is not supported");
    end = round_up(end, v.alignment);
    Symbol s;
    s.kind = Symbol::Kind::param;
    s.type = v.type;
    s.offset = static_cast<std::uint32_t>(end);
    s.bytes = static_cast<std::uint32_t>(v.bytes());
    declare(v.name, s, v.at);
    f_.parameters.push_back({v.name, s.offset, s.bytes, v.alignment, v.type, v.elements != 1 || v.is_array});
    end += s.bytes;
    if (end > max_space_bytes) error(v.at, "the parameters are too large");
  }
}

void FunctionLowering::statements(const Function& f) {
  const std::size_t outer = scopes_.size();
  declare_labels(f.body, 0);
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    const Statement& s = f.body[i];
    switch (s.kind) {
      case Statement::Kind::open:
        scopes_.emplace_back();
        declare_labels(f.body, i + 1);
        break;
      case Statement::Kind::close:
        if (scopes_.size() > outer) scopes_.pop_back();
        break;
      case Statement::Kind::label:
        draft_.labels[scopes_.back().labels.at(s.mnemonic)].position =
            static_cast<std::uint32_t>(draft_.instructions.size());
        break;
      case Statement::Kind::targets:
      case Statement::Kind::prototype:
        break;
      case Statement::Kind::nounroll:
        draft_.labels.push_back({"", static_cast<std::uint32_t>(draft_.instructions.size()), true});
        break;
      case Statement::Kind::registers:
        for (const RegisterDeclaration& d : s.registers) declare_registers(d);
        break;
      case Statement::Kind::variable:
        for (const Variable& v : s.variables) variable(v);
        break;
      case Statement::Kind::instruction:
        instruction(s);
        break;
    }
  }
}

/// Declares the labels of the scope whose first statement is `first`, so that branches may come before them.
void FunctionLowering::declare_labels(const std::vector<Statement>& body, std::size_t first) {
  std::size_t depth = 0;
  for (std::size_t i = first; i < body.size(); ++i) {
    const Statement& s = body[i];
    if (s.kind == Statement::Kind::open) {
      ++depth;
    } else if (s.kind == Statement::Kind::close) {
      if (depth == 0) return;
      --depth;
    } else if (s.kind == Statement::Kind::targets && depth == 0) {
      scopes_.back().target_lists.emplace(s.mnemonic, &s);
    } else if (s.kind == Statement::Kind::label && depth == 0) {
      if (!scopes_.back().labels.emplace(s.mnemonic, static_cast<std::uint32_t>(draft_.labels.size())).second)
        error(s.at, "label '" + s.mnemonic + "' is already defined in this scope");
      draft_.labels.push_back({s.mnemonic, Draft::unplaced});
    }
  }
}

void FunctionLowering::declare(const std::string& name, const Symbol& symbol, Position at) {
  if (!scopes_.back().names.emplace(name, symbol).second) {
    const std::string shown = name.back() == '<' ? name.substr(0, name.size() - 1) : name;
    error(at, "'" + shown + "' is already declared in this scope");
  }
}

void FunctionLowering::declare_registers(const RegisterDeclaration& d) {
  if (d.vector > 1) {
    for (std::uint32_t i = 0; i < std::max(d.count, 1u); ++i)
      declare_vector(d.count > 0 ? d.name + std::to_string(i) : d.name, d.type, d.vector, d.at);
    return;
  }
  Symbol symbol;
  symbol.kind = d.count > 0 ? Symbol::Kind::range : Symbol::Kind::reg;
  symbol.type = d.type;
  symbol.id = d.count > 0 ? d.count : new_register(d.type, d.name);
  declare(d.count > 0 ? d.name + "<" : d.name, symbol, d.at);
}

void FunctionLowering::declare_vector(const std::string& name, ir::Type type, unsigned elements, Position at) {
  has_vectors_ = true;
  Symbol whole;
  whole.kind = Symbol::Kind::vector;
  whole.type = type;
  whole.id = elements;
  declare(name, whole, at);
  for (unsigned e = 0; e < elements; ++e) {
    Symbol element;
    element.type = type;
    element.id = new_register(type, name + "." + vector_elements[e]);
    declare(name + "." + vector_elements[e], element, at);
    declare(name + "." + vector_colours[e], element, at);
  }
}

bool FunctionLowering::needs_resolution(const Statement& s) const {
  if (has_vectors_) return true;
  return std::any_of(s.operands.begin(), s.operands.end(), [](const Operand& o) { return o.indexed; });
}

Operand FunctionLowering::resolved(const Operand& o, bool is_address) {
  if (o.kind != Operand::Kind::name || o.negated) return o;
  const std::optional<Symbol> symbol = find(o.name);
  Operand r = o;
  if (o.indexed) {
    if (!symbol || symbol->kind == Symbol::Kind::reg || symbol->kind == Symbol::Kind::vector ||
        ir::size_of(symbol->type) == 0)
      error(o.at, "'" + o.text + "': '" + o.name + "' is not a variable");
    r.indexed = false;
    r.offset *= ir::size_of(symbol->type);
    if (is_address) r.kind = Operand::Kind::address;
  } else if (symbol && symbol->kind == Symbol::Kind::vector && o.offset == 0) {
    r.kind = Operand::Kind::vector;
    for (unsigned e = 0; e < symbol->id; ++e) {
      Operand element = o;
      element.name += std::string(".") + vector_elements[e];
      element.text = element.name;
      r.elements.push_back(std::move(element));
    }
  }
  return r;
}

Statement FunctionLowering::resolved(const Statement& s) {
  Statement r = s;
  const bool is_memory = s.mnemonic != "mov" && s.mnemonic != "cvta";
  for (std::vector<Operand>* list : {&r.operands, &r.call_results, &r.call_arguments})
    for (Operand& o : *list) o = resolved(o, is_memory);
  return r;
}

std::uint32_t FunctionLowering::place_local(std::uint64_t bytes, std::uint32_t alignment, Position at, bool* in_frame) {
  if (in_frame != nullptr) *in_frame = body_ != nullptr;
  std::uint32_t& end = in_frame != nullptr && body_ != nullptr ? body_->frame_bytes : f_.local_bytes;
  const std::uint64_t offset = round_up(end, alignment);
  if (offset + bytes > max_local_bytes) error(at, "the .local variables take more than 512 KiB per thread");
  end = static_cast<std::uint32_t>(offset + bytes);
  return static_cast<std::uint32_t>(offset);
}

std::uint32_t FunctionLowering::place_shared(const Variable& v) {
  const std::uint64_t offset = round_up(f_.static_shared_bytes, v.alignment);
  if (offset + v.bytes() > max_space_bytes) error(v.at, "the .shared variables take more than 1 GiB");
  f_.static_shared_bytes = static_cast<std::uint32_t>(offset + v.bytes());
  f_.shared_variables.push_back(
      {v.name, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(v.bytes()), false, v.alignment});
  return static_cast<std::uint32_t>(offset);
}

void FunctionLowering::variable(const Variable& v) {
  Symbol s;
  s.type = v.type;
  s.bytes = static_cast<std::uint32_t>(v.bytes());
  switch (v.space) {
    case Variable::Space::shared: {
      // Shared variables are static: every inlined copy of a function uses the same one.
      const std::string key = frames_.back().function->name + "::" + v.name;
      const auto known = module_shared_.find(key);
      s = known != module_shared_.end() ? known->second : module_symbol(v);
      module_shared_.emplace(key, s);
      break;
    }
    case Variable::Space::local:
      s.kind = Symbol::Kind::local;
      s.offset = place_local(v.bytes(), v.alignment, v.at, &s.in_frame);
      break;
    case Variable::Space::global:
    case Variable::Space::constant: {
      const Variable& held = *symbols_.find(v.module_name);
      symbols_.require_data(held.name, file_);
      s = module_symbol(held);
      s.module_name = &held.name;
      break;
    }
    case Variable::Space::param:
      s = call_param(v);
      break;
    default:
      error(v.at, "variable '" + v.name + "' of this state space is not supported inside a function");
  }
  declare(v.name, s, v.at);
}

Symbol FunctionLowering::module_symbol(const Variable& v) {
  Symbol s;
  s.type = v.type;
  s.bytes = static_cast<std::uint32_t>(v.bytes());
  switch (v.space) {
    case Variable::Space::global:
      s.kind = Symbol::Kind::global;
      break;
    case Variable::Space::local:
      s.kind = Symbol::Kind::local;
      s.offset = place_local(v.bytes(), v.alignment, v.at);
      break;
    case Variable::Space::constant:
      s.kind = Symbol::Kind::constant;
      s.offset = symbols_.constant_offset(v.name);
      break;
    case Variable::Space::shared:
      if (v.is_extern || v.bytes() == 0) {
        s.kind = Symbol::Kind::extern_shared;
        std::uint32_t& alignment = extern_shared_[v.name];
        alignment = std::max(alignment, v.alignment);
      } else {
        s.kind = Symbol::Kind::shared;
        s.offset = place_shared(v);
        s.shared_variable = static_cast<std::uint32_t>(f_.shared_variables.size());
      }
      break;
    default:
      s.kind = v.type_text == ".samplerref" ? Symbol::Kind::opaque : Symbol::Kind::reference;
      break;
  }
  return s;
}

/// %reserved_smem_offset_*: places in the shared memory that the system's own software has in every CTA. It is a
/// variable of the kernels that name it. The PTX ISA does not say where the offsets 0 and 1 are; cooperative groups
/// take 288 bytes from 1 on.
std::optional<Symbol> FunctionLowering::reserved_shared(const std::string& name) {
  constexpr std::uint32_t bytes = reserved_shared_bytes, alignment = 16;
  Symbol s;
  s.kind = Symbol::Kind::shared;
  if (name == reserved_shared_size) {
    s.offset = bytes;
    return s;
  }
  const auto place = reserved_shared_places().find(name);
  if (place == reserved_shared_places().end()) return std::nullopt;
  if (!reserved_) {
    reserved_ = static_cast<std::uint32_t>(round_up(f_.static_shared_bytes, alignment));
    f_.static_shared_bytes = *reserved_ + bytes;
    f_.shared_variables.push_back({"%reserved_smem", *reserved_, bytes, true, alignment});
    reserved_variable_ = static_cast<std::uint32_t>(f_.shared_variables.size());
  }
  s.shared_variable = reserved_variable_;
  s.offset = *reserved_ + place->second;
  s.bytes = bytes - place->second;
  return s;
}

std::optional<Symbol> FunctionLowering::function_symbol(const std::string& name) const {
  const Function* f = symbols_.function(name);
  const std::uint64_t address = f == nullptr ? 0 : symbols_.calls().address(*f);
  if (address == 0) return std::nullopt;
  Symbol s;
  s.kind = Symbol::Kind::function;
  s.type = address_type();
  s.offset = static_cast<std::uint32_t>(address);
  return s;
}

std::optional<Symbol> FunctionLowering::find_in(Scope& scope, const std::string& name) {
  auto& names = scope.names;
  const auto exact = names.find(name);
  if (exact != names.end()) return exact->second;
  // %r12 of %r<40>: try every split into prefix and number, the longest number last.
  std::size_t split = name.size();
  std::uint64_t number = 0, scale = 1;
  while (split > 1 && name[split - 1] >= '0' && name[split - 1] <= '9' && scale <= 1000000000) {
    --split;
    number += scale * static_cast<std::uint64_t>(name[split] - '0');
    scale *= 10;
    if (name[split] == '0' && split + 1 < name.size()) continue;
    const auto range = names.find(name.substr(0, split) + "<");
    if (range == names.end() || number >= range->second.id) continue;
    Symbol s = range->second;
    s.kind = Symbol::Kind::reg;
    s.id = new_register(s.type, name);
    names.emplace(name, s);
    return s;
  }
  return std::nullopt;
}

std::optional<Symbol> FunctionLowering::find(const std::string& name) {
  for (std::size_t i = scopes_.size(); i-- > frames_.back().first_scope;) {
    if (const auto found = find_in(scopes_[i], name)) return found;
  }
  if (const auto found = find_in(module_registers_, name)) return found;
  if (const auto reserved = reserved_shared(name)) return reserved;
  const auto shared = module_shared_.find(name);
  if (shared != module_shared_.end()) return shared->second;
  const Variable* v = symbols_.find(name);
  if (v == nullptr) return function_symbol(name);
  symbols_.require_data(name, file_);
  const Symbol s = module_symbol(*v);
  if (s.kind == Symbol::Kind::shared || s.kind == Symbol::Kind::local) module_shared_.emplace(name, s);
  return s;
}

std::uint32_t FunctionLowering::new_register(ir::Type type, const std::string& name) {
  ir::VirtualRegister r;
  r.is_predicate = type == ir::Type::pred;
  r.words = static_cast<std::uint8_t>(r.is_predicate ? 0 : ir::words_of(type));
  r.name = name;
  f_.registers.push_back(std::move(r));
  return static_cast<std::uint32_t>(f_.registers.size() - 1);
}

void FunctionLowering::append(ir::Instruction i) { draft_.instructions.push_back(std::move(i)); }

void FunctionLowering::emit(const ir::Instruction& proto, ir::Opcode op, ir::Type type,
                            std::vector<ir::Operand> destinations, std::vector<ir::Operand> sources) {
  ir::Instruction i;
  i.op = op;
  i.type = type;
  i.guarded = proto.guarded;
  i.guard = proto.guard;
  i.guard_negated = proto.guard_negated;
  i.where = proto.where;
  i.destinations = std::move(destinations);
  i.sources = std::move(sources);
  append(std::move(i));
}

void FunctionLowering::instruction(const Statement& s) {
  if (needs_resolution(s)) {
    form_of(resolved(s));
  } else {
    form_of(s);
  }
}

/// On sm_1x, operations on f32 flush subnormal numbers whether they say so or not. Conversions from and to f64 do not.
bool FunctionLowering::flushes_subnormals(const Form& form, const ir::Instruction& proto) const {
  constexpr std::uint32_t first_target = 10, end_target = 20;
  if (module_.target < first_target || module_.target >= end_target || !is_option(form.options, "ftz")) return false;
  const auto is_other_float = [](ir::Type t) { return ir::is_float(t) && t != ir::Type::f32; };
  return (proto.type == ir::Type::f32 || proto.source_type == ir::Type::f32) && !is_other_float(proto.type) &&
         !is_other_float(proto.source_type);
}

/// An instruction without indexed operands and vector registers.
void FunctionLowering::form_of(const Statement& s) {
  if (draft_.instructions.size() > max_instructions)
    error(s.at, "function '" + f_.name + "' has more than " + std::to_string(max_instructions) + " instructions");
  if (draft_.labels.size() > max_labels)
    error(s.at, "function '" + f_.name + "' has more than " + std::to_string(max_labels) + " labels and calls");
  ir::Instruction proto;
  where_ =
      proto.where = {s.at.line, s.at.column, s.source.file, s.source.line, s.source.caller_file, s.source.caller_line};
  const Form& form = match_form(s, file_, proto);
  if (flushes_subnormals(form, proto)) proto.mod.ftz = true;
  if (!s.guard.empty()) {
    const std::optional<Symbol> p = find(s.guard);
    if (!p || p->kind != Symbol::Kind::reg || p->type != ir::Type::pred)
      error(s.guard_at, "guard '" + s.guard + "' is not a declared predicate");
    proto.guarded = true;
    proto.guard = p->id;
    proto.guard_negated = s.guard_negated;
  }
  if (form.handler != nullptr)
    form.handler(*this, s, form, proto);
  else
    generic(s, form, proto);
}

void FunctionLowering::generic(const Statement& s, const Form& form, const ir::Instruction& proto) {
  if ((proto.op == ir::Opcode::setp || proto.op == ir::Opcode::set) && proto.mod.compare == ir::Compare::none)
    error(s.at, "'" + s.name + "' has no comparison operator");
  const ir::Type type = proto.type;
  const auto doubled = [](ir::Type t) {
    const bool is_signed = ir::is_signed(t);
    if (ir::size_of(t) == 2) return is_signed ? ir::Type::s32 : ir::Type::u32;
    return is_signed ? ir::Type::s64 : ir::Type::u64;
  };
  ir::Instruction i = proto;
  for (std::size_t n = 0; form.operands[n] != '\0'; ++n) {
    const Operand& o = s.operands[n];
    switch (form.operands[n]) {
      case 'd':
        i.destinations.push_back(destination(o, type));
        break;
      case 'w':
        i.destinations.push_back(destination(o, doubled(type)));
        break;
      case 'i':
        if (n == 0)
          i.destinations.push_back(destination(o, ir::Type::u32));
        else
          i.sources.push_back(source(o, ir::Type::u32, proto));
        break;
      case 'Q':
        i.destinations.push_back(predicate_destination(o, o.name));
        if (o.kind == Operand::Kind::pair) i.destinations.push_back(predicate_destination(o, o.second));
        break;
      case 's':
        i.sources.push_back(source(o, type, proto));
        break;
      case 'S':
        i.sources.push_back(source(o, proto.source_type, proto));
        break;
      case 'W':
        i.sources.push_back(source(o, doubled(type), proto));
        break;
      case 'p':
        i.sources.push_back(source(o, ir::Type::pred, proto));
        break;
      default:
        break;
    }
  }
  append(std::move(i));
}

/// Dynamic shared memory begins behind the static variables; how much that is is known only now.
void FunctionLowering::resolve_extern_shared() {
  if (extern_shared_.empty()) return;
  std::uint32_t alignment = 1;
  for (const auto& [name, bytes] : extern_shared_) alignment = std::max(alignment, bytes);
  f_.static_shared_bytes = static_cast<std::uint32_t>(round_up(f_.static_shared_bytes, alignment));
  std::map<std::string, std::uint32_t> variables;
  for (const auto& [name, own_alignment] : extern_shared_) {
    f_.shared_variables.push_back({name, f_.static_shared_bytes, 0, false, own_alignment});
    variables[name] = static_cast<std::uint32_t>(f_.shared_variables.size());
  }
  for (ir::Instruction& i : draft_.instructions)
    for (ir::Operand& o : i.sources)
      if (const auto found = variables.find(o.symbol); !o.symbol.empty() && found != variables.end()) {
        o.value += f_.static_shared_bytes;
        o.shared_variable = found->second;
        o.symbol.clear();
      }
}

}  // namespace regatta::ptx

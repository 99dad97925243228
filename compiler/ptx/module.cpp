// SPDX-License-Identifier: Apache-2.0
//
// Module-level variables and the public entry points.
#include "literals.h"
#include "lowering.h"
#include "parser.h"

#include <regatta/ptx/ptx.h>

#include <algorithm>

namespace regatta::ptx {
namespace {

/// A real constant in the encoding of `type`; integers of other types than reals as they are.
std::uint64_t element_bits(const InitialValue& v, ir::Type type) {
  if (v.is_real) return real_bits(v.bits, v.single, ir::size_of(type) == 8 ? 8 : 4);
  return type == ir::Type::f32 || type == ir::Type::f64 ? integer_bits(v.bits, type) : v.bits;
}

}  // namespace

ModuleSymbols::ModuleSymbols(const Module& module, const std::string& file) : address_bits_(module.address_bits) {
  for (const Function& f : module.functions) {
    const Function*& known = functions_[f.name];
    if (known != nullptr && known->has_body && f.has_body)
      fail(file, f.at, "function '" + f.name + "' is already defined at line " + std::to_string(known->at.line));
    if (known == nullptr || f.has_body) known = &f;
  }
  for (const Alias& a : module.aliases) {
    const Function* target = function(a.target);
    if (target == nullptr || !target->has_body)
      fail(file, a.at, "function '" + a.target + "', which '" + a.name + "' is to stand for, is not defined");
    functions_[a.name] = target;
  }
  calls_.emplace(module, functions_);
  for (const Variable& v : module.variables) {
    const Variable*& known = variables_[v.name];
    if (known != nullptr && !known->is_extern && !v.is_extern)
      fail(file, v.at, "variable '" + v.name + "' is already defined at line " + std::to_string(known->at.line));
    if (known == nullptr || !v.is_extern) known = &v;
  }
  for (const Variable& v : module.variables)
    if (variables_.at(v.name) == &v) lower(v, file);
  // Initialisers may name variables that come later.
  for (ir::ModuleVariable& m : lowered_) initialise(m, *variables_.at(m.name), file);
  for (bool more = !tainted_.empty(); more;) {
    more = false;
    for (const ir::ModuleVariable& m : lowered_) {
      if (tainted_.count(m.name) != 0) continue;
      for (const ir::Relocation& r : m.relocations) {
        const auto found = tainted_.find(r.symbol);
        if (found == tainted_.end()) continue;
        tainted_[m.name] = found->second;
        more = true;
        break;
      }
    }
  }
}

void ModuleSymbols::require_data(const std::string& name, const std::string& file) const {
  const auto found = tainted_.find(name);
  if (found == tainted_.end()) return;
  fail(file, found->second.at,
       "address of entry '" + found->second.function + "' is not supported, and '" + name + "' leads to it");
}

const Variable* ModuleSymbols::find(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second;
}

const Function* ModuleSymbols::function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

void ModuleSymbols::lower(const Variable& v, const std::string& file) {
  ir::ModuleVariable m;
  if (v.space == Variable::Space::opaque && v.type_text != ".samplerref") {
    if (v.is_array) fail(file, v.at, "'" + v.name + "' is an array of " + v.type_text + ": not supported");
    m.name = v.name;
    m.external = v.is_extern;
    m.is_texture_reference = true;
    lowered_.push_back(std::move(m));
    return;
  }
  if (v.space != Variable::Space::global && v.space != Variable::Space::constant) return;
  m.name = v.name;
  m.space = v.space == Variable::Space::global ? trace::MemorySpace::global : trace::MemorySpace::constant;
  m.alignment = v.alignment;
  m.external = v.is_extern;
  m.bytes = static_cast<std::uint32_t>(v.bytes());
  if (v.space == Variable::Space::constant) {
    const std::uint64_t offset = round_up(constant_end_, v.alignment);
    if (offset + m.bytes > ~std::uint32_t{0}) fail(file, v.at, "the .const variables take more than 4 GiB");
    m.offset = static_cast<std::uint32_t>(offset);
    constant_end_ = m.offset + m.bytes;
    constant_offsets_[v.name] = m.offset;
  }
  lowered_.push_back(std::move(m));
}

void ModuleSymbols::initialise(ir::ModuleVariable& m, const Variable& v, const std::string& file) {
  if (v.initial.empty()) return;
  const unsigned size = ir::size_of(v.type);
  m.initial.assign(m.bytes, 0);
  for (const InitialValue& value : v.initial) {
    const std::uint64_t at = value.index * size;
    if (at + size > m.initial.size()) fail(file, value.at, "more initial values than '" + v.name + "' has elements");
    if (value.symbol.empty()) {
      const std::uint64_t bits = element_bits(value, v.type);
      for (unsigned b = 0; b < size; ++b) m.initial[at + b] = static_cast<std::uint8_t>(bits >> (8 * b));
      continue;
    }
    const bool is_byte = value.byte >= 0;
    const auto require_size = [&] {
      if (is_byte ? size == 1 : size == 8 || size == 4) return;
      fail(file, value.at,
           (is_byte ? "a byte of the address of '" : "address of '") + value.symbol + "' does not fit " + v.type_text);
    };
    if (const Function* f = function(value.symbol)) {
      if (f->is_entry) {
        if (tainted_.count(v.name) == 0) tainted_[v.name] = {value.at, value.symbol};
        continue;
      }
      require_size();
      if (value.addend != 0) fail(file, value.at, "the address of function '" + f->name + "' cannot have an offset");
      const std::uint64_t address = calls_->address(*f) >> (is_byte ? 8 * value.byte : 0);
      for (unsigned b = 0; b < size; ++b) m.initial[at + b] = static_cast<std::uint8_t>(address >> (8 * b));
      continue;
    }
    const Variable* target = find(value.symbol);
    if (target == nullptr)
      fail(file, value.at, "initial value '" + value.symbol + "' is not a variable of this module");
    if (target->space != Variable::Space::global && target->space != Variable::Space::constant)
      fail(file, value.at, "address of '" + value.symbol + "' is not a constant");
    require_size();
    ir::Relocation r;
    r.offset = static_cast<std::uint32_t>(at);
    r.bytes = static_cast<std::uint8_t>(size);
    r.first_byte = static_cast<std::uint8_t>(is_byte ? value.byte : 0);
    r.generic = value.generic;
    r.narrow = size == 4 || (is_byte && address_bits_ == 32);
    r.symbol = value.symbol;
    r.addend = value.addend;
    m.relocations.push_back(std::move(r));
  }
}

ir::Module parse_module(const std::string& text, const std::string& file, const LoweringOptions& options) {
  const Module ast = parse(text, file);
  ModuleSymbols symbols(ast, file);
  ir::Module module;
  module.file = file;
  for (const Function& f : ast.functions) {
    if (!f.is_entry || !f.has_body) continue;
    FunctionLowering lowering(ast, symbols, file, options);
    module.functions.push_back(lowering.run(f));
  }
  module.variables = symbols.take_variables();
  return module;
}

ModuleResult parse_entries(const std::string& text, const std::string& file, const LoweringOptions& options) {
  const Module ast = parse(text, file);
  ModuleSymbols symbols(ast, file);
  ModuleResult result;
  result.file = file;
  result.target = ast.target;
  result.address_bits = ast.address_bits;
  for (const Function& f : ast.functions) {
    if (!f.is_entry || !f.has_body) continue;
    result.address_bits = std::min(result.address_bits, f.address_bits);
    EntryResult entry;
    entry.name = f.name;
    try {
      FunctionLowering lowering(ast, symbols, file, options);
      entry.function = lowering.run(f);
      entry.accepted = true;
    } catch (const trace::InputError& e) {
      entry.message = e.what();
    }
    result.entries.push_back(std::move(entry));
  }
  result.variables = symbols.take_variables();
  return result;
}

}  // namespace regatta::ptx

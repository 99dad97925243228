// SPDX-License-Identifier: Apache-2.0
//
// How wide the addresses of a module without .address_size are. PTX says 32 bits, and nvopencc's 64-bit output of
// before PTX 2.3 has no such directive: what an entry's code uses decides, then what that of the module uses, and 32
// where there is none.
#include "lowering.h"
#include "parser.h"

namespace regatta::ptx {

namespace {

/// What code says about its addresses.
struct Uses {
  bool narrow = false, wide = false;
  void note(unsigned bytes) {
    narrow = narrow || bytes == 4;
    wide = wide || bytes == 8;
  }
};

/// Bytes of the registers of one function, whatever the scope that declares them; 0 for a name that is none.
class RegisterSizes {
 public:
  void add(const std::vector<RegisterDeclaration>& list) {
    for (const RegisterDeclaration& d : list) (d.count > 0 ? ranges_ : single_)[d.name] = ir::size_of(d.type);
  }
  void add(const std::vector<Variable>& parameters) {
    for (const Variable& v : parameters)
      if (v.space == Variable::Space::reg) single_[v.name] = ir::size_of(v.type);
  }
  unsigned of(const std::string& name) const {
    const auto exact = single_.find(name);
    if (exact != single_.end()) return exact->second;
    for (std::size_t end = name.size(); end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9'; --end) {
      const auto range = ranges_.find(name.substr(0, end - 1));
      if (range != ranges_.end()) return range->second;
    }
    return 0;
  }

 private:
  std::unordered_map<std::string, unsigned> single_, ranges_;
};

bool names_narrow_space(const Statement& s) {
  for (const char* space : {"shared", "shared::cta", "local", "const", "param", "param::entry", "param::func"})
    if (has_modifier(s, space)) return true;
  return false;
}

unsigned size_of_type(const Statement& s) {
  for (const std::string& m : s.modifiers)
    if (const ir::Type t = type_named(m); t != ir::Type::none) return ir::size_of(t);
  return 0;
}

void look_at(const Statement& s, const RegisterSizes& sizes,
             const std::unordered_map<std::string, const Variable*>& globals, Uses& uses) {
  if (s.kind != Statement::Kind::instruction) return;
  if (s.mnemonic == "cvta") {
    uses.note(size_of_type(s));
  } else if (s.mnemonic == "mov" && s.operands.size() > 1 && globals.count(s.operands[1].name) != 0) {
    uses.note(size_of_type(s));
  } else if (s.mnemonic == "isspacep" && s.operands.size() > 1) {
    uses.note(sizes.of(s.operands[1].name));
  }
  if (names_narrow_space(s)) return;
  for (const Operand& o : s.operands)
    if (o.kind == Operand::Kind::address) uses.note(sizes.of(o.name));
}

}  // namespace

void infer_address_size(Module& module) {
  std::unordered_map<std::string, const Variable*> globals;
  for (const Variable& v : module.variables)
    if (v.space == Variable::Space::global) globals.emplace(v.name, &v);
  Uses all;
  std::vector<Uses> own;
  for (const Function& f : module.functions) {
    RegisterSizes sizes;
    sizes.add(module.registers);
    sizes.add(f.parameters);
    sizes.add(f.results);
    for (const Statement& s : f.body) sizes.add(s.registers);
    own.emplace_back();
    for (const Statement& s : f.body) look_at(s, sizes, globals, own.back());
    all.narrow = all.narrow || own.back().narrow;
    all.wide = all.wide || own.back().wide;
  }
  for (const Variable& v : module.variables)
    for (const InitialValue& i : v.initial)
      if (!i.symbol.empty() && i.byte < 0) all.note(ir::size_of(v.type));
  module.address_bits = all.wide ? 64 : 32;
  for (std::size_t f = 0; f < own.size(); ++f)
    module.functions[f].address_bits = own[f].wide ? 64 : own[f].narrow ? 32 : module.address_bits;
}

}  // namespace regatta::ptx

// SPDX-License-Identifier: Apache-2.0
//
// Branches, returns, and direct calls, which are inlined, but for recursive functions (lower_recursive.cpp): the
// callee's statements are lowered in a frame of their own in which its formal parameters are other names for the
// caller's .param variables.
#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr std::size_t max_call_depth = 64;

/// Functions of the device runtime that become one instruction.
struct RuntimeFunction {
  const char* name;
  ir::Opcode op;
  std::vector<unsigned> arguments;  ///< bytes of each
  std::size_t used;                 ///< of the arguments, the first that the instruction takes
  unsigned result;                  ///< bytes, 0: none
  ir::AtomicOp on_heap = ir::AtomicOp::none;
};

const std::vector<RuntimeFunction>& runtime_table() {
  static const std::vector<RuntimeFunction> table = {{"vprintf", ir::Opcode::print, {8, 8}, 2, 4},
                                                     {"__assertfail", ir::Opcode::trap, {8, 8, 4, 8, 8}, 3, 0},
                                                     {"malloc", ir::Opcode::atom, {8}, 1, 8, ir::AtomicOp::allocate},
                                                     {"free", ir::Opcode::red, {8}, 1, 0, ir::AtomicOp::release}};
  return table;
}

const RuntimeFunction* runtime_function(const std::string& name) {
  for (const RuntimeFunction& f : runtime_table())
    if (name == f.name) return &f;
  return nullptr;
}

}  // namespace

std::vector<std::string> runtime_functions() {
  std::vector<std::string> names;
  for (const RuntimeFunction& f : runtime_table()) names.emplace_back(f.name);
  return names;
}

void FunctionLowering::jump(const ir::Instruction& proto, std::uint32_t label) {
  ir::Instruction i = proto;
  i.op = ir::Opcode::bra;
  i.target = label;
  append(std::move(i));
}

void FunctionLowering::branch(const Statement& s, const ir::Instruction& proto) {
  jump(proto, label_named(s.operands[0]));
}

void FunctionLowering::leave(const Statement& s, const ir::Instruction& proto) {
  if (s.mnemonic == "ret" && frames_.size() > 1) {
    jump(proto, frames_.back().return_label);
    return;
  }
  append(proto);
}

bool FunctionLowering::runtime_call(const Statement& s, const ir::Instruction& proto) {
  const Operand& target = s.operands[0];
  const RuntimeFunction* f = runtime_function(target.name);
  if (f == nullptr) return false;
  const auto scalar = [&](const Operand& o, unsigned bytes) {
    const std::optional<Symbol> symbol = o.kind == Operand::Kind::name && !o.negated ? find(o.name) : std::nullopt;
    if (!symbol || symbol->kind != Symbol::Kind::call_param || call_params_[symbol->id].in_memory ||
        symbol->bytes != bytes)
      error(o.at, "'" + o.text + "' in a call of '" + target.name + "' is not a .param variable of " +
                      std::to_string(bytes) + " bytes");
    return call_params_[symbol->id].value;
  };
  if (s.call_arguments.size() != f->arguments.size())
    error(target.at, "call of '" + target.name + "' with " + std::to_string(s.call_arguments.size()) +
                         " arguments, expected " + std::to_string(f->arguments.size()));
  ir::Instruction i = proto;
  i.op = f->op;
  if (f->on_heap != ir::AtomicOp::none) {
    // As strong as what a program may expect that hands a block on: what was done to it comes before its next use.
    f_.uses_heap = true;
    i.type = ir::Type::u64;
    i.mod.atomic = f->on_heap;
    i.mod.space = trace::MemorySpace::global;
    i.mod.order = ir::MemoryOrder::acq_rel;
    i.mod.scope = ir::MemoryScope::gpu;
    i.sources.push_back(ir::Operand::immediate(0, 2));
  }
  for (std::size_t a = 0; a < f->arguments.size(); ++a) {
    const ir::Operand value = scalar(s.call_arguments[a], f->arguments[a]);
    if (a < f->used) i.sources.push_back(value);
  }
  if (s.call_results.size() > (f->result != 0 ? 1 : 0))
    error(target.at, "call of '" + target.name + "' with " + std::to_string(s.call_results.size()) +
                         " results, expected " + (f->result != 0 ? "1" : "0"));
  if (f->result != 0) {
    i.destinations.push_back(s.call_results.empty() ? temporary(f->result == 8 ? ir::Type::u64 : ir::Type::u32)
                                                    : scalar(s.call_results[0], f->result));
  }
  append(std::move(i));
  return true;
}

void FunctionLowering::call(const Statement& s, const ir::Instruction& proto) {
  const Operand& target = s.operands[0];
  if (target.kind != Operand::Kind::name || target.negated) error(target.at, "'" + target.text + "' is not a function");
  const Function* callee = symbols_.function(target.name);
  if (callee == nullptr && !find(target.name)) error(target.at, "function '" + target.name + "' is not declared");
  ir::Instruction bare = proto;
  bare.mod = {};
  if (callee != nullptr && !callee->has_body) {
    if (runtime_call(s, bare)) return;
    error(target.at, "call of '" + target.name + "', which has no body here, is not supported");
  }
  if (callee != nullptr && !callee->error.empty()) throw trace::InputError(callee->error);
  if (callee != nullptr && callee->is_entry) error(target.at, "call of entry '" + target.name + "' is not supported");
  const std::optional<std::uint32_t> skip_label = begin_guarded(bare, target.name + " is not called");
  if (callee != nullptr) {
    call_function(*callee, s, bare);
  } else {
    indirect_call(s, bare);
  }
  if (skip_label) place_label(*skip_label);
}

void FunctionLowering::call_function(const Function& callee, const Statement& s, const ir::Instruction& bare) {
  require_operands(callee, s);
  if (symbols_.calls().is_recursive(callee)) {
    call_body(callee, s, bare);
  } else {
    inline_call(callee, s, bare);
  }
}

void FunctionLowering::require_operands(const Function& callee, const Statement& s) const {
  const auto require = [&](std::size_t formals, std::size_t actuals, const char* what) {
    if (formals == actuals) return;
    error(s.operands[0].at, "call of '" + callee.name + "' with " + std::to_string(actuals) + what + ", expected " +
                                std::to_string(formals));
  };
  require(callee.results.size(), s.call_results.size(), " results");
  require(callee.parameters.size(), s.call_arguments.size(), " arguments");
}

void FunctionLowering::inline_call(const Function& callee, const Statement& s, const ir::Instruction& bare) {
  if (frames_.size() > max_call_depth)
    error(s.operands[0].at, "calls are nested more than " + std::to_string(max_call_depth) + " deep");
  Frame frame;
  frame.function = &callee;
  frame.first_scope = scopes_.size();
  frame.return_label = new_label(callee.name + " returns");
  const std::uint32_t return_label = frame.return_label;
  Scope scope;
  std::vector<ResultCopy> results;
  for (std::size_t i = 0; i < callee.results.size(); ++i)
    bind_parameter(callee, callee.results[i], s.call_results[i], true, scope, bare, results);
  for (std::size_t i = 0; i < callee.parameters.size(); ++i)
    bind_parameter(callee, callee.parameters[i], s.call_arguments[i], false, scope, bare, results);
  frames_.push_back(frame);
  scopes_.push_back(std::move(scope));
  scopes_.emplace_back();
  statements(callee);
  scopes_.resize(frames_.back().first_scope);
  frames_.pop_back();
  place_label(return_label);
  for (const ResultCopy& r : results) copy_out(r, bare);
}

}  // namespace regatta::ptx

// SPDX-License-Identifier: Apache-2.0
//
// Branches, returns, and calls, which are inlined: the callee's statements are lowered in a frame of their own in
// which its formal parameters are other names for the caller's .param variables.
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
  bool has_result;                  ///< 4 bytes
};

const std::vector<RuntimeFunction>& runtime_table() {
  static const std::vector<RuntimeFunction> table = {{"vprintf", ir::Opcode::print, {8, 8}, 2, true},
                                                     {"__assertfail", ir::Opcode::trap, {8, 8, 4, 8, 8}, 3, false}};
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
  for (std::size_t a = 0; a < f->arguments.size(); ++a) {
    const ir::Operand value = scalar(s.call_arguments[a], f->arguments[a]);
    if (a < f->used) i.sources.push_back(value);
  }
  if (s.call_results.size() > (f->has_result ? 1 : 0))
    error(target.at, "call of '" + target.name + "' with " + std::to_string(s.call_results.size()) +
                         " results, expected " + (f->has_result ? "1" : "0"));
  if (f->has_result)
    i.destinations.push_back(s.call_results.empty() ? temporary(ir::Type::u32) : scalar(s.call_results[0], 4));
  append(std::move(i));
  return true;
}

void FunctionLowering::call(const Statement& s, const ir::Instruction& proto) {
  const Operand& target = s.operands[0];
  if (target.kind != Operand::Kind::name || target.negated) error(target.at, "'" + target.text + "' is not a function");
  const Function* callee = symbols_.function(target.name);
  if (callee == nullptr) {
    if (find(target.name)) error(s.at, "indirect call through '" + target.name + "' is not supported");
    error(target.at, "function '" + target.name + "' is not declared");
  }
  ir::Instruction bare = proto;
  bare.mod = {};
  if (!callee->has_body) {
    if (runtime_call(s, bare)) return;
    error(target.at, "call of '" + target.name + "', which has no body here, is not supported");
  }
  if (!callee->error.empty()) throw trace::InputError(callee->error);
  if (callee->is_entry) error(target.at, "call of entry '" + target.name + "' is not supported");
  for (const Frame& f : frames_)
    if (f.function == callee) error(target.at, "recursive call of '" + target.name + "' is not supported");
  if (frames_.size() > max_call_depth)
    error(target.at, "calls are nested more than " + std::to_string(max_call_depth) + " deep");

  Frame frame;
  frame.function = callee;
  frame.first_scope = scopes_.size();
  frame.return_label = new_label(callee->name + " returns");
  const std::uint32_t return_label = frame.return_label;
  const std::optional<std::uint32_t> skip_label = begin_guarded(bare, callee->name + " is not called");
  Scope scope;
  std::vector<ResultCopy> results;
  const auto bind = [&](const std::vector<Variable>& formals, const std::vector<Operand>& actuals, bool is_result) {
    if (formals.size() != actuals.size())
      error(target.at, "call of '" + target.name + "' with " + std::to_string(actuals.size()) +
                           (is_result ? " results" : " arguments") + ", expected " + std::to_string(formals.size()));
    for (std::size_t i = 0; i < formals.size(); ++i)
      bind_parameter(*callee, formals[i], actuals[i], is_result, scope, bare, results);
  };
  bind(callee->results, s.call_results, true);
  bind(callee->parameters, s.call_arguments, false);
  frames_.push_back(frame);
  scopes_.push_back(std::move(scope));
  scopes_.emplace_back();
  statements(*callee);
  scopes_.resize(frames_.back().first_scope);
  frames_.pop_back();
  place_label(return_label);
  for (const ResultCopy& r : results) copy_out(r, bare);
  if (skip_label) place_label(*skip_label);
}

}  // namespace regatta::ptx

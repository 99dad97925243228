// SPDX-License-Identifier: Apache-2.0
//
// Calls through an address: a search tree over the functions that the call may reach, each called as if by its name.
// Allocation, control flow and traces therefore know no indirect calls.
#include "lowering.h"

namespace regatta::ptx {

using ir::Compare;
using ir::Opcode;
using ir::Type;

namespace {

/// "'a', 'b' or 'c'"; of many, the first few.
std::string names_of(const std::vector<const Function*>& functions) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t n = 0; n < functions.size() && n < most; ++n) {
    if (n != 0) text += n + 1 == functions.size() ? " or " : ", ";
    text += "'" + functions[n]->name + "'";
  }
  return functions.size() > most ? text + " or " + std::to_string(functions.size() - most) + " more" : text;
}

}  // namespace

std::string FunctionLowering::obstacle(const Function& callee) {
  if (!callee.error.empty()) return "cannot be compiled: " + callee.error;
  if (callee.has_body) return "";
  for (const std::string& name : runtime_functions())
    if (name == callee.name) return "";
  return "has no body here";
}

void FunctionLowering::call_target(const Function& callee, const Statement& s, const ir::Instruction& bare,
                                   const ir::Operand& address) {
  const std::string reason = obstacle(callee);
  if (!reason.empty()) {
    trap_if(bare, Compare::eq, address, symbols_.calls().address(callee),
            "indirect call of address %, that of '" + callee.name + "', which " + reason);
    return;
  }
  if (callee.has_body) return call_function(callee, s, bare);
  Statement direct = s;
  direct.operands[0].name = callee.name;
  runtime_call(direct, bare);
}

void FunctionLowering::indirect_call(const Statement& s, const ir::Instruction& bare) {
  const Operand& target = s.operands[0];
  if (s.call_list.empty())
    error(target.at, "indirect call through '" + target.name + "' without a .callprototype or a list of .calltargets");
  if (s.call_list_at == Statement::nowhere)
    error(s.at, "'" + s.call_list + "' is neither a .callprototype nor a list of .calltargets before this call");
  const Function& caller = *frames_.back().function;
  const Statement& list = caller.body[s.call_list_at];
  for (const Operand& o : list.operands)
    if (symbols_.function(o.name) == nullptr)
      error(o.at, "'" + o.name + "' in '" + s.call_list + "' is not a function");
  ir::Operand address = source(target, address_type(), bare);
  if (!address.is_reg()) {
    const ir::Operand t = temporary(address_type());
    emit(bare, Opcode::mov, address_type(), {t}, {address});
    address = t;
  }
  const std::vector<const Function*> targets = symbols_.calls().targets(caller, s);
  if (targets.empty()) {
    trap_if(bare, Compare::ge, address, 0,
            "indirect call of address %, and the module takes the address of no function that '" + s.call_list +
                "' admits");
    return;
  }
  const std::string wrong = "indirect call of address %, expected that of " + names_of(targets);
  const std::uint32_t done = new_label("");
  std::vector<std::uint64_t> addresses;
  for (const Function* const f : targets) addresses.push_back(symbols_.calls().address(*f));
  search_tree(bare, address, address_type(), addresses, [&](std::size_t n) {
    trap_if(bare, Compare::ne, address, addresses[n], wrong);
    call_target(*targets[n], s, bare, address);
    jump(bare, done);
  });
  place_label(done);
}

}  // namespace regatta::ptx

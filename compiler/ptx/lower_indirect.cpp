// SPDX-License-Identifier: Apache-2.0
//
// Branches to one of several places: a search tree of comparisons, as compilers make of a switch without a table.
#include "lowering.h"

namespace regatta::ptx {

using ir::Compare;
using ir::Opcode;
using ir::Type;

std::uint32_t FunctionLowering::label_named(const Operand& o) const {
  if (o.kind != Operand::Kind::name || o.negated) error(o.at, "'" + o.text + "' is not a label");
  for (std::size_t i = scopes_.size(); i-- > frames_.back().first_scope;) {
    const auto found = scopes_[i].labels.find(o.name);
    if (found != scopes_[i].labels.end()) return found->second;
  }
  error(o.at, "label '" + o.name + "' is not defined");
}

std::uint32_t FunctionLowering::new_label(const std::string& name) {
  draft_.labels.push_back({name, Draft::unplaced});
  return static_cast<std::uint32_t>(draft_.labels.size() - 1);
}

void FunctionLowering::place_label(std::uint32_t label) {
  draft_.labels[label].position = static_cast<std::uint32_t>(draft_.instructions.size());
}

std::optional<std::uint32_t> FunctionLowering::begin_guarded(ir::Instruction& bare, const std::string& name) {
  if (!bare.guarded) return std::nullopt;
  const std::uint32_t behind = new_label(name);
  ir::Instruction around = bare;
  around.guard_negated = !around.guard_negated;
  jump(around, behind);
  bare.guarded = false;
  return behind;
}

void FunctionLowering::trap_if(const ir::Instruction& bare, Compare compare, const ir::Operand& value,
                               std::uint64_t limit, const std::string& text) {
  const ir::Operand wrong = temporary(Type::pred);
  emit(bare, Opcode::setp, value.words == 2 ? Type::u64 : Type::u32, {wrong},
       {value, ir::Operand::immediate(limit, value.words)});
  last().mod.compare = compare;
  std::size_t number = 0;
  while (number < f_.trap_texts.size() && f_.trap_texts[number] != text) ++number;
  if (number == f_.trap_texts.size()) f_.trap_texts.push_back(text);
  ir::Instruction trap = bare;
  trap.op = Opcode::trap;
  trap.mod = {};
  trap.guarded = true;
  trap.guard = wrong.id;
  trap.guard_negated = false;
  trap.sources = {value, ir::Operand::immediate(number)};
  append(std::move(trap));
}

void FunctionLowering::search_tree(const ir::Instruction& bare, const ir::Operand& value, ir::Type type,
                                   const std::vector<std::uint64_t>& least,
                                   const std::function<void(std::size_t)>& leaf) {
  // The parts that are still to be written, and the labels that lead there. The lower part comes first.
  struct Part {
    std::size_t begin = 0, end = 0;
    std::optional<std::uint32_t> label;
  };
  std::vector<Part> open{{0, least.size(), std::nullopt}};
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    if (part.label) place_label(*part.label);
    if (part.end - part.begin == 1) {
      leaf(part.begin);
      continue;
    }
    const std::size_t middle = part.begin + (part.end - part.begin) / 2;
    const ir::Operand upper = temporary(Type::pred);
    emit(bare, Opcode::setp, type, {upper}, {value, ir::Operand::immediate(least[middle], ir::words_of(type))});
    last().mod.compare = Compare::ge;
    ir::Instruction branch = bare;
    branch.guarded = true;
    branch.guard = upper.id;
    branch.guard_negated = false;
    const std::uint32_t label = new_label("");
    jump(branch, label);
    open.push_back({middle, part.end, label});
    open.push_back({part.begin, middle, std::nullopt});
  }
}

void FunctionLowering::branch_tree(const ir::Instruction& bare, const ir::Operand& index,
                                   const std::vector<std::uint32_t>& targets, bool checked) {
  // Neighbours with one target are one leaf.
  std::vector<std::uint64_t> first;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    if (first.empty() || targets[first.back()] != targets[n]) first.push_back(n);
  }
  search_tree(bare, index, Type::u32, first, [&](std::size_t n) {
    // No comparison before has looked for the end of the list.
    if (checked && n + 1 == first.size())
      trap_if(bare, Compare::ge, index, targets.size(),
              "brx.idx with index %, expected less than " + std::to_string(targets.size()));
    jump(bare, targets[first[n]]);
  });
}

void FunctionLowering::indexed_branch(const Statement& s, const ir::Instruction& proto) {
  const Operand& name = s.operands[1];
  const Statement* list = nullptr;
  for (std::size_t i = scopes_.size(); list == nullptr && i-- > frames_.back().first_scope;) {
    const auto found = scopes_[i].target_lists.find(name.name);
    if (found != scopes_[i].target_lists.end()) list = found->second;
  }
  if (name.kind != Operand::Kind::name || name.negated || list == nullptr)
    error(name.at, "'" + name.text + "' is not a list of .branchtargets");
  std::vector<std::uint32_t> targets;
  for (const Operand& o : list->operands) targets.push_back(label_named(o));
  ir::Instruction bare = proto;
  bare.mod = {};
  const auto behind = begin_guarded(bare, "");
  ir::Operand index = source(s.operands[0], Type::u32, bare);
  if (!index.is_reg()) {
    const ir::Operand t = temporary(Type::u32);
    emit(bare, Opcode::mov, Type::u32, {t}, {index});
    index = t;
  }
  branch_tree(bare, index, targets);
  if (behind) place_label(*behind);
}

}  // namespace regatta::ptx

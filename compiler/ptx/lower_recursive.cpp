// SPDX-License-Identifier: Apache-2.0
//
// Recursive functions. Their code stands once in the kernel, behind the kernel's own. A call saves the registers of the
// function that calls which are read behind the call in a frame on a stack in local memory, if the callee may come back
// to that function before it returns. There is one stack for all recursive functions of a kernel. It begins at
// stack_bytes of local memory and grows downwards to 0, so that what does not fit lies outside of local memory.
#include "lowering.h"

#include <algorithm>

namespace regatta::ptx {

using ir::Opcode;
using ir::Type;
using trace::MemorySpace;

namespace {

constexpr std::uint32_t frame_alignment = 16;
constexpr std::size_t max_body_instructions = 1u << 14;

}  // namespace

void FunctionLowering::add_local_address(ir::Instruction& i, bool in_frame, std::uint32_t offset) const {
  if (in_frame) {
    i.sources.push_back(stack_pointer_);
    i.offset += offset;
  } else {
    i.sources.push_back(ir::Operand::immediate(offset));
  }
}

void FunctionLowering::begin_stack(const Function& entry) {
  if (!symbols_.calls().reaches_recursion(entry)) return;
  f_.stack_bytes = f_.local_bytes = options_.stack_bytes / frame_alignment * frame_alignment;
  stack_pointer_ = temporary(Type::u32);
  ir::Instruction bare;
  bare.where = f_.bounds.where;
  emit(bare, Opcode::mov, Type::u32, {stack_pointer_}, {ir::Operand::immediate(f_.stack_bytes)});
}

FunctionLowering::Body& FunctionLowering::body_of(const Function& callee, const ir::Instruction& bare) {
  for (Body& b : bodies_)
    if (b.function == &callee) return b;
  if (!module_.registers.empty())
    error(callee.at,
          "recursive function '" + callee.name + "' in a module with registers outside of functions is not supported");
  bodies_.emplace_back();
  Body& b = bodies_.back();
  b.function = &callee;
  b.where = bare.where;
  b.entry = new_label(callee.name);
  b.return_index = temporary(Type::u32);
  // Its own copies of arrays are made when it is lowered: these are where they are handed over.
  Body* const lowered = std::exchange(body_, nullptr);
  const auto place = [&](const std::vector<Variable>& formals, std::vector<std::uint32_t>& params) {
    for (const Variable& v : formals) {
      if (v.space == Variable::Space::reg && (v.vector > 1 || v.type == Type::pred))
        error(v.at, "parameter '" + v.name + "' of recursive function '" + callee.name +
                        "' is a vector or a predicate: not supported");
      params.push_back(call_param(v).id);
    }
  };
  place(callee.results, b.results);
  place(callee.parameters, b.parameters);
  body_ = lowered;
  return b;
}

void FunctionLowering::copy_array(const CallParam& to, const CallParam& from, const ir::Instruction& bare) {
  unsigned unit = 8;
  while ((to.offset | from.offset | to.bytes) % unit != 0) unit /= 2;
  static constexpr Type by_size[] = {Type::none, Type::u8,   Type::u16,  Type::none, Type::u32,
                                     Type::none, Type::none, Type::none, Type::u64};
  for (std::uint32_t at = 0; at < to.bytes; at += unit) {
    const ir::Operand value = temporary(by_size[unit]);
    ir::Instruction load = plain(bare);
    load.op = Opcode::ld;
    load.type = by_size[unit];
    load.mod.space = MemorySpace::local;
    ir::Instruction store = load;
    store.op = Opcode::st;
    load.destinations = {value};
    add_local_address(load, from.in_frame, from.offset + at);
    add_local_address(store, to.in_frame, to.offset + at);
    store.sources.push_back(value);
    append(std::move(load));
    append(std::move(store));
  }
}

/// Leaves an argument where the callee finds it. `later`: copies to be made when all arguments have been read, since a
/// function that calls itself passes its own parameters.
void FunctionLowering::pass(const Body& body, std::size_t parameter, const Operand& actual, const ir::Instruction& bare,
                            std::vector<std::pair<ir::Operand, ir::Operand>>& later) {
  const Variable& formal = body.function->parameters[parameter];
  const CallParam to = call_params_[body.parameters[parameter]];
  if (to.in_memory) {
    copy_array(to, array_argument(formal, actual, *body.function), bare);
    return;
  }
  if (body_ != &body) return copy_in(to.value, formal.type, actual, bare);
  const ir::Operand value = temporary(to.type);
  copy_in(value, formal.type, actual, bare);
  later.emplace_back(to.value, value);
}

FunctionLowering::CallParam FunctionLowering::array_argument(const Variable& formal, const Operand& actual,
                                                             const Function& callee) {
  const std::optional<Symbol> symbol =
      actual.kind == Operand::Kind::name && !actual.negated ? find(actual.name) : std::nullopt;
  if (!symbol || symbol->kind != Symbol::Kind::call_param || !call_params_[symbol->id].in_memory ||
      symbol->bytes != formal.bytes())
    error(actual.at, "'" + actual.text + "' is not a .param array of " + std::to_string(formal.bytes()) +
                         " bytes, as '" + formal.name + "' of '" + callee.name + "' is");
  return call_params_[symbol->id];
}

void FunctionLowering::call_body(const Function& callee, const Statement& s, const ir::Instruction& bare) {
  Body& body = body_of(callee, bare);
  BodyCall c;
  c.where = bare.where;
  c.before = position();
  std::vector<std::pair<ir::Operand, ir::Operand>> later;
  for (std::size_t p = 0; p < callee.parameters.size(); ++p) {
    pass(body, p, s.call_arguments[p], bare, later);
    if (body_ != &body && !call_params_[body.parameters[p]].in_memory) c.handing_over.push_back(position() - 1);
  }
  for (const auto& [to, value] : later) {
    c.handing_over.push_back(position());
    emit(bare, Opcode::mov, to.words == 2 ? Type::b64 : Type::b32, {to}, {value});
  }
  c.handing_over.push_back(position());
  const auto number = static_cast<std::uint32_t>(body.return_labels.size());
  emit(bare, Opcode::mov, Type::u32, {body.return_index}, {ir::Operand::immediate(number)});
  c.jump = position();
  jump(bare, body.entry);
  body.return_labels.push_back(new_label(callee.name + " returns"));
  c.label = body.return_labels.back();
  place_label(c.label);
  c.behind = position();
  for (std::size_t r = 0; r < callee.results.size(); ++r) {
    const CallParam from = call_params_[body.results[r]];
    if (from.in_memory) {
      copy_array(array_argument(callee.results[r], s.call_results[r], callee), from, bare);
    } else {
      c.handed_back.push_back(from.value.id);
      copy_out({s.call_results[r], from.value, callee.results[r].type}, bare);
      c.results.push_back(last().destinations[0].id);
    }
  }
  c.after = position();
  if (body_ == nullptr) return;
  c.may_come_back = symbols_.calls().in_one_cycle(*body_->function, callee);
  body_->code.calls.push_back(std::move(c));
}

void FunctionLowering::lower_body(Body& body) {
  const Function& f = *body.function;
  body_ = &body;
  ir::Instruction bare;
  bare.where = body.where;
  bare.where.line = f.at.line;
  bare.where.column = f.at.column;
  body.code.begin = position();
  place_label(body.entry);
  body.push = position();
  emit(bare, Opcode::sub, Type::u32, {stack_pointer_}, {stack_pointer_, ir::Operand::immediate(0)});
  Frame frame;
  frame.function = &f;
  frame.first_scope = scopes_.size();
  frame.return_label = new_label(f.name + " ends");
  const std::uint32_t return_label = frame.return_label;
  Scope scope;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> results;  // the place in the frame, and where it is handed over
  const auto name = [&](const Variable& v, std::uint32_t param, bool is_result) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::call_param;
    symbol.type = v.type;
    symbol.id = param;
    symbol.bytes = call_params_[param].bytes;
    if (v.space == Variable::Space::reg) {
      symbol.kind = Symbol::Kind::reg;
      symbol.id = call_params_[param].value.id;
    } else if (call_params_[param].in_memory) {
      symbol = call_param(v);
      if (is_result) {
        results.emplace_back(symbol.id, param);
      } else {
        copy_array(call_params_[symbol.id], call_params_[param], bare);
      }
    }
    if (!scope.names.emplace(v.name, symbol).second) error(v.at, "'" + v.name + "' is already declared in this scope");
  };
  for (std::size_t r = 0; r < f.results.size(); ++r) name(f.results[r], body.results[r], true);
  for (std::size_t p = 0; p < f.parameters.size(); ++p) name(f.parameters[p], body.parameters[p], false);
  frames_.push_back(frame);
  scopes_.push_back(std::move(scope));
  scopes_.emplace_back();
  statements(f);
  scopes_.resize(frames_.back().first_scope);
  frames_.pop_back();
  place_label(return_label);
  body.code.end = position();
  body.code.live_at_end.push_back(body.return_index.id);
  for (const std::uint32_t r : body.results)
    if (!call_params_[r].in_memory) body.code.live_at_end.push_back(call_params_[r].value.id);
  if (body.code.end - body.code.begin > max_body_instructions)
    error(f.at, "recursive function '" + f.name + "' has more than " + std::to_string(max_body_instructions) +
                    " instructions");
  for (const auto& [in_frame, handed_over] : results)
    copy_array(call_params_[handed_over], call_params_[in_frame], bare);
  body.pop = position();
  emit(bare, Opcode::add, Type::u32, {stack_pointer_}, {stack_pointer_, ir::Operand::immediate(0)});
  body_ = nullptr;
}

void FunctionLowering::jump_back(const Body& body) {
  ir::Instruction bare;
  bare.where = body.where;
  branch_tree(bare, body.return_index, body.return_labels, false);
}

void FunctionLowering::save_registers(Body& body, std::vector<Insertion>& insertions) {
  const std::vector<std::vector<std::uint32_t>> live = live_across_calls(draft_, body.code, f_.registers.size());
  std::map<std::uint32_t, std::uint32_t> places;
  std::uint32_t end = body.frame_bytes;
  const auto place = [&](std::uint32_t r, std::uint32_t bytes) {
    if (places.count(r) != 0) return;
    end = static_cast<std::uint32_t>(round_up(end, bytes));
    places[r] = end;
    end += bytes;
  };
  for (std::size_t c = 0; c < live.size(); ++c) {
    const BodyCall& call = body.code.calls[c];
    if (!call.may_come_back) continue;
    ir::Instruction bare;
    bare.where = call.where;
    const std::size_t first = draft_.instructions.size();
    const auto take = [&](std::size_t at, bool behind_labels) {
      Insertion i;
      i.at = at;
      i.behind_labels = behind_labels;
      if (!behind_labels) i.first_label = call.label;
      const auto begin = draft_.instructions.begin() + static_cast<std::ptrdiff_t>(first);
      i.code.assign(std::make_move_iterator(begin), std::make_move_iterator(draft_.instructions.end()));
      draft_.instructions.erase(begin, draft_.instructions.end());
      insertions.push_back(std::move(i));
    };
    const auto access = [&](Opcode op, const ir::Operand& value, std::uint32_t r) {
      ir::Instruction i = bare;
      i.op = op;
      i.type = value.words == 2 ? Type::b64 : Type::b32;
      i.mod.space = MemorySpace::local;
      add_local_address(i, true, places.at(r));
      (op == Opcode::ld ? i.destinations : i.sources).push_back(value);
      append(std::move(i));
    };
    const auto is_saved = [&](std::uint32_t r) { return r != stack_pointer_.id; };
    for (const std::uint32_t r : live[c]) {
      if (!is_saved(r)) continue;
      const ir::VirtualRegister& reg = f_.registers[r];
      place(r, reg.words == 2 ? 8 : 4);
      if (!reg.is_predicate) {
        access(Opcode::st, ir::Operand::reg(r, reg.words), r);
        continue;
      }
      const ir::Operand number = temporary(Type::u32);
      emit(bare, Opcode::selp, Type::u32, {number},
           {ir::Operand::immediate(1), ir::Operand::immediate(0), ir::Operand::predicate(r)});
      access(Opcode::st, number, r);
    }
    take(call.before, true);
    for (const std::uint32_t r : live[c]) {
      if (!is_saved(r)) continue;
      const bool is_predicate = f_.registers[r].is_predicate;
      const ir::Operand value = is_predicate ? temporary(Type::u32) : ir::Operand::reg(r, f_.registers[r].words);
      access(Opcode::ld, value, r);
      if (!is_predicate) continue;
      emit(bare, Opcode::setp, Type::u32, {ir::Operand::predicate(r)}, {value, ir::Operand::immediate(0)});
      last().mod.compare = ir::Compare::ne;
    }
    take(call.after, false);
  }
  const std::uint64_t frame = round_up(end, frame_alignment);
  for (const std::size_t at : {body.push, body.pop}) draft_.instructions[at].sources[1] = ir::Operand::immediate(frame);
  if (body.frame_bytes == 0) return;
  // Its variables may be reached by other addresses than those of the frame.
  ir::Instruction bare;
  bare.where = draft_.instructions[body.push].where;
  const std::size_t first = draft_.instructions.size();
  trap_if(bare, ir::Compare::ge, stack_pointer_, std::uint64_t{f_.stack_bytes} + 1,
          ir::stack_overflow_text(f_.stack_bytes));
  Insertion check;
  check.at = body.push + 1;
  const auto begin = draft_.instructions.begin() + static_cast<std::ptrdiff_t>(first);
  check.code.assign(begin, draft_.instructions.end());
  draft_.instructions.erase(begin, draft_.instructions.end());
  insertions.push_back(std::move(check));
}

void FunctionLowering::finish_stack(const Function& entry) {
  if (bodies_.empty()) return;
  ir::Instruction exit;
  exit.op = Opcode::exit;
  exit.where = {entry.end.line, entry.end.column, 0, 0};
  append(std::move(exit));
  // Lowering one may find others, and more calls of all.
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    lower_body(bodies_[b]);
    if (b + 1 == bodies_.size()) {
      jump_back(bodies_[b]);
      continue;
    }
    bodies_[b].way_back = new_label("");
    jump(ir::Instruction{}, bodies_[b].way_back);
  }
  for (const Body& b : bodies_) {
    if (&b == &bodies_.back()) continue;
    place_label(b.way_back);
    jump_back(b);
  }
  std::vector<Insertion> insertions;
  for (Body& b : bodies_) save_registers(b, insertions);
  insert(draft_, std::move(insertions));
}

}  // namespace regatta::ptx

// SPDX-License-Identifier: Apache-2.0
//
// Clusters of one CTA: its rank is 0, its shared memory is the cluster's, and its barrier has two halves. And the
// registers that the threads of a warp group may have.
#include "lowering.h"

namespace regatta::ptx {
namespace {

using ir::Opcode;
using ir::Type;

constexpr std::uint64_t least_registers = 24, most_registers = 256, register_step = 8;  // PTX ISA, setmaxnreg
constexpr const char* other_ranks = ": clusters have one CTA, distributed shared memory is not supported";

}  // namespace

const std::map<std::string, std::uint32_t>& cluster_constants() {
  static const std::map<std::string, std::uint32_t> table = {
      {"%cluster_ctaid.x", 0},  {"%cluster_ctaid.y", 0},  {"%cluster_ctaid.z", 0}, {"%cluster_nctaid.x", 1},
      {"%cluster_nctaid.y", 1}, {"%cluster_nctaid.z", 1}, {"%cluster_ctarank", 0}, {"%cluster_nctarank", 1}};
  return table;
}

std::optional<std::uint32_t> FunctionLowering::cluster_constant(const std::string& name) {
  const auto found = cluster_constants().find(name);
  if (found == cluster_constants().end()) return std::nullopt;
  return found->second;
}

void lower_elect(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  if (s.operands[0].kind != Operand::Kind::pair)
    l.error(s.operands[0].at, "'" + s.operands[0].text + "' in '" + s.name + "', expected 'register|predicate'");
  ir::Instruction i = proto;
  i.sources.push_back(l.source(s.operands[1], Type::u32, plain(proto)));
  l.destinations_with_predicate(s.operands[0], Type::b32, i);
  l.append(std::move(i));
}

void lower_set_registers(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Operand& count = s.operands[0];
  if (count.kind != Operand::Kind::integer)
    l.error(count.at, "'" + count.text + "' in '" + s.name + "', expected a number of registers");
  if (count.bits < least_registers || count.bits > most_registers || count.bits % register_step != 0) {
    l.error(count.at, "'" + s.name + "' with " + count.text + " registers, expected a multiple of " +
                          std::to_string(register_step) + " from " + std::to_string(least_registers) + " to " +
                          std::to_string(most_registers));
  }
  ir::Instruction i = proto;
  i.mod.raises = has_modifier(s, "inc");
  i.sources = {ir::Operand::immediate(count.bits)};
  l.append(std::move(i));
}

void lower_cluster_barrier(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  if (has_modifier(s, "release") && has_modifier(s, "relaxed"))
    l.error(s.at, "'" + s.name + "': .release and .relaxed exclude each other");
  ir::Instruction i = proto;
  const bool arrives = has_modifier(s, "arrive");
  i.mod.barrier = arrives ? ir::BarrierMode::cluster_arrive : ir::BarrierMode::cluster_wait;
  const bool relaxed = has_modifier(s, "relaxed");
  i.mod.order = relaxed ? ir::MemoryOrder::relaxed : arrives ? ir::MemoryOrder::release : ir::MemoryOrder::acquire;
  l.append(std::move(i));
}

void lower_map_rank(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.map_rank(s, proto);
}

void FunctionLowering::map_rank(const Statement& s, const ir::Instruction& proto) {
  ir::Instruction bare = plain(proto);
  const Operand& number = s.operands[2];
  if (number.kind == Operand::Kind::integer && number.bits != 0)
    error(number.at, "'" + s.name + "' of CTA " + number.text + other_ranks);
  const std::optional<std::uint32_t> behind = begin_guarded(bare, "");
  const ir::Operand rank = source(number, Type::u32, bare);
  if (rank.is_reg()) trap_if(bare, ir::Compare::ne, rank, 0, s.name + " of CTA %" + other_ranks);
  const ir::Operand address = source(s.operands[1], proto.type, bare);
  emit(bare, Opcode::mov, proto.type, {destination(s.operands[0], proto.type)}, {address});
  if (behind) place_label(*behind);
}

void lower_rank_of(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.source(s.operands[1], proto.type, plain(proto));
  l.emit(proto, Opcode::mov, Type::u32, {l.destination(s.operands[0], Type::u32)}, {ir::Operand::immediate(0)});
}

}  // namespace regatta::ptx

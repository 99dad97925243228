// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/from_trace.h>

#include <algorithm>
#include <string>
#include <unordered_map>

namespace regatta::ir {
namespace {

using trace::OpClass;
using trace::StaticInstruction;

class FromTrace {
 public:
  explicit FromTrace(const trace::Kernel& kernel) : kernel_(kernel) {
    std::uint32_t next = 0;
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
      if (kernel.blocks[b].first != next) refuse(next, "is in no block, or in two");
      first_.emplace(next, b);
      next += kernel.blocks[b].count;
    }
    if (next != kernel.instructions.size() || next == 0) refuse(next, "is in no block, or in two");
  }

  Function function() const {
    Function f;
    f.name = kernel_.name;
    f.ptx_file = kernel_.ptx_file;
    f.source_files = kernel_.source_files;
    f.static_shared_bytes = kernel_.static_shared_bytes;
    f.local_bytes = kernel_.local_bytes_per_thread;
    f.allocated = true;
    f.registers_used = kernel_.registers_per_thread;
    f.entry_registers = kernel_.launch_registers;
    f.predicates_used = kernel_.predicates;
    f.blocks.resize(kernel_.blocks.size());
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
      const trace::BasicBlock& from = kernel_.blocks[b];
      Block& block = f.blocks[b];
      for (std::uint32_t n = 0; n < from.count; ++n) block.instructions.push_back(instruction(from.first + n));
      for (const std::uint32_t s : from.successors) {
        if (std::find(block.successors.begin(), block.successors.end(), s) != block.successors.end()) continue;
        block.successors.push_back(s);
        f.blocks[s].predecessors.push_back(b);
      }
    }
    return f;
  }

 private:
  [[noreturn]] void refuse(std::uint32_t index, const std::string& what) const {
    throw trace::InputError("error: kernel " + kernel_.name + ": instruction " + std::to_string(index) + " " + what +
                            ", expected basic blocks that are the kernel's instructions in order");
  }

  Instruction instruction(std::uint32_t index) const {
    const StaticInstruction& from = kernel_.instructions[index];
    Instruction i;
    i.op = opcode_of(from);
    i.target_class = from.op_class;
    i.mod.space = from.space;
    i.mod.is_volatile = from.is_volatile;
    if (from.barrier_arrives) i.mod.barrier = BarrierMode::arrive;
    if (from.barrier_half == trace::BarrierHalf::arrive) i.mod.barrier = BarrierMode::cluster_arrive;
    if (from.barrier_half == trace::BarrierHalf::wait) i.mod.barrier = BarrierMode::cluster_wait;
    if (from.register_budget != 0) {
      i.op = Opcode::set_registers;
      i.mod.raises = from.raises_budget;
      i.sources.push_back(Operand::immediate(from.register_budget));
    }
    if (from.op_class == OpClass::branch) i.target = block_at(index, from.branch_target);
    for (unsigned d = 0; d < from.destination_count; ++d)
      i.destinations.push_back(Operand::reg(from.destinations[d], 1));
    for (unsigned p = 0; p < from.destination_predicate_count; ++p)
      i.destinations.push_back(Operand::predicate(from.destination_predicates[p]));
    for (unsigned s = 0; s < from.source_count; ++s) i.sources.push_back(Operand::reg(from.sources[s], 1));
    for (unsigned p = 0; p < from.source_predicate_count; ++p)
      i.sources.push_back(Operand::predicate(from.source_predicates[p]));
    if (from.guard.predicate >= 0) {
      i.guarded = true;
      i.guard = static_cast<std::uint32_t>(from.guard.predicate);
      i.guard_negated = from.guard.negated;
      i.destinations.push_back(Operand::predicate(i.guard));
    }
    i.where.line = from.ptx_line;
    i.where.source_file = from.source_file;
    i.where.source_line = from.source_line;
    return i;
  }

  std::uint32_t block_at(std::uint32_t branch, std::int32_t index) const {
    const auto found = index < 0 ? first_.end() : first_.find(static_cast<std::uint32_t>(index));
    if (found == first_.end()) refuse(branch, "branches into a block");
    return found->second;
  }

  static Opcode opcode_of(const StaticInstruction& i) {
    switch (i.op_class) {
      case OpClass::nop:
        return Opcode::nop;
      case OpClass::branch:
        return Opcode::bra;
      case OpClass::exit:
        return Opcode::exit;
      case OpClass::barrier:
        return Opcode::bar;
      case OpClass::fence:
        return Opcode::membar;
      case OpClass::load:
        return Opcode::ld;
      case OpClass::store:
        return Opcode::st;
      case OpClass::atomic:
        return i.destination_count == 0 ? Opcode::red : Opcode::atom;
      case OpClass::shuffle:
        return Opcode::shfl;
      default:
        return Opcode::mov;
    }
  }

  const trace::Kernel& kernel_;
  std::unordered_map<std::uint32_t, std::uint32_t> first_;  ///< blocks by their first instruction
};

}  // namespace

Function from_trace(const trace::Kernel& kernel) { return FromTrace(kernel).function(); }

}  // namespace regatta::ir

// SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <stdexcept>
#include <string>
#include <unordered_map>

namespace regatta::trace {
namespace {

/// A value that must not exceed a maximum.
void at_most(std::uint64_t value, std::uint64_t maximum, const char* what) {
  if (value > maximum) {
    throw Malformed(std::string(what) + " is " + std::to_string(value) + ", expected at most " +
                    std::to_string(maximum));
  }
}

/// An index into `size` things.
void below(std::uint64_t index, std::uint64_t size, const char* what) {
  if (index >= size) {
    throw Malformed(std::string(what) + " is " + std::to_string(index) + ", expected less than " +
                    std::to_string(size));
  }
}

void equal(std::uint64_t found, std::uint64_t expected, const char* what) {
  if (found != expected) {
    throw Malformed(std::string(what) + " is " + std::to_string(found) + ", expected " + std::to_string(expected));
  }
}

template <std::size_t size>
void check_numbers(const std::array<std::uint8_t, size>& numbers, unsigned count, unsigned limit, const char* what) {
  at_most(count, size, (std::string("number of ") + what + "s").c_str());
  for (unsigned i = 0; i < count; ++i) below(numbers[i], limit, what);
}

void check_operand(const Operand& operand) {
  at_most(static_cast<unsigned>(operand.kind), static_cast<unsigned>(Operand::Kind::constant_bank), "operand kind");
  if (operand.kind == Operand::Kind::reg) {
    at_most(operand.words, max_destination_registers, "operand words");
    // One past the last register and predicate: the names that always read zero and true.
    at_most(operand.value, max_general_registers, "operand register");
  } else if (operand.kind == Operand::Kind::predicate) {
    at_most(operand.value, max_predicates, "operand predicate");
  }
}

void check_budget(const StaticInstruction& i, const Kernel& kernel) {
  if (i.register_budget < least_register_budget || i.register_budget > most_register_budget ||
      i.register_budget % register_budget_step != 0) {
    throw Malformed("register budget is " + std::to_string(i.register_budget) + ", expected a multiple of " +
                    std::to_string(register_budget_step) + " from " + std::to_string(least_register_budget) + " to " +
                    std::to_string(most_register_budget));
  }
  if (kernel.launch_registers == 0)
    throw Malformed("sets a register budget, and the kernel does not say with how many registers it begins");
  if (i.op_class != OpClass::nop)
    throw Malformed("sets a register budget and is of class " + std::string(to_string(i.op_class)));
}

void check_instruction(const StaticInstruction& i, const Kernel& kernel) {
  const auto size = kernel.instructions.size();
  if (i.opcode.empty()) throw Malformed("opcode is empty");
  at_most(i.opcode_id, max_opcode_id, "opcode id");
  at_most(static_cast<unsigned>(i.op_class), op_class_count - 1, "operation class");
  at_most(static_cast<unsigned>(i.space), static_cast<unsigned>(MemorySpace::asynchronous), "memory space");
  at_most(static_cast<unsigned>(i.async), async_kind_count - 1, "asynchronous operation");
  if ((i.op_class == OpClass::async) != (i.async != AsyncKind::none))
    throw Malformed(i.async == AsyncKind::none ? "is of class async and no asynchronous operation"
                                               : "is an asynchronous operation and not of class async");
  if ((i.space == MemorySpace::asynchronous) != (async_lists(i.async) != 0))
    throw Malformed(std::string("of kind ") + to_string(i.async) + " has space " + to_string(i.space));
  if (i.guard.predicate >= 0) below(static_cast<unsigned>(i.guard.predicate), kernel.predicates, "guard predicate");
  check_numbers(i.sources, i.source_count, kernel.registers_per_thread, "source register");
  check_numbers(i.destinations, i.destination_count, kernel.registers_per_thread, "destination register");
  check_numbers(i.source_predicates, i.source_predicate_count, kernel.predicates, "source predicate");
  check_numbers(i.destination_predicates, i.destination_predicate_count, kernel.predicates, "destination predicate");
  at_most(i.access_bytes, 32, "access bytes");
  if (has_addresses(i) && i.access_bytes == 0) throw Malformed("a memory access of 0 bytes");
  if (kernel.shared_values)
    at_most(shared_write_words(i), max_stored_words, "number of words written to shared memory");
  if (i.branch_target >= 0) below(static_cast<unsigned>(i.branch_target), size, "branch target");
  if (i.op_class == OpClass::branch && i.branch_target < 0) throw Malformed("a branch without a target");
  at_most(i.barrier_id, max_barrier_id, "barrier");
  at_most(i.barrier_threads, max_threads_per_cta, "barrier threads");
  at_most(static_cast<unsigned>(i.barrier_half), static_cast<unsigned>(BarrierHalf::wait), "half of a barrier");
  if (i.barrier_half != BarrierHalf::none && i.op_class != OpClass::barrier)
    throw Malformed("is half of a barrier and of class " + std::string(to_string(i.op_class)));
  if ((i.barrier_half == BarrierHalf::arrive) != i.barrier_arrives && i.barrier_half != BarrierHalf::none)
    throw Malformed("is half of a barrier, and whether it waits contradicts that");
  if (i.register_budget != 0) check_budget(i, kernel);
  for (const Operand& operand : i.operands) check_operand(operand);
  at_most(i.operand_destinations, i.operands.size(), "number of destination operands");
  if (i.source_line != 0) below(i.source_file, kernel.source_files.size(), "source file");
}

/// Accepts only instructions that the platform can run without an entry in the dynamic columns.
void check_issuing(const StaticInstruction& i) {
  if (i.op_class != OpClass::metadata && i.op_class != OpClass::fence && i.op_class != OpClass::branch) {
    throw Malformed("issues and is of class " + std::string(to_string(i.op_class)) +
                    ", expected metadata, fence or branch");
  }
  if (i.guard.predicate >= 0 || i.source_count != 0 || i.destination_count != 0 || i.source_predicate_count != 0 ||
      i.destination_predicate_count != 0 || i.reads_carry || i.writes_carry) {
    throw Malformed("issues and names registers or predicates, for which a trace has no values");
  }
  if (i.reads_memory || i.writes_memory)
    throw Malformed("issues and accesses memory, for which a trace has no addresses");
  if (i.space != MemorySpace::none && (i.op_class != OpClass::fence || i.space != MemorySpace::shared)) {
    throw Malformed("issues and names the space " + std::string(to_string(i.space)) +
                    ", expected none, or shared for a fence");
  }
}

void check_edge(const InsertedInstruction& inserted, const Kernel& kernel) {
  if (inserted.disposition != Disposition::issue) {
    throw Malformed("stands on an edge and is removed at decode, expected one that issues");
  }
  below(static_cast<unsigned>(inserted.after), kernel.instructions.size(), "the instruction that it follows");
  const auto index = static_cast<std::uint32_t>(inserted.after);
  const StaticInstruction& from = kernel.instructions[index];
  // Some lane can go this way: of two lanes, one is active.
  if (lanes_to(from, index, inserted.before, from.guard.predicate >= 0 ? 3 : 1, 1) == 0) {
    throw Malformed("stands on an edge from " + std::to_string(index) + " to " + std::to_string(inserted.before) +
                    ", which the kernel does not have");
  }
}

void check_block(const BasicBlock& block, const Kernel& kernel) {
  const std::uint64_t size = kernel.instructions.size();
  if (block.count == 0) throw Malformed("has no instruction");
  below(block.first, size, "first instruction");
  at_most(std::uint64_t{block.first} + block.count, size, "end");
  for (const std::uint32_t successor : block.successors) below(successor, kernel.blocks.size(), "successor");
  if (block.reconvergence >= 0) {
    below(static_cast<unsigned>(block.reconvergence), kernel.blocks.size(), "reconvergence block");
  }
}

/// Runs `check` and puts "what N" before its reason.
template <class Check>
void numbered(const char* what, std::size_t number, Check check) {
  try {
    check();
  } catch (const Malformed& e) {
    throw Malformed(std::string(what) + " " + std::to_string(number) + ": " + e.what());
  }
}

/// `goes_on`: a segment that is not the first of its warp, which positions and the depth of the stack are not of.
void check_warp(const WarpColumns& c, const Kernel& kernel, bool goes_on = false) {
  const std::uint64_t code = kernel.instructions.size();
  equal(c.run_length.size(), c.run_start.size(), "number of run lengths");
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < c.run_start.size(); ++i) {
    if (c.run_length[i] == 0) throw Malformed("run " + std::to_string(i) + " is empty");
    below(c.run_start[i], code, "start of a run");
    at_most(std::uint64_t{c.run_start[i]} + c.run_length[i], code, "end of a run");
    total += c.run_length[i];
  }
  equal(c.warp_instructions, total, "number of warp instructions");
  at_most(c.thread_instructions, total * kernel.warp_size, "number of thread instructions");

  const LaneMask lanes = all_lanes(kernel.warp_size);
  equal(c.mask.size(), c.mask_at.size(), "number of masks");
  if (total != 0 && c.mask.empty()) throw Malformed("has no SIMT mask");
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < c.mask_at.size(); ++i) {
    at += c.mask_at[i];
    if (!(goes_on && i == 0) && (c.mask_at[i] == 0) != (i == 0)) throw Malformed("SIMT masks do not change in order");
    if (!goes_on) below(at, total, "position of a SIMT mask");
    if ((c.mask[i] & ~lanes) != 0) throw Malformed("a SIMT mask has lanes outside the warp");
  }
  for (const LaneMask mask : c.guard_mask) {
    if ((mask & ~lanes) != 0) throw Malformed("a guard mask has lanes outside the warp");
  }
  equal(c.address_base.size(), c.address_kind.size(), "number of address bases");
  at_most(c.texel_count.size(), total, "number of texel counts");
  std::uint64_t further = 0;
  for (const char count : c.texel_count) further += static_cast<unsigned char>(count);
  at_most(c.address_kind.size(), total + further, "number of address kinds");
  at_most(c.value_kind.size(), total * max_destination_registers, "number of value kinds");
  at_most(c.predicate.size(), total * max_destination_predicates, "number of predicates");

  equal(c.stack_event.size(), c.stack_at.size(), "number of SIMT stack events");
  at = 0;
  std::uint64_t pushes = 0;
  std::uint64_t depth = 0;
  for (std::size_t i = 0; i < c.stack_at.size(); ++i) {
    at += c.stack_at[i];
    if (!goes_on) below(at, total, "position of a SIMT stack event");
    if ((c.stack_event[i] & 1) != 0) {
      at_most(c.stack_event[i] >> 1, code, "resume index of a SIMT stack push");
      ++pushes;
      ++depth;
    } else if (c.stack_event[i] != 0) {
      throw Malformed("SIMT stack event " + std::to_string(c.stack_event[i]) + " is unknown");
    } else if (!goes_on && depth-- == 0) {
      throw Malformed("the SIMT stack is popped more often than pushed");
    }
  }
  equal(c.stack_mask.size(), pushes, "number of SIMT stack masks");
  for (const LaneMask mask : c.stack_mask) {
    if ((mask & ~lanes) != 0) throw Malformed("a SIMT stack mask has lanes outside the warp");
  }
}

}  // namespace

void validate(const Kernel& kernel, const SectionRegistry& sections) {
  if (kernel.warp_size != 32 && kernel.warp_size != 64) {
    throw Malformed("warp size is " + std::to_string(kernel.warp_size) + ", expected 32 or 64");
  }
  at_most(kernel.registers_per_thread, max_general_registers, "registers per thread");
  at_most(kernel.launch_registers, max_general_registers, "registers at launch");
  at_most(kernel.registers_per_thread, most_registers(kernel), "registers per thread");
  at_most(kernel.predicates, max_predicates, "predicates");
  if (kernel.instructions.empty()) throw Malformed("has no instruction");
  at_most(kernel.instructions.size(), max_instructions, "number of instructions");
  std::unordered_map<std::uint32_t, const std::string*> opcode;
  const auto check_static = [&](const StaticInstruction& instruction) {
    check_instruction(instruction, kernel);
    const auto known = opcode.emplace(instruction.opcode_id, &instruction.opcode).first;
    if (*known->second != instruction.opcode) {
      throw Malformed("opcode id " + std::to_string(instruction.opcode_id) + " stands for two opcodes");
    }
  };
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const StaticInstruction& instruction = kernel.instructions[i];
    numbered("instruction", i, [&] {
      check_static(instruction);
      if (!instruction.scheme.empty()) throw Malformed("names a scheme, and is not an inserted instruction");
    });
  }
  at_most(kernel.inserted.size(), max_instructions, "number of inserted instructions");
  std::uint32_t place = 0;
  for (std::size_t i = 0; i < kernel.inserted.size(); ++i) {
    const InsertedInstruction& inserted = kernel.inserted[i];
    numbered("inserted instruction", i, [&] {
      check_static(inserted.instruction);
      if (inserted.instruction.scheme.empty()) throw Malformed("names no scheme");
      below(inserted.before, kernel.instructions.size(), "place");
      if (inserted.before < place) throw Malformed("stands before the place of the one before it");
      at_most(static_cast<unsigned>(inserted.disposition), static_cast<unsigned>(Disposition::issue), "disposition");
      if (inserted.disposition == Disposition::issue) check_issuing(inserted.instruction);
      if (inserted.after >= 0) check_edge(inserted, kernel);
    });
    place = inserted.before;
  }
  for (std::size_t i = 0; i < kernel.blocks.size(); ++i) {
    numbered("basic block", i, [&] { check_block(kernel.blocks[i], kernel); });
  }
  for (std::size_t i = 0; i < kernel.shared_variables.size(); ++i) {
    const SharedVariable& v = kernel.shared_variables[i];
    if (v.bytes == 0) continue;
    numbered("shared variable", i,
             [&] { at_most(std::uint64_t{v.offset} + v.bytes, kernel.static_shared_bytes, "end"); });
  }
  // Last, because the layout of a section may depend on what was checked above.
  for (const auto& format : sections.formats()) {
    try {
      format->validate(kernel);
    } catch (const std::invalid_argument& e) {
      throw Malformed(e.what());
    }
  }
}

std::uint64_t grid_ctas(const Launch& launch) {
  return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
}

void validate(const Launch& launch, const std::vector<Kernel>& kernels) {
  below(launch.kernel, kernels.size(), "kernel");
  std::uint64_t threads = 1;
  std::uint64_t ctas = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (launch.grid[i] == 0 || launch.block[i] == 0) throw Malformed("a dimension of the grid or block is 0");
    at_most(launch.block[i], max_threads_per_cta, "threads per CTA");
    threads *= launch.block[i];
    if (ctas > ~std::uint64_t{0} / launch.grid[i]) throw Malformed("the grid has more than 2^64 CTAs");
    ctas *= launch.grid[i];
  }
  at_most(threads, max_threads_per_cta, "threads per CTA");
  at_most(launch.first_cta, ctas, "first CTA");
  at_most(launch.cta_count, ctas - launch.first_cta, "number of CTAs");
}

void validate_segment(const WarpColumns& columns, const Kernel& kernel, bool goes_on) {
  if (columns.warp_instructions == 0) throw Malformed("the segment has no instruction");
  check_warp(columns, kernel, goes_on);
}

void validate(const Cta& cta, const Launch& launch, const Kernel& kernel, const std::vector<bool>& in_segments) {
  equal(cta.warps.size(), launch.warps_per_cta(kernel.warp_size), "number of warps");
  for (std::size_t i = 0; i < cta.warps.size(); ++i) {
    const WarpColumns& warp = cta.warps[i];
    numbered("warp", i, [&] {
      if (i >= in_segments.size() || !in_segments[i]) return check_warp(warp, kernel);
      if (warp.bytes() != 0) throw Malformed("has segments, and columns besides");
      at_most(warp.thread_instructions, warp.warp_instructions * kernel.warp_size, "number of thread instructions");
    });
  }
}

}  // namespace regatta::trace

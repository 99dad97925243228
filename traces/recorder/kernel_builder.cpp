// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/kernel_builder.h>

#include <algorithm>
#include <map>

namespace regatta::trace {
namespace {

constexpr unsigned max_access_bytes = 32;

}  // namespace

KernelBuilder::KernelBuilder(std::string name, unsigned warp_size) {
  kernel_.name = std::move(name);
  kernel_.warp_size = warp_size;
  if (warp_size != 32 && warp_size != 64) {
    throw RecordError("kernel " + kernel_.name + ": warp size " + std::to_string(warp_size) + ", expected 32 or 64");
  }
}

void KernelBuilder::refuse(std::uint32_t index, const std::string& what) const {
  throw RecordError("kernel " + kernel_.name + ", static index " + std::to_string(index) + " (" +
                    kernel_.instructions[index].opcode + "): " + what);
}

KernelBuilder::Line KernelBuilder::add(const std::string& opcode, OpClass op_class) {
  if (opcode.empty()) {
    throw RecordError("kernel " + kernel_.name + ", static index " + std::to_string(next()) + ": an empty opcode");
  }
  StaticInstruction i;
  i.opcode = opcode;
  i.op_class = op_class;
  kernel_.instructions.push_back(std::move(i));
  operands_.emplace_back();
  return {*this, next() - 1};
}

KernelBuilder::Line KernelBuilder::op(const std::string& opcode, OpClass op_class) { return add(opcode, op_class); }

KernelBuilder::Line KernelBuilder::access(const std::string& opcode, OpClass op_class, MemorySpace space,
                                          unsigned bytes) {
  Line line = add(opcode, op_class);
  if (bytes == 0 || bytes > max_access_bytes) {
    refuse(line,
           "accesses " + std::to_string(bytes) + " bytes per lane, expected 1 to " + std::to_string(max_access_bytes));
  }
  if (space == MemorySpace::none) refuse(line, "a memory access without a space");
  StaticInstruction& i = line.instruction();
  i.space = space;
  i.access_bytes = static_cast<std::uint8_t>(bytes);
  i.reads_memory = op_class != OpClass::store;
  i.writes_memory = op_class == OpClass::store || op_class == OpClass::atomic;
  return line;
}

KernelBuilder::Line KernelBuilder::load(const std::string& opcode, MemorySpace space, unsigned bytes) {
  const bool constant = space == MemorySpace::constant || space == MemorySpace::param;
  return access(opcode, constant ? OpClass::constant_load : OpClass::load, space, bytes);
}

KernelBuilder::Line KernelBuilder::store(const std::string& opcode, MemorySpace space, unsigned bytes) {
  return access(opcode, OpClass::store, space, bytes);
}

KernelBuilder::Line KernelBuilder::atomic(const std::string& opcode, MemorySpace space, unsigned bytes) {
  return access(opcode, OpClass::atomic, space, bytes);
}

KernelBuilder::Line KernelBuilder::branch(const std::string& opcode, std::int64_t target) {
  Line line = add(opcode, OpClass::branch);
  line.instruction().branch_target = static_cast<std::int32_t>(target);
  return line;
}

KernelBuilder::Line KernelBuilder::barrier(const std::string& opcode, unsigned id, unsigned threads) {
  Line line = add(opcode, OpClass::barrier);
  if (id > 15) refuse(line, "barrier " + std::to_string(id) + ", expected 0 to 15");
  line.instruction().barrier_id = static_cast<std::uint8_t>(id);
  line.instruction().barrier_threads = threads;
  return line;
}

KernelBuilder::Line KernelBuilder::exit(const std::string& opcode) { return add(opcode, OpClass::exit); }

void KernelBuilder::set_registers(unsigned count) {
  if (count > max_general_registers) {
    throw RecordError("kernel " + kernel_.name + ": " + std::to_string(count) +
                      " registers per thread, expected at most " + std::to_string(max_general_registers));
  }
  registers_ = count;
}

StaticInstruction& KernelBuilder::Line::instruction() { return builder_->kernel_.instructions[index_]; }

KernelBuilder::Line& KernelBuilder::Line::writes(std::initializer_list<unsigned> registers) {
  return writes(std::vector<unsigned>(registers));
}
KernelBuilder::Line& KernelBuilder::Line::reads(std::initializer_list<unsigned> registers) {
  return reads(std::vector<unsigned>(registers));
}

KernelBuilder::Line& KernelBuilder::Line::writes(const std::vector<unsigned>& registers) {
  StaticInstruction& i = instruction();
  for (const unsigned r : registers) {
    if (r >= max_general_registers)
      builder_->refuse(index_, "writes register " + std::to_string(r) + ", expected 0 to 254");
    if (i.destination_count == max_destination_registers) builder_->refuse(index_, "writes more than 4 registers");
    i.destinations[i.destination_count++] = static_cast<std::uint8_t>(r);
    builder_->operands_[index_].destinations.push_back({Operand::Kind::reg, 1, false, r});
  }
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::reads(const std::vector<unsigned>& registers) {
  StaticInstruction& i = instruction();
  for (const unsigned r : registers) {
    if (r >= max_general_registers)
      builder_->refuse(index_, "reads register " + std::to_string(r) + ", expected 0 to 254");
    if (i.source_count == max_source_registers) builder_->refuse(index_, "reads more than 10 registers");
    i.sources[i.source_count++] = static_cast<std::uint8_t>(r);
    builder_->operands_[index_].sources.push_back({Operand::Kind::reg, 1, false, r});
  }
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::writes_predicates(std::initializer_list<unsigned> predicates) {
  StaticInstruction& i = instruction();
  for (const unsigned p : predicates) {
    if (p >= max_predicates) builder_->refuse(index_, "writes predicate " + std::to_string(p) + ", expected 0 to 6");
    if (i.destination_predicate_count == max_destination_predicates) {
      builder_->refuse(index_, "writes more than 2 predicates");
    }
    i.destination_predicates[i.destination_predicate_count++] = static_cast<std::uint8_t>(p);
    builder_->operands_[index_].destinations.push_back({Operand::Kind::predicate, 1, false, p});
  }
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::reads_predicates(std::initializer_list<unsigned> predicates) {
  StaticInstruction& i = instruction();
  for (const unsigned p : predicates) {
    if (p >= max_predicates) builder_->refuse(index_, "reads predicate " + std::to_string(p) + ", expected 0 to 6");
    if (i.source_predicate_count == max_source_predicates) builder_->refuse(index_, "reads more than 4 predicates");
    i.source_predicates[i.source_predicate_count++] = static_cast<std::uint8_t>(p);
    builder_->operands_[index_].sources.push_back({Operand::Kind::predicate, 1, false, p});
  }
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::guard(unsigned predicate, bool negated) {
  if (predicate >= max_predicates) {
    builder_->refuse(index_, "guarded by predicate " + std::to_string(predicate) + ", expected 0 to 6");
  }
  instruction().guard = {static_cast<std::int8_t>(predicate), negated};
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::immediate(std::uint64_t bits) {
  builder_->operands_[index_].sources.push_back({Operand::Kind::immediate, 1, false, bits});
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::special(std::uint64_t id) {
  builder_->operands_[index_].sources.push_back({Operand::Kind::special, 1, false, id});
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::offset(std::int64_t bytes) {
  instruction().address_offset = bytes;
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::target(std::uint32_t index) {
  if (instruction().op_class != OpClass::branch) builder_->refuse(index_, "has a target and is no branch");
  instruction().branch_target = static_cast<std::int32_t>(index);
  return *this;
}

KernelBuilder::Line& KernelBuilder::Line::at_line(std::uint32_t line) {
  instruction().ptx_line = line;
  return *this;
}

Kernel KernelBuilder::build() const {
  Kernel k = kernel_;
  if (k.instructions.empty()) throw RecordError("kernel " + k.name + ": no instruction");
  std::map<std::string, std::uint32_t> ids;
  unsigned registers = registers_, predicates = 0;
  const auto size = static_cast<std::int64_t>(k.instructions.size());
  for (std::uint32_t index = 0; index < k.instructions.size(); ++index) {
    StaticInstruction& i = k.instructions[index];
    i.opcode_id = ids.emplace(i.opcode, static_cast<std::uint32_t>(ids.size())).first->second;
    i.operands = operands_[index].destinations;
    i.operand_destinations = static_cast<std::uint8_t>(i.operands.size());
    i.operands.insert(i.operands.end(), operands_[index].sources.begin(), operands_[index].sources.end());
    for (unsigned n = 0; n < i.source_count; ++n) registers = std::max(registers, i.sources[n] + 1u);
    for (unsigned n = 0; n < i.destination_count; ++n) registers = std::max(registers, i.destinations[n] + 1u);
    for (unsigned n = 0; n < i.source_predicate_count; ++n)
      predicates = std::max(predicates, i.source_predicates[n] + 1u);
    for (unsigned n = 0; n < i.destination_predicate_count; ++n) {
      predicates = std::max(predicates, i.destination_predicates[n] + 1u);
    }
    if (i.guard.predicate >= 0) predicates = std::max(predicates, static_cast<unsigned>(i.guard.predicate) + 1);
    if (i.op_class == OpClass::branch && (i.branch_target < 0 || i.branch_target >= size)) {
      refuse(index, i.branch_target < 0 ? "a branch without a target"
                                        : "the target " + std::to_string(i.branch_target) +
                                              ", and the kernel has instructions 0 to " + std::to_string(size - 1));
    }
  }
  k.registers_per_thread = registers;
  k.predicates = predicates;
  find_blocks(k, extra_);
  return k;
}

}  // namespace regatta::trace

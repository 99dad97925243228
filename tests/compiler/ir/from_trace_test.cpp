// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/from_trace.h>
#include <regatta/test/catch.h>

using namespace regatta;
using ir::Opcode;
using trace::OpClass;

namespace {

trace::StaticInstruction instruction(OpClass op_class, std::vector<unsigned> writes, std::vector<unsigned> reads) {
  trace::StaticInstruction i;
  i.opcode = "X";
  i.op_class = op_class;
  for (const unsigned r : writes) i.destinations[i.destination_count++] = static_cast<std::uint8_t>(r);
  for (const unsigned r : reads) i.sources[i.source_count++] = static_cast<std::uint8_t>(r);
  return i;
}

/// An atomic and a guarded branch to the exit over a barrier.
trace::Kernel traced() {
  trace::Kernel k;
  k.name = "k";
  k.registers_per_thread = 6;
  k.predicates = 3;
  k.instructions = {instruction(OpClass::atomic, {2, 3}, {4, 5, 0}), instruction(OpClass::branch, {}, {}),
                    instruction(OpClass::barrier, {}, {1}), instruction(OpClass::fp32_mad, {1}, {2, 2}),
                    instruction(OpClass::exit, {}, {})};
  k.instructions[0].space = trace::MemorySpace::global;
  k.instructions[1].guard = {2, true};
  k.instructions[1].branch_target = 4;
  k.instructions[2].barrier_arrives = true;
  k.instructions[3].destination_predicates[k.instructions[3].destination_predicate_count++] = 1;
  k.instructions[3].source_predicates[k.instructions[3].source_predicate_count++] = 0;
  k.blocks = {{0, 2, {2, 1}, 2}, {2, 2, {2}, 2}, {4, 1, {}, -1}};
  return k;
}

std::string refusal(const trace::Kernel& k) {
  try {
    ir::from_trace(k);
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

using Numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a kernel of a trace as a function: registers, control flow, classes; guards that nothing is known of") {
  const ir::Function f = ir::from_trace(traced());
  CHECK(f.allocated);
  CHECK(f.registers_used == 6);
  CHECK(f.predicates_used == 3);
  REQUIRE(f.blocks.size() == 3);
  CHECK(f.blocks[0].successors == Numbers{2, 1});
  CHECK(f.blocks[2].predecessors == Numbers{0, 1});
  const ir::Instruction &atomic = f.blocks[0].instructions[0], &branch = f.blocks[0].instructions[1],
                        &barrier = f.blocks[1].instructions[0], &fma = f.blocks[1].instructions[1];
  CHECK(atomic.op == Opcode::atom);
  CHECK(atomic.mod.space == trace::MemorySpace::global);
  CHECK(ir::accesses(atomic, true).writes == Numbers{2, 3});
  CHECK(ir::accesses(atomic, true).reads == Numbers{4, 5, 0});
  CHECK(branch.op == Opcode::bra);
  CHECK(branch.target == 2);
  CHECK(branch.guarded);
  CHECK(branch.guard_negated);
  CHECK(ir::accesses(branch, true).predicate_reads == Numbers{2});
  CHECK(ir::accesses(branch, true).predicate_writes == Numbers{2});
  CHECK(barrier.op == Opcode::bar);
  CHECK(barrier.mod.barrier == ir::BarrierMode::arrive);
  CHECK_FALSE(barrier.guarded);
  CHECK(fma.op == Opcode::mov);
  CHECK(ir::op_class(fma) == OpClass::fp32_mad);
  CHECK(ir::accesses(fma, true).predicate_reads == Numbers{0});
  CHECK(ir::accesses(fma, true).predicate_writes == Numbers{1});
  CHECK(f.blocks[2].instructions[0].op == Opcode::exit);
}

TEST_CASE("a kernel of a trace whose blocks are not its instructions is refused") {
  const std::string expected = ", expected basic blocks that are the kernel's instructions in order";
  trace::Kernel k = traced();
  k.blocks[1].first = 3;
  CHECK(refusal(k) == "error: kernel k: instruction 2 is in no block, or in two" + expected);
  k = traced();
  k.blocks.pop_back();
  CHECK(refusal(k) == "error: kernel k: instruction 4 is in no block, or in two" + expected);
  k = traced();
  k.instructions[1].branch_target = 3;
  CHECK(refusal(k) == "error: kernel k: instruction 1 branches into a block" + expected);
  CHECK(refusal(trace::Kernel()) == "error: kernel : instruction 0 is in no block, or in two" + expected);
}

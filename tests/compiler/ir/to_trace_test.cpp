// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/ir.h>
#include <regatta/test/catch.h>
#include <regatta/trace/instruction_text.h>

#include <stdexcept>

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

ir::Function sample() {
  ir::Function f;
  f.name = "k";
  f.ptx_file = "k.ptx";
  f.source_files = {"k.cu"};
  f.allocated = true;
  f.registers_used = 8;
  f.predicates_used = 2;
  f.static_shared_bytes = 64;
  f.local_bytes = 16;
  f.spilled_registers = 1;
  f.shared_variables = {{"tile", 0, 64}};
  f.blocks.resize(3);

  ir::Instruction load;
  load.op = Opcode::ld;
  load.type = Type::u64;
  load.mod.space = trace::MemorySpace::param;
  load.destinations = {Operand::reg(2, 2)};
  load.sources = {Operand::immediate(8)};
  load.offset = 4;
  load.where = {12, 3, 0, 40};
  ir::Instruction fma;
  fma.op = Opcode::fma;
  fma.type = Type::f32;
  fma.mod.rounding = ir::Rounding::rn;
  fma.destinations = {Operand::reg(4, 1)};
  fma.sources = {Operand::reg(5, 1), Operand::reg(5, 1), Operand::immediate(0x3f800000)};
  ir::Instruction branch;
  branch.op = Opcode::bra;
  branch.target = 2;
  branch.guarded = true;
  branch.guard = 1;
  branch.guard_negated = true;
  f.blocks[0].instructions = {load, fma, branch};

  ir::Instruction store;
  store.op = Opcode::st;
  store.type = Type::f32;
  store.mod.space = trace::MemorySpace::global;
  store.mod.vector = 2;
  store.mod.is_volatile = true;
  store.sources = {Operand::reg(2, 2), Operand::reg(4, 1), Operand::reg(5, 1)};
  ir::Instruction bar;
  bar.op = Opcode::bar;
  bar.sources = {Operand::immediate(3), Operand::immediate(64)};
  bar.mod.barrier = ir::BarrierMode::arrive;
  f.blocks[1].instructions = {store, fma, bar};

  ir::Instruction exit;
  exit.op = Opcode::exit;
  f.blocks[2].instructions = {exit};
  ir::build_edges(f);
  return f;
}

}  // namespace

TEST_CASE("the static trace form of an allocated function") {
  const trace::Kernel k = ir::to_trace(sample(), {2, 2, -1}, 32);
  CHECK(k.name == "k");
  CHECK(k.registers_per_thread == 8);
  CHECK(k.predicates == 2);
  CHECK(k.static_shared_bytes == 64);
  CHECK(k.local_bytes_per_thread == 16);
  CHECK(k.spilled_registers == 1);
  REQUIRE(k.instructions.size() == 7);
  REQUIRE(k.blocks.size() == 3);
  CHECK(k.blocks[1].first == 3);
  CHECK(k.blocks[1].count == 3);
  CHECK(k.blocks[0].successors == std::vector<std::uint32_t>{2, 1});
  CHECK(k.blocks[0].reconvergence == 2);
  CHECK(k.blocks[2].reconvergence == -1);

  const trace::StaticInstruction& load = k.instructions[0];
  CHECK(load.opcode == "ld.param.u64");
  CHECK(load.op_class == trace::OpClass::constant_load);
  CHECK(load.destination_count == 2);
  CHECK(load.destinations[0] == 2);
  CHECK(load.destinations[1] == 3);
  CHECK(load.space == trace::MemorySpace::param);
  CHECK(load.access_bytes == 8);
  CHECK(load.reads_memory);
  CHECK(load.ptx_line == 12);
  CHECK(load.source_line == 40);
  REQUIRE(load.operands.size() == 2);
  CHECK(load.operand_destinations == 1);
  CHECK(load.operands[1].kind == trace::Operand::Kind::constant_bank);
  CHECK(load.operands[1].value == 12);

  const trace::StaticInstruction& fma = k.instructions[1];
  CHECK(fma.source_count == 2);
  CHECK(fma.sources[0] == 5);
  CHECK(fma.sources[1] == 5);
  CHECK(fma.operands.size() == 4);
  CHECK(k.instructions[4].opcode_id == fma.opcode_id);
  CHECK(load.opcode_id != fma.opcode_id);

  const trace::StaticInstruction& branch = k.instructions[2];
  CHECK(branch.branch_target == 6);
  CHECK(branch.guard.predicate == 1);
  CHECK(branch.guard.negated);

  const trace::StaticInstruction& store = k.instructions[3];
  CHECK(store.source_count == 4);
  CHECK(store.sources[1] == 3);
  CHECK(store.access_bytes == 8);
  CHECK(store.writes_memory);
  CHECK_FALSE(store.reads_memory);
  CHECK(store.is_volatile);

  CHECK(k.instructions[5].barrier_id == 3);
  CHECK(k.instructions[5].barrier_threads == 64);
  CHECK(k.instructions[5].barrier_arrives);
}

TEST_CASE("accesses that others have to see bypass the L1") {
  struct Row {
    const char* cache;
    bool is_volatile;
    ir::MemoryScope scope;
    bool bypasses;
  };
  const Row rows[] = {{"", false, ir::MemoryScope::none, false},    {".nc", false, ir::MemoryScope::none, false},
                      {".ca", false, ir::MemoryScope::none, false}, {".cg", false, ir::MemoryScope::none, true},
                      {".cv", true, ir::MemoryScope::none, true},   {".wt", false, ir::MemoryScope::none, true},
                      {"", true, ir::MemoryScope::none, true},      {"", true, ir::MemoryScope::cta, false},
                      {"", true, ir::MemoryScope::gpu, true},       {"", true, ir::MemoryScope::sys, true}};
  for (const Row& row : rows) {
    CAPTURE(row.cache, row.is_volatile, static_cast<int>(row.scope));
    ir::Function f = sample();
    ir::Instruction& store = f.blocks[1].instructions[0];
    REQUIRE(store.op == Opcode::st);
    store.mod.cache = row.cache;
    store.mod.is_volatile = row.is_volatile;
    store.mod.scope = row.scope;
    CHECK(ir::to_trace(f, {2, 2, -1}, 32).instructions[3].bypasses_l1 == row.bypasses);
  }
}

TEST_CASE("a parameter operand lies in the constant bank and reads no register") {
  ir::Function f = sample();
  f.blocks[0].instructions[1].sources[2] = Operand::parameter(24, 1);
  const trace::Kernel k = ir::to_trace(f, {2, 2, -1}, 32);
  CHECK(k.instructions[1].source_count == 2);
  REQUIRE(k.instructions[1].operands.size() == 4);
  CHECK(k.instructions[1].operands[3].kind == trace::Operand::Kind::constant_bank);
  CHECK(k.instructions[1].operands[3].value == 24);
}

TEST_CASE("the trace names carries, address offsets and the addresses of variables") {
  ir::Function f = sample();
  ir::Instruction add;
  add.op = Opcode::add_cc;
  add.type = Type::u32;
  add.destinations = {Operand::reg(4, 1)};
  add.sources = {Operand::reg(5, 1), Operand::immediate(1)};
  ir::Instruction addc = add;
  addc.op = Opcode::addc;
  ir::Instruction both = addc;
  both.mod.carry_out = true;
  ir::Instruction pointer = add;
  pointer.op = Opcode::mov;
  pointer.sources = {Operand::immediate(8)};
  pointer.sources[0].symbol = "table";
  f.blocks[1].instructions[0].offset = -12;
  f.blocks[1].instructions.insert(f.blocks[1].instructions.end(), {add, addc, both, pointer});
  trace::Kernel k = ir::to_trace(f, {2, 2, -1}, 32);
  CHECK(k.static_revision == trace::current_static_revision);
  CHECK(k.instructions[3].address_offset == -12);
  CHECK_FALSE(k.instructions[5].reads_carry);
  CHECK_FALSE(k.instructions[6].reads_carry);
  CHECK(k.instructions[6].writes_carry);
  CHECK(k.instructions[7].reads_carry);
  CHECK_FALSE(k.instructions[7].writes_carry);
  CHECK(k.instructions[8].reads_carry);
  CHECK(k.instructions[8].writes_carry);
  CHECK(k.instructions[9].operands[1].value == 8);
  ir::place_variables(
      f, [](const std::string& name) { return name == "table" ? 4096u : 0u; }, k);
  CHECK(k.instructions[9].operands[1].value == 4104);
  CHECK(k.instructions[6].operands[2].value == 1);
}

TEST_CASE("to_trace refuses what a trace cannot hold") {
  ir::Function f = sample();
  CHECK_THROWS_AS(ir::to_trace(f, {-1}, 32), std::logic_error);
  f.blocks[0].instructions[1].destinations[0].id = 255;
  CHECK_THROWS_AS(ir::to_trace(f, {2, 2, -1}, 32), std::logic_error);
  f = sample();
  f.blocks[0].instructions[2].guard = 7;
  CHECK_THROWS_AS(ir::to_trace(f, {2, 2, -1}, 32), std::logic_error);
  f = sample();
  f.allocated = false;
  CHECK_THROWS_AS(ir::to_trace(f, {2, 2, -1}, 32), std::logic_error);
}

TEST_CASE("an instruction and its trace form have one text") {
  ir::Function f = sample();
  ir::Instruction store;
  store.op = Opcode::st;
  store.type = Type::u32;
  store.mod.space = trace::MemorySpace::shared;
  store.sources = {Operand::immediate(0x40), Operand::reg(1, 1)};
  store.offset = 12;
  ir::Instruction vector_load;
  vector_load.op = Opcode::ld;
  vector_load.type = Type::f32;
  vector_load.mod.space = trace::MemorySpace::global;
  vector_load.mod.vector = 2;
  vector_load.destinations = {Operand::reg(4, 1), Operand::reg(5, 1)};
  vector_load.sources = {Operand::reg(2, 2)};
  vector_load.offset = -8;
  ir::Instruction atomic;
  atomic.op = Opcode::atom;
  atomic.type = Type::u32;
  atomic.mod.space = trace::MemorySpace::global;
  atomic.mod.atomic = ir::AtomicOp::add;
  atomic.destinations = {Operand::reg(4, 1)};
  atomic.sources = {Operand::reg(2, 2), Operand::reg(1, 1)};
  ir::Instruction shuffle;
  shuffle.op = Opcode::shfl;
  shuffle.type = Type::b32;
  shuffle.mod.shuffle = ir::ShuffleMode::down;
  shuffle.destinations = {Operand::reg(4, 1), Operand::predicate(1)};
  shuffle.sources = {Operand::reg(1, 1), Operand::immediate(16), Operand::immediate(31),
                     Operand::immediate(0xffffffff)};
  ir::Instruction special;
  special.op = Opcode::mov;
  special.type = Type::u32;
  special.destinations = {Operand::reg(0, 1)};
  special.sources = {Operand::special(ir::Special::ctaid_y)};
  f.blocks[1].instructions = {store, vector_load, atomic, shuffle, special};
  const trace::Kernel k = ir::to_trace(f, {2, 2, -1}, 32);
  const char* expected[] = {"st.shared.u32 [0x4c], R1", "ld.global.v2.f32 {R4, R5}, [R2.64-0x8]",
                            "atom.global.add.u32 R4, [R2.64], R1",
                            "shfl.sync.down.b32 R4|P1, R1, 0x10, 0x1f, 0xffffffff", "mov.u32 R0, %ctaid.y"};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(trace::instruction_text(k.instructions[3 + i]) == expected[i]);
    CHECK(ir::to_text(f.blocks[1].instructions[i], true) == std::string(expected[i]) + ";");
  }
  CHECK(trace::instruction_text(k.instructions[2]) == "@!P1 bra -> " + std::to_string(k.instructions[2].branch_target));
}

// SPDX-License-Identifier: Apache-2.0
//
// PTX as nvcc 13 and clang 14 emit it for samples/mix.cu and samples/plain.cu: every entry is accepted, and what
// comes out keeps the IR's rules.
#include "support.h"

#include <fstream>
#include <sstream>

using namespace regatta;

namespace {

std::string read(const std::string& name) {
  std::ifstream in(std::string(REGATTA_PTX_SAMPLES) + "/" + name);
  REQUIRE(in.good());
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void check_rules(const ir::Function& f) {
  REQUIRE_FALSE(f.blocks.empty());
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const ir::Block& block = f.blocks[b];
    REQUIRE_FALSE(block.instructions.empty());
    CHECK((b == 0 || !block.predecessors.empty()));
    for (std::size_t n = 0; n < block.instructions.size(); ++n) {
      const ir::Instruction& i = block.instructions[n];
      const bool ends = i.op == ir::Opcode::bra || i.op == ir::Opcode::exit;
      CHECK((!ends || n + 1 == block.instructions.size()));
      if (i.op == ir::Opcode::bra) CHECK(i.target < f.blocks.size());
      const ir::Accesses a = ir::accesses(i, false);
      for (std::uint32_t r : a.reads) CHECK(!f.registers.at(r).is_predicate);
      for (std::uint32_t r : a.writes) CHECK(!f.registers.at(r).is_predicate);
      for (std::uint32_t p : a.predicate_reads) CHECK(f.registers.at(p).is_predicate);
      for (std::uint32_t p : a.predicate_writes) CHECK(f.registers.at(p).is_predicate);
      for (const ir::Operand& o : i.sources)
        if (o.is_reg()) CHECK(o.words == f.registers.at(o.id).words);
      for (const ir::Operand& o : i.destinations)
        if (o.is_reg()) CHECK(o.words == f.registers.at(o.id).words);
      CHECK(i.where.line > 0);
    }
  }
  const ir::Instruction& last = f.blocks.back().instructions.back();
  CHECK((last.op == ir::Opcode::exit || last.op == ir::Opcode::bra));
  CHECK_FALSE(last.guarded);
}

}  // namespace

TEST_CASE("compiler output is accepted") {
  for (const char* name :
       {"mix.nvcc.sm75.ptx", "mix.nvcc.fast.ptx", "plain.clang.sm35.ptx", "plain.clang.sm75.O0.ptx"}) {
    INFO(name);
    const ptx::ModuleResult r = ptx::parse_entries(read(name), name);
    CHECK(r.entries.size() >= 3);
    for (const ptx::EntryResult& e : r.entries) {
      INFO(e.name + " " + e.message);
      REQUIRE(e.accepted);
      check_rules(e.function);
    }
  }
}

TEST_CASE("atomics, shuffles and functions of nvcc's headers have lines of the source") {
  const ptx::ModuleResult r = ptx::parse_entries(read("mix.nvcc.fast.ptx"), "mix.nvcc.fast.ptx");
  std::size_t places = 0;
  for (const ptx::EntryResult& e : r.entries) {
    REQUIRE(e.accepted);
    for (const ir::Block& block : e.function.blocks)
      for (const ir::Instruction& i : block.instructions) {
        const ir::Location& at = i.where;
        if (at.source_line == 0) continue;
        INFO(e.name << ", line " << at.line);
        CHECK(e.function.source_files.at(at.source_file) == "mix.cu");
        if (at.caller_line != 0) CHECK(e.function.source_files.at(at.caller_file) == "mix.cu");
        ++places;
      }
  }
  CHECK(places > 100);
}

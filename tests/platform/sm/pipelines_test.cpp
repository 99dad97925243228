// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of several kinds (unit.alu) and the latency of predicates (latency.predicate).
#include "recorder.h"

#include <algorithm>
#include <utility>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

constexpr unsigned per_kind = 64;

/// An H100's: two halves for floating point and one pipeline for logic of 16 lanes for each scheduler.
assembly::MachineConfig split() {
  assembly::MachineConfig m;
  m.sm.sp_units = 2 * m.sm.schedulers;
  m.sm.alu_units = m.sm.schedulers;
  m.sm.sp_lanes = 16;
  return m;
}

/// Cycles from the first to the last dispatch of instructions that do not depend on each other, of the opcodes in turn.
std::uint64_t cycles_of(const std::string& name, const std::vector<std::pair<OpClass, std::string>>& opcodes,
                        const assembly::MachineConfig& m) {
  TraceBuilder b;
  std::vector<std::uint32_t> steps;
  for (unsigned i = 0; i < per_kind; ++i) {
    const auto& [op_class, opcode] = opcodes[i % opcodes.size()];
    const auto index = b.op(op_class, {i % 8 + 1}, {});
    b.kernel().instructions[index].opcode = opcode;
    b.kernel().instructions[index].opcode_id = 1000 + i % static_cast<unsigned>(opcodes.size());
    steps.push_back(index);
  }
  steps.push_back(b.exit());
  constexpr unsigned warps = 32;
  b.launch(1, warps * 32);
  b.begin_cta();
  for (unsigned w = 0; w < warps; ++w) {
    b.begin_warp();
    for (const std::uint32_t i : steps) b.execute(i);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, name, m);
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const test::Passage& p : r.passages) {
    if (p.index == steps.back()) continue;
    first = std::min(first, p.dispatched);
    last = std::max(last, p.dispatched);
  }
  return last - first;
}

struct Law {
  const char* name;
  std::vector<std::pair<OpClass, std::string>> opcodes;
  double cycles_each;  ///< of a scheduler, for an instruction
};

/// Throughputs of one SM as measured on an H100: 2 a cycle are 2 cycles each for a scheduler.
const Law laws[] = {
    {"fma", {{OpClass::fp32_mad, "fma.rn.f32"}}, 1},
    {"logic", {{OpClass::int_add, "and.b32"}}, 2},
    {"logic_shift", {{OpClass::int_add, "lop3.b32"}, {OpClass::int_add, "shf.l.b32"}}, 2},
    {"add_logic", {{OpClass::int_add, "add.s32"}, {OpClass::int_add, "lop3.b32"}}, 1},
    {"fma_add", {{OpClass::fp32_mad, "fma.rn.f32"}, {OpClass::int_add, "add.s32"}}, 1},
    {"imad", {{OpClass::int_mad, "mad.lo.s32"}}, 2},
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("pipelines: throughputs of an H100's scheduler", "", ((unsigned Law), Law), 0, 1, 2, 3, 4, 5) {
  const auto& law = laws[Law];
  const assembly::MachineConfig m = split();
  const double each = static_cast<double>(cycles_of(law.name, law.opcodes, m)) / (per_kind * 32.0 / m.sm.schedulers);
  CAPTURE(law.name);
  CHECK(each > 0.97 * law.cycles_each);
  CHECK(each < 1.08 * law.cycles_each);
}

namespace {

/// The same pipelines in sub-cores, whose operands find ports.
assembly::MachineConfig split_sub_cores() {
  assembly::MachineConfig m = split();
  m.sm.operand_path = "sub_core";
  m.sm.sub_cores = m.sm.schedulers;
  m.register_file.banks = 2 * m.sm.schedulers;
  m.register_file.mapping = "sub_core_register";
  m.register_file.ports = "1r1w";
  m.sm.sub_core.result_queue = 16;
  return m;
}

/// A pipeline of each kind and scheduler, half a warp wide.
assembly::MachineConfig two_kinds(assembly::MachineConfig m, const std::string& kinds) {
  m.sm.sp_units = m.sm.alu_units = m.sm.schedulers;
  m.sm.alu_kinds = kinds;
  return m;
}

void check_law(const std::string& name, const Law& law, const assembly::MachineConfig& m) {
  CAPTURE(name, law.name);
  const double each =
      static_cast<double>(cycles_of(name + law.name, law.opcodes, m)) / (per_kind * 32.0 / m.sm.schedulers);
  CHECK(each > 0.97 * law.cycles_each);
  CHECK(each < 1.08 * law.cycles_each);
}

// A floating-point pipeline, which multiplies integers, and one for the other integers (Huerta et al., MICRO 2025).
const Law turing[] = {
    {"fma", {{OpClass::fp32_mad, "fma.rn.f32"}}, 2},
    {"add", {{OpClass::int_add, "add.s32"}}, 2},
    {"fma_add", {{OpClass::fp32_mad, "fma.rn.f32"}, {OpClass::int_add, "add.s32"}}, 1},
    {"fma_imad", {{OpClass::fp32_mad, "fma.rn.f32"}, {OpClass::int_mad, "mad.lo.s32"}}, 2},
    {"add_imad", {{OpClass::int_add, "add.s32"}, {OpClass::int_mad, "mad.lo.s32"}}, 1},
};
const Law ampere[] = {
    {"fma", {{OpClass::fp32_mad, "fma.rn.f32"}}, 1},
    {"add", {{OpClass::int_add, "add.s32"}}, 2},
    {"fma_add", {{OpClass::fp32_mad, "fma.rn.f32"}, {OpClass::int_add, "add.s32"}}, 1},
    {"fma_imad", {{OpClass::fp32_mad, "fma.rn.f32"}, {OpClass::int_mad, "mad.lo.s32"}}, 1},
    {"imad", {{OpClass::int_mad, "mad.lo.s32"}}, 2},
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("pipelines: throughputs of an H100's scheduler, in sub-cores", "", ((unsigned L), L), 0, 1, 2, 3,
                       4, 5) {
  check_law("sub_core_", laws[L], split_sub_cores());
}
TEMPLATE_TEST_CASE_SIG("pipelines: integers apart", "", ((unsigned L), L), 0, 1, 2, 3, 4) {
  check_law("turing_", turing[L], two_kinds(split(), "integer"));
}
TEMPLATE_TEST_CASE_SIG("pipelines: integers apart, in sub-cores", "", ((unsigned L), L), 0, 1, 2, 3, 4) {
  check_law("turing_sub_core_", turing[L], two_kinds(split_sub_cores(), "integer"));
}
TEMPLATE_TEST_CASE_SIG("pipelines: integers apart, and single precision with either", "", ((unsigned L), L), 0, 1, 2, 3,
                       4) {
  check_law("ampere_", ampere[L], two_kinds(split(), "integer_fp32"));
}
TEMPLATE_TEST_CASE_SIG("pipelines: integers apart, and single precision with either, in sub-cores", "",
                       ((unsigned L), L), 0, 1, 2, 3, 4) {
  check_law("ampere_sub_core_", ampere[L], two_kinds(split_sub_cores(), "integer_fp32"));
}

TEST_CASE("pipelines: combinations that cannot be") {
  using Catch::Matchers::Contains;
  assembly::MachineConfig m = split();
  m.sm.alu_units = 3;
  CHECK_THROWS_WITH(m.sm.validate(),
                    Contains("unit.alu = 3 and unit.sp = 8 with 4 schedulers: expected multiples of the "
                             "schedulers, or unit.alu = 0"));
  m = split();
  m.sm.schedulers = 1;
  m.sm.sp_units = 60;
  CHECK_THROWS_WITH(m.sm.validate(), Contains("unit.alu = 4 and unit.sp = 60: expected at most 63 of both for each"));
  m = split();
  m.sm.alu_units = 0;
  m.sm.alu_kinds = "integer";
  CHECK_THROWS_WITH(m.sm.validate(), Contains("unit.alu_kinds = integer with unit.alu = 0: expected unit.alu above 0"));
}

TEST_CASE("pipelines: a predicate reaches its reader later than a register") {
  assembly::MachineConfig m;
  TraceBuilder b;
  const auto compare = b.set_predicate(0, {1});
  const auto guarded = b.guarded_op(OpClass::int_add, 0, {2}, {1});
  const auto add = b.op(OpClass::int_add, {3}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording as_usual = test::record(b, "predicate_as_usual", m);
  const unsigned latency = m.sm.timing[static_cast<unsigned>(OpClass::int_add)].latency;
  CHECK(as_usual.gap(compare, guarded) == as_usual.gap(guarded, add));
  CHECK(sm::traits_of(b.kernel().instructions[compare], compare, m.sm).latency == latency);
  m.sm.predicate_latency = latency + 9;
  CHECK(sm::traits_of(b.kernel().instructions[compare], compare, m.sm).latency == latency + 9);
  CHECK(sm::traits_of(b.kernel().instructions[add], add, m.sm).latency == latency);
}

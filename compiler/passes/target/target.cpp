// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/cleanup.h>
#include <regatta/passes/target.h>

#include <regatta/base/suggestion.h>
#include <regatta/trace/types.h>

#include "convergence.h"
#include "if_conversion.h"
#include "parameters.h"
#include "redundancy.h"
#include "sequences.h"
#include "three_inputs.h"
#include "units.h"
#include "unroll.h"
#include "vector_loads.h"

namespace regatta::passes {

namespace {

using trace::OpClass;

/// NVIDIA's Hopper. Latencies as measured on an H100 (dependent chains of one warp), properties as its assembler's code
/// for the kernels of traces/kernels has them.
Target hopper() {
  Target t;
  t.name = "sm_90";
  t.schedule.slack_share = 0.25;
  t.schedule.fills_occupancy = true;
  t.schedule.spares_predicates = true;
  t.schedule.read_only_passes = true;
  t.predicated = 12;
  t.unrolled = 136;
  t.sequences = true;
  t.special_units = true;
  t.register_banks = 2;
  t.loads_parameters = true;
  t.three_inputs = true;
  t.vectors = true;
  t.barriers = true;
  const auto latency = [&](std::initializer_list<OpClass> classes, unsigned cycles) {
    for (const OpClass c : classes) t.schedule.latency.op_class[static_cast<std::size_t>(c)] = cycles;
  };
  latency({OpClass::int_add, OpClass::int_max, OpClass::int_mul, OpClass::int_mad, OpClass::convert, OpClass::fp32_add,
           OpClass::fp32_max, OpClass::fp32_mul, OpClass::fp32_mad},
          4);
  latency({OpClass::int64}, 8);
  latency({OpClass::fp64_add, OpClass::fp64_max, OpClass::fp64_mul, OpClass::fp64_mad}, 8);
  latency({OpClass::sfu}, 17);
  latency({OpClass::shuffle, OpClass::constant_load}, 24);
  latency({OpClass::int_div}, 68);
  latency({OpClass::fp32_div}, 60);
  t.schedule.latency.shared = 23;
  t.schedule.latency.global = 270;
  return t;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all{Target{}, hopper()};
  return all;
}

}  // namespace

const Target& Target::generic() { return targets().front(); }

const Target& Target::named(const std::string& name) {
  for (const Target& t : targets())
    if (t.name == name) return t;
  std::string known;
  for (const std::string& n : names()) known += (known.empty() ? "" : " or ") + n;
  throw trace::InputError("error: --target '" + name + "', expected " + known + base::suggestion(name, names()));
}

std::vector<std::string> Target::names() {
  std::vector<std::string> all;
  for (const Target& t : targets()) all.push_back(t.name);
  return all;
}

ShapeResult shape_control_flow(ir::Function& f, const Target& target) {
  ShapeResult result;
  if (target.sequences) scale_approximations(f);
  if (target.predicated != 0) result.predicated = convert_branches(f, target.predicated);
  if (target.unrolled != 0) {
    join_blocks(f);
    result.unrolled = unroll_loops(f, {target.unrolled, target.copies});
  }
  return result;
}

void select_instructions(ir::Function& f, const Target& target) {
  if (target.three_inputs && join_operations(f) > 0) cleanup(f);
  if (target.vectors) {
    join_loads(f);
    split_constant_loads(f);
  }
  if (target.sequences) {
    expand_operations(f);
    share_values(f);
    hoist_invariants(f);
    cleanup(f);
  }
  if (target.barriers) add_convergence_barriers(f);
  if (target.loads_parameters) load_parameters(f);
  if (target.special_units) assign_units(f);
}

}  // namespace regatta::passes

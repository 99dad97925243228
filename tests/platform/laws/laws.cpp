// SPDX-License-Identifier: Apache-2.0
#include "laws.h"

#include <algorithm>

namespace regatta::test {

assembly::MachineConfig machine(const std::string& name) {
  assembly::MachineConfig m;
  support::OptionSet options;
  m.declare(options);
  assembly::load_machine(options, m, name);
  // What is measured starts with warm instructions and constants; their caches have laws of their own.
  m.sm.icache.enabled = false;
  m.sm.constant_cache.enabled = false;
  m.validate();
  return m;
}

Pipelines pipelines(const assembly::MachineConfig& m, trace::OpClass c) {
  using trace::OpClass;
  unsigned width = m.sm.sp_lanes;
  Pipelines p;
  p.count = m.sm.sp_units;
  switch (c) {
    case OpClass::sfu:
    case OpClass::int_div:
    case OpClass::fp32_div:
      width = m.sm.sfu_lanes;
      p.count = m.sm.sfu_units;
      break;
    case OpClass::fp64_add:
    case OpClass::fp64_max:
    case OpClass::fp64_mul:
    case OpClass::fp64_mad:
    case OpClass::fp64_div:
      width = m.sm.dp_lanes;
      p.count = m.sm.dp_units;
      break;
    default:
      break;
  }
  const unsigned passes = (m.sm.lanes + width - 1) / width;
  p.latency = std::max(m.sm.of(c).latency, passes);
  p.initiation = std::max(m.sm.of(c).initiation, passes);
  p.reachable = p.count % m.sm.schedulers == 0 ? p.count / m.sm.schedulers : p.count;
  return p;
}

unsigned collectors(const assembly::MachineConfig& m, protocol::Unit kind) {
  using protocol::Unit;
  const unsigned own = kind == Unit::sp    ? m.sm.sp_collectors
                       : kind == Unit::sfu ? m.sm.sfu_collectors
                       : kind == Unit::dp  ? m.sm.dp_collectors
                                           : m.sm.memory_collectors;
  return m.sm.collectors + (own % m.sm.schedulers == 0 ? own / m.sm.schedulers : own);
}

unsigned bank_stride(const assembly::MachineConfig& m) {
  return m.register_file.mapping == "sub_core" ? m.register_file.banks / m.sm.sub_cores : m.register_file.banks;
}

}  // namespace regatta::test

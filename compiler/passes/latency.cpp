// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/latency.h>

namespace regatta::passes {

namespace {

using trace::MemorySpace;
using trace::OpClass;

struct Row {
  OpClass op_class;
  unsigned cycles;
};

constexpr Row maxwell[] = {
    {OpClass::nop, 1},           {OpClass::int_add, 4},    {OpClass::int_max, 13},  {OpClass::int_mul, 4},
    {OpClass::int_mad, 5},       {OpClass::int_div, 145},  {OpClass::int64, 8},     {OpClass::convert, 4},
    {OpClass::fp32_add, 4},      {OpClass::fp32_max, 13},  {OpClass::fp32_mul, 4},  {OpClass::fp32_mad, 4},
    {OpClass::fp32_div, 39},     {OpClass::fp64_add, 8},   {OpClass::fp64_max, 19}, {OpClass::fp64_mul, 8},
    {OpClass::fp64_mad, 8},      {OpClass::fp64_div, 330}, {OpClass::sfu, 20},      {OpClass::shuffle, 32},
    {OpClass::constant_load, 8}, {OpClass::store, 1},      {OpClass::fence, 1},     {OpClass::barrier, 1},
    {OpClass::branch, 1},        {OpClass::exit, 1},       {OpClass::metadata, 0},
};

}  // namespace

LatencyTable::LatencyTable() {
  op_class.fill(1);
  for (const Row& row : maxwell) op_class[static_cast<std::size_t>(row.op_class)] = row.cycles;
}

unsigned LatencyTable::of(const ir::Instruction& i) const {
  const OpClass c = ir::op_class(i);
  if (c == OpClass::load || c == OpClass::atomic) return i.mod.space == MemorySpace::shared ? shared : global;
  return op_class[static_cast<std::size_t>(c)];
}

}  // namespace regatta::passes

// SPDX-License-Identifier: Apache-2.0
//
// Laws of issue, operand path and execution units.
#include "laws.h"

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// n instructions, each of which needs the one before: n times (operand read + latency + write-back).
void dependent_chain(const std::string& name, const assembly::MachineConfig& m) {
  constexpr unsigned count = 40;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {1}, {1});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, name, m);
  const std::uint64_t step = test::read_cycles(m) + m.sm.of(OpClass::int_add).latency + test::write_cycles(m);
  CHECK(r.gap(0, count - 1) == (count - 1) * step);
}

}  // namespace

REGATTA_LAW(dependent_chain, "gtx980")

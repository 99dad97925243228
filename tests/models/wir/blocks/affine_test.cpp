// SPDX-License-Identifier: Apache-2.0
//
// What the affine machine counts: reads, writes and instructions whose lanes are a stride apart, with all lanes active.
#include <regatta/test/catch.h>
#include <regatta/wir/affine.h>

#include <string>

using namespace regatta;

namespace {

struct Instruction {
  explicit Instruction(trace::OpClass op_class) {
    info.op_class = op_class;
    traits.info = &info;
    traits.read_count = 2;
    traits.write_count = 1;
    d.traits = &traits;
    d.info = &info;
    d.active = trace::all_lanes(32);
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
      d.operands[0].lane[lane] = 100 + 4 * lane;
      d.operands[1].lane[lane] = 7;
      d.results[0].lane[lane] = 107 + 4 * lane;
    }
  }
  trace::StaticInstruction info;
  protocol::InstructionTraits traits;
  protocol::DynamicInstruction d;
};

std::uint64_t counter(models::wir::AffineMeter& meter, const std::string& name) {
  support::StatGroup group("affine");
  meter.register_stats(group);
  for (const support::Stat& s : group.stats()) {
    if (s.name == name) return *s.counter;
  }
  FAIL("no statistic " + name);
  return 0;
}

}  // namespace

TEST_CASE("affine: instructions, reads and writes count with a stride in all lanes, and not otherwise") {
  models::wir::AffineMeter meter("affine", nullptr, 1024, 16);
  protocol::KernelContext context;
  context.warp_size = 32;
  meter.kernel_started(protocol::Cycle(0), context);
  const auto expect = [&](std::uint64_t instructions, std::uint64_t integer, std::uint64_t fp32, std::uint64_t reads,
                          std::uint64_t writes) {
    CHECK(counter(meter, "affine_instructions") == instructions);
    CHECK(counter(meter, "saved_integer_lanes") == integer);
    CHECK(counter(meter, "saved_fp32_lanes") == fp32);
    CHECK(counter(meter, "affine_reads") == reads);
    CHECK(counter(meter, "affine_writes") == writes);
  };
  const auto execute = [&](const Instruction& i) {
    meter.operands_delivered(protocol::Cycle(1), i.d);
    meter.register_written(protocol::Cycle(2), i.d, 0, true);
  };
  Instruction integer(trace::OpClass::int_add);
  execute(integer);
  expect(1, 31, 0, 2, 1);
  // Half of the lanes are switched off: the operands are read as tuples, the result is a vector's.
  integer.d.active = 0xffff;
  execute(integer);
  expect(1, 31, 0, 4, 1);
  integer.d.active = trace::all_lanes(32);
  integer.d.results[0].lane[9] += 1;
  execute(integer);
  expect(1, 31, 0, 6, 1);
  integer.d.results[0].lane[9] -= 1;
  integer.d.operands[1].lane[31] = 0;
  execute(integer);
  expect(1, 31, 0, 7, 2);
  const Instruction fp32(trace::OpClass::fp32_add);
  execute(fp32);
  expect(2, 31, 31, 9, 3);
  const Instruction special(trace::OpClass::sfu);
  execute(special);
  expect(2, 31, 31, 11, 4);
  // A value that is not written: it is there already.
  meter.register_written(protocol::Cycle(3), fp32.d, 0, false);
  expect(2, 31, 31, 11, 4);
}

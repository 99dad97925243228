// SPDX-License-Identifier: Apache-2.0
//
// All that a target does to a function, one pass after the other and with the allocation behind.
#include <regatta/passes/register_allocation.h>
#include <regatta/passes/target.h>
#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

#include "counted_loops.h"
#include "generator.h"
#include "outcome.h"
#include "structured_program.h"

using namespace regatta;
using ir::Opcode;

TEST_CASE("targets have names") {
  CHECK(passes::Target::names() == std::vector<std::string>{"generic", "sm_90"});
  CHECK(passes::Target::named("sm_90").name == "sm_90");
  CHECK(&passes::Target::named("generic") == &passes::Target::generic());
  CHECK_THROWS_MATCHES(passes::Target::named("sm_91"), trace::InputError,
                       Catch::Matchers::Message("error: --target 'sm_91', expected generic or sm_90; did you mean "
                                                "'sm_90'?"));
}

TEST_CASE("the generic target leaves functions alone") {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 20; ++round) {
    auto f = test::structured_program(random, {});
    std::string before, after;
    const auto text = [&f] {
      std::string all;
      for (const ir::Block& block : f.blocks)
        for (const ir::Instruction& i : block.instructions) all += ir::to_text(i, false) + "\n";
      return all;
    };
    before = text();
    passes::shape_control_flow(f, passes::Target::generic());
    passes::select_instructions(f, passes::Target::generic());
    CHECK(text() == before);
  }
}

TEST_CASE("code of sm_90 does what the generic code does") {
  std::mt19937 random(2);
  const auto& target = passes::Target::named("sm_90");
  std::uint32_t predicated = 0, unrolled = 0;
  for (unsigned round = 0; round < 400; ++round) {
    test::StructuredShape shape;
    shape.length = 2 + round % 12;
    shape.depth = 1 + round % 3;
    shape.fences = round % 3 == 0;
    test::CountedShape counted;
    counted.loops = 2;
    auto f = round % 4 == 3 ? test::counted_loops(random, counted) : test::structured_program(random, shape);
    const auto before = test::outcome(f);
    INFO("round " << round);
    auto g = f;
    const auto shaped = passes::shape_control_flow(g, target);
    REQUIRE(test::outcome(g) == before);
    passes::select_instructions(g, target);
    REQUIRE(test::outcome(g) == before);
    predicated += shaped.predicated;
    unrolled += shaped.unrolled;
    passes::AllocationOptions options;
    options.target = &target;
    options.max_registers = round % 2 == 0 ? 255 : 20;
    passes::allocate_registers(f, options);
    REQUIRE(test::outcome(f) == before);
  }
  CHECK(predicated > 200);
  CHECK(unrolled > 50);
}

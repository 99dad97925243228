// SPDX-License-Identifier: Apache-2.0
//
// Control bits of random programs: the verifier accepts them, no path of the emulator finds a fault in them, and a
// single change that a path shows to be wrong is one that the verifier refuses.
#include <regatta/analysis/function_analyses.h>
#include <regatta/emulator/emulator.h>
#include <regatta/passes/control.h>
#include <regatta/test/catch.h>
#include <regatta/trace/divergent_paths.h>
#include <regatta/trace/verify_control.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "../random_kernel.h"
#include "control_mutations.h"
#include "control_warp.h"
#include "warp_order.h"

using namespace regatta;
using test::ControlMutation;

namespace {

struct KeptWarps : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

/// Some integer operations become special functions, of variable latency and the same operands.
void vary_latencies(std::mt19937& random, ir::Function& f) {
  for (ir::Block& b : f.blocks)
    for (ir::Instruction& i : b.instructions) {
      const bool unary = i.op == ir::Opcode::not_ || i.op == ir::Opcode::neg || i.op == ir::Opcode::mov;
      if (unary && i.type != ir::Type::pred && ir::size_of(i.type) == 4 && i.sources.size() == 1 &&
          i.sources[0].is_reg() && random() % 2 == 0) {
        i.op = ir::Opcode::popc;
        i.type = ir::Type::b32;
      }
      if (i.op == ir::Opcode::add && ir::size_of(i.type) == 4 && !ir::is_float(i.type) && random() % 3 == 0)
        i.op = ir::Opcode::div;
    }
}

/// Programs, their kernels and the paths of a CTA's warps.
class Programs {
 public:
  explicit Programs(unsigned seed) : random_(seed) {
    buffer_ = memory_.allocate("buffer", 4096, true);
    options_.max_instructions = 1u << 20;
    request_.block = {64, 1, 1};
  }

  void make() {
    test::KernelShape shape;
    shape.nodes = 2 + random_() % 8;
    shape.instructions = 2 + random_() % 16;
    shape.registers = 4 + 2 * (random_() % 8);
    shape.structured = random_() % 2 == 0;
    shape.guards = random_() % 3 != 0;
    shape.wide = shape.registers >= 8;
    shape.buffer = buffer_;
    ir::Function f = test::random_kernel(random_, shape);
    vary_latencies(random_, f);
    const std::vector<std::int32_t> meet = analysis::FunctionAnalyses(f).reconvergence().immediate();
    kernel = ir::to_trace(f, meet, 32);
    emulator::Emulator emulator(f, meet, memory_, image_, options_);
    KeptWarps keep;
    divergent += emulator.run(request_, &kernel, &keep).divergent_branches;
    warps = std::move(keep.ctas.at(0).warps);
  }

  std::string replay(const trace::ControlSection& control) {
    for (const trace::WarpColumns& columns : warps) {
      test::ControlWarp warp(kernel, control);
      const std::string wrong = warp.replay(columns);
      steps += warp.steps();
      hits += warp.hits();
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  trace::Kernel kernel;
  std::vector<trace::WarpColumns> warps;
  std::uint64_t divergent = 0, steps = 0, hits = 0;

 private:
  std::mt19937 random_;
  emulator::DeviceMemory memory_;
  std::uint64_t buffer_ = 0;
  const ir::Module module_;
  const emulator::ModuleImage image_{module_, memory_};
  emulator::EmulatorOptions options_;
  emulator::LaunchRequest request_;
};

/// Any latencies, and branches that hide none of them.
passes::ControlLatencies random_latencies(std::mt19937& random) {
  passes::ControlLatencies latencies;
  const auto any = [&] { return 1 + static_cast<unsigned>(random() % passes::max_fixed_latency); };
  for (unsigned& cycles : latencies.op_class) cycles = any();
  latencies.predicate = any();
  latencies.control_stall = 1;
  return latencies;
}

std::string fault(const trace::Kernel& kernel, const trace::ControlSection& control) {
  return trace::ControlVerifier(kernel, control).find_fault();
}

}  // namespace

TEST_CASE("the pass and the verifier know every edge that a warp takes") {
  Programs programs(71);
  for (unsigned round = 0; round < 300; ++round) {
    CAPTURE(round);
    programs.make();
    const trace::Kernel& kernel = programs.kernel;
    const passes::WarpOrder order(kernel);
    trace::ControlSection none;
    none.bits.resize(kernel.instructions.size());
    none.latency.resize(kernel.instructions.size());
    const trace::ControlVerifier verifier(kernel, none);
    std::vector<std::uint32_t> block_of;
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) block_of.insert(block_of.end(), kernel.blocks[b].count, b);
    const std::vector<std::vector<std::uint32_t>> any_order = trace::warp_successors(kernel);
    for (const trace::WarpColumns& columns : programs.warps) {
      trace::WarpCursor cursor(kernel, columns);
      REQUIRE(cursor.next());
      for (std::uint32_t from = cursor.index(); cursor.next(); from = cursor.index()) {
        const std::uint32_t to = cursor.index();
        const auto knows = [&](const std::vector<std::uint32_t>& next, std::uint32_t n) {
          return std::find(next.begin(), next.end(), n) != next.end();
        };
        if (!knows(verifier.next()[from], to)) FAIL("the verifier: " << from << " to " << to);
        const bool in_block = block_of[from] == block_of[to] && to == from + 1;
        if (!in_block && !knows(order.next[block_of[from]], block_of[to])) FAIL("the pass: " << from << " to " << to);
      }
    }
    // What the fixed order leaves out is little, and it adds nothing.
    for (std::size_t b = 0; b < kernel.blocks.size(); ++b)
      CHECK(std::includes(any_order[b].begin(), any_order[b].end(), order.next[b].begin(), order.next[b].end()));
  }
  CHECK(programs.divergent > 1000);
}

TEST_CASE("control bits of random programs hold on all paths") {
  Programs programs(72);
  std::mt19937 random(74);
  for (unsigned round = 0; round < 1000; ++round) {
    CAPTURE(round);
    programs.make();
    const trace::ControlSection control =
        passes::plan_control(programs.kernel, round % 2 == 0 ? passes::ControlLatencies() : random_latencies(random));
    REQUIRE(fault(programs.kernel, control) == "");
    REQUIRE_NOTHROW(trace::decode_control(programs.kernel, trace::encode(programs.kernel, control)));
    REQUIRE(programs.replay(control) == "");
  }
  CAPTURE(programs.steps, programs.hits, programs.divergent);
  CHECK(programs.hits > 1000);
  CHECK(programs.divergent > 1000);
}

TEST_CASE("the verifier finds every single change that a path shows to be wrong") {
  Programs programs(73);
  std::array<unsigned, test::control_mutations> made{}, wrong{}, found{};
  std::mt19937 random(75);
  for (unsigned round = 0; round < 80; ++round) {
    programs.make();
    const trace::ControlSection control =
        passes::plan_control(programs.kernel, round % 2 == 0 ? passes::ControlLatencies() : random_latencies(random));
    test::for_each_control_mutation(
        programs.kernel, control,
        [&](ControlMutation kind, const trace::ControlSection& mutated, const std::string& what) {
          const auto k = static_cast<std::size_t>(kind);
          const bool breaks = programs.replay(mutated) != "";
          const bool refused = fault(programs.kernel, mutated) != "";
          ++made[k];
          wrong[k] += breaks;
          found[k] += refused;
          if (breaks && !refused) FAIL("round " << round << ": " << what << ": " << programs.replay(mutated));
        });
  }
  for (std::size_t k = 0; k < made.size(); ++k) {
    CAPTURE(k, made[k], wrong[k], found[k]);
    // Each kind is tried and does harm. Changes to code that these warps do not run are found, too.
    CHECK(made[k] > 200);
    CHECK(wrong[k] > made[k] / 10);
    CHECK(found[k] >= wrong[k]);
    CHECK(found[k] < 2 * wrong[k]);
  }
}

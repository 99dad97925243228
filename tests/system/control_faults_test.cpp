// SPDX-License-Identifier: Apache-2.0
//
// Planted faults in control bits: single changes that the verifier refuses and that a warp's path shows to be wrong.
// The value checker of the simulator finds one unless
//   - the values are equal all the same: so each fault also runs with a trace in which every result is another number,
//     where the checker is an observer of the order of reads and writes;
//   - the machine gives slack: so faults also run on one whose variable latencies are long;
//   - it is of a predicate, whose values the machine does not keep: a second observer compares cycles;
//   - sources would be overwritten before they are read (WAR). The machine reads them in the fifth cycle after the
//     issue unless ports are short, and no younger instruction writes that early;
//   - the path is all right on this machine: instructions come later than their bits allow, lanes are others, nobody
//     looks at the cache again, or a read is as late as the result (several registers of one bank take cycles, and a
//     short variable latency is over between issue and read);
//   - the machine has the result sooner than the bits count: a pair of constants has 6 cycles in the bits, for two
//   moves
//     of which the second starts two cycles later (compiler/passes/control), and on the machine
//     latency.constant_load, 4.
// An operand that was early by the machine's own cycles is one that the checker has to find with distinct results.
//
// REGATTA_CONTROL_FAULTS says how many programs, and prints the figures; REGATTA_SEED says which.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/verify_control.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "../compiler/passes/control/control_mutations.h"
#include "../compiler/passes/control/control_warp.h"
#include "dice.h"
#include "kernels.h"
#include "order_observer.h"
#include "process.h"
#include "random_program.h"

using namespace regatta;
using test::ControlMutation;
using test::Folder;
using test::Order;
using test::Passage;

namespace control_faults {
namespace {

constexpr const char* machine = R"([machine]
base = "h100"
sms = 1
[sm]
operand_path = "sub_core"
dependences = "control_bits"
[fetch]
width = 8
buffer_entries = 32
[icache]
enabled = false
[constant_cache]
enabled = false
[register_file]
cache = true
[unit]
alu = 0
sp_lanes = 32
)";
constexpr const char* slow_machine = R"([machine]
base = "machine.toml"
[sub_core]
memory_latency = 200
[shared]
latency = 400
[l1]
hit_latency = 400
[latency]
sfu = 300
shuffle = 300
fp32_div = 300
int_div = 300
fp64_add = 300
fp64_max = 300
fp64_mul = 300
fp64_mad = 300
fp64_div = 300
)";

/// The columns of a warp with other results: each one is a number that no other has.
class DistinctResults {
 public:
  trace::WarpColumns of(const trace::Kernel& kernel, const trace::WarpColumns& columns) {
    trace::WarpCursor cursor(kernel, columns);
    trace::WarpEncoder encoder(kernel);
    std::vector<trace::StackEvent> events;
    while (cursor.next()) {
      const trace::StaticInstruction& i = cursor.instruction();
      encoder.instruction(cursor.index(), cursor.simt_mask(), cursor.active_mask());
      for (unsigned d = 0; d < i.destination_count; ++d) {
        trace::WarpValue value{};
        cursor.result(value);
        for (std::uint32_t& lane : value.lane) lane = ++number_ * 2654435761u;
        encoder.result(value);
      }
      for (unsigned d = 0; d < i.destination_predicate_count; ++d) encoder.predicate(cursor.predicate());
      if (trace::has_addresses(i)) {
        std::array<std::uint64_t, trace::max_lanes> addresses{};
        if (cursor.active_mask() != 0) cursor.addresses(addresses.data());
        encoder.addresses(addresses.data());
      }
      events.clear();
      cursor.stack_events(events);
      for (const trace::StackEvent& e : events) {
        if (e.push) {
          encoder.push(e.resume_index, e.mask);
        } else {
          encoder.pop();
        }
      }
    }
    return encoder.finish();
  }

 private:
  std::uint32_t number_ = 0;
};

struct Mutant {
  ControlMutation kind = ControlMutation::stall;
  trace::ControlSection control;
  std::string what, fault;  ///< the change, and what a warp's path shows
};

/// What became of the faults of one kind.
struct Counts {
  unsigned faults = 0;     ///< refused by the verifier, and wrong on a path that a warp takes
  unsigned by_values = 0;  ///< of these, found by the value checker
  unsigned by_order = 0;   ///< with distinct results
  unsigned slow = 0;       ///< with these, on the slow machine
  unsigned by_cycles = 0;  ///< of predicates, by the cycles of their readers
  unsigned unread = 0;     ///< not found: sources that the machine reads long before they are overwritten
  unsigned outlives = 0;   ///< an entry of the register file cache that nobody looks at any more
  unsigned in_time = 0;    ///< all reads and writes come in order all the same
  unsigned sooner = 0;     ///< early by the bits' latency, and not by the machine's
  unsigned left = 0;       ///< an early issue, and a read that was not
};

class Program {
 public:
  Program(std::uint64_t seed, const std::string& target) {
    tool::AnnotateOptions o;
    o.launch = test::random_program(folder_, seed, 1);
    o.out = folder_.file("k.rgt");
    o.target = target;
    o.annotations.emplace();
    o.pass_options["control"] = "on";
    tool::annotate(o);
    const trace::Reader reader(o.out);
    kernel_ = reader.kernels().at(0);
    launch_ = reader.launches().at(0);
    cta_ = *reader.read(0);
    distinct_ = cta_;
    DistinctResults results;
    for (trace::WarpColumns& w : distinct_.warps) w = results.of(kernel_, w);
    control_ = *trace::find_control(kernel_);
    folder_.write("machine.toml", machine);
    folder_.write("slow.toml", slow_machine);
  }

  /// Some mutations: up to `each` of a kind, chosen by dice.
  std::vector<Mutant> mutants(test::Dice& dice, unsigned each) const {
    std::array<std::vector<unsigned>, test::control_mutations> of_kind;
    unsigned number = 0;
    test::for_each_control_mutation(kernel_, control_,
                                    [&](ControlMutation kind, const trace::ControlSection&, const std::string&) {
                                      of_kind[static_cast<unsigned>(kind)].push_back(number++);
                                    });
    std::vector<bool> chosen(number);
    for (const std::vector<unsigned>& all : of_kind) {
      // Most reuse flags more are faults on other paths than a warp's.
      const bool reuse = &all == &of_kind[static_cast<unsigned>(ControlMutation::reuse)];
      for (unsigned i = 0; i < (reuse ? 4 * each : each) && !all.empty(); ++i) chosen[dice.any(all)] = true;
    }
    std::vector<Mutant> mutants;
    number = 0;
    test::for_each_control_mutation(
        kernel_, control_, [&](ControlMutation kind, const trace::ControlSection& mutated, const std::string& what) {
          if (chosen[number++]) mutants.push_back(Mutant{kind, mutated, what, on_a_path(mutated)});
        });
    return mutants;
  }

  bool refused(const trace::ControlSection& control) const {
    return !trace::ControlVerifier(kernel_, control).find_fault().empty();
  }

  /// Whether the value checker finds a mismatch.
  bool finds(const trace::ControlSection& control, bool distinct, const std::string& on,
             const std::vector<std::string>& options = {}) const {
    trace::Kernel kernel = kernel_;
    for (trace::AnnotationSection& section : kernel.annotations) {
      if (section.name == trace::control_section) section.payload = trace::encode(kernel_, control);
    }
    const std::string path = folder_.file("mutant.rgt");
    trace::Writer writer(path);
    writer.add_kernel(kernel);
    writer.begin_launch(launch_);
    writer.add_cta(distinct ? distinct_ : cta_);
    writer.finish();
    std::vector<std::string> command{REGATTA_SIM, path, "--machine", folder_.file(on)};
    command.insert(command.end(), options.begin(), options.end());
    const auto run = test::run_process(command);
    INFO(run.err);
    // With a wrong value the simulator asks the verifier, and refuses the trace.
    const bool found = run.err.find("value mismatch: ") != std::string::npos;
    REQUIRE(run.status == (found ? 2 : 0));
    return found;
  }

  /// What the cycles of a run say; values are another matter.
  Order observe(const trace::ControlSection& control, const std::string& on) const {
    finds(control, false, on, {"--pipeline", folder_.file("pipeline.log"), "--no-check"});
    const auto passages = test::read_passages(folder_.read("pipeline.log"));
    Order order;
    for (unsigned w = 0; w < cta_.warps.size(); ++w) {
      test::OrderObserver observer(kernel_, control);
      trace::WarpCursor cursor(kernel_, cta_.warps[w]);
      for (const Passage& p : passages.at(w)) {
        REQUIRE(cursor.next());
        REQUIRE(cursor.index() == p.index);
        observer.step(p, cursor.active_mask(), order);
      }
    }
    return order;
  }
  const trace::ControlSection& control() const { return control_; }

 private:
  std::string on_a_path(const trace::ControlSection& control) const {
    for (const trace::WarpColumns& columns : cta_.warps) {
      test::ControlWarp warp(kernel_, control);
      const std::string wrong = warp.replay(columns);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  Folder folder_;
  trace::Kernel kernel_;
  trace::Launch launch_;
  trace::Cta cta_, distinct_;
  trace::ControlSection control_;
};

/// Plants faults in a random program. `harmless`: changes that the verifier accepts and the simulator ran.
void plant(std::uint64_t seed, unsigned each, std::array<Counts, test::control_mutations>& counts, unsigned& harmless,
           std::string& missed) {
  test::Dice dice(seed);
  const Program program(dice.below(1u << 30), dice.any({"generic", "sm_90"}));
  REQUIRE_FALSE(program.finds(program.control(), false, "machine.toml"));
  REQUIRE_FALSE(program.finds(program.control(), true, "machine.toml"));
  REQUIRE_FALSE(program.finds(program.control(), true, "slow.toml"));
  const Order right = program.observe(program.control(), "machine.toml");
  REQUIRE_FALSE(right.any());
  REQUIRE_FALSE(right.sooner);
  for (const Mutant& m : program.mutants(dice, each)) {
    CAPTURE(m.what, m.fault);
    if (!program.refused(m.control)) {
      CHECK(m.fault.empty());
      if (dice.one_in(4)) {
        CHECK_FALSE(program.finds(m.control, true, dice.any({"machine.toml", "slow.toml"})));
        ++harmless;
      }
      continue;
    }
    if (m.fault.empty()) continue;  // on a path that no warp takes
    Counts& c = counts[static_cast<unsigned>(m.kind)];
    ++c.faults;
    const bool values = program.finds(m.control, false, "machine.toml");
    const bool order = program.finds(m.control, true, "machine.toml");
    CHECK((order || !values));  // a wrong value is one of the wrong instruction
    c.by_values += values ? 1 : 0;
    c.by_order += order ? 1 : 0;
    if (order) continue;
    const Order cycles = program.observe(m.control, "machine.toml");
    CHECK_FALSE(cycles.early_operand);
    if (cycles.sooner) {
      CHECK(cycles.sooner_opcodes == "ld.param.u64 ");
      ++c.sooner;
    } else if (cycles.early_predicate) {
      ++c.by_cycles;
    } else if (program.finds(m.control, true, "slow.toml")) {
      ++c.slow;
    } else if (m.fault.find("may not have read") != std::string::npos) {
      ++c.unread;
    } else if (m.fault.find(" leaves ") != std::string::npos) {
      ++c.outlives;
    } else if (!cycles.any() && !program.observe(m.control, "slow.toml").any()) {
      ++c.in_time;
    } else {
      ++c.left;
      missed += "not found: " + m.what + ": " + m.fault + "\n";
    }
  }
}

void plant_all(std::uint64_t first, std::uint64_t programs, unsigned each) {
  const std::uint64_t seed = test::from_environment("REGATTA_SEED", 1);
  programs = test::from_environment("REGATTA_CONTROL_FAULTS", programs);
  std::array<Counts, test::control_mutations> counts;
  unsigned harmless = 0;
  std::string missed;
  for (std::uint64_t i = first; i < first + programs; ++i) {
    INFO("seed " << seed << ", program " << i);
    plant(seed * 1000003 + i, each, counts, harmless, missed);
  }
  const char* const kinds[] = {"stall count", "wait", "counter", "reuse flag"};
  std::string table;
  for (unsigned k = 0; k < counts.size(); ++k) {
    const Counts& c = counts[k];
    table += std::string(kinds[k]) + ": " + std::to_string(c.faults) +
             " faults; found: " + std::to_string(c.by_values) + " by values, " + std::to_string(c.by_order) +
             " by distinct values, " + std::to_string(c.slow) + " on the slow machine, " + std::to_string(c.by_cycles) +
             " by cycles; not found: " + std::to_string(c.unread) + " read before, " + std::to_string(c.outlives) +
             " outlive the warp, " + std::to_string(c.in_time) + " in time, " + std::to_string(c.sooner) + " sooner, " +
             std::to_string(c.left) + " left\n";
  }
  if (std::getenv("REGATTA_CONTROL_FAULTS") != nullptr) WARN(table << harmless << " harmless changes\n" << missed);
  INFO(table << missed);
  for (const Counts& c : counts) {
    CHECK(5 * c.left <= c.faults + 5);
    CHECK((each < 12 || c.by_order + c.slow > 0));
  }
}

}  // namespace
}  // namespace control_faults

TEST_CASE("the simulator finds planted faults in control bits") { control_faults::plant_all(0, 2, 6); }
TEST_CASE("the simulator finds planted faults in control bits of many programs", REGATTA_MORE) {
  control_faults::plant_all(2, 12, 12);
}

// SPDX-License-Identifier: Apache-2.0
//
// One block in a bench: the reuse buffer of warp instruction reuse, without an SM, a trace or a memory.
#include <regatta/support/clock_domain.h>
#include <regatta/wir/reuse_buffer.h>

#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <systemc>
#include <vector>

#include "bench.h"

using namespace one_block;

namespace {

constexpr unsigned entries = 4;

wir::PhysicalRegister p(unsigned number) { return wir::PhysicalRegister(static_cast<std::uint16_t>(number)); }

/// A computation of two registers that belongs into entry `index`: its opcode is the first number from `opcode` on
/// that leads there.
Computation computation(char name, unsigned opcode, unsigned source0, unsigned source1, unsigned index) {
  wir::ReuseTag tag;
  tag.sources[0] = p(source0);
  tag.sources[1] = p(source1);
  for (tag.opcode = opcode; tag.fold() % entries != index; ++tag.opcode) {
  }
  return {name, tag};
}

std::vector<Step> script() {
  const Computation a = computation('A', 10, 1, 2, 0);
  const Computation b = computation('B', 20, 3, 4, 1);
  const Computation c = computation('C', 30, 5, 6, 2);
  const Computation d = computation('D', 40, 7, 7, 0);  // takes A's entry
  const Computation no{'-', {}};
  const wir::PhysicalRegister none = wir::no_register;
  using Do = Action;
  using Is = Outcome;
  return {
      // cycle, action, computation, instruction; expected: outcome, register, references of the buffer
      {1, Do::look_up, a, 1, Is::claimed, none, 2},
      {2, Do::look_up, a, 2, Is::pending, none, 2},
      // Two claims take both write ports. The result of A is written in cycle 4.
      {3, Do::look_up, b, 3, Is::claimed, none, 4},
      {3, Do::look_up, c, 4, Is::claimed, none, 6},
      {3, Do::retire, a, 1, Is::waits, p(8), 6},
      {5, Do::retry, a, 2, Is::result, p(8), 7},
      {5, Do::retire, b, 3, Is::updated, p(9), 8},
      {5, Do::retire, c, 4, Is::updated, p(10), 9},
      // Three reads, two ports. The third asks again.
      {6, Do::look_up, a, 5, Is::result, p(8), 9},
      {6, Do::look_up, b, 6, Is::result, p(9), 9},
      {6, Do::look_up, c, 7, Is::busy, none, 9},
      {7, Do::look_up, c, 7, Is::result, p(10), 9},
      // D takes A's entry, and A takes it back while D is pending. D's result then finds no entry of its own.
      {8, Do::look_up, d, 8, Is::claimed, none, 8},
      {9, Do::look_up, a, 9, Is::claimed, none, 8},
      {10, Do::retire, d, 8, Is::updated, p(11), 8},
      {11, Do::retire, a, 9, Is::updated, p(12), 9},
      // Low-register mode: a hit is a hit, a miss gives up an entry. Idle cycles give up the others.
      {12, Do::low_on, no, 0, Is::none, none, 9},
      {12, Do::look_up, b, 10, Is::result, p(9), 9},
      {12, Do::look_up, d, 11, Is::evicted, none, 6},
      {76, Do::low_off, no, 0, Is::none, none, 0},
      {76, Do::look_up, b, 12, Is::claimed, none, 2},
      {78, Do::end_of_kernel, no, 0, Is::none, none, 0},
  };
}

/// Prints the block's statistics. Returns the number that differ from the script's.
unsigned check_statistics(regatta::support::StatProvider& block) {
  const std::map<std::string, std::uint64_t> expected = {{"lookups", 12}, {"reads", 12},     {"retries", 1},
                                                         {"writes", 11},  {"read_waits", 1}, {"write_waits", 1}};
  unsigned failures = 0;
  regatta::support::StatGroup group;
  block.register_stats(group);
  std::cout << "\n";
  for (const regatta::support::Stat& s : group.stats()) {
    const double value = s.counter != nullptr ? static_cast<double>(*s.counter) : s.value();
    std::cout << std::setw(16) << s.name << std::setw(6) << value << s.unit << " " << s.description << "\n";
    const auto found = expected.find(s.name);
    if (found == expected.end() || value == static_cast<double>(found->second)) continue;
    std::cerr << "FAILED " << s.name << ": expected " << found->second << ", got " << value << "\n";
    ++failures;
  }
  return failures;
}

/// The argument of --vcd without its ending, which SystemC adds; empty: the command line is wrong.
std::string trace_file(int argc, char** argv) {
  const std::string ending = ".vcd";
  if (argc == 1) return "one_block";
  if (argc != 3 || std::string(argv[1]) != "--vcd") return "";
  const std::string file = argv[2];
  if (file.size() <= ending.size() || file.substr(file.size() - ending.size()) != ending) return "";
  return file.substr(0, file.size() - ending.size());
}

}  // namespace

int sc_main(int argc, char** argv) {
  const std::string file = trace_file(argc, argv);
  if (file.empty()) {
    std::cerr << "usage: one_block [--vcd FILE.vcd]\n";
    return 2;
  }
  const sc_core::sc_time period(10, sc_core::SC_NS);
  sc_core::sc_clock clock("clock", period);
  regatta::support::ClockDomain domain("domain", period);

  wir::WirConfig config;  // with pending-retry, two read ports and two write ports
  config.reuse_entries = entries;
  config.reuse_claim_writes = true;  // a claim takes a write port, so that there is something to wait for
  wir::ReuseBuffer buffer("reuse_buffer", config, domain);
  RegisterCounts counts("counts", domain);
  Bench bench("bench", script(), entries, counts, domain);
  bench.clock.bind(clock);
  bench.lookups.bind(buffer.lookups);
  bench.updates.bind(buffer.updates);
  buffer.references.bind(counts);
  counts.keeper.bind(buffer.keeper);
  bench.show(buffer.entries());

  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);  // the time unit of the waveform
  sc_core::sc_trace_file* const vcd = sc_core::sc_create_vcd_trace_file(file.c_str());
  vcd->set_time_unit(1, sc_core::SC_NS);
  sc_core::sc_trace(vcd, clock, "clock");
  bench.trace_to(vcd);
  sc_core::sc_start(80 * period);
  sc_core::sc_close_vcd_trace_file(vcd);

  const unsigned failures = bench.finish() + check_statistics(buffer);
  std::cout << "\n" << (failures == 0 ? "ok" : "failed") << ", waveform in " << file << ".vcd\n";
  return failures == 0 ? 0 : 1;
}

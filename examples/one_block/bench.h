// SPDX-License-Identifier: Apache-2.0
//
// Plays the users of a reuse buffer, cycle by cycle, from a script: the reuse stage, which looks up instructions, and
// retirement, which enters their results.
#pragma once

#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/wir/reuse_buffer.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <vector>

#include "register_counts.h"

namespace one_block {

namespace protocol = regatta::protocol;

enum class Action {
  look_up,        ///< an instruction asks for an earlier result
  retry,          ///< it asks again, after it has waited for a pending result
  retire,         ///< it has executed and enters its result
  low_on,         ///< low-register mode begins
  low_off,        ///< and ends
  end_of_kernel,  ///< the buffer gives up everything
};

/// What a request led to.
enum class Outcome {
  none,      ///< not a request
  busy,      ///< no port
  claimed,   ///< nothing found; the instruction executes and will enter its result
  evicted,   ///< nothing found; low-register mode: the entry in its place was given up
  nothing,   ///< nothing found
  pending,   ///< another instruction's result will come
  result,    ///< found
  unshared,  ///< found, but a reference counter is full
  updated,   ///< the result got a write port in the cycle of the request
  waits,     ///< the result gets a write port in a later cycle
};

struct Computation {
  char name;
  wir::ReuseTag tag;
};

struct Step {
  std::uint64_t cycle;
  Action action;
  Computation computation;
  std::uint32_t owner;  ///< the instruction
  // Expected:
  Outcome outcome;
  wir::PhysicalRegister result;  ///< of a look-up; the input of a retirement
  unsigned references;           ///< of the buffer, after the step
};

class Bench : public sc_core::sc_module, public protocol::LookupClient<wir::ReuseAnswer> {
 public:
  sc_core::sc_in<bool> clock;
  protocol::LookupInitiator<wir::ReuseRequest, wir::ReuseAnswer> lookups;
  sc_core::sc_port<wir::ReuseUpdates> updates;

  /// Steps are in the order of their cycles. `entries`: of the buffer.
  Bench(const sc_core::sc_module_name& name, std::vector<Step> script, unsigned entries, RegisterCounts& counts,
        regatta::support::ClockDomain& domain);

  /// The table then has the contents of the entries. A block that is not a wir::ReuseBuffer does without.
  void show(const wir::ReuseEntries& contents) { contents_ = &contents; }
  void trace_to(sc_core::sc_trace_file* file) const;
  /// Checks that nothing is left to do. Returns the number of answers that differed from the script.
  unsigned finish();

  void answered(std::uint32_t tag, const wir::ReuseAnswer& answer) override;

 private:
  static constexpr unsigned most_slots = 3;  ///< requests in a cycle
  /// The signals of a request, for the waveform.
  struct Slot {
    sc_core::sc_signal<bool> valid, answered, busy, claimed;
    sc_core::sc_signal<sc_dt::sc_uint<8>> opcode;
    sc_core::sc_signal<sc_dt::sc_uint<2>> found;  ///< wir::ReuseAnswer::Found
  };

  void start_of_simulation() override;
  void cycle();
  void play(std::size_t step);
  void look_up(std::size_t step);
  void retire(std::size_t step);
  void update(std::size_t step);
  void take(std::size_t step, const wir::ReuseAnswer& answer);
  /// Prints a line of the table and compares it with the script.
  void check(std::size_t step, const std::string& request, Outcome outcome, const wir::ReuseResult& result);
  void print_row(const std::string& request, const std::string& reply, const std::string& entry) const;
  std::string entry_of(const Computation& computation) const;
  void fail(const std::string& message);

  const std::vector<Step> script_;
  const unsigned entries_;
  RegisterCounts& counts_;
  regatta::support::ClockDomain& domain_;
  const wir::ReuseEntries* contents_ = nullptr;
  std::size_t next_ = 0;                           ///< the script's next step
  std::map<std::uint32_t, std::size_t> open_;      ///< requests whose answers come later: tag, step
  std::multimap<std::uint64_t, std::size_t> due_;  ///< retirements that wait for a write port: cycle, step
  std::map<std::uint32_t, bool> claims_;           ///< by instruction: an entry is claimed for it
  unsigned failures_ = 0;

  std::array<Slot, most_slots> slots_;
  unsigned slot_ = 0;  ///< the next request's
  sc_core::sc_signal<bool> update_valid_, low_mode_;
  sc_core::sc_signal<sc_dt::sc_uint<8>> update_opcode_, references_;
};

}  // namespace one_block

// SPDX-License-Identifier: Apache-2.0
//
// Compression and decompression unit in RTL, in lockstep with their models: a million registers each, with coverage;
// answers that wait; seeded bugs, which must be found.
#include <regatta/aging/aging_compression_rtl.h>
#include <regatta/aging/compression_units.h>
#include <regatta/aging/unit_pins.h>
#include <regatta/cosim/direct_transactor.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>

#include "compression_bug_control_idle.h"
#include "compression_bug_deltas_block.h"
#include "compression_bug_deltas_high.h"
#include "compression_bug_deltas_power.h"
#include "decompression_bug_block_narrow.h"
#include "decompression_bug_block_zero.h"
#include "decompression_bug_unit_count.h"
#include "register_traffic.h"

using namespace regatta;
using namespace regatta::models::aging;
using Catch::Matchers::Contains;
using test::Coverage;
using test::Defect;
using test::RegisterTraffic;

namespace {

constexpr std::uint64_t many = 1000000;
/// Of this process: cases run at the same time.
std::string waveform() { return "compression_rtl_" + std::to_string(getpid()); }

template <class Operation, class Result>
struct TwinBench {
  TwinBench(const cosim::PinsFactory<Operation, Result>& pins, cosim::EdgesOf<Operation, Result> edges_of, bool compare)
      : twin(config(), direct(compare), pins, std::move(edges_of)) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static cosim::TwinConfig config() {
    cosim::TwinConfig c;
    c.name = "twin";
    c.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
    c.options.waveform = waveform() + ".fst";
    c.options.waveform_cycles = 100;
    return c;
  }
  static cosim::DirectConfig direct(bool compare) {
    cosim::DirectConfig c;
    c.compare = compare;
    return c;
  }
  cosim::DirectTransactor<Operation, Result> twin;
};

/// The model with its twin, register by register.
struct CompressionBench {
  explicit CompressionBench(const CompressionPinsFactory& pins, bool compare = true)
      : unit("unit"), bench(pins, compression_edges, compare) {
    unit.set_twin(&bench.twin);
  }
  CompressionVerdict ask(const CompressionOperation& o) {
    CompressionRequest request;
    request.components = o.components.data();
    request.lanes = o.lanes;
    CompressionVerdict verdict;
    unit.look_up(request, 0, verdict);
    return verdict;
  }
  CompressionUnit unit;  // before the bench, which ends the elaboration
  TwinBench<CompressionOperation, CompressionVerdict> bench;
};
struct DecompressionBench {
  explicit DecompressionBench(const DecompressionPinsFactory& pins, bool compare = true)
      : unit("unit"), bench(pins, decompression_edges, compare) {
    unit.set_twin(&bench.twin);
  }
  protocol::WarpValue ask(const DecompressionRequest& request) {
    protocol::WarpValue value;
    unit.look_up(request, 0, value);
    return value;
  }
  DecompressionUnit unit;  // before the bench, which ends the elaboration
  TwinBench<DecompressionRequest, DecompressedRegister> bench;
};

std::string state_name(unsigned beat, unsigned beats) {
  return beat + 1 == beats ? "deltas_48" : "deltas_" + std::to_string(16 * beat);
}
const char* name_of(Defect d) {
  static const char* const names[] = {"as made", "a bit off", "component + 1", "component - 1",
                                      "step",    "block",     "noise"};
  return names[static_cast<unsigned>(d)];
}

/// The transitions that a verdict tells of, from start to idle.
template <class Add>
void transitions(unsigned lanes, const CompressionVerdict& v, const Add& add) {
  const unsigned beats = lanes / 16;
  std::string from = "idle";
  for (unsigned b = 0; b < v.beats; ++b) {
    add(from + " to " + state_name(b, beats));
    from = state_name(b, beats);
  }
  add(from + (v.compressible ? " to idle, compr" : " to idle, not compr"));
}

void compress_many(const CompressionPinsFactory& pins, std::uint64_t count, bool report = false) {
  RegisterTraffic traffic(20261);
  CompressionBench b(pins);
  Coverage states, codes, defects;
  // Everything that there is: three ways to end with 32 lanes, five with 64; 64 pairs of deltas; kinds of registers.
  for (const unsigned lanes : {32u, 64u}) {
    for (unsigned beats = 1; beats <= lanes / 16; ++beats) {
      transitions(lanes, {false, {}, beats}, [&](const std::string& t) { states.expect(t); });
    }
    transitions(lanes, {true, {}, lanes / 16}, [&](const std::string& t) { states.expect(t); });
  }
  for (unsigned d = 0; d < test::defect_count; ++d) {
    defects.expect(std::string("refused: ") + name_of(static_cast<Defect>(d)));
  }
  for (const char* pattern : {"constant", "single_delta", "double_delta"})
    defects.expect(std::string("taken: ") + pattern);
  defects.expect("taken: passes 2^32");
  for (unsigned e = 0; e < 8; ++e) {
    for (unsigned k = 0; k < 8; ++k) codes.expect(std::to_string(e) + "," + std::to_string(k));
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    const CompressionOperation o = traffic.operation();
    const CompressionVerdict v = b.ask(o);
    transitions(o.lanes, v, [&](const std::string& t) { states.add(t); });
    if (!v.compressible) {
      defects.add(std::string("refused: ") + name_of(traffic.defect()));
      continue;
    }
    defects.add(std::string("taken: ") + to_string(v.code.pattern()));
    if (o.components[o.lanes - 1] < o.components[0]) defects.add("taken: passes 2^32");
    codes.add(std::to_string(v.code.element) + "," + std::to_string(v.code.block));
  }
  CHECK(b.bench.twin.compared() == count);
  if (!report) return;
  states.print("compression unit: transitions of the state machine");
  defects.print("compression unit: registers");
  codes.print("compression unit: codes of element and block delta");
  CHECK(states.missing(count / 1000) == "");
  CHECK(defects.missing(count / 1000) == "");
  CHECK(codes.missing(count / 1000) == "");
}

void decompress_many(const DecompressionPinsFactory& pins, std::uint64_t count, bool report = false) {
  RegisterTraffic traffic(20262);
  DecompressionBench b(pins);
  Coverage codes, carries;
  for (unsigned e = 0; e < 8; ++e) {
    for (unsigned k = 0; k < 8; ++k) {
      for (const char* lanes : {"32 lanes", "64 lanes"}) {
        codes.expect(std::to_string(e) + "," + std::to_string(k) + " " + lanes);
      }
    }
  }
  for (const char* carry : {"none", "into bit 10", "out of bit 31"}) carries.expect(carry);
  for (std::uint64_t n = 0; n < count; ++n) {
    const DecompressionRequest r = traffic.request();
    const protocol::WarpValue value = b.ask(r);
    codes.add(std::to_string(r.code.element) + "," + std::to_string(r.code.block) + " " + std::to_string(r.lanes) +
              " lanes");
    const std::uint32_t last = value.lane[r.lanes - 1];
    carries.add(last < r.code.base ? "out of bit 31" : (last ^ r.code.base) >> 10 != 0 ? "into bit 10" : "none");
  }
  CHECK(b.bench.twin.compared() == count);
  if (!report) return;
  codes.print("decompression unit: codes of element and block delta, lanes");
  carries.print("decompression unit: carries");
  CHECK(codes.missing(count / 1000) == "");
  CHECK(carries.missing(count / 100) == "");
}

/// Requests at random times, answers taken at random times: in order, and as they stand until they are taken.
template <class Operation, class Result>
void wait_often(const cosim::PinsFactory<Operation, Result>& factory, const std::function<Operation()>& next,
                const std::function<Result(const Operation&)>& expected) {
  const auto pins = factory(false);
  for (unsigned i = 0; i < 2; ++i) {
    pins->drive_reset(true);
    pins->drive_request(nullptr);
    pins->drive_answer_ready(false);
    pins->settle();
    pins->edge();
  }
  pins->drive_reset(false);
  std::mt19937 random(7);
  std::deque<Result> open;
  Operation operation = next();
  bool offered = false;
  std::uint64_t answers = 0, waited = 0, refused = 0, taken_at_once = 0;
  while (answers != many / 20) {
    offered = offered || random() % 3 != 0;
    const bool ready = random() % 2 != 0;
    pins->drive_request(offered ? &operation : nullptr);
    pins->drive_answer_ready(ready);
    pins->settle();
    const bool taken = offered && pins->request_ready(), valid = pins->answer_valid();
    Result answer;
    if (valid) {
      pins->read_answer(answer);
      REQUIRE(!open.empty());
      REQUIRE(describe(answer) == describe(open.front()));
    }
    pins->edge();
    if (valid && ready) {
      open.pop_front();
      ++answers;
    }
    waited += valid && !ready ? 1 : 0;
    refused += offered && !taken ? 1 : 0;
    taken_at_once += valid && taken ? 1 : 0;
    if (taken) {
      open.push_back(expected(operation));
      operation = next();
      offered = false;
    }
  }
  std::printf("%llu answers, %llu edges in which one waited, %llu in which a request did, %llu taken as one left\n",
              static_cast<unsigned long long>(answers), static_cast<unsigned long long>(waited),
              static_cast<unsigned long long>(refused), static_cast<unsigned long long>(taken_at_once));
  CHECK(waited > answers / 10);
  CHECK(refused > answers / 10);
  CHECK(taken_at_once > answers / 10);
}

CompressionVerdict verdict_on(const CompressionOperation& o) {
  CompressionMachine machine;
  CompressionVerdict v;
  v.compressible = compress(machine, o.components.data(), o.lanes);
  if (v.compressible) v.code = machine.code();
  v.beats = machine.beats_worked();
  return v;
}
DecompressedRegister register_of(const DecompressionRequest& r) {
  DecompressedRegister value;
  decompress(r.code, 0, r.lanes, value.components.data());
  return value;
}

/// Runs until a difference; its report has both results, and there is a waveform with the pins.
void must_find(const std::function<void()>& run, const std::string& pin) {
  const std::string fst = waveform() + ".fst", vcd = waveform() + ".vcd";
  std::string report;
  try {
    run();
  } catch (const std::exception& e) {
    report = e.what();
  }
  std::printf("%.1200s\n", report.c_str());
  REQUIRE_THAT(report, Contains("another result of the RTL, after ") && Contains("\n  model   ") &&
                           Contains("\n  RTL     ") && Contains("waveform of the last "));
  REQUIRE(std::ifstream(fst).good());
  if (std::system("command -v fst2vcd >/dev/null") == 0) {
    REQUIRE(std::system(("fst2vcd -f " + fst + " -o " + vcd).c_str()) == 0);
    std::ifstream in(vcd);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK_THAT(text, Contains(pin) && Contains("rsp_valid"));
    std::size_t times = 0;
    for (std::size_t at = text.find("\n#"); at != std::string::npos; at = text.find("\n#", at + 1)) ++times;
    CHECK(times > 6);
    std::remove(vcd.c_str());
  }
  std::remove(fst.c_str());
}
template <class Top>
void compression_bug() {
  must_find([] { compress_many(compression_pins_of<Top>(), many); }, "comp_deltas");
}
template <class Top>
void decompression_bug() {
  must_find([] { decompress_many(decompression_pins_of<Top>(), many); }, "req_element");
}

}  // namespace

TEST_CASE("compression unit in RTL: a million registers") { compress_many(compression_rtl(), many, true); }
TEST_CASE("decompression unit in RTL: a million table entries") { decompress_many(decompression_rtl(), many, true); }

TEST_CASE("compression unit in RTL: answers that wait") {
  RegisterTraffic traffic(3);
  wait_often<CompressionOperation, CompressionVerdict>(
      compression_rtl(), [&] { return traffic.operation(); }, verdict_on);
}
TEST_CASE("decompression unit in RTL: answers that wait") {
  RegisterTraffic traffic(4);
  wait_often<DecompressionRequest, DecompressedRegister>(
      decompression_rtl(), [&] { return traffic.request(); }, register_of);
}

TEST_CASE("compression units in RTL: the RTL's result counts without a comparison") {
  // A bug shows: the base of the second block is that of the first.
  DecompressionBench d(decompression_pins_of<decompression_bug_unit_count>(), false);
  const protocol::WarpValue value = d.ask({DeltaCode{100, zero_delta, 4}, 64});
  CHECK(value.lane[8] == 100);
  CHECK(value.lane[16] == 132);
}
TEST_CASE("compression units in RTL: the verdict and its beats are the RTL's without a comparison") {
  CompressionBench c(compression_pins_of<compression_bug_deltas_block>(), false);
  CompressionOperation o;
  for (unsigned i = 16; i < 64; ++i) o.components[i] = 5;
  CHECK(c.ask(o) == CompressionVerdict{true, DeltaCode{}, 4});
}
TEST_CASE("compression units in RTL: lanes that they are not built for are refused") {
  add_aging_compression_rtl();
  cosim::TwinOptions options;
  options.implementation = "lockstep";
  CHECK_NOTHROW(compression_twins().validate(options, {32}));
  CHECK_THROWS_WITH(compression_twins().validate(options, {48}),
                    Contains("a register has 48 lanes; expected 32 or 64"));
  CHECK_THROWS_WITH(decompression_twins().validate(options, {128}),
                    Contains("a register has 128 lanes; expected 32 or 64"));
}

TEST_CASE("compression unit in RTL, seeded bug: upper bits of a difference") {
  compression_bug<compression_bug_deltas_high>();
}
TEST_CASE("compression unit in RTL, seeded bug: block deltas that are no power of two") {
  compression_bug<compression_bug_deltas_power>();
}
TEST_CASE("compression unit in RTL, seeded bug: no comparison with the sub-wavefront before") {
  compression_bug<compression_bug_deltas_block>();
}
TEST_CASE("compression unit in RTL, seeded bug: the state machine forgets a sub-wavefront") {
  compression_bug<compression_bug_control_idle>();
}
TEST_CASE("decompression unit in RTL, seeded bug: a zero delta is shifted") {
  decompression_bug<decompression_bug_block_zero>();
}
TEST_CASE("decompression unit in RTL, seeded bug: a first-level adder of 9 bits") {
  decompression_bug<decompression_bug_block_narrow>();
}
TEST_CASE("decompression unit in RTL, seeded bug: one count for both blocks") {
  decompression_bug<decompression_bug_unit_count>();
}

// SPDX-License-Identifier: Apache-2.0
//
// The compressor's units in RTL, alone, in lockstep with their models: a million transactions each, with coverage, and
// seeded bugs, which must be found.
#include <regatta/cosim/lockstep.h>
#include <regatta/regless/compressor_pins.h>
#include <regatta/regless/compressor_rtl.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "expander_bug_carry.h"
#include "expander_bug_halves.h"
#include "expander_bug_offset.h"
#include "matcher_bug_halves.h"
#include "matcher_bug_pipe.h"
#include "matcher_bug_stride.h"
#include "matcher_bug_width.h"
#include "units_traffic.h"

using namespace regatta;
using Catch::Matchers::Contains;
using models::CompressedValue;
using models::WarpValue;
using test::UnitCoverage;
using test::UnitTraffic;

namespace {

/// Asks a lookup port in most cycles, until it has asked `count` times.
template <class Request, class Answer>
class Driver final : public sc_core::sc_module, protocol::LookupClient<Answer> {
 public:
  protocol::LookupInitiator<Request, Answer> lookups{"lookup", *this};
  /// `next` makes a request, `met` sees it with its answer.
  Driver(const sc_core::sc_module_name& name, support::ClockDomain& clock, std::uint64_t count,
         std::function<Request()> next, std::function<void(const Request&, const Answer&)> met)
      : sc_module(name),
        clock_(clock),
        count_(count),
        next_(std::move(next)),
        met_(std::move(met)),
        client_(
            clock, [](void* d) { static_cast<Driver*>(d)->work(); }, this) {
    request_ = next_();
    client_.request(1);
  }
  std::uint64_t asked() const { return asked_; }

 private:
  void work() {
    const std::uint64_t now = clock_.now();
    Answer answer{};
    if (lookups.requests->look_up(request_, static_cast<std::uint32_t>(asked_), answer) !=
        protocol::LookupReply::busy) {
      met_(request_, answer);
      ++asked_;
      request_ = next_();
    }
    if (asked_ != count_) client_.request(now + 1 + (random_() % 8 == 0 ? random_() % 6 : 0));
  }
  void answered(std::uint32_t, const Answer&) override { FAIL("lockstep answers at once"); }

  support::ClockDomain& clock_;
  std::uint64_t count_, asked_ = 0;
  std::function<Request()> next_;
  std::function<void(const Request&, const Answer&)> met_;
  Request request_{};
  std::mt19937 random_{5};
  support::CycleClient client_;
};

/// Cases run side by side in one folder: each process has a waveform of its own.
const std::string& waveform_path() {
  static const std::string path = "compressor_rtl_test." + std::to_string(getpid()) + ".fst";
  return path;
}

template <class Model, class Request, class Answer>
struct UnitBench {
  UnitBench(cosim::PinsFactory<Request, Answer> pins, unsigned latency, unsigned refused, std::uint64_t count,
            std::function<Request()> next, std::function<void(const Request&, const Answer&)> met)
      : transactor("rtl", transactor_config(refused), test::clock(period), std::move(pins)),
        model("model"),
        lockstep("lockstep", lockstep_config(refused == 0 ? latency : 0), test::clock(period), model.lookups,
                 transactor),
        driver("driver", test::clock(period), count, std::move(next), std::move(met)) {
    driver.lookups.bind(lockstep.lookups);
  }
  static cosim::TransactorConfig transactor_config(unsigned refused) {
    cosim::TransactorConfig c;
    c.window = 100;
    c.refuse_answers = refused;
    return c;
  }
  static cosim::LockstepConfig lockstep_config(unsigned latency) {
    cosim::LockstepConfig c;
    c.latency = latency;
    c.waveform = waveform_path();
    return c;
  }
  void run(std::uint64_t count) {
    while (lockstep.compared() != count) sc_core::sc_start(10000 * period);
  }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  cosim::Transactor<Request, Answer> transactor;
  Model model;
  cosim::Lockstep<Request, Answer> lockstep;
  Driver<Request, Answer> driver;
};
using MatcherBench = UnitBench<models::PatternMatcher, WarpValue, CompressedValue>;
using ExpanderBench = UnitBench<models::PatternExpander, CompressedValue, WarpValue>;

constexpr std::uint64_t many = 1000000;

void match_many(const models::MatcherPinsFactory& pins, unsigned latency, unsigned refused, std::uint64_t count,
                const char* name = nullptr) {
  UnitTraffic traffic(latency * 1000 + refused);
  UnitCoverage coverage;
  MatcherBench b(
      pins, latency, refused, count, [&] { return traffic.value(); },
      [&](const WarpValue&, const CompressedValue& a) { coverage.add(a.pattern, traffic.defect()); });
  b.run(count);
  if (name == nullptr) return;
  coverage.print(name, "by pattern: as made, a bit off, a lane + 1, a lane - 1, lanes from one on");
  for (unsigned p = 0; p < models::pattern_count; ++p) CHECK(coverage.met[p][0] > count / 200);
  for (unsigned d = 1; d < 5; ++d) CHECK(coverage.met[0][d] > count / 50);
}

void expand_many(const models::ExpanderPinsFactory& pins, unsigned latency, unsigned refused, std::uint64_t count,
                 const char* name = nullptr) {
  UnitTraffic traffic(latency * 1000 + refused);
  UnitCoverage coverage;
  ExpanderBench b(
      pins, latency, refused, count, [&] { return traffic.compressed(); },
      [&](const CompressedValue& c, const WarpValue& lanes) {
        // Carries out of the lower 16 bits within a half, of the first, of the second.
        const bool first = (lanes[0] ^ lanes[15]) >> 16 != 0, second = (lanes[16] ^ lanes[31]) >> 16 != 0;
        coverage.add(c.pattern, (first ? 1 : 0) + (second ? 2 : 0));
      });
  b.run(count);
  if (name == nullptr) return;
  coverage.print(name, "by pattern: no carry, in lanes 0-15, in lanes 16-31, in both, -");
  for (unsigned p = 1; p < models::pattern_count; ++p) CHECK(coverage.met[p][0] > count / 20);
  for (unsigned p = 2; p < models::pattern_count; ++p) CHECK(coverage.met[p][1] + coverage.met[p][3] > count / 200);
}

/// Runs until a difference; its report has both answers, and there is a waveform with the pins.
template <class Run>
void must_find(const Run& run, const std::string& pin) {
  std::string report;
  try {
    run();
  } catch (const std::exception& e) {
    report = e.what();
  }
  std::printf("%.400s\n", report.c_str());
  REQUIRE_THAT(report, Contains("another answer of the RTL to the request of cycle") && Contains("\n  model   ") &&
                           Contains("\n  RTL     ") && Contains("waveform of the last "));
  REQUIRE(std::ifstream(waveform_path()).good());
  if (std::system("command -v fst2vcd >/dev/null") == 0) {
    const std::string vcd_path = waveform_path() + ".vcd";
    REQUIRE(std::system(("fst2vcd -f " + waveform_path() + " -o " + vcd_path).c_str()) == 0);
    std::ifstream vcd(vcd_path);
    const std::string text{std::istreambuf_iterator<char>(vcd), {}};
    CHECK_THAT(text, Contains(pin) && Contains("rsp_valid"));
    std::remove(vcd_path.c_str());
  }
  std::remove(waveform_path().c_str());
}

template <class Top>
void matcher_bug(unsigned refused = 0) {
  must_find([&] { match_many(models::matcher_pins_of<Top>(), 2, refused, many); }, "req_lanes");
}
template <class Top>
void expander_bug() {
  must_find([] { expand_many(models::expander_pins_of<Top>(), 2, 0, many); }, "req_slot");
}

}  // namespace

TEST_CASE("matcher in RTL: a million values") { match_many(models::matcher_rtl(2), 2, 0, many, "matcher"); }
TEST_CASE("matcher in RTL: one register") { match_many(models::matcher_rtl(1), 1, 0, many / 10); }
TEST_CASE("matcher in RTL: three registers") { match_many(models::matcher_rtl(3), 3, 0, many / 10); }
TEST_CASE("matcher in RTL: answers that wait") { match_many(models::matcher_rtl(2), 2, 400, many / 10); }
TEST_CASE("matcher in RTL: three registers, answers that wait") {
  match_many(models::matcher_rtl(3), 3, 700, many / 10);
}
TEST_CASE("expander in RTL: a million slots") { expand_many(models::expander_rtl(2), 2, 0, many, "expander"); }
TEST_CASE("expander in RTL: one register") { expand_many(models::expander_rtl(1), 1, 0, many / 10); }
TEST_CASE("expander in RTL: three registers, answers that wait") {
  expand_many(models::expander_rtl(3), 3, 600, many / 10);
}

TEST_CASE("matcher in RTL, seeded bug: 16 bits of a difference") { matcher_bug<matcher_bug_width>(); }
TEST_CASE("matcher in RTL, seeded bug: a stride of 5 for 4") { matcher_bug<matcher_bug_stride>(); }
TEST_CASE("matcher in RTL, seeded bug: halves that do not continue") { matcher_bug<matcher_bug_halves>(); }
TEST_CASE("matcher in RTL, seeded bug: a stall overwrites a register") { matcher_bug<matcher_bug_pipe>(400); }
TEST_CASE("expander in RTL, seeded bug: the second base of half4") { expander_bug<expander_bug_halves>(); }
TEST_CASE("expander in RTL, seeded bug: offsets of lanes 8 to 15") { expander_bug<expander_bug_offset>(); }
TEST_CASE("expander in RTL, seeded bug: no carry into bit 16") { expander_bug<expander_bug_carry>(); }

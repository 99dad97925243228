// SPDX-License-Identifier: Apache-2.0
//
// Random operations on a model's state and on a twin in RTL.
#pragma once

#include <regatta/cosim/direct_transactor.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>
#include <regatta/wir/wir_rtl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>

namespace regatta::test {

constexpr std::uint64_t many_operations = 1000000;
/// A file for each bug: tests run at the same time.
inline std::string rtl_waveform = "unused.fst";

/// A twin in RTL, alone or compared.
template <class Operation, class Result>
struct RtlBench {
  RtlBench(cosim::PinsFactory<Operation, Result> pins, unsigned edges, bool compare = true)
      : twin(twin_config(), direct_config(edges, compare), std::move(pins)) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static cosim::TwinConfig twin_config() {
    cosim::TwinConfig c;
    c.name = "twin";
    c.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
    c.options.waveform = rtl_waveform;
    c.options.waveform_cycles = 100;
    return c;
  }
  static cosim::DirectConfig direct_config(unsigned edges, bool compare) {
    cosim::DirectConfig c;
    c.edges = edges;
    c.compare = compare;
    return c;
  }
  cosim::DirectTransactor<Operation, Result> twin;
};

/// Random numbers: the same on every host.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
  unsigned below(unsigned n) { return word() % n; }
  bool one_in(unsigned n) { return below(n) == 0; }

 private:
  std::mt19937 random_;
};

/// Runs until a difference. Its report has both results, and there is a waveform with the pin. `bug` names the file.
template <class Run>
void must_differ(const Run& run, const std::string& bug, const std::string& pin) {
  rtl_waveform = bug + "_bug.fst";
  std::remove(rtl_waveform.c_str());
  std::string report;
  try {
    run();
  } catch (const std::exception& e) {
    report = e.what();
  }
  std::printf("%.600s\n", report.c_str());
  using Catch::Matchers::Contains;
  REQUIRE_THAT(report, Contains("another result of the RTL, after ") && Contains("\n  operation ") &&
                           Contains("\n  model     ") && Contains("\n  RTL       ") &&
                           Contains("waveform of the last ") && !Contains("missing"));
  const bool there = static_cast<bool>(std::ifstream(rtl_waveform));
  REQUIRE(there);
  // fst2vcd is GTKWave's; without it the file's existence has to do.
  if (std::system("command -v fst2vcd >/dev/null") != 0) return;
  REQUIRE(std::system(("fst2vcd -f " + rtl_waveform + " -o " + rtl_waveform + ".vcd").c_str()) == 0);
  std::ifstream vcd(rtl_waveform + ".vcd");
  const std::string text{std::istreambuf_iterator<char>(vcd), {}};
  CHECK_THAT(text, Contains(pin) && Contains("rsp_valid"));
}

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// regatta-bench: what `make bench` prints.
#include <regatta/base/output_file.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "bench.h"
#include "emulation.h"
#include "scheme_speed.h"
#include "whole_run.h"

namespace {

using namespace regatta::bench;

constexpr const char* usage =
    "usage: regatta-bench [--json FILE] [--rounds N] [KERNEL...]\n"
    "       regatta-bench --schemes A,B,... [--machine M] [--rounds N] [KERNEL...]\n\n"
    "Measures the emulator and the traces of the kernels of traces/kernels, all of them unless some are named, then\n"
    "regatta-sim on gtx980 with one SM, on vector_add, sgemm, hotspot and bfs unless others are named. Takes the best\n"
    "of N rounds (7) of the emulator; the rates of regatta-sim are over the time of all rounds, which alternate\n"
    "between its modes. Traces are annotated into the build folder once.\n\n"
    "With --schemes: cycles per second under each scheme, relative to the baseline, on machine M (gtx980).\n";

struct Options {
  std::string json;
  unsigned rounds = 7;
  std::vector<std::string> kernels;  ///< none: the usual ones
  std::vector<std::string> schemes;  ///< none: the usual tables
  std::string machine = "gtx980";    ///< of --schemes
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv) {
  const std::vector<std::string> known = kernel_names();
  Options o;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--json" || a == "--rounds" || a == "--schemes" || a == "--machine") {
      if (++i == arguments.size()) throw UsageError(a + ": a value is missing");
      if (a == "--json") {
        o.json = arguments[i];
      } else if (a == "--machine") {
        o.machine = arguments[i];
      } else if (a == "--schemes") {
        std::istringstream names(arguments[i]);
        for (std::string name; std::getline(names, name, ',');) o.schemes.push_back(name);
      } else if (arguments[i].size() > 3 || arguments[i].find_first_not_of("0123456789") != std::string::npos ||
                 std::stoul("0" + arguments[i]) == 0) {
        throw UsageError("--rounds: expected an integer from 1 to 999, found '" + arguments[i] + "'");
      } else {
        o.rounds = static_cast<unsigned>(std::stoul(arguments[i]));
      }
    } else if (std::find(known.begin(), known.end(), a) != known.end()) {
      o.kernels.push_back(a);
    } else {
      throw UsageError("unknown argument '" + a + "'");
    }
  }
  return o;
}

}  // namespace

// libsystemc, which support links, brings main().
int sc_main(int argc, char** argv) {
  try {
    if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
      std::cout << usage;
      return 0;
    }
    const Options o = parse(argc, argv);
    const bool usual = o.kernels.empty();
    if (!o.schemes.empty()) {
      std::vector<SchemeSpeed> speeds;
      for (const std::string& k : usual ? kernel_names() : o.kernels) {
        speeds.push_back(measure_schemes(k, o.machine, o.schemes, o.rounds));
      }
      print(speeds, o.machine, o.schemes);
      return 0;
    }
    const std::vector<Emulation> emulations = measure_emulation(usual ? kernel_names() : o.kernels, o.rounds);
    print(emulations);
    std::cout << "\n" << std::flush;
    std::vector<WholeRun> runs;
    const std::vector<std::string> simulated{"vector_add", "sgemm", "hotspot", "bfs"};
    for (const std::string& k : usual ? simulated : o.kernels) runs.push_back(measure_whole_run(k, o.rounds));
    print(runs);
    if (!o.json.empty()) {
      nlohmann::ordered_json d;
      d["machine"] = "gtx980";
      d["sms"] = 1;
      d["rounds"] = o.rounds;
      d["unit"] = "warp instructions per second";
      d["kernels"] = document(runs);
      d["emulation"] = document(emulations);
      regatta::base::write_file(o.json, d.dump(2) + "\n");
    }
    return 0;
  } catch (const UsageError& e) {
    std::cerr << "regatta-bench: " << e.what() << "\n" << usage;
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "regatta-bench: " << e.what() << "\n";
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// regatta-bench: how fast whole runs are. The kernels of traces/kernels at full size on gtx980 with one SM, each
// (a) replayed, (b) simulated with the value checker, (c) simulated without; the best of some rounds of a, b, c, a, b,
// c, ..., so that whatever else the machine does hits all three alike. Figures are regatta-sim's own ("host").
#include <regatta/support/atomic_file.h>
#include <regatta/support/table.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr const char* usage =
    "usage: regatta-bench [--json FILE] [--rounds N] [KERNEL...]\n\n"
    "Measures regatta-sim on the kernels of traces/kernels (all of them unless some are named), on gtx980 with one\n"
    "SM. Takes the best of N rounds (3). Traces are annotated into the build folder once.\n";

struct Options {
  std::string json;
  unsigned rounds = 3;
  std::vector<std::string> kernels;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv) {
  const std::vector<std::string> known{"vector_add", "sgemm", "hotspot", "bfs"};
  Options o;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--json" || a == "--rounds") {
      if (++i == arguments.size()) throw UsageError(a + ": a value is missing");
      if (a == "--json") {
        o.json = arguments[i];
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
  if (o.kernels.empty()) o.kernels = known;
  return o;
}

/// Runs a program with its standard output thrown away.
void run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (process == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::string text;
  for (const std::string& a : command) text += (text.empty() ? "" : " ") + a;
  throw std::runtime_error("failed: " + text);
}

/// The trace of a kernel, made anew when it is older than what it is made from.
std::string trace_of(const std::string& kernel) {
  const fs::path sources = fs::path(REGATTA_KERNELS) / kernel;
  const fs::path trace = fs::path(REGATTA_BENCH_DIRECTORY) / (kernel + ".rgt");
  bool fresh = fs::exists(trace);
  if (fresh) {
    const auto made = fs::last_write_time(trace);
    fresh = fs::last_write_time(REGATTA_ANNOTATE) <= made;
    for (const auto& source : fs::directory_iterator(sources)) fresh = fresh && fs::last_write_time(source) <= made;
  }
  if (!fresh) {
    fs::create_directories(trace.parent_path());
    std::cerr << "annotating " << kernel << "\n";
    run({REGATTA_ANNOTATE, "--launch", (sources / "launch.toml").string(), "--out", trace.string()});
  }
  return trace.string();
}

enum Mode : unsigned { replayed, checked, unchecked, mode_count };

struct Measurement {
  std::string kernel;
  std::uint64_t warp_instructions = 0;
  std::uint64_t cycles = 0;
  std::array<double, mode_count> rate{};  ///< warp instructions per second, the best
  double peak_rss_mib = 0;                ///< of the checked simulation
  double ratio() const { return rate[checked] / rate[replayed]; }
};

Measurement measure(const std::string& kernel, unsigned rounds) {
  const std::string trace = trace_of(kernel);
  const std::string stats = (fs::path(REGATTA_BENCH_DIRECTORY) / "stats.json").string();
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  Measurement m;
  m.kernel = kernel;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned mode = 0; mode < mode_count; ++mode) {
      std::vector<std::string> command{REGATTA_SIM, trace, "--machine", "gtx980", "--sms", "1", "--stats", stats};
      if (mode == replayed) command.emplace_back("--replay");
      if (mode == unchecked) command.emplace_back("--no-check");
      if (terminal) std::cerr << "\r" << kernel << " round " << round + 1 << " of " << rounds << "    " << std::flush;
      run(command);
      const auto document = nlohmann::json::parse(regatta::support::read_text_file(stats));
      const auto& host = document.at("host");
      m.rate[mode] = std::max(m.rate[mode], host.at("warp_instructions_per_second").get<double>());
      if (mode != checked) continue;
      m.warp_instructions = document.at("warp_instructions").get<std::uint64_t>();
      m.cycles = document.at("cycles").get<std::uint64_t>();
      m.peak_rss_mib = host.at("peak_rss_mib").get<double>();
    }
  }
  if (terminal) std::cerr << "\r" << std::string(40, ' ') << "\r" << std::flush;
  return m;
}

void print(const std::vector<Measurement>& all) {
  using regatta::support::fixed;
  using regatta::support::Table;
  using regatta::support::with_thousands;
  const auto right = Table::Align::right;
  Table table({{"kernel"},
               {"warp instructions", right},
               {"cycles", right},
               {"(a) replay", right},
               {"(b) checked", right},
               {"(c) unchecked", right},
               {"b/a", right},
               {"b/c", right},
               {"MiB", right}});
  for (const Measurement& m : all) {
    table.row({m.kernel, with_thousands(m.warp_instructions), with_thousands(m.cycles),
               fixed(m.rate[replayed] / 1e6, 2), fixed(m.rate[checked] / 1e6, 2), fixed(m.rate[unchecked] / 1e6, 2),
               "1/" + fixed(1 / m.ratio(), 1), fixed(m.rate[checked] / m.rate[unchecked], 2),
               fixed(m.peak_rss_mib, 0)});
  }
  std::cout << "gtx980, one SM; (a), (b), (c) in million warp instructions per second\n\n" << table.str();
}

nlohmann::ordered_json document(const std::vector<Measurement>& all, unsigned rounds) {
  nlohmann::ordered_json d;
  d["machine"] = "gtx980";
  d["sms"] = 1;
  d["rounds"] = rounds;
  d["unit"] = "warp instructions per second";
  d["kernels"] = nlohmann::ordered_json::array();
  for (const Measurement& m : all) {
    d["kernels"].push_back({{"kernel", m.kernel},
                            {"warp_instructions", m.warp_instructions},
                            {"cycles", m.cycles},
                            {"replay", m.rate[replayed]},
                            {"checked", m.rate[checked]},
                            {"unchecked", m.rate[unchecked]},
                            {"checked_over_replay", m.ratio()},
                            {"peak_rss_mib", m.peak_rss_mib}});
  }
  return d;
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
    std::vector<Measurement> all;
    for (const std::string& kernel : o.kernels) all.push_back(measure(kernel, o.rounds));
    print(all);
    if (!o.json.empty()) regatta::support::write_text_file(o.json, document(all, o.rounds).dump(2) + "\n");
    return 0;
  } catch (const UsageError& e) {
    std::cerr << "regatta-bench: " << e.what() << "\n" << usage;
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "regatta-bench: " << e.what() << "\n";
    return 1;
  }
}

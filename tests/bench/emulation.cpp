// SPDX-License-Identifier: Apache-2.0
#include "emulation.h"

#include <regatta/support/table.h>
#include <regatta/tool/annotate.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench.h"

namespace regatta::bench {
namespace {

Trace read_trace(const std::string& kernel) {
  const std::string path = trace_of(kernel);
  show_progress(kernel + ", reading its trace");
  Trace t;
  t.bytes = std::filesystem::file_size(path);
  t.replay_mib = run({REGATTA_SIM, path, "--machine", "gtx980", "--sms", "1", "--replay"});
  t.verify_mib = run({REGATTA_TRACE, "verify", path});
  return t;
}

Emulation emulate(const std::string& kernel, unsigned rounds) {
  Emulation e;
  e.kernel = kernel;
  for (unsigned round = 0; round < rounds; ++round) {
    show_progress(kernel + ", emulation " + std::to_string(round + 1) + " of " + std::to_string(rounds));
    tool::AnnotateOptions o;
    o.launch = launch_path(kernel);
    const tool::AnnotateResult r = tool::annotate(o);
    e.warp_instructions = e.thread_instructions = 0;
    for (const tool::LaunchReport& l : r.launches) {
      e.warp_instructions += l.warp_instructions;
      e.thread_instructions += l.thread_instructions;
    }
    e.rate = std::max(e.rate, static_cast<double>(e.thread_instructions) / r.seconds);
  }
  return e;
}

double mean_bytes(const std::vector<Emulation>& all) {
  double sum = 0;
  for (const Emulation& e : all) sum += e.bytes_per_instruction();
  return sum / static_cast<double>(all.size());
}

}  // namespace

std::vector<Emulation> measure_emulation(const std::vector<std::string>& kernels, unsigned rounds) {
  std::vector<Trace> traces;
  for (const std::string& k : kernels) traces.push_back(read_trace(k));
  std::vector<Emulation> all;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    all.push_back(emulate(kernels[i], rounds));
    all.back().trace = traces[i];
  }
  show_progress("");
  return all;
}

void print(const std::vector<Emulation>& all) {
  using support::fixed;
  using support::Table;
  using support::with_thousands;
  const auto right = Table::Align::right;
  Table table({{"kernel"},
               {"warp instructions", right},
               {"thread instructions", right},
               {"emulator", right},
               {"trace MiB", right},
               {"bytes per warp instruction", right},
               {"replay MiB", right},
               {"verify MiB", right}});
  for (const Emulation& e : all) {
    table.row({e.kernel, with_thousands(e.warp_instructions), with_thousands(e.thread_instructions),
               fixed(e.rate / 1e6, 0), fixed(static_cast<double>(e.trace.bytes) / (1 << 20), 1),
               fixed(e.bytes_per_instruction(), 1), fixed(e.trace.replay_mib, 0), fixed(e.trace.verify_mib, 0)});
  }
  table.row({"mean", "", "", "", "", fixed(mean_bytes(all), 1), "", ""});
  std::cout
      << "emulator: million thread instructions per second without a trace; replay, verify: peak memory of reading "
         "the trace\n\n"
      << table.str();
}

nlohmann::ordered_json document(const std::vector<Emulation>& all) {
  auto kernels = nlohmann::ordered_json::array();
  for (const Emulation& e : all) {
    kernels.push_back({{"kernel", e.kernel},
                       {"warp_instructions", e.warp_instructions},
                       {"thread_instructions", e.thread_instructions},
                       {"thread_instructions_per_second", e.rate},
                       {"trace_bytes", e.trace.bytes},
                       {"trace_bytes_per_warp_instruction", e.bytes_per_instruction()},
                       {"replay_peak_mib", e.trace.replay_mib},
                       {"verify_peak_mib", e.trace.verify_mib}});
  }
  return kernels;
}

}  // namespace regatta::bench

// SPDX-License-Identifier: Apache-2.0
//
// How fast the emulator is, and what traces cost: kernels at full size, from nvcc's PTX. The emulator runs in this
// process without writing a trace, the best of some rounds; a trace is read by `regatta-sim --replay` and by
// `regatta-trace verify`, whose peak memory is shown.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace regatta::bench {

struct Trace {
  std::uint64_t bytes = 0;
  double replay_mib = 0;  ///< peak memory of the programs that read it
  double verify_mib = 0;
};

struct Emulation {
  std::string kernel;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  double rate = 0;  ///< thread instructions per second, the best
  Trace trace;
  double bytes_per_instruction() const {
    return static_cast<double>(trace.bytes) / static_cast<double>(warp_instructions);
  }
};

/// `rounds` counts emulations. Traces are read first, all of them: see run() of bench.h.
std::vector<Emulation> measure_emulation(const std::vector<std::string>& kernels, unsigned rounds);
void print(const std::vector<Emulation>& all);
nlohmann::ordered_json document(const std::vector<Emulation>& all);

}  // namespace regatta::bench

// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <regatta/base/suggestion.h>
#include <regatta/trace/types.h>

#include <cstdio>

namespace regatta::capture {

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint32_t kib = 1024, mib = 1024 * 1024;

struct Known {
  const char* name;
  const char* full_name;
  std::uint32_t major, minor, multiprocessors;
  std::uint64_t memory;
  std::uint32_t opt_in, per_multiprocessor, registers, threads, ctas;  ///< shared bytes, registers, of a multiprocessor
  std::uint32_t l2, bus_bits, clock_khz, memory_clock_khz;
  std::uint32_t persisting_l2 = 0, access_policy_window = 0;  ///< bytes; as an H100's cudaDeviceProp says
};

constexpr Known devices[] = {
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 80 * gib, 227 * kib, 228 * kib, 65536, 2048, 32, 50 * mib, 5120,
     1980000, 2619000, 32768000, 128 * mib},
    {"rtx_a6000", "NVIDIA RTX A6000", 8, 6, 84, 48 * gib, 99 * kib, 100 * kib, 65536, 1536, 16, 6 * mib, 384, 1800000,
     8001000},
    {"rtx_2080ti", "NVIDIA GeForce RTX 2080 Ti", 7, 5, 68, 11 * gib, 64 * kib, 64 * kib, 65536, 1024, 16, 5632 * kib,
     352, 1545000, 7000000},
    {"gtx980", "NVIDIA GeForce GTX 980", 5, 2, 16, 4 * gib, 48 * kib, 96 * kib, 65536, 2048, 32, 2 * mib, 256, 1216000,
     3505000},
    {"k20x", "NVIDIA Tesla K20X", 3, 5, 14, 6 * gib, 48 * kib, 48 * kib, 65536, 2048, 16, 1536 * kib, 384, 732000,
     2600000},
    {"gtx480", "NVIDIA GeForce GTX 480", 2, 0, 15, 3 * gib / 2, 48 * kib, 48 * kib, 32768, 1536, 8, 768 * kib, 384,
     1401000, 1848000},
};

}  // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Known& k : devices) names.emplace_back(k.name);
  return names;
}

DeviceDescription device_named(const std::string& name) {
  for (const Known& k : devices) {
    if (name != k.name) continue;
    DeviceDescription d;
    std::snprintf(d.name, sizeof d.name, "%s", k.full_name);
    d.major = k.major;
    d.minor = k.minor;
    d.multiprocessors = k.multiprocessors;
    d.memory = k.memory;
    d.shared_per_cta_opt_in = k.opt_in;
    d.shared_per_multiprocessor = k.per_multiprocessor;
    d.registers_per_cta = d.registers_per_multiprocessor = k.registers;
    d.threads_per_multiprocessor = k.threads;
    d.ctas_per_multiprocessor = k.ctas;
    d.l2_bytes = k.l2;
    d.bus_bits = k.bus_bits;
    d.clock_khz = k.clock_khz;
    d.memory_clock_khz = k.memory_clock_khz;
    d.persisting_l2 = k.persisting_l2;
    d.access_policy_window = k.access_policy_window;
    return d;
  }
  std::string known;
  for (const Known& k : devices) known += (known.empty() ? "" : ", ") + std::string(k.name);
  throw trace::InputError("error: --device '" + name + "', expected one of " + known +
                          base::suggestion(name, device_names()));
}

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
#include "memory_use.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace regatta::assembly {

double MemoryUse::most() const { return std::max({dram, l2, interconnect, l1}); }

NextLimit MemoryUse::next_limit() const {
  const double share = most();
  return {share, share == dram           ? "DRAM"
                 : share == interconnect ? "the interconnect"
                 : share == l2           ? "the L2"
                                         : "the L1"};
}

MemoryUse memory_use(const SimulationResult& r, unsigned sms, unsigned l2_banks) {
  MemoryUse use;
  double channels = 0;
  const double cycles = std::max<double>(1, double(r.cycles));
  const auto value = [](const nlohmann::ordered_json& group, const char* name) {
    return group.contains(name) ? group.at(name).get<double>() : 0.0;
  };
  for (const auto& [path, group] : r.stats.items()) {
    if (path.rfind("memory.dram_", 0) == 0) {
      use.dram += value(group, "busy_cycles");
      ++channels;
    } else if (path.rfind("memory.l2_", 0) == 0) {
      use.l2 = std::max(use.l2, value(group, "busy_cycles") / cycles / l2_banks);
    } else if (path == "memory.interconnect") {
      use.interconnect = std::max(value(group, "response_flits"), value(group, "request_flits")) / cycles / sms;
    } else if (path.size() > 3 && path.compare(path.size() - 3, 3, ".l1") == 0) {
      use.l1 += value(group, "busy_cycles") / cycles / sms;
      use.mshrs += (value(group, "waited_mshr") + value(group, "waited_merge")) / cycles / sms;
      use.miss_queue += value(group, "waited_miss_queue") / cycles / sms;
    } else {
      use.banks += value(group, "shared_passes") / cycles / sms;
    }
  }
  if (channels != 0) use.dram /= cycles * channels;
  return use;
}

}  // namespace regatta::assembly

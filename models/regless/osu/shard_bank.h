// SPDX-License-Identifier: Apache-2.0
//
// What a shard keeps of each of its banks.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/regless/osu_bank.h>

#include "fixed_queue.h"

#include <cstdint>
#include <tlm>

namespace regatta::models {

/// A bank, and what waits for it.
struct alignas(64) ShardBank {
  /// A request of the capacity manager.
  struct Request {
    enum class Kind : std::uint8_t { preload, last_preload, invalidate };
    std::uint64_t since = 0;  ///< cycle in which it came
    protocol::WarpSlot warp;
    protocol::RegisterId reg;
    Kind kind = Kind::preload;
  };
  /// A value that came from memory.
  struct Fill {
    std::uint64_t ready = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint16_t line = no_line;
    protocol::Supplier supplier = protocol::Supplier::unknown;
  };

  ShardBank(const sc_core::sc_module_name& name, unsigned number, const OsuBankConfig& config, unsigned buffer)
      : requests(config.lines), fills(config.lines), index(number), readouts(buffer), module(name, config) {}

  // What waits for a port that no instruction uses; whether it does is seen in one line of the host's cache.
  FixedQueue<Request> requests;  ///< one place per line (section 5.1)
  FixedQueue<Fill> fills;
  unsigned index;                     ///< among the banks of the shard
  FixedQueue<std::uint8_t> readouts;  ///< places of the write-back buffer whose values are still in their lines
  OsuBank module;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// What a shard keeps of each of its banks.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/regless/osu_bank.h>
#include <regatta/regless/staging_unit.h>

#include "fixed_queue.h"

#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

namespace regatta::models {

/// Whose a line is, what is outstanding at it, and what becomes of it then.
struct alignas(8) LineUse {
  /// owned by a region; filling: the same, and the value is on its way; dropped: it is, and its warp has ended.
  enum class State : std::uint8_t { listed, owned, filling, dropped };

  State state = State::listed;
  LastUse fate = LastUse::none;        ///< when no access is outstanding
  std::uint8_t reads = 0, writes = 0;  ///< outstanding
  std::uint8_t readout = 0;  ///< place of the write-back buffer, plus 1, whose value is still to be read out of here
};

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
      : module(std::make_unique<OsuBank>(name, config)),
        index(number),
        uses(config.lines),
        requests(config.lines),
        fills(config.lines),
        readouts(buffer) {}

  std::unique_ptr<OsuBank> module;
  unsigned index;             ///< among the banks of the shard
  std::vector<LineUse> uses;  ///< by line
  // What waits for a port that no instruction uses.
  FixedQueue<Request> requests;  ///< one place per line (section 5.1)
  FixedQueue<Fill> fills;
  FixedQueue<std::uint8_t> readouts;  ///< places of the write-back buffer whose values are still in their lines
};

}  // namespace regatta::models

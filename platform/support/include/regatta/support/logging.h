// SPDX-License-Identifier: Apache-2.0
//
// Messages: spdlog on stderr, so stdout holds only results. SystemC's reports go the same way, and every program that
// uses a function of this header suppresses SystemC's copyright banner.
#pragma once

#include <string>
#include <vector>

namespace regatta::support {

/// The values of --log-level, most verbose first.
const std::vector<std::string>& log_levels();

/// Sets spdlog's default logger to stderr (coloured on a terminal) in the format "warning: text". Throws ConfigError if
/// `level` is unknown. May be called again to change the level.
void setup_logging(const std::string& level = "info");

/// Routes SystemC reports into spdlog by severity: INFO at debug, WARNING at warn, ERROR at error, FATAL at critical.
/// SystemC's actions are unchanged (SC_ERROR throws), except that SC_FATAL also throws instead of aborting, so a tool
/// ends with its exit status and its partial results.
void route_systemc_reports();

}  // namespace regatta::support

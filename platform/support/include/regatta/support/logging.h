// SPDX-License-Identifier: Apache-2.0
//
// Messages: spdlog on stderr, so that stdout holds results only. SystemC's reports go the same way, and its
// copyright banner is silent in every program that uses a function of this header.
#pragma once

#include <string>
#include <vector>

namespace regatta::support {

/// The names --log-level takes, most talkative first.
const std::vector<std::string>& log_levels();

/// Sets spdlog's default logger to stderr (coloured on a terminal) as "warning: text". ConfigError when `level` is no
/// level. May be called again to change the level.
void setup_logging(const std::string& level = "info");

/// Routes SystemC reports into spdlog by severity: INFO at debug, WARNING at warn, ERROR at error, FATAL at critical.
/// The actions stay SystemC's (SC_ERROR throws), except that SC_FATAL throws as well instead of aborting, so that a
/// tool ends with its exit status and its partial results.
void route_systemc_reports();

}  // namespace regatta::support

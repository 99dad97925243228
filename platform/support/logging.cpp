// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/suggestion.h>
#include <regatta/support/config.h>
#include <regatta/support/logging.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <systemc>

#include "option_value.h"

namespace regatta::support {
namespace {

// SystemC prints its banner between main() and sc_main(), so the variable must be set before main().
[[maybe_unused]] const int banner_off = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);

spdlog::level::level_enum level_of(sc_core::sc_severity severity) {
  switch (severity) {
    case sc_core::SC_INFO:
      return spdlog::level::debug;
    case sc_core::SC_WARNING:
      return spdlog::level::warn;
    case sc_core::SC_ERROR:
      return spdlog::level::err;
    default:
      return spdlog::level::critical;
  }
}

void handle(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  constexpr sc_core::sc_actions shown = sc_core::SC_DISPLAY | sc_core::SC_LOG;
  if ((actions & shown) != 0) {
    const std::string process = report.get_process_name() == nullptr ? "" : report.get_process_name();
    spdlog::log(level_of(report.get_severity()), "{}: {}{}", report.get_msg_type(), report.get_msg(),
                process.empty() ? "" : " (in " + process + " at " + report.get_time().to_string() + ")");
  }
  sc_core::sc_report_handler::default_handler(report, actions & ~shown);
}

}  // namespace

const std::vector<std::string>& log_levels() {
  static const std::vector<std::string> levels{"trace", "debug", "info", "warn", "error", "off"};
  return levels;
}

void setup_logging(const std::string& level) {
  const auto& levels = log_levels();
  if (std::find(levels.begin(), levels.end(), level) == levels.end()) {
    std::string known;
    for (const std::string& name : levels) known += (known.empty() ? "" : ", ") + name;
    throw ConfigError("log level: expected one of " + known + ", found '" + level + "'" +
                      nearest_clause(base::nearest(level, levels)));
  }
  auto logger = std::make_shared<spdlog::logger>("regatta", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void route_systemc_reports() {
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL,
                                          sc_core::SC_LOG | sc_core::SC_CACHE_REPORT | sc_core::SC_THROW);
  sc_core::sc_report_handler::set_handler(handle);
}

}  // namespace regatta::support

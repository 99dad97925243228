// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/logging.h>
#include <regatta/test/catch.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <sstream>
#include <systemc>

#include "thrown.h"

using namespace regatta::support;

namespace {
/// The default logger writes to a string for the length of a test.
struct Capture {
  std::ostringstream text;
  Capture() {
    setup_logging("debug");
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    sink->set_pattern("%l: %v");
    spdlog::default_logger()->sinks() = {sink};
  }
};
}  // namespace

TEST_CASE("the level decides what is shown") {
  setup_logging("warn");
  CHECK_FALSE(spdlog::should_log(spdlog::level::info));
  CHECK(spdlog::should_log(spdlog::level::warn));
  setup_logging("trace");
  CHECK(spdlog::should_log(spdlog::level::trace));
  for (const std::string& level : log_levels()) CHECK_NOTHROW(setup_logging(level));
  CHECK(thrown([] { setup_logging("wran"); }) ==
        "log level: expected one of trace, debug, info, warn, error, off, found 'wran'; did you mean 'warn'?");
}

TEST_CASE("SystemC reports are routed by severity and errors still throw") {
  Capture capture;
  route_systemc_reports();
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DEFAULT_WARNING_ACTIONS);
  SC_REPORT_INFO("l1", "info text");
  SC_REPORT_WARNING("l1", "warning text");
  CHECK(capture.text.str() == "debug: l1: info text\nwarning: l1: warning text\n");
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_DEFAULT_ERROR_ACTIONS);
  CHECK_THROWS_AS(([] { SC_REPORT_ERROR("l1", "error text"); })(), sc_core::sc_report);
  CHECK_THROWS_AS(([] { SC_REPORT_FATAL("l1", "fatal text"); })(), sc_core::sc_report);
  CHECK(capture.text.str().find("error: l1: error text\ncritical: l1: fatal text\n") != std::string::npos);
}

TEST_CASE("actions set by the user are kept") {
  Capture capture;
  route_systemc_reports();
  sc_core::sc_report_handler::set_actions("quiet", sc_core::SC_DO_NOTHING);
  SC_REPORT_WARNING("quiet", "not shown");
  CHECK(capture.text.str().empty());
}

TEST_CASE("the SystemC banner is off") { CHECK(std::getenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE") != nullptr); }

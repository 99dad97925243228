// SPDX-License-Identifier: Apache-2.0
// main() comes from libsystemc; a SystemC warning or error inside a test fails the test.
#include <systemc>

#include "session.h"

int sc_main(int argc, char** argv) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  return regatta::test::run_cases_alone(argc, argv);
}

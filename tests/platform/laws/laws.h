// SPDX-License-Identifier: Apache-2.0
//
// Timing laws: what a small kernel must take, derived from a machine's configuration alone. A law is a function of the
// machine; each is run on several presets, so that it holds for what it says and not for one set of numbers.
#pragma once

#include "recorder.h"

#include <string>

namespace regatta::test {

/// The preset `name` as regatta-sim would load it, without the command line.
assembly::MachineConfig machine(const std::string& name);

/// Lanes of the machine's warps: what a kernel for it is traced with.
unsigned lanes(const assembly::MachineConfig& m);

}  // namespace regatta::test

/// A law on one machine, as a test case of its own: a SystemC program elaborates once.
#define REGATTA_LAW(LAW, MACHINE) \
  TEST_CASE("law: " #LAW " on " MACHINE) { LAW(#LAW "_" MACHINE, regatta::test::machine(MACHINE)); }

// SPDX-License-Identifier: Apache-2.0
//
// Runs of regatta-sim under warp instruction reuse.
#pragma once

#include <string>
#include <vector>

#include "kernels.h"
#include "process.h"

namespace regatta::test::wir {

/// What --wir.model may be.
extern const std::vector<std::string> models;

ProcessResult run(const std::string& trace, const std::vector<std::string>& knobs,
                  const std::string& machine = "gtx480");
/// The smallest number of physical registers that the program says it takes.
std::string smallest(const std::string& trace);
/// Every model with all, half and as few physical registers as there may be: each run ends with status 0.
void check_all(const std::string& trace, const std::vector<std::string>& knobs);
/// The trace of a program of wir_programs.h. `races`: the race detector is to find some.
std::string annotate(const Folder& folder, const std::string& name, const char* ptx, unsigned ctas, unsigned threads,
                     bool check_races = true, bool races = false);

}  // namespace regatta::test::wir

// SPDX-License-Identifier: Apache-2.0
//
// How the tests' programs run: all cases of a program in one process, or each in a process of its own.
#pragma once

namespace regatta::test {

/// Runs the cases that Catch2's arguments select. `--part I/N` first: every N-th case, from the I-th (from 1).
int run_cases(int argc, char** argv);

/// The same, each case in a process of its own: a SystemC program elaborates once. A case that ends by a signal, or
/// within ten minutes not at all, fails.
int run_cases_alone(int argc, char** argv);

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// How many threads a tool uses of which the user has not said a number.
#pragma once

namespace regatta::base {

/// The processors that this process may run on, at least 1; or what the environment variable REGATTA_THREADS says (1 to
/// max_threads), by which a program that runs several tools at a time shares them out. Throws InputError for another
/// value of that.
unsigned threads();
constexpr unsigned max_threads = 1024;

}  // namespace regatta::base

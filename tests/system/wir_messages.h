// SPDX-License-Identifier: Apache-2.0
//
// Random programs whose warps tell each other by atomics between fences what they have stored.
#pragma once

#include <string>

namespace regatta::test::wir {

/// The PTX of an entry `messages` with parameters as those of wir_programs.h, for CTAs of 128 threads. Free of races,
/// and without a deadlock: between two barriers an array of the CTA has one writer, which waits for the counter of
/// those that read it before, and raises the counter for which those wait that read it afterwards. Arrays without a
/// writer are read by anybody. Warps are late at random, by slow instructions, so that the machine's order of them is
/// not the trace's.
std::string messages(unsigned seed);

}  // namespace regatta::test::wir

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/kernel.h>

#include <bitset>

namespace regatta::checker {

/// True of a general register that some path through `kernel` reads before it has written it in every lane: a leader's
/// value that is broadcast by a shuffle, a copy of what only some lanes have. Such lanes have no value that a storage
/// could lose. What stands in no basic block counts as reachable with nothing written.
std::bitset<256> unwritten_reads(const trace::Kernel& kernel);

}  // namespace regatta::checker

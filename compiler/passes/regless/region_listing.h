// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/regions.h>

#include <string>

namespace regatta::passes {

/// Comment lines above a region's first instruction: its instructions, how many registers it holds at a time and in
/// which banks, what comes in, goes out and stays, what its words ask for, how many words they are.
std::string region_head(const trace::Kernel& kernel, const Region& region, std::size_t number);
/// "evict R4, erase R6-R7": the marks on an instruction of the region; "" without any.
std::string region_marks(const trace::Kernel& kernel, const Region& region, std::uint32_t index);

}  // namespace regatta::passes

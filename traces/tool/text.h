// SPDX-License-Identifier: Apache-2.0
// Text of the parts of a trace.
#pragma once

#include <regatta/trace/instruction_text.h>
#include <regatta/trace/kernel.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::tool {

using trace::instruction_text;
using trace::printable;

/// "1,234,567"
std::string grouped(std::uint64_t number);
/// "1.5 MiB"
std::string size_text(std::uint64_t bytes);
/// A mask in hexadecimal, one digit per four lanes.
std::string mask_text(trace::LaneMask mask, unsigned warp_size);
/// An instruction that stands in the stream of one scheme only, with the scheme's name; a region's word is spelled out.
std::string inserted_text(const trace::StaticInstruction& instruction);
/// Nearest of `known` to `name` by edit distance, "" if none is near.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace regatta::tool

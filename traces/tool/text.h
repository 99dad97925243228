// SPDX-License-Identifier: Apache-2.0
// Text of the parts of a trace.
#pragma once

#include <regatta/trace/instruction_text.h>
#include <regatta/trace/kernel.h>
#include <regatta/trace/section_registry.h>

#include <cstdint>
#include <string>

namespace regatta::tool {

using trace::instruction_text;
using trace::printable;

/// "1,234,567"
std::string grouped(std::uint64_t number);
/// "1.5 MiB"
std::string size_text(std::uint64_t bytes);
/// A mask in hexadecimal, one digit per four lanes.
std::string mask_text(trace::LaneMask mask, unsigned warp_size);
/// An instruction that stands in the stream of one scheme only: the scheme's name, the opcode, and what it says where
/// one of `sections` knows that.
std::string inserted_text(const trace::StaticInstruction& instruction, const trace::SectionRegistry& sections);

}  // namespace regatta::tool

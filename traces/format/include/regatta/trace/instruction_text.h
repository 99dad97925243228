// SPDX-License-Identifier: Apache-2.0
//
// Instructions as people read them: one notation for `regatta-trace dump`, the listing of regatta-annotate and the
// labels of the pipeline view.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <string>

namespace regatta::trace {

/// Special registers by the number that Operand::Kind::special has.
inline constexpr const char* special_register_names[] = {"%tid.x",           "%tid.y",
                                                         "%tid.z",           "%ntid.x",
                                                         "%ntid.y",          "%ntid.z",
                                                         "%ctaid.x",         "%ctaid.y",
                                                         "%ctaid.z",         "%nctaid.x",
                                                         "%nctaid.y",        "%nctaid.z",
                                                         "%laneid",          "%warpid",
                                                         "%nwarpid",         "%smid",
                                                         "%nsmid",           "%gridid",
                                                         "%lanemask_eq",     "%lanemask_le",
                                                         "%lanemask_lt",     "%lanemask_ge",
                                                         "%lanemask_gt",     "%clock",
                                                         "%clock_hi",        "%clock64",
                                                         "%globaltimer",     "%globaltimer_lo",
                                                         "%globaltimer_hi",  "%dynamic_smem_size",
                                                         "%total_smem_size", "%envreg0",
                                                         "%stack_pointer",   "%memory_descriptor",
                                                         "%envreg1",         "%envreg2"};
inline constexpr std::size_t special_register_count =
    sizeof(special_register_names) / sizeof(special_register_names[0]);

/// "R5", "R4.64" for a pair of registers.
std::string register_name(std::uint64_t first, unsigned words = 1);
/// "0x1c".
std::string hex_text(std::uint64_t value);
/// `text` with control characters as `\xNN`: names come from a file and go to a terminal.
std::string printable(const std::string& text);

/// "@!P0 ld.global.f32 R4, [R2.64+0x10]". A branch leads to the static index behind its arrow: "@P0 bra -> 28".
std::string instruction_text(const StaticInstruction& instruction);

}  // namespace regatta::trace

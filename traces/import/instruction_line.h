// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_file.h"

namespace regatta::import {

/// Reads the line of an instruction into `out`. Throws trace::InputError "path:line:column: error: ...".
void parse_instruction(const LineReader& reader, std::string_view line, const Header& header, InstructionLine& out);

}  // namespace regatta::import

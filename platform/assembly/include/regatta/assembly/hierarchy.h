// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace regatta::assembly {

/// The SystemC object tree below the top level as text: a line per module (its class), TLM-2.0 socket and port,
/// indented by depth, each socket and port with what it is bound to. Call it after elaboration.
std::string hierarchy_text();

}  // namespace regatta::assembly

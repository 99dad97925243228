// SPDX-License-Identifier: Apache-2.0
//
// The way back from the static form: a function for the analyses of a kernel that this compiler did not compile.
#pragma once

#include <regatta/ir/ir.h>

namespace regatta::ir {

/// An allocated function with the blocks, edges and instructions of `kernel`, in its order. It says what data flow and
/// control flow depend on: registers, predicates, guards, branches, exits, barriers, memory spaces and classes.
/// Operations that compute are `mov` of their class, without a type; immediates, addresses and parameters are missing.
/// It can neither be executed nor allocated again.
///
/// What a guard holds is taken for unknown: a trace may name one predicate for the guards of all instructions, and say
/// nothing of who writes it (traces/import). So each guarded instruction also writes its guard. No two instructions
/// are then under the same guard, and a guarded definition never ends the life of the old value.
///
/// Throws trace::InputError for blocks that are not the instructions in order, each once, or that do not begin where a
/// branch leads.
Function from_trace(const trace::Kernel& kernel);

}  // namespace regatta::ir

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder.h"

namespace regatta::test {

/// A machine with the operand path of sub-cores, whose front end never keeps one warp waiting.
assembly::MachineConfig sub_core_machine();

}  // namespace regatta::test

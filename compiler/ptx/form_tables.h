// SPDX-License-Identifier: Apache-2.0
//
// The parts of the table of instruction forms, one function a topic. The order matters where two rows fit a statement:
// the first is taken.
#pragma once

#include "forms.h"

#include <vector>

namespace regatta::ptx {

std::vector<Form> integer_forms();
std::vector<Form> float_forms();
std::vector<Form> half_forms();
std::vector<Form> logic_forms();  ///< logic, shifts, comparison, selection
std::vector<Form> move_forms();   ///< and conversions
std::vector<Form> memory_forms();
std::vector<Form> texture_forms();
std::vector<Form> warp_forms();  ///< between lanes and warps
std::vector<Form> control_forms();

}  // namespace regatta::ptx

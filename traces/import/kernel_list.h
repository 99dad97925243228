// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace regatta::import {

/// The traces of the launches that a kernelslist.g names, in their order, as paths. Copies of memory are skipped. A
/// name that is the trace of one kernel stands for itself. Throws trace::InputError.
std::vector<std::string> kernel_files(const std::string& input);

}  // namespace regatta::import

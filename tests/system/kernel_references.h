// SPDX-License-Identifier: Apache-2.0
//
// The kernels of traces/kernels with their references. The list of them is generated from the folders.
#pragma once

#include <regatta/test/kernel_list.h>

#include <string>
#include <vector>

#include "expected.h"

namespace regatta::test {

/// All kernels, in alphabetical order.
const std::vector<std::string>& kernel_names();

/// Whether nvcc's PTX of a kernel multiplies matrices in tensor cores, which the papers' machines do not have.
bool uses_tensor_cores(const std::string& kernel);

/// The kernels that do not: they run on every machine.
std::vector<std::string> kernels_for_all_machines();

std::vector<Expected> expected_results(const std::string& kernel, Size size);

}  // namespace regatta::test

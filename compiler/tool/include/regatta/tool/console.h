// SPDX-License-Identifier: Apache-2.0
//
// What regatta-annotate tells its user when it is done.
#pragma once

#include <regatta/tool/annotate.h>

namespace regatta::tool {

/// Prints the result of a run or of --check: on standard output, or beside it where that is one of the run's files;
/// what is wrong on standard error. Returns the exit status.
int print_result(const AnnotateOptions& options, const AnnotateResult& result);

}  // namespace regatta::tool

// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of failure that a user can mend. Each tool prints the message and ends with the status given here.
#pragma once

#include <stdexcept>

namespace regatta::base {

/// Bad input or usage (exit status 2). The message names the file or option, what was found and what was expected.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Memory that was asked for by name (a buffer of the launch file) and is not there (exit status 1). The message says
/// what does not fit. Allocations without a name end in the handler that run_tool() installs.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace regatta::base

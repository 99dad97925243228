// SPDX-License-Identifier: Apache-2.0
//
// What every tool does around its work: signals, memory and the exit status of each kind of failure.
#pragma once

#include <functional>
#include <string>

namespace regatta::base {

struct ToolSettings {
  std::string name;           ///< "regatta-sim"
  std::string memory_advice;  ///< what to lower when memory runs out: "lower --sms, or trace fewer CTAs"
  std::string error_prefix;   ///< before the message of an InputError: "regatta-sim: "
};

/// Runs `work` and returns the exit status: what `work` returns; 2 after an InputError; 1 after OutOfMemory or any
/// other exception. Each failure is one line on standard error. Before that it arranges that
///   - files in the making are removed when a signal ends the process,
///   - a reader that leaves standard output early, and a limit on the size of files, are errors of the write,
///   - memory that runs out ends the process with status 1 and one message, whoever asked for it. Files that were
///     committed stay whole.
int run_tool(const ToolSettings& settings, const std::function<int()>& work);

/// A message with its place is a compiler's: "file:line:column: error: ...", and stays so. Any other, "error: ...", has
/// the name of the program in front instead.
std::string with_program(const std::string& program, const std::string& message);

/// Ends as an allocation that fails does: by the new-handler if there is one, else with std::bad_alloc. For memory that
/// a C library could not get.
[[noreturn]] void allocation_failed();

/// While one of these lives, a failed allocation on this thread throws std::bad_alloc instead of ending the tool.
class ExpectAllocationFailure {
 public:
  ExpectAllocationFailure();
  ~ExpectAllocationFailure();
  ExpectAllocationFailure(const ExpectAllocationFailure&) = delete;
  ExpectAllocationFailure& operator=(const ExpectAllocationFailure&) = delete;
};

}  // namespace regatta::base

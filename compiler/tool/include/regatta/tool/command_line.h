// SPDX-License-Identifier: Apache-2.0
//
// The command line of regatta-annotate.
#pragma once

#include <regatta/tool/annotate.h>

#include <optional>
#include <string>

namespace regatta::tool {

struct CommandLine {
  AnnotateOptions options;
  /// Asked for instead of a run (--help, --version, --list-instructions); empty: nothing.
  std::string answer;
};

/// Reads a command line with the options of all passes. Throws trace::InputError for one that cannot be run.
CommandLine read_command_line(int argc, char** argv, passes::PassRegistry passes, trace::SectionRegistry sections);

/// Words of the command line that an option of regatta-annotate ("--out", "-o") takes behind it: 0 or 1. None: there is
/// no such option. "--name=value" is one word.
std::optional<unsigned> option_words(const std::string& option, passes::PassRegistry passes);

/// What the value of --approx asks for. Throws trace::InputError.
emulator::Approximations approximations_named(const std::string& text);

}  // namespace regatta::tool

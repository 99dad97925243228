// SPDX-License-Identifier: Apache-2.0
//
// How option values are checked, read and shown: shared by configuration files and the command line.
#pragma once

#include <regatta/support/config.h>

#include <string>

namespace regatta::support {

/// What `option` takes, for messages: "an integer from 1 to 1024 (entries)".
std::string expectation(const Option& option);
/// The message "place: name: expected ..., found ...", thrown.
[[noreturn]] void refuse(const Option& option, const std::string& place, const std::string& found);
/// `text` as a value of the option's type; refused when it is none.
OptionValue read_text(const Option& option, const std::string& text, const std::string& place);
/// `value`, already of the option's type, put in force after the range or choice check.
void assign(Option& option, const OptionValue& value, const std::string& origin, const std::string& place);
/// What to say behind an unknown name: `elsewhere` (OptionSet::elsewhere) if there is such a place, otherwise
/// "; did you mean 'x'?", or nothing when `nearest` is empty.
std::string nearest_clause(const std::string& nearest, const std::string& elsewhere = "");

/// Refuses text that is not TOML: a configuration that was put together and holds what TOML cannot.
void require_toml(const std::string& text);

}  // namespace regatta::support

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace regatta::base {

/// Throws InputError when an option that needs a value is followed by what looks like another option ("--stats --cpi"):
/// the value was forgotten, and the other option would be taken for it. "--stats=--cpi" says that it is meant.
/// `arguments` are those after the program's name; `needs_value` is asked with dashes ("--stats", "-o").
void refuse_option_as_value(const std::vector<std::string>& arguments,
                            const std::function<bool(const std::string&)>& needs_value);

/// The words of a list with commas; empty ones too.
std::vector<std::string> words_of_list(const std::string& text);

}  // namespace regatta::base

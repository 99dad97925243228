// SPDX-License-Identifier: Apache-2.0
//
// What a user may have meant by a name that is not known.
#pragma once

#include <string>
#include <vector>

namespace regatta::base {

/// The nearest of `known` to `name` by edit distance, capitals and small letters being equal; "" if none is near (at
/// most a third of the longer one's length, at least one edit).
std::string nearest(const std::string& name, const std::vector<std::string>& known);
/// Those of `known` that begin with `name`, the shortest first; capitals and small letters are equal. None for a name
/// of one letter.
std::vector<std::string> beginning_with(const std::string& name, const std::vector<std::string>& known);
/// "; did you mean 'x', 'y' or 'z'?" of the first three names, or "".
std::string did_you_mean(const std::vector<std::string>& names);
/// "; did you mean 'x'?" or "".
std::string suggestion(const std::string& name, const std::vector<std::string>& known);
/// The same, and all that are known: "; did you mean 'x'? Known: x, y" or ". Known: x, y".
std::string suggestion_and_known(const std::string& name, const std::vector<std::string>& known);

}  // namespace regatta::base

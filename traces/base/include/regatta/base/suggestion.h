// SPDX-License-Identifier: Apache-2.0
//
// What a user may have meant by a name that is not known.
#pragma once

#include <string>
#include <vector>

namespace regatta::base {

/// The nearest of `known` to `name` by edit distance, "" when none is near (a third of its length, at
/// least one edit, two from four letters on).
std::string nearest(const std::string& name, const std::vector<std::string>& known);
/// "; did you mean 'x'?" or "".
std::string suggestion(const std::string& name, const std::vector<std::string>& known);

}  // namespace regatta::base

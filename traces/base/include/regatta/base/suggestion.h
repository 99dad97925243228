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
/// "; did you mean 'x'?" or "".
std::string suggestion(const std::string& name, const std::vector<std::string>& known);

}  // namespace regatta::base

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace regatta::base {

/// The file that `path` stands for: symbolic links are followed step by step, also when the last of them points to a
/// file that does not exist yet. Returns `path` itself when links form a circle.
std::string follow_links(const std::string& path);

/// Whether a file that is written as `path` goes where standard output goes ("/dev/stdout", or the file that it was
/// redirected to). A summary has no place there then.
bool is_standard_output(const std::string& path);

}  // namespace regatta::base

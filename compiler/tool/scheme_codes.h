// SPDX-License-Identifier: Apache-2.0
//
// The codes that schemes need (trace/scheme_code.h), as options of a run.
#pragma once

#include <regatta/tool/annotate.h>
#include <regatta/trace/scheme_code.h>

#include <string>
#include <vector>

namespace regatta::tool {

/// The codes besides the first that any of the schemes needs.
std::vector<trace::SchemeCode> codes_for(const std::vector<std::string>& schemes);
/// The options of a run that makes the code, and writes nothing but its part of the trace, the report and the listing.
/// What the user has chosen for an annotation stays.
AnnotateOptions with_code(AnnotateOptions options, const std::vector<trace::CodeOption>& code);
/// The options of the code, with the values that they have in `options`.
std::string options_text(const AnnotateOptions& options, const std::vector<trace::CodeOption>& code);

}  // namespace regatta::tool

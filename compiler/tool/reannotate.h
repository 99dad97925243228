// SPDX-License-Identifier: Apache-2.0
//
// Annotations for a trace that exists.
#pragma once

#include <regatta/tool/annotate.h>

namespace regatta::tool {

/// Writes AnnotateOptions::trace anew with the annotations of AnnotateOptions::schemes. The kernels are compiled again,
/// with the options that the trace names, and compared with those of the trace; nothing is executed. Throws
/// trace::InputError if that does not give the code of the trace, or if a scheme needs another code: then with the
/// command that executes the program. A trace that does not name its command: annotate_foreign.h.
AnnotateResult add_annotations(const AnnotateOptions& options);

}  // namespace regatta::tool

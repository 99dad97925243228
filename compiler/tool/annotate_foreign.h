// SPDX-License-Identifier: Apache-2.0
//
// Annotations for a trace whose program is not at hand: regatta-import's, or one of another emulator.
#pragma once

#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

namespace regatta::tool {

/// Writes AnnotateOptions::trace, which `first` reads, anew with annotations that leave the code as it is: those of
/// AnnotateOptions::schemes, or without schemes all that the kernels can have. The static code of the trace is what the
/// passes see, and where the warps of the trace went is what they know of its control flow (seen_paths.h). What is
/// dynamic stays as it is. A kernel that cannot have an annotation is left without it, and the result says why. Throws
/// trace::InputError if it is one of a scheme that was named, or if the scheme needs another code.
AnnotateResult annotate_foreign(const AnnotateOptions& options, const trace::Reader& first);

}  // namespace regatta::tool

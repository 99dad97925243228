// SPDX-License-Identifier: Apache-2.0
// The commands of regatta-trace. Each writes to standard output; what is wrong with the file comes as InputError.
#pragma once

#include <regatta/trace/file.h>
#include <regatta/trace/verify.h>

#include <cstdint>
#include <optional>

namespace regatta::tool {

/// What part of a trace to show.
struct Selection {
  std::optional<std::uint64_t> cta;   ///< position in the file
  std::optional<std::uint64_t> warp;  ///< number within the CTA
  std::uint64_t limit = 0;            ///< instructions per warp, 0: all
};

void info(const trace::Reader& reader);
void info_json(const trace::Reader& reader);
/// A JSON document with what is known of each launch without simulating it (LaunchSignature, grid, registers).
void signatures(const trace::Reader& reader);
void dump(const trace::Reader& reader, const Selection& selection);
/// Every variant of the file; `reader` reads one of them.
void verify_file(const trace::Reader& reader, trace::VerifyDepth depth);

}  // namespace regatta::tool

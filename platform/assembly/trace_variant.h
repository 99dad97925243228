// SPDX-License-Identifier: Apache-2.0
//
// Which code of a trace a run takes, and what makes a trace that fits when this one does not.
#pragma once

#include <regatta/support/config.h>
#include <regatta/trace/file.h>

#include <memory>
#include <string>

namespace regatta::assembly {

/// The trace, with the variant of the scheme: `asked` if that is not empty, otherwise the one for a part of
/// "finereg+greener", otherwise the first. Throws support::ConfigError if two parts run on different variants.
std::unique_ptr<const trace::Reader> open_variant(const std::string& path, const std::string& scheme,
                                                  const std::string& asked);

/// The error, with the command that makes a trace which fits: with the launch file and the options of this one.
support::ConfigError with_remedy(const support::UnfitTrace& error, const trace::Reader& trace,
                                 const std::string& scheme);

}  // namespace regatta::assembly

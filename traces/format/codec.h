// SPDX-License-Identifier: Apache-2.0
//
// Between the structures of the public headers and the messages of trace.proto. Decoding checks that each field
// fits its structure and leaves the meaning to validate.h. Throws Malformed.
#pragma once

#include <regatta/trace/file.h>
#include <trace.pb.h>

#include "frame.h"

namespace regatta::trace {

void encode(const Kernel& kernel, proto::Kernel& message);
void encode(const Launch& launch, proto::Launch& message);
/// Name, schemes and options.
void encode(const Variant& variant, proto::Variant& message);

Kernel decode(const proto::Kernel& message);
Launch decode(const proto::Launch& message);
/// Name, schemes and options.
Variant decode(const proto::Variant& message);
/// Fills all of `cta`, whose memory is used again. Swaps the byte columns with the message's.
void decode(proto::Cta& message, Cta& cta);
void decode(proto::Segment& message, WarpColumns& columns);

/// Refuses variants whose names or schemes are not apart, and any in a file of a version without them.
void validate_variants(const proto::Index& index, std::uint32_t version);
/// What code_digest() looks at.
std::uint64_t digest_of_code(proto::Kernel code);

}  // namespace regatta::trace

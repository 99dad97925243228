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
void encode(const Cta& cta, proto::Cta& message);

Kernel decode(const proto::Kernel& message);
Launch decode(const proto::Launch& message);
/// Fills all of `cta`, whose memory is used again. Swaps the byte columns with the message's.
void decode(proto::Cta& message, Cta& cta);

}  // namespace regatta::trace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mutate.h"
#include "trace_container.h"

namespace regatta::test {

/// Changes one field of the message in a frame (mutate_message); false if there is none.
bool mutate_frame(TraceContainer::Frame& frame, MutationRandom& random);

}  // namespace regatta::test

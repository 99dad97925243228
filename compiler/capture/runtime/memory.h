// SPDX-License-Identifier: Apache-2.0
//
// What functions of the API do with memory, for nodes of graphs too. Each takes the lock and returns an Error.
#pragma once

#include "state.h"

namespace regatta::capture {

Error allocate(void** out, std::uint64_t bytes);
Error copy(void* to, const void* from, std::size_t bytes, int kind);
Error copy_3d(const Copy3D& c);
/// A symbol's bytes, in either direction.
Error copy_symbol(const void* symbol, void* host, std::size_t bytes, std::size_t offset, bool to_symbol);
/// The event's time is now.
Error record_event(void* event);

}  // namespace regatta::capture

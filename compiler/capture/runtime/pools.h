// SPDX-License-Identifier: Apache-2.0
//
// Memory pools: whom a block of cudaMallocAsync() belongs to, and what a pool keeps. The memory itself is the device's.
#pragma once

#include <cstdint>

namespace regatta::capture {

/// A block was released, of a pool or not.
void release_of_pool(std::uint64_t address);

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>

#include <cstdint>

namespace regatta::models::wir {

/// A physical warp register of an SM's register file: 0 .. 1023 on the paper's machine (10 bits, Table III).
using PhysicalRegister = protocol::Id<struct PhysicalRegisterTag, std::uint16_t>;
inline constexpr PhysicalRegister no_register{0xffff};

}  // namespace regatta::models::wir

// SPDX-License-Identifier: Apache-2.0
//
// Limits of time end what hangs. Under sanitizers, not optimized, everything takes several times as long.
#pragma once

namespace regatta::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr unsigned patience = 8;
#else
inline constexpr unsigned patience = 1;
#endif

}  // namespace regatta::test

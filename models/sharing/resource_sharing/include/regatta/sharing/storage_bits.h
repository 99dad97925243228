// SPDX-License-Identifier: Apache-2.0
//
// Bits that the tables of resource sharing take in one SM (Jatala, thesis, section 2.4).
#pragma once

#include <cstdint>

namespace regatta::models {

struct SharingBits {
  std::uint64_t sharing = 0;   ///< ShSM: whether the SM shares in this launch
  std::uint64_t partners = 0;  ///< ShTB: partner of every CTA
  std::uint64_t owners = 0;    ///< Owner: of every warp
  std::uint64_t shared = 0;    ///< ShWarp: whether the warp is one of a pair; registers only
  std::uint64_t locks = 0;     ///< Lock: the holder, for every pair of warps (registers) or of CTAs (scratchpad)

  std::uint64_t total() const { return sharing + partners + owners + shared + locks; }
};

/// `ctas`, `warps`: most that are resident.
SharingBits register_sharing_bits(unsigned ctas, unsigned warps);
SharingBits scratchpad_sharing_bits(unsigned ctas, unsigned warps);
/// Active and release bits (section 3.2.2): two for each of the threads that are resident at most.
constexpr std::uint64_t release_bits(std::uint64_t threads) { return 2 * threads; }

}  // namespace regatta::models

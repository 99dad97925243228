// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/storage_bits.h>

namespace regatta::models {

namespace {

/// Bits of a number below `values`.
unsigned bits_of(unsigned values) {
  unsigned bits = 0;
  while ((1ULL << bits) < values) ++bits;
  return bits;
}

SharingBits common(unsigned ctas, unsigned warps) {
  SharingBits b;
  b.sharing = 1;
  b.partners = std::uint64_t{ctas} * bits_of(ctas + 1);  // one number more: no partner
  b.owners = warps;
  return b;
}

}  // namespace

SharingBits register_sharing_bits(unsigned ctas, unsigned warps) {
  SharingBits b = common(ctas, warps);
  b.shared = warps;
  b.locks = std::uint64_t{warps / 2} * bits_of(warps);
  return b;
}

SharingBits scratchpad_sharing_bits(unsigned ctas, unsigned warps) {
  SharingBits b = common(ctas, warps);
  b.locks = std::uint64_t{ctas / 2} * bits_of(ctas);
  return b;
}

}  // namespace regatta::models

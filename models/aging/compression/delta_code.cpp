// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/delta_code.h>

namespace regatta::models::aging {

const char* to_string(Pattern p) {
  switch (p) {
    case Pattern::constant:
      return "constant";
    case Pattern::single_delta:
      return "single_delta";
    case Pattern::double_delta:
      return "double_delta";
    case Pattern::other:
      break;
  }
  return "other";
}

Pattern DeltaCode::pattern() const {
  if (element == zero_delta && block == zero_delta) return Pattern::constant;
  return decode_delta(block) == block_size * decode_delta(element) ? Pattern::single_delta : Pattern::double_delta;
}

void decompress(const DeltaCode& code, unsigned first, unsigned lanes, std::uint32_t* components) {
  // The offsets within a block, behind the multiplexers that give zero for the code of a zero delta.
  std::uint32_t offset[block_size];
  for (unsigned e = 0; e < block_size; ++e) offset[e] = code.element == zero_delta ? 0 : e << code.element;
  for (unsigned i = 0; i < lanes; i += block_size) {
    const std::uint32_t count = (first + i) / block_size;
    const std::uint32_t start = code.base + (code.block == zero_delta ? 0 : count << code.block);
    for (unsigned e = 0; e < block_size; ++e) components[i + e] = start + offset[e];
  }
}

}  // namespace regatta::models::aging

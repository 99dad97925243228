// SPDX-License-Identifier: Apache-2.0
//
// A kernel that needs as many registers as a test wants.
#pragma once

#include <string>

namespace regatta::test {

/// PTX of an entry `many`, which loads `values` words, all live at once, and stores a sum of them. Its buffer `out`
/// has 128 bytes for each of them and 256 more, for CTAs of 64 threads.
inline std::string many_values(unsigned values) {
  std::string text =
      ".visible .entry many(.param .u64 out)\n{\n.reg .b32 %r<200>; .reg .b64 %d<5>;\n"
      "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.s64 %d3, %d1, %d2;\n";
  for (unsigned i = 1; i <= values; ++i) {
    text += "ld.volatile.global.u32 %r" + std::to_string(i) + ", [%d3+" + std::to_string(128 * i) + "];\n";
  }
  // The last one first, so that no sum can begin before all are there.
  const std::string last = "%r" + std::to_string(values);
  for (unsigned i = values - 1; i >= 1; --i) {
    text += "mad.lo.u32 " + last + ", " + last + ", 3, %r" + std::to_string(i) + ";\n";
  }
  return text + "st.global.u32 [%d3], " + last + ";\nret;\n}\n";
}

/// What stands before the entries.
inline constexpr const char* ptx_head = ".version 9.0\n.target sm_75\n.address_size 64\n";

}  // namespace regatta::test

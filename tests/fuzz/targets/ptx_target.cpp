// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes as PTX text.
#include "../probes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  regatta::test::probe_ptx(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

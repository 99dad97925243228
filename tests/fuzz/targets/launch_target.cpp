// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes as a launch file.
#include "../probes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  regatta::test::probe_launch(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

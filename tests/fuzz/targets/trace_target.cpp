// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes as a trace. Most mutations change the decompressed payload of one frame and put the file together
// again, so that they get behind the checksums.
#include <algorithm>
#include <cstring>

#include "../mutate.h"
#include "../mutate_trace.h"
#include "../probes.h"
#include "../trace_container.h"

using namespace regatta::test;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  probe_trace(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

namespace {

/// The bytes of one payload, changed by libFuzzer's own mutations.
void mutate_payload(std::string& raw, MutationRandom& random) {
  constexpr std::size_t growth = 64;
  const std::size_t size = raw.size();
  raw.resize(size + random() % growth);
  raw.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(raw.data()), size, std::max<std::size_t>(raw.size(), 1)));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  MutationRandom random(seed);
  if (random() % 16 != 0) {
    auto container = TraceContainer::take_apart(std::string(reinterpret_cast<const char*>(data), size));
    if (container) {
      TraceContainer::Frame& frame = container->frames[random() % container->frames.size()];
      if (random() % 2 == 0 || !mutate_frame(frame, random)) mutate_payload(frame.raw, random);
      const std::string bytes = container->assemble(random() % 8 != 0);
      if (bytes.size() <= max_size) {
        std::memcpy(data, bytes.data(), bytes.size());
        return bytes.size();
      }
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes as a trace of Accel-Sim: text, xz or paged. Texts are mostly changed by tokens and lines.
#include <algorithm>
#include <cstring>

#include "../mutate.h"
#include "../probes.h"

using namespace regatta::test;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  probe_import(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  MutationRandom random(seed);
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (random() % 3 == 0 || text.find('\0') != std::string::npos) return LLVMFuzzerMutate(data, size, max_size);
  const std::string changed = mutate_tokens(text, random);
  if (changed.empty() || changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

// SPDX-License-Identifier: Apache-2.0
#include "pointers.h"

#include <algorithm>
#include <cstring>

namespace regatta::hardware {

bool Pointers::same(std::uint64_t gpu, std::uint64_t emulator) const {
  // Where one buffer ends another may begin, on one of the two sides alone: any buffer that fits counts.
  return std::any_of(places_.begin(), places_.end(), [&](const BufferPlace& p) {
    return gpu - p.gpu <= p.bytes && gpu - p.gpu == emulator - p.emulator;
  });
}

std::uint64_t Pointers::translate(std::vector<std::uint8_t>& gpu, const std::vector<std::uint8_t>& emulator) const {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + 8 <= gpu.size(); at += 8) {
    std::uint64_t g = 0, e = 0;
    std::memcpy(&g, &gpu[at], sizeof g);
    std::memcpy(&e, &emulator[at], sizeof e);
    if (g == e || !same(g, e)) continue;
    std::memcpy(&gpu[at], &e, sizeof e);
    ++count;
  }
  return count;
}

std::optional<std::string> Pointers::describe(std::uint64_t gpu, std::uint64_t emulator) const {
  const auto g = describe(gpu, &BufferPlace::gpu), e = describe(emulator, &BufferPlace::emulator);
  if (!g || !e) return std::nullopt;
  return *g + " on the GPU, " + *e + " in the emulator";
}

std::optional<std::string> Pointers::describe(std::uint64_t word, std::uint64_t BufferPlace::*side) const {
  for (const BufferPlace& p : places_) {
    if (word - p.*side < p.bytes) return "'" + p.name + "' + " + std::to_string(word - p.*side);
  }
  return std::nullopt;
}

}  // namespace regatta::hardware

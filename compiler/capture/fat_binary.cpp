// SPDX-License-Identifier: Apache-2.0
//
// The layout is undocumented; it was read off what CUDA 11 to 13 write, beside the options with which they were run.
#include "fat_binary.h"

#include "fat_binary_head.h"

#include <regatta/base/error.h>
#include <regatta/ptx/link.h>

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace regatta::capture {

namespace {

/// Flags of a part.
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;
/// No source is as long; a damaged size ends here, not in the allocator.
constexpr std::uint64_t most_ptx_bytes = std::uint64_t{1} << 31;

[[noreturn]] void fail(const std::string& what, std::uint64_t at, const std::string& why) {
  throw base::InputError("error: fat binary of " + what + ", byte " + std::to_string(at) + ": " + why);
}

template <class T>
T load(const std::vector<std::uint8_t>& bytes, std::uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string contents_of(const FatBinaryPartHead& head, const std::uint8_t* from, const std::string& what,
                        std::uint64_t at) {
  if ((head.flags & (flag_lz4 | flag_zstd)) == 0) return {from, from + head.bytes};
  if (head.plain_bytes > most_ptx_bytes) {
    fail(what, at,
         "PTX of " + std::to_string(head.plain_bytes) + " bytes, expected at most " + std::to_string(most_ptx_bytes));
  }
  if (head.compressed_bytes > head.bytes) {
    fail(what, at,
         std::to_string(head.compressed_bytes) + " compressed bytes in a part of " + std::to_string(head.bytes));
  }
  if ((head.flags & flag_lz4) != 0) return decompress_lz4_block(from, head.compressed_bytes, head.plain_bytes, what);
  std::string text(head.plain_bytes, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), from, head.compressed_bytes);
  if (ZSTD_isError(got) != 0) fail(what, at, std::string("zstd: ") + ZSTD_getErrorName(got));
  if (got != text.size()) {
    fail(what, at, "zstd gives " + std::to_string(got) + " bytes, expected " + std::to_string(text.size()));
  }
  return text;
}

}  // namespace

std::string decompress_lz4_block(const std::uint8_t* from, std::uint64_t count, std::uint64_t bytes,
                                 const std::string& what) {
  std::string out;
  out.reserve(bytes);
  std::uint64_t at = 0;
  const auto next = [&]() -> unsigned {
    if (at >= count) fail(what, at, "an LZ4 block ends too early");
    return from[at++];
  };
  const auto length = [&](unsigned nibble) {
    std::uint64_t n = nibble;
    if (nibble != 15) return n;
    for (unsigned more = 255; more == 255;) n += more = next();
    return n;
  };
  while (at < count) {
    const unsigned token = next();
    const std::uint64_t literals = length(token >> 4);
    if (literals > count - at || literals > bytes - out.size()) fail(what, at, "LZ4 literals beyond the end");
    out.append(reinterpret_cast<const char*>(from) + at, literals);
    at += literals;
    if (at == count) break;  // the last sequence has literals alone
    const std::uint64_t low = next();
    const std::uint64_t distance = low | (std::uint64_t{next()} << 8);
    const std::uint64_t match = length(token & 15) + 4;
    if (distance == 0 || distance > out.size()) fail(what, at, "an LZ4 match before the begin");
    if (match > bytes - out.size()) fail(what, at, "an LZ4 match beyond the end");
    // A match may overlap what it writes.
    for (std::uint64_t i = 0; i < match; ++i) out.push_back(out[out.size() - distance]);
  }
  if (out.size() != bytes) {
    fail(what, at, "LZ4 gives " + std::to_string(out.size()) + " bytes, expected " + std::to_string(bytes));
  }
  return out;
}

std::vector<FatBinaryPart> read_fat_binary(const std::vector<std::uint8_t>& bytes, const std::string& what) {
  std::vector<FatBinaryPart> parts;
  std::uint64_t at = 0;
  std::size_t unit = 0;
  // Containers may follow one another, as a linker joins them.
  while (at < bytes.size()) {
    if (bytes.size() - at < sizeof(FatBinaryHead)) fail(what, at, "ends inside of its head");
    const auto container = load<FatBinaryHead>(bytes, at);
    if (container.magic != fat_binary_magic) {
      if (at != 0) break;
      fail(what, at, "not a fat binary (its first bytes are not 0xba55ed50)");
    }
    if (container.head_bytes < sizeof(FatBinaryHead) || container.head_bytes > bytes.size() - at ||
        container.bytes > bytes.size() - at - container.head_bytes) {
      fail(what, at,
           "its head promises " + std::to_string(container.bytes) + " bytes, there are " +
               std::to_string(bytes.size() - at));
    }
    at += container.head_bytes;
    const std::uint64_t end = at + container.bytes;
    while (end - at >= sizeof(FatBinaryPartHead)) {
      const auto head = load<FatBinaryPartHead>(bytes, at);
      if (head.head_bytes < sizeof(FatBinaryPartHead) || head.head_bytes > end - at ||
          head.bytes > end - at - head.head_bytes) {
        fail(what, at, "a part of " + std::to_string(head.bytes) + " bytes, there are " + std::to_string(end - at));
      }
      FatBinaryPart part;
      part.unit = unit;
      part.is_ptx = head.kind == fat_binary_ptx;
      part.architecture = head.architecture;
      if (head.name_offset != 0 && head.name_offset < head.head_bytes &&
          head.name_bytes <= head.head_bytes - head.name_offset) {
        const auto* const name = reinterpret_cast<const char*>(bytes.data() + at + head.name_offset);
        part.name.assign(name, strnlen(name, head.name_bytes));
      }
      if (part.is_ptx) {
        part.ptx = contents_of(head, bytes.data() + at + head.head_bytes, what, at);
        while (!part.ptx.empty() && part.ptx.back() == '\0') part.ptx.pop_back();
      }
      if (part.is_ptx || head.kind == fat_binary_elf) parts.push_back(std::move(part));
      at += head.head_bytes + head.bytes;
    }
    at = end;
    ++unit;
  }
  return parts;
}

std::string linked_ptx(const std::vector<FatBinaryPart>& parts, unsigned architecture, const std::string& what) {
  std::map<std::size_t, std::vector<FatBinaryPart>> by_unit;
  for (const FatBinaryPart& part : parts) by_unit[part.unit].push_back(part);
  std::vector<ptx::LinkUnit> units;
  for (const auto& [number, own] : by_unit) {
    if (std::none_of(own.begin(), own.end(), [](const FatBinaryPart& part) { return part.is_ptx; })) continue;
    const FatBinaryPart& chosen = choose_ptx(own, architecture, what);
    units.push_back(
        {"unit " + std::to_string(number + 1) + (chosen.name.empty() ? "" : ", " + chosen.name), chosen.ptx});
  }
  if (units.empty()) return choose_ptx(parts, architecture, what).ptx;
  return ptx::link(units);
}

const FatBinaryPart& choose_ptx(const std::vector<FatBinaryPart>& parts, unsigned architecture,
                                const std::string& what) {
  const FatBinaryPart* best = nullptr;
  std::string present;
  for (const FatBinaryPart& part : parts) {
    present += (present.empty() ? "" : ", ") + std::string(part.is_ptx ? "PTX of compute_" : "machine code of sm_") +
               std::to_string(part.architecture);
    if (!part.is_ptx || part.architecture > architecture) continue;
    if (best == nullptr || part.architecture > best->architecture) best = &part;
  }
  if (best != nullptr) return *best;
  throw base::InputError("error: " + what + " has no PTX for sm_" + std::to_string(architecture) + ": found " +
                         (present.empty() ? "nothing" : present) +
                         "; compile it with -gencode arch=compute_75,code=compute_75 or a newer architecture");
}

}  // namespace regatta::capture

// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/error.h>
#include <regatta/test/catch.h>

#include "fat_binary.h"

#include <zstd.h>

#include <cstring>
#include <string>
#include <vector>

using namespace regatta;
using capture::FatBinaryPart;

namespace {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void put(Bytes& to, T value) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
  to.insert(to.end(), from, from + sizeof value);
}

/// A part as nvcc writes it; `flags` say how `stored` holds `plain` bytes.
Bytes part(std::uint16_t kind, std::uint32_t architecture, const std::string& stored, std::uint64_t flags,
           std::uint64_t plain) {
  Bytes p;
  put<std::uint16_t>(p, kind);
  put<std::uint16_t>(p, 0x101);
  put<std::uint32_t>(p, 64);
  put<std::uint64_t>(p, stored.size());
  put<std::uint32_t>(p, flags == 0 ? 0 : static_cast<std::uint32_t>(stored.size()));
  put<std::uint32_t>(p, 0);
  put<std::uint16_t>(p, 0);
  put<std::uint16_t>(p, 9);
  put<std::uint32_t>(p, architecture);
  put<std::uint64_t>(p, 0);
  put<std::uint64_t>(p, flags);
  put<std::uint64_t>(p, 0);
  put<std::uint64_t>(p, plain);
  p.insert(p.end(), stored.begin(), stored.end());
  return p;
}

Bytes container(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& p : parts) all.insert(all.end(), p.begin(), p.end());
  Bytes c;
  put<std::uint32_t>(c, 0xba55ed50);
  put<std::uint16_t>(c, 1);
  put<std::uint16_t>(c, 16);
  put<std::uint64_t>(c, all.size());
  c.insert(c.end(), all.begin(), all.end());
  return c;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

std::string message_of(const Bytes& bytes) {
  try {
    capture::read_fat_binary(bytes, "t");
  } catch (const base::InputError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("PTX comes out of a fat binary, however it is stored") {
  const std::string text = ".version 9.0 .target sm_75 .target sm_75 .target sm_75";
  // Nine literals, then a match of four bytes and more, then the rest.
  std::string lz4;
  lz4 += static_cast<char>(0x44);  // 4 literals, a match of 8
  lz4 += "abcd";
  lz4 += std::string("\x04\x00", 2);
  lz4 += static_cast<char>(0x20);  // 2 literals, the end
  lz4 += "xy";
  const Bytes bytes = container({part(2, 75, "ELF", 0, 0), part(1, 75, text + std::string(3, '\0'), 0, 0),
                                 part(1, 80, zstd(text), 0x8000, text.size()), part(1, 90, lz4, 0x2000, 14)});
  const std::vector<FatBinaryPart> parts = capture::read_fat_binary(bytes, "t");
  REQUIRE(parts.size() == 4);
  CHECK(!parts[0].is_ptx);
  CHECK(parts[1].ptx == text);
  CHECK(parts[2].ptx == text);
  CHECK(parts[3].ptx == "abcdabcdabcdxy");
  CHECK(capture::choose_ptx(parts, 86, "t").architecture == 80);
  CHECK(capture::choose_ptx(parts, 90, "t").architecture == 90);
  CHECK_THROWS_WITH(
      capture::choose_ptx(parts, 52, "program"),
      "error: program has no PTX for sm_52: found machine code of sm_75, PTX of compute_75, PTX of "
      "compute_80, PTX of compute_90; compile it with -gencode arch=compute_75,code=compute_75 or a newer "
      "architecture");
}

TEST_CASE("damaged fat binaries are refused with the place") {
  CHECK(message_of({1, 2, 3}) == "error: fat binary of t, byte 0: ends inside of its head");
  CHECK(message_of(Bytes(32, 7)) ==
        "error: fat binary of t, byte 0: not a fat binary (its first bytes are not "
        "0xba55ed50)");
  Bytes longer = container({part(1, 75, "ptx", 0, 0)});
  longer.resize(longer.size() - 1);
  CHECK(message_of(longer) == "error: fat binary of t, byte 0: its head promises 67 bytes, there are 82");
  CHECK(message_of(container({part(1, 75, "nonsense", 0x8000, 10)})).find("error: fat binary of t, byte 16: zstd: ") ==
        0);
  CHECK(message_of(container({part(1, 75, "\x44", 0x2000, 10)})) ==
        "error: fat binary of t, byte 1: LZ4 literals beyond the end");
  // No damage of a byte is a crash, and what is accepted has a size that was promised.
  const std::string text(200, 'x');
  const Bytes whole = container({part(1, 75, zstd(text), 0x8000, text.size())});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
      Bytes damaged = whole;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ flip);
      CHECK(!message_of(damaged).empty());
    }
    CHECK(!message_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at))).empty());
  }
}

TEST_CASE("units of a program that was compiled in parts are linked") {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const std::string a = head + ".extern .global .u32 x;\n.visible .entry k() { ret; }\n";
  const std::string b = head + ".visible .global .u32 x = 3;\n";
  Bytes all = container({part(2, 75, "machine code", 0, 0), part(1, 75, a, 0, 0)});
  for (const Bytes& more : {container({part(1, 75, b, 0, 0)}), container({part(2, 90, "a library", 0, 0)})}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  const std::string text = capture::linked_ptx(capture::read_fat_binary(all, "t"), 90, "t");
  CHECK(text.find(".extern") == std::string::npos);
  CHECK(text.find("x = 3") != std::string::npos);
  CHECK(text.find(".entry k") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "hand_written.h"

#include <lzma.h>
#include <zstd.h>

#include <cstdio>
#include <stdexcept>

namespace regatta::test {
namespace {

TracegWarp sides(std::uint32_t all, std::uint32_t taken) {
  const std::uint32_t rest = all & ~taken;
  TracegWarp w;
  const auto add = [&](const char* pc, std::uint32_t mask, const std::string& more) {
    char text[32];
    std::snprintf(text, sizeof text, "%s %08x ", pc, static_cast<unsigned>(mask));
    w.push_back(text + more);
  };
  add("0000", all, "1 R1 IMAD.MOV.U32 2 R255 R255 0 ");
  add("0010", all, "1 R0 S2R 0 0 ");
  add("0020", all, "0 ISETP.GE.AND 1 R0 0 ");
  add("0030", all, "0 BSSY 0 0 ");
  add("0040", taken, "0 BRA 0 0 ");
  add("0050", rest, "1 R2 IMAD.WIDE 3 R0 R5 R255 0 ");
  add("0060", rest, "1 R4 LDG.E.64.SYS 1 R2 8 1 0x7efe00000000 8 ");
  add("0070", rest, "0 BRA 0 0 ");
  add("0080", taken, "1 R4 LDS.64 1 R0 8 1 0x7f0000000010 8 ");
  add("0090", taken, "0 BSYNC 0 0 ");
  add("0090", rest, "0 BSYNC 0 0 ");
  add("00a0", all, "0 BAR.SYNC.DEFER_BLOCKING 0 0 ");
  add("00b0", all & 0xffu, "1 R6 DADD 2 R4 R4 0 ");
  add("00c0", all, "0 SHFL.IDX 3 R8 R4 R5 0 ");
  std::string squares = "0 ", differences = "2 0xfffdc0 ";
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((all >> lane & 1) == 0) continue;
    char text[32];
    std::snprintf(text, sizeof text, "0x%x ", 0x1000 + lane * lane * 8);
    squares += text;
    if (lane != 0) differences += lane % 2 != 0 ? "4 " : "-4 ";
  }
  add("00d0", all, "0 STG.E.64.SYS 2 R2 R6 8 " + squares);
  add("00e0", all, "0 STL 2 R1 R8 4 " + differences);
  add("00f0", all, "0 EXIT 0 0 ");
  return w;
}

template <class Integer>
void put(std::string& to, Integer value) {
  for (std::size_t n = 0; n < sizeof value; ++n) to += static_cast<char>(value >> (8 * n) & 0xff);
}

}  // namespace

void Traceg::set(const std::string& key, const std::string& value) {
  for (std::string& line : header) {
    if (line.rfind("-" + key + " = ", 0) == 0) line = "-" + key + " = " + value;
  }
}

void Traceg::remove(const std::string& key) {
  for (std::size_t n = 0; n < header.size(); ++n) {
    if (header[n].rfind("-" + key + " = ", 0) == 0) header.erase(header.begin() + static_cast<std::ptrdiff_t>(n--));
  }
}

std::string Traceg::header_text() const {
  std::string out;
  for (const std::string& line : header) out += line + "\n";
  return out +
         "\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
         "[mem_addresses]\n";
}

std::string Traceg::text() const {
  std::string out = header_text();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    out += "\n#BEGIN_TB\n\nthread block = " + std::to_string(b) + ",0,0\n";
    for (std::size_t w = 0; w < blocks[b].size(); ++w) {
      out += "\nwarp = " + std::to_string(w) + "\ninsts = " + std::to_string(blocks[b][w].size()) + "\n";
      for (const std::string& line : blocks[b][w]) out += line + "\n";
    }
    out += "\n#END_TB\n";
  }
  return out;
}

std::string Traceg::paged(std::size_t page, const std::string& dictionary) const {
  std::string out = header_text(), index;
  out += '\0';
  put(out, static_cast<std::uint32_t>(dictionary.size()));
  put(out, static_cast<std::uint32_t>(page));
  out += dictionary;
  put(index, static_cast<std::uint32_t>(blocks.size()));
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  // The last block comes first: an index may be in any order.
  for (std::size_t b = blocks.size(); b-- > 0;) {
    put(index, static_cast<std::uint32_t>(b));
    for (unsigned n = 0; n < 9; ++n) put(index, std::uint32_t{0});
    put(index, static_cast<std::uint32_t>(blocks[b].size()));
    for (const TracegWarp& warp : blocks[b]) {
      const auto pages = static_cast<std::uint32_t>((warp.size() + page - 1) / page);
      put(index, static_cast<std::uint32_t>(warp.size()));
      put(index, pages);
      put(index, static_cast<std::uint64_t>(out.size()));
      put(out, static_cast<std::uint32_t>(warp.size()));
      put(out, pages);
      for (std::size_t from = 0; from < warp.size(); from += page) {
        const std::size_t to = std::min(warp.size(), from + page);
        std::string text;
        for (std::size_t n = from; n < to; ++n) text += warp[n] + "\n";
        std::string frame(ZSTD_compressBound(text.size()), '\0');
        const std::size_t size = ZSTD_compress_usingDict(context, frame.data(), frame.size(), text.data(), text.size(),
                                                         dictionary.data(), dictionary.size(), 3);
        if (ZSTD_isError(size) != 0) throw std::runtime_error("zstd");
        put(out, static_cast<std::uint32_t>(size));
        out += frame.substr(0, size);
        put(index, static_cast<std::uint32_t>(to - from));
      }
    }
  }
  ZSTD_freeCCtx(context);
  const std::uint64_t at = out.size();
  out += index;
  put(out, at);
  return out;
}

Traceg two_sides_traceg() {
  Traceg t;
  t.blocks.assign(2, {sides(0xffffffffu, 0xff), sides(0xffff, 0xf)});
  return t;
}

Traceg one_warp_traceg(TracegWarp warp) {
  Traceg t;
  t.set("grid dim", "(1,1,1)");
  t.set("block dim", "(32,1,1)");
  t.blocks = {{std::move(warp)}};
  return t;
}

std::string as_xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                              text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) != LZMA_OK) {
    throw std::runtime_error("xz");
  }
  out.resize(size);
  return out;
}

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// Results of mma.sync on an H100: twelve forms, eight tiles each (uniform numbers, wide exponents, random bits,
// cancelling sums, in turn). data/mma_h100.bin.xz has, for each form, 64 bytes of its name, the numbers of tiles and of
// words a lane for A, B, and C and D, then these words: [tile][lane][word] of A, B, C, D.
#include <regatta/test/catch.h>

#include "tensor_product.h"

#include <lzma.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace regatta;
using emulator::TensorElement;
using emulator::TensorFormat;

namespace {

std::vector<std::uint8_t> decompressed(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint8_t> out(std::size_t{8} << 20);
  std::uint64_t memory = UINT64_MAX;
  std::size_t read = 0, written = 0;
  REQUIRE(lzma_stream_buffer_decode(&memory, 0, nullptr, reinterpret_cast<const std::uint8_t*>(packed.data()), &read,
                                    packed.size(), out.data(), &written, out.size()) == LZMA_OK);
  out.resize(written);
  return out;
}

/// Words of the registers of 32 lanes.
struct Fragment {
  const std::uint8_t* from = nullptr;
  std::size_t words = 0;
  std::uint32_t word(std::size_t lane, std::size_t n) const {
    std::uint32_t w = 0;
    std::memcpy(&w, from + 4 * (lane * words + n), sizeof w);
    return w;
  }
};

struct Form {
  std::string name;
  TensorFormat format = TensorFormat::f16;
  std::size_t k = 0, bits = 0;  ///< of an element of A and B
  bool is_f16_result = false;

  explicit Form(const std::string& text) : name(text) {
    k = std::stoul(text.substr(text.find('k') + 1));
    const auto ends = [&](const std::string& what) {
      return text.size() >= what.size() && text.substr(text.size() - what.size()) == what;
    };
    is_f16_result = ends("_f16_f16");
    format = ends("_tf32")   ? TensorFormat::tf32
             : ends("_bf16") ? TensorFormat::bf16
             : ends("_e4m3") ? TensorFormat::e4m3
             : ends("_e5m2") ? TensorFormat::e5m2
                             : TensorFormat::f16;
    bits = ends("_tf32") ? 32 : ends("16") ? 16 : 8;
  }
  /// Element k of row m of A: PTX's layout of the fragment, where each register has elements beside each other in k.
  std::uint32_t a(const Fragment& f, std::size_t m, std::size_t at) const {
    const std::size_t each = 32 / bits, half = 4 * each;
    const std::size_t lane = 4 * (m % 8) + at % half / each, word = m / 8 + 2 * (at / half);
    return element(f.word(lane, word), at % each);
  }
  std::uint32_t b(const Fragment& f, std::size_t n, std::size_t at) const {
    const std::size_t each = 32 / bits, half = 4 * each;
    return element(f.word(4 * n + at % half / each, at / half), at % each);
  }
  std::uint32_t c(const Fragment& f, std::size_t m, std::size_t n) const {
    const std::size_t lane = 4 * (m % 8) + n / 2;
    if (is_f16_result) return f.word(lane, m / 8) >> (16 * (n % 2)) & 0xffff;
    return f.word(lane, 2 * (m / 8) + n % 2);
  }

 private:
  std::uint32_t element(std::uint32_t word, std::size_t n) const {
    if (format == TensorFormat::tf32) return word >> 13;
    return bits == 16 ? word >> (16 * n) & 0xffff : word >> (8 * n) & 0xff;
  }
};

/// How many elements of a tile differ.
std::size_t wrong(const Form& form, const Fragment& a, const Fragment& b, const Fragment& c, const Fragment& d) {
  std::size_t count = 0;
  for (std::size_t m = 0; m < 16; ++m) {
    for (std::size_t n = 0; n < 8; ++n) {
      std::vector<TensorElement> row, column;
      for (std::size_t k = 0; k < form.k; ++k) {
        row.push_back(emulator::tensor_element(form.format, form.a(a, m, k)));
        column.push_back(emulator::tensor_element(form.format, form.b(b, n, k)));
      }
      const emulator::TensorOperands o{form.format, form.format, row.data(), column.data(), form.k};
      const std::uint32_t got = form.is_f16_result ? emulator::tensor_dot_f16(o, form.c(c, m, n))
                                                   : emulator::tensor_dot_f32(o, form.c(c, m, n));
      if (got != form.c(d, m, n)) ++count;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("products of matrices are those of an H100's tensor cores, bit for bit") {
  const char* const other = std::getenv("REGATTA_MMA_DATA");
  const std::vector<std::uint8_t> data = decompressed(other != nullptr ? other : REGATTA_MMA_DATA);
  std::size_t at = 0, forms = 0;
  while (at < data.size()) {
    const Form form(reinterpret_cast<const char*>(data.data() + at));
    std::uint32_t head[4];
    std::memcpy(head, data.data() + at + 64, sizeof head);
    at += 64 + sizeof head;
    const std::uint8_t* arrays[4];
    std::size_t words[4] = {head[1], head[2], head[3], head[3]};
    for (int i = 0; i < 4; ++i) {
      arrays[i] = data.data() + at;
      at += std::size_t{4} * head[0] * 32 * words[i];
    }
    REQUIRE(at <= data.size());
    if (form.name.find("s32") != std::string::npos) continue;  // integers are exact
    ++forms;
    for (std::size_t t = 0; t < head[0]; ++t) {
      Fragment f[4];
      for (int i = 0; i < 4; ++i) f[i] = {arrays[i] + 4 * 32 * t * words[i], words[i]};
      CAPTURE(form.name, t);
      CHECK(wrong(form, f[0], f[1], f[2], f[3]) == 0);
    }
  }
  CHECK(forms == 9);
}

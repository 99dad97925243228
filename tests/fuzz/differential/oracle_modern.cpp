// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "matrix.h"
#include "threads.h"

namespace regatta::test::differential {
namespace {

using Kind = Statement::Kind;
constexpr unsigned row_bytes = 16, matrix_rows = 8;

std::uint32_t word(const Frame& f, const Operand& o) { return static_cast<std::uint32_t>(get(f, o)); }

/// 8 x 8 elements of 16 bits, by row and column. A lane has two of row lane / 4.
using Tile = std::array<std::array<std::uint16_t, matrix_rows>, matrix_rows>;

std::uint32_t pair_of(const Tile& t, unsigned lane, bool transposed) {
  const unsigned row = lane / 4, column = lane % 4 * 2;
  const std::uint32_t low = transposed ? t[column][row] : t[row][column];
  const std::uint32_t high = transposed ? t[column + 1][row] : t[row][column + 1];
  return low | high << 16;
}
void set_pair(Tile& t, unsigned lane, bool transposed, std::uint32_t pair) {
  const unsigned row = lane / 4, column = lane % 4 * 2;
  (transposed ? t[column][row] : t[row][column]) = static_cast<std::uint16_t>(pair);
  (transposed ? t[column + 1][row] : t[row][column + 1]) = static_cast<std::uint16_t>(pair >> 16);
}

/// One warp.
class MatrixWarp {
 public:
  MatrixWarp(const Statement& s, Thread* threads) : s_(s), threads_(threads) {}

  void run() {
    switch (s_.kind) {
      case Kind::product:
        return product_of_registers();
      case Kind::transpose:
        return transpose();
      case Kind::matrix_load:
        return load();
      case Kind::matrix_store:
        return store();
      default:
        return product_of_memory();
    }
  }

 private:
  bool is(MatrixMode bit) const { return (s_.mode & bit) != 0; }

  Fragment operands(unsigned first, unsigned count) const {
    Fragment f;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = first; i < first + count; ++i) {
        const std::uint64_t v = get(threads_[lane].frame, s_.from[i]);
        f[lane].push_back(static_cast<std::uint32_t>(v));
        if (class_bytes(s_.from[i].type) == 8) f[lane].push_back(static_cast<std::uint32_t>(v >> 32));
      }
    }
    return f;
  }

  void product_of_registers() {
    const MatrixForm& f = matrix_forms()[s_.row];
    const bool doubles = f.a == MatrixElement::f64;
    const unsigned a = doubles ? 1 : f.a_words(), b = doubles ? 1 : f.b_words();
    const auto c = static_cast<unsigned>(s_.to.size());
    const Fragment d = product(f, operands(0, a), operands(a, b), operands(a + b, c));
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < c; ++i) {
        const std::uint64_t v =
            doubles ? d[lane][2 * i] | std::uint64_t{d[lane][2 * i + 1]} << 32 : std::uint64_t{d[lane][i]};
        set(threads_[lane].frame, s_.to[i], v);
      }
    }
  }

  void transpose() {
    Tile t{};
    for (unsigned lane = 0; lane < lanes; ++lane) set_pair(t, lane, false, word(threads_[lane].frame, s_.from[0]));
    for (unsigned lane = 0; lane < lanes; ++lane) set(threads_[lane].frame, s_.to[0], pair_of(t, lane, true));
  }

  /// Bytes of shared memory, of which each lane writes `words` words.
  std::vector<std::uint8_t> memory(unsigned words) const {
    std::vector<std::uint8_t> bytes;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < words; ++i) {
        const std::uint32_t w = word(threads_[lane].frame, s_.from[i]);
        for (unsigned b = 0; b < 4; ++b) bytes.push_back(static_cast<std::uint8_t>(w >> (8 * b)));
      }
    }
    return bytes;
  }
  void read_rows(const std::vector<std::uint8_t>& from, unsigned stride, unsigned offset) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        std::uint32_t w = 0;
        std::memcpy(&w, &from[std::size_t{lane} * stride + offset + 4 * i], sizeof w);
        set(threads_[lane].frame, s_.to[i], w);
      }
    }
  }

  void load() {
    const std::vector<std::uint8_t> bytes = memory(4);
    std::array<std::uint32_t, lanes> rows{};
    for (unsigned lane = 0; lane < lanes; ++lane) rows[lane] = word(threads_[lane].frame, s_.from[4]) & 31;
    for (unsigned m = 0; m < s_.count; ++m) {
      Tile t{};
      for (unsigned r = 0; r < matrix_rows; ++r) {
        std::memcpy(t[r].data(), &bytes[std::size_t{rows[matrix_rows * m + r]} * row_bytes], row_bytes);
      }
      for (unsigned lane = 0; lane < lanes; ++lane) {
        set(threads_[lane].frame, s_.to[m], pair_of(t, lane, is(transposed)));
      }
    }
  }

  void store() {
    std::vector<std::uint8_t> bytes = memory(4);
    for (unsigned m = 0; m < s_.count; ++m) {
      Tile t{};
      for (unsigned lane = 0; lane < lanes; ++lane) {
        set_pair(t, lane, is(transposed), word(threads_[lane].frame, s_.from[4 + m]));
      }
      for (unsigned r = 0; r < matrix_rows; ++r) {
        const unsigned row = (matrix_rows * m + r) ^ s_.distance;
        std::memcpy(&bytes[std::size_t{row} * row_bytes], t[r].data(), row_bytes);
      }
    }
    read_rows(bytes, row_bytes, 0);
  }

  void product_of_memory() {
    constexpr unsigned side = 16;
    const MatrixForm& f = wmma_forms()[s_.row];
    const std::vector<std::uint8_t> bytes = memory(8);
    const auto at = [&](unsigned first, MatrixElement e, bool columns, unsigned row, unsigned column) {
      const unsigned each = bits_of(e) / 8;
      return std::size_t{first} + each * std::size_t{columns ? column * side + row : row * side + column};
    };
    const auto element = [&](unsigned first, MatrixElement e, bool columns, unsigned row, unsigned column) {
      std::uint64_t v = 0;
      std::memcpy(&v, &bytes[at(first, e, columns, row, column)], bits_of(e) / 8);
      return v;
    };
    const unsigned b_at = side * side * bits_of(f.a) / 8;
    std::vector<std::uint8_t> d(bytes.size());
    for (unsigned row = 0; row < side; ++row) {
      for (unsigned column = 0; column < side; ++column) {
        std::vector<std::uint64_t> a, b;
        for (unsigned k = 0; k < side; ++k) {
          a.push_back(element(0, f.a, is(transposed), row, k));
          b.push_back(element(b_at, f.b, is(b_by_columns), k, column));
        }
        const std::uint64_t v = product_element(f, a, b, element(0, f.c, is(c_by_columns), row, column));
        std::memcpy(&d[at(0, f.c, is(d_by_columns), row, column)], &v, bits_of(f.c) / 8);
      }
    }
    const bool half = f.c == MatrixElement::f16;
    read_rows(d, half ? row_bytes : 2 * row_bytes, is(upper_half) && !half ? row_bytes : 0);
  }

  const Statement& s_;
  Thread* threads_;
};

}  // namespace

void run_modern(const Statement& s, std::vector<Thread>& threads) {
  constexpr auto global = static_cast<unsigned>(Space::global);
  if (s.kind == Kind::bulk_load) {
    const Slot inbox = threads[s.distance].slots[global];
    for (Thread& t : threads) {
      const unsigned n = word(t.frame, s.from[0]) & (s.count / 4 - 1);
      set(t.frame, s.to[0], word_of(inbox, s.offset + 4 * n));
    }
    return;
  }
  if (s.kind == Kind::bulk_store) {
    std::vector<std::uint32_t> area;
    for (const Thread& t : threads) area.push_back(word(t.frame, s.from[0]));
    std::memcpy(&threads[s.distance].slots[global][s.offset], &area[std::size_t{4} * s.trips], s.count);
    return;
  }
  for (unsigned first = 0; first < threads.size(); first += lanes) MatrixWarp(s, threads.data() + first).run();
}

}  // namespace regatta::test::differential

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "matrix.h"
#include "modern.h"

namespace regatta::test::differential {
namespace {

using Kind = Statement::Kind;

class Drawing {
 public:
  explicit Drawing(const Draws& draws) : d_(draws) {}

  Statement together() {
    switch (d_.below(12)) {
      case 0:
        return transpose();
      case 1:
      case 2:
        return load();
      case 3:
        return store();
      case 4:
        return memory_product();
      case 5:
      case 6:
        return exchange();
      case 7:
        return bulk(Kind::bulk_load);
      case 8:
        return bulk(Kind::bulk_store);
      default:
        return product();
    }
  }

  Statement copy() {
    Statement s;
    s.kind = Kind::copy;
    const unsigned parts = 1 + d_.below(3), first = d_.below(4);
    for (unsigned i = 0; i < parts; ++i) {
      CopyPart c;
      c.mode = static_cast<CopyPart::Mode>(d_.below(4));
      c.bytes = c.mode == CopyPart::Mode::global_level ? piece : 4u << d_.below(3);
      c.from = d_.below(slot_bytes / c.bytes) * c.bytes;
      // Destinations do not overlap: which copy would be last is not defined.
      c.to = (first + i) % 4 * piece + d_.below(piece / c.bytes) * c.bytes;
      if (c.mode == CopyPart::Mode::cut) c.operand = d_.variable('r');
      if (c.mode == CopyPart::Mode::ignored) c.operand = d_.variable('p');
      s.copies.push_back(c);
    }
    s.to = {d_.variable('r')};  // a word of the first one
    s.trips = d_.below(3);      // groups that may still be on their way when it is read
    for (unsigned n = d_.below(3); n > 0; --n) s.body.push_back(d_.operation());
    if (s.body.empty() && d_.below(3) == 0) {
      s.guard = static_cast<int>(d_.below(d_.count('p')));
      s.guard_negated = d_.below(2) != 0;
    }
    return s;
  }

 private:
  static constexpr unsigned piece = 16;

  /// Different ones.
  std::vector<Operand> several(char c, unsigned count) {
    std::vector<Operand> list;
    const unsigned first = d_.below(d_.count(c));
    for (unsigned i = 0; i < count; ++i) list.push_back({c, false, (first + i) % d_.count(c), 0});
    return list;
  }
  /// Any ones.
  void add(std::vector<Operand>& to, char c, unsigned count) {
    for (unsigned i = 0; i < count; ++i) to.push_back(d_.variable(c));
  }

  Statement product() {
    // Of the table: floats of 16 and 19 bits, of 8, f64, integers of 8 and 4 bits, bits.
    constexpr unsigned byte_floats = 8, doubles = 24, integers = 25, bits = 73;
    Statement s;
    s.kind = Kind::product;
    const auto all = static_cast<unsigned>(matrix_forms().size());
    const unsigned kind = d_.below(9);
    if (kind < 3) {
      s.row = d_.below(byte_floats);
    } else if (kind < 5) {
      s.row = byte_floats + d_.below(doubles - byte_floats);
    } else if (kind == 5 && d_.count('g') >= 2) {
      s.row = doubles;
      s.to = several('g', 2);
      add(s.from, 'g', 4);
      return s;
    } else if (kind == 6) {
      s.row = bits + d_.below(all - bits);
    } else {
      s.row = integers + d_.below(bits - integers);
    }
    const MatrixForm& f = matrix_forms()[s.row];
    const auto result_class = [&] {
      return f.c == MatrixElement::f32 && d_.count('f') >= f.c_words() && d_.below(2) == 0 ? 'f' : 'r';
    };
    s.to = several(result_class(), f.c_words());
    add(s.from, 'r', f.a_words() + f.b_words());
    // C is often D, as in a sum.
    if (d_.below(2) == 0) {
      s.from.insert(s.from.end(), s.to.begin(), s.to.end());
    } else {
      add(s.from, result_class(), f.c_words());
    }
    return s;
  }

  Statement transpose() {
    Statement s;
    s.kind = Kind::transpose;
    s.to = {d_.variable('r')};
    s.from = {d_.variable('r')};
    return s;
  }

  Statement load() {
    Statement s;
    s.kind = Kind::matrix_load;
    s.mode = d_.below(8);
    s.count = 1u << d_.below(3);
    s.to = several('r', s.count);
    add(s.from, 'r', 5);  // a row, and which row to give
    return s;
  }

  Statement store() {
    Statement s;
    s.kind = Kind::matrix_store;
    s.mode = d_.below(8);
    s.count = 1u << d_.below(3);
    s.distance = d_.below(32);
    s.to = several('r', 4);
    add(s.from, 'r', 4 + s.count);
    return s;
  }

  Statement memory_product() {
    Statement s;
    s.kind = Kind::memory_product;
    s.row = d_.below(wmma_forms().size());
    s.mode = d_.below(128) & ~unsigned{generic_rows};
    s.to = several('r', 4);
    add(s.from, 'r', 8);
    return s;
  }

  Statement exchange() {
    Statement s;
    s.kind = Kind::exchange;
    s.mode = by_parity + d_.below(exchange_modes - by_parity);
    s.distance = 1 + d_.below(threads_per_cta - 1);
    s.to = {d_.variable('r')};
    if (s.mode == by_copy) {
      s.offset = 4 * d_.below(slot_bytes / 4);
    } else {
      s.from = {d_.variable('r')};
    }
    return s;
  }

  Statement bulk(Kind kind) {
    Statement s;
    s.kind = kind;
    s.distance = d_.below(threads_per_cta);
    s.count = piece << d_.below(3);  // bytes
    s.offset = d_.below(slot_bytes / s.count) * s.count;
    s.from = {d_.variable('r')};
    if (kind == Kind::bulk_load) {
      s.to = {d_.variable('r')};
    } else {
      s.trips = d_.below((threads_per_cta * 4 - s.count) / piece + 1);  // pieces of shared memory in front of it
    }
    return s;
  }

  const Draws& d_;
};

}  // namespace

Statement draw_together(const Draws& draws) { return Drawing(draws).together(); }
Statement draw_copy(const Draws& draws) { return Drawing(draws).copy(); }

}  // namespace regatta::test::differential

// SPDX-License-Identifier: Apache-2.0
//
// A set of small integers whose universe is fixed at run time; the element type of every data-flow analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::analysis {

class BitSet {
 public:
  BitSet() = default;
  /// The empty subset of 0..size-1.
  explicit BitSet(std::size_t size, bool full = false)
      : size_(size), words_((size + 63) / 64, full ? ~std::uint64_t{0} : 0) {
    trim();
  }

  std::size_t size() const { return size_; }
  bool test(std::size_t i) const { return (words_[i >> 6] >> (i & 63)) & 1; }
  void set(std::size_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }
  void reset(std::size_t i) { words_[i >> 6] &= ~(std::uint64_t{1} << (i & 63)); }
  void clear() { words_.assign(words_.size(), 0); }

  std::size_t count() const {
    std::size_t n = 0;
    for (std::uint64_t w : words_) n += static_cast<std::size_t>(__builtin_popcountll(w));
    return n;
  }
  bool any() const {
    for (std::uint64_t w : words_)
      if (w != 0) return true;
    return false;
  }

  /// Union; tells whether this set grew. Both sets have one universe, here and below.
  bool merge(const BitSet& other) {
    std::uint64_t grown = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      grown |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return grown != 0;
  }
  /// Intersection; tells whether this set shrank.
  bool intersect(const BitSet& other) {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      lost |= words_[i] & ~other.words_[i];
      words_[i] &= other.words_[i];
    }
    return lost != 0;
  }
  void subtract(const BitSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }

  /// Calls visit(element) in ascending order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t w = words_[i]; w != 0; w &= w - 1)
        visit(static_cast<std::uint32_t>(i * 64 + static_cast<unsigned>(__builtin_ctzll(w))));
  }

  friend bool operator==(const BitSet& a, const BitSet& b) { return a.size_ == b.size_ && a.words_ == b.words_; }
  friend bool operator!=(const BitSet& a, const BitSet& b) { return !(a == b); }

 private:
  void trim() {
    if (size_ % 64 != 0 && !words_.empty()) words_.back() &= (std::uint64_t{1} << (size_ % 64)) - 1;
  }

  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace regatta::analysis

// SPDX-License-Identifier: Apache-2.0
//
// Per 32-bit word of memory, the accesses that a later one may race with.
#pragma once

#include "race_order.h"

#include <regatta/emulator/device_memory.h>

#include <cstdint>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

namespace regatta::emulator {

/// The time of an asynchronous copy that nobody has waited for: after it comes nothing yet.
inline constexpr std::uint32_t unfinished = 0xffffffffu;

/// An access of some lanes of one warp instruction to a word.
struct RaceEntry {
  AccessTime when;
  std::uint32_t op = 0;    ///< position in the program
  std::uint8_t bytes = 0;  ///< of the word, as bits; 0: no entry
  bool writes = false;
  bool cta_scope = false;
  /// How it stands to concurrent accesses: 0 plain, 1 volatile on shared memory, 2 strong (atomics, .relaxed, .acquire,
  /// .release, .volatile on global memory). A sum of 3 or more is no race.
  std::uint8_t strength = 0;
};

/// The entries of a word. Most words have one at a time, which lies in the word itself.
class WordHistory {
 public:
  /// Keeps the entries for which `keep(entry)` is true; it may change them.
  template <class Keep>
  void filter(const Keep& keep) {
    if (first_.bytes != 0 && !keep(first_)) first_.bytes = 0;
    if (!more_) return;
    std::size_t kept = 0;
    for (RaceEntry& e : *more_) {
      if (keep(e)) (*more_)[kept++] = e;
    }
    more_->resize(kept);
  }
  void add(const RaceEntry& e) {
    if (first_.bytes == 0) {
      first_ = e;
      return;
    }
    if (!more_) more_ = std::make_unique<std::vector<RaceEntry>>();
    more_->push_back(e);
  }
  std::size_t size() const { return (first_.bytes != 0 ? 1 : 0) + (more_ ? more_->size() : 0); }
  void clear() {
    first_.bytes = 0;
    if (more_) more_->clear();
  }

 private:
  RaceEntry first_;
  std::unique_ptr<std::vector<RaceEntry>> more_;
};

/// Word histories of an address space, made where they are touched. Throws std::bad_alloc when they no longer fit into
/// the machine.
class RaceShadow {
 public:
  WordHistory& at(std::uint64_t word) {
    const std::uint64_t page = word / page_words;
    if (page != last_page_ || last_ == nullptr) {
      std::unique_ptr<WordHistory[]>& p = pages_[page];
      if (!p) {
        if (pages_.size() > physical_bytes() / (page_words * sizeof(WordHistory))) throw std::bad_alloc();
        p = std::make_unique<WordHistory[]>(page_words);
      }
      last_page_ = page;
      last_ = p.get();
    }
    return last_[word % page_words];
  }
  void clear() {
    pages_.clear();
    last_ = nullptr;
  }

 private:
  static constexpr std::uint64_t page_words = 1024;
  std::unordered_map<std::uint64_t, std::unique_ptr<WordHistory[]>> pages_;
  std::uint64_t last_page_ = 0;
  WordHistory* last_ = nullptr;
};

}  // namespace regatta::emulator

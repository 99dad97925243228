// SPDX-License-Identifier: Apache-2.0
#include "access_log.h"

#include <algorithm>

namespace regatta::emulator {

void StartState::save(std::size_t allocation, std::uint64_t page) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [place, is_new] = pages_.try_emplace({allocation, page});
  if (!is_new) return;
  const Allocation& a = memory_.allocations()[allocation];
  const auto copy = [&](const std::vector<std::uint8_t>& from) {
    if (from.empty()) return std::vector<std::uint8_t>{};
    const std::uint64_t begin = page << page_shift, end = std::min<std::uint64_t>(begin + page_bytes, from.size());
    return std::vector<std::uint8_t>(from.begin() + static_cast<std::ptrdiff_t>(begin),
                                     from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  place->second.data = copy(a.data);
  place->second.written = copy(a.written);
}

void StartState::restore() {
  for (const auto& [key, page] : pages_) {
    Allocation& a = memory_.allocations()[key.first];
    const auto at = static_cast<std::ptrdiff_t>(key.second << page_shift);
    std::copy(page.data.begin(), page.data.end(), a.data.begin() + at);
    std::copy(page.written.begin(), page.written.end(), a.written.begin() + at);
  }
  pages_.clear();
}

AccessLog::Table& AccessLog::table(const Allocation& a) {
  const std::size_t index = index_of(a);
  if (tables_.size() <= index) tables_.resize(memory_.allocations().size());
  return tables_[index];
}

AccessLog::Page& AccessLog::find_page(const Allocation& a, std::uint64_t number, bool writes) {
  Table& t = table(a);
  if (t.pages.empty()) t.pages.resize((a.bytes + StartState::page_bytes - 1) >> StartState::page_shift);
  std::unique_ptr<Page>& p = t.pages[number];
  if (p == nullptr) p = std::make_unique<Page>();
  if (writes && !p->any_written) {
    start_.save(index_of(a), number);
    p->any_written = true;
  }
  recent_[writes ? 1 : 0] = {&a, number, p.get()};
  return *p;
}

void AccessLog::mark_range(const Allocation& a, std::uint64_t first, std::uint64_t last, bool writes) {
  for (std::uint64_t word = first; word <= last;) {
    const std::uint64_t number = word >> (StartState::page_shift - 2);
    Page& p = page(a, number, writes);
    Bits& bits = writes ? p.written : p.read;
    const std::uint64_t end = std::min(last + 1, (number + 1) << (StartState::page_shift - 2));
    while (word < end) {
      const std::uint64_t at = word % (words * 64), count = std::min(end - word, 64 - at % 64);
      bits[at / 64] |= (~std::uint64_t{0} >> (64 - count)) << at % 64;
      word += count;
    }
  }
}

void AccessLog::lanes(const Allocation& a, const std::uint64_t* address, std::uint64_t active, std::uint64_t bytes,
                      bool writes) {
  // Lanes are mostly in one page, and each in one word.
  std::uint64_t number = ~std::uint64_t{0};
  std::uint64_t* bits = nullptr;
  for (; active != 0; active &= active - 1) {
    const std::uint64_t offset = address[__builtin_ctzll(active)] - a.base;
    if (offset % 4 + bytes > 4) {
      mark(a, offset, bytes, writes);
      continue;
    }
    if (offset >> StartState::page_shift != number) {
      number = offset >> StartState::page_shift;
      Page& p = page(a, number, writes);
      bits = (writes ? p.written : p.read).data();
    }
    const std::uint64_t word = offset / 4 % (words * 64);
    bits[word / 64] |= std::uint64_t{1} << word % 64;
  }
}

bool AccessLog::touches_written(const AccessLog& other) const {
  for (std::size_t n = 0; n < std::min(tables_.size(), other.tables_.size()); ++n) {
    const Table &mine = tables_[n], &theirs = other.tables_[n];
    for (std::size_t k = 0; k < theirs.pages.size(); ++k) {
      const Page* const w = theirs.pages[k].get();
      if (w == nullptr || !w->any_written) continue;
      if (mine.read_all) return true;
      const Page* const p = k < mine.pages.size() ? mine.pages[k].get() : nullptr;
      if (p == nullptr) continue;
      for (std::size_t i = 0; i < words; ++i) {
        if (((p->read[i] | p->written[i]) & w->written[i]) != 0) return true;
      }
    }
  }
  return false;
}

}  // namespace regatta::emulator

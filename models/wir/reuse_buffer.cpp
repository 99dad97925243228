// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/reuse_buffer.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::models::wir {

namespace {

/// XOR-fold of all that the tag has (blocks.md B2: the paper does not give the hash), finished so that neighbouring
/// register numbers spread.
std::uint32_t fold(const ReuseTag& tag) {
  std::uint64_t h = tag.opcode * std::uint64_t{0x9e3779b97f4a7c15};
  for (const PhysicalRegister r : tag.sources) {
    if (r == no_register) break;
    h = (h ^ r.value()) * std::uint64_t{0xff51afd7ed558ccd};
  }
  h ^= std::uint64_t{tag.block} << 40 ^ std::uint64_t{tag.barriers} << 56;
  h ^= h >> 32;
  h ^= h >> 16;
  return static_cast<std::uint32_t>(h);
}

}  // namespace

ReuseBuffer::ReuseBuffer(unsigned entries, bool fully_associative)
    : entries_(entries), associative_(fully_associative) {
  if (entries == 0) throw std::invalid_argument("a reuse buffer without entries");
}

ReuseBuffer::Entry& ReuseBuffer::place(const ReuseTag& tag) {
  if (!associative_) {
    const std::size_t n = entries_.size();
    return entries_[(n & (n - 1)) == 0 ? fold(tag) & (n - 1) : fold(tag) % n];
  }
  const auto same =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.valid && e.tag == tag; });
  if (same != entries_.end()) return *same;
  return *std::min_element(entries_.begin(), entries_.end(),
                           [](const Entry& a, const Entry& b) { return a.used < b.used; });
}

ReuseBuffer::Lookup ReuseBuffer::find(const ReuseTag& tag) {
  Entry& e = place(tag);
  if (!e.valid || !(e.tag == tag)) return {};
  e.used = ++uses_;
  if (e.pending) return {Found::pending, {}};
  return {Found::result, e.result};
}

Dropped ReuseBuffer::claim(const ReuseTag& tag, std::uint64_t owner) {
  Entry& e = place(tag);
  const Dropped dropped = drop(e);
  e = Entry{true, true, tag, {}, owner, ++uses_};
  ++entered_;
  return dropped;
}

bool ReuseBuffer::complete(const ReuseTag& tag, std::uint64_t owner, const ReuseResult& result) {
  Entry& e = place(tag);
  if (!e.valid || !e.pending || e.owner != owner || !(e.tag == tag)) return false;
  e.pending = false;
  e.result = result;
  return true;
}

Dropped ReuseBuffer::abandon(const ReuseTag& tag, std::uint64_t owner) {
  Entry& e = place(tag);
  if (!e.valid || !e.pending || e.owner != owner || !(e.tag == tag)) return {};
  return drop(e);
}

Dropped ReuseBuffer::insert(const ReuseTag& tag, const ReuseResult& result) {
  Entry& e = place(tag);
  const Dropped dropped = drop(e);
  e = Entry{true, false, tag, result, 0, ++uses_};
  ++entered_;
  return dropped;
}

Dropped ReuseBuffer::evict(const ReuseTag& tag) { return drop(place(tag)); }

Dropped ReuseBuffer::drop(Entry& e) {
  Dropped dropped;
  if (e.valid) {
    auto* const results = std::copy(e.tag.sources.begin(), e.tag.sources.end(), dropped.regs.begin());
    if (!e.pending) std::copy(e.result.begin(), e.result.end(), results);
  }
  e = Entry{};
  return dropped;
}

}  // namespace regatta::models::wir

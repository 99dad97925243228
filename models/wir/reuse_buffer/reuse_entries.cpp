// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/reuse_entries.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::models::wir {

ReuseEntries::ReuseEntries(unsigned entries, bool fully_associative)
    : entries_(entries), used_(fully_associative ? entries : 0), associative_(fully_associative) {
  if (entries == 0) throw std::invalid_argument("a reuse buffer without entries");
  if (!associative_ && (entries & (entries - 1)) == 0) mask_ = entries - 1;
}

ReuseEntries::Entry& ReuseEntries::place_at_length(const ReuseTag& tag, std::uint32_t fold) {
  if (!associative_) return entries_[fold % entries_.size()];
  const auto same =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.valid && e.tag == tag; });
  if (same != entries_.end()) return *same;
  return entries_[static_cast<std::size_t>(std::min_element(used_.begin(), used_.end()) - used_.begin())];
}

bool ReuseEntries::complete(const ReuseTag& tag, std::uint32_t fold, std::uint32_t owner, const ReuseResult& result) {
  Entry& e = place(tag, fold);
  if (!e.valid || !e.pending || e.owner != owner || !(e.tag == tag)) return false;
  e.pending = false;
  e.result = result;
  return true;
}

Dropped ReuseEntries::abandon(const ReuseTag& tag, std::uint32_t owner) {
  Entry& e = place(tag, tag.fold());
  if (!e.valid || !e.pending || e.owner != owner || !(e.tag == tag)) return {};
  return drop(e);
}

Dropped ReuseEntries::insert(const ReuseTag& tag, const ReuseResult& result) {
  Entry& e = place(tag, tag.fold());
  const Dropped dropped = dropped_by(e);
  e = Entry{tag, result, 0, true, false};
  used(e);
  ++entered_;
  return dropped;
}

Dropped ReuseEntries::drop(Entry& e) {
  const Dropped dropped = dropped_by(e);
  clear(e);
  return dropped;
}

Dropped ReuseEntries::dropped_by(const Entry& e) {
  Dropped dropped;
  if (!e.valid) return dropped;
  dropped.sources = e.tag.sources;
  if (!e.pending) dropped.results = e.result;
  return dropped;
}

}  // namespace regatta::models::wir

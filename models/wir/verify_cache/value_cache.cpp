// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/value_cache.h>

#include <algorithm>

namespace regatta::models::wir {

ValueCache::ValueCache(unsigned entries, unsigned lanes) : tags_(entries), lanes_(lanes) {
  values_.resize(entries, lanes);
}

const std::uint32_t* ValueCache::search(PhysicalRegister reg) {
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    if (tags_[i].reg != reg) continue;
    tags_[i].used = ++uses_;
    return values_[i];
  }
  return nullptr;
}

void ValueCache::fill(PhysicalRegister reg, const std::uint32_t* value) {
  if (tags_.empty()) return;
  // An empty place was never used, or was cleared: it has the least use.
  auto tag = std::find_if(tags_.begin(), tags_.end(), [&](const Tag& t) { return t.reg == reg; });
  if (tag == tags_.end())
    tag = std::min_element(tags_.begin(), tags_.end(), [](const Tag& a, const Tag& b) { return a.used < b.used; });
  *tag = Tag{reg, ++uses_};
  std::copy_n(value, lanes_, values_[static_cast<std::size_t>(tag - tags_.begin())]);
  note();
}

void ValueCache::forget(PhysicalRegister reg) {
  for (Tag& t : tags_) {
    if (t.reg == reg) t = Tag{};
  }
  note();
}

void ValueCache::note() {
  kept_ = 0;
  for (const Tag& t : tags_) {
    if (t.reg != no_register) kept_ |= std::uint64_t{1} << t.reg.value() % 64;
  }
}

void ValueCache::clear() {
  std::fill(tags_.begin(), tags_.end(), Tag{});
  note();
}

}  // namespace regatta::models::wir

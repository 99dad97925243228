// SPDX-License-Identifier: Apache-2.0
//
// The register management unit's operations as its page states them (models/finereg/rmu/rtl/README.md), on sets
// and lists: what an RTL is compared with. It also names the outcome of each operation, for coverage.
#pragma once

#include <regatta/finereg/operations.h>

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regatta::test {

class RmuReference {
 public:
  using Operation = models::RmuOperation;
  using Result = models::RmuResult;
  using Kind = Operation::Kind;
  using Tag = models::PendingTag;
  /// A register of a chain.
  struct Link {
    unsigned entry, warp, reg;
  };
  using Links = std::deque<Link>;
  struct Chain {
    unsigned cta = 0, first = 0;
    Links links;
  };
  struct Answer {
    Result result;
    const char* outcome;
  };

  explicit RmuReference(unsigned entries = 1024) : entries_(entries) { set_limit(entries); }

  Answer operate(const Operation& o) {
    switch (o.kind) {
      case Kind::lookup:
        return look_up(o.index);
      case Kind::fill:
        return fill(o.index, o.vector);
      case Kind::clear:
        cache_.clear();
        return {Result{}, "clear"};
      case Kind::join:
        return of_set(o.set | o.vector, o.set == 0 ? "join: the first vector" : "join: more");
      case Kind::load:
        return of_set(working_ = o.set, o.set == 0 ? "load: none" : "load");
      case Kind::next:
        return of_set(working_, working_ == 0 ? "next: none left" : "next");
      case Kind::remove:
        return remove(o.reg);
      case Kind::take:
        return take();
      case Kind::give_back:
        return give_back(o.index);
      case Kind::limit:
        set_limit(o.index);
        return {Result::of_entry(true, 0, o.index), o.index == 0          ? "limit: none"
                                                    : o.index == entries_ ? "limit: all"
                                                                          : "limit: some"};
      case Kind::begin:
        return begin(o.index);
      case Kind::append:
        return append(o);
      case Kind::close:
        return close();
      case Kind::pointer:
        return pointer(o.index);
      case Kind::walk:
        return walk(o.index);
      case Kind::step:
        return step();
      case Kind::end_walk:
        return end_walk();
      case Kind::peek:
        return peek(o.index);
      case Kind::drop:
        return drop(o.index);
    }
    return {};
  }

  // What traffic looks at, to ask for what makes sense.
  unsigned entries() const { return entries_; }
  const std::set<unsigned>& free() const { return free_; }
  const std::set<unsigned>& used() const { return used_; }
  std::uint64_t working() const { return working_; }
  const std::optional<Chain>& made() const { return made_; }
  const std::optional<Chain>& walked() const { return walked_; }
  bool has_chains() const { return !closed_.empty(); }
  /// The first CTA from `cta` on that has a whole chain; `cta` if none has one.
  unsigned with_chain(unsigned cta) const {
    const auto found = closed_.lower_bound(cta);
    return found == closed_.end() ? cta : found->first;
  }

 private:
  static Answer of_set(std::uint64_t set, const char* outcome) {
    Result r;
    r.vector = set;
    r.ok = set != 0;
    for (unsigned i = 64; i-- != 0;) {
      if (((set >> i) & 1) == 0) continue;
      r.reg = static_cast<std::uint8_t>(i);
      ++r.count;
    }
    return {r, outcome};
  }
  static Tag tag_of(const Links& links, std::size_t n, bool closed) {
    Tag tag;
    tag.valid = true;
    tag.end = closed && n + 1 == links.size();
    tag.next = static_cast<std::uint16_t>(n + 1 == links.size() ? 0 : links[n + 1].entry);
    tag.warp = static_cast<std::uint8_t>(links[n].warp);
    tag.reg = static_cast<std::uint8_t>(links[n].reg);
    return tag;
  }

  // The cache of 32 PCs.
  Answer look_up(std::uint32_t pc) {
    const auto found = cache_.find(pc % 32);
    if (found == cache_.end()) return {Result{}, "lookup: an empty entry"};
    if (found->second.first != pc) return {Result{}, "lookup: another PC"};
    return {Result::of_vector(true, found->second.second), "lookup: a hit"};
  }
  Answer fill(std::uint32_t pc, std::uint64_t vector) {
    const auto found = cache_.find(pc % 32);
    const bool empty = found == cache_.end(), replaces = !empty && found->second.first != pc;
    cache_[pc % 32] = {pc, vector};
    return {Result::of_vector(replaces, 0), empty      ? "fill: an empty entry"
                                            : replaces ? "fill: another PC"
                                                       : "fill: the same PC"};
  }

  Answer remove(unsigned reg) {
    const bool there = ((working_ >> reg) & 1) != 0;
    working_ &= ~(std::uint64_t{1} << reg);
    return of_set(working_, !there ? "remove: not there" : working_ == 0 ? "remove: the last" : "remove");
  }

  void set_limit(unsigned entries) {
    limit_ = entries;
    free_.clear();
    for (unsigned e = 0; e < entries; ++e) free_.insert(free_.end(), e);
  }
  Answer take() {
    if (free_.empty()) return {Result{}, "take: none is free"};
    const unsigned entry = *free_.begin();
    free_.erase(free_.begin());
    return {Result::of_entry(true, entry, static_cast<unsigned>(free_.size())),
            free_.empty() ? "take: the last" : "take"};
  }
  Answer give_back(unsigned entry) {
    const bool ok = entry < limit_ && free_.insert(entry).second;
    return {Result::of_entry(ok, 0, static_cast<unsigned>(free_.size())), ok ? "give_back"
                                                                          : entry < limit_
                                                                              ? "give_back: a free one"
                                                                              : "give_back: beyond the limit"};
  }

  Answer begin(unsigned cta) {
    const bool has = pointers_.count(cta) != 0, walks = walked_ && walked_->cta == cta;
    if (made_ || has || walks) {
      return {Result{}, made_ ? "begin: another is made" : walks ? "begin: it is walked" : "begin: it has a chain"};
    }
    made_ = Chain{cta, 0, {}};
    return {Result::of_entry(true, 0, 0), "begin"};
  }
  Answer append(const Operation& o) {
    if (!made_) return {Result{}, "append: none is made"};
    if (!used_.insert(o.index).second) return {Result{}, "append: a used entry"};
    if (made_->links.empty()) made_->first = o.index;
    made_->links.push_back({o.index, o.warp, o.reg});
    return {Result::of_entry(true, made_->first, static_cast<unsigned>(made_->links.size())),
            made_->links.size() == 1          ? "append: the first"
            : made_->links.size() == entries_ ? "append: the last entry of all"
                                              : "append"};
  }
  Answer close() {
    if (!made_) return {Result{}, "close: none is made"};
    const Chain done = std::move(*made_);
    made_.reset();
    const auto count = static_cast<unsigned>(done.links.size());
    if (count != 0) {
      pointers_[done.cta] = {done.first, count};
      closed_[done.cta] = done.links;
    }
    return {Result::of_entry(true, done.first, count), count == 0   ? "close: no register"
                                                       : count == 1 ? "close: one register"
                                                                    : "close"};
  }
  Answer pointer(unsigned cta) {
    const auto found = pointers_.find(cta);
    if (found == pointers_.end()) return {Result{}, "pointer: none"};
    return {Result::of_entry(true, found->second.first, found->second.second), "pointer"};
  }
  Answer walk(unsigned cta) {
    if (walked_) return {Result{}, "walk: another is walked"};
    if (made_ && made_->cta == cta) return {Result{}, "walk: it is made"};
    const Result r = pointer(cta).result;
    walked_ = Chain{cta, 0, {}};
    const auto found = closed_.find(cta);
    if (found != closed_.end()) {
      walked_->links = std::move(found->second);
      closed_.erase(found);
    }
    return {Result::of_entry(true, r.entry, r.count), r.count == 0 ? "walk: no register" : "walk"};
  }
  Answer step() {
    if (!walked_) return {Result{}, "step: none is walked"};
    Links& links = walked_->links;
    if (links.empty()) return {Result{}, "step: none is left"};
    const unsigned entry = links.front().entry;
    const Tag tag = tag_of(links, 0, true);
    links.pop_front();
    used_.erase(entry);
    return {Result::of_entry(true, entry, static_cast<unsigned>(links.size()), tag),
            links.empty() ? "step: the last" : "step"};
  }
  Answer end_walk() {
    if (!walked_) return {Result{}, "end_walk: none is walked"};
    if (!walked_->links.empty()) return {Result{}, "end_walk: some are left"};
    pointers_.erase(walked_->cta);
    walked_.reset();
    return {Result::of_entry(true, 0, 0), "end_walk"};
  }
  Answer peek(unsigned entry) const {
    const auto found = [&](const Links& links, bool closed) -> std::optional<Tag> {
      for (std::size_t n = 0; n < links.size(); ++n) {
        if (links[n].entry == entry) return tag_of(links, n, closed);
      }
      return std::nullopt;
    };
    const auto answer = [](const Tag& tag, const char* outcome) {
      return Answer{Result::of_entry(true, 0, 0, tag), outcome};
    };
    if (used_.count(entry) == 0) return {Result{}, "peek: not used"};
    if (made_) {
      if (const auto tag = found(made_->links, false)) {
        return answer(*tag, made_->links.back().entry == entry ? "peek: the last that was made" : "peek: one made");
      }
    }
    if (walked_) {
      if (const auto tag = found(walked_->links, true)) return answer(*tag, "peek: one to be walked");
    }
    for (const auto& [cta, links] : closed_) {
      if (const auto tag = found(links, true)) return answer(*tag, tag->end ? "peek: an end" : "peek");
    }
    return {};
  }
  Answer drop(unsigned cta) {
    Links gone;
    const char* outcome = "drop: nothing";
    if (made_ && made_->cta == cta) {
      gone = made_->links;
      outcome = gone.empty() ? "drop: none made" : "drop: what is made";
      made_.reset();
    } else if (walked_ && walked_->cta == cta) {
      gone = walked_->links;
      outcome = gone.empty() ? "drop: all walked" : "drop: what is not walked";
      walked_.reset();
    } else if (const auto found = closed_.find(cta); found != closed_.end()) {
      gone = found->second;
      outcome = "drop: a chain";
      closed_.erase(found);
    }
    pointers_.erase(cta);
    for (const Link& link : gone) used_.erase(link.entry);
    const auto count = static_cast<unsigned>(gone.size());
    return {Result::of_entry(count != 0, 0, count), outcome};
  }

  const unsigned entries_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> cache_;  ///< by index: PC and vector
  std::uint64_t working_ = 0;
  unsigned limit_ = 0;
  std::set<unsigned> free_;
  std::set<unsigned> used_;
  std::map<unsigned, std::pair<unsigned, unsigned>> pointers_;  ///< by CTA: first and count
  std::map<unsigned, Links> closed_;                            ///< by CTA: its registers, if not walked
  std::optional<Chain> made_, walked_;
};

}  // namespace regatta::test

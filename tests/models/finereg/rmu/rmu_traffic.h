// SPDX-License-Identifier: Apache-2.0
//
// Constrained-random operations for the register management unit: mostly what a mover does, with phases in which the
// pending file fills and empties, and now and then what a unit has to refuse.
#pragma once

#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "rmu_reference.h"

namespace regatta::test {

class RmuTraffic {
 public:
  using Operation = models::RmuOperation;
  explicit RmuTraffic(unsigned seed) : random_(seed) {}

  Operation next(const RmuReference& unit) {
    if (count_++ % 4096 == 0) {
      filling_ = !filling_;
      odd_ = any(3) == 0 ? 8 : 1000;
      if (any(8) == 0) return limit(unit);
    }
    if (any(odd_) == 0) return anything(unit);
    switch (any(6)) {
      case 0:
        return cache();
      case 1:
        return decoder(unit);
      case 2:
        return monitor(unit);
      default:
        return chains(unit);
    }
  }

 private:
  unsigned any(unsigned n) { return static_cast<unsigned>(random_() % n); }
  protocol::CtaSlot cta(unsigned ctas = 128) { return protocol::CtaSlot(static_cast<std::uint16_t>(any(ctas))); }
  static protocol::CtaSlot slot(unsigned cta) { return protocol::CtaSlot(static_cast<std::uint16_t>(cta)); }

  /// Dense and sparse sets, all registers, none.
  std::uint64_t set() {
    switch (any(8)) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0};
      case 2:
        return std::uint64_t{1} << any(64);
      case 3:
        return random_() | random_();
      case 4:
        return ~std::uint64_t{0} << any(64);
      default:
        return random_() & random_();
    }
  }
  /// PCs that share entries, near and far from each other.
  std::uint32_t pc() { return any(40) + 32 * any(4) + (any(10) == 0 ? 1u << (5 + any(27)) : 0u); }
  Operation cache() {
    switch (any(100)) {
      case 0:
        return Operation::clear();
      default:
        return any(3) == 0 ? Operation::fill(pc(), set()) : Operation::lookup(pc());
    }
  }
  Operation decoder(const RmuReference& unit) {
    if (unit.working() == 0 && any(3) != 0) return Operation::load(set());
    switch (any(8)) {
      case 0:
        return Operation::load(set());
      case 1:
        return Operation::join(any(3) == 0 ? 0 : set(), set());
      case 2:
      case 3:
        return Operation::next();
      case 4:
        return Operation::remove(any(64));
      default:
        return Operation::remove(unit.working() == 0 ? 0u : static_cast<unsigned>(__builtin_ctzll(unit.working())));
    }
  }
  Operation monitor(const RmuReference& unit) {
    if (any(10) < (filling_ ? 8u : 2u)) return Operation::take();
    return Operation::give_back(any(unit.entries()));
  }
  Operation limit(const RmuReference& unit) {
    return Operation::limit(any(3) == 0 ? unit.entries() : any(4) == 0 ? 0 : any(unit.entries()));
  }
  /// An entry that is used, or none is.
  unsigned used(const RmuReference& unit) {
    const auto from = unit.used().lower_bound(any(unit.entries()));
    return from == unit.used().end() ? any(unit.entries()) : *from;
  }
  unsigned unused(const RmuReference& unit) {
    unsigned entry = any(unit.entries());
    for (unsigned n = 0; n < unit.entries() && unit.used().count(entry) != 0; ++n) entry = (entry + 1) % unit.entries();
    return entry;
  }
  Operation chains(const RmuReference& unit) {
    if (any(20) == 0) return Operation::peek(used(unit));
    if (any(40) == 0) return Operation::pointer(cta());
    if (any(filling_ ? 3000 : 150) == 0) return Operation::drop(some(unit));
    const bool none = !unit.walked() && !unit.has_chains();
    if (any(10) < (filling_ ? 8u : none ? 9u : 3u)) {
      if (!unit.made()) return Operation::begin(cta());
      // Some chains are long: one fills the file now and then.
      if (any(unit.made()->cta % 16 == 0 ? 2000 : 30) == 0) return Operation::close();
      return Operation::append(unused(unit), any(32), any(64));
    }
    if (!unit.walked()) return Operation::walk(any(8) == 0 ? cta() : slot(unit.with_chain(any(128))));
    return unit.walked()->links.empty() ? Operation::end_walk() : Operation::step();
  }
  /// The CTA whose chain is made or walked, or another one.
  protocol::CtaSlot some(const RmuReference& unit) {
    const unsigned which = any(3);
    if (which == 0 && unit.made()) return slot(unit.made()->cta);
    if (which == 1 && unit.walked()) return slot(unit.walked()->cta);
    return cta();
  }
  Operation anything(const RmuReference& unit) {
    switch (any(12)) {
      case 0:
        return Operation::begin(some(unit));
      case 1:
        return Operation::append(any(unit.entries()), any(32), any(64));
      case 2:
        return Operation::close();
      case 3:
        return Operation::walk(some(unit));
      case 4:
        return Operation::step();
      case 5:
        return Operation::end_walk();
      case 6:
        return Operation::peek(any(unit.entries()));
      case 7:
        return Operation::give_back(any(unit.entries()));
      case 8:
        return Operation::take();
      case 9:
        return Operation::pointer(some(unit));
      case 10:
        return Operation::drop(some(unit));
      default:
        return cache();
    }
  }

  std::mt19937_64 random_;
  std::uint64_t count_ = 0;
  bool filling_ = false;
  unsigned odd_ = 1000;
};

/// How often each outcome was met.
struct RmuCoverage {
  std::map<std::string, std::uint64_t> met;
  void print(const char* title) const {
    std::printf("%s: operations by outcome\n", title);
    for (const auto& [outcome, count] : met)
      std::printf("  %9llu  %s\n", static_cast<unsigned long long>(count), outcome.c_str());
  }
  static const std::vector<std::string>& all() {
    static const std::vector<std::string> outcomes{"lookup: an empty entry",
                                                   "lookup: another PC",
                                                   "lookup: a hit",
                                                   "fill: an empty entry",
                                                   "fill: another PC",
                                                   "fill: the same PC",
                                                   "clear",
                                                   "join: the first vector",
                                                   "join: more",
                                                   "load: none",
                                                   "load",
                                                   "next: none left",
                                                   "next",
                                                   "remove: not there",
                                                   "remove: the last",
                                                   "remove",
                                                   "take: none is free",
                                                   "take: the last",
                                                   "take",
                                                   "give_back",
                                                   "give_back: a free one",
                                                   "give_back: beyond the limit",
                                                   "limit: none",
                                                   "limit: all",
                                                   "limit: some",
                                                   "begin: another is made",
                                                   "begin: it is walked",
                                                   "begin: it has a chain",
                                                   "begin",
                                                   "append: none is made",
                                                   "append: a used entry",
                                                   "append: the first",
                                                   "append: the last entry of all",
                                                   "append",
                                                   "close: none is made",
                                                   "close: no register",
                                                   "close: one register",
                                                   "close",
                                                   "pointer: none",
                                                   "pointer",
                                                   "walk: another is walked",
                                                   "walk: it is made",
                                                   "walk: no register",
                                                   "walk",
                                                   "step: none is walked",
                                                   "step: none is left",
                                                   "step: the last",
                                                   "step",
                                                   "end_walk: none is walked",
                                                   "end_walk: some are left",
                                                   "end_walk",
                                                   "peek: not used",
                                                   "peek: the last that was made",
                                                   "peek: one made",
                                                   "peek: one to be walked",
                                                   "peek: an end",
                                                   "peek",
                                                   "drop: nothing",
                                                   "drop: none made",
                                                   "drop: what is made",
                                                   "drop: all walked",
                                                   "drop: what is not walked",
                                                   "drop: a chain"};
    return outcomes;
  }
};

}  // namespace regatta::test

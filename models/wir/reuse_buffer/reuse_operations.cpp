// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/reuse_operations.h>

#include <algorithm>

namespace regatta::models::wir {

namespace {

template <unsigned count>
std::string list_of(const PhysicalRegisters<count>& registers) {
  std::string text;
  for (unsigned i = 0; i < count && registers[i] != no_register; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(registers[i].value());
  }
  return text.empty() ? "none" : text;
}

/// The entry that an operation drops: its number, or as many as there are if there is none to drop.
std::size_t first_of(const ReuseEntries& entries, const ReuseOperation& operation) {
  const auto& all = entries.entries();
  const std::uint16_t block = operation.tag.block;
  const bool loads = operation.kind == ReuseOperation::Kind::drop_load;
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(),
                   [=](const ReuseEntries::Entry& e) {
                     return e.valid && (!loads || (e.tag.block != 0 && (block == 0 || e.tag.block == block)));
                   }) -
      all.begin());
}

/// The entry as it goes.
ReuseOutcome outcome_of(const ReuseEntries::Entry& e) {
  if (!e.valid) return {};
  if (e.pending) return {ReuseEntries::Found::pending, e.tag, {}};
  return {ReuseEntries::Found::result, e.tag, e.result};
}

}  // namespace

std::string describe(const ReuseTag& tag) {
  std::string text = "opcode " + std::to_string(tag.opcode) + " (registers " + list_of(tag.sources);
  if (tag.block != 0) {
    text +=
        "; load of CTA slot " + std::to_string(tag.block - 1) + " after " + std::to_string(tag.barriers) + " barriers";
  }
  return text + ")";
}

std::string describe(const ReuseOperation& operation) {
  using Kind = ReuseOperation::Kind;
  const std::string owner = ", owner " + std::to_string(operation.owner);
  const std::string result = ", result " + list_of(operation.result);
  const std::string place = std::to_string(operation.fold) + " modulo entries";
  const std::string tag = describe(operation.tag) + " in place " + place;
  switch (operation.kind) {
    case Kind::find:
      return "find " + tag;
    case Kind::claim:
      return "claim " + tag + owner;
    case Kind::complete:
      return "complete " + tag + owner + result;
    case Kind::abandon:
      return "abandon " + tag + owner;
    case Kind::insert:
      return "insert " + tag + result;
    case Kind::evict:
      return "evict the entry in place " + place;
    case Kind::drop_load:
      return operation.tag.block == 0 ? "drop the first load"
                                      : "drop the first load of CTA slot " + std::to_string(operation.tag.block - 1);
    case Kind::drop_first:
      break;
  }
  return "drop the first entry";
}

std::string describe(const ReuseOutcome& outcome) {
  if (outcome.found == ReuseEntries::Found::nothing && outcome == ReuseOutcome{}) return "nothing";
  const char* const found = outcome.found == ReuseEntries::Found::nothing   ? "nothing, but"
                            : outcome.found == ReuseEntries::Found::pending ? "pending:"
                                                                            : "result:";
  return std::string(found) + " tag " + describe(outcome.tag) + ", result " + list_of(outcome.result);
}

ReuseOutcome perform(ReuseEntries& entries, const ReuseOperation& o) {
  using Kind = ReuseOperation::Kind;
  const auto nobody = [](PhysicalRegister) {};
  switch (o.kind) {
    case Kind::find: {
      const ReuseEntries::Lookup found = entries.find(o.tag, o.fold);
      return {found.found, {}, found.result};
    }
    case Kind::complete:
      return {entries.complete(o.tag, o.fold, o.owner, o.result) ? ReuseEntries::Found::pending
                                                                 : ReuseEntries::Found::nothing,
              {},
              {}};
    case Kind::claim: {
      const ReuseOutcome before = outcome_of(entries.in_place_of(o.tag, o.fold));
      entries.claim(o.tag, o.fold, o.owner, nobody);
      return before;
    }
    case Kind::insert: {
      const ReuseOutcome before = outcome_of(entries.in_place_of(o.tag, o.fold));
      entries.insert(o.tag, o.result);
      return before;
    }
    case Kind::abandon: {
      const ReuseEntries::Entry& e = entries.in_place_of(o.tag, o.fold);
      const ReuseOutcome before = outcome_of(e);
      entries.abandon(o.tag, o.owner);
      return e.valid ? ReuseOutcome{} : before;
    }
    case Kind::evict:
    case Kind::drop_load:
    case Kind::drop_first:
      break;
  }
  const std::size_t count = entries.entries().size();
  const std::size_t which = o.kind == Kind::evict ? o.fold % count : first_of(entries, o);
  if (which == count) return {};
  const ReuseOutcome before = outcome_of(entries.entries()[which]);
  entries.evict_entry(which, nobody);
  return before;
}

ReuseTwinKinds& reuse_twin_kinds() {
  static ReuseTwinKinds kinds("reuse_buffer");
  return kinds;
}

}  // namespace regatta::models::wir

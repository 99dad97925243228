// SPDX-License-Identifier: Apache-2.0
//
// The reuse buffer with a twin of its entries.
#include <regatta/wir/reuse_buffer.h>

#include <algorithm>

namespace regatta::models::wir {

ReuseOutcome ReuseBuffer::operate(const ReuseOperation& operation) {
  const ReuseOutcome outcome = perform(entries_, operation);
  last_fold_ = operation.fold;
  return twin_->operate(operation, outcome);
}

ReuseEntries::Lookup ReuseBuffer::find_with_twin(const ReuseTag& tag, std::uint32_t fold) {
  const ReuseOutcome outcome = operate({ReuseOperation::Kind::find, tag, fold, 0, {}});
  return {outcome.found, outcome.result};
}

void ReuseBuffer::enter_with_twin(const ReuseOperation& operation) {
  const ReuseOutcome before = operate(operation);
  if (victims_ != nullptr && before.found == ReuseEntries::Found::result && !(before.tag == operation.tag)) {
    victims_->replaced(before.tag, before.result);
  }
  release(before.dropped());
}

void ReuseBuffer::drop_with_twin(const ReuseOperation& operation) {
  // One more than there are: a twin that drops none does not keep the run here.
  for (std::size_t i = 0; i <= entries_.entries().size(); ++i) {
    const ReuseOutcome before = operate(operation);
    if (before.found == ReuseEntries::Found::nothing) return;
    release(before.dropped());
  }
}

std::string ReuseBuffer::describe_entries() const {
  const auto& entries = entries_.entries();
  const auto count = [&](bool pending) {
    return std::to_string(
        std::count_if(entries.begin(), entries.end(), [=](const auto& e) { return e.valid && e.pending == pending; }));
  };
  const std::size_t place = last_fold_ % entries.size();
  const ReuseEntries::Entry& e = entries[place];
  const std::string owner = e.pending ? ", owner " + std::to_string(e.owner) : "";
  const ReuseOutcome entry{e.pending ? ReuseEntries::Found::pending : ReuseEntries::Found::result, e.tag, e.result};
  return count(false) + " of " + std::to_string(entries.size()) + " entries have a result, " + count(true) +
         " are pending; entry " + std::to_string(place) + ": " + (e.valid ? describe(entry) + owner : "invalid");
}

}  // namespace regatta::models::wir

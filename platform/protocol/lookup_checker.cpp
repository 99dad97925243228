// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/lookup_checker.h>

#include <stdexcept>

namespace regatta::protocol {

void unexpected_answer(const std::string& user, std::uint64_t cycle, std::uint32_t tag) {
  const std::string what = user + " in cycle " + std::to_string(cycle) + ": was given an answer with tag " +
                           std::to_string(tag) +
                           ", which none of its open requests has; expected one answer to each accepted request, in a "
                           "later cycle";
  SC_REPORT_ERROR("regatta/lookup", what.c_str());
  throw std::logic_error(what);
}

std::string LookupRules::subject() const { return block_ ? name_ + " before " + block_() : name_; }

void LookupRules::violation(const std::string& what) {
  ++violations_;
  const std::string message = subject() + " in cycle " + std::to_string(cycle()) + ": " + what;
  SC_REPORT_ERROR("regatta/lookup", message.c_str());
}

void LookupRules::requested(std::uint32_t tag) {
  ++requests_;
  asking_ = tag;
  if (const auto found = open_.find(tag); found != open_.end()) {
    violation("look_up() with tag " + std::to_string(tag) + ", which a request of cycle " +
              std::to_string(found->second) + " has that is not answered; expected a tag of its own");
  }
}

void LookupRules::replied(std::uint32_t tag, LookupReply reply) {
  asking_ = none;
  switch (reply) {
    case LookupReply::answered:
    case LookupReply::busy:
      return;
    case LookupReply::later:
      open_.emplace(tag, cycle());
      return;
  }
  violation("look_up() with tag " + std::to_string(tag) + " returned " + std::to_string(static_cast<unsigned>(reply)) +
            "; expected answered, later or busy");
}

bool LookupRules::answered(std::uint32_t tag) {
  const char* const expected = "; expected one answer to each accepted request, in a later cycle";
  const std::string call = "answered() with tag " + std::to_string(tag);
  const auto found = open_.find(tag);
  if (found == open_.end()) {
    violation(call + (tag == asking_ ? ", whose look_up() has not returned" : ", which no open request has") +
              expected);
    return false;
  }
  if (found->second == cycle()) {
    violation(call + " in the cycle of its request" + expected);
  }
  open_.erase(found);
  return true;
}

void LookupRules::finish(std::uint64_t patience) {
  for (const auto& [tag, since] : open_) {
    if (cycle() - since < patience) continue;
    violation("the request of cycle " + std::to_string(since) + " with tag " + std::to_string(tag) +
              " was not answered; expected one answer to each accepted request");
  }
}

std::string LookupRules::describe_open() const {
  constexpr std::size_t most = 4;
  if (open_.empty()) return "";
  std::string line = "  " + subject() + ": not answered are ";
  std::size_t n = 0;
  for (const auto& [tag, since] : open_) {
    if (n++ == most) break;
    line += (n == 1 ? "tag " : ", tag ") + std::to_string(tag) + " of cycle " + std::to_string(since);
  }
  return line + (open_.size() > most ? " and " + std::to_string(open_.size() - most) + " more\n" : "\n");
}

}  // namespace regatta::protocol

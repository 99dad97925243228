// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/lookup_checker.h>

#include <stdexcept>

namespace regatta::protocol {

void unexpected_answer(const std::string& user, std::uint32_t tag) {
  const std::string what =
      user + " at " + sc_core::sc_time_stamp().to_string() + ": answered() with tag " + std::to_string(tag) +
      ", which no open request has; expected one answer to each accepted request, in a later cycle";
  SC_REPORT_ERROR("regatta/lookup", what.c_str());
  throw std::logic_error(what);
}

void LookupRules::violation(const std::string& what) {
  ++violations_;
  SC_REPORT_ERROR("regatta/lookup", (name_ + " at " + sc_core::sc_time_stamp().to_string() + ": " + what).c_str());
}

void LookupRules::requested(std::uint32_t tag) {
  ++requests_;
  asking_ = tag;
  if (const auto found = open_.find(tag); found != open_.end()) {
    violation("look_up() with tag " + std::to_string(tag) + ", which a request of " + found->second.to_string() +
              " has that is not answered; expected a tag of its own");
  }
}

void LookupRules::replied(std::uint32_t tag, LookupReply reply) {
  asking_ = none;
  switch (reply) {
    case LookupReply::answered:
    case LookupReply::busy:
      return;
    case LookupReply::later:
      open_.emplace(tag, sc_core::sc_time_stamp());
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
  if (found->second == sc_core::sc_time_stamp()) {
    violation(call + " at the time of its request" + expected);
  }
  open_.erase(found);
  return true;
}

void LookupRules::finish(sc_core::sc_time patience) {
  for (const auto& [tag, since] : open_) {
    if (sc_core::sc_time_stamp() - since < patience) continue;
    violation("the request of " + since.to_string() + " with tag " + std::to_string(tag) +
              " was not answered; expected one answer to each accepted request");
  }
}

std::string LookupRules::describe_open() const {
  std::string lines;
  for (const auto& [tag, since] : open_) {
    lines +=
        name_ + ": the request of " + since.to_string() + " with tag " + std::to_string(tag) + " is not answered\n";
  }
  return lines;
}

}  // namespace regatta::protocol

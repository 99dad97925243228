// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/update_checker.h>

#include <regatta/support/block_name.h>

#include <algorithm>

namespace regatta::models::wir {

UpdateChecker::UpdateChecker(const sc_core::sc_module_name& name, support::ClockDomain& clock, EnteredLoads& loads)
    : sc_module(name), in("in"), out("out"), clock_(clock), loads_(loads) {
  in.bind(*this);
}

std::string UpdateChecker::block_name() const { return support::block_name(*out.get_interface()); }

void UpdateChecker::violation(const std::string& what) const {
  SC_REPORT_ERROR("regatta/wir",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

std::uint64_t UpdateChecker::book_write() {
  const std::uint64_t cycle = out->book_write();
  if (cycle < clock_.now()) {
    violation("book_write() returned cycle " + std::to_string(cycle) + ", expected the present one or a later one");
  }
  booked_.insert(cycle);
  return cycle;
}

void UpdateChecker::update(const ReuseUpdate& update) {
  const auto first = booked_.begin();
  if (first == booked_.end()) {
    violation(caller_ + " calls update() without a write port, expected book_write() before");
  } else {
    if (*first > clock_.now()) {
      violation(caller_ + " calls update() before the cycle of its write port, expected it in cycle " +
                std::to_string(*first));
    }
    booked_.erase(first);
  }
  if (update.claimed) end_claim(update);
  // What the stage enters; a block in front of the buffer may only repeat it.
  if (before_ == nullptr) loads_.enter(update);
  out->update(update);
}

void UpdateChecker::end_claim(const ReuseUpdate& update) {
  const auto [first, last] = claims_.equal_range(update.owner);
  const auto claim =
      std::find_if(first, last, [&update](const auto& of_owner) { return of_owner.second.tag == update.tag; });
  if (claim != last) {
    claims_.erase(claim);
    return;
  }
  violation(caller_ + " calls update() with `claimed` for owner " + std::to_string(update.owner) + ", for which " +
            block_name() + " has claimed " +
            (first == last ? "no entry since its last update()"
                           : "an entry with another tag, in cycle " + std::to_string(first->second.cycle)) +
            "; expected one update by the owner of each lookup for which an entry was claimed");
}

void UpdateChecker::answered(const ReuseRequest& request, const ReuseAnswer& answer) {
  if (answer.found == ReuseAnswer::Found::nothing && answer.claimed) {
    claims_.emplace(request.owner, Claim{request.tag, clock_.now()});
  }
  if (answer.found == ReuseAnswer::Found::result && !loads_.has(request.tag)) {
    violation(block_name() + " answers owner " + std::to_string(request.owner) + ", a load of the CTA in slot " +
              std::to_string(request.tag.block - 1) + ", with physical register " +
              std::to_string(answer.result[0].value()) +
              ", which no load of this CTA has entered; expected the loads of a CTA to be dropped in cta_finished()");
  }
}

void UpdateChecker::count_retries(std::uint64_t times) {
  retries_ += times;
  out->count_retries(times);
}

std::string UpdateChecker::held_work() const {
  if (booked_.empty()) return "";
  return std::to_string(booked_.size()) + " write ports are booked and not used, the first for cycle " +
         std::to_string(*booked_.begin());
}

void UpdateChecker::kernel_finished(const protocol::KernelContext&) {
  if (!claims_.empty()) {
    const auto& [owner, claim] = *claims_.begin();
    violation(caller_ + " has not called update() for " + std::to_string(claims_.size()) +
              (claims_.size() == 1 ? " entry" : " entries") + " that " + block_name() +
              " claimed, the first in cycle " + std::to_string(claim.cycle) + " for owner " + std::to_string(owner) +
              "; expected an update() for each claim");
  }
  claims_.clear();
  if (!booked_.empty()) violation(held_work() + "; expected an update() for each");
  booked_.clear();
  if (behind_ != nullptr && behind_->retries_ != retries_) {
    violation(block_name() + " was told of " + std::to_string(retries_) + " retries by count_retries() and forwarded " +
              std::to_string(behind_->retries_) + "; expected all, since each has read the reuse buffer");
    behind_->retries_ = retries_;
  }
}

}  // namespace regatta::models::wir

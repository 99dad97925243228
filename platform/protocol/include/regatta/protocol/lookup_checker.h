// SPDX-License-Identifier: Apache-2.0
//
// An interposer that checks the contract of lookups (docs/lookup.md) between a block and its user.
#pragma once

#include <regatta/protocol/lookup.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace regatta::protocol {

/// The rules, without ports. Each violation is reported through SC_REPORT_ERROR (type "regatta/lookup") with the
/// checker's name, the tag and what was expected; checking continues when the report returns.
///
///   tags      an open request's tag names no other request
///   replies   answered, later or busy
///   answers   one for each request that was accepted with `later`, in a later cycle; none for any other
class LookupRules {
 public:
  LookupRules(std::string name, sc_core::sc_time clock_period) : name_(std::move(name)), period_(clock_period) {}
  /// For messages: the path of the block, asked for when there is something to say.
  void set_block(std::function<std::string()> block) { block_ = std::move(block); }

  void requested(std::uint32_t tag);
  void replied(std::uint32_t tag, LookupReply reply);
  /// Whether the user may be given the answer.
  bool answered(std::uint32_t tag);
  /// At the end of a run: reports requests that have waited for `patience` cycles or longer. Younger ones may be open:
  /// a user need not wait for all answers.
  void finish(std::uint64_t patience);
  /// A line about the open requests, for the report of a deadlock; "" if there are none.
  std::string describe_open() const;

  std::size_t open() const { return open_.size(); }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t violations() const { return violations_; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  void violation(const std::string& what);

  std::uint64_t cycle() const { return sc_core::sc_time_stamp().value() / period_.value(); }
  std::string subject() const;

  std::string name_;
  std::function<std::string()> block_;
  sc_core::sc_time period_;
  std::map<std::uint32_t, std::uint64_t> open_;  ///< tag; the cycle in which it was accepted
  std::uint64_t asking_ = none;                  ///< tag of the request whose look_up() has not returned
  std::uint64_t requests_ = 0, violations_ = 0;
};

/// What a scheme adds to the checker of one lookup: rules about the content of requests and answers. Called as far as
/// they are set.
template <class Request, class Answer>
struct LookupHooks {
  std::function<void()> asked;                                  ///< the block is asked next
  std::function<void(const Request&, const Answer&)> answered;  ///< the user gets the answer next, at once or late
  std::function<void(LookupReply)> replied;                     ///< the block has returned; after `answered`
};

/// The interposer that applies the rules. An answer that breaks them is not forwarded.
template <class Request, class Answer>
class LookupChecker : public sc_core::sc_module, public Lookup<Request, Answer>, public LookupClient<Answer> {
 public:
  LookupTarget<Request, Answer> in;
  LookupInitiator<Request, Answer> out;

  LookupChecker(const sc_core::sc_module_name& name, sc_core::sc_time clock_period)
      : sc_module(name), in("in", *this), out("out", *this), rules_(this->sc_module::name(), clock_period) {
    rules_.set_block([this]() -> std::string {
      const auto* block = dynamic_cast<const sc_core::sc_object*>(out.requests.operator->());
      return block != nullptr ? block->name() : "a block";
    });
  }
  LookupReply look_up(const Request& request, std::uint32_t tag, Answer& answer) override {
    rules_.requested(tag);
    if (hooks_.asked) hooks_.asked();
    const LookupReply reply = out.requests->look_up(request, tag, answer);
    rules_.replied(tag, reply);
    if (hooks_.answered) {
      if (reply == LookupReply::answered) hooks_.answered(request, answer);
      if (reply == LookupReply::later) open_.insert_or_assign(tag, request);
    }
    if (hooks_.replied) hooks_.replied(reply);
    return reply;
  }
  const sc_core::sc_event& changed() const override { return out.requests->changed(); }
  void answered(std::uint32_t tag, const Answer& answer) override {
    if (!rules_.answered(tag)) return;
    if (const auto open = open_.find(tag); open != open_.end()) {
      const Request request = open->second;
      open_.erase(open);
      hooks_.answered(request, answer);
    }
    in.answers->answered(tag, answer);
  }
  LookupRules& rules() { return rules_; }
  void set_hooks(LookupHooks<Request, Answer> hooks) { hooks_ = std::move(hooks); }

 private:
  LookupRules rules_;
  LookupHooks<Request, Answer> hooks_;
  std::map<std::uint32_t, Request> open_;  ///< by tag, for the hooks
};

}  // namespace regatta::protocol

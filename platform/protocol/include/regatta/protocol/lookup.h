// SPDX-License-Identifier: Apache-2.0
//
// Typed transactions for blocks that answer lookups (tables, signature buffers, caches of tags): request and answer
// with explicit cycles. docs/lookup.md states the contract. Register values move over TLM-2.0 sockets (payload.h)
// instead.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::protocol {

/// How a block takes the request of a lookup.
enum class LookupReply : std::uint8_t {
  answered,  ///< the answer is given at once and holds in the present cycle
  later,     ///< accepted: LookupClient::answered() follows in a later cycle
  busy,      ///< not accepted: nothing was done for the request. Ask again in the next cycle, or after changed()
};

/// The side of the block.
template <class Request, class Answer>
class Lookup : public virtual sc_core::sc_interface {
 public:
  /// A request in the present cycle. `tag` names it in a later answer and is unique among the client's open requests.
  /// `answer` means something only if the reply is `answered`.
  virtual LookupReply look_up(const Request& request, std::uint32_t tag, Answer& answer) = 0;
  /// Notified when a block may accept again that is busy for more than a cycle. A block that is busy only for the
  /// present cycle (its ports are taken) never notifies it.
  virtual const sc_core::sc_event& changed() const = 0;
};

/// The side of its user.
template <class Answer>
class LookupClient : public virtual sc_core::sc_interface {
 public:
  /// The answer to the request `tag`, which was accepted in an earlier cycle; once per request, in any order.
  virtual void answered(std::uint32_t tag, const Answer& answer) = 0;
};

/// Ends the simulation (SC_REPORT_ERROR of type "regatta/lookup"): `user` was given an answer to a request that it has
/// not open. Users call it where the answer would otherwise go astray; LookupChecker names the block.
[[noreturn, gnu::cold]] void unexpected_answer(const std::string& user, std::uint64_t cycle, std::uint32_t tag);

/// What a block that answers lookups has: requests come in, late answers go out.
template <class Request, class Answer>
struct LookupTarget {
  sc_core::sc_export<Lookup<Request, Answer>> requests;
  sc_core::sc_port<LookupClient<Answer>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> answers;

  LookupTarget(const std::string& name, Lookup<Request, Answer>& block)
      : requests((name + "_requests").c_str()), answers((name + "_answers").c_str()) {
    requests.bind(block);
  }
};

/// What its user has: requests go out, late answers come in.
template <class Request, class Answer>
struct LookupInitiator {
  sc_core::sc_port<Lookup<Request, Answer>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> requests;
  sc_core::sc_export<LookupClient<Answer>> answers;

  LookupInitiator(const std::string& name, LookupClient<Answer>& user)
      : requests((name + "_requests").c_str()), answers((name + "_answers").c_str()) {
    answers.bind(user);
  }
  void bind(LookupTarget<Request, Answer>& target) {
    requests.bind(target.requests);
    target.answers.bind(answers);
  }
};

}  // namespace regatta::protocol

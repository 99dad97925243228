// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/protocol/lookup_checker.h>
#include <regatta/protocol/lookup_delay.h>

#include <memory>
#include <string>

namespace regatta::assembly {

/// Binds the user of a block's lookups to the block: through a checker `<name>_protocol` next to the block if checkers
/// are enabled, and through a delay `<name>_delay` if lookups are delayed (SimulationOptions::lookup_delay). Returns
/// the checker, to which a scheme may add rules; null: there is none.
template <class Request, class Answer>
protocol::LookupChecker<Request, Answer>* connect_lookup(const BuildContext& context, SmParts& parts,
                                                         const std::string& name,
                                                         protocol::LookupInitiator<Request, Answer>& from,
                                                         protocol::LookupTarget<Request, Answer>& to) {
  protocol::LookupTarget<Request, Answer>* target = &to;
  protocol::LookupChecker<Request, Answer>* added = nullptr;
  if (context.check_protocol) {
    auto checker = std::make_unique<protocol::LookupChecker<Request, Answer>>((name + "_protocol").c_str(),
                                                                              context.clock.period());
    checker->out.bind(*target);
    target = &checker->in;
    added = checker.get();
    parts.lookup_rules.push_back(&checker->rules());
    parts.interposers.push_back(std::move(checker));
  }
  if (context.lookup_delay != 0) {
    auto delay = std::make_unique<protocol::LookupDelay<Request, Answer>>(
        (name + "_delay").c_str(), context.clock.period(), context.lookup_delay, context.sm_index + 1);
    delay->out.bind(*target);
    target = &delay->in;
    parts.interposers.push_back(std::move(delay));
  }
  from.bind(*target);
  return added;
}

}  // namespace regatta::assembly

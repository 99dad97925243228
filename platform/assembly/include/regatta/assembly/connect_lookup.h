// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/protocol/lookup_delay.h>

#include <memory>
#include <string>

namespace regatta::assembly {

/// Binds the user of a block's lookups to the block, through a delay called `name` if lookups are delayed
/// (SimulationOptions::lookup_delay).
template <class Request, class Answer>
void connect_lookup(const BuildContext& context, SmParts& parts, const std::string& name,
                    protocol::LookupInitiator<Request, Answer>& from, protocol::LookupTarget<Request, Answer>& to) {
  if (context.lookup_delay == 0) return from.bind(to);
  auto delay = std::make_unique<protocol::LookupDelay<Request, Answer>>(name.c_str(), context.clock_period,
                                                                        context.lookup_delay, context.sm_index + 1);
  from.bind(delay->in);
  delay->out.bind(to);
  parts.interposers.push_back(std::move(delay));
}

}  // namespace regatta::assembly

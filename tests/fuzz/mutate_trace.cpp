// SPDX-License-Identifier: Apache-2.0
#include "mutate_trace.h"

#include <trace.pb.h>

namespace regatta::test {
namespace {

template <class Message>
bool mutate_as(std::string& raw, MutationRandom& random) {
  Message message;
  if (!message.ParseFromString(raw) || !mutate_message(message, random)) return false;
  raw = message.SerializeAsString();
  return true;
}

}  // namespace

bool mutate_frame(TraceContainer::Frame& frame, MutationRandom& random) {
  switch (frame.kind) {
    case TraceContainer::kernel:
      return mutate_as<trace::proto::Kernel>(frame.raw, random);
    case TraceContainer::cta:
      return mutate_as<trace::proto::Cta>(frame.raw, random);
    case TraceContainer::index:
      return mutate_as<trace::proto::Index>(frame.raw, random);
    default:
      return false;
  }
}

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
#include "front_end.h"

#include <regatta/sm/decode.h>

namespace regatta::sm {

using protocol::Event;
using protocol::Observer;

FrontEnd::FrontEnd(Core& core)
    : core_(core), wanting_(core.config.schedulers), next_(core.config.schedulers), slots_(core.config.schedulers) {}

bool FrontEnd::wants(const Warp& w) const {
  return w.active && !w.fetching && !w.fetch_blocked && !w.path.at_end() &&
         w.held + core_.config.fetch_width <= w.buffer.size();
}

void FrontEnd::update(Warp& w) {
  const WarpMask bit = WarpMask{1} << w.local;
  slots_[w.scheduler][w.local] = w.info.warp;
  if (wants(w)) {
    wanting_[w.scheduler] |= bit;
  } else {
    wanting_[w.scheduler] &= ~bit;
  }
}

void FrontEnd::removed(Warp& w) { wanting_[w.scheduler] &= ~(WarpMask{1} << w.local); }

void FrontEnd::unblocked(Warp& w) {
  w.fetch_blocked = false;
  if (w.active) update(w);
}

DynamicInstruction& FrontEnd::decode(Warp& w) {
  const FetchedInstruction& fetched = *w.front();
  w.cursor.next();
  DynamicInstruction& d = core_.pool.take();
  sm::decode(w.cursor, *fetched.traits, d);
  d.warp = w.info.warp;
  d.cta = w.info.cta;
  d.scheduler = w.scheduler;
  d.sequence = ++w.sequence;
  d.fetched = fetched.fetched;
  w.next = &d;
  return d;
}

void FrontEnd::fetch(Warp& w) {
  ++fetches;
  for (unsigned i = 0; i < core_.config.fetch_width && !w.path.at_end(); ++i) {
    // A fetch brings in consecutive instructions only; the first may be anywhere.
    if (i != 0 && w.path.peek_index() != w.path.index() + 1) break;
    w.path.next();
    const InstructionTraits& traits = core_.traits[w.path.index()];
    w.push(traits, core_.now);
    core_.observers.notify(Event::fetched, [&](Observer& o) { o.fetched(core_.now, w.info, traits); });
    ++instructions;
    if (traits.is_control) {
      w.fetch_blocked = true;
      break;
    }
  }
  w.fetching = true;
  core_.at(core_.now + core_.config.fetch_latency, Work::Kind::fetched, w.info.warp.value());
  wanting_[w.scheduler] &= ~(WarpMask{1} << w.local);
}

void FrontEnd::fetched(Warp& w) {
  w.fetching = false;
  w.buffered = w.held;
  core_.observers.notify(Event::arrived, [&](Observer& o) { o.arrived(core_.now, w.info); });
  if (w.active) update(w);
}

void FrontEnd::cycle() {
  for (unsigned s = 0; s < wanting_.size(); ++s) {
    const WarpMask mask = wanting_[s];
    if (mask == 0) continue;
    const WarpMask after = next_[s] >= 64 ? 0 : mask & (~WarpMask{0} << next_[s]);
    const auto local = static_cast<unsigned>(__builtin_ctzll(after != 0 ? after : mask));
    next_[s] = local + 1;
    fetch(core_.warp(slots_[s][local]));
    core_.progress = true;
  }
}

}  // namespace regatta::sm

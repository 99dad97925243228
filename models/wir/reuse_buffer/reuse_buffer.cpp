// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/reuse_buffer.h>

#include <regatta/support/energy.h>

namespace regatta::models::wir {

using protocol::LookupReply;
using Found = ReuseAnswer::Found;

ReuseBuffer::ReuseBuffer(const sc_core::sc_module_name& name, const WirConfig& config, support::ClockDomain& clock)
    : sc_module(name),
      lookups("lookup", *this),
      updates("updates"),
      keeper("keeper"),
      references("references"),
      victims("victims"),
      pending_(config.pending()),
      claim_writes_(config.reuse_claim_writes),
      clock_(clock),
      entries_(config.reuse_entries, config.reuse_associative),
      read_ports_(config.reuse_ports),
      write_ports_(config.reuse_ports) {
  updates.bind(*this);
  keeper.bind(*this);
}

// Inline, and before their uses: without a twin they are the entries' own functions.
inline void ReuseBuffer::claim(const ReuseRequest& r) {
  if (twin_ != nullptr) return enter_with_twin({ReuseOperation::Kind::claim, r.tag, r.fold, r.owner, {}});
  tell_victim(r.tag, r.fold);
  entries_.claim(r.tag, r.fold, r.owner, [this](PhysicalRegister reg) { references_->release(reg); });
}

inline void ReuseBuffer::evict(const ReuseRequest& r) {
  if (twin_ != nullptr) return release(operate(ReuseOperation::evict(r.fold)).dropped());
  entries_.evict(r.tag, r.fold, [this](PhysicalRegister reg) { references_->release(reg); });
}

inline bool ReuseBuffer::complete(const ReuseUpdate& u) {
  if (twin_ == nullptr) return entries_.complete(u.tag, u.fold, u.owner, u.result);
  return operate({ReuseOperation::Kind::complete, u.tag, u.fold, u.owner, u.result}).found ==
         ReuseEntries::Found::pending;
}

inline void ReuseBuffer::abandon(const ReuseUpdate& u) {
  if (twin_ == nullptr) return release(entries_.abandon(u.tag, u.owner));
  release(operate({ReuseOperation::Kind::abandon, u.tag, u.fold, u.owner, {}}).dropped());
}

inline void ReuseBuffer::insert(const ReuseUpdate& u) {
  if (twin_ != nullptr) return enter_with_twin({ReuseOperation::Kind::insert, u.tag, u.fold, 0, u.result});
  tell_victim(u.tag, u.fold);
  release(entries_.insert(u.tag, u.result));
}

template <class F>
void ReuseBuffer::evict_entry(std::size_t which, F&& give_up) {
  if (twin_ == nullptr) return entries_.evict_entry(which, give_up);
  operate(ReuseOperation::evict(static_cast<std::uint32_t>(which % entries_.entries().size())))
      .dropped()
      .for_each(give_up);
}

LookupReply ReuseBuffer::look_up(const ReuseRequest& request, std::uint32_t, ReuseAnswer& answer) {
  const std::uint64_t now = clock_.now();
  if (*low_mode_) references_->settle();
  if (!read_ports_.free(now)) {
    if (!request.retry) ++read_waits_;
    return LookupReply::busy;
  }
  read_ports_.take(now);
  // Retries do not count as accesses in low-register mode: the awaited result may itself be waiting for a register.
  if (request.retry) {
    ++retries_;
  } else {
    ++reads_;
    accessed_ = now;
  }
  const bool misses = refused_owner_ == request.owner && refused_at_ == entries_.entered() && !request.retry;
  const ReuseEntries::Lookup found = misses ? ReuseEntries::Lookup{} : find(request.tag, request.fold);
  if (found.found == ReuseEntries::Found::nothing) return miss(request, now, answer);
  if (!request.retry) ++lookups_;
  answer.claimed = answer.evicted = false;
  if (found.found == ReuseEntries::Found::pending) {
    answer.found = Found::pending;
    return LookupReply::answered;
  }
  answer.result = found.result;
  answer.found = references_->share(found.result.data(), pair_results) ? Found::result : Found::unshared;
  return LookupReply::answered;
}

LookupReply ReuseBuffer::miss(const ReuseRequest& request, std::uint64_t now, ReuseAnswer& answer) {
  const bool low = !request.retry && references_->low();
  const bool claims = pending_ && !request.retry && !low;
  if (claims && claim_writes_ && !write_ports_.free(now)) {
    refused_owner_ = request.owner;
    refused_at_ = entries_.entered();
    ++write_waits_;
    return LookupReply::busy;
  }
  answer.found = Found::nothing;
  answer.claimed = answer.evicted = false;
  if (request.retry) return LookupReply::answered;
  refused_owner_ = 0;
  ++lookups_;
  if (low) {
    // A miss makes its entry's registers free.
    evict(request);
    ++low_evictions_;
    answer.evicted = true;
  } else if (claims && references_->share(request.tag.sources.data(), pair_operands)) {
    answer.claimed = true;
    if (claim_writes_) {
      ++writes_;
      write_ports_.take(now);
    }
    claim(request);
  }
  return LookupReply::answered;
}

std::uint64_t ReuseBuffer::book_write() {
  const std::uint64_t now = clock_.now();
  const std::uint64_t slot = write_ports_.take(now);
  write_waits_ += slot - now;
  return slot;
}

void ReuseBuffer::update(const ReuseUpdate& u) {
  // A counter at its end leaves the buffer without the entry.
  bool counted = false;
  if (u.result[0] != no_register) {
    counted = references_->share(u.result.data(), pair_results);  // settles
  } else {
    references_->settle();
  }
  const auto give_back = [&] {
    for (const PhysicalRegister reg : u.result) references_->release(reg);
  };
  accessed_ = clock_.now();
  if (u.claimed) {
    ++writes_;
    if (!counted) {
      abandon(u);
    } else if (!complete(u)) {
      give_back();
    }
  } else if (counted) {
    if (!references_->low() && references_->share(u.tag.sources.data(), pair_operands)) {
      ++writes_;
      insert(u);
    } else {
      give_back();
    }
  }
}

unsigned ReuseBuffer::give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) {
  const std::uint64_t random = next_random(random_);
  if (accessed_ == cycle) return 0;
  unsigned count = 0;
  evict_entry(random >> 8, [&](PhysicalRegister reg) { regs[count++] = reg; });
  ++low_evictions_;
  return count;
}

void ReuseBuffer::give_up_while(const std::function<bool()>& more) {
  for (std::size_t i = 0; i < entries_.entries().size() && more(); ++i) {
    evict_entry(i, [this](PhysicalRegister reg) { references_->release(reg); });
  }
}

void ReuseBuffer::give_up_all() {
  if (twin_ != nullptr) return drop_with_twin(ReuseOperation::drop_first());
  entries_.clear([this](const Dropped& dropped) { release(dropped); });
}

void ReuseBuffer::count(ReferenceCounts& counts) const {
  for (const ReuseEntries::Entry& e : entries_.entries()) {
    if (!e.valid) continue;
    if (!e.pending) {
      counts.add(e.tag, e.result);
      continue;
    }
    for (const PhysicalRegister reg : e.tag.sources) counts.add(reg);
  }
}

std::string ReuseBuffer::held_work() const {
  constexpr unsigned most = 4;
  std::string text;
  unsigned pending = 0;
  for (std::size_t i = 0; i < entries_.entries().size(); ++i) {
    const ReuseEntries::Entry& e = entries_.entries()[i];
    if (!e.valid || !e.pending || ++pending > most) continue;
    text += (text.empty() ? "the result is to come of entry " : ", ") + std::to_string(i) + " (claimed by owner " +
            std::to_string(e.owner) + ")";
  }
  return pending > most ? text + " and " + std::to_string(pending - most) + " more" : text;
}

void ReuseBuffer::cta_finished(const protocol::CtaInfo& cta) {
  references_->settle();
  const auto block = static_cast<std::uint16_t>(cta.cta.value() + 1);
  if (twin_ != nullptr) return drop_with_twin(ReuseOperation::drop_load(block));
  entries_.drop_loads(block, [this](const Dropped& dropped) { release(dropped); });
}

void ReuseBuffer::register_stats(support::StatGroup& g) {
  g.counter("lookups", lookups_, "warp instructions", "looked up");
  g.counter("reads", reads_, "entries", "read, retries aside");
  g.counter("retries", retries_, "lookups", "of instructions that wait for a pending result");
  g.counter(
      "writes", writes_, "entries",
      "written: claimed (with reuse_buffer.claim_writes), or updated at retirement, whether or not the update found "
      "its entry");
  g.counter("read_waits", read_waits_, "attempts", "to look up that found the read ports taken");
  g.counter("write_waits", write_waits_, "cycles",
            "waited for a write port, to look up and claim or to retire, summed");
  g.counter("low_evictions", low_evictions_, "entries",
            "looked at for eviction in low-register mode, empty ones included");
}

void ReuseBuffer::register_energy(support::EnergyGroup& g) {
  const char* const reuse = "reuse_structures";
  g.event(reuse, "wir.reuse_buffer", reads_);
  g.event(reuse, "wir.reuse_buffer", retries_);
  g.event(reuse, "wir.reuse_buffer", writes_);
}

}  // namespace regatta::models::wir

// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/wir_checks.h>

#include <regatta/support/block_name.h>

#include <utility>

namespace regatta::models::wir {

using protocol::LookupReply;

WirChecks::WirChecks(const WirMachine& config, support::ClockDomain& clock, bool with_front)
    : physical_(config.physical()),
      updates("update_protocol", clock, loads_),
      front_updates(with_front ? std::make_unique<UpdateChecker>("front_update_protocol", clock, loads_) : nullptr),
      tables("rename_references", clock, config.physical(), {"in"}, all_references),
      reuse("reuse_references", clock, config.physical(), {"in"}, all_references),
      signatures("signature_references", clock, config.physical(), {"in"}, all_references),
      in_flight("in_flight_references", clock, config.physical(), {"reuse", "allocation", "register_file"},
                all_references),
      front(with_front ? std::make_unique<ReferenceChecker>("front_references", clock, config.physical(),
                                                            std::vector<std::string>{"in"}, all_references)
                       : nullptr) {
  tables.set_giver(in_flight);
  if (with_front) front_updates->set_behind(updates);
}

std::vector<protocol::LifecycleListener*> WirChecks::listeners() {
  std::vector<protocol::LifecycleListener*> all{&all_references, &loads_, &updates};
  if (front_updates != nullptr) all.push_back(front_updates.get());
  return all;
}

std::string WirChecks::supplier(std::uint32_t owner) const {
  const auto found = supplied_.find(owner);
  return support::block_name((found == supplied_.end() ? reuse : *found->second).block());
}

void WirChecks::watch(protocol::LookupChecker<RenameRequest, RenamedSources>& checker) {
  protocol::LookupHooks<RenameRequest, RenamedSources> hooks;
  hooks.answered = [this](const RenameRequest& request, const RenamedSources& sources) {
    for (unsigned i = 0; i < request.sources; ++i) {
      if (sources.entries[i].valid()) in_flight.gain(sources.entries[i].reg, true);
    }
  };
  checker.set_hooks(std::move(hooks));
}

void WirChecks::watch(protocol::LookupChecker<VsbRequest, VsbAnswer>& checker) {
  protocol::LookupHooks<VsbRequest, VsbAnswer> hooks;
  hooks.asked = [this] { signatures.begin_visit(); };
  hooks.answered = [this](const VsbRequest&, const VsbAnswer& answer) {
    if (answer.candidate == no_register) return;
    signatures.hand_over(answer.candidate);
    in_flight.gain(answer.candidate);
  };
  hooks.replied = [this](LookupReply reply) { signatures.end_visit(reply != LookupReply::busy); };
  checker.set_hooks(std::move(hooks));
}

void WirChecks::watch(protocol::LookupChecker<AllocationRequest, GrantedRegisters>& checker) {
  protocol::LookupHooks<AllocationRequest, GrantedRegisters> hooks;
  hooks.answered = [this](const AllocationRequest& request, const GrantedRegisters& granted) {
    for (unsigned i = 0; i < request.registers; ++i) in_flight.gain(granted.regs[i]);
  };
  checker.set_hooks(std::move(hooks));
}

void WirChecks::watch_buffer(protocol::LookupChecker<ReuseRequest, ReuseAnswer>& checker) {
  watch(checker, updates, reuse, front != nullptr ? *front : in_flight);
}

void WirChecks::watch_front(protocol::LookupChecker<ReuseRequest, ReuseAnswer>& checker) {
  watch(checker, *front_updates, *front, in_flight);
}

void WirChecks::watch(protocol::LookupChecker<ReuseRequest, ReuseAnswer>& checker, UpdateChecker& of_updates,
                      ReferenceChecker& from, ReferenceChecker& to) {
  protocol::LookupHooks<ReuseRequest, ReuseAnswer> hooks;
  hooks.asked = [&from] { from.begin_visit(); };
  hooks.answered = [this, &of_updates, &from, &to](const ReuseRequest& request, const ReuseAnswer& answer) {
    if (all_references.idle() && open_ != 0) --open_;
    of_updates.answered(request, answer);
    const bool result = answer.found == ReuseAnswer::Found::result;
    if (result) {
      for (const PhysicalRegister reg : answer.result) {
        if (reg == no_register) break;
        from.hand_over(reg);
        to.gain(reg);
      }
    }
    // The stage reports a result without registers.
    hit_ = result && answer.result[0].value() < physical_;
    // Whose result it is: a block in front of the buffer may have forwarded it.
    const bool at_buffer = &from == &reuse;
    if (at_buffer && front != nullptr) {
      from_buffer_.erase(request.owner);
      if (result) from_buffer_.emplace(request.owner, answer.result);
    } else if (result) {
      const auto forwarded = from_buffer_.find(request.owner);
      const bool same = forwarded != from_buffer_.end() && forwarded->second == answer.result;
      supplied_[request.owner] = at_buffer || same ? &reuse : &from;
    }
    if (!at_buffer) from_buffer_.erase(request.owner);
  };
  hooks.replied = [this, &from](LookupReply reply) {
    from.end_visit(reply != LookupReply::busy);
    if (reply == LookupReply::later) ++open_;
    if (!all_references.idle()) return;
    if (hit_ && reply == LookupReply::answered && open_ == 0) {
      reuse.compare();
      if (front != nullptr) front->compare();
    }
    hit_ = false;
  };
  checker.set_hooks(std::move(hooks));
}

}  // namespace regatta::models::wir

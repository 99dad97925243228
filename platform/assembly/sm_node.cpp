// SPDX-License-Identifier: Apache-2.0
#include "sm_node.h"

#include <regatta/support/block_name.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <sstream>

namespace regatta::assembly {

SmNode::SmNode(const sc_core::sc_module_name& name, const MachineConfig& machine, Scheme& scheme,
               support::ClockDomain& clock, unsigned index, const SimulationOptions& options, RecorderSet& recorders)
    : sc_module(name), machine_(machine) {
  const bool check_protocol = options.check_protocol;
  parts = scheme.build(BuildContext{machine, clock, index, check_protocol, options.lookup_delay});
  if (const auto* registered = parts.scheduler.target<RegisteredScheduler>()) scheduler_ = registered->name;
  if (parts.storage == nullptr || parts.residency == nullptr || !parts.scheduler) {
    throw support::ConfigError("scheme '" + scheme.name() + "' built an SM without storage, residency or scheduler");
  }
  const auto refuse_null = [&scheme](const auto& list, const char* what) {
    if (std::find(list.begin(), list.end(), nullptr) == list.end()) return;
    throw support::ConfigError("scheme '" + scheme.name() + "' built an SM with a null " + what);
  };
  refuse_null(parts.gates, "gate");
  if (machine.sm.obeys_control_bits()) check_control_bits(scheme.name());
  refuse_null(parts.fetch_listeners, "fetch listener");
  refuse_null(parts.listeners, "lifecycle listener");
  refuse_null(parts.observers, "observer");
  refuse_null(parts.l1_clients, "socket among its L1 clients");
  sm = std::make_unique<sm::Sm>("pipeline", machine.sm, clock, index, parts.scheduler);
  l1 = std::make_unique<memory::L1Cache>("l1", machine.l1, clock);
  sm->storage.bind(*parts.storage);
  sm->residency.bind(*parts.residency);
  if (parts.shared_contents) {
    sm->shared_contents.bind(*parts.shared_contents);
    sm->shared_socket().bind(parts.shared_contents->shared_socket());
  }
  // A cache in front of read ports helps a storage that plans their use; another one has no part in it.
  if (parts.operand_cache && parts.storage->plan_reads() == nullptr) parts.operand_cache.reset();
  if (parts.operand_cache) sm->operand_cache.bind(*parts.operand_cache);
  for (auto& gate : parts.gates) sm->gates.bind(*gate);
  if (parts.reuse_point) sm->reuse_point.bind(*parts.reuse_point);
  if (parts.writeback_point) sm->writeback_point.bind(*parts.writeback_point);
  if (parts.decode_point != nullptr) sm->decode_point.bind(*parts.decode_point);
  for (protocol::FetchListener* listener : parts.fetch_listeners) sm->fetch_listeners.bind(*listener);
  for (protocol::LifecycleListener* listener : parts.listeners) sm->add_listener(*listener);
  for (auto& observer : parts.observers) sm->add_observer(*observer);
  const bool faulty = options.fault.wanted() && options.fault.sm == index;
  if (faulty) {
    fault = std::make_unique<checker::FaultInjector>(options.fault, [&clock] { return clock.now(); });
  }
  // Connects initiator and target, through a tap, a checker and a fault injector if wanted. The fault injector is last:
  // no contract covers the transfers that it changes.
  const bool tapped = recorders.wants_taps();
  auto insert = [](bool wanted, auto& hop, const char* hop_name, auto& initiator, auto&& onwards) {
    if (!wanted) return onwards(initiator);
    using Hop = typename std::decay_t<decltype(hop)>::element_type;
    hop = std::make_unique<Hop>(hop_name);
    initiator.bind(hop->in);
    onwards(hop->out);
  };
  auto connect = [&](auto& tap, const char* tap_name, auto& checker, const char* checker_name, auto& initiator,
                     auto& target) {
    insert(tapped, tap, tap_name, initiator, [&](auto& from) {
      insert(check_protocol, checker, checker_name, from, [&](auto& last) { last.bind(target); });
    });
  };
  auto target = [&](std::unique_ptr<recorders::SocketTap<1024>>& hop, const char* hop_name,
                    protocol::OperandTargetSocket& socket) -> protocol::OperandTargetSocket& {
    if (!faulty) return socket;
    hop = std::make_unique<recorders::SocketTap<1024>>(hop_name);
    hop->requested = [this](tlm::tlm_generic_payload& payload, const sc_core::sc_time&) { fault->requested(payload); };
    hop->answered = [this](tlm::tlm_generic_payload& payload, const sc_core::sc_time&) { fault->answered(payload); };
    hop->out.bind(socket);
    return hop->in;
  };
  connect(read_tap, "read_tap", read_checker, "read_protocol", sm->operand_read_socket(),
          target(read_fault, "read_fault", parts.storage->read_socket()));
  connect(write_tap, "write_tap", write_checker, "write_protocol", sm->operand_write_socket(),
          target(write_fault, "write_fault", parts.storage->write_socket()));
  if (parts.l1_clients.empty()) {
    connect(memory_tap, "memory_tap", memory_checker, "memory_protocol", sm->memory_socket(), l1->upstream);
  } else {
    const auto ports = static_cast<unsigned>(parts.l1_clients.size()) + 1;
    arbiter = std::make_unique<memory::RequestArbiter>("l1_arbiter", ports, clock);
    connect(memory_tap, "memory_tap", memory_checker, "memory_protocol", sm->memory_socket(), arbiter->upstream(0));
    const BuildContext context{machine, clock, index, check_protocol, options.lookup_delay};
    for (unsigned p = 1; p < ports; ++p) {
      connect_memory(context, parts, "l1_client" + std::to_string(p) + "_protocol", *parts.l1_clients[p - 1],
                     arbiter->upstream(p));
    }
    connect_memory(context, parts, "l1_protocol", arbiter->downstream, l1->upstream);
  }
  if (machine.sm.check_contracts && parts.writeback_point) {
    dropped_ = std::make_unique<DropLog>();
    sm->add_observer(*dropped_);
  }
  std::vector<std::string> gates;
  for (const auto& gate : parts.gates) gates.push_back(support::block_name(*gate));
  recorders.add_sm(index, *sm, clock, parts.storage_banks, read_tap.get(), write_tap.get(), memory_tap.get(), gates);
}

void SmNode::check_control_bits(const std::string& scheme) const {
  const auto refuse = [&](bool there, const std::string& what) {
    if (!there) return;
    throw support::ConfigError("sm.dependences = control_bits: the compiler counted cycles without what scheme " +
                               scheme + " has, " + what + "; expected sm.dependences = scoreboard");
  };
  refuse(parts.reuse_point != nullptr, "a reuse point, which holds instructions behind issue");
  refuse(parts.writeback_point != nullptr, "a write-back point, which holds results");
  for (const auto& gate : parts.gates) {
    const protocol::GateRoles roles = gate->roles();
    refuse(roles.mover != nullptr, "a gate that inserts moves, which have no control bits");
    refuse(roles.inserted != nullptr && !roles.inserted->inserted_scheme().empty(),
           "a gate with inserted instructions, which have no control bits");
  }
}

std::string SmNode::storage_path() const {
  const auto* module = dynamic_cast<const sc_core::sc_object*>(parts.storage.get());
  return module == nullptr ? std::string() : module->name();
}

std::string SmNode::scheduler_name() const {
  return scheduler_.empty() ? support::block_name(sm->scheduler_policy()) : scheduler_;
}

std::string SmNode::residency_name() const {
  const protocol::Residency& policy = *parts.residency;
  if (parts.registered_residency != nullptr && *parts.registered_residency == typeid(policy)) {
    return machine_.sm.residency;
  }
  return support::class_name(typeid(policy));
}

std::vector<std::string> SmNode::without_energy() const {
  std::vector<std::string> names;
  const auto look_at = [&names](const auto& block) {
    // A block that is not a module is an interface of one, or a plain policy.
    const auto* module = dynamic_cast<const sc_core::sc_object*>(block.get());
    if (module == nullptr) return;
    for (std::string& name : support::undeclared_energy(*module)) names.push_back(std::move(name));
  };
  look_at(parts.storage);
  look_at(parts.shared_contents);
  look_at(parts.operand_cache);
  for (const auto& gate : parts.gates) look_at(gate);
  look_at(parts.reuse_point);
  look_at(parts.writeback_point);
  for (const auto& module : parts.modules) look_at(module);
  return names;
}

bool SmNode::keeps_cycle_time() const {
  auto keeps = [](const auto& part) { return part == nullptr || part->keeps_cycle_time(); };
  // What a block notifies must be seen in its cycle although SystemC's kernel is not asked then.
  auto in_cycle = [](const auto& part) {
    return part == nullptr || support::CycleEvent::of(part->changed()) != nullptr;
  };
  bool all = keeps(parts.storage) && keeps(parts.operand_cache) && keeps(parts.shared_contents) &&
             keeps(parts.reuse_point) && keeps(parts.writeback_point) && keeps(parts.residency) &&
             read_checker == nullptr;
  all = all && keeps(parts.decode_point) && in_cycle(parts.reuse_point) && in_cycle(parts.writeback_point) &&
        in_cycle(parts.residency) && in_cycle(parts.decode_point);
  for (const auto& gate : parts.gates) all = all && keeps(gate) && in_cycle(gate);
  for (const auto* listener : parts.fetch_listeners) all = all && keeps(listener);
  for (const auto& observer : parts.observers) all = all && keeps(observer);
  return all;
}

void SmNode::finish_protocol_checks() {
  if (read_checker == nullptr) return;
  read_checker->finish();
  write_checker->finish();
  memory_checker->finish();
  for (auto& checker : parts.memory_checkers) checker->finish();
  for (protocol::LookupRules* rules : parts.lookup_rules) rules->finish(unanswered_);
}

std::string SmNode::describe_stuck() const {
  std::string text = sm->describe_stuck();
  if (parts.describe_stuck) text += parts.describe_stuck();
  for (const protocol::LookupRules* rules : parts.lookup_rules) text += rules->describe_open();
  return text;
}

std::string SmNode::blame(protocol::WarpSlot warp, protocol::RegisterId reg) const {
  const DropLog::Drop* const drop = dropped_ == nullptr ? nullptr : dropped_->last(warp, reg);
  if (drop == nullptr) return "";
  std::ostringstream text;
  text << "; write-back point " << support::block_name(*parts.writeback_point)
       << " dropped what was written to it last, by PC 0x" << std::hex << drop->pc << std::dec << " in cycle "
       << drop->cycle.value() << "; expected a drop only where a later read finds the value";
  return text.str();
}

}  // namespace regatta::assembly

// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/conservation.h>

namespace regatta::assembly {

ConservationLaws::ConservationLaws(const std::vector<support::StatGroup>& groups,
                                   const std::vector<std::string>& storages)
    : groups_(groups) {
  for (std::size_t i = 0; i < storages.size(); ++i) {
    const std::string sm = "sm" + std::to_string(i) + ".";
    const std::string pipeline = sm + "pipeline.";
    const std::string units = pipeline + "execution.";
    add("what takes a collector unit is dispatched once", {pipeline + "collectors.instructions"},
        {units + "sp_instructions", units + "sfu_instructions", units + "dp_instructions", units + "lsu_instructions"});
    add("registers read are those of the static code x its executions", {pipeline + "collectors.reads"},
        {units + "source_registers"});
    add("registers written or dropped are those of the static code x its executions",
        {pipeline + "writeback.writes", pipeline + "writeback.dropped"},
        {units + "destination_registers", pipeline + "bypassed_registers"});
    const std::string file = sm + "register_file";
    if (storages[i] == file) {
      add("the register file serves what the collectors ask", {file + ".reads"}, {pipeline + "collectors.reads"});
      add("the register file takes what is written back", {file + ".writes"}, {pipeline + "writeback.writes"});
      add("the renamed banks are read for operands that were written, verify-reads and copies",
          {file + ".bank_reads", file + ".unmapped_reads"}, {file + ".reads", file + ".verify_reads", file + ".moves"});
      add("what the reuse point bypasses has a result of the reuse buffer", {pipeline + "bypassed_registers"},
          {file + ".reused_registers"});
    }
    const Names l1{sm + "l1.reads", sm + "l1.writes", sm + "l1.invalidations"};
    const Names lsu{pipeline + "lsu.requests", pipeline + "lsu.cache_lines"};
    const std::string arbiter = sm + "l1_arbiter.port";
    if (knows(arbiter + "0_requests")) {
      Names ports;
      for (unsigned p = 0; knows(arbiter + std::to_string(p) + "_requests"); ++p) {
        ports.push_back(arbiter + std::to_string(p) + "_requests");
        add("the L1's arbiter answers what it is asked", {ports.back()}, {arbiter + std::to_string(p) + "_answers"});
      }
      add("the L1's arbiter takes what the load-store unit sends", {ports.front()}, lsu);
      add("the L1 takes what its arbiter lets pass", l1, ports);
    } else {
      add("the L1 takes what the load-store unit sends", l1, lsu);
    }
  }
  const std::string network = "memory.interconnect.";
  Names carried{network + "request_packets"};
  Names missed;
  for (std::size_t i = 0; i < storages.size(); ++i) {
    const std::string l1 = "sm" + std::to_string(i) + ".l1.";
    for (const char* kept : {"mshr_merges", "stores_absorbed"}) carried.push_back(l1 + kept);
    for (const char* sent : {"read_misses", "bypassed_reads", "writes", "writebacks"}) missed.push_back(l1 + sent);
  }
  add("the interconnect carries what misses or passes the L1s, less what joins a fetch or stays there", carried,
      missed);
  add("the L2 serves what the interconnect carries", {network + "request_packets"},
      {"memory.l2_*.reads", "memory.l2_*.writes", "memory.l2_*.atomics"});
  add("the interconnect brings back what the L2 reads", {network + "bytes_read"}, {"memory.l2_*.bytes_read"});
  add("DRAM reads are the fetches of the L2", {"memory.dram_*.reads"}, {"memory.l2_*.fetches"});
  add("DRAM writes are the write-backs of the L2", {"memory.dram_*.writes"}, {"memory.l2_*.writebacks"});
}

bool ConservationLaws::find(const std::string& name, std::vector<Term>& terms) const {
  const std::size_t dot = name.rfind('.');
  const std::string path = name.substr(0, dot);
  const bool all = !path.empty() && path.back() == '*';
  bool found = false;
  for (const support::StatGroup& group : groups_) {
    const bool named =
        all ? group.path().compare(0, path.size() - 1, path, 0, path.size() - 1) == 0 : group.path() == path;
    if (!named) continue;
    for (const support::Stat& stat : group.stats()) {
      if (stat.counter == nullptr || stat.name != name.substr(dot + 1)) continue;
      terms.push_back(Term{group.path() + "." + stat.name, stat.counter});
      found = true;
    }
  }
  return found;
}

bool ConservationLaws::knows(const std::string& name) const {
  std::vector<Term> terms;
  return find(name, terms);
}

void ConservationLaws::add(const std::string& what, const Names& left, const Names& right) {
  Law law{what, {}, {}};
  for (const std::string& name : left) {
    if (!find(name, law.left)) return;
  }
  for (const std::string& name : right) {
    if (!find(name, law.right)) return;
  }
  laws_.push_back(std::move(law));
}

void ConservationLaws::begin() {
  for (Law& law : laws_) {
    for (auto* side : {&law.left, &law.right}) {
      for (Term& term : *side) term.before = *term.counter;
    }
  }
}

std::string ConservationLaws::broken() const {
  const auto sum = [](const std::vector<Term>& side) {
    std::uint64_t total = 0;
    for (const Term& term : side) total += *term.counter - term.before;
    return total;
  };
  const auto text = [](const std::vector<Term>& side) {
    std::string names;
    for (const Term& term : side) {
      names += (names.empty() ? "" : " + ") + term.name + " (" + std::to_string(*term.counter - term.before) + ")";
    }
    return names;
  };
  for (const Law& law : laws_) {
    if (sum(law.left) == sum(law.right)) continue;
    return law.what + ": " + text(law.left) + " = " + std::to_string(sum(law.left)) + " must equal " + text(law.right) +
           " = " + std::to_string(sum(law.right));
  }
  return {};
}

}  // namespace regatta::assembly

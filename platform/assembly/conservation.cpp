// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/conservation.h>
#include <regatta/base/suggestion.h>

#include <regatta/support/config.h>

#include <stdexcept>

namespace regatta::assembly {

void ConservationLaws::add_platform(const std::vector<std::string>& storages) {
  for (std::size_t i = 0; i < storages.size(); ++i) {
    const std::string sm = "sm" + std::to_string(i) + ".";
    const std::string pipeline = sm + "pipeline.";
    const std::string units = pipeline + "execution.";
    const std::string path = operand_path("sm" + std::to_string(i));
    Side dispatched{units + "sp_instructions", units + "sfu_instructions", units + "dp_instructions",
                    units + "lsu_instructions"};
    if (knows(units + "tensor_instructions")) dispatched.push_back(units + "tensor_instructions");
    add("what takes a collector unit is dispatched once", {path + ".instructions"}, dispatched);
    Side read{path + ".reads"};
    if (knows(path + ".cached_reads")) read.push_back(path + ".cached_reads");
    add("registers read are those of the static code x its executions", read, {units + "source_registers"});
    add("registers written or dropped are those of the static code x its executions",
        {pipeline + "writeback.writes", pipeline + "writeback.dropped"},
        {units + "destination_registers", pipeline + "bypassed_registers"});
    const std::string file = sm + "register_file";
    if (storages[i] == file) {
      // A user's storage may have this name and count something else.
      add_optional("the register file serves what the collectors ask", {file + ".reads"}, {path + ".reads"});
      add_optional("the register file takes what is written back", {file + ".writes"}, {pipeline + "writeback.writes"});
    }
    add_l1(sm);
  }
  const std::string network = "memory.interconnect.";
  Side carried{network + "request_packets"}, carried_bytes{network + "bytes_written"};
  Side missed, missed_bytes, asked_bytes;
  for (std::size_t i = 0; i < storages.size(); ++i) {
    const std::string l1 = "sm" + std::to_string(i) + ".l1.";
    for (const char* kept : {"mshr_merges", "stores_absorbed"}) carried.push_back(l1 + kept);
    for (const char* sent : {"read_misses", "bypassed_reads", "writes", "writebacks"}) missed.push_back(l1 + sent);
    carried_bytes.push_back(l1 + "bytes_absorbed");
    for (const char* sent : {"bytes_written", "bytes_written_back"}) missed_bytes.push_back(l1 + sent);
    for (const char* asked : {"bytes_fetched", "bytes_bypassed"}) asked_bytes.push_back(l1 + asked);
  }
  add("the interconnect carries what misses or passes the L1s, less what joins a fetch or stays there", carried,
      missed);
  add("the interconnect carries the bytes that the L1s' writes bring, less what stays there", carried_bytes,
      missed_bytes);
  add("the interconnect brings back the bytes that the L1s ask for", {network + "bytes_read"}, asked_bytes);
  add("the L2 serves what the interconnect carries", {network + "request_packets"},
      {"memory.l2_*.reads", "memory.l2_*.writes", "memory.l2_*.atomics"});
  add("the interconnect brings back what the L2 reads", {network + "bytes_read"}, {"memory.l2_*.bytes_read"});
  add_dram();
}

void ConservationLaws::add_l1(const std::string& sm) {
  const std::string pipeline = sm + "pipeline.", l1 = sm + "l1.";
  const Side requests{l1 + "reads", l1 + "writes", l1 + "invalidations"};
  const Side lsu{pipeline + "lsu.requests", pipeline + "lsu.cache_lines", pipeline + "async.bulk_lines"};
  const std::string arbiter = sm + "l1_arbiter.port";
  if (knows(arbiter + "0_requests")) {
    Side ports;
    for (unsigned p = 0; knows(arbiter + std::to_string(p) + "_requests"); ++p) {
      ports.push_back(arbiter + std::to_string(p) + "_requests");
      add("the L1's arbiter answers what it is asked", {ports.back()}, {arbiter + std::to_string(p) + "_answers"});
    }
    add("the L1's arbiter takes what the load-store unit sends", {ports.front()}, lsu);
    add("the L1 takes what its arbiter lets pass", requests, ports);
  } else {
    add("the L1 takes what the load-store unit sends", requests, lsu);
    add("the L1 moves the sectors that the load-store unit asks for", {l1 + "data_bytes"},
        {"32*" + pipeline + "lsu.load_sectors", "32*" + pipeline + "lsu.store_sectors",
         "32*" + pipeline + "lsu.atomic_sectors", "32*" + pipeline + "async.bulk_sectors"});
  }
  add("every line that the L1 fetches was missed", {l1 + "fills", l1 + "mshr_merges"}, {l1 + "read_misses"});
  add("every read of the L1 hits, misses or passes by", {l1 + "reads"},
      {l1 + "read_hits", l1 + "read_misses", l1 + "bypassed_reads"});
  add("what stores make dirty in the L1 is written back, discarded or still there", {l1 + "bytes_dirtied"},
      {l1 + "bytes_written_back", l1 + "bytes_discarded", l1 + "dirty_bytes"});
}

void ConservationLaws::add_dram() {
  add("DRAM reads are the fetches of the L2", {"memory.dram_*.reads"}, {"memory.l2_*.fetches"});
  add("DRAM writes are the write-backs of the L2", {"memory.dram_*.writes"}, {"memory.l2_*.writebacks"});
  add("DRAM reads the bytes that the L2 fetches", {"memory.dram_*.bytes_read"}, {"memory.l2_*.bytes_fetched"});
  add("DRAM takes the bytes that the L2 writes back", {"memory.dram_*.bytes_written"},
      {"memory.l2_*.bytes_written_back"});
  for (unsigned p = 0; knows("memory.l2_" + std::to_string(p) + ".reads"); ++p) {
    const std::string l2 = "memory.l2_" + std::to_string(p) + ".";
    add("every line that the L2 fetches was missed", {l2 + "fetches", l2 + "mshr_merges"}, {l2 + "read_misses"});
    add("every read of the L2 hits or misses", {l2 + "reads", l2 + "atomics"}, {l2 + "read_hits", l2 + "read_misses"});
    add("what is made dirty in the L2 or passes it is written to DRAM, discarded or still there",
        {l2 + "bytes_dirtied", l2 + "bytes_passed"},
        {l2 + "bytes_written_back", l2 + "bytes_discarded", l2 + "dirty_bytes"});
  }
}

std::vector<ConservationLaws::Term> ConservationLaws::find(const std::string& what, const Side& side) const {
  std::vector<Term> terms;
  for (const support::StatQuery& query : side) {
    std::vector<support::StatTerm> found = query.find(groups_);
    if (found.empty()) {
      std::vector<std::string> known;
      for (const support::StatGroup& group : groups_) {
        for (const support::Stat& stat : group.stats()) known.push_back(group.path() + "." + stat.name);
      }
      throw std::logic_error("the conservation law '" + what + "' names '" + query.text() +
                             "', which no module counts" + base::suggestion(query.text(), known));
    }
    for (support::StatTerm& stat : found) terms.push_back(Term{std::move(stat)});
  }
  return terms;
}

void ConservationLaws::add(const std::string& what, const Side& left, const Side& right) {
  laws_.push_back(Law{what, find(what, left), find(what, right)});
}

std::string ConservationLaws::operand_path(const std::string& sm) const {
  const std::string pipeline = sm + ".pipeline.";
  return pipeline + (knows(pipeline + "sub_cores.reads") ? "sub_cores" : "collectors");
}

void ConservationLaws::add_optional(const std::string& what, const Side& left, const Side& right) {
  for (const Side* side : {&left, &right}) {
    for (const support::StatQuery& query : *side) {
      if (!knows(query)) return;
    }
  }
  add(what, left, right);
}

void ConservationLaws::begin() {
  for (Law& law : laws_) {
    for (auto* side : {&law.left, &law.right}) {
      for (Term& term : *side) term.before = term.stat.now();
    }
  }
}

std::string ConservationLaws::broken() const {
  const auto sum = [](const std::vector<Term>& side) {
    std::uint64_t total = 0;
    for (const Term& term : side) total += term.stat.now() - term.before;
    return total;
  };
  const auto text = [](const std::vector<Term>& side) {
    std::string names;
    for (const Term& term : side) {
      // What is there now may be less than at the beginning.
      const auto change = static_cast<std::int64_t>(term.stat.now() - term.before);
      names += (names.empty() ? "" : " + ") + (term.stat.weight == 1 ? "" : std::to_string(term.stat.weight) + " x ") +
               term.stat.name + " (" + std::to_string(change / static_cast<std::int64_t>(term.stat.weight)) + ")";
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

// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/bank_ports.h>

namespace regatta::models {

BankPorts::BankPorts(const RegisterFileConfig& config)
    : banks_(config.banks),
      shared_port_(config.shared_port()),
      read_shift_(config.read_ports() == 2 ? 1 : 0),
      latency_(config.latency) {}

void BankPorts::register_stats(support::StatGroup& g) const {
  g.counter("reads", reads_, "warp registers", "bank reads");
  g.counter("writes", writes_, "warp registers", "bank writes");
  g.counter("read_conflicts", read_conflicts_, "warp registers", "reads that had to wait for their bank");
  g.counter("write_conflicts", write_conflicts_, "warp registers", "writes that had to wait for their bank");
  g.counter("read_wait", read_wait_, "cycles", "that reads waited for their bank, summed");
  g.counter("write_wait", write_wait_, "cycles", "that writes waited for their bank, summed");
  g.counter("held_writes", held_writes_, "warp registers", "writes held back because the bank's queue was full");
}

}  // namespace regatta::models

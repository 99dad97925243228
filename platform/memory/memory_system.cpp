// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/memory_system.h>

#include <string>

namespace regatta::memory {
namespace {

const MemorySystemConfig& checked(const MemorySystemConfig& config) {
  config.check();
  return config;
}

}  // namespace

void check(const L1Config& l1, const MemorySystemConfig& config) {
  l1.check();
  config.check();
  if (l1.line_bytes != config.l2.line_bytes) {
    throw support::ConfigError("l1.line_bytes is " + std::to_string(l1.line_bytes) + " and l2.line_bytes is " +
                               std::to_string(config.l2.line_bytes) + ": expected the same");
  }
}

MemorySystem::MemorySystem(const sc_core::sc_module_name& name, const MemorySystemConfig& config,
                           support::ClockDomain& clock, const std::vector<support::ClockDomain*>& sm_clocks)
    : sc_module(name), config_(checked(config)), partitions_(config.partition_map()) {
  interconnect_ = std::make_unique<Interconnect>("interconnect", config_, config_.simulated_sms, clock, 0, sm_clocks);
  for (unsigned i = 0; i < config_.l2.partitions; ++i) {
    const std::string index = std::to_string(i);
    l2_.push_back(std::make_unique<L2Partition>(("l2_" + index).c_str(), config_, clock));
    dram_.push_back(std::make_unique<DramChannel>(("dram_" + index).c_str(), config_, clock));
    interconnect_->downstream[i].bind(l2_.back()->upstream);
    l2_.back()->downstream.bind(dram_.back()->upstream);
  }
}

void MemorySystem::warm(std::uint64_t address, std::uint8_t sectors, protocol::AccessClass access) {
  l2_[partitions_.partition(address)]->warm(address, sectors, access, [&](std::uint64_t in_dram) {
    // A partition writes back only lines of its own, so that they are of its channel too.
    dram_[partitions_.partition(address)]->warm(in_dram);
  });
}

std::size_t MemorySystem::outstanding() const {
  std::size_t n = 0;
  for (const auto& l2 : l2_) n += l2->outstanding();
  return n;
}

bool MemorySystem::idle() const {
  if (!interconnect_->idle()) return false;
  for (const auto& l2 : l2_) {
    if (!l2->idle()) return false;
  }
  for (const auto& dram : dram_) {
    if (!dram->idle()) return false;
  }
  return true;
}

}  // namespace regatta::memory

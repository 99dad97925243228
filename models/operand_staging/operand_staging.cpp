// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/operand_staging/operand_staging.h>

#include "shard.h"

#include <stdexcept>
#include <string>

namespace regatta::models {

using protocol::WarpAccess;

void OperandStagingConfig::declare(support::OptionSet& o) {
  o.add("osu.entries", entries, "warp registers",
        "warp registers in the operand staging units of an SM (RegLess section 6.2: 512)", 1, 1 << 16);
  o.add("osu.banks", banks, "banks", "banks per shard (RegLess section 5.2)", 1, 64);
  o.add("osu.latency", latency, "cycles", "latency of a bank access", 1, 1000);
  o.add("osu.arbitration", arbitration, "cycles", "cycles from a read request to the earliest bank access", 0, 32);
  o.add("osu.write_queue", write_queue, "cycles", "cycles of queued work at which a bank accepts no more writes", 1,
        48);
  o.add("osu.writeback_buffer", writeback_buffer, "lines",
        "lines of a shard that may wait to leave for memory; at least as many as an instruction has destinations",
        trace::max_destination_registers, 64);
  o.add("osu.request_queue", request_queue, "requests",
        "preloads and invalidations of a shard that may wait to leave for memory", 1, 4096);
  o.add("osu.backed_registers", backed_registers, "warp registers",
        "warp registers of an SM's resident warps that memory can back, which limits occupancy; 0: "
        "register_file.registers, for the occupancy of the baseline",
        0, 1 << 20);
}

void OperandStagingConfig::validate() const {
  const unsigned parts = shards * banks;
  if (parts == 0 || entries % parts != 0) {
    throw support::ConfigError("configuration: osu.entries = " + std::to_string(entries) + " is divided among " +
                               std::to_string(shards) + " shards (sm.schedulers) of osu.banks = " +
                               std::to_string(banks) + ": expected a multiple of " + std::to_string(parts));
  }
  if (entries / shards >= 0xffff) {
    throw support::ConfigError("configuration: osu.entries = " + std::to_string(entries) + " gives a shard " +
                               std::to_string(entries / shards) + " lines: expected fewer than 65535");
  }
}

OperandStaging::OperandStaging(const sc_core::sc_module_name& name, const OperandStagingConfig& config,
                               sc_core::sc_time clock_period)
    : sc_module(name),
      reads("reads"),
      writes("writes"),
      config_(config),
      clock_(support::CycleScheduler::of(clock_period)),
      room_(
          clock_period, [](void* m) { static_cast<OperandStaging*>(m)->release_held(); }, this) {
  config.validate();
  for (unsigned s = 0; s < config.shards; ++s) {
    shards_.push_back(std::make_unique<StagingShard>(("shard" + std::to_string(s)).c_str(), s, config, clock_period));
  }
  for (unsigned w = 0; w < config.warps; ++w) {
    homes_.push_back(Home{shards_[w % config.shards].get(), static_cast<std::uint16_t>(w / config.shards)});
  }
  reads.bind(*this);
  writes.bind(*this);
}

OperandStaging::~OperandStaging() = default;

StagingUnit& OperandStaging::shard(unsigned s) { return *shards_.at(s); }
protocol::MemoryInitiatorSocket& OperandStaging::memory(unsigned s) { return shards_.at(s)->memory; }
void OperandStaging::connect_below(unsigned s, BackingStore& below) { shards_.at(s)->connect_below(below); }
void OperandStaging::connect_twin(unsigned s, unsigned bank, BankTwin& twin) {
  shards_.at(s)->connect_twin(bank, twin);
}
std::string OperandStaging::describe_bank(unsigned s, unsigned bank) const {
  return shards_.at(s)->describe_bank(bank);
}

void OperandStaging::kernel_started(const protocol::KernelContext& context) {
  const unsigned bytes = context.warp_size * trace::bytes_per_lane;
  if (bytes != config_.line_bytes) {
    throw support::ConfigError("configuration: a warp register of " + std::to_string(context.warp_size) +
                               " lanes has " + std::to_string(bytes) +
                               " bytes, and l1.line_bytes = " + std::to_string(config_.line_bytes) +
                               ": operand staging needs lines as large as a warp register");
  }
  for (auto& s : shards_) s->kernel_started(context.registers_per_warp);
}

void OperandStaging::warp_started(const protocol::WarpInfo& warp) { home_of(warp.warp).shard->warp_started(warp.warp); }
void OperandStaging::warp_finished(const protocol::WarpInfo& warp) {
  home_of(warp.warp).shard->warp_finished(warp.warp);
}

tlm::tlm_sync_enum OperandStaging::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
  WarpAccess& access = protocol::warp_access(payload);
  const Home& home = home_of(access.warp);
  if (payload.is_read()) {
    home.shard->read(payload, access, home.warp, delay);
  } else if (!home.shard->write(payload, access, home.warp, delay, config_.write_queue)) {
    hold(payload, access, home, delay);
    return tlm::TLM_ACCEPTED;
  }
  return tlm::TLM_COMPLETED;
}

void OperandStaging::refuse(protocol::WarpSlot warp) const {
  SC_REPORT_FATAL("regatta/operand_staging", ("warp " + std::to_string(warp.value()) + ": the staging units serve " +
                                              std::to_string(homes_.size()) + " warps")
                                                 .c_str());
  throw std::logic_error("a fatal SystemC report returned");
}

void OperandStaging::hold(tlm::tlm_generic_payload& payload, const WarpAccess& access, const Home& home,
                          const sc_core::sc_time& delay) {
  const std::uint64_t work = home.shard->backlog(access, home.warp, delay) + clock_.cycles(delay);
  held_ = &payload;
  ++held_writes_;
  room_.request(clock_.now() + work - config_.write_queue);
}

// The bank has room, so the write is taken and answered in the same call (BEGIN_RESP implies END_REQ).
void OperandStaging::release_held() {
  tlm::tlm_generic_payload& payload = *held_;
  const WarpAccess& access = protocol::warp_access(payload);
  const Home home = home_of(access.warp);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (!home.shard->write(payload, access, home.warp, delay, config_.write_queue)) {  // a read came before it
    room_.request(clock_.now() + home.shard->backlog(access, home.warp, delay) - config_.write_queue);
    return;
  }
  held_ = nullptr;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  writes->nb_transport_bw(payload, phase, delay);
}

void OperandStaging::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  WarpAccess& access = protocol::warp_access(payload);
  const Home home = home_of(access.warp);
  if (payload.is_read()) {
    home.shard->read(payload, access, home.warp, delay);
  } else {
    home.shard->write(payload, access, home.warp, delay, ~std::uint64_t{0});
  }
}

std::string OperandStaging::check() const {
  for (const auto& s : shards_) {
    const std::string wrong = s->check();
    if (!wrong.empty()) return std::string(s->name()) + ": " + wrong;
  }
  return "";
}

bool OperandStaging::idle() const {
  for (const auto& s : shards_) {
    if (!s->idle()) return false;
  }
  return held_ == nullptr;
}

void OperandStaging::register_stats(support::StatGroup& g) {
  g.counter("held_writes", held_writes_, "warp registers", "writes held back because their bank had too much to do");
}

}  // namespace regatta::models

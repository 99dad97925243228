// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/operand_staging/operand_staging.h>

#include "shard.h"

#include <string>

namespace regatta::models {

using protocol::WarpAccess;

void OperandStagingConfig::declare(support::OptionSet& o) {
  o.add("osu.entries", entries, "warp registers", "that one SM's operand staging units hold (RegLess section 6.2: 512)",
        1, 1 << 16);
  o.add("osu.banks", banks, "banks", "of a shard (RegLess section 5.2)", 1, 64);
  o.add("osu.latency", latency, "cycles", "of one bank access", 1, 1000);
  o.add("osu.arbitration", arbitration, "cycles", "from a read request to the earliest bank access", 0, 32);
  o.add("osu.write_queue", write_queue, "cycles", "of work before a write at which write-back is held", 1, 48);
  o.add("osu.writeback_buffer", writeback_buffer, "lines",
        "of a shard that wait for the way to memory; as many as an instruction has destinations at least",
        trace::max_destination_registers, 64);
  o.add("osu.request_queue", request_queue, "requests",
        "of a shard, preloads and invalidations, that wait to leave for memory", 1, 4096);
  o.add(
      "osu.backed_registers", backed_registers, "warp registers",
      "that memory backs for the resident warps of an SM: bounds occupancy; 0: as many as register_file.registers, so "
      "that as many warps are resident as without staging units",
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
      by_shards_(std::max(1u, config.shards)),
      room_(
          clock_period, [](void* m) { static_cast<OperandStaging*>(m)->release_held(); }, this) {
  config.validate();
  for (unsigned s = 0; s < config.shards; ++s) {
    shards_.push_back(std::make_unique<StagingShard>(("shard" + std::to_string(s)).c_str(), s, config, clock_period));
    shard_pointers_.push_back(shards_.back().get());
  }
  reads.bind(*this);
  writes.bind(*this);
}

OperandStaging::~OperandStaging() = default;

protocol::StagingUnit& OperandStaging::shard(unsigned s) { return *shards_.at(s); }
protocol::MemoryInitiatorSocket& OperandStaging::memory(unsigned s) { return shards_.at(s)->memory; }
void OperandStaging::connect_below(unsigned s, protocol::BackingStore& below) { shards_.at(s)->connect_below(below); }

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

void OperandStaging::warp_started(const protocol::WarpInfo& warp) { shard_of(warp.warp).warp_started(warp.warp); }
void OperandStaging::warp_finished(const protocol::WarpInfo& warp) { shard_of(warp.warp).warp_finished(warp.warp); }

tlm::tlm_sync_enum OperandStaging::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
  WarpAccess& access = protocol::warp_access(payload);
  StagingShard& shard = shard_of(access.warp);
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + clock_.cycles(delay);
  std::uint64_t done = 0;
  if (payload.is_read()) {
    done = shard.read(payload, access, now, at + config_.arbitration);
  } else {
    const std::uint64_t work = shard.backlog(access, now, at);
    if (work > config_.write_queue) {
      held_ = &payload;
      ++held_writes_;
      room_.request(now, at + work - config_.write_queue);
      return tlm::TLM_ACCEPTED;
    }
    done = shard.write(payload, access, now, at);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  delay += clock_.time(done - at);
  return tlm::TLM_COMPLETED;
}

// The bank has room: the write is taken and answered in the same breath (BEGIN_RESP implies END_REQ).
void OperandStaging::release_held() {
  tlm::tlm_generic_payload& payload = *held_;
  WarpAccess& access = protocol::warp_access(payload);
  StagingShard& shard = shard_of(access.warp);
  const std::uint64_t now = clock_.now();
  const std::uint64_t work = shard.backlog(access, now, now);
  if (work > config_.write_queue) {  // a read came before it
    room_.request(now, now + work - config_.write_queue);
    return;
  }
  held_ = nullptr;
  const std::uint64_t done = shard.write(payload, access, now, now);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = clock_.time(done - now);
  writes->nb_transport_bw(payload, phase, delay);
}

void OperandStaging::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  WarpAccess& access = protocol::warp_access(payload);
  StagingShard& shard = shard_of(access.warp);
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = now + clock_.cycles(delay);
  const std::uint64_t done = payload.is_read() ? shard.read(payload, access, now, at + config_.arbitration)
                                               : shard.write(payload, access, now, at);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  delay += clock_.time(done - at);
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

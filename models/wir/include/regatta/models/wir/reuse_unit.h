// SPDX-License-Identifier: Apache-2.0
//
// The reuse stage (WIR section V-C, VI-B) and retirement (section V-B): looks an instruction up in the reuse buffer,
// and writes the rename table and the buffer at its end.
#pragma once

#include <regatta/models/wir/lookup_queue.h>
#include <regatta/models/wir/physical_register_file.h>
#include <regatta/models/wir/retry_queue.h>
#include <regatta/protocol/extension_points.h>

namespace regatta::models::wir {

class ReuseUnit : public protocol::ReusePoint {
 public:
  explicit ReuseUnit(PhysicalRegisterFile& file);

  bool keeps_cycle_time() const override { return true; }
  Decision decide(protocol::DynamicInstruction& d) override;
  unsigned latency() const override { return state_.config.front_delay(); }
  std::size_t resume_kept(unsigned asked, DecidedList& decided) override;
  bool needs_cycle() const override { return !held_.empty() || retry_.must_retry(); }
  void written_back(const protocol::DynamicInstruction& d) override;
  void kernel_started(const protocol::KernelContext& context) override;
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Decision hold(protocol::DynamicInstruction& d, const InFlight& f, std::uint64_t since);
  Decision try_look_up(protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  bool misses_again();
  Decision look_up(protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now, bool waited);
  // Rare cases are out of line, to keep the common code in the host's instruction cache.
  [[gnu::noinline]] Decision retry(protocol::DynamicInstruction& d, std::uint64_t now);
  [[gnu::noinline]] Decision bypass(protocol::DynamicInstruction& d, InFlight& f, const ReuseResult& result,
                                    bool waited);
  [[gnu::noinline]] void give_way(InFlight& f);
  Decision execute(const InFlight& f);
  void claim(const protocol::DynamicInstruction& d, InFlight& f, std::uint64_t now);
  bool acquire_sources(const InFlight& f);
  void retire(const protocol::DynamicInstruction& d, InFlight& f);
  bool acquire(const ReuseResult& result);
  void update_buffer(const protocol::DynamicInstruction& d, InFlight& f);

  PhysicalRegisterFile& file_;
  RegisterState& state_;
  RetryQueue retry_;
  LookupQueue held_;
  const protocol::DynamicInstruction* missed_ = nullptr;  ///< the last whose miss found no port for its claim
  std::uint64_t missed_at_ = 0;                           ///< the buffer's count of entered tags at that time
  bool racy_ = false;                                     ///< the race detector found its loads unordered
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::wir

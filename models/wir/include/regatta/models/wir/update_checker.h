// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/models/wir/reuse_buffer.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/holds_work.h>

#include <cstdint>
#include <set>
#include <string>
#include <systemc>

namespace regatta::models::wir {

/// Stands before the reuse buffer, or a block in front of it, and checks that each update has a write port of its own:
/// booked before, for the present cycle or an earlier one (an instruction may wait for a port of the rename table
/// meanwhile), and that every booking is used by the end of the kernel. Violations are SystemC errors of type
/// "regatta/wir".
class UpdateChecker : public sc_core::sc_module,
                      public ReuseUpdates,
                      public protocol::LifecycleListener,
                      public support::HoldsWork {
 public:
  sc_core::sc_export<ReuseUpdates> in;
  sc_core::sc_port<ReuseUpdates> out;

  UpdateChecker(const sc_core::sc_module_name& name, sc_core::sc_time clock_period);

  std::uint64_t book_write() override;
  void update(const ReuseUpdate& update) override;
  void count_retries(std::uint64_t times) override { out->count_retries(times); }
  void fetch_ahead(std::uint32_t fold) const override { out->fetch_ahead(fold); }
  /// Bookings that are not used yet.
  std::string held_work() const override;
  void kernel_finished(const protocol::KernelContext& context) override;

 private:
  void violation(const std::string& what) const;

  support::CycleScheduler& clock_;
  std::multiset<std::uint64_t> booked_;  ///< cycles of ports that are not used yet
};

}  // namespace regatta::models::wir

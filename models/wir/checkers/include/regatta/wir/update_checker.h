// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/holds_work.h>
#include <regatta/wir/entered_loads.h>
#include <regatta/wir/reuse_buffer.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <systemc>

namespace regatta::models::wir {

/// Stands before the updates of the reuse buffer, or of a block in front of it. Whoever connects the lookups of the
/// same block calls answered() for each answer. Violations are SystemC errors of type "regatta/wir":
///
///   ports    each update has a write port of its own: booked before, for the present cycle or an earlier one (an
///            instruction may wait for a port of the rename table meanwhile). Every booking is used by the end of the
///            kernel
///   claims   an update with `claimed` follows a lookup of its owner for which an entry of this tag was claimed, and
///            each claim is followed by one update
///   retries  a block in front of the buffer forwards all of count_retries()
///   loads    a load whose tag names a CTA gets no result that an earlier CTA of the slot has entered
class UpdateChecker : public sc_core::sc_module,
                      public ReuseUpdates,
                      public protocol::LifecycleListener,
                      public support::HoldsWork {
 public:
  sc_core::sc_export<ReuseUpdates> in;
  sc_core::sc_port<ReuseUpdates> out;

  UpdateChecker(const sc_core::sc_module_name& name, support::ClockDomain& clock, EnteredLoads& loads);
  /// For messages: the block that calls update().
  void set_caller(const std::string& caller) { caller_ = caller; }
  /// The checker behind the block, if the block forwards its updates.
  void set_behind(UpdateChecker& behind) {
    behind_ = &behind;
    behind.before_ = this;
  }

  /// The block's answer to a lookup.
  void answered(const ReuseRequest& request, const ReuseAnswer& answer);

  std::uint64_t book_write() override;
  void update(const ReuseUpdate& update) override;
  void count_retries(std::uint64_t times) override;
  void fetch_ahead(std::uint32_t fold) const override { out->fetch_ahead(fold); }
  /// Bookings that are not used yet.
  std::string held_work() const override;
  void kernel_finished(const protocol::KernelContext& context) override;

 private:
  struct Claim {
    ReuseTag tag;
    std::uint64_t cycle;
  };
  void violation(const std::string& what) const;
  void end_claim(const ReuseUpdate& update);
  std::string block_name() const;

  support::ClockDomain& clock_;
  EnteredLoads& loads_;
  std::string caller_;
  UpdateChecker* behind_ = nullptr;
  UpdateChecker* before_ = nullptr;             ///< the checker before the block in front of this one's
  std::multiset<std::uint64_t> booked_;         ///< cycles of ports that are not used yet
  std::multimap<std::uint32_t, Claim> claims_;  ///< by owner, those without an update
  std::uint64_t retries_ = 0;
};

}  // namespace regatta::models::wir

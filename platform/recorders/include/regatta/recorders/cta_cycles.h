// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/base/output_file.h>
#include <regatta/protocol/observer.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::recorders {

/// The CSV file that the SMs' CtaCycles share: a row per CTA, in the order in which they end.
class CtaCyclesFile {
 public:
  explicit CtaCyclesFile(const std::string& path);
  void row(const std::string& text) { file_.write(text); }
  /// Gives the file its final name.
  void finish() { file_.commit(); }

 private:
  base::OutputFile file_;
};

/// Activity of the warps of each CTA, in warp-cycles from their start to their end: a CPI stack per CTA. Works only on
/// changes of state. A cycle in which a warp issues is an issue, whatever it waits for afterwards; `ready` means that
/// it could issue but was not picked, found no collector, or met a closed gate.
class CtaCycles : public protocol::Observer {
 public:
  CtaCycles(CtaCyclesFile& file, unsigned sm) : file_(file), sm_(sm) {}

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void cta_launched(protocol::Cycle now, const protocol::CtaInfo& cta) override;
  void cta_finished(protocol::Cycle now, const protocol::CtaInfo& cta) override;
  void cta_switched(protocol::Cycle now, protocol::CtaSlot cta, bool active) override;
  void warp_started(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void warp_finished(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void warp_state(protocol::Cycle now, const protocol::WarpInfo& warp, protocol::WarpState state) override;

 private:
  /// The columns: an issue, a state of an active warp, or switched out.
  static constexpr unsigned issued_column = 0;
  static constexpr unsigned inactive_column = protocol::warp_state_count;
  static constexpr unsigned columns = protocol::warp_state_count + 1;
  struct WarpTime {
    std::uint64_t since = 0;  ///< first cycle not yet charged
    protocol::WarpState state = protocol::WarpState::absent;
    unsigned cta = 0;
  };
  struct CtaTime {
    std::uint64_t launched = 0;
    bool active = false;
    std::vector<unsigned> warps;
    std::array<std::uint64_t, columns> cycles{};
  };
  WarpTime& warp(protocol::WarpSlot slot);
  CtaTime& cta(unsigned slot);
  /// Charges the cycles before `now` to their state.
  void charge(WarpTime& w, std::uint64_t now);

  CtaCyclesFile& file_;
  unsigned sm_;
  std::uint32_t launch_ = 0;
  std::vector<WarpTime> warps_;
  std::vector<CtaTime> ctas_;
};

}  // namespace regatta::recorders

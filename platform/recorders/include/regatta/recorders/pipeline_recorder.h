// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/base/output_file.h>
#include <regatta/protocol/observer.h>
#include <regatta/recorders/window.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace regatta::recorders {

/// A file in the format of the Konata pipeline viewer (Kanata 0004), shared by the SMs' recorders. Lines are added with
/// their cycle and written in the order of cycles; a cycle is written when a later one begins, so lines may be added
/// ahead of time.
class KanataFile {
 public:
  KanataFile(const std::string& path, Window cycles, Window ctas);

  const Window& cycles() const { return cycles_; }
  const Window& ctas() const { return ctas_; }
  std::uint64_t new_id() { return ids_++; }
  bool empty() const { return ids_ == 0; }
  std::uint64_t new_retirement() { return retirements_++; }
  /// Writes everything before cycle `now`.
  void advance(std::uint64_t now);
  /// `cycle` is not earlier than in the last advance().
  void line(std::uint64_t cycle, const std::string& text) { pending_[cycle] += text + "\n"; }
  /// Writes the rest and gives the file its final name.
  void finish();

 private:
  base::OutputFile file_;
  Window cycles_, ctas_;
  std::map<std::uint64_t, std::string> pending_;
  std::uint64_t cycle_ = 0;
  bool begun_ = false;
  std::uint64_t ids_ = 0;
  std::uint64_t retirements_ = 0;
};

/// The path of each warp instruction through one SM, as stages
///   F fetch, D instruction buffer, I issue, O operands, X execution, M load-store unit and memory, W write-back.
/// Records the instructions fetched in the window of cycles by warps in the window of CTAs, each to its end. A CTA that
/// is switched out has a row of its own until it is switched in again, stage P (pending).
class PipelineRecorder : public protocol::Observer {
 public:
  PipelineRecorder(KanataFile& file, unsigned sm) : file_(file), sm_(sm) {}

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void cta_launched(protocol::Cycle now, const protocol::CtaInfo& cta) override;
  void cta_switched(protocol::Cycle now, protocol::CtaSlot cta, bool active) override;
  void cta_finished(protocol::Cycle now, const protocol::CtaInfo& cta) override;
  void warp_started(protocol::Cycle, const protocol::WarpInfo& warp) override;
  void fetched(protocol::Cycle now, const protocol::WarpInfo& warp, const protocol::InstructionTraits& traits) override;
  void arrived(protocol::Cycle now, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void bypassed(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void operands_delivered(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void register_written(protocol::Cycle now, const protocol::DynamicInstruction& d, unsigned, bool) override;
  void retired(protocol::Cycle now, const protocol::DynamicInstruction& d) override;

  /// The run ends in cycle `now`: instructions in flight are marked as flushed.
  void finish(std::uint64_t now);

 private:
  static constexpr std::uint64_t not_recorded = UINT64_MAX;
  struct Record {
    std::uint64_t id = not_recorded;
    char stage = 0;           ///< open, or opened ahead
    std::uint64_t since = 0;  ///< the cycle from which it is
  };
  struct Fetched {
    Record record;
    bool arrived = false;
  };
  /// Closes the open stage and opens another, not earlier than the open one began.
  void enter(Record& r, std::uint64_t cycle, char stage);
  void close(Record& r, std::uint64_t cycle, bool flushed);
  struct Cta {
    std::uint64_t index = 0;  ///< in the grid
    Record pending;
  };
  Cta& cta(protocol::CtaSlot slot);
  std::deque<Fetched>& queue(protocol::WarpSlot slot);
  Record& record(const protocol::DynamicInstruction& d);

  KanataFile& file_;
  unsigned sm_;
  std::uint32_t launch_ = 0;
  std::vector<std::deque<Fetched>> fetched_;  ///< per warp slot, fetched and not issued
  std::vector<Record> issued_;                ///< by pool index
  std::vector<Cta> ctas_;                     ///< by slot
};

}  // namespace regatta::recorders

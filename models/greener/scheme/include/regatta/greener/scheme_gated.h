// SPDX-License-Identifier: Apache-2.0
//
// Register files whose rows sleep transistors switch: what all of them have, and what may be put beside it.
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/greener/gated_register_file.h>
#include <regatta/greener/power_gate.h>
#include <regatta/greener/power_states_config.h>
#include <regatta/greener/sleep_transistors.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::schemes {

/// The parts of one SM to which an axis adds; the SM owns them.
struct GatedParts {
  const assembly::BuildContext& context;
  assembly::SmParts& parts;
  const models::SleepTransistorConfig& transistors_config;
  models::SleepTransistorController& transistors;
  models::GatedRegisterFile& file;
};

/// An axis of a gated file besides its power states: other windows, a codec, a record of its wear. Of another family,
/// which gives one to every gated scheme.
class GatedAxis {
 public:
  virtual ~GatedAxis() = default;
  virtual void declare(support::OptionSet& options) = 0;
  virtual void validate(const assembly::MachineConfig& machine) const = 0;
  virtual std::vector<std::pair<std::string, std::string>> written_files() const = 0;
  /// Scheme::reads_values() of the axis.
  virtual std::string reads_values() const = 0;
  /// Whether warps get windows other than those of their slot.
  virtual bool has_windows() const = 0;
  /// The setting for which the gated file is needed, "knob = value"; empty: any banked file will do.
  virtual std::string needs_file() const = 0;
  /// Null: the windows are fixed.
  virtual std::unique_ptr<models::WindowPolicy> window_policy(unsigned slices) const = 0;
  /// SleepTransistorConfig::segments.
  virtual std::vector<unsigned> segments(unsigned lanes) const = 0;
  /// Adds its parts to an SM's; returns the codec if there is one.
  virtual const models::RowCodec* add_parts(const GatedParts& sm) = 0;
  /// The statistics of its group.
  virtual std::string stat_group() const = 0;
  virtual void register_stats(support::StatGroup& group) const = 0;
  virtual void add_waits(assembly::Waits& waits) const = 0;
  /// After the run.
  virtual void report() const = 0;
};

/// Rows that are switched: those of the gated file, which stands for the baseline's, or those of another scheme's
/// banked file (SmParts::row_uses). Clients vote on the rows (platform/baseline/row_power); none knows of the others.
/// Axes are independent: each published technique is a setting of them under a name of its own.
class GatedScheme : public assembly::Scheme {
 public:
  GatedScheme(std::string name, std::string help, GatedPowerConfig power = {},
              models::SleepTransistorConfig transistors = {}, std::string unused_rows_off = "none",
              std::unique_ptr<GatedAxis> axis = nullptr)
      : name_(std::move(name)),
        help_(std::move(help)),
        power_(std::move(power)),
        transistors_(std::move(transistors)),
        unused_rows_off_(std::move(unused_rows_off)),
        axis_(std::move(axis)) {}

  /// Of a scheme that has none; before the scheme's knobs are declared.
  void set_axis(std::unique_ptr<GatedAxis> axis) { axis_ = std::move(axis); }
  bool has_axis() const { return axis_ != nullptr; }

  std::string name() const override { return name_; }
  std::string help() const override { return help_; }
  void set_published(assembly::Published published) { published_ = std::move(published); }
  std::optional<assembly::Published> published() const override { return published_; }
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  std::vector<std::pair<std::string, std::string>> written_files() const override;
  std::string reads_values() const override { return axis_ != nullptr ? axis_->reads_values() : ""; }
  std::optional<assembly::Takings> takings() const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::vector<std::string> stat_groups() const override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_waits(assembly::Waits& waits) const override;
  void report(nlohmann::ordered_json&) const override;

 protected:
  /// A test puts a faulty one in its place.
  virtual std::unique_ptr<models::PowerGate> power_gate(const models::PowerGating& config,
                                                        support::ClockDomain& clock) const;

 private:
  /// Of one SM, which owns them.
  struct Handles {
    models::SleepTransistorController* transistors = nullptr;
    const models::RowAccounts* rows = nullptr;
    models::PowerGate* gate = nullptr;  ///< null: registers stay as they are
  };
  /// Their knobs, for the file.
  models::SleepTransistors transistors(const assembly::BuildContext& context) const;
  void add_gated_file(const assembly::BuildContext& context, assembly::SmParts& parts);
  /// Switches the rows of the storage that is there.
  void add_switched_rows(const assembly::BuildContext& context, assembly::SmParts& parts);
  void require_no_axes() const;
  /// Null: rows stay on.
  std::unique_ptr<models::PowerGate> add_power_states(const assembly::BuildContext& context, assembly::SmParts& parts,
                                                      Handles& handles) const;
  const std::string name_, help_;
  std::optional<assembly::Published> published_;
  GatedPowerConfig power_;
  models::SleepTransistorConfig transistors_;
  std::string unused_rows_off_;  ///< which rows of no warp are off
  std::unique_ptr<GatedAxis> axis_;
  double row_lanes_ = 32;
  double cycle_ns_ = 1;
  std::vector<Handles> sms_;
};

}  // namespace regatta::schemes

// SPDX-License-Identifier: Apache-2.0
//
// A scheme: which models stand at the extension points of an SM. The only place where a scheme has a name.
// To add one, derive from Scheme and add it to a SchemeRegistry; nothing in the pipeline changes.
#pragma once

#include <regatta/assembly/machine.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/observer.h>
#include <regatta/support/config.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::assembly {

/// What a scheme gets to build one SM's parts. Modules are made inside the SM's scope: name them "osu", not "sm0.osu".
struct BuildContext {
  const MachineConfig& machine;
  sc_core::sc_time clock_period;
  unsigned sm_index = 0;
};

/// One SM's parts. Storage, residency and scheduler are required; the rest may be empty. Lists keep their order:
/// gates are asked first to last.
struct SmParts {
  std::unique_ptr<protocol::OperandStorage> storage;
  std::vector<std::unique_ptr<protocol::IssueGate>> gates;
  std::unique_ptr<protocol::ReusePoint> reuse_point;
  std::unique_ptr<protocol::WritebackPoint> writeback_point;
  protocol::DecodePoint* decode_point = nullptr;  ///< a side of one of the other parts, which owns it
  std::unique_ptr<protocol::Residency> residency;
  std::vector<std::unique_ptr<protocol::Observer>> observers;
  std::function<std::unique_ptr<protocol::WarpScheduler>()> scheduler;
  /// Modules that stand at no extension point themselves (the inside of a storage, an arbiter).
  std::vector<std::unique_ptr<sc_core::sc_module>> modules;
};

/// The baseline GPU of all five papers: banked register file, occupancy, the configured scheduler. Schemes start from
/// it and replace what they change.
SmParts baseline_parts(const BuildContext& context);

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual std::string name() const = 0;
  /// One line for --help.
  virtual std::string help() const = 0;
  /// The scheme's own knobs, under its own module names.
  virtual void declare(support::OptionSet&) {}
  /// Refuses knobs that do not fit, by ConfigError.
  virtual void validate(const MachineConfig&) const {}
  virtual SmParts build(const BuildContext& context) = 0;
  /// Adds the scheme's keys to stats.json, after the run.
  virtual void report(nlohmann::ordered_json&) const {}
};

class SchemeRegistry {
 public:
  /// With the built-in schemes.
  static SchemeRegistry with_builtin();
  void add(std::unique_ptr<Scheme> scheme);
  /// Throws ConfigError with the nearest known name.
  Scheme& get(const std::string& name) const;
  const std::vector<std::unique_ptr<Scheme>>& schemes() const { return schemes_; }

 private:
  std::vector<std::unique_ptr<Scheme>> schemes_;
};

}  // namespace regatta::assembly

// SPDX-License-Identifier: Apache-2.0
//
// A scheme: which models stand at the extension points of an SM. The only place where a scheme has a name.
// To add one, derive from Scheme and add it to a SchemeRegistry; nothing in the pipeline changes.
#pragma once

#include <regatta/assembly/machine.h>
#include <regatta/assembly/takings.h>
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/lookup_checker.h>
#include <regatta/protocol/observer.h>
#include <regatta/protocol/shared_contents.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/stats.h>

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <systemc>
#include <typeinfo>
#include <vector>

namespace regatta::models {
class MovableFile;
}

namespace regatta::assembly {

class ConservationLaws;
class RunFacts;
class Waits;

/// How a scheme's paper ran it.
struct Published {
  std::string source;   ///< "HPCA 2018"
  std::string machine;  ///< a preset
  /// Knobs of the machine and of the scheme that the paper sets beside the preset: name and value.
  std::vector<std::pair<std::string, std::string>> knobs;
};

/// What a scheme gets to build one SM's parts. Modules are made inside the SM's scope: name them "osu", not "sm0.osu".
struct BuildContext {
  const MachineConfig& machine;
  support::ClockDomain& clock;  ///< the SMs'
  unsigned sm_index = 0;
  bool check_protocol = false;  ///< checkers are wanted on the scheme's own sockets and lookups too
  unsigned lookup_delay = 0;    ///< SimulationOptions::lookup_delay
};

/// One SM's parts. Storage, residency and scheduler are required; the rest may be empty. Lists keep their order:
/// gates are asked first to last.
struct SmParts {
  std::unique_ptr<protocol::OperandStorage> storage;
  /// Of the storage, and of what renames its registers: a scheme that switches its rows binds them all. Empty: the rows
  /// of the storage cannot be switched.
  std::vector<models::RowUsePort*> row_uses;
  const models::RowNeeds* row_needs = nullptr;  ///< which operands need a row of the storage; null: all
  unsigned storage_banks = 0;  ///< range of Origin::index of its reads, for recorders; 0: register_file.banks
  /// Keeps the contents of shared memory; without one only its time is modelled.
  std::unique_ptr<protocol::SharedContents> shared_contents;
  /// A cache of operands before the storage's read ports, which must be able to plan its reads.
  std::unique_ptr<protocol::OperandCache> operand_cache;
  std::vector<std::unique_ptr<protocol::IssueGate>> gates;
  std::unique_ptr<protocol::ReusePoint> reuse_point;
  std::unique_ptr<protocol::WritebackPoint> writeback_point;
  // Interfaces of parts that are owned elsewhere in this struct.
  protocol::DecodePoint* decode_point = nullptr;
  std::vector<protocol::FetchListener*> fetch_listeners;
  std::vector<protocol::LifecycleListener*> listeners;  ///< parts that implement no extension point
  std::unique_ptr<protocol::Residency> residency;
  /// Class of the policy named by sm.residency: a residency of this class is reported under that name.
  const std::type_info* registered_residency = nullptr;
  std::vector<std::unique_ptr<protocol::Observer>> observers;
  /// Makes the policy of one warp scheduler of the SM; asked in their order. A scheme may keep what it makes.
  std::function<std::shared_ptr<protocol::WarpScheduler>()> scheduler;
  /// Initiators that access memory through the SM's L1, other than the load-store unit. If there are any, an arbiter
  /// stands before the L1: the load-store unit has port 0, these have the following ports, in this order.
  std::vector<protocol::MemoryInitiatorSocket*> l1_clients;
  /// One line per warp that a part holds, for the report of a deadlock.
  std::function<std::string()> describe_stuck;
  /// Checkers on sockets between the scheme's own parts; see connect_memory().
  std::vector<std::unique_ptr<protocol::BaseProtocolChecker<256>>> memory_checkers;
  /// Modules between the scheme's own parts that are no hardware (connect_lookup.h).
  std::vector<std::unique_ptr<sc_core::sc_module>> interposers;
  /// Of the checkers among them.
  std::vector<protocol::LookupRules*> lookup_rules;
  /// Modules that implement no extension point themselves (the inside of a storage, an arbiter).
  std::vector<std::unique_ptr<sc_core::sc_module>> modules;
};

/// Binds two sockets of a scheme's own parts, through a checker called `name` if checkers are enabled.
void connect_memory(const BuildContext& context, SmParts& parts, const std::string& name,
                    protocol::MemoryInitiatorSocket& from, protocol::MemoryTargetSocket& to);

/// Adds a part's lines to the report of a deadlock.
void add_description(SmParts& parts, std::function<std::string()> describe);

/// The storage, as a file whose windows `scheme` gives. Throws support::ConfigError if the file has windows of its own.
models::MovableFile& file_without_windows(SmParts& parts, const std::string& scheme);

/// The conventional GPU that the papers compare with: banked register file, the configured residency policy and
/// scheduler. Schemes start from it and replace the parts that they change.
SmParts baseline_parts(const BuildContext& context);

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual std::string name() const = 0;
  /// One line for --help.
  virtual std::string help() const = 0;
  /// The setting of its paper, which a run has whose user names no machine. None: no paper has one of its own.
  virtual std::optional<Published> published() const { return std::nullopt; }
  /// The scheme's own knobs, under its own module names.
  virtual void declare(support::OptionSet&) {}
  /// Throws ConfigError for knobs that do not fit.
  virtual void validate(const MachineConfig&) const {}
  /// What the scheme does with the values of registers, as configured, as a clause for a message: "compresses registers
  /// by their values". It then refuses traces whose values are version tags (trace::Kernel::version_tags). Empty: it
  /// moves them.
  virtual std::string reads_values() const { return {}; }
  /// Files that the scheme's knobs name for writing: option and path, which may be empty.
  virtual std::vector<std::pair<std::string, std::string>> written_files() const { return {}; }
  /// One SM's parts: by default the baseline's, changed by add_parts().
  virtual SmParts build(const BuildContext& context);
  /// Changes the parts that it takes, on the baseline's or those of another scheme ("--scheme finereg+greener").
  /// A part that it replaces is destroyed first: the new one may have its name.
  virtual void add_parts(const BuildContext& context, SmParts& parts);
  /// The parts that add_parts() changes. None: the scheme cannot be combined.
  virtual std::optional<Takings> takings() const { return std::nullopt; }
  /// The machine for which the parts of all others are built: its file may have other rows, its tables more warps.
  virtual void prepare(MachineConfig&) const {}
  /// What a CTA of this scheme may hold while other CTAs wait for it, as a clause for a message. Such a CTA must not be
  /// switched out, so schemes that switch CTAs refuse this scheme. Empty: any CTA can be switched out.
  virtual std::string held_by_ctas() const { return {}; }
  /// Groups under which the scheme as a whole has statistics.
  virtual std::vector<std::string> stat_groups() const { return {name()}; }
  /// Registers the statistics of the scheme as a whole, once for each of stat_groups(), identified by the group's path.
  /// `modules`: the groups of all modules, which outlive the group. Called before the first launch.
  virtual void register_stats(support::StatGroup&, const std::vector<support::StatGroup>& /*modules*/) {}
  /// Adds conservation laws of the scheme's parts in one SM; `sm`: the SM's path, "sm0".
  virtual void add_laws(ConservationLaws&, const std::string& /*sm*/) const {}
  /// Adds the statistics of the scheme's parts that count waits, with the knobs that shorten them (waits.h). Patterns:
  /// they stand for all SMs.
  virtual void add_waits(Waits&) const {}
  /// Lines of the energy breakdown that the scheme's blocks have besides energy_structures(). A block that declares
  /// energy of any other structure is reported.
  virtual std::vector<std::string> energy_structures() const { return {}; }
  /// Why the scheme did nothing in a run that is complete, as a clause: "no effect: no CTA more fits, limited by
  /// threads". Empty: it did something, or always does.
  virtual std::string idle(const RunFacts&) const { return {}; }
  /// Adds the scheme's keys to stats.json, after the run.
  virtual void report(nlohmann::ordered_json&) const {}

 protected:
  /// The baseline's parts, changed by these schemes, the lowest first.
  SmParts build_layers(const BuildContext& context, const std::vector<Scheme*>& layers);

 private:
  std::vector<std::unique_ptr<MachineConfig>> machines_;  ///< prepared, for as long as their parts
};

class SchemeRegistry {
 public:
  /// With the baseline alone; regatta::schemes::all() (platform/tool/schemes) has the others too.
  static SchemeRegistry with_baseline();
  /// Throws ConfigError when the name is taken.
  void add(std::unique_ptr<Scheme> scheme);
  /// The schemes added so far are regatta's own, which its tests cover. Runs of any other scheme check all contracts.
  void mark_own() { own_ = schemes_.size(); }
  /// Whether the scheme of this name, and each part of "a+b", is regatta's own.
  bool is_own(const std::string& name) const;
  /// "a", or schemes that take different parts of an SM: "a+b", the same machine as "b+a". Throws ConfigError with the
  /// nearest known name, or for schemes that cannot be combined, with the part that two of them take.
  Scheme& get(const std::string& name) const;
  const std::vector<std::unique_ptr<Scheme>>& schemes() const { return schemes_; }
  /// What the schemes take that can be combined.
  std::vector<Claim> claims() const;

 private:
  Scheme& combine(const std::string& name) const;

  std::vector<std::unique_ptr<Scheme>> schemes_;
  std::size_t own_ = 0;                                    ///< the first of schemes_ are regatta's own
  mutable std::vector<std::unique_ptr<Scheme>> combined_;  ///< made on demand
};

}  // namespace regatta::assembly

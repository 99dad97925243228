// SPDX-License-Identifier: Apache-2.0
//
// Energy by event. Modules count; at the end of a launch each module declares which of its counters are which events of
// an energy table, and which of its parts leak. Nothing is computed while the simulation runs.
//
//   void RegisterFile::register_energy(support::EnergyGroup& g) {
//     g.event("register_structures", "register_file.read", reads_);
//     g.leakage("register_structures", "register_file.leakage");
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sc_core {
class sc_object;
}

namespace regatta::support {

/// The source of a number in an energy table.
enum class Basis : std::uint8_t {
  computed,  ///< by running a public energy model, rounded as its source says
  derated,   ///< computed, times an assumed factor
  quoted,    ///< from a publication
  assumed,   ///< chosen
  given      ///< by the user, as an option
};
inline constexpr unsigned basis_count = 5;
const char* to_string(Basis b);

/// Size of an array of memory cells. Zero: that of the energy table.
struct ArrayGeometry {
  double bytes = 0;
  double banks = 0;
};

/// pJ or mW: upper bound of the numbers in a table, so sums cannot overflow.
inline constexpr double largest_energy_value = 1e12;

/// One number of a table: pJ of an event, or mW of a structure that is always on.
struct EnergyValue {
  std::string name;  ///< "register_file.read"
  double value = 0;
  bool is_power = false;  ///< mW rather than pJ
  std::string unit;       ///< meaning of one event
  Basis basis = Basis::assumed;
  std::string source;
};

/// A value as it applies to one array on one process node.
struct ScaledValue {
  EnergyValue value;
  double scaled = 0;  ///< pJ or mW
  std::string note;   ///< the rule that was applied; empty if nothing was scaled
};

/// The numbers of one process node (platform/energy/README.md describes the file).
class EnergyTable {
 public:
  /// Finds the base of a table.
  using Base = std::function<EnergyTable(const std::string& name)>;
  /// Throws ConfigError with file and line if the text is not an energy table. A table may name a `base = "..."`, whose
  /// values apply where it has none.
  static EnergyTable parse(const std::string& text, const std::string& file, const Base& base = {});

  const std::string& name() const { return name_; }
  double node_nm() const { return node_nm_; }
  /// Probable typing errors: names that almost match those of the base table.
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// Replaces a value; its basis becomes `given`.
  void override_value(const std::string& name, double value);
  /// Scales dynamic energies to another node from now on. Throws ConfigError if the table has no exponents for it.
  void set_node(double nm);
  /// Throws ConfigError if the table has no such value.
  const EnergyValue& at(const std::string& name) const;
  /// The names of all values, in alphabetical order.
  std::vector<std::string> names() const;
  /// The value for an array of `geometry`, on the node set. The exponent of the capacity depends on the banks: bank
  /// size kept (their number follows the capacity), bank count kept, or neither.
  ScaledValue scaled(const std::string& name, ArrayGeometry geometry) const;

 private:
  struct Exponents {
    double access = 0.5;
    double leakage = 1;
  };
  struct Structure {
    ArrayGeometry reference;
    std::string node_rule = "none";  ///< register_file, logic, or none
    std::map<std::string, EnergyValue> values;
  };
  const Structure& structure_of(const std::string& name) const;

  std::string name_;
  std::string file_;
  double node_nm_ = 0;
  double target_nm_ = 0;
  Exponents bank_size_kept_, bank_count_kept_, neither_;
  double node_register_file_ = 0;
  double node_logic_ = 0;
  std::vector<std::string> remarks_;
  std::map<std::string, Structure> structures_;
  friend class EnergyTableReader;
};

/// Which part of an array is powered, and for how long: `unit_cycles` counts cycles, summed over `units` parts (rows,
/// banks); `factor` is for a state that leaks less (0.1: drowsy). An array may be registered once per state.
struct LeakageState {
  const std::uint64_t* unit_cycles = nullptr;  ///< null: the whole array, always
  double units = 1;
  double factor = 1;
};

/// The contribution of one module.
class EnergyGroup {
 public:
  /// `module`: name of the group's module in results (module_kind()).
  explicit EnergyGroup(std::string module = {}) : module_(std::move(module)) {}
  const std::string& module() const { return module_; }

  struct Event {
    std::string structure;  ///< the line of the breakdown: "register_structures", "l2", ...
    std::string value;      ///< of the table
    ArrayGeometry geometry;
    const std::uint64_t* counter;
    double per_count;  ///< events per count
  };
  struct Leakage {
    std::string structure;
    std::string value;
    ArrayGeometry geometry;
    LeakageState state;
  };

  /// `counter` x `per_count` events have happened, e.g. 2 for a 256-byte access where the table's event is 128 bytes.
  void event(std::string_view structure, std::string_view value, const std::uint64_t& counter, double per_count = 1,
             ArrayGeometry geometry = {});
  void leakage(std::string_view structure, std::string_view value, ArrayGeometry geometry = {},
               LeakageState state = {});
  /// The module consumes no energy of its own, for the reason `why` ("a policy", "counted by the register file").
  void costs_nothing(std::string_view why) { free_ = why; }
  /// Whether the module has declared anything.
  bool declares() const { return !events_.empty() || !leakages_.empty() || !free_.empty(); }
  const std::vector<Event>& events() const { return events_; }
  const std::vector<Leakage>& leakages() const { return leakages_; }

 private:
  std::string module_;
  std::vector<Event> events_;
  std::vector<Leakage> leakages_;
  std::string free_;
};

/// A module's name without its SM and without instance numbers: "sm0.osu.shard1" is "osu.shard".
std::string module_kind(const std::string& name);

/// The declarations of all StatProviders among the SystemC objects (with `root`: among those below it), one group each,
/// in the order of the sc_object tree.
std::vector<EnergyGroup> collect_energy(const sc_core::sc_object* root = nullptr);

/// The paths of blocks that neither declare energy nor state why they have none: the module, or, if it is no
/// StatProvider, those inside it. A module without any StatProvider is one of them.
std::vector<std::string> undeclared_energy(const sc_core::sc_object& module);

/// One line of a result: an event or a leakage, over all modules, or over those with the same scaling.
struct EnergyTerm {
  std::string structure;
  ScaledValue value;
  std::string module = {};  ///< module whose geometry scales the value (module_kind()); empty: not scaled
  bool is_static = false;
  double count = 0;  ///< events; static: seconds, weighted by the powered part
  double nj = 0;
};

class EnergyReport {
 public:
  double seconds = 0;
  const std::vector<EnergyTerm>& terms() const { return terms_; }
  void add(const EnergyTerm& term);
  void add(const EnergyReport& other);

  double dynamic_nj() const;
  double static_nj() const;
  double total_nj() const { return dynamic_nj() + static_nj(); }
  /// nJ by structure, dynamic and static.
  std::vector<std::pair<std::string, std::pair<double, double>>> by_structure() const;
  double of(const std::string& structure) const;
  double of(Basis basis) const;

 private:
  std::vector<EnergyTerm> terms_;
};

/// Computes energy from the differences of counters over a launch.
class EnergyMeter {
 public:
  explicit EnergyMeter(const EnergyTable& table) : table_(table) {}
  /// Before a launch.
  void begin(const std::vector<EnergyGroup>& groups);
  /// After a launch: the energy of `cycles` cycles at `clock_mhz`. The groups are those of begin(), registered again.
  EnergyReport end(const std::vector<EnergyGroup>& groups, std::uint64_t cycles, double clock_mhz) const;

 private:
  const EnergyTable& table_;
  /// A counter that was registered before the launch.
  struct Begun {
    std::string module;  ///< empty: the card
    std::string value;   ///< of the table
    const std::uint64_t* counter = nullptr;
    std::uint64_t before = 0;
  };
  std::vector<Begun> begun_;
};

}  // namespace regatta::support

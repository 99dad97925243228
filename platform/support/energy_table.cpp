// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/base/suggestion.h>
#include <regatta/support/config.h>
#include <regatta/support/energy.h>

#include <regatta_tomlpp.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace regatta::support {
namespace {

constexpr std::array<const char*, basis_count> basis_names{"computed", "derated", "quoted", "assumed", "given"};

/// Ratios nearer to 1 than this are 1: geometries are whole numbers, exponents have two digits.
constexpr double tolerance = 1e-9;
bool one(double ratio) { return std::abs(ratio - 1) < tolerance; }

}  // namespace

const char* to_string(Basis b) { return basis_names[static_cast<unsigned>(b)]; }

/// The text of a table as toml++ sees it, with messages that say where.
class EnergyTableReader {
 public:
  EnergyTableReader(const std::string& text, const std::string& file) : file_(file) {
    try {
      document_ = toml::parse(text, file);
    } catch (const toml::parse_error& error) {
      throw ConfigError(place(error.source()) + ": not valid TOML: " + std::string(error.description()));
    }
  }

  EnergyTable read(const EnergyTable::Base& base) {
    EnergyTable table;
    if (const toml::node* node = document_.get("base")) {
      const std::string name = text(*node, "base");
      if (!base) refuse(*node, "'base' names the table '" + name + "', but there are no other tables to be had here");
      table = base(name);
      table.name_.clear();
    }
    table.file_ = file_;
    based_on_ = table.structures_;
    for (auto&& [key, node] : document_) {
      const std::string name(key.str());
      if (name == "base") continue;
      if (name == "name") {
        table.name_ = text(node, "name");
      } else if (name == "node_nm") {
        table.node_nm_ = within(node, "node_nm", 1, 1000);
      } else if (name == "scaling") {
        scaling(sub(node, name), table);
      } else {
        if (!node.is_table()) {
          refuse(node, "'" + name + "' must be a table" + base::suggestion(name, {"base", "name", "node_nm"}));
        }
        remark_if_like(table, node, name, based_on_, "structure");
        structure(sub(node, name), name, table);
      }
    }
    if (table.name_.empty()) throw ConfigError(file_ + ": an energy table needs name = \"...\"");
    if (table.node_nm_ == 0) throw ConfigError(file_ + ": an energy table needs node_nm, its process node in nm");
    table.target_nm_ = table.node_nm_;
    return table;
  }

 private:
  std::string place(const toml::source_region& r) const {
    return file_ + ":" + std::to_string(r.begin.line) + ":" + std::to_string(r.begin.column);
  }
  [[noreturn]] void refuse(const toml::node& node, const std::string& what) const {
    throw ConfigError(place(node.source()) + ": " + what);
  }
  const toml::table& sub(const toml::node& node, const std::string& name) const {
    if (const auto* table = node.as_table()) return *table;
    refuse(node, "'" + name + "' must be a table");
  }
  double number(const toml::node& node, const std::string& name) const {
    if (const auto* value = node.as_floating_point(); value != nullptr && std::isfinite(value->get()))
      return value->get();
    if (const auto* value = node.as_integer()) return double(value->get());
    refuse(node, "'" + name + "' must be a number");
  }
  double exponent(const toml::node& node, const std::string& name) const {
    constexpr double largest = 4;
    const double value = number(node, name);
    if (std::abs(value) <= largest) return value;
    refuse(node, fmt::format("'{}' must lie between -{} and {}, found {}", name, largest, largest, value));
  }
  double within(const toml::node& node, const std::string& name, double least, double most) const {
    const double value = number(node, name);
    if (value >= least && value <= most) return value;
    refuse(node, fmt::format("'{}' must lie between {:g} and {:g}, found {:g}", name, least, most, value));
  }
  std::string text(const toml::node& node, const std::string& name) const {
    if (const auto* value = node.as_string(); value != nullptr && !value->get().empty()) return value->get();
    refuse(node, "'" + name + "' must be a text");
  }

  /// A table may have names of its own; one that is nearly a name of the table it is based on is hardly meant.
  template <class Known>
  void remark_if_like(EnergyTable& table, const toml::node& node, const std::string& name, const Known& known,
                      const std::string& what) const {
    if (known.count(name) != 0) return;
    std::vector<std::string> names;
    for (const auto& entry : known) names.push_back(entry.first);
    const std::string near = base::suggestion(name, names);
    if (near.empty()) return;
    table.remarks_.push_back(
        fmt::format("{}: '{}' is a new {} that no model reads{}", place(node.source()), name, what, near));
  }

  void scaling(const toml::table& table, EnergyTable& into) const {
    const std::map<std::string, double*> known{{"access_bank_size_kept", &into.bank_size_kept_.access},
                                               {"access_bank_count_kept", &into.bank_count_kept_.access},
                                               {"access_otherwise", &into.neither_.access},
                                               {"leakage_bank_size_kept", &into.bank_size_kept_.leakage},
                                               {"leakage_bank_count_kept", &into.bank_count_kept_.leakage},
                                               {"leakage_otherwise", &into.neither_.leakage},
                                               {"node_register_file", &into.node_register_file_},
                                               {"node_logic", &into.node_logic_}};
    for (auto&& [key, node] : table) {
      const auto entry = known.find(std::string(key.str()));
      if (entry == known.end()) {
        std::vector<std::string> names;
        for (const auto& [name, value] : known) names.push_back(name);
        const std::string name(key.str());
        refuse(node, "unknown exponent '" + name + "' in [scaling]" + base::suggestion(name, names));
      }
      *entry->second = exponent(node, entry->first);
    }
  }

  void structure(const toml::table& entries, const std::string& name, EnergyTable& table) const {
    EnergyTable::Structure& s = table.structures_[name];
    for (auto&& [key, node] : entries) {
      const std::string entry(key.str());
      if (entry == "bytes") {
        s.reference.bytes = within(node, name + ".bytes", 1, 1e15);
      } else if (entry == "banks") {
        s.reference.banks = within(node, name + ".banks", 1, 1e6);
      } else if (entry == "node_rule") {
        s.node_rule = text(node, name + ".node_rule");
        if (s.node_rule != "register_file" && s.node_rule != "logic" && s.node_rule != "none") {
          refuse(node, "'" + name + ".node_rule' must be \"register_file\", \"logic\" or \"none\", found \"" +
                           s.node_rule + "\"");
        }
      } else {
        const auto base = based_on_.find(name);
        if (base != based_on_.end()) remark_if_like(table, node, entry, base->second.values, "value of '" + name + "'");
        if (!node.is_table()) {
          refuse(node, "'" + name + "." + entry + "' must be a table" +
                           base::suggestion(entry, {"bytes", "banks", "node_rule"}));
        }
        s.values[entry] = value(sub(node, name + "." + entry), name + "." + entry);
      }
    }
  }

  EnergyValue value(const toml::table& table, const std::string& name) const {
    EnergyValue v;
    v.name = name;
    bool found = false;
    bool has_basis = false;
    for (auto&& [key, node] : table) {
      const std::string entry(key.str());
      if (entry == "pj" || entry == "mw") {
        if (found) refuse(node, "'" + name + "' has both pj and mw");
        found = true;
        v.is_power = entry == "mw";
        v.value = number(node, name);
        if (!(v.value >= 0 && v.value <= largest_energy_value)) {
          refuse(node, fmt::format("'{}' must lie between 0 and {:g}, found {}", name, largest_energy_value, v.value));
        }
      } else if (entry == "per") {
        v.unit = text(node, name + ".per");
      } else if (entry == "source") {
        v.source = text(node, name + ".source");
      } else if (entry == "basis") {
        const std::string basis = text(node, name + ".basis");
        // "given" is what an option says, not a table.
        const auto known = std::find(basis_names.begin(), basis_names.end() - 1, basis);
        if (known == basis_names.end() - 1) {
          refuse(node, "'" + name + ".basis' must be computed, derated, quoted or assumed, found '" + basis + "'");
        }
        v.basis = static_cast<Basis>(known - basis_names.begin());
        has_basis = true;
      } else {
        refuse(node, "unknown key '" + entry + "' in '" + name + "': expected pj or mw, per, basis, source" +
                         base::suggestion(entry, {"per", "basis", "source"}));
      }
    }
    if (!found || !has_basis || v.unit.empty() || v.source.empty()) {
      refuse(table, "'" + name + "' needs pj (or mw), per, basis and source");
    }
    return v;
  }

  const std::string& file_;
  toml::table document_;
  std::map<std::string, EnergyTable::Structure> based_on_;
};

EnergyTable EnergyTable::parse(const std::string& text, const std::string& file, const Base& base) {
  return EnergyTableReader(text, file).read(base);
}

void EnergyTable::set_node(double nm) {
  if (!one(nm / node_nm_) && (node_register_file_ == 0 || node_logic_ == 0)) {
    throw ConfigError(file_ + ": the energy table cannot be scaled to another node: [scaling] has no " +
                      (node_register_file_ == 0 ? "node_register_file" : "node_logic"));
  }
  target_nm_ = nm;
}

const EnergyTable::Structure& EnergyTable::structure_of(const std::string& name) const {
  const auto s = structures_.find(name.substr(0, name.find('.')));
  if (s == structures_.end() || s->second.values.count(name.substr(name.find('.') + 1)) == 0) {
    throw ConfigError(file_ + ": the energy table has no value '" + name + "'" + base::suggestion(name, names()));
  }
  return s->second;
}

const EnergyValue& EnergyTable::at(const std::string& name) const {
  return structure_of(name).values.at(name.substr(name.find('.') + 1));
}

void EnergyTable::override_value(const std::string& name, double value) {
  structure_of(name);
  EnergyValue& v = structures_.at(name.substr(0, name.find('.'))).values.at(name.substr(name.find('.') + 1));
  v.value = value;
  v.basis = Basis::given;
  v.source = "an option";
}

std::vector<std::string> EnergyTable::names() const {
  std::vector<std::string> all;
  for (const auto& [structure, s] : structures_) {
    for (const auto& [name, value] : s.values) all.push_back(value.name);
  }
  return all;
}

ScaledValue EnergyTable::scaled(const std::string& name, ArrayGeometry geometry) const {
  const Structure& s = structure_of(name);
  ScaledValue result{at(name), at(name).value, ""};
  const bool sized = geometry.bytes > 0 && s.reference.bytes > 0;
  const double capacity = sized ? geometry.bytes / s.reference.bytes : 1;
  const double banks = geometry.banks > 0 && s.reference.banks > 0 ? geometry.banks / s.reference.banks : 0;
  if (!one(capacity)) {
    const bool size_kept = one(banks / capacity);
    const bool count_kept = one(banks);
    const Exponents& rule = size_kept ? bank_size_kept_ : count_kept ? bank_count_kept_ : neither_;
    const double exponent = result.value.is_power ? rule.leakage : rule.access;
    result.scaled *= std::pow(capacity, exponent);
    result.note = fmt::format("capacity x{:.3g}, {}: exponent {:g}", capacity,
                              size_kept    ? "bank size kept"
                              : count_kept ? "bank count kept"
                                           : "banks otherwise",
                              exponent);
  } else if (sized && banks > 0 && !one(banks)) {
    result.note = fmt::format("banks x{:.3g}, capacity kept: not scaled", banks);
  }
  // Leakage follows no power of the node (the transistors of each differ); only dynamic energy is carried over.
  if (!one(target_nm_ / node_nm_) && !result.value.is_power && s.node_rule != "none") {
    const double exponent = s.node_rule == "register_file" ? node_register_file_ : node_logic_;
    result.scaled *= std::pow(target_nm_ / node_nm_, exponent);
    result.note += fmt::format("{}{:g} nm to {:g} nm: exponent {:g}", result.note.empty() ? "" : "; ", node_nm_,
                               target_nm_, exponent);
  }
  return result;
}

}  // namespace regatta::support

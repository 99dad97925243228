// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <stdexcept>
#include <systemc>

namespace regatta::support {
namespace {

void walk(const std::vector<sc_core::sc_object*>& objects, std::vector<EnergyGroup>& groups) {
  for (sc_core::sc_object* object : objects) {
    if (auto* provider = dynamic_cast<StatProvider*>(object)) {
      provider->register_energy(groups.emplace_back(module_kind(object->name())));
    }
    walk(object->get_child_objects(), groups);
  }
}

/// Calls f(module, value, counter) for every counter that is registered.
template <class F>
void for_each_counter(const std::vector<EnergyGroup>& groups, F&& f) {
  for (const EnergyGroup& group : groups) {
    for (const EnergyGroup::Event& e : group.events()) f(group.module(), e.value, e.counter);
    for (const EnergyGroup::Leakage& l : group.leakages()) {
      if (l.state.unit_cycles != nullptr) f(group.module(), l.value, l.state.unit_cycles);
    }
  }
}

/// A module broke the contract of register_energy().
[[noreturn]] void broken(const std::string& module, const std::string& what) {
  const std::string text = (module.empty() ? "register_energy()" : module) + ": " + what;
  SC_REPORT_ERROR("regatta/energy", text.c_str());
  throw std::logic_error(text);
}

}  // namespace

void EnergyGroup::event(std::string_view structure, std::string_view value, const std::uint64_t& counter,
                        double per_count, ArrayGeometry geometry) {
  events_.push_back(Event{std::string(structure), std::string(value), geometry, &counter, per_count});
}

void EnergyGroup::leakage(std::string_view structure, std::string_view value, ArrayGeometry geometry,
                          LeakageState state) {
  leakages_.push_back(Leakage{std::string(structure), std::string(value), geometry, state});
}

std::string module_kind(const std::string& name) {
  std::string kind;
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t end = std::min(name.find('.', from), name.size());
    std::string part = name.substr(from, end - from);
    from = end + 1;
    const std::size_t letters = part.find_last_not_of("0123456789");
    if (letters != std::string::npos) part.resize(part[letters] == '_' ? letters : letters + 1);
    if (kind.empty() && part == "sm") continue;
    kind += (kind.empty() ? "" : ".") + part;
  }
  return kind;
}

namespace {

/// Appends the blocks below that declare none. Whether there was a block to ask, this one included.
bool find_undeclared(const sc_core::sc_object& object, std::vector<std::string>& names) {
  // register_energy() says things and changes none, but is no const function.
  auto* provider = dynamic_cast<StatProvider*>(const_cast<sc_core::sc_object*>(&object));
  if (provider != nullptr) {
    EnergyGroup group;
    provider->register_energy(group);
    if (!group.declares()) names.emplace_back(object.name());
    return true;
  }
  bool asked = false;
  for (const sc_core::sc_object* child : object.get_child_objects()) asked = find_undeclared(*child, names) || asked;
  return asked;
}

}  // namespace

std::vector<std::string> undeclared_energy(const sc_core::sc_object& module) {
  std::vector<std::string> names;
  if (!find_undeclared(module, names)) names.emplace_back(module.name());
  return names;
}

std::vector<EnergyGroup> collect_energy(const sc_core::sc_object* root) {
  std::vector<EnergyGroup> groups;
  walk(root != nullptr ? root->get_child_objects() : sc_core::sc_get_top_level_objects(), groups);
  return groups;
}

void EnergyReport::add(const EnergyTerm& term) {
  const auto same = [&](const EnergyTerm& t) {
    return t.structure == term.structure && t.value.value.name == term.value.value.name &&
           t.value.scaled == term.value.scaled && t.module == term.module;
  };
  const auto known = std::find_if(terms_.begin(), terms_.end(), same);
  if (known == terms_.end()) {
    terms_.push_back(term);
  } else {
    known->count += term.count;
    known->nj += term.nj;
  }
}

void EnergyReport::add(const EnergyReport& other) {
  seconds += other.seconds;
  for (const EnergyTerm& term : other.terms_) add(term);
}

double EnergyReport::dynamic_nj() const {
  double sum = 0;
  for (const EnergyTerm& t : terms_) sum += t.is_static ? 0 : t.nj;
  return sum;
}

double EnergyReport::static_nj() const {
  double sum = 0;
  for (const EnergyTerm& t : terms_) sum += t.is_static ? t.nj : 0;
  return sum;
}

std::vector<std::pair<std::string, std::pair<double, double>>> EnergyReport::by_structure() const {
  std::vector<std::pair<std::string, std::pair<double, double>>> all;
  for (const EnergyTerm& t : terms_) {
    auto known = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.first == t.structure; });
    if (known == all.end()) known = all.insert(all.end(), {t.structure, {0, 0}});
    (t.is_static ? known->second.second : known->second.first) += t.nj;
  }
  return all;
}

double EnergyReport::of(const std::string& structure) const {
  double sum = 0;
  for (const EnergyTerm& t : terms_) sum += t.structure == structure ? t.nj : 0;
  return sum;
}

double EnergyReport::of(Basis basis) const {
  double sum = 0;
  for (const EnergyTerm& t : terms_) sum += t.value.value.basis == basis ? t.nj : 0;
  return sum;
}

void EnergyMeter::begin(const std::vector<EnergyGroup>& groups) {
  // A value that the table lacks is better known before the launch than after it.
  for (const EnergyGroup& group : groups) {
    for (const EnergyGroup::Event& e : group.events()) table_.scaled(e.value, e.geometry);
    for (const EnergyGroup::Leakage& l : group.leakages()) table_.scaled(l.value, l.geometry);
  }
  begun_.clear();
  for_each_counter(groups, [&](const std::string& module, const std::string& value, const std::uint64_t* counter) {
    begun_.push_back(Begun{module, value, counter, *counter});
  });
}

EnergyReport EnergyMeter::end(const std::vector<EnergyGroup>& groups, std::uint64_t cycles, double clock_mhz) const {
  EnergyReport report;
  const double cycle_seconds = 1e-6 / clock_mhz;
  report.seconds = double(cycles) * cycle_seconds;
  auto begun = begun_.begin();
  for_each_counter(groups, [&](const std::string& module, const std::string& value, const std::uint64_t* counter) {
    if (begun == begun_.end() || begun->value != value || begun->counter != counter) {
      broken(module, "register_energy() declares '" + value + "' after the launch, and " +
                         (begun == begun_.end() ? "nothing" : "'" + begun->value + "' of " + begun->module) +
                         " in its place before; expected the same events in the same order");
    }
    if (*counter < begun->before) {
      broken(module, "the counter of '" + value + "' went back during the launch, from " +
                         std::to_string(begun->before) + " to " + std::to_string(*counter) + "; expected it to grow");
    }
    ++begun;
  });
  if (begun != begun_.end()) {
    broken(begun->module, "register_energy() declares no '" + begun->value +
                              "' after the launch, and did before; "
                              "expected the same events in the same order");
  }
  begun = begun_.begin();
  const auto since = [&](std::uint64_t counter) { return double(counter - begun++->before); };
  for (const EnergyGroup& group : groups) {
    for (const EnergyGroup::Event& e : group.events()) {
      EnergyTerm term{e.structure, table_.scaled(e.value, e.geometry)};
      if (e.geometry.bytes > 0 && !term.value.note.empty()) term.module = group.module();
      term.count = since(*e.counter) * e.per_count;
      term.nj = term.count * term.value.scaled * 1e-3;
      report.add(term);
    }
    for (const EnergyGroup::Leakage& l : group.leakages()) {
      EnergyTerm term{l.structure, table_.scaled(l.value, l.geometry)};
      if (l.geometry.bytes > 0 && !term.value.note.empty()) term.module = group.module();
      const LeakageState& s = l.state;
      const double powered =
          s.unit_cycles == nullptr ? report.seconds : since(*s.unit_cycles) / s.units * cycle_seconds;
      term.is_static = true;
      term.count = powered * s.factor;
      term.nj = term.count * term.value.scaled * 1e6;  // s x mW = mJ
      report.add(term);
    }
  }
  return report;
}

}  // namespace regatta::support

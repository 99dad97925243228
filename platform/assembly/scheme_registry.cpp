// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/scheme.h>
#include <regatta/base/suggestion.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scheme_parts.h"

namespace regatta::assembly {

namespace {

class Baseline : public Scheme {
 public:
  std::string name() const override { return "baseline"; }
  std::string help() const override { return "conventional GPU: banked register file, as many resident CTAs as fit"; }
  SmParts build(const BuildContext& context) override { return baseline_parts(context); }
  void add_parts(const BuildContext&, SmParts&) override {}
  std::optional<Takings> takings() const override { return Takings{}; }
};

void add_missing(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& one : more) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
}

/// Schemes that take different parts of an SM, the lowest layer first. They outlive it.
class CombinedScheme : public Scheme {
 public:
  CombinedScheme(std::string name, std::vector<Scheme*> layers) : name_(std::move(name)), layers_(std::move(layers)) {}
  std::string name() const override { return name_; }
  std::string help() const override { return "the schemes " + name_ + " on one SM"; }
  /// If all parts that have one are published on the same machine.
  std::optional<Published> published() const override {
    std::optional<Published> all;
    for (const Scheme* s : layers_) {
      const std::optional<Published> one = s->published();
      if (!one) continue;
      if (!all) {
        all = one;
        continue;
      }
      if (all->machine != one->machine) return std::nullopt;
      if (all->source != one->source) all->source += ", " + one->source;
      for (const auto& knob : one->knobs) {
        const auto same =
            std::find_if(all->knobs.begin(), all->knobs.end(), [&](const auto& k) { return k.first == knob.first; });
        if (same != all->knobs.end() && same->second != knob.second) return std::nullopt;
        if (same == all->knobs.end()) all->knobs.push_back(knob);
      }
    }
    return all;
  }
  void declare(support::OptionSet& options) override {
    for (Scheme* s : layers_) s->declare(options);
  }
  void validate(const MachineConfig& machine) const override {
    for (const Scheme* s : layers_) s->validate(machine);
  }
  std::string reads_values() const override {
    for (const Scheme* s : layers_) {
      if (const std::string what = s->reads_values(); !what.empty()) return s->name() + " " + what;
    }
    return {};
  }
  std::vector<std::pair<std::string, std::string>> written_files() const override {
    std::vector<std::pair<std::string, std::string>> files;
    for (const Scheme* s : layers_) {
      const auto more = s->written_files();
      files.insert(files.end(), more.begin(), more.end());
    }
    return files;
  }
  SmParts build(const BuildContext& context) override { return build_layers(context, layers_); }
  std::vector<std::string> stat_groups() const override {
    std::vector<std::string> groups;
    for (const Scheme* s : layers_) add_missing(groups, s->stat_groups());
    return groups;
  }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override {
    for (Scheme* s : layers_) {
      const std::vector<std::string> groups = s->stat_groups();
      if (std::find(groups.begin(), groups.end(), group.path()) != groups.end())
        return s->register_stats(group, modules);
    }
  }
  void add_laws(ConservationLaws& laws, const std::string& sm) const override {
    for (const Scheme* s : layers_) s->add_laws(laws, sm);
  }
  void add_waits(Waits& waits) const override {
    for (const Scheme* s : layers_) s->add_waits(waits);
  }
  std::vector<std::string> energy_structures() const override {
    std::vector<std::string> structures;
    for (const Scheme* s : layers_) add_missing(structures, s->energy_structures());
    return structures;
  }
  std::string idle(const RunFacts& facts) const override {
    std::string all;
    for (const Scheme* s : layers_) {
      const std::string one = s->idle(facts);
      if (!one.empty()) all += (all.empty() ? "" : "; ") + s->name() + ": " + one;
    }
    return all;
  }
  void report(nlohmann::ordered_json& document) const override {
    for (const Scheme* s : layers_) s->report(document);
  }

 private:
  const std::string name_;
  const std::vector<Scheme*> layers_;
};

Claim claim_of(const Scheme& scheme, const Takings& takings) {
  return Claim{scheme.name(), takings, scheme.held_by_ctas()};
}

}  // namespace

std::vector<std::string> scheme_parts(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t plus = 0; (plus = name.find('+', from)) != std::string::npos; from = plus + 1) {
    parts.push_back(name.substr(from, plus - from));
  }
  parts.push_back(name.substr(from));
  return parts;
}

SchemeRegistry SchemeRegistry::with_baseline() {
  SchemeRegistry registry;
  registry.add(std::make_unique<Baseline>());
  registry.mark_own();
  return registry;
}

void SchemeRegistry::add(std::unique_ptr<Scheme> scheme) {
  for (const auto& known : schemes_) {
    if (known->name() == scheme->name()) throw support::ConfigError("scheme '" + scheme->name() + "' is there already");
  }
  schemes_.push_back(std::move(scheme));
}

bool SchemeRegistry::is_own(const std::string& name) const {
  const auto end = schemes_.begin() + static_cast<std::ptrdiff_t>(own_);
  const std::vector<std::string> parts = scheme_parts(name);
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return std::any_of(schemes_.begin(), end, [&part](const auto& scheme) { return scheme->name() == part; });
  });
}

Scheme& SchemeRegistry::get(const std::string& name) const {
  if (name.find('+') != std::string::npos) return combine(name);
  std::vector<std::string> names;
  for (const auto& scheme : schemes_) {
    if (scheme->name() == name) return *scheme;
    names.push_back(scheme->name());
  }
  throw support::ConfigError("--scheme: unknown scheme '" + name + "'" + base::suggestion_and_known(name, names));
}

Scheme& SchemeRegistry::combine(const std::string& name) const {
  for (const auto& scheme : combined_) {
    if (scheme->name() == name) return *scheme;
  }
  struct Part {
    Scheme* scheme = nullptr;
    unsigned layer = 0;
    std::ptrdiff_t place = 0;  ///< in the registry: whatever the order of the names, the machine is the same
  };
  std::vector<Part> parts;
  std::vector<Claim> claims;
  for (const std::string& one : scheme_parts(name)) {
    Scheme& scheme = get(one);
    const std::optional<Takings> takings = scheme.takings();
    if (!takings) {
      throw support::ConfigError("--scheme: found '" + name + "', and '" + one +
                                 "' does not say which parts of an SM it takes: expected schemes that can be combined");
    }
    const auto place =
        std::find_if(schemes_.begin(), schemes_.end(), [&](const auto& s) { return s.get() == &scheme; });
    parts.push_back({&scheme, layer_of(*takings), place - schemes_.begin()});
    claims.push_back(claim_of(scheme, *takings));
  }
  if (const std::string clash = clash_of(claims); !clash.empty()) {
    throw support::ConfigError("--scheme: found '" + name + "', and " + clash);
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.layer != b.layer ? a.layer < b.layer : a.place < b.place; });
  std::vector<Scheme*> layers;
  layers.reserve(parts.size());
  for (const Part& p : parts) layers.push_back(p.scheme);
  combined_.push_back(std::make_unique<CombinedScheme>(name, std::move(layers)));
  return *combined_.back();
}

std::vector<Claim> SchemeRegistry::claims() const {
  std::vector<Claim> all;
  for (const auto& scheme : schemes_) {
    if (const std::optional<Takings> takings = scheme->takings()) all.push_back(claim_of(*scheme, *takings));
  }
  return all;
}

}  // namespace regatta::assembly
